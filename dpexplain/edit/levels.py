"""Operations that set levels: set, shift, scale, interpolate and align."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from dpexplain.edit.kernels import FloatArray, IndexArray, interpolate
from dpexplain.edit.operation import Mean, Operation, number
from dpexplain.edit.state import State, curve_only
from dpexplain.explain._record import choice
from dpexplain.explain._text import short_number, signed_number


@dataclasses.dataclass(frozen=True)
class Set(Operation):
    """Set contributions to a single value, or to one value for each bin.

    Parameters
    ----------
    term : str
        Name of the term.
    value : float or sequence of float
        Contribution, in units of the score. A sequence has one value for each chosen bin, in order.
    bins, within, names, where, mean, of_class : see Operation
        As in :class:`Operation`; the mean changes by default.

    Examples
    --------
    >>> from dpexplain.edit import EditLog, Set
    >>> log = EditLog().edit(Set("age", value=0.0, names=["missing"]))
    >>> log.operations[-1].words
    "set age for 'missing' to 0"
    """

    value: float | tuple[float, ...]

    kind: ClassVar[str] = "set"
    usual_mean: ClassVar[Mean] = "change"

    def __post_init__(self) -> None:
        """Check the value."""
        super().__post_init__()
        if isinstance(self.value, Sequence | np.ndarray) and not isinstance(self.value, str):
            values = tuple(number("value", float(each)) for each in self.value)
            object.__setattr__(self, "value", values)
        else:
            object.__setattr__(self, "value", number("value", self.value))

    def _wanted(self, curve: State, bins: IndexArray) -> FloatArray:
        if isinstance(self.value, tuple) and len(self.value) != len(bins):
            raise ValueError(
                f"set got {len(self.value)} values for {len(bins)} bins; give one value, or one "
                "for each bin."
            )
        return np.broadcast_to(np.asarray(self.value, dtype=np.float64), bins.shape).copy()

    @property
    def words(self) -> str:
        """Short description of the operation."""
        many = isinstance(self.value, tuple)
        to = "drawn values" if many else short_number(float(self.value))  # type: ignore[arg-type]
        return f"{super().words} to {to}"


@dataclasses.dataclass(frozen=True)
class Shift(Operation):
    """Add a constant to the contributions of the chosen bins.

    Parameters
    ----------
    term : str
        Name of the term.
    by : float
        Constant to add, in units of the score.
    bins, within, names, where, mean, of_class : see Operation
        As in :class:`Operation`; the mean changes by default.

    Examples
    --------
    >>> from dpexplain.edit import EditLog, Shift
    >>> log = EditLog().edit(Shift("age", by=-0.1, within=(17, 20)))
    >>> log.operations[-1].words
    'shift age between 17 and 20 by -0.1'
    """

    by: float

    kind: ClassVar[str] = "shift"
    usual_mean: ClassVar[Mean] = "change"

    def __post_init__(self) -> None:
        """Check the constant."""
        super().__post_init__()
        object.__setattr__(self, "by", number("by", self.by))

    def _wanted(self, curve: State, bins: IndexArray) -> FloatArray:
        return curve.values[bins] + self.by

    @property
    def words(self) -> str:
        """Short description of the operation."""
        return f"{super().words} by {signed_number(self.by)}"


@dataclasses.dataclass(frozen=True)
class Scale(Operation):
    """Scale the contributions of the chosen bins around their mean.

    Parameters
    ----------
    term : str
        Name of the term.
    factor : float
        Factor by which the contributions are multiplied: 0 flattens the curve, and -1 turns it
        upside down.
    bins, within, names, where, mean, of_class : see Operation
        As in :class:`Operation`; if `mean` is "change" or "intercept", the contributions are scaled
        around zero instead.

    Examples
    --------
    >>> from dpexplain.edit import EditLog, Scale
    >>> log = EditLog().edit(Scale("age", factor=0.5, within=(80, 90)), note="few records")
    >>> log.operations[-1].words
    'scale age between 80 and 90 by the factor 0.5'
    """

    factor: float

    kind: ClassVar[str] = "scale"

    def __post_init__(self) -> None:
        """Check the factor."""
        super().__post_init__()
        object.__setattr__(self, "factor", number("factor", self.factor))

    def _wanted(self, curve: State, bins: IndexArray) -> FloatArray:
        return self.factor * curve.values[bins]

    @property
    def words(self) -> str:
        """Short description of the operation."""
        return f"{super().words} by the factor {short_number(self.factor)}"


@dataclasses.dataclass(frozen=True)
class Interpolate(Operation):
    """Interpolate linearly between the first bin, any kept bins, and the last bin.

    Parameters
    ----------
    term, bins, within, names, where, mean, of_class : see Operation
        As in :class:`Operation`; by default, the mean changes, because kept bins keep their values.
    keep : sequence of int, default=()
        Indices of chosen bins that keep their values, in addition to the first and last ones.

    Examples
    --------
    >>> from dpexplain.edit import EditLog, Interpolate
    >>> log = EditLog().edit(Interpolate("age", within=(30, 60)))
    >>> log.operations[-1].words
    'interpolate age between 30 and 60'
    """

    keep: tuple[int, ...] = dataclasses.field(default=(), kw_only=True)

    kind: ClassVar[str] = "interpolate"
    curves_only: ClassVar[bool] = True
    usual_mean: ClassVar[Mean] = "change"
    needs_order: ClassVar[bool] = True
    least_bins: ClassVar[int] = 3

    def __post_init__(self) -> None:
        """Check the kept bins."""
        super().__post_init__()
        keep = tuple(sorted({int(place) for place in self.keep}))
        object.__setattr__(self, "keep", keep)

    def _wanted(self, curve: State, bins: IndexArray) -> FloatArray:
        curve = curve_only(curve, self.kind)
        kept = np.searchsorted(bins, self.keep)
        known = [k < len(bins) and bins[k] == p for k, p in zip(kept, self.keep, strict=True)]
        if not all(known):
            raise ValueError("keep= names a bin that is not among the chosen ones.")
        return interpolate(curve.places[bins], curve.values[bins], kept.astype(np.int64))

    @property
    def words(self) -> str:
        """Short description of the operation."""
        through = f", through bins {', '.join(map(str, self.keep))}" if self.keep else ""
        return f"{super().words}{through}"


@dataclasses.dataclass(frozen=True)
class Align(Operation):
    """Set the chosen bins to their leftmost value, rightmost value or mean.

    Parameters
    ----------
    term : str
        Name of the term.
    to : {"left", "right", "average"}
        Whether to use the value of the leftmost bin, the value of the rightmost bin, or the mean.
    bins, within, names, where, mean, of_class : see Operation
        As in :class:`Operation`; the mean changes by default, unless `to` is "average".

    Examples
    --------
    >>> from dpexplain.edit import Align, EditLog
    >>> log = EditLog().edit(Align("age", to="left", within=(30, 50)), note="few records")
    >>> log.operations[-1].words
    'align age between 30 and 50 to the leftmost bin'
    """

    to: Literal["left", "right", "average"]

    kind: ClassVar[str] = "align"
    curves_only: ClassVar[bool] = True
    usual_mean: ClassVar[Mean] = "change"

    def __post_init__(self) -> None:
        """Check the parameter `to`."""
        super().__post_init__()
        choice("to", self.to, ("left", "right", "average"))

    def _wanted(self, curve: State, bins: IndexArray) -> FloatArray:
        values = curve.values[bins]
        level = {"left": values[0], "right": values[-1], "average": curve.mean(bins)}[self.to]
        return np.full(len(bins), level)

    @property
    def words(self) -> str:
        """Short description of the operation."""
        side = {"left": "the leftmost bin", "right": "the rightmost bin", "average": "their mean"}
        return f"{super().words} to {side[self.to]}"
