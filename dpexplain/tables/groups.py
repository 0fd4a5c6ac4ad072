"""Person IDs of table rows, given as a column of the table or as separate values."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

from dpexplain._utils.lazy import pd
from dpexplain.exceptions import PrivacyWarning
from dpexplain.tables.columns import as_table, kind_in_parts

__all__ = ["Grouping", "grouping_of", "groups_or_declared", "warn_of_persons", "without_groups"]


@dataclass(frozen=True, eq=False)
class Grouping:
    """Person IDs of the rows of a table.

    Parameters
    ----------
    cells : array-like of shape (n_samples,)
        Person ID of each row. These IDs must be protected in the same way as the table.
    kind : str or None, default=None
        Public name of the grouping, if one was given.
    """

    cells: Any = field(repr=False)
    kind: str | None = None

    @property
    def argument(self) -> Any:
        """Value to pass as the argument ``groups`` of ``fit`` for this grouping.

        Returns
        -------
        array-like or tuple
            The person IDs, or a pair of the name and the person IDs if the grouping has a name.
        """
        return self.cells if self.kind is None else (self.kind, self.cells)


def grouping_of(groups: Any, X: Any, schema: Any = None) -> Grouping:
    """Parse the argument ``groups`` without reading values.

    The grouping has a name only if `groups` is a column name or contains a name. The name of a
    Series is ignored: pandas keeps it when, for instance, patients are mapped to hospitals, and two
    groupings with the same name would be treated as one.

    Parameters
    ----------
    groups : str, (str, array-like) or array-like
        Name of a column of `X`, a pair of a name and the person IDs, or the person IDs alone.
    X : DataFrame or array-like
        The table.
    schema : Schema or None, default=None
        Schema that may name a person column; errors refer to it.

    Returns
    -------
    Grouping

    Raises
    ------
    ValueError
        If `groups` is a column name, and `X` is not a table in memory with exactly one column of
        that name.
    """
    if isinstance(groups, str):
        return Grouping(_column(groups, X, getattr(schema, "person", None)), groups)
    name = _name_of(groups)
    return Grouping(groups) if name is None else Grouping(groups[1], name)


def groups_or_declared(groups: Any, max_rows_per_person: int | None, schema: Any) -> Any:
    """Return `groups` or, if needed, the name of the schema's person column.

    Parameters
    ----------
    groups : object
        Argument passed to ``fit``.
    max_rows_per_person : int or None
        Argument of the estimator. None means that individual records are protected, so no groups
        are needed.
    schema : Schema or None
        Schema that may name a person column.

    Returns
    -------
    object
        `groups` if it is not None, otherwise the name of the person column of the schema. The
        result is None if no groups are needed, or if the schema has no person column.

    Raises
    ------
    ValueError
        If `groups` has another name than the person column of the schema.
    """
    person = getattr(schema, "person", None)
    if groups is None:
        return None if max_rows_per_person is None else person
    name = _name_of(groups)
    if name is not None and person not in (None, name):
        raise ValueError(
            f"groups={name!r}, but the schema names {person!r} as the person column; omit groups=, "
            "or correct the schema."
        )
    return groups


def without_groups(X: Any, groups: Any) -> Any:
    """Drop the person column, which is not a feature.

    Parameters
    ----------
    X : DataFrame or array-like
        The table.
    groups : object
        Argument passed to ``fit``.

    Returns
    -------
    DataFrame or array-like
        `X` without the column that `groups` names; `X` itself if `groups` names no column of `X`,
        or if `X` is read in chunks.
    """
    if not isinstance(groups, str) or kind_in_parts(X):
        return X
    table = as_table(X)
    if not isinstance(table, pd.DataFrame) or groups not in table.columns:
        return X
    return table.drop(columns=groups)


def _name_of(groups: Any) -> str | None:
    """Return the name in the argument ``groups``, or None if there is none."""
    if isinstance(groups, str):
        return groups
    named = isinstance(groups, tuple) and len(groups) == 2 and isinstance(groups[0], str)
    if named and not isinstance(groups[1], str | bytes) and hasattr(groups[1], "__len__"):
        return str(groups[0])
    return None


def _column(name: str, X: Any, person: str | None) -> Any:
    table = None if kind_in_parts(X) else as_table(X)
    found = 0 if not isinstance(table, pd.DataFrame) else list(table.columns).count(name)
    if table is None or found != 1:
        which = "none" if found == 0 else "several"
        given = f"groups={name!r} names a column of X"
        remedy = "pass the person IDs, with a name for them: groups=(name, array)."
        if name == person:
            given = f"the schema names {name!r} as the person column of X"
            remedy = (
                "include the column once, pass the person IDs with that name: "
                f"groups=({name!r}, array), or correct the schema."
            )
        raise ValueError(f"{given}, which has {which} of that name; {remedy}")
    return table[name]


def warn_of_persons(schema: Any, max_rows_per_person: int | None, stacklevel: int) -> None:
    """Warn if a fit protects only rows although the schema names a person column.

    Parameters
    ----------
    schema : Schema or None
    max_rows_per_person : int or None
    stacklevel : int
        Level of the caller to which the warning refers, as in :func:`warnings.warn`.
    """
    person = getattr(schema, "person", None)
    if person is not None and max_rows_per_person is None:
        warnings.warn(
            f"the schema says that the column {person!r} names persons, but this fit protects "
            "single rows; set max_rows_per_person=, or --max-rows-per-person in a shell (1 if "
            "everybody has one row).",
            PrivacyWarning,
            stacklevel=stacklevel + 1,
        )
