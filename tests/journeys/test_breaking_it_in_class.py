"""What the page for teachers says about mistakes is what pupils see."""

from __future__ import annotations

import warnings

import pytest

from dpexplain import (
    BudgetError,
    DPExplainableBoostingClassifier,
    HealthWarning,
    PrivacyLedger,
    PrivacyWarning,
)
from dpexplain.datasets import make_additive
from dpexplain.exceptions import SchemaError

STAYS = make_additive("clinical", n_samples=2_000, random_state=0)


@pytest.fixture
def ledger():
    return PrivacyLedger("a lesson", cap_epsilon=1.5)


def fit(ledger, X=STAYS.X, y=STAYS.y, epsilon=1.0):
    model = DPExplainableBoostingClassifier(epsilon=epsilon, schema=STAYS.schema, ledger=ledger)
    return model.fit(X, y)


def with_words(n_rows):
    X = STAYS.X.astype({"age": object})
    X.iloc[:n_rows, X.columns.get_loc("age")] = "forty"
    return X


def test_a_negative_epsilon_and_a_renamed_column_are_refused_and_cost_nothing(ledger):
    with pytest.raises(ValueError, match=r"epsilon=-1(\.0)? must be a positive finite number"):
        fit(ledger, epsilon=-1)
    with pytest.raises(SchemaError, match="did you mean 'Age'"):
        fit(ledger, STAYS.X.rename(columns={"age": "Age"}))
    assert len(ledger.entries) == 0


def test_words_in_five_cells_are_counted_by_the_check_and_not_mentioned_by_the_fit(ledger):
    X = with_words(5)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fit(ledger, X)
    assert not any("forty" in str(each.message) for each in said)
    with pytest.warns(PrivacyWarning):
        found = STAYS.schema.check(X, STAYS.y).frame()
    assert list(found.loc[found["column"] == "age", "cells"]) == [5]


def test_words_in_a_whole_column_raise_an_alarm_from_released_numbers(ledger):
    with pytest.warns(HealthWarning, match="% of age is missing or unreadable"):
        fit(ledger, with_words(len(STAYS.X)))


def test_an_empty_table_is_fitted_with_a_warning(ledger):
    with pytest.warns(HealthWarning, match="the number of usable records may be 0"):
        fit(ledger, STAYS.X[:0], STAYS.y[:0])


@pytest.mark.filterwarnings("ignore::dpexplain.HealthWarning")  # noise may raise one
def test_a_cap_of_one_and_a_half_pays_for_two_fits_at_one_and_refuses_the_third(ledger):
    first = fit(ledger).explain_global()
    before = first["age"].contribution.copy()
    fit(ledger)
    with pytest.raises(BudgetError, match="this fit needs epsilon=1"):
        fit(ledger)
    assert len(ledger.entries) == 2
    assert (first["age"].contribution == before).all()
    with pytest.warns(PrivacyWarning, match="another ledger of 'a lesson'"):
        PrivacyLedger("a lesson", cap_epsilon=1.5)
