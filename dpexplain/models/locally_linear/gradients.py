"""Sums of clipped gradients over samples, as exact integers.

The gradient of record n with respect to filter m of class k is ``c_nkm z_n``, a factor times the
features of the record. So the sum of clipped gradients over a sample is one matrix product, and no
array of shape (sample size, number of parameters) is formed. Private training multiplies integers
of 16 bits; training without a clip needs no exact sums and multiplies floats.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.locally_linear._kernels_clipping import (
    clipped_factors,
    squared_norms,
)
from dpexplain.models.locally_linear.arithmetic import (
    BLOCK,
    CLIP_MARGIN,
    COARSE_BITS,
    FACTOR_BITS,
    FEATURE_BITS,
    LARGEST_FACTOR,
    LIMB_BITS,
    ROW_BITS,
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


class ExactProjection:
    """Integer products with the separate rows of each filter index.

    Parameters
    ----------
    basis : Basis
    """

    def __init__(self, basis: Basis) -> None:
        from dpexplain.models.locally_linear import _kernels_products as products  # loads numba

        assert basis.integers is not None
        self._unit, self._shape = basis.unit, basis.integers.shape
        self._rows = products.padded(basis.integers, products.N_COLUMNS, np.int8)
        columns = basis.integers.transpose(0, 2, 1)
        self._columns = products.padded(columns, products.N_COLUMNS, np.int8)

    def to_inputs(self, weights: Floats) -> Floats:
        """Multiply public weights by the rows; shape (n_filters, n_classes, n_basis)."""
        from dpexplain.models.locally_linear import _kernels_products as products

        _, n_basis, n_inputs = self._shape
        largest = products.largest_factor(n_basis, 2**ROW_BITS)
        left, unit = products.rounded(weights, largest, products.N_ROWS)
        found = products.zeros(len(weights), weights.shape[1], n_inputs)
        products.add_products(left, self._columns, 0, found)
        return np.asarray(found[:, : weights.shape[1], :n_inputs] * (unit * self._unit))

    def of_sums(self, sums: Sums, largest: int) -> Sums:
        """Multiply sums by the rows, exactly; shape (n_filters, n_classes, n_inputs).

        No sum exceeds `largest` in absolute value.
        """
        from dpexplain.models.locally_linear import _kernels_products as products

        n_limbs = -(-(largest.bit_length() + 1) // LIMB_BITS)
        found = products.zeros(len(sums), sums.shape[1], self._shape[1])
        left = products.limbs(sums, LIMB_BITS, n_limbs)
        products.add_products(left, self._rows, LIMB_BITS, found)
        return found[:, : sums.shape[1], : self._shape[1]]


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
        per_filter = basis.per_filter and self._private
        # A gradient is a factor times the features that a filter uses; so is a gradient's step.
        seen_unit = features.unit * (basis.unit if per_filter else 1.0)
        self.unit = 1.0 if clip is None else clip / 2.0**lattice_bits
        self._step = self.unit / seen_unit if self._private else 1.0 / features.unit
        self._limit = np.inf if clip is None else CLIP_MARGIN * clip / seen_unit
        self._largest = float(LARGEST_FACTOR) if self._private else np.inf
        self._constant = float(features.integers[0, -1]) if len(features) else 1.0
        self._seen_constant = round(self._constant / (basis.unit if per_filter else 1.0))
        self._squared_norms = self._norms() if self._private else np.ones((len(features), 1))
        self._projection = ExactProjection(basis) if per_filter else None
        self._rows: Any = None if self._private else basis.rows

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
        seen = self._for_inputs(weights)
        sums = self._exact(seen, rows) if self._private else self._rounded(seen, rows)
        return self._of_weights(sums, len(rows)) if self._basis.per_filter else sums

    def _exact(self, weights: Floats, rows: Sample) -> Sums:
        """Sum over a sample in integers."""
        from dpexplain.models.locally_linear import _kernels_products as products  # loads numba

        n_rows, n_features = weights.shape
        bits = COARSE_BITS if self._basis.per_filter else FEATURE_BITS + 1
        largest = products.largest_factor(n_features, 2**bits)
        left, unit = products.rounded(weights[None], largest, products.N_ROWS)
        sums = products.zeros(1, n_rows, n_features)
        # Even an empty sample is one block: whether kernels are compiled would reveal a record.
        for start in range(0, max(len(rows), 1), products.CHUNK):
            block = rows[start : start + products.CHUNK]
            z = self._features.integers[block][None]
            right = products.padded(z, products.N_COLUMNS)
            scores = products.zeros(1, n_rows, len(block))
            products.add_products(left, right, 0, scores)
            factors = np.empty((1, n_rows, len(block)), dtype=np.int64)
            self._clip(scores[0], unit, block, factors[0])
            limbs = products.limbs(factors, FACTOR_BITS, 2)
            others = products.padded(z.transpose(0, 2, 1), products.N_COLUMNS)
            products.add_products(limbs, others, FACTOR_BITS, sums)
        return sums[0, :n_rows, :n_features]

    def _rounded(self, weights: Floats, rows: Sample) -> Sums:
        """Sum over a sample in floats, for training without a clip."""
        sums = np.zeros(weights.shape)
        for start in range(0, len(rows), BLOCK):
            block = rows[start : start + BLOCK]
            z = self._features.integers[block].astype(np.float64)
            factors = np.empty((len(weights), len(block)))
            self._clip(weights @ z.T, 1.0, block, factors)
            sums += factors @ z
        return sums

    def _clip(self, scores: Sums, unit: float, block: Sample, factors: Sums) -> None:
        """Convert the scores of a block of records to factors."""
        clipped_factors(
            scores,
            unit * self._features.unit,
            self._labels[block],
            np.ascontiguousarray(self._squared_norms[block].T),
            self._limit,
            self._step,
            self._largest,
            np.float32(self._shape.inverse_temperature),
            self._shape.n_classes,
            factors,
        )

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
        for start in range(0, max(len(whole), 1), _ROWS_PROJECTED):  # as in `_exact`
            z = whole[start : start + _ROWS_PROJECTED, :-1].astype(np.float64)
            part = found[start : start + _ROWS_PROJECTED]
            squared_norms(z @ flat, len(rows), float(self._seen_constant) ** 2, part)
        return found

    def _for_inputs(self, weights: Floats) -> Floats:
        """Convert the filter weights to weights on the stored features."""
        if not self._basis.per_filter:
            return weights
        parts = np.ascontiguousarray(self._by_filter(weights))
        found = np.empty((len(weights), self._basis.n_inputs + 1))
        filters = self._by_filter(found)
        if self._projection is not None:
            filters[:] = self._projection.to_inputs(parts)
        else:
            filters[:] = parts @ self._rows
        found[:, -1] = weights[:, -1]
        return found

    def _of_weights(self, sums: Sums, n: int) -> Sums:
        """Return the gradient sums with respect to the filter weights.

        `sums` are gradients with respect to the weights that `_for_inputs` returns.
        """
        parts = self._by_filter(sums)
        found = np.empty((len(sums), self._basis.n_basis + 1), dtype=sums.dtype)
        projected = self._by_filter(found)
        if self._projection is not None:
            largest = max(n, 1) * LARGEST_FACTOR * 2**COARSE_BITS
            projected[:] = self._projection.of_sums(parts, largest)
            # Exact: each of the last sums is a sum of factors times the constant.
            found[:, -1] = sums[:, -1] // int(self._constant) * self._seen_constant
        else:
            projected[:] = parts @ self._rows.transpose(0, 2, 1)
            found[:, -1] = sums[:, -1]
        return found

    def _by_filter(self, values: Sums) -> Sums:
        """View weights, without biases, as one matrix per filter index."""
        n_classes, n_filters = self._shape.n_classes, self._shape.n_filters
        return values.reshape(n_classes, n_filters, -1)[..., :-1].transpose(1, 0, 2)

    def __repr__(self) -> str:
        return "<GradientSums>"
