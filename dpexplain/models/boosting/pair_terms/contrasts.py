"""Contrasts between the cells of a grid, released to choose pairs.

An interaction is spread over all cells of a grid. If the sum of each cell were released, the noise
of all cells would add up in a test for the interaction. A contrast, such as the sum over two
opposite quarters of the grid minus the sum over the other two, has the noise of a single number.
The contrasts of one side of the grid are its mean, the difference between its halves, and waves of
higher frequency. Differences between halves have the largest weight, because most interactions
affect them. Means have the smallest weight, because they show errors in the curves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.pair_terms.grids import Grid, Side

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_SIDE_UNIT = 20

UNIT = _SIDE_UNIT**2
"""Contrasts are multiples of 1 / `UNIT`, so that sums of integers stay integers."""

_MEAN, _HALVES, _WAVES = 0.25, 1.0, 0.7


def contrasts(grid: Grid) -> IntArray:
    """Return the contrasts of a grid; they depend on released numbers only.

    Parameters
    ----------
    grid : Grid

    Returns
    -------
    ndarray of shape (n_contrasts, n_cells), dtype int64
        Weight of each cell in each contrast, in units of 1 / `UNIT`. The norm of each column, which
        bounds the effect of one record on all contrasts, is at most 1. Cells of rare special bins
        have no weight.
    """
    return np.kron(*(_of_side(side) for side in grid.sides)).astype(np.int64)


def between_curves(grid: Grid) -> NDArray[np.bool_]:
    """Find the contrasts that show interactions rather than errors in curves.

    Parameters
    ----------
    grid : Grid

    Returns
    -------
    ndarray of shape (n_contrasts,), dtype bool
        False for contrasts that contain the mean of a side.
    """
    first, second = (np.arange(side.n_groups - side.has_rest) > 0 for side in grid.sides)
    return np.asarray(np.logical_and.outer(first, second).ravel(), dtype=np.bool_)


def counts_of_cells(
    grid: Grid, weights: FloatArray, noisy: FloatArray, n_samples: float, noise_std: float
) -> FloatArray:
    """Estimate the number of records in each cell from noisy contrasts of counts.

    Parameters
    ----------
    grid : Grid
    weights : ndarray of shape (n_contrasts, n_cells)
        Weight of each cell in each contrast.
    noisy : ndarray of shape (n_contrasts,)
        Noisy contrasts of the counts.
    n_samples : float
        Noisy number of records.
    noise_std : float
        Noise standard deviation of a contrast.

    Returns
    -------
    ndarray of shape (n_cells,)
        Counts like those from `Grid.counts`, which uses noisy counts of cells instead.
    """
    expected = max(n_samples, 1.0) * grid.weight
    # The released counts of each feature are more accurate than contrasts with the mean of a side.
    apart = np.where(between_curves(grid), noisy - weights @ expected, 0.0)
    scatter = float(apart @ apart)
    noise = noise_std**2 * int(between_curves(grid).sum())
    kept = max(0.0, 1.0 - noise / max(scatter, 1e-12))
    return grid.positive(expected + kept * (np.linalg.pinv(weights) @ apart), n_samples)


def beyond_curves(
    grid: Grid, sums: FloatArray, design: FloatArray, variance: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Project out all changes of contrasts that errors in the two curves can cause.

    Such an error adds the same amount to the scores of a whole row or column of the grid, and so
    changes the sums in proportion to their curvature.

    Parameters
    ----------
    grid : Grid
    sums : ndarray of shape (n_contrasts,)
        Noisy contrasts of sums of residuals, or the sums themselves.
    design : ndarray of shape (n_contrasts, n_cells)
        Change in each contrast per unit of score of each cell.
    variance : ndarray of shape (n_contrasts, n_contrasts)
        Positive definite covariance of the contrasts due to noise and sampling.

    Returns
    -------
    z : ndarray of shape (n_left,)
        What is left of the contrasts, with uncorrelated errors of variance 1.
    certain : ndarray of shape (n_left, n_cells)
        Change in `z` per unit of score of each cell, divided by `scale`.
    scale : float
    """
    # Released numbers can have any size, and rounding errors must not make a fit fail.
    values, vectors = np.linalg.eigh(variance)
    values = np.maximum(values, 1e-12 * max(float(values.max()), 1e-288))
    whiten = vectors.T / np.sqrt(values)[:, None]
    certain = whiten @ design
    scale = max(float(np.abs(certain).max()), 1e-300)
    certain /= scale
    basis, size, _ = np.linalg.svd(certain @ grid.groups_of_cells)
    n_curves = int((size > 1e-9 * max(float(size.max()), 1e-300)).sum())
    left = basis[:, n_curves:].T
    return left @ whiten @ sums, left @ certain, scale


def _of_side(side: Side) -> IntArray:
    """Return the contrasts of one side, in units of 1 / `_SIDE_UNIT`."""
    n = side.n_groups - side.has_rest
    share = side.weight[:n] / max(float(side.weight[:n].sum()), 1e-300)
    upper = np.cumsum(share) - share / 2.0 > 0.5
    if upper.all() or not upper.any():  # one group has most of the records
        upper = np.arange(n) > 0
    place = np.pi * (np.arange(n) + 0.5) / n
    # Rounding makes tiny values zero, so that their signs do not depend on the machine.
    waves = [_WAVES * np.sign(np.round(np.cos(k * place), 6)) for k in range(2, n)]
    rows = [np.full(n, _MEAN), _HALVES * np.where(upper, 1.0, -1.0), *waves][:n]
    found = np.array(rows)
    found *= _SIDE_UNIT / np.sqrt((found**2).sum(axis=0).max())
    # Rounding toward zero never increases the norm of a column.
    found = np.trunc(found + 1e-9 * np.sign(found))
    return np.pad(found, ((0, 0), (0, int(side.has_rest)))).astype(np.int64)
