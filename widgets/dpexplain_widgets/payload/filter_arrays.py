"""Arrays for a front end: one block of bytes and an index of the arrays.

Pictures do not need full precision, which would take tens of megabytes. Most arrays are therefore
stored as small integers, which are multiples of a step size given in the index.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dpexplain.explain.filters.steps import whole_steps

FloatArray = npt.NDArray[np.float64]

RATIO_STEP = 1 / 32
"""Rounding step of ratios of weights to noise; it divides the threshold 2, to keep marks exact."""

PRECISION_WORDS = (
    "Weights of single filters and contributions to samples are rounded to 1/32767 of the largest "
    "of their model, if the inputs form a grid; marks above the noise are computed before "
    "rounding, and marks of differences and claims allow for it."
)

_STEPS = {"i1": 127, "i2": 32_767, "u1": 255, "u2": 65_535}


class ArrayWriter:
    """Writer that collects arrays in one block of bytes, with aligned offsets.

    Examples
    --------
    >>> writer = ArrayWriter()
    >>> writer.add(np.array([1.0, -0.5]), "i1")
    {'at': 0, 'size': 2, 'type': 'i1', 'step': 0.007874015748031496}
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._length = 0
        self._known: dict[bytes, dict[str, Any]] = {}

    def add(self, values: npt.NDArray[Any], kind: str, *, upward: bool = False) -> dict[str, Any]:
        """Append an array.

        Parameters
        ----------
        values : ndarray
            Finite numbers; not negative if `kind` is unsigned.
        kind : {"i1", "i2", "u1", "u2", "f4"}
            Number type: signed or unsigned integers of one or two bytes, or floating point numbers
            in single precision. For integers, the step is the largest absolute value divided by the
            largest integer of the type.
        upward : bool, default=False
            Whether numbers are rounded up to integers, rather than to the nearest integer.

        Returns
        -------
        dict
            The offset of the array ("at", in bytes), its number of elements, type and step.
        """
        flat = np.asarray(values, dtype=np.float64).ravel()
        if kind == "f4":
            return self._append(flat.astype("<f4"), kind, 1.0)
        whole, step = whole_steps(flat, _STEPS[kind], upward=upward)
        return self._append(whole.astype(f"<{kind}"), kind, step)

    def add_once(self, values: npt.NDArray[Any], kind: str) -> dict[str, Any]:
        """Append an array, unless this method has already added an equal one.

        Parameters
        ----------
        values, kind
            As in :meth:`add`.

        Returns
        -------
        dict
            As in :meth:`add`.
        """
        key = np.asarray(values, dtype=np.float64).tobytes()
        if key not in self._known:
            self._known[key] = self.add(values, kind)
        return self._known[key]

    def add_ratios(self, weights: FloatArray, std: FloatArray) -> dict[str, Any]:
        """Append the signal-to-noise ratios of weights.

        The ratio of a weight is its absolute value divided by the standard deviation of its noise.
        Ratios are rounded up to multiples of 1/32, and limited to 255/32. This does not change
        which weights are more than two standard deviations from zero.

        Parameters
        ----------
        weights, std : ndarray of equal shape
            The weights, and the standard deviations of their noise.

        Returns
        -------
        dict
            As in :meth:`add`.
        """
        size = np.abs(weights).ravel()
        spread = std.ravel()
        ratio = np.divide(size, spread, out=np.where(size > 0, np.inf, 0.0), where=spread > 0)
        steps = np.minimum(np.ceil(ratio / RATIO_STEP), _STEPS["u1"])
        return self._append(steps.astype("u1"), "u1", RATIO_STEP)

    def _append(self, numbers: npt.NDArray[Any], kind: str, step: float) -> dict[str, Any]:
        place = self._length
        raw = numbers.tobytes()
        room = -len(raw) % 4  # every array is aligned for any type
        self._parts.append(raw + bytes(room))
        self._length += len(raw) + room
        return {"at": place, "size": int(numbers.size), "type": kind, "step": step}

    def taken(self) -> bytes:
        """Return the block of bytes that contains all arrays added so far."""
        return b"".join(self._parts)
