"""How smooth curves of Nori et al. are, with and without noise, over several fits."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from ebm_claims import OURS, RECIPE
from ebm_split_claims import NO_NOISE
from paper_ebm import PAPER_NAME, estimator
from paper_ebm_figures import (
    BAGGED,
    EPSILONS,
    N_BAGS,
    SINGLE,
    Values,
    at,
    bagged,
    feature_of,
    grid,
    numeric,
    single,
    table_of,
)
from study import Cell, Row, Study

N_FITS, N_PRIVATE_FITS = 5, 10

Curves = dict[str, Values]


def cells(fast: bool) -> list[Cell]:
    """Return a cell per data set, model and epsilon; a fast run has one fit of private ones."""
    settings = [("adult", OURS, epsilon) for epsilon in (*EPSILONS, NO_NOISE)]
    if not fast:
        settings += [("adult", model, None) for model in (SINGLE, BAGGED)]
        settings += [("adult", RECIPE, 4.0), ("clinical", OURS, 4.0), ("clinical", BAGGED, None)]
    n_fits = {OURS: 1 if fast else N_PRIVATE_FITS, SINGLE: N_FITS * N_BAGS}
    return [
        {"data": data, "model": m, "epsilon": e, "n_fits": n_fits.get(m, N_FITS), "fast": fast}
        for data, m, e in settings
    ]


def measure(data: str, model: str, epsilon: float | None, n_fits: int, fast: bool) -> list[Row]:
    """Measure the total variation of each curve over fits; at epsilon 4 also its shape."""
    rows = []
    shape = _bagged(data) if epsilon == 4.0 and data == "adult" and not fast else {}
    for repeat, (curves, seconds) in enumerate(_fits(data, model, epsilon, n_fits)):
        common: Row = {"data": data, "model": model, "epsilon": epsilon, "repeat": repeat}
        for name, scores in curves.items():
            values = {"total variation": float(np.abs(np.diff(scores)).sum())}
            if name in shape:
                found = float(np.corrcoef(scores, shape[name])[0, 1])
                values["correlation with the bagged EBM"] = found
            rows += [
                {**common, "metric": metric, "feature": name, "value": value, "cpu_s": seconds}
                for metric, value in values.items()
            ]
    return rows


def _fits(
    data: str, model: str, epsilon: float | None, n_fits: int
) -> Iterator[tuple[Curves, float]]:
    """Yield the curves of each fit and its CPU seconds: none of fits that others share."""
    for repeat in range(n_fits):
        start = time.process_time()
        curves = _curves(data, model, epsilon, repeat)
        yield curves, time.process_time() - start if epsilon else 0.0


def _curves(data: str, model: str, epsilon: float | None, repeat: int) -> Curves:
    if model == BAGGED:
        return _bagged(data, repeat)
    table, points = table_of(data), _points(data)
    if model == SINGLE:
        terms = single(data, repeat)
    else:
        private = estimator(model, table.schema, epsilon).set_params(allow_weak=True)
        terms = private.fit(table.X, table.y).explain_global()
    return {
        name: at(terms[name], terms[name].contribution, where) for name, where in points.items()
    }


def _bagged(data: str, repeat: int = 0) -> Curves:
    """Return the mean curves of bags, others for each repeat; the first is that of figure 5."""
    seeds = range(repeat * N_BAGS, (repeat + 1) * N_BAGS)
    found = bagged([single(data, seed) for seed in seeds], _points(data))
    return {name: curves["score"] for name, curves in found.items()}


def _points(data: str) -> dict[str, Values]:
    schema = table_of(data).schema
    names = ["age"] if data == "clinical" else numeric(schema)
    return {name: grid(feature_of(schema, name)) for name in names}


STUDIES = (
    Study(
        name="ebm_smoothness",
        paper=PAPER_NAME,
        shows="figures 3 and 5 and section 5.3 over several fits: how smooth curves are, with next "
        "to no noise, too, and whether private ones keep the shape of those without privacy",
        protocol="Total variation in log-odds at the points of ebm_curves_adult and "
        f"ebm_curves_clinical: {N_PRIVATE_FITS} fits of DP-EBM in the settings of the paper, "
        f"{N_FITS} of our default recipe on adult, {N_FITS * N_BAGS} EBMs without privacy, and "
        f"{N_FITS} bagged ones, each the mean of {N_BAGS} of these. At epsilon {NO_NOISE:,.0f} "
        f"the settings of the paper have next to no noise. Shape: correlation over these points "
        f"with the bagged EBM of ebm_curves_adult.",
        cells=cells,
        measure=measure,
    ),
)
