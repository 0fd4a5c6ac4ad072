"""Columns that fit the schema but still look like a mistake."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpexplain import Categorical, Classes, Date, Numeric, Range, Schema
from dpexplain.exceptions import PrivacyWarning

N = 200
RNG = np.random.default_rng(0)
SCORE = Numeric(0, 1000)


def doubts(feature, cells, y=None, target=None, **roles):
    """Return the descriptions of the problems that a check reports for one column."""
    schema = Schema({"x": feature}, target=target, **roles)
    table = cells if isinstance(cells, pd.DataFrame) else pd.DataFrame({"x": cells})
    with pytest.warns(PrivacyWarning, match="NOT PRIVATE"):
        return {(row[0], row[1]): row[3] for row in schema.check(table, y).rows}


def test_ordinary_numbers_raise_no_doubt():
    assert doubts(SCORE, RNG.uniform(0, 1000, N)) == {}
    assert doubts(Numeric(0, 99, step=1), RNG.integers(0, 100, N)) == {}


@pytest.mark.parametrize(
    "feature", [Numeric(0, 9), Categorical(["7"]), Date("2000-01-01", "2020-01-01")]
)
def test_a_column_of_one_value_is_reported_with_or_without_empty_cells(feature):
    cell = "2010-05-05" if isinstance(feature, Date) else "7"
    cells = [cell] * (N - 1) + [""]
    assert doubts(feature, cells)["x", "the same value in every row"] == N - 1
    assert doubts(feature, cells[:5]) == {}


def test_only_whole_numbers_in_a_narrow_range_raise_the_question_of_a_step():
    days = RNG.integers(0, 60, N).astype(float)
    assert doubts(Numeric(0, 60), days) == {("x", "only whole numbers: step = 1?"): N}
    assert doubts(Numeric(0, 60, step=1), days) == {}
    assert doubts(Numeric(0, 60), np.append(days, 2.5)) == {}
    assert doubts(Numeric(0, 10_000), RNG.integers(0, 10_000, N)) == {}


@pytest.mark.parametrize("marker", [-99, 999])
def test_a_marker_far_from_all_numbers_is_reported_once_it_occurs(marker):
    cells = np.append(RNG.uniform(0, 100, N), marker)
    assert doubts(Numeric(-1000, 1000), cells) == {("x", f"{marker} looks like a missing value"): 1}
    assert doubts(Numeric(-1000, 1000, missing=[marker]), cells) == {("x", "marked as missing"): 1}


def test_a_marker_amid_the_numbers_is_reported_if_it_is_far_too_frequent():
    cells = np.append(RNG.uniform(-1000, 1000, N), [-99.0] * 10)
    assert doubts(Numeric(-1000, 1000), cells) == {("x", "-99 looks like a missing value"): 10}
    assert doubts(Numeric(-1000, 1000), cells[:-1]) == {}


@pytest.mark.parametrize(("factor", "said"), [(10, 10), (100, 100), (1000, 1000), (12, 10), (5, 0)])
def test_numbers_in_two_units_are_reported_if_the_groups_are_far_apart(factor, said):
    lengths = RNG.uniform(14, 28, N)
    mixed = np.where(np.arange(N) % 4 == 0, factor * lengths, lengths)
    words = f"numbers in two groups, of which one is about {said:,} times as high: two units?"
    expected = {("x", words): N // 4} if said else {}
    assert doubts(Numeric(0, 50_000), mixed * 2).items() >= expected.items()
    assert sum("two units" in words for _, words in doubts(Numeric(0, 50_000), mixed)) == bool(said)
    spread = RNG.lognormal(4, 1.5, N)
    few = np.append(lengths, [factor * 20.0] * 3)
    for cells in (lengths, spread, few, RNG.poisson(3, N), RNG.choice([1, 10, 100], N)):
        assert not any("two units" in words for _, words in doubts(Numeric(0, 50_000), cells))


def test_numbers_at_an_end_of_the_range_are_reported_but_zeros_are_not():
    low = np.where(np.arange(N) % 2, RNG.uniform(0, 15, N), 0.0)
    found = {("x", "almost all in the lowest 2% of the range: wrong unit?"): N // 2}
    assert doubts(SCORE, low) == found
    assert doubts(SCORE, np.where(low > 0, 50 * low, 0.0)) == {}
    high = doubts(SCORE, 1000 - RNG.uniform(0, 15, N))
    assert list(high) == [("x", "almost all in the highest 2% of the range: wrong unit?")]


def test_an_id_is_reported_by_its_values_or_its_name():
    unlike = RNG.permutation(N)
    record, person = "looks like the ID of a record", "looks like the ID of a person"
    assert doubts(SCORE, unlike) == {("x", record): N}
    schema = Schema({"member_id": SCORE})
    with pytest.warns(PrivacyWarning):
        rows = schema.check(pd.DataFrame({"member_id": 3 * (unlike // 2)})).rows
    copies = "the same row several times: exported twice?"  # there is no other column
    assert {row[1] for row in rows} == {person, copies}


@pytest.mark.parametrize("roles", [{}, {"id": "patient_id"}])
def test_persons_in_several_rows_are_reported_if_no_column_is_named(roles):
    table = pd.DataFrame({"x": RNG.uniform(0, 1000, N), "patient_id": np.arange(N) // 2})
    found = {("patient_id", "in several rows: is it the person column?"): N}
    assert doubts(SCORE, table, **roles) == found
    assert doubts(SCORE, table, person="patient_id") == {}
    assert doubts(SCORE, table.assign(patient_id=np.arange(N)), **roles) == {}


@pytest.mark.parametrize("task", ["classes", "range"])
def test_a_copy_of_the_target_is_reported_and_a_strong_effect_is_not(task):
    x = RNG.uniform(0, 1000, 5 * N)
    noisy = x + RNG.normal(0, 200, 5 * N)
    if task == "classes":
        target = Classes(["no", "yes"])
        copy, effect = (np.where(each > 500, "yes", "no") for each in (x, noisy))
    else:
        target, copy, effect = Range(-2000, 2000), 0.9 * x, noisy
    copied = {("x", "gives the target away: is it known only afterward?"): 5 * N}
    assert doubts(SCORE, x, copy, target) == copied
    assert doubts(SCORE, x, effect, target) == {}
    assert doubts(SCORE, RNG.permutation(x), copy, target) == {}


def test_rows_without_any_value_are_reported_but_a_few_at_the_end_are_not():
    schema = Schema({"a": SCORE, "b": SCORE}, target=Classes(["no", "yes"]))
    for place, reported in ((slice(-2, None), 0), (slice(-3, None), 1), (slice(-2, -1), 1)):
        cells = RNG.uniform(0, 1000, (N, 2))
        y = RNG.choice(["no", "yes"], N).astype(object)
        cells[place], y[place] = np.nan, None
        with pytest.warns(PrivacyWarning):
            rows = schema.check(pd.DataFrame(cells, columns=["a", "b"]), y).rows
        assert sum(row[0] == "all columns" for row in rows) == reported
