"""Claims about single rows of printed tables: is every number of the row met here?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pandas as pd

from claims import Claim, NotMeasuredError, Tables, of_all

NO_FILE = "public, but not in any package that we found; measured if its file is present"


@dataclass(frozen=True)
class Number:
    """A number of a printed row next to ours.

    Attributes
    ----------
    name : str
        What it is, such as a model.
    ours, printed : str
    near : bool
        Whether they agree.
    """

    name: str
    ours: str
    printed: str
    near: bool


Numbers = Callable[[Tables], Iterable[Number]]


def printed_row(
    paper: str,
    place: str,
    row: str,
    claim: str,
    numbers: Numbers,
    differs: str | Callable[[Tables], str] = "",
) -> Claim:
    """Return a claim that holds if all numbers of a row agree, in part if half of them do.

    Parameters
    ----------
    paper, place, row, claim, differs
        As in `Claim`.
    numbers : callable
        Takes the tables; returns the numbers of the row.
    """

    def words(tables: Tables) -> str:
        parts = (
            f"{n.name} {n.ours} (printed {n.printed}){'' if n.near else ', differs'}"
            for n in numbers(tables)
        )
        return "; ".join(parts)

    return Claim(
        paper, place, claim, words, lambda t: of_all(n.near for n in numbers(t)), differs, row
    )


def beside(rows: pd.DataFrame, what: str) -> list[Number]:
    """Return a number per row of a table that has published figures.

    A number agrees within two published deviations and a factor of two, or, if no deviation is
    printed, within a factor of two.

    Parameters
    ----------
    rows : DataFrame
        Rows as `results.tidy` writes them.
    what : str
        The column that names a number.
    """
    rows = rows[rows["published"].notna()]
    if rows.empty:
        raise NotMeasuredError("such row")
    return [
        Number(
            row[what],
            short(row["mean"]),
            as_printed(row["published"])
            + ("" if pd.isna(row["published_sd"]) else f" ± {as_printed(row['published_sd'])}"),
            bool(0.5 <= row["ratio"] <= 2.0)
            and (pd.isna(row["published_sd"]) or bool(abs(row["in_sd"]) <= 2.0)),
        )
        for row in rows.to_dict("records")
    ]


def as_printed(value: float) -> str:
    """Return a published number with all digits that the tables keep."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.6g}"


def short(value: float) -> str:
    """Return a number with four significant digits, or all digits before the point."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
