"""Attacks on the arithmetic: where machine numbers differ from those of a proof."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from attack_kit import (
    FEATURES,
    Attack,
    Finding,
    drawn_noise,
    estimator,
    first_find,
    is_pure,
    released_wrongly,
    replayed,
    saturated,
    table,
    takes_samples,
)
from dpexplain import Categorical, Date
from dpexplain.audit import record
from dpexplain.audit.records import without
from dpexplain.mechanisms import NoiseSource, SampledPhase
from dpexplain.models.boosting.records._kernels_sums import _BLOCK
from dpexplain.models.dpboost import boosting as dpboost
from dpexplain.models.private import PrivateEstimator
from dpexplain.tables import encoding

# --- order and place of the records ------------------------------------------------------------


def row_order(name: str) -> Finding:
    """Shuffle the records: every query must stay the same, to the last bit."""

    def attempts() -> Iterator[Finding]:
        for seed in range(3):
            X, y = table(name, 500, seed)
            order = np.random.default_rng(seed).permutation(500)
            shuffled = X.iloc[order], y.iloc[order]
            extreme = seed if seed else None
            yield replayed(estimator(name), (X, y), shuffled, allowed=0.0, extreme_seed=extreme)

    return first_find(attempts())


def sums_in_floating_point(patch: pytest.MonkeyPatch) -> None:
    """Add to each sum the rounding error that a float32 sum in record order would have."""

    def mistake(X: Any, y: Any, phase: Any, query: Any) -> Any:
        income = pd.to_numeric(X["income"]).to_numpy(dtype=np.float32)
        total = np.float32(0)
        for value in income:
            total += value
        return query + int(float(total) * 2.0**10) - round(math.fsum(income) * 2.0**10)

    released_wrongly(patch, mistake)


def block_position(name: str) -> Finding:
    """Put one record at the start, middle, edge and tail of the blocks of a vector loop.

    It must add the same to each sum wherever it is: a tail computed with different
    instructions would round differently.
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
    """Round up the contribution of the last record by one lattice step."""

    def mistake(X: Any, y: Any, phase: Any, query: Any) -> Any:
        wrong = query.copy()
        wrong[0] += int(pd.to_numeric(X["age"]).iloc[-1])
        return wrong

    released_wrongly(patch, mistake)


# --- numbers that are none ---------------------------------------------------------------------

_ODD = (math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0, None, "x", "1e999", 2**80)


def odd_numbers(name: str) -> Finding:
    """Add a record of NaN, infinities and extreme numbers, while answers diverge."""

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
    """Let a NaN reach a cast to integers, where it becomes the smallest integer."""

    def mistake(X: Any, y: Any, phase: Any, query: Any) -> Any:
        n_odd = sum(isinstance(v, float) and math.isnan(v) for v in X["age"])
        return query + n_odd * (np.iinfo(np.int64).min // 8)

    released_wrongly(patch, mistake)


def huge_answers(name: str) -> Finding:
    """Force answers near the 64-bit limits: scores and residuals must stay bounded."""

    def attempts() -> Iterator[Finding]:
        for seed in range(6):
            X, y = table(name, 30, seed)
            yield replayed(estimator(name), (X, y), without((X, y), seed), extreme_seed=seed)

    return first_find(attempts())


def residuals_follow_the_answers(patch: pytest.MonkeyPatch) -> None:
    """Make sums of residuals 50 times as large, as diverging, unclipped scores would."""

    def mistake(X: Any, y: Any, phase: Any, query: Any) -> Any:
        return query * (1 if phase.label == "histograms" else 50)

    released_wrongly(patch, mistake)


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
    "dates after the year 9999 and a text": (
        "seen",
        [pd.Timestamp(np.datetime64("30000-01-01", "s"))] * 24,
        ["x"],
    ),
    "dates before the year 1 and an empty cell": (
        "seen",
        [pd.Timestamp(np.datetime64("-0044-03-15", "s"))] * 24,
        [""],
    ),
    "the earliest time in nanoseconds and a text": ("seen", [pd.Timestamp.min] * 24, ["x"]),
}
_SPOILED_FEATURES = {
    **FEATURES,
    "job": Categorical(["clerk", "nurse", "1", "2", "2020-01-01", "0"]),
}
_SEEN = {"seen": Date("1970-01-01", "2024-12-31")}
_DTYPES = ("as it comes", "object", "category", "string", "Int64", "Float64")


def spoiled_column(name: str) -> Finding:
    """Add a record whose cell changes its column's type: are other cells read differently?"""

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
        data.append((X.drop(columns=column, errors="ignore").assign(**{column: cells}), y))
    features = {**_SPOILED_FEATURES, **(_SEEN if column == "seen" else {})}
    return replayed(estimator(name, features=features), *data)


def read_by_dtype(patch: pytest.MonkeyPatch) -> None:
    """Read columns of numbers as numbers, and columns of objects as strings."""
    honest = PrivateEstimator._failure_of_fit

    def careless(self: Any, X: Any, y: Any, groups: Any) -> str:
        spelled = {c: X[c].map(lambda cell: f"<{cell!r}>") for c in X if X[c].dtype == object}
        return honest(self, X.assign(**spelled), y, groups)

    patch.setattr(PrivateEstimator, "_failure_of_fit", careless)


def spoiled_part(name: str) -> Finding:
    """Add a record of NaN to a column that Arrow keeps in two parts: do others change?"""
    pa = pytest.importorskip("pyarrow")
    halves = [np.array([1, 2] * 12, np.float16), np.array([math.nan], np.float16)]
    data = []
    for parts in (halves, halves[:1]):
        column = pa.chunked_array([pa.array(part) for part in parts])
        X = pd.DataFrame({"job": pd.arrays.ArrowExtensionArray(column)})
        data.append((X, table(name, 25)[1].iloc[: len(X)]))
    return replayed(estimator(name, features={"job": Categorical(["1", "2"])}), *data)


def last_part_is_read(patch: pytest.MonkeyPatch) -> None:
    """Read an Arrow column as if all its parts had the numbers of the last one."""
    honest = encoding._read_block

    def careless(values: Any, of_cell: Any, dtype: Any) -> Any:
        if isinstance(values, pd.arrays.ArrowExtensionArray):
            last = pd.arrays.ArrowExtensionArray(values.__arrow_array__().chunks[-1])
            return np.resize(honest(last, of_cell, dtype), len(values))
        return honest(values, of_cell, dtype)

    patch.setattr(encoding, "_read_block", careless)


# --- low bits ----------------------------------------------------------------------------------


def low_bits(name: str) -> Finding:
    """Do the low bits of an answer reveal those of the exact sum?

    Noise on a coarser lattice than the sums (as floating-point noise is, where it is wide) leaves
    the low bits of a sum unchanged. Each of a few hundred answers agrees with its sum in the
    lowest eight bits with probability 1/256, so a tenth of them do with probability < 1e-20.
    """
    noise = []
    for backend in ({}, {"noise_backend": "opendp"}, {"noise_backend": "rounded"}):
        if is_pure(name) and backend:
            continue
        for epsilon in (1.0, 1e-4):
            fitted = estimator(name, epsilon=epsilon, **backend)
            _, transcript = record(fitted, *table(name, 50))
            noise += drawn_noise(transcript)
    difference = np.concatenate(noise)
    share = float(np.mean(difference % 256 == 0))
    return Finding(share > 0.1, f"low bits of {share:.2%} of {len(difference)} sums show")


def coarse_noise(patch: pytest.MonkeyPatch) -> None:
    """Set the last ten bits of the noise to zero, as with single-precision floats."""
    for method in ("draw_int", "draw_laplace"):
        honest = getattr(NoiseSource, method)
        patch.setattr(
            NoiseSource, method, lambda *a, _honest=honest, **k: _honest(*a, **k) >> 10 << 10
        )


# --- sums at the ends of the integers ----------------------------------------------------------


def partial_sums(name: str) -> Finding:
    """Use enough equal, saturated records to fill a block: does a partial sum overflow?

    2048 records of 2**20 steps fill 31 bits: one more record would wrap the sum around.
    """

    # Of a smaller clip every gradient is as long.
    settings = {"clip": 0.01, "preset": "paper"} if takes_samples(name) else {}

    def attempts() -> Iterator[Finding]:
        for n in (_BLOCK, _BLOCK + 1, 2047, 2048, 2049, 4096, 4097):
            X, y = saturated(name, n)
            yield replayed(estimator(name, **settings), (X, y), without((X, y), 0))

    return first_find(attempts())


def sums_of_few_bits(patch: pytest.MonkeyPatch) -> None:
    """Limit sums to the bits needed by 2047 records: one more record wraps around."""

    def turned(sums: Any, steps: float, n: int = 2048) -> Any:
        half = n * 2 ** round(math.log2(steps))
        return (sums + half) % (2 * half) - half

    def mistake(X: Any, y: Any, phase: Any, query: Any) -> Any:
        # A gradient has many numbers, of which the largest is an eighth of its length at most.
        n = 256 if isinstance(phase, SampledPhase) else 2048
        return turned(query, phase.sensitivity_int, n)

    released_wrongly(patch, mistake)
    # What DPBoost releases are means of sums.
    honest = dpboost.leaf_sums
    patch.setattr(dpboost, "leaf_sums", lambda *a: turned(honest(*a), dpboost.GRADIENT_STEPS))


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
        "one cell changes how the cells of an Arrow column are read",
        spoiled_part,
        last_part_is_read,
        "the numbers of the last part stand for all",
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
        sums_of_few_bits,
        "sums of 32 bits, or as many as a block fills",
    ),
]
