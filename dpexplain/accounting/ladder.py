"""Exact privacy loss of discrete Laplace noise, and its rounding to a grid.

A record changes an integer sum by D; the noise z has ``P(z) = c a**|z|``, ``a = exp(-1 / t)``,
with an integer scale t. Let x be the answer minus the sum without the record, in the direction of
the change, clipped to ``0, ..., D``. Given x, the distribution of the answer does not depend on the
record. Without and with the record, x has the probabilities

    P(x) = a**x w(x),  Q(x) = a**(D - x) w(x),

where ``w(0) = w(D) = 1 / (1 + a)``, and ``w(x) = (1 - a) / (1 + a)`` for 0 < x < D. So the loss
``log(P / Q)`` is ``(D - 2 x) / t``: the rungs of a ladder from -D / t to D / t. With D = 1, this is
randomized response, the worst of all mechanisms with this epsilon. The continuous Laplace
distribution is the limit for small steps, and reveals less than any lattice: at the rungs,
``delta(epsilon)`` of the ladder equals that of the limit, ``1 - exp(-(D / t - epsilon) / 2)``;
between them, it lies on the chords in exp(epsilon).

*Several sums*: a record that changes them by D_1, ..., D_m reveals no more than one that changes a
single sum by D, the sum of all |D_i|. Take two of the sums, and let w' be the weights of the sum of
their two values x. Both w and w' satisfy ``sum a**x w(x) = sum a**(D - x) w(x) = 1``, and w - w' is
positive at the ends and not positive between them: there,
``(1 + a)**2 w'(x) >= (1 - a) ((1 - a) (1 + m) + 2 a)`` with ``m = min(x, D - x, D_1, D_2) >= 1``,
which is at least ``(1 + a)**2 w(x) = (1 - a) (1 + a)``. A difference with these signs that is
orthogonal to ``a**x`` and ``a**(D - x)`` has a nonnegative inner product with every
``max(0, a**x - c a**(D - x))``, and these products are the differences of delta.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["masses_on_grid", "raised"]

# More than the rounding error of a loss, and of a part of the probability of a cell.
_LOSS_MARGIN, _SHARE_MARGIN = 1e-14, 1e-11


def raised(epsilon: float) -> float:
    """Increase a loss by a margin for rounding errors.

    Parameters
    ----------
    epsilon : float
        Largest loss.

    Returns
    -------
    float
        The increased loss, as used by `masses_on_grid`.
    """
    return epsilon * (1.0 + _LOSS_MARGIN)


def masses_on_grid(epsilon: float, n_steps: int, step: float) -> tuple[int, NDArray[np.float64]]:
    """Round the loss of discrete Laplace noise to a grid without underestimating it.

    The probability of each grid cell is divided between the two ends of the cell in such a way
    that the total probability of the cell stays the same under both data sets. The true loss is an
    average of the rounded losses, so no later composition is underestimated; at the grid points,
    delta is exact [1]_.

    Parameters
    ----------
    epsilon : float
        Largest loss, positive and finite.
    n_steps : int
        Number of equal steps between the losses ``-epsilon`` and `epsilon`, at least 1.
    step : float
        Width of a grid cell.

    Returns
    -------
    first : int
        Grid index of the first mass, whose loss is ``first * step``.
    masses : ndarray of shape (n_points,)
        Probability of each loss; the probabilities add up to at least 1.

    References
    ----------
    .. [1] Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, "Connect the Dots: Tighter Discrete
       Approximations of Privacy Loss Distributions", PoPETs 2022, arXiv:2207.04380.
    """
    epsilon = raised(epsilon)
    rung = epsilon / n_steps  # 1 / t, which is half the distance between two losses
    last = math.ceil(epsilon / step)
    places = np.arange(-last - 1, last, dtype=np.float64)  # lower ends of all cells
    masses = np.zeros(len(places) + 1)
    cell_of_end = np.clip(np.ceil([epsilon / step, -epsilon / step]) - 1.0, places[0], places[-1])
    # Inner rungs whose loss is above the lower end of a cell but not above its upper end.
    beyond = np.ceil((epsilon - np.append(places, last) * step) / (2.0 * rung))
    beyond = np.clip(beyond, 1.0, float(n_steps))
    low, n = beyond[1:], beyond[:-1] - beyond[1:]
    parts = (
        (places, low, n, -np.expm1(-n * rung)),
        (cell_of_end, np.array([0.0, float(n_steps)]), np.ones(2), np.ones(2)),
    )
    for place, low, n, weight in parts:
        # Rungs low, ..., low + n - 1: a geometric sum, whose mean loss is the loss in the middle.
        chance = weight * np.exp(-low * rung) / (1.0 + math.exp(-rung))
        middle = epsilon - (2.0 * low + n - 1.0) * rung
        above = chance * np.expm1(np.minimum(place * step - middle, 0.0)) / math.expm1(-step)
        above = np.minimum(above * (1.0 + _SHARE_MARGIN), chance)
        index = (place - places[0]).astype(np.int64)
        np.add.at(masses, index, chance - above)
        np.add.at(masses, index + 1, above)
    masses[-1] += max(0.0, 1.0 - math.fsum(masses))
    return int(places[0]), masses
