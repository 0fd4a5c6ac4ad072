"""Numbers rounded to whole steps, as dashboards store them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def whole_steps(values: FloatArray, most: int, *, upward: bool = False) -> tuple[FloatArray, float]:
    """Divide numbers by a step, and round them to whole numbers.

    Parameters
    ----------
    values : ndarray
        Finite numbers.
    most : int
        Whole number of the largest absolute value.
    upward : bool, default=False
        Whether numbers are rounded up, rather than to the nearest whole number.

    Returns
    -------
    whole : ndarray of the same shape
    step : float
        The numbers are about `whole` times this step.
    """
    step = float(np.abs(values).max(initial=0.0)) / most or 1.0
    whole = np.ceil(values / step * (1 - 1e-12)) if upward else np.rint(values / step)
    return np.asarray(whole, dtype=np.float64), step


def in_steps(values: FloatArray, most: int, *, upward: bool = False) -> tuple[FloatArray, float]:
    """Round numbers to multiples of a step, in single precision as on a page.

    Parameters
    ----------
    values, most, upward
        As in :func:`whole_steps`.

    Returns
    -------
    rounded : ndarray of the same shape
    step : float
    """
    whole, step = whole_steps(values, most, upward=upward)
    return (whole * step).astype(np.float32).astype(np.float64), step
