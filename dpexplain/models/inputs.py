"""Shape of what is given to a model. Nothing here reads a value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

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
    if table.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {table.ndim}D array instead: X has shape {table.shape}. "
            "Reshape your data with X.reshape(-1, 1) for one feature or X.reshape(1, -1) for "
            "one sample."
        )
    return table


def check_same_length(X: Any, **others: Any) -> None:
    """Raise unless each of `others` has as many entries as `X` has rows.

    Raises
    ------
    ValueError
        Names what has which length.
    """
    for name, values in others.items():
        shape = np.shape(values)
        if len(shape) == 2 and shape[1] == 1:
            shape = shape[:1]
        if len(shape) != 1 or shape[0] != len(X):
            raise ValueError(
                f"{name} has shape {np.shape(values)}, but X has {len(X)} rows; "
                f"{name} must hold one value per row of X."
            )


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
