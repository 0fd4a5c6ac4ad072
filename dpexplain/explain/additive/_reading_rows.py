"""Read the rows of a table according to an explanation's schema."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dpexplain._utils.lazy import pd
from dpexplain.explain._text import listing
from dpexplain.explain.additive._binned import Binned
from dpexplain.schema import Categorical, Classes, Schema
from dpexplain.tables.columns import as_table, kind_in_parts, values_of
from dpexplain.tables.encoding import encode_features
from dpexplain.tables.frames import in_memory_call

FindsBins: TypeAlias = Callable[[Binned], npt.NDArray[np.int64]]
"""Function that accepts the bins of a feature and returns the bin of each row, or -1."""


def bins_of_rows(features: Iterable[Binned], schema: Schema | None, X: Any) -> FindsBins:
    """Return a function that finds the bin of each row of a table.

    Parameters
    ----------
    features : iterable of Binned
        The bins of each term, and of both features of each pair.
    schema : Schema or None
    X : table of shape (n_samples, n_columns)
        As in :meth:`GlobalExplanation.predict`.

    Returns
    -------
    callable
        Accepts the bins of one feature and returns the bin of each row, or -1 for a row without a
        bin.

    Raises
    ------
    TypeError
        If `X` is not a supported table.
    ValueError
        If a column is missing.
    """
    table = _table(X)
    if schema is not None:
        encoded = dict(zip(schema.features, encode_features(table, schema), strict=True))
        return lambda bins: bins.index_of_encoded(encoded[bins.name])
    if not isinstance(table, pd.DataFrame):
        raise TypeError(
            "X must be a table with named columns, because the explanation has no schema; got "
            f"{type(X).__name__}."
        )
    needed = dict.fromkeys(bins.name for bins in features)
    if missing := [name for name in needed if name not in table.columns]:
        columns = "column" if len(missing) == 1 else "columns"
        raise ValueError(f"X lacks the {columns} {listing(missing)}; pass one column per feature.")
    return lambda bins: bins.index_or_none(table[bins.name])


def _table(X: Any) -> pd.DataFrame | npt.NDArray[Any]:
    if kind := kind_in_parts(X):
        raise TypeError(
            f"X is {kind}; read the table into memory{in_memory_call(X)} and pass that. Only "
            "models predict in chunks."
        )
    if not isinstance(X, Mapping):
        return as_table(X)
    if single := [name for name, column in X.items() if np.ndim(column) == 0]:
        raise TypeError(f"the column {single[0]!r} of X is one value; pass a list of cells.")
    columns = {name: values_of(column) for name, column in X.items()}
    if len({len(column) for column in columns.values()}) > 1:
        raise ValueError("the columns of X have different lengths; pass one cell per row in each.")
    return pd.DataFrame({name: pd.Series(column) for name, column in columns.items()})


def check_schema(
    schema: Schema | None, features: Iterable[Binned], classes: tuple[str, ...] | None
) -> None:
    """Check that the schema describes the features and classes of an explanation.

    Parameters
    ----------
    schema : Schema or None
    features : iterable of Binned
    classes : tuple of str or None

    Raises
    ------
    ValueError
        If the schema describes other features or classes.
    """
    if schema is None:
        return
    if not isinstance(schema, Schema):
        raise ValueError(f"schema must be a Schema or None, got {type(schema).__name__}.")
    for bins in features:
        if bins.name not in schema.features:
            raise ValueError(f"schema has no feature {bins.name!r}; pass that of the fit.")
        feature = schema.features[bins.name]
        listed = feature.categories if isinstance(feature, Categorical) else None
        if listed != bins.categories:
            raise ValueError(f"schema has other categories of {bins.name!r}; pass that of the fit.")
    target = schema.target
    if isinstance(target, Classes) and target.names != classes:
        raise ValueError("schema has other classes; pass that of the fit.")
