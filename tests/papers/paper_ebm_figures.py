"""Figures 3 and 5 of Nori et al.: curves with and without privacy."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import ebm_figure_claims
from dpexplain import ExplainableBoostingClassifier, Numeric, Schema
from dpexplain.datasets import SimulatedDataset, make_additive
from dpexplain.explain import GlobalExplanation, ShapeFunction
from paper_ebm import DELTA, PAPER_NAME, estimator, loaded
from study import Cell, Row, Study

Values = NDArray[np.float64]

EPSILONS = (4.0, 1.0)
N_BAGS = 16
N_PATIENTS = 10_000
PRIVATE = ("DP-EBM, GDP", "DP-EBM, default recipe")
BAGGED, SINGLE, TRUTH = "bagged EBM", "single EBM", "truth"
N_FITS = 10
NO_NOISE = 10_000.0
"""An epsilon so large that next to no noise is added."""
EACH_WAY = 24
"""Points of a grid at equal distances, and as many at equal ratios from the lower bound."""


# --- where curves are looked at --------------------------------------------------------------


def grid(feature: Numeric) -> Values:
    """Return public points between a feature's bounds: half linear, half geometric."""
    width = feature.high - feature.low
    shares = np.r_[np.linspace(0.0, 1.0, EACH_WAY), np.geomspace(1e-4, 1.0, EACH_WAY)]
    points = feature.low + width * shares
    if feature.step is not None:
        points = np.round(points / feature.step) * feature.step
    return np.unique(np.clip(np.round(points, 6), feature.low, feature.high))


def at(term: ShapeFunction, values: Values, points: Values) -> Values:
    """Return a term's values per bin at points of its feature."""
    assert term.bin_edges is not None
    place = np.searchsorted(term.bin_edges, points, side="right") - 1
    return np.asarray(values)[np.clip(place, 0, len(term.bin_edges) - 2)]


# --- curves ----------------------------------------------------------------------------------


@cache
def clinic() -> SimulatedDataset:
    """Simulate the patients, identical in every process."""
    return make_additive("clinical", N_PATIENTS, random_state=0)


class _Data(Protocol):
    X: pd.DataFrame
    y: pd.Series
    schema: Schema


def measure(data: str, model: str, epsilon: float | None) -> list[Row]:
    """Measure score, lower and upper end of each curve of a model on its grid."""
    table: _Data = clinic() if data == "clinical" else loaded(data)
    names = ["age"] if data == "clinical" else _numeric(table.schema)
    start = time.process_time()
    found = _found(table, model, epsilon, names)
    setting = {"data": data, "model": model, "epsilon": epsilon, "repeat": 0}
    setting |= {"cpu_s": time.process_time() - start}
    return [
        setting | {"metric": metric, "feature": name, "x": float(x), "value": float(value)}
        for name, curves in found.items()
        for metric, values in curves.items()
        for x, value in zip(grid(_feature(table.schema, name)), values, strict=True)
    ]


def _numeric(schema: Schema) -> list[str]:
    return [name for name, feature in schema.features.items() if isinstance(feature, Numeric)]


def _feature(schema: Schema, name: str) -> Numeric:
    feature = schema.features[name]
    assert isinstance(feature, Numeric)
    return feature


def _found(
    table: _Data, model: str, epsilon: float | None, names: Sequence[str]
) -> dict[str, dict[str, Values]]:
    points = {name: grid(_feature(table.schema, name)) for name in names}
    if model == TRUTH:
        shapes = clinic().truth.shapes
        means = {name: np.mean(shapes[name](table.X[name].dropna().to_numpy())) for name in names}
        return {n: {"score": shapes[n](points[n]) - means[n]} for n in names}
    if model == BAGGED:
        return _bagged([_single(table, seed) for seed in range(N_BAGS)], points)
    if model == SINGLE:
        terms = _single(table, 0)
        return {n: {"score": at(terms[n], terms[n].contribution, points[n])} for n in names}
    terms = estimator(model, table.schema, epsilon).fit(table.X, table.y).explain_global()
    return {n: _with_band(terms[n], points[n]) for n in names}


def _single(table: _Data, seed: int) -> GlobalExplanation:
    model: Any = ExplainableBoostingClassifier(schema=table.schema, outer_bags=1, random_state=seed)
    return model.fit(table.X, table.y).explain_global()


def _bagged(
    bags: Sequence[GlobalExplanation], points: dict[str, Values]
) -> dict[str, dict[str, Values]]:
    """Return the mean over bags, and one standard deviation to either side."""
    found = {}
    for name, where in points.items():
        curves = np.array([at(bag[name], bag[name].contribution, where) for bag in bags])
        mean, sd = curves.mean(axis=0), curves.std(axis=0, ddof=1)
        found[name] = {"score": mean, "lower": mean - sd, "upper": mean + sd}
    return found


def _with_band(term: ShapeFunction, points: Values) -> dict[str, Values]:
    lower, upper = term.band or (term.contribution, term.contribution)
    curves = {"score": term.contribution, "lower": lower, "upper": upper}
    return {name: at(term, values, points) for name, values in curves.items()}


# --- smoothness with and without noise ---------------------------------------------------------


def measure_travel(epsilon: float, n_fits: int) -> list[Row]:
    """Measure the total variation of each private curve of adult over fits."""
    table, rows = loaded("adult"), []
    for repeat in range(n_fits):
        start = time.process_time()
        model = estimator(PRIVATE[0], table.schema, epsilon).set_params(allow_weak=True)
        terms = model.fit(table.X, table.y).explain_global()
        common: Row = {"data": "adult", "model": PRIVATE[0], "epsilon": epsilon, "repeat": repeat}
        common |= {"metric": "total variation", "cpu_s": time.process_time() - start}
        for name in _numeric(table.schema):
            points = grid(_feature(table.schema, name))
            scores = at(terms[name], terms[name].contribution, points)
            rows.append(common | {"feature": name, "value": float(np.abs(np.diff(scores)).sum())})
    return rows


def travel_cells(fast: bool) -> list[Cell]:
    """Return a cell per epsilon."""
    return [{"epsilon": e, "n_fits": 1 if fast else N_FITS} for e in (*EPSILONS, NO_NOISE)]


# --- tables and studies ----------------------------------------------------------------------


def wide(study: Study, rows: Sequence[Row]) -> pd.DataFrame:
    """Return a row per point of a curve: score, ends of the band, and whether it is private."""
    table = pd.DataFrame(rows)
    keys = ["data", "model", "epsilon", "feature", "x"]
    table = table.pivot_table("value", keys, "metric", dropna=False, sort=False, observed=True)
    table = table.reset_index().dropna(subset="score")
    table["guarantee"] = np.where(table["epsilon"].notna(), f"delta {DELTA:g}", "not private")
    return table[[*keys, "score", "lower", "upper", "guarantee"]]


def _cells(data: str, extra: Sequence[str], models: Sequence[str]) -> list[Cell]:
    plain: list[Cell] = [{"data": data, "model": m, "epsilon": None} for m in extra]
    return plain + [{"data": data, "model": m, "epsilon": e} for m in models for e in EPSILONS]


def adult_cells(fast: bool) -> list[Cell]:
    """Return a cell per model and epsilon."""
    return _cells("adult", (SINGLE,) if fast else (BAGGED, SINGLE), PRIVATE)


def clinical_cells(fast: bool) -> list[Cell]:
    """Return a cell per model and epsilon."""
    return _cells("clinical", (TRUTH, SINGLE if fast else BAGGED), PRIVATE)


_CURVES = f"""Log-odds at public points of each feature, half of them at equal distances, half at
equal ratios. DP-EBM in the settings of the paper and in our default recipe, delta {DELTA:g}; lower
and upper are the ends of the 95% band of total uncertainty, from released numbers only. Bagged EBM:
mean of {N_BAGS} fits without privacy, each on 85% of the records (the
paper has 25 for adult), plus and
minus one standard deviation between them. EBMs are not private."""
ADULT_PROTOCOL = f"""{_CURVES} Single EBM: one of the fits of the bagged one. They are shown since
the data are public. All rows of adult."""
CLINICAL_PROTOCOL = f"""{_CURVES} {N_PATIENTS:,} simulated patients instead of the records of the
paper's hospital; the truth is that of the simulation, centered on the patients."""

STUDIES = (
    Study(
        name="ebm_curves_adult",
        paper=PAPER_NAME,
        shows="figure 5: curves of all numeric features of adult",
        protocol=ADULT_PROTOCOL.replace("\n", " "),
        cells=adult_cells,
        measure=measure,
        table=wide,
    ),
    Study(
        name="ebm_curves_clinical",
        paper=PAPER_NAME,
        shows="figure 3, on other data: the curve of age of simulated patients",
        protocol=CLINICAL_PROTOCOL.replace("\n", " "),
        cells=clinical_cells,
        measure=measure,
        table=wide,
    ),
    Study(
        name="ebm_smoothness",
        paper=PAPER_NAME,
        shows="section 5.3: how smooth the curves of adult are with next to no noise",
        protocol=f"Total variation in log-odds at the points of ebm_curves_adult, {N_FITS} fits of "
        f"DP-EBM in the settings of the paper; at epsilon {NO_NOISE:,.0f} the same settings have "
        "next to no noise.",
        cells=travel_cells,
        measure=measure_travel,
    ),
)

CLAIMS = ebm_figure_claims.CLAIMS
