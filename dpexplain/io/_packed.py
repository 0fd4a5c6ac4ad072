"""Store arrays exactly, as base64 strings of little-endian floats."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dpexplain.io._fields import Fields, integer, items, packed_text, text

_WIDTHS = {"<f4": 4, "<f8": 8}
_MOST_DIMENSIONS = 4
Floats = npt.NDArray[np.float64]


def packed_array(array: Floats) -> dict[str, Any]:
    """Convert an array to JSON values exactly.

    Parameters
    ----------
    array : ndarray of float64
        Finite numbers.

    Returns
    -------
    dict
        ``dtype`` is ``"<f4"`` if single precision represents every number exactly, and ``"<f8"``
        otherwise; ``shape`` is the shape of the array; ``base64`` contains the numbers, converted
        to this dtype, as a base64 string.
    """
    with np.errstate(over="ignore"):
        single = array.astype(np.float32).astype(np.float64)
    # Compare bytes, because -0.0 and 0.0 are equal as numbers.
    dtype = "<f4" if single.tobytes() == np.ascontiguousarray(array).tobytes() else "<f8"
    raw = np.ascontiguousarray(array, dtype=dtype).tobytes()
    return {
        "dtype": dtype,
        "shape": list(array.shape),
        "base64": base64.b64encode(raw).decode(),
    }


def array_of(shape: Sequence[int | None]) -> Callable[[Any, str], Floats]:
    """Create a reader for the output of `packed_array`.

    Parameters
    ----------
    shape : sequence of int or None
        Expected length of each axis; None accepts any length.

    Returns
    -------
    callable
        A reader that raises ValueError if the shape or the number of bytes is wrong, or if a number
        is not finite.
    """

    def read_array(value: Any, path: str) -> Floats:
        fields = Fields(value, path)
        dtype, found = fields.take("dtype", text), fields.take("shape", items(integer))
        encoded = fields.take("base64", packed_text)
        fields.finish()
        if dtype not in _WIDTHS:
            raise ValueError(f"{path}.dtype must be one of {', '.join(map(repr, _WIDTHS))}.")
        _check_shape(found, shape, path)
        raw = _bytes(encoded, _WIDTHS[dtype] * math.prod(found), path)
        array = np.frombuffer(raw, dtype=dtype).astype(np.float64).reshape(found)
        if not np.isfinite(array).all():
            raise ValueError(f"{path} must contain finite numbers only.")
        return array

    return read_array


def any_rank(*shapes: Sequence[int | None]) -> Callable[[Any, str], Floats]:
    """Create a reader for arrays that may have different numbers of dimensions.

    Parameters
    ----------
    *shapes : sequence of int or None
        Allowed shapes, as in :func:`array_of`, with different numbers of dimensions.

    Returns
    -------
    callable
        A reader that compares an array with the allowed shape that has the same number of
        dimensions. It raises ValueError if there is no such shape, or if the array does not fit it.
    """

    def read_array(value: Any, path: str) -> Floats:
        found = Fields(value, path).take("shape", items(integer))
        for shape in shapes:
            if len(shape) == len(found):
                return array_of(shape)(value, path)
        raise ValueError(f"{path} has {len(found)} dimensions; expected another number.")

    return read_array


def _check_shape(found: list[int], expected: Sequence[int | None], path: str) -> None:
    fits = len(found) == len(expected) <= _MOST_DIMENSIONS and all(
        have >= 0 and want in (None, have) for have, want in zip(found, expected, strict=True)
    )
    if not fits:
        words = ", ".join("any" if want is None else str(want) for want in expected)
        raise ValueError(f"{path}.shape must be ({words}).")


def _bytes(encoded: str, n_bytes: int, path: str) -> bytes:
    """Decode a base64 string after checking that it has the right length."""
    if len(encoded) != 4 * -(-n_bytes // 3):
        raise ValueError(
            f"{path}.base64 must contain {n_bytes} bytes, as implied by shape and dtype."
        )
    try:
        raw = base64.b64decode(encoded, validate=True)
    except ValueError:
        raise ValueError(f"{path}.base64 must be base64 text.") from None
    if len(raw) != n_bytes:
        raise ValueError(
            f"{path}.base64 must contain {n_bytes} bytes, as implied by shape and dtype."
        )
    return raw
