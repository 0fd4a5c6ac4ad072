"""Directions that a curve inside a band can have."""

from __future__ import annotations

import numpy as np

from dpexplain.explain._record import FloatArray


def directions_inside(low: FloatArray, high: FloatArray) -> tuple[str, ...]:
    """Return the directions that a curve inside a band can have.

    Parameters
    ----------
    low, high : ndarray of shape (n_value_bins,)
        Lower and upper limits of the band.

    Returns
    -------
    tuple of str
        The possible directions among "constant", "rising" and "falling"; empty if every curve
        inside the band changes direction.
    """
    # A rising curve fits if no lower end is above the upper end of a later bin.
    rising = bool((np.maximum.accumulate(low) <= high).all())
    falling = bool((np.minimum.accumulate(high) >= low).all())
    if low.max(initial=-np.inf) <= high.min(initial=np.inf):
        return ("constant", "rising", "falling")
    fits = (("rising", rising), ("falling", falling))
    return tuple(name for name, fit in fits if fit)
