"""Public grids: cells that depend only on the schema."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.bins import FeatureBins
from dpexplain.schema import Categorical, Numeric

Spacing = Literal["mixed", "equal"]

_GEOMETRIC_SPAN = 1e-4
"""Width of the finest geometric cell, as a fraction of the range that these cells cover."""

_MOST_FINE = 1 << 16
"""Limit on the number of fine cells of a feature, so that an index fits in two bytes."""

_MOST_FINE_TOGETHER = 1 << 22
"""Limit on the number of fine cells of all features, which limits the memory of their counts."""

_OCTAVES = 32
_PER_OCTAVE = 256
"""Fine cells near zero: for a range of size r, up to 256 cells between each value and its double,
from r / 2**32 upward."""


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


def fine_cells(cells: FeatureBins, n_features: int = 1) -> FeatureBins:
    """Divide the public cells of a numeric feature into up to 65,535 fine cells.

    Fine cells are counted in groups, which are small only where records are dense. A feature's
    bound may therefore be thousands of times larger than most of its values.

    Parameters
    ----------
    cells : FeatureBins
        Public grid, such as one from `declared_cells`. Categories are returned unchanged.
    n_features : int, default=1
        Number of features that are counted at the same time; very wide tables get fewer cells.

    Returns
    -------
    FeatureBins
        Each edge of `cells` is also an edge of the fine cells.

    Examples
    --------
    >>> from dpexplain.schema import Numeric
    >>> fine = fine_cells(declared_cells("income", Numeric(0, 1e6), 4))
    >>> fine.n_value_bins > 60_000, int((fine.edges < 1.0).sum()) > 500
    (True, True)
    >>> fine_cells(declared_cells("age", Numeric(0, 100, step=1), 4)).n_value_bins
    101
    """
    if cells.edges is None:
        return cells
    assert isinstance(cells.feature, Numeric)
    room = min(_MOST_FINE, _MOST_FINE_TOGETHER // n_features) - 1
    values = Numeric(cells.feature.low, cells.feature.high, step=cells.feature.step)
    edges = np.asarray(cells.edges, dtype=np.float64).tobytes()
    return FeatureBins(cells.name, cells.feature, _fine_edges(values, edges, room))


@lru_cache(maxsize=32)
def _fine_edges(values: Numeric, edges_of_cells: bytes, room: int) -> NDArray[np.float64]:
    """Return the edges of fine cells; each cached result is at most half a megabyte."""
    edges = np.frombuffer(edges_of_cells)
    near = _near_edges(values, room // 4)
    equal = _equal_edges(values, room - len(near) - len(edges))
    fine = _snap(_sorted(near, equal), values)
    # Leave out edges that differ from an edge of the grid only by rounding.
    margin = 2e-9 * np.abs(edges)
    begin = np.searchsorted(fine, edges - margin)
    end = np.searchsorted(fine, edges + margin, side="right")
    within = np.bincount(begin, minlength=len(fine) + 1) - np.bincount(end, minlength=len(fine) + 1)
    close = np.flatnonzero(np.cumsum(within[:-1]))
    place = np.clip(np.searchsorted(edges, fine[close]), 1, len(edges) - 1)
    away = np.minimum(np.abs(fine[close] - edges[place - 1]), np.abs(fine[close] - edges[place]))
    fine = np.delete(fine, close[away <= 1e-9 * np.abs(fine[close])])
    found = _sorted(fine, edges)
    found.setflags(write=False)
    return found


def _near_edges(feature: Numeric, most: int) -> NDArray[np.float64]:
    """Return at most `most` edges around zero, the same number in each octave."""
    anchor, sides = _sides(feature)
    per_octave = min(_PER_OCTAVE, most // (_OCTAVES * len(sides)))
    octave, place = np.divmod(np.arange(_OCTAVES * per_octave), max(per_octave, 1))
    sizes = 2.0**-octave * (1.0 - place / (2.0 * max(per_octave, 1)))
    return np.concatenate([anchor + side * sizes for side in sides])


def _sides(feature: Numeric) -> tuple[float, list[float]]:
    """Return an origin (zero or the nearest bound) and the bounds' offsets from it."""
    anchor = min(max(0.0, feature.low), feature.high)
    return anchor, [b - anchor for b in (feature.low, feature.high) if b != anchor]


def _equal_edges(feature: Numeric, n_cells: int) -> NDArray[np.float64]:
    return np.linspace(feature.low, feature.high, n_cells + 1)


def _mixed_edges(feature: Numeric, n_cells: int) -> NDArray[np.float64]:
    n_linear = n_cells - n_cells // 2
    anchor, sides = _sides(feature)
    n_geometric = n_cells // 2 // len(sides)
    parts = [np.linspace(feature.low, feature.high, n_linear + 1)]
    geometric = np.geomspace(_GEOMETRIC_SPAN, 1.0, n_geometric + 1)[:-1]
    parts += [anchor + side * geometric for side in sides]
    return _sorted(*parts)


def _sorted(*parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Merge sorted arrays and drop duplicates; a stable sort is fast for this."""
    edges = np.sort(np.concatenate(parts), kind="stable")
    distinct = np.diff(edges, prepend=-np.inf) > 0.0
    return edges if distinct.all() else edges[distinct]


def _snap(edges: NDArray[np.float64], feature: Numeric) -> NDArray[np.float64]:
    """Move each edge to the midpoint between two adjacent possible values.

    If the schema specifies no step, or an extremely fine one, the edges are not moved.
    """
    n_steps = np.inf if feature.step is None else (feature.high - feature.low) / feature.step
    if feature.step is None or not n_steps < 2.0**53:  # finer than floating-point numbers
        return _sorted(edges)
    n_values = int(np.floor(n_steps + 1e-9)) + 1
    if n_values <= len(edges) - 1:
        positions = np.arange(n_values + 1)
    else:
        positions = _sorted(np.round((edges - feature.low) / feature.step)).astype(np.int64)
        positions[-1] = n_values
    return np.asarray(feature.low + feature.step * (positions - 0.5), dtype=np.float64)
