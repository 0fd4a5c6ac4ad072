"""Base class for frozen dataclasses with arrays, and checks for their fields."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from dpexplain._utils.lazy import pd

FloatArray = npt.NDArray[np.float64]


class Record:
    """Base class for frozen dataclasses with array fields.

    ``dataclass`` compares fields as a tuple, which fails for arrays, and unpickled arrays are
    writable; this class solves both problems. Values derived from the fields may be cached with
    ``functools.cached_property``, because fields never change; copies and pickles omit the cached
    values.
    """

    def __eq__(self, other: object) -> bool:
        """Compare field by field; arrays are compared by shape and values."""
        if type(other) is not type(self):
            return NotImplemented
        names = [field.name for field in dataclasses.fields(self)]  # type: ignore[arg-type]
        return all(_same(getattr(self, name), getattr(other, name)) for name in names)

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the fields only; cached properties are recomputed."""
        names = [field.name for field in dataclasses.fields(self)]  # type: ignore[arg-type]
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the fields and make the arrays read-only again."""
        for name, value in state.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)

    def _set(self, name: str, value: object) -> None:
        """Set a checked or converted field while the frozen object is being created."""
        object.__setattr__(self, name, value)


def frozen(array: FloatArray) -> FloatArray:
    """Make an array read-only."""
    array.setflags(write=False)
    return array


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        return left.shape == right.shape and bool(np.array_equal(left, right))
    if isinstance(left, pd.DataFrame) and isinstance(right, pd.DataFrame):
        return left.equals(right)
    return bool(left == right)


def read_only(name: str, values: npt.ArrayLike, shape: tuple[int | None, ...]) -> FloatArray:
    """Copy `values` into a read-only, finite float64 array of the given shape.

    Parameters
    ----------
    name : str
        Name of the field, for the message.
    values : array-like
        Values from the caller.
    shape : tuple of int or None
        Expected shape; ``None`` accepts any length.

    Returns
    -------
    ndarray of float64
        A read-only copy.

    Raises
    ------
    ValueError
        If the shape differs, or an entry is NaN or infinite.
    """
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be an array of numbers.") from None
    wanted = tuple(
        have if want is None else want for want, have in zip(shape, array.shape, strict=False)
    )
    if array.ndim != len(shape) or array.shape != wanted:
        words = "(" + ", ".join("any" if size is None else str(size) for size in shape) + ")"
        raise ValueError(f"{name} has shape {array.shape}, expected {words}.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must contain finite numbers only, got NaN or infinity.")
    array.setflags(write=False)
    return array


def bounded(
    name: str, values: npt.ArrayLike, shape: tuple[int | None, ...], largest: float
) -> FloatArray:
    """Copy `values` like :func:`read_only`, and reject numbers that are too large.

    Parameters
    ----------
    name, values, shape
        See :func:`read_only`.
    largest : float
        Largest allowed absolute value.

    Returns
    -------
    ndarray of float64

    Raises
    ------
    ValueError
        As in :func:`read_only`, or if an absolute value exceeds `largest`.
    """
    array = read_only(name, values, shape)
    if np.abs(array).max(initial=0.0) > largest:
        raise ValueError(f"{name} must contain numbers of magnitude at most {largest:g}.")
    return array


def texts(name: str, values: Sequence[str]) -> tuple[str, ...]:
    """Check that `values` is a sequence of strings and return it as a tuple."""
    if isinstance(values, str):
        raise ValueError(f"{name} must be a sequence of strings, got one string.")
    result = tuple(values)
    if not all(isinstance(value, str) for value in result):
        raise ValueError(f"{name} must contain strings only.")
    for value in result:
        _check_whole(name, value)
    return result


def text(name: str, value: str) -> str:
    """Check that `value` is a string."""
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a string, got {type(value).__name__}.")
    _check_whole(name, value)
    return value


def _check_whole(name: str, value: str) -> None:
    """Check that a string contains no lone surrogates."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(f"{name} contains a lone surrogate, so it is not valid Unicode.") from None


def finite(name: str, value: float) -> float:
    """Check that `value` is a finite number and return it as a float."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number.")
    return float(value)


def distinct(name: str, values: tuple[str, ...]) -> tuple[str, ...]:
    """Check that no string occurs twice."""
    if len(set(values)) != len(values):
        raise ValueError(f"{name} must be distinct, got a duplicate.")
    return values


def choice(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """Check that `value` is one of `allowed`."""
    if value not in allowed:
        raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, allowed))}.")
    return value
