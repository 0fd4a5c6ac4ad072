"""Held-out rows: the documented draw leaves neighboring tables neighbors, and other splits do not.

A split, a sample or a fold looks at no cell, but the number of rows decides which rows it takes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import AdaBoostRegressor, BaggingRegressor
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from dpexplain import (
    Categorical,
    Classes,
    DPExplainableBoostingClassifier,
    DPLinearRegression,
    Numeric,
    Range,
    Schema,
)
from dpexplain.audit import record, replay
from dpexplain.audit.records import made_up_records

pytestmark = pytest.mark.full

SCHEMA = Schema(
    {"age": Numeric(0, 100), "job": Categorical(["nurse", "smith"])}, target=Classes(["no", "yes"])
)
X, Y = made_up_records(SCHEMA, 600, seed=0)
COINS = np.random.default_rng(0).random(len(X))


def documented(repository: Path, table: pd.DataFrame) -> Any:
    """Hold out rows as the page says; a row has the same draw in all tables that have it."""
    page = (repository / "docs" / "howto" / "real_data.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"`test = ([^`]*default_rng[^`]*)`", page)
    drawn = SimpleNamespace(random=lambda n: COINS[table.index][:n])
    names = {"np": SimpleNamespace(random=SimpleNamespace(default_rng=lambda: drawn)), "X": table}
    return table.index[~eval(line, names)]


def fold(folds: Any) -> Callable[[pd.DataFrame], Any]:
    return lambda table: table.index[list(folds.split(table, Y[table.index]))[-1][0]]


EXCHANGES = {
    "a split with a seed": lambda table: train_test_split(table, random_state=0)[0].index,
    "a sample with a seed": lambda table: table.sample(frac=0.8, random_state=0).index,
    "the first rows": lambda table: table.index[:300],
    "a fold": fold(KFold(5)),
    "a stratified fold": fold(StratifiedKFold(5)),
}


def rows_apart(fitted: Callable[[pd.DataFrame], Any]) -> int:
    """Return in how many rows the fitted parts of neighboring tables differ at most."""
    whole = set(fitted(X))
    return max(len(whole ^ set(fitted(X.drop(index=row)))) for row in (0, 1, 299, 598, 599))


def test_a_draw_for_each_row_moves_no_other_row(repository: Path) -> None:
    assert rows_apart(lambda table: documented(repository, table)) == 1


@pytest.mark.parametrize("way", EXCHANGES)
def test_other_ways_exchange_other_rows(way: str) -> None:
    assert rows_apart(EXCHANGES[way]) > 1


def test_a_fit_to_a_part_costs_more_than_it_states_if_the_part_has_a_seed(
    repository: Path,
) -> None:
    model = DPExplainableBoostingClassifier(epsilon=1.0, schema=SCHEMA, structure_seed=0)
    spent = {}
    for way, fitted in {
        "a draw for each row": lambda table: documented(repository, table),
        "a split with a seed": EXCHANGES["a split with a seed"],
    }.items():
        whole, less = fitted(X), fitted(X.drop(index=599))
        first, transcript = record(model, X.loc[whole], Y[whole])
        spent[way] = replay(model, (X.loc[less], Y[less]), first, transcript).spent_share
    assert spent["a draw for each row"] <= 1.0
    assert spent["a split with a seed"] > 3.0


class Counted(DPLinearRegression):
    """Model that notes how often the most frequent row is in each fit."""

    most: ClassVar[list[int]] = []

    def fit(self, X: Any, y: Any, **options: Any) -> Any:
        self.most.append(np.unique(X[:, 0], return_counts=True)[1].max())
        return super().fit(X, y, **options)


@pytest.mark.parametrize("ensemble", [BaggingRegressor, AdaBoostRegressor])
def test_ensembles_of_scikit_learn_repeat_rows(ensemble: Any) -> None:
    Counted.most.clear()
    schema = Schema({"age": Numeric(0, 600)}, target=Range(0, 1))
    rows = np.arange(600.0)[:, None]
    ensemble(Counted(schema=schema, ledger=f"rows of {ensemble}"), n_estimators=2).fit(rows, COINS)
    assert min(Counted.most) > 1
