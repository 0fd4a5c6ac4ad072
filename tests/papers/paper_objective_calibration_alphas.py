"""Which alpha decides in Nock and Henecka: that of splits or of leaves, by depth or by weight."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain import DPBoostedTreesClassifier
from dpexplain.models.boosted_trees.losses import criterion_sensitivity
from file_data import is_here
from objective_calibration_counts import BY_PRIVATE_WEIGHT, BY_WEIGHT, GUESS
from paper_objective_calibration import DOMAINS, EPSILONS
from sources import NOCK as PAPER
from study import Cell, Row, Study
from trees_measured import error, fitted, folds, positive, score, table

SPLITS = {
    "O.C": "depth",
    BY_WEIGHT: "depth",
    BY_PRIVATE_WEIGHT: "weight",
    "alpha 0.1": 0.1,
    "alpha 1.0": 1.0,
}
LEAVES = (0.1, 1.0)
SIZES = ((2, 2), (2, 4), (20, 4))
"""Trees and depth."""
N_FOLDS = 5


class ByWeight(DPBoostedTreesClassifier):
    """Boosted trees with objective calibration by the exact weight of a node. NOT PRIVATE."""

    def _utilities(self, sums: Any, candidates: Any, alpha: float) -> NDArray[np.int64]:
        """Return utilities with an alpha per node, in units of the level's sensitivity.

        Scaled so, each node's split is chosen with the noise of its own sensitivity.
        """
        first = candidates.start[1] if len(candidates.start) > 1 else None
        weight = sums[:, :first].sum(axis=(1, 2))
        own = weight / max(weight.sum(), 1)
        level = criterion_sensitivity(self.criterion, self.n_public, alpha)
        rows = []
        for node, share in enumerate(own):
            found = super()._utilities(sums[node : node + 1], candidates, float(share))
            scale = level / criterion_sensitivity(self.criterion, self.n_public, float(share))
            rows.append(np.rint(found * scale))
        return np.concatenate(rows).astype(np.int64)


def cells(fast: bool) -> list[Cell]:
    """Return a cell per domain, epsilon and model."""
    names = DOMAINS[:1] if fast else [n for n in DOMAINS if is_here(n)]
    return [
        {"name": n, "model": m, "epsilon": e, "n_folds": 3 if fast else N_FOLDS}
        for n, e, m in product(names, (0.1,) if fast else EPSILONS, (GUESS, *SPLITS))
    ]


def measure(name: str, model: str, epsilon: float, n_folds: int) -> list[Row]:
    """Measure the error per fold of an alpha of splits, with each alpha of leaves and size."""
    data, rows = table(name), []
    setting = {"data": name, "model": model, "epsilon": epsilon}
    for repeat, (train, test) in enumerate(folds(data, n_folds)):
        if model == GUESS:
            wrong = positive(data)[test] != (positive(data)[train].mean() > 0.5)
            setting |= {"leaves": None, "n_trees": None, "depth": None, "metric": "test error"}
            rows.append(setting | {"repeat": repeat, "value": float(wrong.mean()), "cpu_s": 0.0})
            continue
        for leaves, (n_trees, depth) in product(LEAVES, SIZES):
            kind = ByWeight if model == BY_WEIGHT else DPBoostedTreesClassifier
            trees = kind(
                epsilon,
                schema=data.schema,
                criterion="m_alpha",
                calibration=SPLITS[model],
                alpha=leaves,
                variant="paper",
                n_public=len(data.X),
                allow_weak=True,
                n_trees=n_trees,
                depth=depth,
                max_bins=11,
            )
            seconds = fitted(trees, data, train)
            found = error(score(trees, data.X.iloc[test]), data, test)
            setting |= {"leaves": leaves, "n_trees": n_trees, "depth": depth}
            setting |= {"metric": "test error"}
            rows.append(setting | {"repeat": repeat, "value": found, "cpu_s": seconds})
    return rows


STUDIES = (
    Study(
        name="objective_calibration_alphas",
        paper=PAPER,
        shows="whether the counts of table 1 are about the alpha of splits, that of weights and "
        "leaves, or about calibration by depth instead of by weight",
        protocol="The domains and cuts of objective_calibration, 5 folds, with the budget of the "
        "paper, M 1 and beta one half; 2 trees of depth 2 and 4, 20 of depth 4. Each alpha of the "
        "splits meets each alpha of weights and leaves; in objective_calibration the latter is "
        "that of the splits, and 1 for O.C. 'By weight': the alpha of a node is its exact share "
        "of the weight of all records, which is secret, so this model is NOT PRIVATE. 'By private "
        "weight': its share of the released weights of its level, which take a tenth of the budget "
        "for splits, a twentieth of epsilon; each weight, or 0 if it is negative, counts with a "
        "pseudocount of the scale of its noise. In both, each split has the noise of its own "
        "sensitivity.",
        cells=cells,
        measure=measure,
    ),
)
