"""Report on cells that do not fit a schema, for the data holder only.

A private fit accepts every cell and gives no warning about cells that do not fit, because a warning
would itself release information about the data. Mistakes in the data or the schema must be found
beforehand, using this report.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from html import escape
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpexplain._utils.lazy import pd
from dpexplain.exceptions import SchemaError
from dpexplain.schema import repeats, suspicions
from dpexplain.schema._checks import short
from dpexplain.schema.features import Categorical, Classes, Date, Numeric, Range, Target
from dpexplain.schema.suspicions import Found
from dpexplain.tables.cells import UNREADABLE, cell_text, day_text
from dpexplain.tables.columns import (
    Column,
    KnownColumns,
    KnownRoles,
    as_table,
    cells_of,
    columns_in_order,
    kind_in_parts,
    one_column,
    values_of,
)
from dpexplain.tables.encoding import encode_categorical, encode_numeric, read_numbers, texts_of
from dpexplain.tables.spellings import day_reader

_N_EXAMPLES: Final = 3
_LONGEST_EXAMPLE: Final = 30
_COLUMNS: Final = ["column", "problem", "in a private fit", "cells", "share", "examples"]
_WARNING: Final = "NOT PRIVATE — do not publish: counts and values of records"


@dataclass(frozen=True)
class SchemaReport:
    """Report on cells that do not fit a schema, with counts and examples. NOT PRIVATE.

    Parameters
    ----------
    rows : tuple of tuple
        Rows of the table returned by `frame`.
    """

    rows: tuple[tuple[Any, ...], ...]

    @property
    def fits(self) -> bool:
        """True if no problem was found."""
        return not self.rows

    def frame(self) -> pd.DataFrame:
        """Return the findings as a table.

        Returns
        -------
        DataFrame
            One row for each problem in each column: what a private fit does with the affected
            cells, the number of these cells, the proportion of records that have them, and
            examples.
        """
        return pd.DataFrame(list(self.rows), columns=_COLUMNS)

    def __repr__(self) -> str:
        """Say how many findings there are, without quoting cells."""
        problems = "1 problem" if len(self.rows) == 1 else f"{len(self.rows)} problems"
        found = "nothing" if self.fits else f"{problems}, print() or .frame() lists them"
        return f"SchemaReport({found}; NOT PRIVATE)"

    def __str__(self) -> str:
        """Return all findings as text, with counts and examples. NOT PRIVATE."""
        found = "The schema fits every cell." if self.fits else self.frame().to_string(index=False)
        return f"{_WARNING}\n\n{found}"

    def _repr_html_(self) -> str:
        head = f"<p><strong>{_WARNING}</strong></p>"
        if self.fits:
            return f"{head}<p>The schema fits every cell.</p>"
        titles = "".join(f"<th scope='col'>{title}</th>" for title in _COLUMNS)
        body = "".join(f"<tr>{''.join(map(_cell_html, row))}</tr>" for row in self.rows)
        return f"{head}<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def schema_report(
    schema: KnownRoles,
    target: Target | None,
    X: ArrayLike,
    y: ArrayLike | None,
    max_rows_per_person: int | None = None,
) -> SchemaReport:
    """Compare every cell of a table with a schema.

    Parameters
    ----------
    schema : Schema
        The public features.
    target : Range, Classes or None
        The target of the schema.
    X : DataFrame or array of shape (n_samples, n_features)
        The records.
    y : array of shape (n_samples,) or None
        The target; None if only the features are compared.
    max_rows_per_person : int or None, default=None
        Maximum number of rows per person that a fit uses.

    Returns
    -------
    SchemaReport
        Report on the cells that do not fit; it is NOT PRIVATE.

    Raises
    ------
    SchemaError
        If columns are missing, or a target is given but the schema has none.
    TypeError
        If the table is of a type that is read in chunks.
    """
    if kind := kind_in_parts(X):
        raise TypeError(
            f"X is {kind}; a schema is checked against a table in memory, so read it, or some "
            "parts of it, into a DataFrame, and pass the target as a column."
        )
    rows = []
    columns = columns_in_order(X, schema)
    outcome = None if y is None else one_column(y)
    if outcome is not None and target is None:
        raise SchemaError("the schema has no target to check y against; omit y.")
    for (name, feature), column in zip(schema.features.items(), columns, strict=True):
        found = _feature(column, feature) + suspicions.of_feature(name, column, feature)
        if outcome is not None and target is not None:
            found += suspicions.of_copies(column, feature, outcome, target)
        rows += _rows(name, column, found)
    table = as_table(X)
    if isinstance(table, pd.DataFrame):
        if schema.person in table.columns:
            found = repeats.of_persons(table, schema, max_rows_per_person)
            rows += _rows(f"{schema.person} (person)", table[schema.person], found)
        for name, other, found in suspicions.of_other_columns(table, schema, target):
            rows += _rows(name, other, found)
        rows += _rows("all columns", columns[0], repeats.of_rows_again(table, outcome, schema.id))
        rows += _rows("all columns", table.iloc[:, 0], suspicions.of_totals(table, outcome))
    if outcome is not None and target is not None:
        name = f"{target.name or 'target'} (target)"
        found = _target(outcome, target) + suspicions.of_target(outcome, target)
        rows += _rows(name, outcome, found)
    if len(columns[0]) == 0:
        rows.append(("all columns", "the table has no rows", "only noise is released", 0, 0.0, ""))
    rows += _rows("all columns", columns[0], suspicions.of_rows(columns, outcome))
    return SchemaReport(tuple(rows))


def cleaned_table(schema: KnownColumns, X: ArrayLike) -> pd.DataFrame:
    """Apply the cleaning rules of a schema; see :meth:`dpexplain.Schema.clean`.

    Parameters
    ----------
    schema : Schema
        Rules for cleaning the cells.
    X : DataFrame or array of shape (n_samples, n_features)
        The records.

    Returns
    -------
    DataFrame of shape (n_samples, n_features)
        Cleaned table, which must be protected like `X`.
    """
    columns = columns_in_order(X, schema)
    cleaned = {
        name: pd.Series(cells := _cleaned(column, feature), dtype=cells.dtype)
        for (name, feature), column in zip(schema.features.items(), columns, strict=True)
    }
    table = pd.DataFrame(cleaned)
    return table.set_index(X.index) if isinstance(X, pd.DataFrame) else table


def _cleaned(column: Column, feature: Numeric | Categorical) -> NDArray[Any]:
    if isinstance(feature, Categorical):
        codes, names = encode_categorical(column, feature), (*feature.categories, None, None)
        other = codes == len(feature.categories)
        cells = np.array(names, dtype=object)[codes]
        # A cell that has no text counts as "other" too; an empty string would count as missing.
        cells[other] = [text or repr(UNREADABLE) for text in texts_of(column)[other]]
        return cells
    numbers = encode_numeric(column, feature)
    if not isinstance(feature, Date):
        return numbers
    days = [None if np.isnan(day) else day_text(day) for day in numbers]
    return np.array(days, dtype=object)


_LEFT_OUT = "the row is dropped"
_MARKED = "marked as missing"


def _feature(column: Column, feature: Numeric | Categorical) -> Found:
    if isinstance(feature, Date):
        return _days(column, feature)
    if isinstance(feature, Numeric):
        return _numbers(column, feature, "counted as missing", "counted as missing")
    return _categories(column, feature)


def _numbers(column: Column, bounds: Numeric | Range, unread: str, empty: str) -> Found:
    numbers, lacks, marked = _read(column, bounds)
    dates = np.array([_is_date(cell) for cell in cells_of(values_of(column))], dtype=bool)
    no_number = np.isnan(numbers) & ~lacks & ~marked
    return [
        ("empty", empty, lacks),
        (_MARKED, empty, marked),
        ("a date where a number is expected", unread, no_number & dates),
        ("no number", unread, no_number & ~dates),
        (f"below {short(bounds.low)}", f"counted as {short(bounds.low)}", numbers < bounds.low),
        (f"above {short(bounds.high)}", f"counted as {short(bounds.high)}", numbers > bounds.high),
    ]


def _days(column: Column, bounds: Date) -> Found:
    days, lacks, marked = _read(column, bounds)
    low, high = day_text(bounds.low), day_text(bounds.high)
    no_date = np.isnan(days) & ~lacks & ~marked
    read = day_reader(["excel"], bounds.days[1].year)
    serials = np.array([read(cell) for cell in cells_of(values_of(column))], dtype=np.float64)
    serial = no_date & (serials >= bounds.low) & (serials <= bounds.high)
    return [
        ("empty", "counted as missing", lacks),
        (_MARKED, "counted as missing", marked),
        ("no date", "counted as missing", no_date & ~serial),
        ('no date, but one with format "excel"', "counted as missing", serial),
        (f"before {low}", f"counted as {low}", days < bounds.low),
        (f"after {high}", f"counted as {high}", days > bounds.high),
    ]


def _read(
    column: Column, part: Numeric | Range
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the numbers, a mask of the empty cells, and a mask of the markers."""
    texts = texts_of(column)
    lacks = np.array([text is None for text in texts], dtype=bool)
    numbers = read_numbers(column, part)
    known = read_numbers(column, part, keep_markers=True) if part.missing else numbers
    words = {cell_text(marker) for marker in part.missing} - {None}
    marked = np.array([text in words for text in texts], dtype=bool)
    return numbers, lacks, (marked | (np.isnan(numbers) & ~np.isnan(known))) & ~lacks


def _is_date(cell: object) -> bool:
    return isinstance(cell, date | np.datetime64 | np.timedelta64 | pd.Timedelta)


def _categories(column: Column, feature: Categorical) -> Found:
    codes = encode_categorical(column, feature)
    n_categories, marked = len(feature.categories), _is_marked(column, feature)
    return [
        ("not in the list of categories", 'counted as "other"', codes == n_categories),
        ("empty", "counted as missing", (codes == n_categories + 1) & ~marked),
        (_MARKED, "counted as missing", marked),
    ]


def _is_marked(column: Column, listed: Categorical | Classes) -> NDArray[np.bool_]:
    words = {cell_text(marker) for marker in listed.missing} - {None}
    return np.array([text in words for text in texts_of(column)], dtype=bool)


def _target(column: Column, target: Range | Classes) -> Found:
    if isinstance(target, Range):
        return _numbers(column, target, _LEFT_OUT, _LEFT_OUT)
    listed = Categorical(target.names, aliases=target.aliases, missing=target.missing)
    codes = encode_categorical(column, listed)
    n_classes, marked = len(target.names), _is_marked(column, target)
    return [
        ("not in the list of classes", _LEFT_OUT, codes == n_classes),
        ("empty", _LEFT_OUT, (codes == n_classes + 1) & ~marked),
        (_MARKED, _LEFT_OUT, marked),
    ]


def _rows(name: str, column: Column, found: Found) -> list[tuple[Any, ...]]:
    cells = cells_of(values_of(column))
    return [
        (name, problem, rule, int(where.sum()), float(where.mean()), _examples(cells, where))
        for problem, rule, where in found
        if where.any()
    ]


def _examples(cells: Any, where: NDArray[np.bool_]) -> str:
    shown: list[str] = []
    for place in np.flatnonzero(where):
        text = _shown(cells[place])
        if text and text not in shown:
            shown.append(text)
        if len(shown) == _N_EXAMPLES:
            break
    return ", ".join(shown)


def _shown(cell: object) -> str:
    text = cell_text(cell)
    if text is None:
        return ""
    try:
        text = repr(cell if isinstance(cell, str) else text or cell)
    except Exception:  # the repr of an object may raise any exception
        return f"<a {type(cell).__name__}>"
    return text if len(text) <= _LONGEST_EXAMPLE else f"{text[: _LONGEST_EXAMPLE - 1]}…"


def _cell_html(value: Any) -> str:
    text = f"{value:.3%}" if isinstance(value, float) else str(value)
    visible = "".join(sign if sign.isprintable() else "\ufffd" for sign in text[:300])
    return f"<td><bdi>{escape(visible, quote=True)}</bdi></td>"
