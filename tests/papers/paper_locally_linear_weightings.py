"""Figures 2, 3 and 9 of Harder et al. as numbers: weightings and looks of filters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from locally_linear_filters import ALMOST_ALL, NEIGHBORS, WEIGHTINGS
from paper_locally_linear import N_FITS, fitted_images, setting_of, without
from sources import HARDER as PAPER
from study import Cell, Row, Study

N_EXPLAINED = 200
MOST = 0.9
Values = NDArray[np.float64]


def cells(fast: bool) -> list[Cell]:
    """Return a cell per fit: default, unprojected, weaker guarantee, and non-private."""
    if fast:
        small = {"n_basis": 40, "n_filters": 5}
        return [{**setting_of("digits", 2.0, **small), "repeat": 0}]
    return [
        {**cell, "repeat": repeat}
        for repeat in range(N_FITS)
        for data in ("fashion_mnist", "mnist")
        for cell in (
            setting_of(data, 2.0),
            without(data, 2.0),
            without(data, 5.2),
            setting_of(data, None),
        )
    ]


def measure(**cell: Any) -> list[Row]:
    """Measure the top filter's weight, its smoothness, and the weighted filter's."""
    model, pictures, seconds = fitted_images(**cell)
    X = pictures.X_test[:N_EXPLAINED]
    bank, found = model.explain_global(), model.explain_local(X, samples_public=True)
    classes = np.asarray(model.decision_function(X)).argmax(axis=1)
    rows = np.arange(len(classes))
    weightings = found.weightings[rows, classes]
    top = bank.filters[classes, weightings.argmax(axis=1)]
    weighted = np.einsum("nm,nmd->nd", weightings, bank.filters[classes])
    values = {
        "weight of the top filter": weightings.max(axis=1).mean(),
        ALMOST_ALL: np.mean(weightings.max(axis=1) > MOST),
        "cosine of top to weighted filter": _cosines(top, weighted).mean(),
        NEIGHBORS: smoothness(top, pictures.side),
    }
    return [{**cell, "metric": k, "value": float(v), "cpu_s": seconds} for k, v in values.items()]


def _cosines(a: Values, b: Values) -> Values:
    norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return np.asarray((a * b).sum(axis=1) / np.maximum(norms, 1e-12))


def smoothness(filters: Values, side: int) -> float:
    """Return the mean correlation of a pixel with the one to its right and the one below."""
    images = filters.reshape(-1, side, side)
    pairs = ((images[:, :, 1:], images[:, :, :-1]), (images[:, 1:], images[:, :-1]))
    flat = [(a.reshape(len(a), -1), b.reshape(len(b), -1)) for a, b in pairs]
    centered = [tuple(x - x.mean(axis=1, keepdims=True) for x in pair) for pair in flat]
    return float(np.mean([_cosines(a, b).mean() for a, b in centered]))


STUDIES = (
    Study(
        name=WEIGHTINGS,
        paper=PAPER,
        shows="figures 2, 3 and 9 as numbers: weight of the top filter, its likeness to the "
        "weighted filter, and how smooth it looks",
        protocol="Settings of the paper (30 filters per class, 300 numbers), 3 epochs instead of "
        "20, at epsilon 2, without projection at 2 and 5.2 (where the paper has 60 epochs of "
        f"larger batches) and without privacy; {N_FITS} fits in a run, the column n says how many "
        f"are in the table. The first {N_EXPLAINED} test images, filters of the predicted class. "
        f"Almost all weight is more than {MOST}. The paper judges pictures: the correlation "
        "of neighboring pixels stands for how readable a filter is.",
        cells=cells,
        measure=measure,
    ),
)
