"""SQL dialects: expressions that read cells as numbers, strings and days."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NamedTuple

_WORDS: Final = {
    "true": 1.0,
    "false": 0.0,
    **dict.fromkeys(("inf", "+inf", "infinity", "+infinity"), math.inf),
    **dict.fromkeys(("-inf", "-infinity"), -math.inf),
}
_DAY: Final = "[0-9]{4}-(0[1-9]|1[0-2])-[0-9]{2}([T ][0-9]{2}:[0-9]{2}.*)?"
_INFINITY: Final = "CAST('Infinity' AS DOUBLE PRECISION)"
_BLANKS: Final = (*range(9, 14), *range(28, 33), 160)  # code points of ASCII blanks and U+00A0
_SPACES: Final = " || ".join(f"CHR({code})" for code in _BLANKS)


class Dialect(NamedTuple):
    """SQL expressions for one database.

    Parameters
    ----------
    text : callable
        Takes an expression for a cell. Returns an expression for the cell as text.
    is_number : callable
        Takes an expression for a cell. Returns a condition that is true if the database stores the
        cell as a number, not as text.
    number : callable
        Takes an expression for a cell, and the result of `read_text` for this cell. Returns an
        expression for the cell as a double, which is NULL if the cell is not a number.
    day : callable
        Takes the result of `read_text` for a cell. Returns an expression for the cell as days since
        1970-01-01, which is NULL if the cell is not a date.
    spaces : str
        Expression for the characters that are removed from both ends of a string.
    infinity : str
        Expression for an infinite double.
    smallest, largest : str
        Functions that return the smallest and the largest of several numbers.
    type_of : str
        Function that returns the name of the type of a cell.
    escapes : bool
        Whether the database has a setting that makes a backslash escape the next character.
    """

    text: Callable[[str], str]
    is_number: Callable[[str], str]
    number: Callable[[str, str], str]
    day: Callable[[str], str]
    spaces: str = _SPACES
    infinity: str = _INFINITY
    smallest: str = "LEAST"
    largest: str = "GREATEST"
    type_of: str = "TYPEOF"
    escapes: bool = False

    def read_text(self, cell: str, decimal: str = ".") -> str:
        """Return an expression that reads a cell as text and trims spaces at both ends.

        If `decimal` is a comma, decimal commas are replaced by points, so that numbers can be read.
        A cell that contains bytes is read as a single space, which is not the name of any category.
        """
        text = f"TRIM({self.text(cell)}, {self.spaces})"
        kind = f"LOWER(CAST({self.type_of}({cell}) AS TEXT))"
        whens = f"WHEN {kind} IN ('blob', 'bytea') THEN ' '"
        if decimal == ",":  # a string with a point is not a number: it may separate thousands
            spelled = f"REPLACE(REPLACE({text}, '.', 'x'), ',', '.')"
            whens += f" WHEN NOT {self.is_number(cell)} THEN {spelled}"
        return f"CASE {whens} ELSE {text} END"

    def read_number(self, cell: str, text: str) -> str:
        """Return an expression that reads a cell as a number.

        It reads ``true`` as 1, ``false`` as 0, and words for infinity, such as ``inf``, as infinite
        numbers.
        """
        words = " ".join(f"WHEN '{word}' THEN {self.double(x)}" for word, x in _WORDS.items())
        return f"CASE LOWER({text}) {words} ELSE {self.number(cell, text)} END"

    def double(self, number: float) -> str:
        """Return an expression for a double, which may be infinite."""
        if math.isinf(number):
            return self.infinity if number > 0 else f"-{self.infinity}"
        return literal(number)

    def quoted_text(self, text: str) -> str:
        """Return a string as an SQL literal."""
        quoted = "'" + text.replace("'", "''") + "'"
        # This literal has the same meaning under both settings.
        return "E" + quoted.replace("\\", "\\\\") if self.escapes and "\\" in text else quoted

    def clamped(self, score: str) -> str:
        """Return an expression that clips a score so that its exponential is finite."""
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


def _cast_to_text(cell: str) -> str:
    return f"CAST({cell} AS TEXT)"


def _duckdb_is_number(cell: str) -> str:
    return f"REGEXP_MATCHES(TYPEOF({cell}), '^([A-Z]*INT(EGER)?|DECIMAL.*|FLOAT|DOUBLE)$')"


def _duckdb_number(cell: str, text: str) -> str:
    # The cast of DuckDB reads 1_0 as 10 and +-5 as -5.
    number = (
        f"CASE WHEN {_duckdb_is_number(cell)} THEN TRY_CAST({cell} AS DOUBLE) "
        f"WHEN NOT REGEXP_MATCHES({text}, '_|[+]-') THEN TRY_CAST({text} AS DOUBLE) END"
    )
    return f"NULLIF({number}, CAST('NaN' AS DOUBLE))"


def _duckdb_day(text: str) -> str:
    day = f"TRY_CAST(SUBSTR({text}, 1, 10) AS DATE)"
    return (
        f"CASE WHEN REGEXP_FULL_MATCH({text}, '{_DAY}', 's') AND {text} NOT LIKE '0000%' "
        f"THEN DATE_DIFF('day', DATE '1970-01-01', {day}) END"
    )


def _sqlite_is_number(cell: str) -> str:
    return f"TYPEOF({cell}) IN ('integer', 'real')"


def _sqlite_number(cell: str, text: str) -> str:
    # Strings equal their casts only if they are numbers. An integer is compared as a double only
    # if it has an exponent; otherwise, 9007199254740993 would not equal its cast.
    return (
        f"CASE WHEN {_sqlite_is_number(cell)} THEN CAST({cell} AS REAL) "
        f"WHEN {text} = CAST({text} AS REAL) OR {text} || 'e0' = CAST({text} AS REAL) "
        f"THEN CAST({text} AS REAL) END"
    )


def _sqlite_day(text: str) -> str:
    day, time = f"SUBSTR({text}, 1, 10)", f"SUBSTR({text}, 11)"
    # Without '+0 days', DATE returns 30 February unchanged, and JULIANDAY reads it as March.
    return (
        f"CASE WHEN DATE({day}, '+0 days') = {day} AND {text} NOT LIKE '0000%' "
        f"AND ({time} = '' OR {time} GLOB '[T ][0-9][0-9]:[0-9][0-9]*') "
        f"THEN JULIANDAY({day}) - 2440587.5 END"
    )


def _postgresql_text(cell: str) -> str:
    # Unlike a cast to text, JSON has dates in ISO format for every DateStyle.
    text = f"(TO_JSONB({cell}) #>> '{{}}')"
    kind = f"CAST(PG_TYPEOF({cell}) AS TEXT)"
    return f"CASE WHEN {kind} LIKE 'timestamp%' THEN REPLACE({text}, 'T', ' ') ELSE {text} END"


def _postgresql_is_number(cell: str) -> str:
    return f"(JSONB_TYPEOF(TO_JSONB({cell})) = 'number')"  # also for domains


def _postgresql_number(cell: str, text: str) -> str:
    # NUMERIC has at most 131072 digits before the point and 16383 after it.
    pattern = "^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)(e[-+]?[0-9]+)?$"
    short = f"REGEXP_REPLACE({text}, 'e([-+]?)0*[1-9][0-9]{{4,}}$', E'e\\\\19999', 'i')"
    number = f"CAST({short} AS NUMERIC)"
    # A cast to double raises an error if a number is beyond the doubles or rounds to zero.
    double = (
        f"CASE WHEN ABS({number}) < 2.4703282292062328e-324 THEN 0e0 "
        f"WHEN ABS({number}) < 1.7976931348623158079e308 THEN CAST({number} AS DOUBLE PRECISION) "
        f"ELSE SIGN({number}) * {_INFINITY} END"
    )
    return f"CASE WHEN LENGTH({text}) <= 5000 AND {text} ~* '{pattern}' THEN {double} END"


def _postgresql_day(text: str) -> str:
    month = f"SUBSTR({text}, 1, 7)"
    day = f"CAST({month} || '-01' AS DATE) + CAST(SUBSTR({text}, 9, 2) AS INTEGER) - 1"
    # A cast of 30 February raises an error, so days are added to the first day of the month.
    found = f"CASE WHEN TO_CHAR({day}, 'YYYY-MM') = {month} THEN {day} - DATE '1970-01-01' END"
    return f"CASE WHEN {text} ~ '^{_DAY}$' AND {text} NOT LIKE '0000%' THEN {found} END"


DIALECTS: Final = {
    "duckdb": Dialect(_cast_to_text, _duckdb_is_number, _duckdb_number, _duckdb_day),
    "sqlite": Dialect(
        _cast_to_text,
        _sqlite_is_number,
        _sqlite_number,
        _sqlite_day,
        spaces=f"CHAR({', '.join(map(str, _BLANKS))})",
        infinity="9e999",
        smallest="MIN",
        largest="MAX",
    ),
    "postgresql": Dialect(
        _postgresql_text,
        _postgresql_is_number,
        _postgresql_number,
        _postgresql_day,
        type_of="PG_TYPEOF",
        escapes=True,
    ),
}
