"""State of a term during editing: a curve, or the cells of a pair."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from dpexplain.edit.kernels import FloatArray, IndexArray, positive_weights, weighted_mean
from dpexplain.explain import PairAxis, PairCurve, ShapeFunction
from dpexplain.explain._text import shorten


@dataclasses.dataclass(frozen=True)
class State:
    """State of a term during editing.

    Attributes
    ----------
    released : ShapeFunction or PairCurve
        The term as released.
    values : ndarray of shape (n_bins,)
        Current contributions of the bins or, for a pair, of the cells, row by row.
    band_center : ndarray of shape (n_bins,)
        Center of the noise band: the released contributions, stretched if an edit undid their
        shrinkage.
    shift : float
        Amount that the edits to this term have added to the intercept.
    """

    released: ShapeFunction | PairCurve
    values: FloatArray
    band_center: FloatArray
    shift: float

    @property
    def weights(self) -> FloatArray:
        """Proportion of the records in each bin or cell."""
        return self.released.weights.ravel()

    @property
    def std(self) -> FloatArray | None:
        """Standard deviation of each released contribution; None if the noise is unknown."""
        std = self.released.total_std
        return None if std is None else std.ravel()

    def mean(self, bins: IndexArray) -> float:
        """Return the mean contribution of some bins, weighted by noisy counts."""
        return weighted_mean(self.values[bins], self.weights[bins])


@dataclasses.dataclass(frozen=True)
class Curve(State):
    """State of a single-feature term.

    Attributes
    ----------
    denoised : callable
        Function without arguments that estimates the noiseless curve, and raises ValueError if this
        is impossible.
    """

    released: ShapeFunction
    denoised: Callable[[], FloatArray]

    @property
    def places(self) -> FloatArray:
        """Position of each value bin: midpoint of an interval, or index of a category."""
        return _places(self.released)

    @property
    def ordered(self) -> bool:
        """Whether the value bins are ordered."""
        return ordered(self.released)

    def on_axis(self, axis: PairAxis) -> FloatArray:
        """Return the mean of the curve in each value bin of a pair's axis.

        Parameters
        ----------
        axis : PairAxis
            Axis of the same feature, usually with wider bins.

        Returns
        -------
        ndarray of shape (axis.n_value_bins,)
            Mean of the curve over its bins whose midpoints lie in the axis bin, weighted by the
            number of records. If there are no such bins, the result is the value of the curve at
            the midpoint of the axis bin. For a category that the curve does not have, the result is
            0.
        """
        term = self.released
        values = self.values[: term.n_value_bins]
        if term.bin_edges is None or axis.bin_edges is None:
            known = dict(zip(term.categories or (), values.tolist(), strict=True))
            return np.array([known.get(name, 0.0) for name in axis.categories or ()])
        middle = (axis.bin_edges[:-1] + axis.bin_edges[1:]) / 2.0
        means = values[_interval(term.bin_edges, middle)]
        rows = _interval(axis.bin_edges, self.places)
        weights = positive_weights(self.weights[: term.n_value_bins])
        mass, total = (
            np.bincount(rows, each, minlength=axis.n_value_bins)
            for each in (weights, weights * values)
        )
        return np.divide(total, mass, out=means, where=mass > 0)


@dataclasses.dataclass(frozen=True)
class Cells(State):
    """State of a pair of features.

    Attributes
    ----------
    curve_on : callable
        Function that takes an axis of the pair and returns, for each value bin of the axis, the
        mean of the feature's current curve; it returns zeros if the feature has no curve.
    """

    released: PairCurve
    curve_on: Callable[[PairAxis], FloatArray]

    def rectangle(self, cells: IndexArray, kind: str, along: str = "") -> Rectangle:
        """Return the rows and columns of chosen cells, for operations that need an order.

        Parameters
        ----------
        cells : ndarray of int64
            Indices of the cells of a rectangle.
        kind : str
            Name of the operation, for error messages.
        along : str, default=""
            Feature whose bins must be ordered; "" if the bins of both features must be ordered.

        Returns
        -------
        Rectangle

        Raises
        ------
        ValueError
            If the pair does not have this feature, its bins are not ordered, or a special bin is
            chosen.
        """
        axes, name = self.released.axes, shorten(self.released.name)
        if along and along not in self.released.feature_names:
            raise ValueError(
                f"along={shorten(along)!r}: the features of {name!r} are "
                f"{shorten(axes[0].name)!r} and {shorten(axes[1].name)!r}."
            )
        width = axes[1].n_bins
        sides = np.unique(cells // width), np.unique(cells % width)
        for axis, bins in zip(axes, sides, strict=True):
            if along not in ("", axis.name):
                continue
            if not ordered(axis):
                raise ValueError(
                    f"{kind} needs ordered bins, and the categories of {shorten(axis.name)!r} are "
                    f"unordered; pass along= with the other feature of {name!r}, if its bins are "
                    "ordered."
                )
            if bins[-1] >= axis.n_value_bins:
                raise ValueError(
                    f"{kind} needs bins in an order, and a special bin of {shorten(axis.name)!r} "
                    "(missing, other) has no position; omit it from where=."
                )
        return Rectangle(axes, *sides)


@dataclasses.dataclass(frozen=True)
class Rectangle:
    """Rows and columns of chosen cells.

    Attributes
    ----------
    axes : pair of PairAxis
    rows, columns : ndarray of int64
        Chosen bins of the two features.
    """

    axes: tuple[PairAxis, PairAxis]
    rows: IndexArray
    columns: IndexArray

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return len(self.rows), len(self.columns)

    def axis_of(self, feature: str) -> int | None:
        """Return 0 for the row feature, 1 for the column feature, and None for ""."""
        return [axis.name for axis in self.axes].index(feature) if feature else None

    def places(self, axis: int) -> FloatArray:
        """Return the positions of the chosen bins of a feature; none may be a special bin."""
        return _places(self.axes[axis])[self._bins(axis)]

    def spread(self, values: FloatArray, axis: int) -> FloatArray:
        """Copy the value for each bin of a feature to all chosen cells in that bin."""
        chosen = values[self._bins(axis)]
        return np.broadcast_to(chosen[:, None] if axis == 0 else chosen, self.shape)

    def _bins(self, axis: int) -> IndexArray:
        return self.columns if axis else self.rows


def _places(binned: ShapeFunction | PairAxis) -> FloatArray:
    edges = binned.bin_edges
    if edges is None:
        return np.arange(binned.n_value_bins, dtype=np.float64)
    return np.asarray((edges[:-1] + edges[1:]) / 2.0)


def ordered(binned: ShapeFunction | PairAxis) -> bool:
    """Return whether the value bins are ordered."""
    return binned.kind == "numeric" or binned.ordered


def _interval(edges: FloatArray, numbers: FloatArray) -> IndexArray:
    """Find the interval that contains, or is nearest to, each number."""
    inside = np.searchsorted(edges, numbers, side="right") - 1
    return np.clip(inside, 0, len(edges) - 2).astype(np.int64)


def curve_only(state: State, kind: str) -> Curve:
    """Return the state of a curve, or raise ValueError for a pair.

    Parameters
    ----------
    state : State
        State of the term to edit.
    kind : str
        Name of an operation that applies to curves only, for the error message.

    Returns
    -------
    Curve
    """
    if isinstance(state, Curve):
        return state
    raise ValueError(
        f"{kind} applies to a curve of one feature, and {shorten(state.released.name)!r} is a "
        "pair. For a pair, use set, shift, scale, smooth, flatten, monotone, remove or revert."
    )
