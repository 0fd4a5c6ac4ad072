"""Public preprocessing of records for linear filters.

The preprocessing depends only on public information, such as bounds and categories, and treats each
record independently of all others. An explanation can therefore process new records without the
model.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from dpexplain._utils.lazy import pd
from dpexplain.explain._record import (
    FloatArray,
    Record,
    bounded,
    choice,
    distinct,
    finite,
    text,
    texts,
)
from dpexplain.explain._text import listing, shorten
from dpexplain.tables.cells import cell_text, number_in

LARGEST = 1e30
"""Largest absolute value of inputs, weights and biases; products of several such numbers stay
finite."""

SMALL, ENLARGED = 2.0**-400, 2.0**600
"""A record whose inputs are all smaller than `SMALL` in absolute value is multiplied by `ENLARGED`
before its norm is computed, so that squares do not underflow. Multiplying by a power of two is
exact, and dividing by the norm cancels the factor."""

PerRecord: TypeAlias = Literal["none", "centred_unit_norm"]
PER_RECORD = ("none", "centred_unit_norm")


@dataclasses.dataclass(frozen=True)
class InputFeature:
    """One input column: numbers with public bounds, or categories from a public list.

    Parameters
    ----------
    name : str
        Name of the column.
    categories : tuple of str or None, default=None
        Public list of categories; None for a numeric column. Each category has one input, which is
        1 if the cell contains this category and 0 otherwise.
    low, high : float
        Public bounds of a numeric column; values outside the bounds are clipped.
    centre, spread : float
        A number is converted to the input ``(value - centre) / spread``; a cell that is empty or
        not a number is converted to 0.
    unit : str, default=""
        Unit of a numeric column. If it is ``"days since 1970-01-01"``, cells are parsed as dates.

    Raises
    ------
    ValueError
        If a number is not finite, `low` is above `high`, or `spread` is not positive.

    Examples
    --------
    >>> InputFeature("job", ("nurse", "clerk")).input_names
    ('job=nurse', 'job=clerk')
    """

    name: str
    categories: tuple[str, ...] | None = None
    low: float = 0.0
    high: float = 1.0
    centre: float = 0.0
    spread: float = 1.0
    unit: str = ""

    def __post_init__(self) -> None:
        """Check the numbers and names."""
        text("name", self.name)
        text("unit", self.unit)
        for field in ("low", "high", "centre", "spread"):
            object.__setattr__(self, field, finite(field, getattr(self, field)))
        if self.low > self.high or not self.spread > 0:
            raise ValueError("an input needs low <= high and a positive spread.")
        ends = (self.low, self.high, self.centre)
        if max(map(abs, ends)) > LARGEST or not self.largest_input <= LARGEST:
            raise ValueError(f"bounds, centre and inputs must have a size up to {LARGEST:g}.")
        if self.categories is not None:
            names = distinct("categories", texts("categories", self.categories))
            if not names:
                raise ValueError("categories must name at least one category, or be None.")
            object.__setattr__(self, "categories", names)

    @property
    def largest_input(self) -> float:
        """Largest absolute value that any of the column's inputs can have."""
        if self.categories is not None:
            return 1.0
        # Multiplying by 1 / spread gives infinity for a tiny spread, but raises no error.
        return max(abs(self.low - self.centre), abs(self.high - self.centre)) * (1 / self.spread)

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the column's inputs."""
        if self.categories is None:
            return (self.name,)
        return tuple(f"{self.name}={category}" for category in self.categories)

    def of_codes(self, column: npt.NDArray[Any]) -> FloatArray:
        """Convert an encoded column to inputs.

        Parameters
        ----------
        column : ndarray of shape (n_samples,)
            Numbers, with NaN for empty cells; or category indices, where any value that is not an
            index means that no category applies.

        Returns
        -------
        ndarray of float64, shape (n_samples, n_inputs)
        """
        values = np.asarray(column)
        if self.categories is not None:
            return np.asarray(values[:, None] == np.arange(len(self.categories)), dtype=np.float64)
        bounded = np.clip(values.astype(np.float64), self.low, self.high)
        inputs = (bounded - self.centre) / self.spread
        return np.asarray(np.where(np.isnan(inputs), 0.0, inputs)[:, None])

    def of_cells(self, cells: npt.NDArray[Any]) -> FloatArray:
        """Convert a column to inputs, cell by cell.

        Parameters
        ----------
        cells : ndarray of shape (n_samples,)
            Cells of the column, as in the table.

        Returns
        -------
        ndarray of float64, shape (n_samples, n_inputs)
        """
        if self.categories is None:
            if cells.dtype.kind in "biuf":
                return self.of_codes(cells.astype(np.float64))
            return self.of_codes(np.array(list(map(number_in(self.unit), cells)), dtype=np.float64))
        place = {cell_text(category): c for c, category in enumerate(self.categories)}
        return self.of_codes(
            np.array([place.get(cell_text(cell), -1) for cell in cells], dtype=int)
        )


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class InputPreparation(Record):
    """Public preprocessing that converts records to filter inputs.

    Parameters
    ----------
    features : sequence of InputFeature
        The columns, in order.
    per_record : {"none", "centred_unit_norm"}, default="none"
        Normalization of each record's inputs: either none, or subtracting their mean and then
        dividing by their Euclidean norm. It does not depend on any other record.
    scale : float, default=1.0
        Factor by which all inputs are multiplied after the normalization.

    Raises
    ------
    ValueError
        If two inputs have the same name, or the scale is not positive.

    Examples
    --------
    >>> columns = (InputFeature("age", low=0, high=100, centre=50, spread=50),)
    >>> InputPreparation(columns).inputs([[75.0], [200.0]])
    array([[0.5],
           [1. ]])
    """

    features: tuple[InputFeature, ...]
    per_record: PerRecord = "none"
    scale: float = 1.0

    def __post_init__(self) -> None:
        """Check the fields."""
        features = tuple(self.features)
        if not features or not all(isinstance(feature, InputFeature) for feature in features):
            raise ValueError("features must be one or more InputFeature objects.")
        distinct("features", tuple(feature.name for feature in features))
        self._set("features", features)
        distinct("inputs", self.input_names)
        choice("per_record", self.per_record, PER_RECORD)
        self._set("scale", finite("scale", self.scale))
        largest = max(feature.largest_input for feature in features)
        if self.per_record == "centred_unit_norm":
            largest = 1.0
        if not self.scale > 0 or not self.scale * largest <= LARGEST:
            raise ValueError(
                "scale must be positive and keep the absolute values of inputs at or below "
                f"{LARGEST:g}."
            )

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of all inputs, in order."""
        return tuple(name for feature in self.features for name in feature.input_names)

    def of_columns(self, columns: Sequence[npt.NDArray[Any]]) -> FloatArray:
        """Convert encoded columns to inputs.

        Parameters
        ----------
        columns : sequence of ndarray of shape (n_samples,)
            One column for each feature, as in :meth:`InputFeature.of_codes`.

        Returns
        -------
        ndarray of float64, shape (n_samples, n_inputs)
        """
        parts = [f.of_codes(column) for f, column in zip(self.features, columns, strict=True)]
        return self._prepared(np.concatenate(parts, axis=1))

    def inputs(self, X: Any) -> FloatArray:
        """Convert records to inputs.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Records to convert. Columns are identified by name in a DataFrame, and by position
            otherwise.

        Returns
        -------
        ndarray of float64, shape (n_samples, n_inputs)
            Inputs, which are always finite; unreadable cells are converted to zeros before
            normalization.

        Raises
        ------
        ValueError
            If columns are missing or their number is wrong; the message contains no values.
        """
        columns = self._columns(X)
        parts = [f.of_cells(column) for f, column in zip(self.features, columns, strict=True)]
        return self._prepared(np.concatenate(parts, axis=1))

    def _prepared(self, inputs: FloatArray) -> FloatArray:
        if self.per_record == "centred_unit_norm":
            inputs = _centred_unit_norm(inputs)
        return inputs * self.scale

    def _columns(self, X: Any) -> list[npt.NDArray[Any]]:
        names = [feature.name for feature in self.features]
        if isinstance(X, pd.DataFrame):
            missing = [name for name in names if name not in X.columns]
            if missing:
                columns, them = ("column", "it") if len(missing) == 1 else ("columns", "them")
                raise ValueError(f"X lacks the {columns} {listing(missing)}; add or rename {them}.")
            return [_cells(X[name]) for name in names]
        table = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
        if table.ndim != 2 or table.shape[1] != len(names):
            raise ValueError(
                f"X has shape {table.shape}, expected (n_samples, {len(names)}): one row per "
                "record, one column per feature."
            )
        return [table[:, place] for place in range(len(names))]

    def __repr__(self) -> str:
        """Return a one-line summary."""
        first = ", ".join(shorten(feature.name, 20) for feature in self.features[:3])
        more = ", \u2026" if len(self.features) > 3 else ""
        each = "" if self.per_record == "none" else "; each record centered, of unit norm"
        return f"InputPreparation({len(self.input_names)} inputs from {first}{more}{each})"


def _centred_unit_norm(inputs: FloatArray) -> FloatArray:
    """Center each row and divide it by its norm; constant rows become zeros."""
    small = np.abs(inputs).max(axis=1, keepdims=True) < SMALL
    inputs = np.where(small, inputs * ENLARGED, inputs)
    for _ in range(2):  # the second pass removes the mean that rounding errors leave
        inputs = inputs - inputs.mean(axis=1, keepdims=True)
    norm = np.sqrt((inputs**2).sum(axis=1, keepdims=True))
    return np.divide(inputs, norm, out=np.zeros(inputs.shape), where=norm > 0)


def _cells(column: pd.Series[Any]) -> npt.NDArray[Any]:
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
        return column.to_numpy()
    return column.astype(object).to_numpy()


def checked_inputs(inputs: npt.ArrayLike, n_inputs: int) -> FloatArray:
    """Check that prepared inputs are finite and have the shape (n_samples, n_inputs)."""
    return bounded("inputs", inputs, (None, n_inputs), LARGEST)
