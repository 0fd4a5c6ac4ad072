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
from ebm_figure_claims import N_BAGS
from paper_ebm import DELTA, PAPER_NAME, estimator, loaded
from study import Cell, Row, Study

Values = NDArray[np.float64]

EPSILONS = (4.0, 1.0)
N_FITS = 5
N_PATIENTS = 10_000
PRIVATE = ("DP-EBM, GDP", "DP-EBM, default recipe")
BAGGED, SINGLE, TRUTH = "bagged EBM", "single EBM", "truth"
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


class Table(Protocol):
    """What models are fitted to."""

    X: pd.DataFrame
    y: pd.Series
    schema: Schema


def measure(data: str, model: str, epsilon: float | None, n_fits: int) -> list[Row]:
    """Measure score, lower and upper end of each curve of several fits on its grid."""
    table = table_of(data)
    names = ["age"] if data == "clinical" else numeric(table.schema)
    setting = {"data": data, "model": model, "epsilon": epsilon}
    rows = []
    for repeat in range(n_fits):
        start = time.process_time()
        found = _found(data, model, epsilon, names, repeat)
        of_fit = setting | {"repeat": repeat, "cpu_s": time.process_time() - start}
        rows += [
            of_fit | {"metric": metric, "feature": name, "x": float(x), "value": float(value)}
            for name, curves in found.items()
            for metric, values in curves.items()
            for x, value in zip(grid(feature_of(table.schema, name)), values, strict=True)
        ]
    return rows


def numeric(schema: Schema) -> list[str]:
    return [name for name, feature in schema.features.items() if isinstance(feature, Numeric)]


def feature_of(schema: Schema, name: str) -> Numeric:
    feature = schema.features[name]
    assert isinstance(feature, Numeric)
    return feature


def table_of(data: str) -> Table:
    """Return the simulated patients, or a public data set by its name."""
    return clinic() if data == "clinical" else loaded(data)


def _found(
    data: str, model: str, epsilon: float | None, names: Sequence[str], repeat: int
) -> dict[str, dict[str, Values]]:
    table = table_of(data)
    points = {name: grid(feature_of(table.schema, name)) for name in names}
    if model == TRUTH:
        shapes = clinic().truth.shapes
        means = {name: np.mean(shapes[name](table.X[name].dropna().to_numpy())) for name in names}
        return {n: {"score": shapes[n](points[n]) - means[n]} for n in names}
    if model == BAGGED:
        seeds = range(repeat * N_BAGS, (repeat + 1) * N_BAGS)
        return bagged([single(data, seed) for seed in seeds], points)
    if model == SINGLE:
        terms = single(data, repeat)
        return {n: {"score": at(terms[n], terms[n].contribution, points[n])} for n in names}
    terms = estimator(model, table.schema, epsilon).fit(table.X, table.y).explain_global()
    return {n: _with_band(terms[n], points[n]) for n in names}


@cache
def single(data: str, seed: int) -> GlobalExplanation:
    """Return the curves of an EBM without privacy; a bagged one is a mean of such curves."""
    table = table_of(data)
    model: Any = ExplainableBoostingClassifier(schema=table.schema, outer_bags=1, random_state=seed)
    return model.fit(table.X, table.y).explain_global()


def bagged(
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


# --- tables and studies ----------------------------------------------------------------------


def wide(study: Study, rows: Sequence[Row]) -> pd.DataFrame:
    """Return a row per point of a curve: over fits, and of the first one with its band.

    The columns ``mean``, ``sd`` and ``n`` are about the score over fits; ``score``, ``lower`` and
    ``upper`` are those of the first fit, which the pictures draw.
    """
    table = pd.DataFrame(rows)
    keys = ["data", "model", "epsilon", "feature", "x"]
    scores = table[table["metric"] == "score"].groupby(keys, dropna=False, sort=False)
    over = scores.agg(
        mean=("value", "mean"), sd=("value", "std"), n=("value", "size"), cpu_s=("cpu_s", "median")
    ).reset_index()
    first = table[table["repeat"] == 0]
    first = first.pivot_table("value", keys, "metric", dropna=False, sort=False, observed=True)
    first = first.reset_index().dropna(subset="score")
    table = over.merge(first, how="left", on=keys)
    table["guarantee"] = np.where(table["epsilon"].notna(), f"delta {DELTA:g}", "not private")
    table.loc[table["model"] == TRUTH, ["n", "cpu_s"]] = np.nan  # which is not fitted
    table.loc[table["model"] == SINGLE, "cpu_s"] = np.nan  # fitted for the bagged one
    return table[[*keys, "mean", "sd", "n", "cpu_s", "score", "lower", "upper", "guarantee"]]


def _cells(data: str, extra: Sequence[str], models: Sequence[str], n_fits: int) -> list[Cell]:
    plain = [(model, None) for model in extra]
    private = [(model, epsilon) for model in models for epsilon in EPSILONS]
    return [
        {"data": data, "model": m, "epsilon": e, "n_fits": 1 if m == TRUTH else n_fits}
        for m, e in (*plain, *private)
    ]


def adult_cells(fast: bool) -> list[Cell]:
    """Return a cell per model and epsilon."""
    if fast:
        return _cells("adult", (SINGLE,), PRIVATE, 1)
    return _cells("adult", (BAGGED, SINGLE), PRIVATE, N_FITS)


def clinical_cells(fast: bool) -> list[Cell]:
    """Return a cell per model and epsilon."""
    if fast:
        return _cells("clinical", (TRUTH, SINGLE), PRIVATE, 1)
    return _cells("clinical", (TRUTH, BAGGED), PRIVATE, N_FITS)


_CURVES = f"""Log-odds at public points of each feature, some at equal distances, the others at
equal ratios. {N_FITS} fits of each model: mean and deviation over fits, and the first one with its
band. DP-EBM in the settings of the paper and in our default recipe, delta {DELTA:g}; lower
and upper are the ends of the 95% band of total uncertainty, from released numbers only. Bagged EBM:
mean of {N_BAGS} fits without privacy, as in the paper for adult, each on 85% of the records, plus
and minus one standard deviation between them. EBMs are not private."""
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
)

CLAIMS = ebm_figure_claims.CLAIMS
