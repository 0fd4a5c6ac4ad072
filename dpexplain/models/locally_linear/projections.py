"""Public projections of inputs to fewer features."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.locally_linear.arithmetic import ROW_BITS, projection_bits, to_integers

Floats = NDArray[np.float64]

Projection = Literal["none", "per_filter", "shared", "frequency"]
"""Basis in which filters are parametrized."""

PROJECTIONS: tuple[str, ...] = get_args(Projection)


@dataclass(frozen=True, eq=False, repr=False)
class Basis:
    """Basis of the filters, stored as integers and a unit, for exact products.

    Attributes
    ----------
    integers : ndarray of shape (n_banks, n_basis, n_inputs) or None
        One bank of rows for all filters, or one bank for each filter index. None if filters are
        learned without a projection.
    unit : float
        Value of one step.
    n_inputs : int
    """

    integers: Floats | None
    unit: float
    n_inputs: int

    @classmethod
    def of(cls, rows: Floats | None, n_inputs: int) -> Basis:
        """Round rows of shape (n_banks, n_basis, n_inputs) to integers."""
        if rows is None:
            return cls(None, 1.0, n_inputs)
        integers, unit = to_integers(
            rows, projection_bits(n_inputs) if len(rows) == 1 else ROW_BITS
        )
        return cls(integers, unit, n_inputs)

    @property
    def n_basis(self) -> int:
        """Number of coefficients per filter, not counting the bias."""
        return self.n_inputs if self.integers is None else self.integers.shape[1]

    @property
    def per_filter(self) -> bool:
        """Whether each filter index has its own rows."""
        return self.integers is not None and len(self.integers) > 1

    @property
    def rows(self) -> Floats | None:
        """Rows as floats, shape (n_banks, n_basis, n_inputs)."""
        return None if self.integers is None else self.integers * self.unit

    def __repr__(self) -> str:
        return f"<Basis of {self.n_basis} for {self.n_inputs} inputs>"


def make_basis(
    projection: Projection,
    n_inputs: int,
    *,
    n_basis: int | None,
    n_filters: int,
    grid_shape: tuple[int, ...] | None,
    rng: np.random.Generator,
) -> Basis:
    """Create the basis of a projection.

    Parameters
    ----------
    projection : {"none", "per_filter", "shared", "frequency"}
    n_inputs : int
    n_basis : int or None
        Number of coefficients per filter; ignored if there is no projection.
    n_filters : int
        Number of filters per class.
    grid_shape : tuple of int or None
        Shape of the grid of inputs; needed for frequencies.
    rng : numpy.random.Generator
        Public source of random rows.

    Returns
    -------
    Basis
        The basis. Random rows have entries of variance 1/2, as in the code of Harder et al. (2020),
        whose text has one over the number of rows; the rows for frequencies are orthonormal.
    """
    if projection == "none":
        return Basis.of(None, n_inputs)
    assert n_basis is not None
    if projection == "frequency":
        assert grid_shape is not None
        return Basis.of(cosine_basis(grid_shape, n_basis)[None], n_inputs)
    n_banks = n_filters if projection == "per_filter" else 1
    rows = rng.standard_normal((n_banks, n_basis, n_inputs)) / math.sqrt(2.0)
    return Basis.of(rows, n_inputs)


def cosine_basis(shape: tuple[int, ...], n_basis: int) -> Floats:
    """Return the lowest nonconstant cosine frequencies on a grid.

    Parameters
    ----------
    shape : tuple of int
        Shape of the grid, which may have any number of dimensions.
    n_basis : int
        Number of rows, at most the number of grid cells minus one.

    Returns
    -------
    ndarray of shape (n_basis, prod(shape)), dtype float64
        Orthonormal rows, in order of increasing frequency. The frequency is the squared number of
        half-waves per grid cell, summed over the dimensions. Rows of equal frequency are sorted by
        their number of half-waves in the first dimension, then in the second, and so on.
    """
    chosen = sorted(_frequencies(shape))[1 : n_basis + 1]
    rows = np.empty((len(chosen), math.prod(shape)))
    for row, (_, waves) in zip(rows, chosen, strict=True):
        product = np.ones(())
        for n, k in zip(shape, waves, strict=True):
            product = np.multiply.outer(product, _cosine(n, k))
        row[:] = product.ravel()
    return rows


def _frequencies(shape: tuple[int, ...]) -> Iterator[tuple[float, tuple[int, ...]]]:
    for waves in np.ndindex(*shape):
        yield sum((k / n) ** 2 for k, n in zip(waves, shape, strict=True)), waves


def _cosine(n: int, k: int) -> Floats:
    wave = np.cos(np.pi * k * (np.arange(n) + 0.5) / n)
    return wave / np.linalg.norm(wave)
