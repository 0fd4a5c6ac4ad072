"""Bits of the integers in which sums over records are exact.

A floating-point product over a batch rounds the terms of one record differently when another record
is removed, so the sensitivity of the product exceeds the clip. Here every operand is an integer,
small enough that no sum overflows. Products and sums are then exact, in any order and on any number
of threads. Only elementwise arithmetic on a record's own numbers remains in floating point.

Training multiplies 16-bit integers (`_kernels_products`). Bits are allotted as follows:

================================  =============================================================
operand                           at most
================================  =============================================================
features of a record              ``2**FEATURE_BITS`` each; ``2**COARSE_BITS`` if every filter
                                  index has a separate projection. After the mean record is
                                  subtracted, ``2**(FEATURE_BITS + 1)``; separate projections
                                  leave no bits for this
weights (public)                  as many bits as the products with these features leave
factors of a record               ``LARGEST_FACTOR`` each, in two limbs of `FACTOR_BITS` bits,
                                  and bounded so that ``|factors| * |features| <=
                                  2**lattice_bits``. This is the clip: one record adds at most
                                  ``2**lattice_bits`` to any value of a sum
sum over all records              an int64: exact for fewer than ``2**32`` records
separate projections              applied to these sums in limbs of `LIMB_BITS` bits; rows are
                                  integers up to ``2**ROW_BITS``
================================  =============================================================

Before training, records are projected and centered with integers held in float64, whose sums stay
below ``2**EXACT_BITS``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

EXACT_BITS = 53
"""Integers up to ``2**53`` are exact in float64."""

FEATURE_BITS = 13
"""Features of a record are integers up to ``2**13``."""

COARSE_BITS = 12
"""Number of bits of the features if every filter index has a separate projection. They are fewer,
because the rows of the projections also need bits."""

ROW_BITS = 5
"""Number of bits of the rows of a separate projection. The rows are random numbers, so rounding
them loses nothing."""

FACTOR_BITS = 11
"""Number of bits of each of the two limbs of a factor, including its sign."""

LARGEST_FACTOR = 2 ** (2 * FACTOR_BITS - 1) - 2 ** (FACTOR_BITS - 1)
"""Largest absolute value of a factor: its limbs are at most ``2**(FACTOR_BITS - 1)``."""

LIMB_BITS = 15
"""Number of bits of each limb of a sum that is multiplied by rows, including its sign."""

INPUT_BITS = 20
"""When inputs are multiplied by the rows of a projection, both are integers up to ``2**20``."""

BLOCK = 1 << 12
"""Maximum number of records whose contributions are summed in floating point."""

CLIP_MARGIN = 1.0 - 2.0**-30
"""Factor by which stated clips are multiplied; the margin exceeds all rounding errors in a record's
factors."""

_WIDEST_LATTICE, _NARROWEST_LATTICE = 30, 24
_NOISE_BITS = 43  # rounded normals have enough bits up to 2**44

assert BLOCK * 2**_WIDEST_LATTICE <= 2**EXACT_BITS


def projection_bits(n_inputs: int) -> int:
    """Return the number of bits of each value in a row of the projection.

    With this number of bits, the products of rows and inputs are exact.

    Parameters
    ----------
    n_inputs : int
        Length of a row.

    Returns
    -------
    int
    """
    return min(INPUT_BITS, EXACT_BITS - INPUT_BITS - math.ceil(math.log2(max(n_inputs, 1))))


def lattice_bits(noise_multiplier: float) -> int:
    """Return the number of bits b for which the clip is ``2**b`` lattice steps.

    Parameters
    ----------
    noise_multiplier : float
        Noise standard deviation divided by the clip.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If the noise is so large that too few bits are left for a gradient.
    """
    bits = _NOISE_BITS - math.ceil(math.log2(max(noise_multiplier, 1.0)))
    if bits < _NARROWEST_LATTICE:
        raise ValueError(
            f"noise of {noise_multiplier:.3g} clips leaves no precision for a gradient: raise a "
            "tiny epsilon or delta, or lower n_steps or max_rows_per_person."
        )
    return min(_WIDEST_LATTICE, bits)


def to_integers(values: Floats, bits: int, bound: float | None = None) -> tuple[Floats, float]:
    """Round to integers with a given number of bits.

    Parameters
    ----------
    values : ndarray of float64
        Finite values.
    bits : int
        The integers are in ``[-2**bits, 2**bits]``.
    bound : float or None, default=None
        Public bound on the absolute values; larger values are clipped. If None, the bound is the
        largest absolute value, which is allowed only if the values are public.

    Returns
    -------
    integers : ndarray of float64
        The rounded values, in steps; same shape as `values`.
    unit : float
        Value of one step.
    """
    largest = float(np.abs(values).max(initial=0.0)) if bound is None else bound
    unit = largest / 2.0**bits if largest > 0.0 else 1.0
    integers = np.rint(values / unit)
    return np.clip(integers, -(2.0**bits), 2.0**bits, out=integers), unit
