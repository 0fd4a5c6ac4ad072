"""Draft schemas from data, for public tables and non-private fits."""

from __future__ import annotations

import math
import sys
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpexplain._utils.lazy import pd
from dpexplain.schema.features import (
    WIDEST_RANGE,
    Categorical,
    Classes,
    Date,
    Feature,
    Numeric,
    Range,
    Target,
    Task,
)
from dpexplain.tables.cells import day_text
from dpexplain.tables.columns import Column, Values, as_table, cells_of, one_column, values_of
from dpexplain.tables.encoding import days_of, numbers_of, texts_of

_LARGEST = 1e300  # high - low must not overflow


def observed_fields(
    X: ArrayLike, y: ArrayLike | None = None, *, task: Task = "auto"
) -> tuple[dict[str, Feature], Target | None]:
    """Draft features and a target from the bounds and categories in the data.

    Parameters
    ----------
    X : DataFrame or array of shape (n_samples, n_features)
        The table; the columns of an array are named ``feature_0``, ``feature_1``, ….
    y : array of shape (n_samples,) or None, default=None
        The target; None for a schema without a target.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of the target; "auto" means regression if the target is numeric with more than two
        distinct values.

    Returns
    -------
    features : dict
        Features, keyed by column name; they are not private.
    target : Range, Classes or None
        The target; None if `y` is None.
    """
    if task not in ("auto", "classification", "regression"):
        raise ValueError(f"task={task!r} must be 'auto', 'classification' or 'regression'.")
    features = {name: observed_feature(column) for name, column in named_columns(X).items()}
    return features, None if y is None else observed_target(y, task=task)


def named_columns(X: ArrayLike) -> dict[str, Column]:
    """Return the columns of a table, keyed by name; array columns are numbered.

    Parameters
    ----------
    X : DataFrame or array of shape (n_samples, n_features)

    Returns
    -------
    dict
        Columns, keyed by name.
    """
    table = as_table(X)
    if isinstance(table, pd.DataFrame):
        return {str(name): table.iloc[:, index] for index, name in enumerate(table.columns)}
    return {f"feature_{index}": table[:, index] for index in range(table.shape[1])}


def observed_feature(column: Column) -> Feature:
    """Draft a feature for one column.

    Parameters
    ----------
    column : array or Series of shape (n_samples,)
        Cells of any type.

    Returns
    -------
    Numeric, Date or Categorical
        Numeric if every nonempty cell is a number and not a boolean; Date if every nonempty cell is
        a date; otherwise Categorical.
    """
    values = values_of(column)
    if isinstance(values, pd.Categorical):
        return Categorical(list(map(_name, values.categories)), ordered=bool(values.ordered))
    if _is_truth(values):
        return Categorical(["False", "True"])
    numbers, texts = numbers_of(values), texts_of(values)
    if dates := _observed_dates(values, texts):
        return dates
    finite = numbers[np.isfinite(numbers)]
    if all(text is None for text in texts[np.isnan(numbers)]):
        low, high = outward(finite)
        step = 1.0 if finite.size and np.all(finite == np.rint(finite)) else None
        return Numeric(low, high, step=step)
    return Categorical(sorted({text for text in texts if text}) or ["unreadable"])


def _observed_dates(values: Values, texts: NDArray[Any]) -> Date | None:
    """Draft a date feature if all texts and numbers are dates and at least two differ."""
    days = days_of(values)
    known = days[~np.isnan(days)]
    if not known.size or any(texts[np.isnan(days)]):
        return None
    low, high = known.min(), known.max()
    return Date(day_text(low), day_text(high)) if low < high else None


def observed_target(y: ArrayLike, *, task: Task = "auto") -> Target:
    """Draft a target from its values.

    Parameters
    ----------
    y : array or Series of shape (n_samples,) or (n_samples, 1)
        Cells of any type.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of the target, as in :func:`observed_fields`.

    Returns
    -------
    Range or Classes
        For a regression, the range of the numbers, rounded outward; otherwise, classes whose
        labels are the sorted values.
    """
    name = str(getattr(y, "name", None) or "")
    values = values_of(one_column(y))
    numbers = numbers_of(values)
    finite = numbers[np.isfinite(numbers)]
    few = _is_truth(values) or np.unique(finite).size <= 2
    if task == "regression" or (task == "auto" and finite.size and not few):
        return Range(*_target_ends(finite), name=name)
    label_of_text = dict(zip(texts_of(values), cells_of(values), strict=True))
    labels: list[Any] = [label for text, label in label_of_text.items() if text]
    if any(isinstance(label, str) for label in labels):
        labels = [str(label) for label in labels]
    return Classes(sorted(labels), name=name)


def _is_truth(values: Values) -> bool:
    if getattr(values.dtype, "kind", "O") == "b":
        return True
    if values.dtype != object:
        return False
    present = [cell for cell, text in zip(values, texts_of(values), strict=True) if text]
    return bool(present) and all(isinstance(cell, bool | np.bool_) for cell in present)


def _target_ends(finite: NDArray[np.float64]) -> tuple[float, float]:
    """Return bounds for the values of a target, of a width that a range can have."""
    low, high = outward(finite)
    if high - low > WIDEST_RANGE:
        reach = 0.4 * WIDEST_RANGE  # rounded outward, the bounds are still close enough
        warnings.warn(
            f"values of the target are clipped to -{reach:g} to {reach:g}; divide the target by a "
            "power of ten to keep its values.",
            stacklevel=2,
        )
        return outward(np.clip(finite, -reach, reach))
    return low, max(high, low + 2.0 / WIDEST_RANGE)


def _name(category: Any) -> Any:
    return category if isinstance(category, str | bool | int | float) else str(category)


def outward(finite: NDArray[np.float64]) -> tuple[float, float]:
    """Return bounds for the values: their minimum and maximum, rounded outward.

    The bounds are multiples of a power of ten; the difference between maximum and minimum is 10 to
    100 times this power. If all values are equal, one bound is below the value and the other is
    above it.

    Parameters
    ----------
    finite : ndarray of shape (n,), dtype float64
        Finite values of a column; the array may be empty.

    Returns
    -------
    low, high : float
        The rounded bounds; 0 and 1 if there are no values.
    """
    if not finite.size:
        return 0.0, 1.0
    low, high = np.clip([finite.min(), finite.max()], -_LARGEST, _LARGEST).tolist()
    if low == high:
        reach = max(1.0, abs(low))
        return low - reach, high + reach
    unit = max(10.0 ** (math.floor(math.log10(high - low)) - 1), sys.float_info.min)
    below, above = math.floor(low / unit) * unit, math.ceil(high / unit) * unit
    digits = max(0, -math.floor(math.log10(unit)))
    return min(low, round(below, digits)), max(high, round(above, digits))
