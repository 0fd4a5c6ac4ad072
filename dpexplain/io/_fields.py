"""Strict readers for JSON values; wrong types raise ValueError."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T")

_SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_LARGEST_EXACT_INTEGER = 2**53
_LONGEST_TEXT = 100_000


class Fields:
    """Strict reader for one JSON object; each field is read once.

    Parameters
    ----------
    value : object
        The object to read.
    path : str
        Location of the object in the document, for error messages.
    """

    def __init__(self, value: Any, path: str) -> None:
        if not isinstance(value, dict):
            raise ValueError(f"{path} must be a JSON object, got {_kind(value)}.")
        self._left: dict[str, Any] = dict(value)
        self._path = path

    def take(self, name: str, read: Callable[[Any, str], T]) -> T:
        """Return a required field, converted by `read`."""
        path = f"{self._path}.{name}"
        if name not in self._left:
            raise ValueError(f"{path} is missing.")
        return read(self._left.pop(name), path)

    def maybe(self, name: str, read: Callable[[Any, str], T]) -> T | None:
        """Return an optional field, converted by `read`, or None if it is missing."""
        return self.take(name, read) if name in self._left else None

    def finish(self) -> None:
        """Raise ValueError if there are unknown fields, perhaps from a newer version."""
        if self._left:
            names = ", ".join(repr(name[:40]) for name in sorted(self._left)[:5])
            raise ValueError(f"{self._path} has unknown fields: {names}.")


def text(value: Any, path: str) -> str:
    """Check that a JSON value is a string of limited length, and return it."""
    if not isinstance(value, str):
        raise ValueError(f"{path} must be a string, got {_kind(value)}.")
    if len(value) > _LONGEST_TEXT:
        raise ValueError(f"{path} has {len(value)} characters; at most {_LONGEST_TEXT} are read.")
    return value


def flag(value: Any, path: str) -> bool:
    """Check that a JSON value is true or false, and return it."""
    if not isinstance(value, bool):
        raise ValueError(f"{path} must be true or false, got {_kind(value)}.")
    return value


def integer(value: Any, path: str) -> int:
    """Check that a JSON value is an integer, and return it."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{path} must be an integer, got {_kind(value)}.")
    if abs(value) > _LARGEST_EXACT_INTEGER:
        raise ValueError(f"{path} is too large.")
    return value


def number(value: Any, path: str) -> float:
    """Check that a JSON value is a finite number, and return it as a float."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{path} must be a finite number, got {_kind(value)}.")
    if isinstance(value, int):
        integer(value, path)
    if not math.isfinite(value):
        raise ValueError(f"{path} must be a finite number, got one too large for a float.")
    return float(value)


def any_number(value: Any, path: str) -> float:
    """Convert a finite number, "inf", "-inf" or "nan" to a float."""
    if isinstance(value, str) and value in _SPECIAL:
        return _SPECIAL[value]
    return number(value, path)


def optional(read: Callable[[Any, str], T]) -> Callable[[Any, str], T | None]:
    """Create a reader that returns None for null, and otherwise calls `read`."""
    return lambda value, path: None if value is None else read(value, path)


def items(read: Callable[[Any, str], T]) -> Callable[[Any, str], list[T]]:
    """Create a reader for a list whose items are read by `read`."""

    def read_list(value: Any, path: str) -> list[T]:
        if not isinstance(value, list):
            raise ValueError(f"{path} must be a list, got {_kind(value)}.")
        return [read(item, f"{path}[{index}]") for index, item in enumerate(value)]

    return read_list


def packed_text(value: Any, path: str) -> str:
    """Check that a JSON value is a string of any length, and return it."""
    if not isinstance(value, str):
        raise ValueError(f"{path} must be a string, got {_kind(value)}.")
    return value


def packed_singles(matrix: npt.NDArray[np.float64]) -> dict[str, Any]:
    """Convert a single-precision matrix to JSON values, with base64 data."""
    raw = np.ascontiguousarray(matrix, dtype="<f4").tobytes()
    return {"dtype": "<f4", "columns": matrix.shape[1], "base64": base64.b64encode(raw).decode()}


def singles(n_rows: int) -> Callable[[Any, str], npt.NDArray[np.float64]]:
    """Create a reader for a `packed_singles` matrix with a given number of rows."""

    def read_matrix(value: Any, path: str) -> npt.NDArray[np.float64]:
        fields = Fields(value, path)
        dtype, n_columns = fields.take("dtype", text), fields.take("columns", integer)
        encoded = fields.take("base64", packed_text)
        fields.finish()
        try:
            raw = base64.b64decode(encoded, validate=True)
        except ValueError:
            raise ValueError(f"{path}.base64 must be base64 text.") from None
        if dtype != "<f4" or n_columns < 0 or len(raw) != 4 * n_rows * n_columns:
            raise ValueError(f"{path} must contain {n_rows} rows of little-endian 4-byte floats.")
        matrix = np.frombuffer(raw, dtype="<f4").astype(np.float64).reshape(n_rows, n_columns)
        if not np.isfinite(matrix).all():
            raise ValueError(f"{path} must contain finite numbers only.")
        return matrix

    return read_matrix


def plain(value: float) -> float | str:
    """Convert a float to a JSON value: a number, "inf", "-inf" or "nan"."""
    if math.isnan(value):
        return "nan"
    return float(value) if math.isfinite(value) else ("inf" if value > 0 else "-inf")


def _kind(value: Any) -> str:
    names: Mapping[type, str] = {
        dict: "an object",
        list: "a list",
        str: "a string",
        bool: "true or false",
        type(None): "null",
    }
    return names.get(type(value), "a number")
