"""Public grids: cells that depend only on the schema."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.bins import FeatureBins
from dpexplain.schema import Categorical, Numeric

Spacing = Literal["mixed", "equal"]

_GEOMETRIC_SPAN = 1e-4
"""Width of the finest geometric cell, as a fraction of the range that these cells cover."""


def declared_cells(
    name: str, feature: Numeric | Categorical, n_cells: int, spacing: Spacing = "mixed"
) -> FeatureBins:
    """Return the public cells (fine bins) of one feature, based only on the schema.

    Parameters
    ----------
    name : str
        Name of the feature.
    feature : Numeric or Categorical
        Bounds or categories of the feature. Each category is a separate cell.
    n_cells : int
        Maximum number of cells of a numeric feature.
    spacing : {"mixed", "equal"}, default="mixed"
        "equal": cells of equal width, as in Algorithm 3 of [1]_. "mixed": half of the edges are
        equally spaced, and the other half are spaced geometrically from zero (or from the bound
        closest to zero), so that the values of a skewed column, such as incomes, do not all fall
        into one cell.

    Returns
    -------
    FeatureBins

    References
    ----------
    .. [1] Nori et al., "Accuracy, Interpretability, and Differential Privacy via
       Explainable Boosting", ICML 2021, arXiv:2106.09680.

    Examples
    --------
    >>> from dpexplain.schema import Numeric
    >>> declared_cells("age", Numeric(0, 100), 4, "equal").edges
    array([  0.,  25.,  50.,  75., 100.])
    """
    if isinstance(feature, Categorical):
        return FeatureBins(name, feature)
    edges = _mixed_edges(feature, n_cells) if spacing == "mixed" else _equal_edges(feature, n_cells)
    return FeatureBins(name, feature, _snap(edges, feature))


def _equal_edges(feature: Numeric, n_cells: int) -> NDArray[np.float64]:
    return np.linspace(feature.low, feature.high, n_cells + 1)


def _mixed_edges(feature: Numeric, n_cells: int) -> NDArray[np.float64]:
    n_linear = n_cells - n_cells // 2
    anchor = min(max(0.0, feature.low), feature.high)
    sides = [(bound - anchor) for bound in (feature.low, feature.high) if bound != anchor]
    n_geometric = n_cells // 2 // len(sides)
    parts = [np.linspace(feature.low, feature.high, n_linear + 1)]
    geometric = np.geomspace(_GEOMETRIC_SPAN, 1.0, n_geometric + 1)[:-1]
    parts += [anchor + side * geometric for side in sides]
    return np.unique(np.concatenate(parts))


def _snap(edges: NDArray[np.float64], feature: Numeric) -> NDArray[np.float64]:
    """Move each edge to the midpoint between two adjacent possible values.

    If the schema specifies no step, or an extremely fine one, the edges are not moved.
    """
    n_steps = np.inf if feature.step is None else (feature.high - feature.low) / feature.step
    if feature.step is None or not n_steps < 2.0**53:  # finer than floating-point numbers
        return np.unique(edges)
    n_values = int(np.floor(n_steps + 1e-9)) + 1
    if n_values <= len(edges) - 1:
        positions = np.arange(n_values + 1)
    else:
        positions = np.unique(np.round((edges - feature.low) / feature.step).astype(np.int64))
        positions[-1] = n_values
    return np.asarray(feature.low + feature.step * (positions - 0.5), dtype=np.float64)
