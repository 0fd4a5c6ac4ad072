"""Figures 2, 3 and 9 of Harder et al. as numbers: weightings and looks of filters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from image_data import Images
from locally_linear_filters import ALMOST_ALL, NEIGHBORS, TO_WEIGHTED, TOP_WEIGHT

N_EXPLAINED = 200
MOST = 0.9
Values = NDArray[np.float64]


def looks(model: Any, pictures: Images) -> dict[str, float]:
    """Return the top filter's weight and smoothness, and its likeness to the weighted filter."""
    X = pictures.X_test[:N_EXPLAINED]
    bank, found = model.explain_global(), model.explain_local(X, samples_public=True)
    classes = np.asarray(model.decision_function(X)).argmax(axis=1)
    weightings = found.weightings[np.arange(len(classes)), classes]
    top = bank.filters[classes, weightings.argmax(axis=1)]
    weighted = np.einsum("nm,nmd->nd", weightings, bank.filters[classes])
    return {
        TOP_WEIGHT: float(weightings.max(axis=1).mean()),
        ALMOST_ALL: float(np.mean(weightings.max(axis=1) > MOST)),
        TO_WEIGHTED: float(_cosines(top, weighted).mean()),
        NEIGHBORS: smoothness(top, pictures.side),
    }


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
