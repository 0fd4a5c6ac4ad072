"""Whether random splits of Nori et al. cost accuracy, compared with splits that are chosen."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from functools import partial

from bench_data import splits
from bench_measure import metric

from chosen_splits import splits_chosen
from dpexplain.exceptions import PrivacyWarning
from ebm_claims import OURS
from ebm_split_claims import GAIN, MORE_PASSES, NO_NOISE, PASSES
from paper_ebm import PAPER_NAME, estimator, loaded, scored
from study import Cell, Row, Study

DATA = ("adult", "telco", "california", "elevators", "wine")
N_SPLITS = 10
FROM_BINS, FROM_HALF = "splits chosen, one release per tree", "splits chosen, half of the budget"
_WAYS = {
    OURS: nullcontext,
    FROM_BINS: partial(splits_chosen, twice=False),
    FROM_HALF: partial(splits_chosen, twice=True),
}


def cells(fast: bool) -> list[Cell]:
    """Return a cell per data set, epsilon and number of passes."""
    settings = [(e, PASSES) for e in (0.5, 1.0, 4.0, NO_NOISE)] + [(NO_NOISE, MORE_PASSES)]
    return [
        {"data": data, "epsilon": e, "passes": n, "n_splits": 1 if fast else N_SPLITS}
        for data in (DATA[1:2] if fast else DATA)
        for e, n in (settings[2:3] if fast else settings)
    ]


def measure(data: str, epsilon: float, passes: int, n_splits: int) -> list[Row]:
    """Score each way on the same splits, and what chosen splits gain over random ones."""
    dataset, rows = loaded(data), []
    name = metric(dataset.schema)
    for repeat, split in enumerate(splits(len(dataset.X), n_splits)):
        found = {}
        for model, way in _WAYS.items():
            unfitted = estimator(OURS, dataset.schema, epsilon).set_params(
                max_rounds=passes, allow_weak=True
            )
            with way(), warnings.catch_warnings():
                warnings.simplefilter("ignore", PrivacyWarning)  # next to no noise protects nobody
                found[model] = scored(unfitted, dataset, split)
        setting: Row = {"data": data, "epsilon": epsilon, "passes": passes, "repeat": repeat}
        random = found[OURS]["value"]
        for model, row in found.items():
            rows.append(setting | {"model": model, "metric": name} | row)
            if model != OURS:
                gain = row["value"] - random if name == "AUROC" else 1.0 - row["value"] / random
                rows.append(setting | {"model": model, "metric": GAIN} | row | {"value": gain})
    return rows


PROTOCOL = f"""The first {N_SPLITS} of the splits of ebm_tables, the settings of the paper, Gaussian
DP, delta 1e-6. Random: the library's fit. Chosen: each tree has the two splits of largest gain
(squared sum of a leaf over its count). Both ways of paying for them are charged the same epsilon
and delta as random splits, with the library's noise. One release per tree: its noisy sums are those
of bins, from which the splits are chosen and which leaves add up, so their noise is that of all
their bins. Half of the budget: half pays for the sums of bins, the other half for those of leaves,
and both answers are averaged by their noise. At epsilon {NO_NOISE:,.0f} there is next to no noise,
with the passes of the paper and with four times as many. Gain: AUROC of chosen minus that of random
splits, or the share of the RMSE that chosen ones save, on the same split of the data."""

STUDIES = (
    Study(
        name="ebm_splits",
        paper=PAPER_NAME,
        shows="section 3: random splits next to splits that are chosen by their gain, paid from "
        "the same budget, and with next to no noise",
        protocol=PROTOCOL.replace("\n", " "),
        cells=cells,
        measure=measure,
    ),
)
