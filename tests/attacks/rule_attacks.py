"""Attacks on the cleaning rules of a schema: decimal commas, formats of dates, aliases, markers."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from attack_kit import Attack, Finding, estimator, first_find, replayed, table
from dpexplain import Categorical, Date, Numeric
from dpexplain.tables import encoding, spellings
from leak_attacks import words_of

FEATURES = {
    "age": Numeric(0, 100, decimal=",", missing=["-99", "unknown"]),
    "seen": Date("2000-01-01", "2024-12-31", format=["%d.%m.%Y", "%Y%m%d"], missing="1.1.2000"),
    "job": Categorical(["clerk", "nurse"], aliases={"n": "nurse", 2: "clerk"}, missing=["?"]),
}
_honest_numbers_of = encoding.numbers_of


def _messy(name: str, n: int) -> tuple[pd.DataFrame, pd.Series]:
    """Make records as people type them: some cells follow the rules, some do not."""
    _, y = table(name, n)
    rng = np.random.default_rng(1)
    cells = {
        "age": ["44", "2.5", "60.0", "-99", "7"],
        "seen": ["31.1.2024", "20231231", "2019-05-01", "1.1.2000", "13.13.2013"],
        "job": ["n", "nurse", "2", "?", "smith"],
    }
    columns = {column: rng.choice(texts, n).astype(object) for column, texts in cells.items()}
    return pd.DataFrame(columns), y


# --- one cell changes how others are read -------------------------------------------------------


def rules_of_a_column(name: str) -> Finding:
    """Add one record spelled differently: are all other cells read as before?"""
    X, y = _messy(name, 30)
    odd = {"age": ["1,5", "1.234,5", "x"], "seen": ["1/2/2024", 20240131, "1.1"], "job": ["N", 2.0]}

    def attempts() -> Iterator[Finding]:
        for column, cells in odd.items():
            for cell in cells:
                more = pd.concat([X.iloc[[0]].assign(**{column: [cell]}), X], ignore_index=True)
                labels = pd.concat([y.iloc[[0]], y], ignore_index=True)
                found = replayed(estimator(name, features=FEATURES), (X, y), (more, labels))
                yield Finding(found.broke, f"{cell!r} in {column}: {found.evidence}")

    return first_find(attempts())


def commas_are_looked_for(patch: pytest.MonkeyPatch) -> None:
    def numbers_of(column: Any, of_cell: Any) -> Any:
        commas = any("," in str(cell) for cell in column)
        return _honest_numbers_of(column, of_cell if commas else encoding.cell_number)

    patch.setattr(encoding, "numbers_of", numbers_of)


# --- one cell stops the fit ---------------------------------------------------------------------


class _Text(str):
    """String that raises an error when it is converted to a plain one."""

    __slots__ = ()

    def __str__(self) -> str:
        raise KeyError("looked at")


class _Unknown:
    """Cell that raises an error when asked for its class."""

    @property
    def __class__(self) -> Any:
        raise KeyError("asked")


class _Answer(str, enum.Enum):  # noqa: UP042 (of which str() is the name)
    """Enumeration with string members."""

    YES = "1,5"


def odd_cell_under_rules(name: str) -> Finding:
    """Put one unusual cell in a column with rules: does anything reveal it?"""

    def attempts() -> Iterator[Finding]:
        X, y = _messy(name, 12)
        usual = words_of(lambda: estimator(name, features=FEATURES).fit(X, y))
        for cell in (_Text("1,5"), _Unknown(), _Answer.YES, b"1,5", 10**5000, "9" * 5000):
            for column in FEATURES:
                filled = X[column].to_numpy(dtype=object).copy()
                filled[0] = cell
                odd = X.assign(**{column: pd.Series(filled, dtype=object)})
                heard = words_of(lambda X=odd: estimator(name, features=FEATURES).fit(X, y))
                said = f"{type(cell).__name__} in {column}: {sorted(set(heard) - set(usual))}"
                yield Finding(heard != usual, said[:200])

    return first_find(attempts())


def texts_are_made_plain(patch: pytest.MonkeyPatch) -> None:
    def comma_number(cell: object) -> float:
        if not isinstance(cell, str):
            return encoding.cell_number(cell)
        return np.nan if "." in str(cell) else encoding.cell_number(cell.replace(",", "."))

    patch.setattr(spellings, "comma_number", comma_number)


ATTACKS = [
    Attack(
        "one cell changes how the rules of a schema read others",
        rules_of_a_column,
        commas_are_looked_for,
        "decimal commas are looked for in a column",
        every_model=False,
    ),
    Attack(
        "an unusual cell in a column with rules stops the fit",
        odd_cell_under_rules,
        texts_are_made_plain,
        "the text of a cell is asked for outside of the guard",
        every_model=False,
    ),
]
