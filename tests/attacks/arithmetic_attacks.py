"""Attacks on the arithmetic: where the numbers of a machine are not those of a proof."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partialmethod
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpexplain.models as models
from attack_kit import (
    FEATURES,
    PRIVATE,
    Attack,
    Finding,
    estimator,
    first_find,
    is_regressor,
    replayed,
    saturated,
    table,
    without,
)
from dpexplain import Categorical, Numeric
from dpexplain.audit import record
from dpexplain.mechanisms import NoiseSource
from dpexplain.models.boosting.records._kernels import _BLOCK
from dpexplain.models.private import PrivateEstimator


def _released_wrongly(patch: pytest.MonkeyPatch, mistake: Any) -> None:
    """Plant a mistake into the exact sums of every private estimator.

    ``mistake(X, y, place, query)`` returns the query that is released in place of the right one.
    """

    def fit_released(self: Any, X: Any, y: Any, schema: Any, mechanism: Any, _honest: Any) -> None:
        place = 0

        def release(query: Any) -> Any:
            nonlocal place
            place += 1
            return type(mechanism).release(mechanism, mistake(X, y, place, query))

        mechanism.release = release
        try:
            _honest(self, X, y, schema, mechanism)
        finally:
            del mechanism.release

    for name in PRIVATE:
        owner = getattr(models, name)
        patch.setattr(
            owner, "_fit_released", partialmethod(fit_released, _honest=owner._fit_released)
        )


# --- order and place of the records ------------------------------------------------------------


def row_order(name: str) -> Finding:
    """Shuffle the records: every query has to stay the same, to the last bit."""

    def attempts() -> Iterator[Finding]:
        for seed in range(3):
            X, y = table(name, 500, seed)
            order = np.random.default_rng(seed).permutation(500)
            shuffled = X.iloc[order], y.iloc[order]
            extreme = seed if seed else None
            yield replayed(estimator(name), (X, y), shuffled, allowed=0.0, extreme_seed=extreme)

    return first_find(attempts())


def sums_in_floating_point(patch: pytest.MonkeyPatch) -> None:
    """Add to each sum the rounding error of a float32 sum over the records as they come."""

    def mistake(X: Any, y: Any, place: int, query: Any) -> Any:
        income = pd.to_numeric(X["income"]).to_numpy(dtype=np.float32)
        total = np.float32(0)
        for value in income:
            total += value
        return query + int(float(total) * 2.0**10) - round(math.fsum(income) * 2.0**10)

    _released_wrongly(patch, mistake)


def block_position(name: str) -> Finding:
    """Put one record at the start, body, edge and tail of the blocks of a vector loop.

    What it adds to each sum must be the same in all places: a tail that is computed by other
    instructions would round it differently.
    """
    n = 2 * _BLOCK + 5
    X, y = table(name, n, 3)
    places = (0, 1, 8, _BLOCK - 1, _BLOCK, _BLOCK + 1, 2 * _BLOCK, n - 2, n - 1)

    def moved(place: int) -> tuple[pd.DataFrame, pd.Series]:
        order = [*range(1, place + 1), 0, *range(place + 1, n)]
        return X.iloc[order], y.iloc[order]

    fitted = estimator(name)
    return first_find(
        replayed(fitted, moved(0), moved(place), allowed=0.0, extreme_seed=seed)
        for seed, place in enumerate(places)
    )


def another_tail(patch: pytest.MonkeyPatch) -> None:
    """Round the share of the record in the last place of the table up by one lattice step."""

    def mistake(X: Any, y: Any, place: int, query: Any) -> Any:
        wrong = query.copy()
        wrong[0] += int(pd.to_numeric(X["age"]).iloc[-1])
        return wrong

    _released_wrongly(patch, mistake)


# --- numbers that are none ---------------------------------------------------------------------

_ODD = (math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0, None, "x", "1e999", 2**80)


def odd_numbers(name: str) -> Finding:
    """One record of NaN, infinities and numbers at the ends, under answers that diverge."""

    def attempts() -> Iterator[Finding]:
        for seed, odd in enumerate(_ODD):
            X, y = (part.astype(object) for part in table(name, 25, seed))
            X.iloc[0, :] = [odd] * X.shape[1]
            for answer in (y.iloc[0], odd):
                y.iloc[0] = answer
                for extreme in (None, seed):
                    pair = (X, y), without((X, y), 0)
                    yield replayed(estimator(name), *pair, extreme_seed=extreme)

    return first_find(attempts())


def not_a_number_is_cast(patch: pytest.MonkeyPatch) -> None:
    """A cell that is not a number reaches a cast to integers, and becomes the smallest one."""

    def mistake(X: Any, y: Any, place: int, query: Any) -> Any:
        n_odd = sum(isinstance(v, float) and math.isnan(v) for v in X["age"])
        return query + n_odd * (np.iinfo(np.int64).min // 8)

    _released_wrongly(patch, mistake)


def huge_answers(name: str) -> Finding:
    """Answers near the ends of 64 bits: scores may not run away, nor residuals with them."""

    def attempts() -> Iterator[Finding]:
        for seed in range(6):
            X, y = table(name, 30, seed)
            yield replayed(estimator(name), (X, y), without((X, y), seed), extreme_seed=seed)

    return first_find(attempts())


def residuals_follow_the_answers(patch: pytest.MonkeyPatch) -> None:
    """Sums of residuals fifty times as large, as diverging scores without a clip give them."""

    def mistake(X: Any, y: Any, place: int, query: Any) -> Any:
        return query * (1 if place <= len(FEATURES) else 50)

    _released_wrongly(patch, mistake)


# --- cells that change how others are read -----------------------------------------------------

_SPOILED: dict[str, tuple[str, list[Any], list[Any]]] = {
    "int64 and a text": ("age", [*range(1, 25)], ["x"]),
    "int64 and an empty cell": ("age", [*range(1, 25)], [None]),
    "int64 and a fraction": ("age", [*range(1, 25)], [0.5]),
    "int64 and a huge number": ("age", [*range(1, 25)], [2**70]),
    "float32 and a float64": ("income", list(np.arange(24, dtype=np.float32) / 7), [0.1]),
    "float64 and a truth value": ("income", [k / 7 for k in range(24)], [True]),
    "truth values and a number": ("job", [True, False] * 12, [2]),
    "whole numbers as categories and a fraction": ("job", [1, 2] * 12, [1.5]),
    "whole numbers as categories and a text": ("job", [1, 2] * 12, ["x"]),
    "whole numbers as categories and an empty cell": ("job", [1, 2] * 12, [math.nan]),
    "dates and a text": (
        "job",
        [pd.Timestamp("2020-01-01"), pd.Timestamp("2021-01-01")] * 12,
        ["x"],
    ),
    "texts and bytes": ("job", ["clerk", "nurse"] * 12, [b"clerk"]),
}
_SPOILED_FEATURES = {
    **FEATURES,
    "job": Categorical(["clerk", "nurse", "1", "2", "2020-01-01", "0"]),
}
_DTYPES = ("as it comes", "object", "category", "string", "Int64", "Float64")


def spoiled_column(name: str) -> Finding:
    """Add one record whose cell gives the whole column another type: are others read anew?"""

    def attempts() -> Iterator[Finding]:
        for column, cells, odd in _SPOILED.values():
            for dtype in _DTYPES:
                try:
                    pair = [_column(cells + odd, dtype), _column(cells, dtype)]
                except (ValueError, TypeError, OverflowError):
                    continue  # no table holds such a column
                yield _with_columns(name, column, pair)

    return first_find(attempts())


def _column(cells: list[Any], dtype: str) -> pd.Series:
    found = pd.Series(cells)
    return found if dtype == "as it comes" else found.astype(dtype)


def _with_columns(name: str, column: str, pair: list[pd.Series]) -> Finding:
    data = []
    for cells in pair:
        X, y = table(name, 25)
        X, y = X.iloc[: len(cells)], y.iloc[: len(cells)]
        data.append((X.drop(columns=column).assign(**{column: cells}), y))
    return replayed(estimator(name, features=_SPOILED_FEATURES), *data)


def read_by_dtype(patch: pytest.MonkeyPatch) -> None:
    """Columns of numbers are read as numbers, columns of objects as texts."""
    honest = PrivateEstimator._failure_of_fit

    def careless(self: Any, X: Any, y: Any, groups: Any) -> str:
        spelled = {c: X[c].map(repr) for c in X if X[c].dtype == object}
        return honest(self, X.assign(**spelled), y, groups)

    patch.setattr(PrivateEstimator, "_failure_of_fit", careless)


# --- low bits ----------------------------------------------------------------------------------


def low_bits(name: str) -> Finding:
    """Do the low bits of an answer give those of the exact sum away?

    Noise on a coarser lattice than the sums (as floating-point noise is, where it is wide) leaves
    the low bits of a sum as they are. Each of some hundred answers agrees with its sum in the
    lowest eight bits with chance 1 / 256, so that a tenth of them do so with chance < 1e-20.
    """
    answers, sums = [], []
    for backend in ("opendp", "rounded"):
        for epsilon in (1.0, 1e-4):
            fitted = estimator(name, epsilon=epsilon, noise_backend=backend)
            _, transcript = record(fitted, *table(name, 50))
            answers += transcript.answers
            sums += transcript.queries
    difference = np.concatenate(answers) - np.concatenate(sums)
    share = float(np.mean(difference % 256 == 0))
    return Finding(share > 0.1, f"low bits of {share:.2%} of {len(difference)} sums show")


def coarse_noise(patch: pytest.MonkeyPatch) -> None:
    """Noise whose last ten bits are zero, as that of single-precision floats would be."""
    honest = NoiseSource.draw_int
    patch.setattr(NoiseSource, "draw_int", lambda self, *a, **k: honest(self, *a, **k) >> 10 << 10)


# --- sums at the ends of the integers ----------------------------------------------------------


def partial_sums(name: str) -> Finding:
    """Equal saturated records about the size of a block: does a partial sum overflow?

    2048 records of 2**20 steps fill 31 bits: one record more would turn the sum around.
    """

    def attempts() -> Iterator[Finding]:
        for n in (_BLOCK, _BLOCK + 1, 2047, 2048, 2049, 4096, 4097):
            X, y = saturated(name, n)
            yield replayed(estimator(name, adjacency="add_remove"), (X, y), without((X, y), 0))

    return first_find(attempts())


def sums_of_32_bits(patch: pytest.MonkeyPatch) -> None:
    _released_wrongly(patch, lambda X, y, place, query: query.astype(np.int32).astype(np.int64))


# --- schemas at the limits ---------------------------------------------------------------------

_STEEP = {
    "more values than cells": Numeric(0, 1e9, step=1),
    "a step finer than floats": Numeric(0, 1, step=1e-300),
    "bounds one float apart": Numeric(1.0, np.nextafter(1.0, 2.0)),
    "a step that does not divide the range": Numeric(0, 1, step=0.3),
    "far from zero": Numeric(1e15, 1e15 + 4, step=1),
    "both ends huge": Numeric(-8e307, 8e307),
}
_MANY = Categorical([f"c{k}" for k in range(300)])


def steep_schema(name: str) -> Finding:
    """Grids at the limits of a schema: is each record still counted once in each histogram?"""

    def attempts() -> Iterator[Finding]:
        for feature in _STEEP.values():
            low, high = feature.low, feature.high
            values = [low, high, (low + high) / 2, math.nextafter(high, low), math.nan, -math.inf]
            yield _with_feature(name, feature, values * 5)
        yield _with_feature(name, _MANY, [f"c{k}" for k in range(250, 300)] + ["?", None])

    return first_find(attempts())


def _with_feature(name: str, feature: Any, cells: list[Any]) -> Finding:
    X = pd.DataFrame({"steep": pd.Series(cells, dtype=object)})
    y = pd.Series([3.0 if is_regressor(name) else "yes"] * len(cells))
    fitted = estimator(name, features={"steep": feature})
    return first_find(
        replayed(fitted, (X, y), without((X, y), row), extreme_seed=row)
        for row in (0, 1, 3, len(cells) - 1)
    )


def counted_in_two_cells(patch: pytest.MonkeyPatch) -> None:
    """A record at the upper end of its feature counts in the last cell and in the one before."""

    def mistake(X: Any, y: Any, place: int, query: Any) -> Any:
        if "steep" not in X or place > 1:
            return query
        n_at_the_end = int((X["steep"] == X["steep"].iloc[1]).sum())
        wrong = query.copy()
        wrong[-3:] += 2**21 * n_at_the_end
        return wrong

    _released_wrongly(patch, mistake)


ATTACKS = [
    Attack(
        "the order of the records changes a sum",
        row_order,
        sums_in_floating_point,
        "sums carry the rounding errors of float32",
    ),
    Attack(
        "the place of a record in a vector loop changes a sum",
        block_position,
        another_tail,
        "the last record is rounded differently",
    ),
    Attack(
        "a record of NaN, infinities and unreadable cells moves a sum too far",
        odd_numbers,
        not_a_number_is_cast,
        "NaN is cast to an integer",
    ),
    Attack(
        "answers that diverge drive residuals beyond the clip",
        huge_answers,
        residuals_follow_the_answers,
        "residuals beyond the clip",
    ),
    Attack(
        "one cell changes the type of a column, and how other cells are read",
        spoiled_column,
        read_by_dtype,
        "columns are read by their type",
    ),
    Attack(
        "low bits of an answer give the exact sum away",
        low_bits,
        coarse_noise,
        "noise on a coarser lattice than the sums",
    ),
    Attack(
        "a partial sum overflows",
        partial_sums,
        sums_of_32_bits,
        "sums of 32 bits",
        without_samples=True,
    ),
    Attack(
        "a schema at the limits of arithmetic counts a record twice",
        steep_schema,
        counted_in_two_cells,
        "a record at the upper end counts in more than one cell",
        without_samples=True,
    ),
]
