"""Sums of clipped gradients over samples, as exact integers.

The gradient of record n with respect to filter m of class k is ``c_nkm z_n``, a factor times the
features of the record. So the sum of clipped gradients over a sample is one matrix product, and no
array of shape (sample size, number of parameters) is formed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.locally_linear._kernels_clipping import clipped_factors, squared_norms
from dpexplain.models.locally_linear.arithmetic import (
    BLOCK,
    CLIP_MARGIN,
    limb_bits,
    to_integers,
    weight_bits,
)
from dpexplain.models.locally_linear.inputs import Features
from dpexplain.models.locally_linear.projections import Basis

Floats = NDArray[np.float64]
Sums = NDArray[Any]
"""Array of sums, of dtype int64 in private training and float64 otherwise."""
Sample = NDArray[np.int64]

_ROWS_PROJECTED = 1 << 9
"""Number of records that are projected at a time to compute their norms."""


@dataclass(frozen=True)
class FilterShape:
    """Shape of a locally linear model.

    Attributes
    ----------
    n_classes, n_filters : int
        Number of classes, and of filters per class.
    inverse_temperature : float
        Inverse temperature of the softmax over the filters of a class.
    """

    n_classes: int
    n_filters: int
    inverse_temperature: float

    @property
    def n_rows(self) -> int:
        """Total number of filters."""
        return self.n_classes * self.n_filters


class GradientSums:
    """Sums of clipped gradients over samples, in integer lattice steps.

    Parameters
    ----------
    features : Features
    labels : ndarray of shape (n_samples,), dtype int32
    shape : FilterShape
    basis : Basis
        Basis of the filters.
    clip : float or None
        Bound on the norm of one record's gradient; None if there is no bound, because training is
        not private.
    lattice_bits : int, default=0
        The clip is ``2**lattice_bits`` lattice steps.
    """

    def __init__(
        self,
        features: Features,
        labels: NDArray[np.int32],
        shape: FilterShape,
        basis: Basis,
        *,
        clip: float | None,
        lattice_bits: int = 0,
    ) -> None:
        self._features, self._labels, self._shape, self._basis = features, labels, shape, basis
        self._private = clip is not None
        self._bits = weight_bits(features.integers.shape[1])
        # A gradient is a factor times the features that a filter uses; so is a gradient's step.
        seen_unit = features.unit * (basis.unit if basis.per_filter and self._private else 1.0)
        self.unit = 1.0 if clip is None else clip / 2.0**lattice_bits
        self._step = self.unit / seen_unit if self._private else 1.0 / features.unit
        self._limit = np.inf if clip is None else CLIP_MARGIN * clip / seen_unit
        self._constant = float(features.integers[0, -1]) if len(features) else 1.0
        if basis.per_filter and self._private:
            self._constant = float(np.rint(self._constant / basis.unit))
        self._squared_norms = self._norms() if self._private else np.ones((len(features), 1))

    def __call__(self, weights: Floats, rows: Sample) -> Sums:
        """Return the sum of the clipped gradients over one sample.

        Parameters
        ----------
        weights : ndarray of shape (n_classes * n_filters, n_basis + 1)
            Public weights of the filters.
        rows : ndarray of int64
            Row indices of the sample.

        Returns
        -------
        ndarray of shape (n_classes * n_filters, n_basis + 1)
            Exact sums in lattice steps, as int64; if nothing is clipped, float64 gradients.
        """
        whole, unit = to_integers(self._for_inputs(weights), self._bits)
        kind: Any = np.int64 if self._private else np.float64
        sums, of_factors = np.zeros(whole.shape, dtype=kind), np.zeros(len(whole), dtype=kind)
        for start in range(0, len(rows), BLOCK):
            block = rows[start : start + BLOCK]
            z = self._features.integers[block].astype(np.float64)
            factors = z @ whole.T
            clipped_factors(
                factors,
                unit * self._features.unit,
                self._labels[block],
                self._squared_norms[block],
                self._limit,
                self._step,
                np.float32(self._shape.inverse_temperature),
                self._shape.n_classes,
                self._shape.n_filters,
                self._private,
            )
            sums += (factors.T @ z).astype(kind)
            of_factors += factors.sum(axis=0).astype(kind)
        return self._of_weights(sums, of_factors)

    def _norms(self) -> Floats:
        """Return the squared feature norm of each record for each filter index."""
        whole, rows = self._features.integers, self._basis.integers
        if rows is None or not self._basis.per_filter:
            found = np.empty((len(whole), 1))
            for start in range(0, len(whole), BLOCK):
                z = whole[start : start + BLOCK].astype(np.float64)
                np.einsum("ij,ij->i", z, z, out=found[start : start + BLOCK, 0])  # exact
            return found
        found = np.empty((len(whole), len(rows)))
        flat = rows.reshape(-1, self._basis.n_inputs).T
        for start in range(0, len(whole), _ROWS_PROJECTED):
            z = whole[start : start + _ROWS_PROJECTED, :-1].astype(np.float64)
            part = found[start : start + _ROWS_PROJECTED]
            squared_norms(z @ flat, len(rows), self._constant**2, part)
        return found

    def _for_inputs(self, weights: Floats) -> Floats:
        """Convert the filter weights to weights on the stored features."""
        if not self._basis.per_filter:
            return weights
        rows = self._basis.rows
        assert rows is not None
        parts = weights[:, :-1].reshape(self._shape.n_classes, self._shape.n_filters, -1)
        filters = np.empty((*parts.shape[:2], self._basis.n_inputs))
        for m in range(self._shape.n_filters):
            filters[:, m] = parts[:, m] @ rows[m]
        return np.column_stack([filters.reshape(len(weights), -1), weights[:, -1]])

    def _of_weights(self, sums: Sums, of_factors: Sums) -> Sums:
        """Return the gradient sums with respect to the filter weights.

        `sums` are gradients with respect to the weights that `_for_inputs` returns.
        """
        if not self._basis.per_filter:
            return sums
        assert self._basis.integers is not None
        rows = self._basis.integers if self._private else self._basis.integers * self._basis.unit
        shape = (self._shape.n_classes, self._shape.n_filters)
        found = np.empty((len(sums), self._basis.n_basis + 1), dtype=sums.dtype)
        by_filter = sums[:, :-1].reshape(*shape, -1)
        projected = found[:, :-1].reshape(*shape, -1)
        for m in range(self._shape.n_filters):
            projected[:, m] = _product(by_filter[:, m], rows[m].T)
        found[:, :-1] = projected.reshape(len(sums), -1)
        found[:, -1] = of_factors * int(self._constant) if self._private else sums[:, -1]
        return found

    def __repr__(self) -> str:
        return "<GradientSums>"


def _product(sums: Sums, rows: Floats) -> Sums:
    """Multiply sums by rows.

    Integer sums are split into limbs and multiplied in float64, so that the products are exact.
    """
    if sums.dtype != np.int64:
        return np.asarray(sums @ rows)
    bits = limb_bits(len(rows))
    low = sums & ((1 << bits) - 1)
    high = sums >> bits
    return (low.astype(np.float64) @ rows).astype(np.int64) + (
        (high.astype(np.float64) @ rows).astype(np.int64) << bits
    )
