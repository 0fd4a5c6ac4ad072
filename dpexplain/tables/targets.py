"""Targets given as the name of a column."""

from __future__ import annotations

from typing import Any

from dpexplain._utils.lazy import pd
from dpexplain._utils.names import closest_name
from dpexplain.tables.columns import KnownRoles, as_table, kind_in_parts

__all__ = ["check_name", "split_target"]


def split_target(X: Any, y: Any, schema: KnownRoles | None) -> tuple[Any, Any]:
    """Separate the target from a table in memory if `y` is the name of a column.

    Parameters
    ----------
    X : DataFrame or array-like
        The table, from any supported library such as polars or Arrow; no value is read.
    y : object
        Name of a column of `X`, or the target itself.
    schema : Schema or None
        Schema whose feature, ID and person columns cannot be the target; None if there is no
        schema.

    Returns
    -------
    X, y
        If `y` is a name and the table is in memory, the table without the target column, and that
        column. Otherwise, both arguments unchanged.

    Raises
    ------
    TypeError
        If `y` is a name, but `X` has no column names.
    ValueError
        If the table does not have exactly one column named `y`, or if the schema names that column
        as a feature, an ID or the person column.
    """
    if not isinstance(y, str) or kind_in_parts(X):
        return X, y
    table = as_table(X)
    if not isinstance(table, pd.DataFrame):
        raise TypeError(
            f"y={y!r} names a column, and X is an array without column names; pass a DataFrame, "
            "or one target per row of X."
        )
    names = [str(name) for name in table.columns]
    check_name(y, names, schema if hasattr(schema, "features") else None)
    place = names.index(y)
    kept = [index for index in range(len(names)) if index != place]
    return table.iloc[:, kept], table.iloc[:, place]


def check_name(y: Any, names: list[str], schema: KnownRoles | None) -> None:
    """Check that `y` names exactly one column, and that it can be the target."""
    if not isinstance(y, str):
        raise TypeError(
            f"y is a {type(y).__name__}; for a table read in chunks, pass the name of the target "
            "column."
        )
    if schema is not None and y in schema.features:
        raise ValueError(f"y={y!r} is a feature of the schema; name the column of the target.")
    if schema is not None and y in (*schema.id, schema.person):
        raise ValueError(
            f"y={y!r} identifies records or persons, as the schema says; name the column of the "
            "target."
        )
    if names.count(y) != 1:
        meant = None if y in names else closest_name(y, names)
        hint = "" if meant is None else f" Did you mean {meant!r}?"
        raise ValueError(
            f"y={y!r} is not the name of one column of the table; it has "
            f"{', '.join(map(repr, names[:20]))}{' and others' if len(names) > 20 else ''}.{hint}"
        )
