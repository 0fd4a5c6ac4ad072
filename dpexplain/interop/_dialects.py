"""How databases read cells as numbers, texts and days, with NULL for unreadable cells."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NamedTuple

_WORDS: Final = {
    "true": 1.0,
    "false": 0.0,
    **dict.fromkeys(("inf", "+inf", "infinity", "+infinity"), 1e308),
    **dict.fromkeys(("-inf", "-infinity"), -1e308),
}
_DAY: Final = "(?!0000)[0-9]{4}-(0[1-9]|1[0-2])-[0-9]{2}([T ][0-9]{2}:[0-9]{2}.*)?"


class Dialect(NamedTuple):
    """SQL expressions of one database.

    Parameters
    ----------
    number : callable
        Returns the expression of a cell as a double, which is NULL if the cell is not a number.
    day : callable
        Returns the expression of a cell as days since 1970-01-01, which is NULL if the cell is not
        a date.
    text_type : str
        Name of the type of texts.
    smallest, largest : str
        Functions that return the smallest and the largest of several numbers.
    type_of : str
        Function that names the type of a cell.
    escapes : bool
        Whether a setting of the database lets a backslash escape the end of a text.
    """

    number: Callable[[str], str]
    day: Callable[[str], str]
    text_type: str
    smallest: str
    largest: str
    type_of: str = "TYPEOF"
    escapes: bool = False

    def read_text(self, cell: str) -> str:
        """Return the expression of a cell as text without leading and trailing spaces."""
        return f"TRIM(CAST({cell} AS {self.text_type}))"

    def read_number(self, cell: str, decimal: str = ".") -> str:
        """Return the expression of a cell as a number, which also reads words such as ``true``."""
        number = self.number(cell)
        if decimal == ",":  # a point could separate thousands, so such a text is no number
            spelled = f"REPLACE(REPLACE({self.read_text(cell)}, '.', 'x'), ',', '.')"
            kind = f"LOWER(CAST({self.type_of}({cell}) AS {self.text_type}))"
            texts = "('text', 'varchar', 'character varying')"
            number = f"CASE WHEN {kind} IN {texts} THEN {self.number(spelled)} ELSE {number} END"
        words = " ".join(f"WHEN '{word}' THEN {literal(x)}" for word, x in _WORDS.items())
        return f"CASE LOWER({self.read_text(cell)}) {words} ELSE {number} END"

    def quoted_text(self, text: str) -> str:
        """Quote a text."""
        quoted = "'" + text.replace("'", "''") + "'"
        # Such a text means the same under either setting.
        return "E" + quoted.replace("\\", "\\\\") if self.escapes and "\\" in text else quoted

    def clamped(self, score: str) -> str:
        """Return the expression of a score, clipped so that its exponential cannot overflow."""
        return f"{self.smallest}({self.largest}({score}, -7e2), 7e2)"


def literal(number: float) -> str:
    """Write a double with an exponent; databases read a number without one as a decimal."""
    if not math.isfinite(number):
        raise ValueError(f"{number} has no literal in SQL.")
    text = repr(float(number))
    return text if "e" in text else f"{text}e0"


def quoted(name: str) -> str:
    """Quote a name."""
    return '"' + name.replace('"', '""') + '"'


def _duckdb_number(cell: str) -> str:
    return f"NULLIF(TRY_CAST({cell} AS DOUBLE), CAST('NaN' AS DOUBLE))"


def _duckdb_day(cell: str) -> str:
    return f"DATE_DIFF('day', DATE '1970-01-01', TRY_CAST({cell} AS DATE))"


def _sqlite_number(cell: str) -> str:
    # A text that is a number equals its value, and no other text equals any number.
    return (
        f"CASE WHEN TYPEOF({cell}) IN ('integer', 'real') OR {cell} = CAST({cell} AS REAL) "
        f"THEN CAST({cell} AS REAL) END"
    )


def _sqlite_day(cell: str) -> str:
    text = f"TRIM({cell})"
    day, time = f"SUBSTR({text}, 1, 10)", f"SUBSTR({text}, 11)"
    # JULIANDAY would take 30 February for a day of March, and numbers for days.
    return (
        f"CASE WHEN TYPEOF({cell}) = 'text' AND DATE({day}) = {day} AND "
        f"({time} = '' OR {time} GLOB '[T ][0-9][0-9]:[0-9][0-9]*') "
        f"THEN JULIANDAY({day}) - 2440587.5 END"
    )


def _postgresql_number(cell: str) -> str:
    text = f"CAST({cell} AS TEXT)"
    pattern = r"^\s*[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)(e[-+]?[0-9]{1,3})?\s*$"
    return f"CASE WHEN {text} ~* '{pattern}' THEN CAST({text} AS DOUBLE PRECISION) END"


def _postgresql_day(cell: str) -> str:
    text = f"BTRIM(CAST({cell} AS TEXT))"
    month = f"SUBSTR({text}, 1, 7)"
    day = f"CAST({month} || '-01' AS DATE) + CAST(SUBSTR({text}, 9, 2) AS INTEGER) - 1"
    # A cast would stop at 30 February, so days are counted from the first one of the month.
    found = f"CASE WHEN TO_CHAR({day}, 'YYYY-MM') = {month} THEN {day} - DATE '1970-01-01' END"
    return f"CASE WHEN {text} ~ '^{_DAY}$' THEN {found} END"


DIALECTS: Final = {
    "duckdb": Dialect(_duckdb_number, _duckdb_day, "VARCHAR", "LEAST", "GREATEST"),
    "sqlite": Dialect(_sqlite_number, _sqlite_day, "TEXT", "MIN", "MAX"),
    "postgresql": Dialect(
        _postgresql_number, _postgresql_day, "TEXT", "LEAST", "GREATEST", "PG_TYPEOF", escapes=True
    ),
}
