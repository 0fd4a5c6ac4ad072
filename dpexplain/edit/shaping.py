"""Operations that shape a curve, such as `Smooth`, `Denoise` and `Monotone`."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Literal

import numpy as np

from dpexplain.edit.grids import monotone_lines, smooth_lines, smooth_plane
from dpexplain.edit.kernels import (
    FloatArray,
    IndexArray,
    convex,
    monotone,
    smooth,
    weighted_mean,
)
from dpexplain.edit.operation import Operation, number
from dpexplain.edit.splines import smooth_as_noise_allows, smooth_surface
from dpexplain.edit.state import Cells, Curve, Rectangle, State, curve_only
from dpexplain.explain._record import choice, text
from dpexplain.explain._text import short_number, shorten


@dataclasses.dataclass(frozen=True)
class Smooth(Operation):
    """Smooth a curve with smoothing splines or with local lines.

    Parameters
    ----------
    term, bins, within, names, where, mean, of_class : see Operation
        As in :class:`Operation`; the mean is kept by default.
    reach : float or None, default=None
        If None, smoothing splines are used, with a smoothness that depends on the curve and its
        noise. In each bin, the result stays within 1.5 standard deviations of the curve. If `reach`
        is a number, a line is fitted around each bin, weighted by proximity and inverse variance.
        Proximity is given by a Gaussian kernel; `reach` is its standard deviation, as a proportion
        of the records, in (0, 1].
    along : str, default=""
        For a pair, the feature along which each line of cells is smoothed; "" to smooth in both
        directions at once. Features along which cells are smoothed must have ordered bins.

    Examples
    --------
    >>> from dpexplain.edit import EditLog, Smooth
    >>> log = EditLog().edit(Smooth("age"))
    >>> log.operations[-1].words
    'smooth age as noise allows'
    """

    reach: float | None = dataclasses.field(default=None, kw_only=True)
    along: str = dataclasses.field(default="", kw_only=True)

    kind: ClassVar[str] = "smooth"
    needs_order: ClassVar[bool] = True
    least_bins: ClassVar[int] = 2

    def __post_init__(self) -> None:
        """Check the parameters `reach` and `along`."""
        super().__post_init__()
        text("along", self.along)
        if self.reach is not None:
            object.__setattr__(self, "reach", number("reach", self.reach))
            if not 0.0 < self.reach <= 1.0:
                raise ValueError(
                    f"reach={self.reach!r} must be in (0, 1], a fraction of the records."
                )

    def _wanted(self, curve: State, bins: IndexArray) -> FloatArray:
        values, weights = curve.values[bins], curve.weights[bins]
        std = curve.std
        if self.reach is None and std is None:
            raise ValueError(
                f"smooth needs reach= here, because the noise of {shorten(self.term)!r} is unknown."
            )
        spread = std[bins] if std is not None else _spread_of_counts(weights)
        if isinstance(curve, Cells):
            return self._smooth_cells(
                curve.rectangle(bins, "smooth", self.along), values, weights, spread
            )
        curve = _without_along(curve, self)
        if self.reach is None:
            return smooth_as_noise_allows(curve.places[bins], values, weights, spread)
        return smooth(values, weights, spread, self.reach)

    def _smooth_cells(
        self, cells: Rectangle, values: FloatArray, weights: FloatArray, std: FloatArray
    ) -> FloatArray:
        table, share, spread = (each.reshape(cells.shape) for each in (values, weights, std))
        axis = cells.axis_of(self.along)
        if min(cells.shape if axis is None else (cells.shape[axis],)) < self.least_bins:
            raise ValueError("smooth needs at least 2 bins of each feature along which it smooths.")
        if axis is not None:
            places = cells.places(axis)
            return smooth_lines(places, table, share, spread, axis, self.reach).ravel()
        if self.reach is None:
            places_of_both = cells.places(0), cells.places(1)
            return smooth_surface(places_of_both, table, share, spread).ravel()
        return smooth_plane(table, share, spread, self.reach).ravel()

    @property
    def words(self) -> str:
        """Description of the operation."""
        how = "as noise allows" if self.reach is None else f"with reach {short_number(self.reach)}"
        return f"{super().words}{_along_words(self.along)} {how}"


def _without_along(state: State, operation: Smooth | Monotone) -> Curve:
    """Return the state of a curve, after checking that `along` is not set."""
    if operation.along:
        raise ValueError(
            f"along= is for a pair of features, and {shorten(operation.term)!r} is a curve of one "
            "feature; omit it."
        )
    return curve_only(state, operation.kind)


def _along_words(along: str) -> str:
    return f" along {shorten(along)}" if along else ""


def _spread_of_counts(weights: FloatArray) -> FloatArray:
    """Return the inverse square root of the proportion of records in each bin.

    The result is used in place of unknown standard deviations. Proportions below a small minimum
    are replaced by this minimum, so the result is finite.
    """
    least = 1e-3 * max(float(weights.max(initial=0.0)), 1e-300)
    return np.asarray(1.0 / np.sqrt(np.maximum(weights, least)))


@dataclasses.dataclass(frozen=True)
class Flatten(Operation):
    """Flatten the chosen bins whose noise band contains zero.

    These bins are all set to their common mean.

    Parameters
    ----------
    term, bins, within, names, where, mean, of_class : see Operation
        As in :class:`Operation`; the mean is kept by default.

    Examples
    --------
    >>> from dpexplain.edit import EditLog, Flatten
    >>> log = EditLog().edit(Flatten("age"), note="the band contains zero")
    >>> log.operations[-1].words
    'flatten inside the noise band: age'
    """

    kind: ClassVar[str] = "flatten inside the noise band"

    def _verb(self) -> str:
        return f"{self.kind}:"

    def _wanted(self, curve: State, bins: IndexArray) -> FloatArray:
        std = curve.std
        if std is None:
            raise ValueError(f"flatten needs a noise band, and {shorten(self.term)!r} has none.")
        values = curve.values[bins]
        inside = np.abs(values) <= curve.released.band_factor * std[bins]
        if not inside.any():
            return values
        level = weighted_mean(values[inside], curve.weights[bins][inside])
        return np.where(inside, level, values)


@dataclasses.dataclass(frozen=True)
class Denoise(Operation):
    """Replace the released curve with an estimate of the noiseless curve.

    The estimate is based on the released curve, so apply this operation before other edits to the
    same bins; see :func:`dpexplain.explain.denoised`.

    Parameters
    ----------
    term, bins, within, names, where, mean, of_class : see Operation
        As in :class:`Operation`; the mean is kept by default.

    Examples
    --------
    >>> from dpexplain.edit import Denoise, EditLog
    >>> log = EditLog().edit(Denoise("age"))
    >>> log.operations[-1].words
    'denoise age'
    """

    kind: ClassVar[str] = "denoise"
    curves_only: ClassVar[bool] = True

    def _wanted(self, curve: State, bins: IndexArray) -> FloatArray:
        return curve_only(curve, self.kind).denoised()[bins]


_FEATURE_BY_FEATURE = (
    "may overcorrect correlated features: shrinkage is estimated feature by feature, and a curve "
    "may carry part of the effect of another, especially in a short fit, so the result can move "
    "away from the truth"
)


@dataclasses.dataclass(frozen=True)
class Stretch(Operation):
    """Undo the shrinkage of a curve, using a factor estimated from the released sums.

    Parameters
    ----------
    term, bins, within, names, where, mean, of_class : see Operation
        As in :class:`Operation`; the mean is kept by default.

    Examples
    --------
    >>> from dpexplain.edit import EditLog, Stretch
    >>> log = EditLog().edit(Stretch("age"))
    >>> log.operations[-1].words
    'stretch age'
    """

    kind: ClassVar[str] = "stretch"
    moves_band: ClassVar[bool] = True
    curves_only: ClassVar[bool] = True
    caution: ClassVar[str] = _FEATURE_BY_FEATURE

    def _wanted(self, curve: State, bins: IndexArray) -> FloatArray:
        return _stretched(curve_only(curve, self.kind), curve.values, bins)

    def on(self, curve: State) -> State:
        """Stretch a curve and the center of its noise band, using the released sums.

        Parameters
        ----------
        curve : State
            The current state of the term.

        Returns
        -------
        State
        """
        band_center = super().on(dataclasses.replace(curve, values=curve.band_center))
        return dataclasses.replace(super().on(curve), band_center=band_center.values)


def _stretched(curve: Curve, values: FloatArray, bins: IndexArray) -> FloatArray:
    """Return the values of a curve with shrinkage undone in the chosen bins."""
    factor = curve.released.stretch
    if factor is None:
        raise ValueError(
            f"the shrinkage of {shorten(curve.released.name)!r} is unknown; use scale with your "
            "own factor."
        )
    level = weighted_mean(values[bins], curve.weights[bins])
    return np.asarray(level + factor * (values[bins] - level))


_RECOVERED_WITHIN = 1.5


@dataclasses.dataclass(frozen=True)
class Recover(Operation):
    """Re-estimate a smooth curve from all released sums.

    The estimate is based on the released sums, so apply this operation before other edits to the
    same bins. A fit uses each sum for only one small step, but all sums together contain more
    information than the final curve.

    In each bin, the estimate stays within 1.5 standard deviations of the released curve with its
    shrinkage undone. If there are few records, a smooth curve outside this range is usually wrong.

    Parameters
    ----------
    term, bins, within, names, where, mean, of_class : see Operation
        As in :class:`Operation`; the mean is kept by default.

    Examples
    --------
    >>> from dpexplain.edit import EditLog, Recover
    >>> log = EditLog().edit(Recover("age"))
    >>> log.operations[-1].words
    'recover age'
    """

    kind: ClassVar[str] = "recover"
    moves_band: ClassVar[bool] = True
    curves_only: ClassVar[bool] = True
    caution: ClassVar[str] = _FEATURE_BY_FEATURE
    needs_order: ClassVar[bool] = True

    def _wanted(self, curve: State, bins: IndexArray) -> FloatArray:
        recovered, std = curve_only(curve, self.kind).released.recovered, curve.std
        if recovered is None or std is None:
            raise ValueError(
                f"the released sums of {shorten(self.term)!r} are unknown; use smooth instead."
            )
        released = curve.released.contribution
        band_center = _stretched(curve_only(curve, self.kind), released, bins)
        reach = _RECOVERED_WITHIN * std[bins]
        return np.clip(recovered[bins], band_center - reach, band_center + reach)

    def on(self, curve: State) -> State:
        """Re-estimate a curve, and move the center of its noise band.

        In the chosen bins, the band is centered on the released curve with its shrinkage undone.

        Parameters
        ----------
        curve : State
            The current state of the term.

        Returns
        -------
        State
        """
        after, bins = super().on(curve), self._checked_bins(curve)
        band_center = curve.band_center.copy()
        released = curve.released.contribution
        band_center[bins] = _stretched(curve_only(curve, self.kind), released, bins)
        return dataclasses.replace(after, band_center=band_center)


@dataclasses.dataclass(frozen=True)
class Monotone(Operation):
    """Make a curve monotone, or make the effect of one feature in a pair monotone.

    The change is as small as possible: it minimizes the sum of squared differences, weighted by the
    noisy counts.

    For a pair, the effect of the feature `along` on the score is the sum of the feature's curve and
    the pair. The pair is changed so that, for each bin of the other feature, this sum is monotone
    from one bin of the grid to the next. The feature's own curve is not changed, and is used as it
    is at the time of the edit, so make this curve monotone first.

    Parameters
    ----------
    term : str
        Name of the term.
    direction : {"increasing", "decreasing"}
        Direction of the new curve.
    bins, within, names, where, mean, of_class : see Operation
        As in :class:`Operation`; the mean is kept by default.
    along : str, default=""
        For a pair, the feature whose effect becomes monotone; its bins must be ordered.

    Examples
    --------
    >>> from dpexplain.edit import EditLog, Monotone
    >>> log = EditLog().edit(
    ...     Monotone("age", direction="increasing"), note="risk rises with age"
    ... )
    >>> log.operations[-1].words
    'make increasing: age'
    """

    direction: Literal["increasing", "decreasing"]
    along: str = dataclasses.field(default="", kw_only=True)

    kind: ClassVar[str] = "monotone"
    needs_order: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the direction and the parameter `along`."""
        super().__post_init__()
        text("along", self.along)
        choice("direction", self.direction, ("increasing", "decreasing"))

    def _wanted(self, curve: State, bins: IndexArray) -> FloatArray:
        sign = 1 if self.direction == "increasing" else -1
        values, weights = curve.values[bins], curve.weights[bins]
        if not isinstance(curve, Cells):
            return monotone(_without_along(curve, self).values[bins], weights, sign)
        if not self.along:
            first, second = map(shorten, curve.released.feature_names)
            raise ValueError(
                f"monotone needs along={first!r} or along={second!r} for the pair "
                f"{shorten(self.term)!r}: the feature in which it becomes monotone."
            )
        cells = curve.rectangle(bins, self.kind, self.along)
        axis = cells.axis_of(self.along)
        assert axis is not None
        curve_there = cells.spread(curve.curve_on(cells.axes[axis]), axis)
        score = values.reshape(cells.shape) + curve_there
        fitted = monotone_lines(score, weights.reshape(cells.shape), sign, axis)
        # A line that is already monotone keeps its values to the last bit.
        return np.where(fitted == score, values.reshape(cells.shape), fitted - curve_there).ravel()

    @property
    def words(self) -> str:
        """Description of the operation."""
        return f"{super().words}{_along_words(self.along)}"

    def _verb(self) -> str:
        return f"make {self.direction}:"


@dataclasses.dataclass(frozen=True)
class Convex(Operation):
    """Replace a curve with the closest convex or concave curve.

    The distance is the sum of squared differences, weighted by the noisy counts.

    Parameters
    ----------
    term : str
        Name of the term.
    bend : {"convex", "concave"}
        Curvature of the new curve.
    bins, within, names, where, mean, of_class : see Operation
        As in :class:`Operation`; the mean is kept by default.

    Examples
    --------
    >>> from dpexplain.edit import Convex, EditLog
    >>> log = EditLog().edit(
    ...     Convex("age", bend="convex"), note="risk rises faster and faster"
    ... )
    >>> log.operations[-1].words
    'make convex: age'
    """

    bend: Literal["convex", "concave"]

    kind: ClassVar[str] = "convex"
    curves_only: ClassVar[bool] = True
    needs_order: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the parameter `bend`."""
        super().__post_init__()
        choice("bend", self.bend, ("convex", "concave"))

    def _wanted(self, curve: State, bins: IndexArray) -> FloatArray:
        sign = 1 if self.bend == "convex" else -1
        curve = curve_only(curve, self.kind)
        return convex(curve.places[bins], curve.values[bins], curve.weights[bins], sign)

    def _verb(self) -> str:
        return f"make {self.bend}:"
