"""Trees with random splits on one feature, for non-private models.

Greedy splits follow the noise of every small group of records, so curves have spikes where records
are rare. With random splits, as in private fits, a curve is a sum of many step functions with
different steps, which is smooth.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.compiling import njit
from dpexplain.models.boosting.nonprivate.curve_step import newton


@njit(cache=True, nogil=True, error_model="numpy")
def random_bounds(curvature, draws, min_curvature):  # type: ignore[no-untyped-def]
    """Split ordered bins at random places.

    Parameters
    ----------
    curvature : ndarray of shape (n_bins,), dtype float64
        Nonnegative curvature per bin, in an order in which neighboring bins may share a leaf.
    draws : ndarray of shape (max_leaves - 1,), dtype float64
        Random numbers in [0, 1). Each one determines a split, uniformly among those that leave
        enough curvature on both sides. A split is dropped if, after the earlier
        ones, it would make a leaf that is too small.
    min_curvature : float
        Minimum curvature per leaf.

    Returns
    -------
    ndarray of shape (n_leaves + 1,), dtype int64
        First bin of each leaf, followed by the number of bins.
    """
    n_bins = curvature.shape[0]
    cumulated = np.zeros(n_bins + 1)
    for b in range(n_bins):
        cumulated[b + 1] = cumulated[b] + curvature[b]
    first, last = 1, n_bins - 1
    while first <= last and cumulated[first] < min_curvature:
        first += 1
    while first <= last and cumulated[n_bins] - cumulated[last] < min_curvature:
        last -= 1
    bounds = np.zeros(draws.shape[0] + 2, np.int64)
    bounds[1] = n_bins
    n_leaves = 1
    for i in range(draws.shape[0] if first <= last else 0):
        cut = first + int(draws[i] * (last - first + 1))
        leaf = 0
        while bounds[leaf + 1] < cut:
            leaf += 1
        below = cumulated[cut] - cumulated[bounds[leaf]]
        above = cumulated[bounds[leaf + 1]] - cumulated[cut]
        if bounds[leaf + 1] == cut or below < min_curvature or above < min_curvature:
            continue
        for j in range(n_leaves, leaf, -1):
            bounds[j + 1] = bounds[j]
        bounds[leaf + 1] = cut
        n_leaves += 1
    return bounds[: n_leaves + 1]


def random_values(
    gradient: NDArray[np.float64],
    curvature: NDArray[np.float64],
    max_leaves: int,
    min_curvature: float,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Draw a tree on ordered bins; return the Newton value of each bin's leaf.

    Parameters
    ----------
    gradient, curvature : ndarray of shape (n_bins,) or (n_bins, n_classes)
        Sum of the residuals and sum of the curvatures per bin (and class), in an order in which
        neighboring bins may share a leaf.
    max_leaves : int
        Maximum number of leaves.
    min_curvature : float
        Minimum curvature per leaf, summed over classes.
    rng : numpy.random.Generator
        Generator for the splits.

    Returns
    -------
    ndarray of the shape of `gradient`
    """
    total = curvature if curvature.ndim == 1 else curvature.sum(axis=1)
    bounds = random_bounds(total, rng.random(max_leaves - 1), min_curvature)
    residuals, mass = (np.add.reduceat(each, bounds[:-1]) for each in (gradient, curvature))
    return np.repeat(newton(residuals, mass, min_curvature), np.diff(bounds), axis=0)
