"""Trees with random splits on one feature, for non-private models.

Greedy splits follow the noise of every small group of records, so curves have spikes where records
are rare. With random splits, as in private fits, a curve is a sum of many step functions with
different steps, which is smooth.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.compiling import njit


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


@njit(cache=True, nogil=True, error_model="numpy")
def _fill_leaves(gradient, curvature, draws, min_curvature, values):  # type: ignore[no-untyped-def]
    """Draw a tree with `random_bounds`, and fill in each leaf's Newton value.

    The arrays have one column per class.
    """
    n_classes = gradient.shape[1]
    total = np.zeros(gradient.shape[0])
    for b in range(gradient.shape[0]):
        for c in range(n_classes):
            total[b] += curvature[b, c]
    bounds = random_bounds(total, draws, min_curvature)
    least = max(min_curvature / n_classes, 1e-12)
    for leaf in range(bounds.shape[0] - 1):
        first, last, mass = bounds[leaf], bounds[leaf + 1], 0.0
        for b in range(first, last):
            mass += total[b]
        for c in range(n_classes):
            residual, own = 0.0, 0.0
            for b in range(first, last):
                residual += gradient[b, c]
                own += curvature[b, c]
            value = residual / max(own, least) if mass >= min_curvature else 0.0
            for b in range(first, last):
                values[b, c] = value


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
    values = np.empty(gradient.shape)
    n_bins = len(gradient)
    _fill_leaves(
        gradient.reshape(n_bins, -1), curvature.reshape(n_bins, -1), rng.random(max_leaves - 1),
        min_curvature, values.reshape(n_bins, -1),
    )  # fmt: skip
    return values
