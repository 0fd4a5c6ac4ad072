"""Figures 4 and 6 of Nori et al.: monotone curves, and the spread of AUROC over splits."""

from __future__ import annotations

import time

import numpy as np
from bench_data import splits
from numpy.typing import NDArray
from published import GDP
from sklearn.metrics import roc_auc_score

from dpexplain import Classes, Numeric
from dpexplain.edit import EditLog, Monotone
from dpexplain.explain import GlobalExplanation
from paper_ebm import PAPER_NAME, estimator, loaded, scored
from paper_ebm_diffprivlib import elsewhere, encoded, missing, packed
from paper_ebm_figures import N_PATIENTS, at, clinic, grid
from study import Cell, Row, Study

Values = NDArray[np.float64]

# --- figure 4: isotonic repair ---------------------------------------------------------------

N_FITS = 10
EPSILONS = (0.5, 1.0, 4.0)
TERM = "age"


def isotonic_cells(fast: bool) -> list[Cell]:
    """Return a cell per epsilon."""
    return [
        {"epsilon": e, "n_fits": 2 if fast else N_FITS}
        for e in (EPSILONS[1:2] if fast else EPSILONS)
    ]


def measure_isotonic(epsilon: float, n_fits: int) -> list[Row]:
    """Measure decreases of the private age curve and its error, before and after repair."""
    patients = clinic()
    feature = patients.schema.features[TERM]
    assert isinstance(feature, Numeric)
    points = grid(feature)
    shape = patients.truth.shapes[TERM]
    truth = shape(points) - np.mean(shape(patients.X[TERM].dropna().to_numpy()))
    rows: list[Row] = []
    for repeat in range(n_fits):
        start = time.process_time()
        model = estimator(GDP, patients.schema, epsilon).fit(patients.X, patients.y)
        seconds = time.process_time() - start
        before = model.explain_global()
        spent = len(model.ledger_.entries)
        after = EditLog().edit(Monotone(TERM, direction="increasing")).apply(before)
        for name, explanation in (("as released", before), ("monotone", after)):
            curve = _curve(explanation, points)
            values = {
                "distance to the truth": float(np.abs(curve - truth).mean()),
                "sum of falls": float(np.maximum(-np.diff(curve), 0.0).sum()),
                "releases after the repair": float(len(model.ledger_.entries) - spent),
            }
            setting = {"data": "clinical", "model": name, "epsilon": epsilon}
            setting |= {"repeat": repeat, "cpu_s": seconds}
            rows += [setting | {"metric": k, "value": v} for k, v in values.items()]
    return rows


def _curve(explanation: GlobalExplanation, points: Values) -> Values:
    term = explanation[TERM]
    return at(term, term.contribution, points)


# --- figure 6: AUROC over splits -------------------------------------------------------------

SPREAD_DATA = "telco"
SPREAD_EPSILONS = {"diffprivlib, as published": 0.5, GDP: 0.05}
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
_SPLITS = {"random predictions": 1000, "diffprivlib, as published": 100, GDP: 50}


def spread_cells(fast: bool) -> list[Cell]:
    """Return a cell per model."""
    return [
        {"model": model, "epsilon": SPREAD_EPSILONS.get(model), "n_splits": 10 if fast else n}
        for model, n in _SPLITS.items()
    ]


def measure_spread(model: str, epsilon: float | None, n_splits: int) -> list[Row]:
    """Measure mean, deviation and quantiles of AUROC on the test parts of many splits."""
    data = loaded(SPREAD_DATA)
    assert isinstance(data.schema.target, Classes)
    y = (data.y == data.schema.target.labels[1]).to_numpy()
    if epsilon is None:
        rng = np.random.default_rng(0)
        tests = [test for _, test in splits(len(y), n_splits)]
        found = [roc_auc_score(y[test], rng.random(len(test))) for test in tests]
        seconds = 0.0
    elif model == GDP:
        rows = [
            scored(estimator(model, data.schema, epsilon), data, split)
            for split in splits(len(y), n_splits)
        ]
        found, seconds = [row["value"] for row in rows], np.median([row["cpu_s"] for row in rows])
    else:
        arrays, settings = packed(data, encoded(data.X, data.schema, scaled=False), n_splits)
        rows = elsewhere(arrays, settings | {"epsilons": [epsilon], "C": 1.0})
        found, seconds = [row["value"] for row in rows], np.median([row["cpu_s"] for row in rows])
    setting = {"data": SPREAD_DATA, "model": model, "epsilon": epsilon, "n_splits": n_splits}
    setting |= {"repeat": 0, "cpu_s": float(seconds)}
    values = {("mean of AUROC", None): np.mean(found), ("sd of AUROC", None): np.std(found, ddof=1)}
    values |= {("AUROC", q): np.quantile(found, q) for q in QUANTILES}
    return [
        setting | {"metric": metric, "quantile": q, "value": float(value)}
        for (metric, q), value in values.items()
    ]


STUDIES = (
    Study(
        name="ebm_isotonic",
        paper=PAPER_NAME,
        shows="figure 4: the noisy private curve of age, made monotone by isotonic regression",
        protocol=f"{N_PATIENTS:,} simulated patients, whose risk rises with age, instead of the "
        f"records of the paper's hospital; {N_FITS} fits of DP-EBM in the settings of the paper. "
        "Isotonic regression weighs bins by their released counts and keeps the mean; the paper "
        "uses the curve and the histogram, and does not print the weights. Mean distance in "
        "log-odds to the curve of the simulation over public points, and how "
        "far the curve falls in all. The repair reads released numbers only: releases in the "
        "ledger are counted before and after it.",
        cells=isotonic_cells,
        measure=measure_isotonic,
    ),
    Study(
        name="ebm_auroc_spread",
        paper=PAPER_NAME,
        shows="figure 6: distribution of AUROC over splits, of random predictions, private "
        "logistic regression and DP-EBM under very strong privacy",
        protocol="Telco instead of the healthcare records; 100 random 80/20 splits (1,000 of "
        "random predictions) where the paper has 5,000; logistic regression by diffprivlib 0.6.6, "
        "as published, at epsilon 0.5; DP-EBM at 0.05 on 50 of them. Quantiles over splits.",
        cells=spread_cells,
        measure=measure_spread,
        missing=missing,
    ),
)
