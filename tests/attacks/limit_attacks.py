"""Attacks on schemas with extreme bounds: subnormal, huge or one float apart."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from attack_kit import (
    Attack,
    Finding,
    estimator,
    first_find,
    is_regressor,
    released_wrongly,
    replayed,
    takes_samples,
)
from dpexplain import Categorical, Numeric, PrivacyLedger
from dpexplain.audit import record
from dpexplain.audit.records import without

_STEEP = {
    "more values than cells": Numeric(0, 1e9, step=1),
    "a step finer than floats": Numeric(0, 1, step=1e-300),
    "bounds one float apart": Numeric(1.0, np.nextafter(1.0, 2.0)),
    "a step that does not divide the range": Numeric(0, 1, step=0.3),
    "far from zero": Numeric(1e15, 1e15 + 4, step=1),
    "both ends huge": Numeric(-8e307, 8e307),
    "the smallest number": Numeric(0, 5e-324),
    "subnormal": Numeric(0, 1e-310),
    "tiny and negative": Numeric(-1e-300, 0),
}
_CELLS = (math.nan, math.inf, -math.inf, -0.0, 0.0, None, "x", 2**80)
_MANY = Categorical([f"c{k}" for k in range(300)])

# Ways of a locally linear model to make features of its inputs, and pictures of four numbers.
_GRID = {"grid_shape": (2, 2), "n_filters": 3}
_WAYS: tuple[dict[str, Any], ...] = (
    {},
    {"preset": "paper"},
    {"projection": "shared", "n_basis": 3},
    {"projection": "per_filter", "n_basis": 2, "n_filters": 2},
    _GRID,
    {**_GRID, "projection": "per_filter", "n_basis": 1},
)


def steep_schema(name: str) -> Finding:
    """Use features at the limits: does a record move more than its stated sensitivity?

    Some bounds leave a model no numbers to work with: it may refuse them, but from the schema alone
    and before anything is charged.
    """

    def attempts() -> Iterator[Finding]:
        for feature in _STEEP.values():
            low, high = feature.low, feature.high
            inside = [low, high, low / 2 + high / 2, math.nextafter(high, low)]
            for way in _WAYS if takes_samples(name) else ({},):
                yield _with_feature(name, feature, [*(inside * 4)[:14], *_CELLS], way)
        cells = [f"c{k}" for k in range(250, 300)] + ["?", None]
        yield _with_feature(name, _MANY, cells, {})

    return first_find(attempts())


def _with_feature(name: str, feature: Any, cells: list[Any], way: dict[str, Any]) -> Finding:
    n_columns = 4 if "grid_shape" in way else 1
    columns = [cells[k:] + cells[:k] for k in range(n_columns)]
    X = pd.DataFrame({f"steep{k}": pd.Series(c, dtype=object) for k, c in enumerate(columns)})
    y = pd.Series([3.0 if is_regressor(name) else "yes"] * len(cells))
    fitted = estimator(name, features=dict.fromkeys(X, feature), **way)
    if refused(fitted, X, y):
        return Finding(False, "refused before the charge")
    drawn = record(fitted, X, y)
    return first_find(
        replayed(fitted, (X, y), without((X, y), row), extreme_seed=row, drawn=drawn)
        for row in (0, 1, 3, len(cells) - 1)
    )


def refused(fitted: Any, X: pd.DataFrame, y: pd.Series) -> bool:
    """Whether a fit is refused; if so, check that it is without records too, uncharged."""
    try:
        fitted.planned_events(X)
    except ValueError:
        ledger = PrivacyLedger("limits")
        with pytest.raises(ValueError, match=r"."):
            fitted.set_params(ledger=ledger).fit(X[:0], y[:0])
        assert ledger.entries == ()
        return True
    return False


def counted_in_two_cells(patch: pytest.MonkeyPatch) -> None:
    """Count a record at the upper bound of its feature in each of the last two cells."""

    def mistake(X: Any, y: Any, phase: Any, query: Any) -> Any:
        if "steep0" not in X:
            return query
        n_at_the_end = int((X["steep0"] == X["steep0"].iloc[1]).sum())
        wrong = query.copy()
        wrong[-3:] += 2 * math.ceil(phase.sensitivity_int) * n_at_the_end
        return wrong

    released_wrongly(patch, mistake)


ATTACKS = [
    Attack(
        "a schema at the limits of arithmetic counts a record twice",
        steep_schema,
        counted_in_two_cells,
        "a record at the upper end counts in more than one cell",
    ),
]
