"""Shape of what is given to a model. Nothing here reads a value."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import DataConversionWarning

from dpexplain.schema import Classes, Range, Schema


def as_table(X: Any) -> Any:
    """Two-dimensional table: a DataFrame as it is, anything else as a numpy array.

    Parameters
    ----------
    X : DataFrame or array-like of shape (n_samples, n_features)

    Returns
    -------
    DataFrame or ndarray

    Raises
    ------
    TypeError
        If `X` is sparse.
    ValueError
        If `X` is not two-dimensional.
    """
    if isinstance(X, pd.DataFrame):
        return X
    if hasattr(X, "toarray"):
        raise TypeError(
            f"X is a sparse {type(X).__name__}; a dense table is needed: pass X.toarray()."
        )
    table = X if isinstance(X, np.ndarray) else np.asarray(X)
    if table.ndim == 2 and table.shape[1] == 0:
        raise ValueError(
            f"0 feature(s) (shape={table.shape}) while a minimum of 1 is required; "
            "X needs one column per feature."
        )
    if table.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {table.ndim}D array instead: X has shape {table.shape}. "
            "Reshape your data with X.reshape(-1, 1) for one feature or X.reshape(1, -1) for "
            "one sample."
        )
    return table


def as_column(name: str, values: Any, X: Any) -> Any:
    """One value per row of `X`: a Series as it is, anything else as a flat numpy array.

    Parameters
    ----------
    name : str
        Name of the argument, for the message.
    values : array-like of shape (n_samples,) or (n_samples, 1)
    X : DataFrame or ndarray of shape (n_samples, n_features)

    Returns
    -------
    Series or ndarray of shape (n_samples,)

    Raises
    ------
    ValueError
        If there is nothing, or not one value per row.
    """
    if values is None:
        raise ValueError(
            f"fit requires {name} to be passed, but the target {name} is None; "
            f"pass one value per row of X."
        )
    column = values if isinstance(values, pd.Series) else _cells(values)
    if column.ndim == 2 and column.shape[1] == 1:
        warnings.warn(
            f"A column-vector {name} was passed when a 1d array was expected; pass {name}.ravel().",
            DataConversionWarning,
            stacklevel=3,
        )
        column = column.ravel()
    if column.shape != (len(X),):
        raise ValueError(
            f"{name} has shape {column.shape}, but X has {len(X)} rows; "
            f"{name} must hold one value per row of X."
        )
    return column


def _cells(values: Any) -> Any:
    """Array of the values; a list that mixes kinds of cells becomes an array of objects.

    Numpy refuses some mixtures and not others, and no error may depend on a value.
    """
    try:
        return np.asarray(values)
    except ValueError:
        cells = np.empty(len(values), dtype=object)
        for i, cell in enumerate(values):
            cells[i] = cell
        return cells


def observed_schema(X: Any, y: Any, target: type[Range] | type[Classes]) -> Schema:
    """Read a schema from the data. NOT PRIVATE: callers warn and record that.

    Parameters
    ----------
    X : DataFrame or ndarray of shape (n_samples, n_features)
        Columns without a name are called x0, x1, ...
    y : array-like of shape (n_samples,)
    target : type
        Kind of target to read: `Range` or `Classes`.

    Returns
    -------
    Schema
    """
    if not isinstance(X, pd.DataFrame):
        X = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    return Schema._observed(X, y, task="classification" if target is Classes else "regression")


def n_features_of(X: Any, schema: Schema | None) -> int:
    """Features of the schema, or columns of `X` where there is none."""
    return schema.n_features if schema is not None else int(X.shape[1])
