"""Encode records as integers on a lattice, using public information only."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain.explain import InputFeature, InputPreparation
from dpexplain.models.inputs import rows_of
from dpexplain.models.locally_linear.arithmetic import (
    COARSE_BITS,
    EXACT_BITS,
    FEATURE_BITS,
    INPUT_BITS,
    to_integers,
)
from dpexplain.models.locally_linear.projections import Basis
from dpexplain.schema import Categorical, Numeric, Schema
from dpexplain.tables.encoding import encoded_columns

Floats = NDArray[np.float64]

_ROWS = 1 << 13
"""Number of records that are encoded at a time, so that the whole table is never copied."""


def preparation_of(
    schema: Schema, *, per_image: bool, scale: float, centre: float = 0.5
) -> InputPreparation:
    """Return the input preparation for a schema.

    Parameters
    ----------
    schema : Schema
    per_image : bool
        Whether each record is centered and divided by its norm, as for grids.
    scale : float
        Factor by which all inputs are multiplied.
    centre : float, default=0.5
        Position within the range of a numeric feature, in [0, 1], that is mapped to 0; the
        end of the range that is farther away is mapped to 1 or -1.

    Returns
    -------
    InputPreparation
        Preparation that scales numbers by their range, replaces missing numbers with 0, and has one
        input for each category.
    """
    features = tuple(_input_feature(name, f, centre) for name, f in schema.features.items())
    return InputPreparation(
        features, per_record="centred_unit_norm" if per_image else "none", scale=scale
    )


def _input_feature(name: str, feature: Numeric | Categorical, centre: float) -> InputFeature:
    if isinstance(feature, Categorical):
        return InputFeature(name, tuple(map(str, feature.categories)))
    low, high = float(feature.low), float(feature.high)
    zero, spread = low + centre * (high - low), max(centre, 1.0 - centre) * (high - low)
    return InputFeature(name, low=low, high=high, centre=zero, spread=spread, unit=feature.unit)


def feature_bound(preparation: InputPreparation, basis: Basis) -> float:
    """Return a public bound on the absolute value of any projected feature.

    Parameters
    ----------
    preparation : InputPreparation
    basis : Basis

    Returns
    -------
    float
    """
    if basis.integers is None or basis.per_filter:
        return preparation.scale
    rows = np.abs(basis.integers[0] * basis.unit)
    image = preparation.per_record != "none"
    longest = np.linalg.norm(rows, axis=1) if image else rows.sum(axis=1)
    return preparation.scale * max(1.0, float(longest.max()))


def feature_bits(basis: Basis) -> int:
    """Return the number of bits of each feature of a record."""
    return COARSE_BITS if basis.per_filter else FEATURE_BITS


def constant_steps(preparation: InputPreparation, basis: Basis) -> float:
    """Return the constant feature, which is about 1, as an integer number of steps."""
    whole = 2.0 ** feature_bits(basis)
    return float(np.clip(np.rint(whole / feature_bound(preparation, basis)), 1.0, whole))


@dataclass(frozen=True, eq=False, repr=False)
class Features:
    """Projected records for training.

    Attributes
    ----------
    integers : ndarray of shape (n_samples, n_basis + 1), dtype int16
        Features in integer steps; the last column is constant, about 1. If every filter index has
        its own projection, the columns are the inputs instead of their projections.
    unit : float
        Value of one step.
    """

    integers: NDArray[np.int16]
    unit: float

    def __len__(self) -> int:
        return len(self.integers)

    def __repr__(self) -> str:
        return f"<Features, {self.integers.shape[1]} per record>"


def features_of(X: Any, schema: Schema, preparation: InputPreparation, basis: Basis) -> Features:
    """Encode, project and round records for training.

    Parameters
    ----------
    X : DataFrame or ndarray of shape (n_samples, n_features)
    schema : Schema
    preparation : InputPreparation
    basis : Basis

    Returns
    -------
    Features
        The projected records; each row depends, down to the last bit, only on its own record.
    """
    bound, bits = feature_bound(preparation, basis), feature_bits(basis)
    n_features = basis.n_inputs if basis.per_filter else basis.n_basis
    features = np.empty((len(X), n_features + 1), dtype=np.int16)
    features[:, -1] = constant_steps(preparation, basis)
    for start in range(0, len(X), _ROWS):
        stop = min(start + _ROWS, len(X))
        steps = _input_steps(rows_of(X, slice(start, stop)), schema, preparation)
        if basis.integers is not None and not basis.per_filter:
            steps = steps @ basis.integers[0].T * basis.unit  # exact products of integers
        values = steps * (preparation.scale / 2.0**INPUT_BITS)
        features[start:stop, :-1] = to_integers(values, bits, bound)[0]
    return Features(features, bound / 2.0**bits)


def _input_steps(X: Any, schema: Schema, preparation: InputPreparation) -> Floats:
    """Return the unscaled inputs as integer multiples of ``2**-20``."""
    plain = replace(preparation, per_record="none", scale=1.0)
    values = plain.of_columns(list(encoded_columns(X, schema)))
    if preparation.per_record != "none":
        _normalize(values)
    return to_integers(values, INPUT_BITS, 1.0)[0]


def _normalize(values: Floats) -> None:
    """Center and normalize each row in place, on a lattice.

    `InputPreparation` does the same in floating point. Here, the sums over a row are exact, because
    D inputs of b bits satisfy ``D * D * 2**(2 b) < 2**53``. So the result does not depend on the
    row's position in the table.
    """
    n_inputs = values.shape[1]
    bits = min(16, (EXACT_BITS - 1 - 2 * math.ceil(math.log2(max(n_inputs, 2)))) // 2)
    values *= 2.0**bits
    np.rint(values, out=values)
    total, squares = values.sum(axis=1), np.einsum("ij,ij->i", values, values)
    norm = np.sqrt(np.maximum(n_inputs * squares - total * total, 1.0) / n_inputs)
    values -= (total / n_inputs)[:, None]
    values /= norm[:, None]
