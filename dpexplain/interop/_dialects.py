"""SQL dialects: expressions that read cells as numbers, strings and days."""

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
_DAY: Final = "[0-9]{4}-(0[1-9]|1[0-2])-[0-9]{2}([T ][0-9]{2}:[0-9]{2}.*)?"
_SPACES: Final = r"E'\t\n\f\r ' || CHR(160)"


class Dialect(NamedTuple):
    """SQL expressions of one database.

    Parameters
    ----------
    number : callable
        Function of two expressions, for a cell and for the same cell as text. It returns an
        expression for the cell as a double, which is NULL if the cell is not a number.
    day : callable
        Function of the same two expressions. It returns an expression for the cell as days since
        1970-01-01, which is NULL if the cell is not a date.
    text_type : str
        Name of the SQL type for text.
    spaces : str
        Expression for the characters that are removed from both ends of a string.
    smallest, largest : str
        Functions that return the smallest and the largest of several numbers.
    type_of : str
        Function that returns the name of the type of a cell.
    escapes : bool
        Whether the database has a setting in which a backslash escapes the next character.
    """

    number: Callable[[str, str], str]
    day: Callable[[str, str], str]
    text_type: str
    spaces: str
    smallest: str
    largest: str
    type_of: str = "TYPEOF"
    escapes: bool = False

    def read_text(self, cell: str) -> str:
        """Return an expression that reads a cell as text and trims spaces at both ends."""
        return f"TRIM(CAST({cell} AS {self.text_type}), {self.spaces})"

    def read_number(self, cell: str, decimal: str = ".") -> str:
        """Return an expression that reads a cell as a number, and ``true`` as 1."""
        text = self.read_text(cell)
        number = self.number(cell, text)
        if decimal == ",":  # a string with a point is not a number: it may separate thousands
            spelled = f"REPLACE(REPLACE({text}, '.', 'x'), ',', '.')"
            kind = f"LOWER(CAST({self.type_of}({cell}) AS {self.text_type}))"
            texts = "('text', 'varchar', 'character varying')"
            read = self.number(spelled, spelled)
            number = f"CASE WHEN {kind} IN {texts} THEN {read} ELSE {number} END"
        words = " ".join(f"WHEN '{word}' THEN {literal(x)}" for word, x in _WORDS.items())
        return f"CASE LOWER({text}) {words} ELSE {number} END"

    def read_day(self, cell: str) -> str:
        """Return an expression that reads a cell as a number of days since 1970-01-01."""
        return self.day(cell, self.read_text(cell))

    def quoted_text(self, text: str) -> str:
        """Return a string as an SQL literal."""
        quoted = "'" + text.replace("'", "''") + "'"
        # This literal has the same meaning under both settings.
        return "E" + quoted.replace("\\", "\\\\") if self.escapes and "\\" in text else quoted

    def clamped(self, score: str) -> str:
        """Return an expression that clips a score, so its exponential cannot overflow."""
        return f"{self.smallest}({self.largest}({score}, -7e2), 7e2)"


def literal(number: float) -> str:
    """Return a double as an SQL literal.

    The literal has an exponent, because databases read a number without one as a decimal.
    """
    if not math.isfinite(number):
        raise ValueError(f"{number} has no literal in SQL.")
    text = repr(float(number))
    return text if "e" in text else f"{text}e0"


def quoted(name: str) -> str:
    """Quote the name of a column or table."""
    return '"' + name.replace('"', '""') + '"'


def _duckdb_number(cell: str, text: str) -> str:
    number = f"COALESCE(TRY_CAST({cell} AS DOUBLE), TRY_CAST({text} AS DOUBLE))"
    # The cast of DuckDB reads 1_0 as 10.
    return f"CASE WHEN NOT CONTAINS({text}, '_') THEN NULLIF({number}, CAST('NaN' AS DOUBLE)) END"


def _duckdb_day(cell: str, text: str) -> str:
    day = f"TRY_CAST(SUBSTR({text}, 1, 10) AS DATE)"
    return (
        f"CASE WHEN REGEXP_FULL_MATCH({text}, '{_DAY}', 's') AND {text} NOT LIKE '0000%' "
        f"THEN DATE_DIFF('day', DATE '1970-01-01', {day}) END"
    )


def _sqlite_number(cell: str, text: str) -> str:
    # The comparison is true only if the string is a number.
    return (
        f"CASE WHEN TYPEOF({cell}) IN ('integer', 'real') THEN CAST({cell} AS REAL) "
        f"WHEN TYPEOF({cell}) = 'text' AND {text} = CAST({text} AS REAL) "
        f"THEN CAST({text} AS REAL) END"
    )


def _sqlite_day(cell: str, text: str) -> str:
    day, time = f"SUBSTR({text}, 1, 10)", f"SUBSTR({text}, 11)"
    # Without '+0 days', DATE returns 30 February unchanged, and JULIANDAY reads it as March.
    return (
        f"CASE WHEN TYPEOF({cell}) = 'text' AND DATE({day}, '+0 days') = {day} AND "
        f"{text} NOT LIKE '0000%' AND ({time} = '' OR {time} GLOB '[T ][0-9][0-9]:[0-9][0-9]*') "
        f"THEN JULIANDAY({day}) - 2440587.5 END"
    )


def _postgresql_number(cell: str, text: str) -> str:
    pattern = "^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)(e[-+]?0*[0-9]{1,4})?$"
    # A cast to double raises an error for numbers such as 1e400 and 1e-400.
    number = f"LEAST(GREATEST(ROUND(CAST({text} AS NUMERIC), 330), -1e308), 1e308)"
    return f"CASE WHEN {text} ~* '{pattern}' THEN CAST({number} AS DOUBLE PRECISION) END"


def _postgresql_day(cell: str, text: str) -> str:
    month = f"SUBSTR({text}, 1, 7)"
    day = f"CAST({month} || '-01' AS DATE) + CAST(SUBSTR({text}, 9, 2) AS INTEGER) - 1"
    # A cast of 30 February raises an error, so days are added to the first day of the month.
    found = f"CASE WHEN TO_CHAR({day}, 'YYYY-MM') = {month} THEN {day} - DATE '1970-01-01' END"
    return f"CASE WHEN {text} ~ '^{_DAY}$' AND {text} NOT LIKE '0000%' THEN {found} END"


DIALECTS: Final = {
    "duckdb": Dialect(_duckdb_number, _duckdb_day, "VARCHAR", _SPACES, "LEAST", "GREATEST"),
    "sqlite": Dialect(
        _sqlite_number, _sqlite_day, "TEXT", "CHAR(9, 10, 12, 13, 32, 160)", "MIN", "MAX"
    ),
    "postgresql": Dialect(
        _postgresql_number,
        _postgresql_day,
        "TEXT",
        _SPACES,
        "LEAST",
        "GREATEST",
        type_of="PG_TYPEOF",
        escapes=True,
    ),
}
