"""Arithmetic for edits to pairs: make tables of cells smooth or monotone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpexplain.edit.kernels import FloatArray, monotone, positive_weights, smooth, with_mean
from dpexplain.edit.splines import smooth_as_noise_allows

Line = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


def each_line(
    fit: Line, values: FloatArray, weights: FloatArray, std: FloatArray, axis: int
) -> FloatArray:
    """Apply a curve-fitting function to each line of a table.

    Parameters
    ----------
    fit : callable
        Function of the values, weights and standard deviations of a line.
    values, weights, std : ndarray of shape (n_rows, n_columns)
    axis : {0, 1}
        Direction of the lines: 0 for columns, 1 for rows.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
    """
    lines = zip(*(np.moveaxis(each, axis, -1) for each in (values, weights, std)), strict=True)
    return np.moveaxis(np.array([fit(*line) for line in lines]), -1, axis)


def monotone_lines(values: FloatArray, weights: FloatArray, sign: int, axis: int) -> FloatArray:
    """Make each line of a table monotone by weighted least squares.

    Parameters
    ----------
    values, weights : ndarray of shape (n_rows, n_columns)
        Table, and proportion of the records in each cell.
    sign : {1, -1}
        1 for increasing lines, -1 for decreasing lines.
    axis : {0, 1}
        Direction of the lines, as in :func:`each_line`.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        The new table. Each line keeps its weighted mean, and lines that are already monotone are
        left unchanged.
    """

    def fit(v: FloatArray, w: FloatArray, _: FloatArray) -> FloatArray:
        if (sign * np.diff(v) >= 0.0).all():
            return v
        return with_mean(monotone(v, w, sign), v, w)

    return each_line(fit, values, weights, values, axis)


def smooth_lines(
    places: FloatArray,
    values: FloatArray,
    weights: FloatArray,
    std: FloatArray,
    axis: int,
    reach: float | None,
) -> FloatArray:
    """Smooth each line of a table as a curve.

    Parameters
    ----------
    places : ndarray of shape (n_bins,)
        Increasing positions of the bins along a line.
    values, weights, std : ndarray of shape (n_rows, n_columns)
        Table, proportion of the records in each cell, and standard deviation of each value.
    axis : {0, 1}
        Direction of the lines, as in :func:`each_line`.
    reach : float or None
        As in :class:`Smooth`.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
    """

    def fit(v: FloatArray, w: FloatArray, s: FloatArray) -> FloatArray:
        if reach is None:
            return smooth_as_noise_allows(places, v, w, s)
        return smooth(v, w, s, reach)

    return each_line(fit, values, weights, std, axis)


def smooth_plane(
    values: FloatArray, weights: FloatArray, std: FloatArray, reach: float
) -> FloatArray:
    """Smooth a table by fitting a plane around each cell.

    Parameters
    ----------
    values, weights, std : ndarray of shape (n_rows, n_columns)
        Table, proportion of the records in each cell, and standard deviation of each value.
    reach : float
        Standard deviation of the Gaussian kernel. The distance between two cells in each direction
        is the proportion of records between their rows or columns.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)

    Notes
    -----
    Cells are weighted by proximity and inverse variance, as in :func:`smooth`. The Gaussian kernel
    is the product of a kernel over rows and a kernel over columns, so sums over all cells can be
    computed as products of small matrices.
    """
    weight = positive_weights(weights.ravel()).reshape(values.shape)
    middle = [np.cumsum(side) - side / 2.0 for side in (weight.sum(1), weight.sum(0))]
    precision = 1.0 / np.maximum(std, 1e-12) ** 2
    precision = precision / precision.max()
    apart = [np.subtract.outer(each, each).T / reach for each in middle]
    near = [np.exp(-0.5 * each**2) for each in apart]

    def total(of: FloatArray, power: tuple[int, int]) -> FloatArray:
        rows, columns = (k * each**p for k, each, p in zip(near, apart, power, strict=True))
        return np.asarray(rows @ of @ columns.T)

    # Powers of the two distances that multiply the level and the slopes of the plane.
    powers = [(0, 0), (1, 0), (0, 1)]
    matrix = np.empty((*values.shape, 3, 3))
    for i, j in np.ndindex(3, 3):
        both = powers[i][0] + powers[j][0], powers[i][1] + powers[j][1]
        matrix[..., i, j] = total(precision, both)
    # If few cells have all the weight, the slopes of the plane are undetermined.
    matrix += matrix[..., :1, :1] * np.diag([0.0, 1e-9, 1e-9])
    side = np.stack([total(precision * values, power) for power in powers], axis=-1)
    return np.asarray(np.linalg.solve(matrix, side[..., None])[..., 0, 0])
