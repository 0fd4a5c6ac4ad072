"""What holds for every private estimator of ``dpexplain.models.__all__``."""

from __future__ import annotations

import functools
import inspect
import pickle
import traceback
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from dpexplain.accounting import PrivacyLedger
from private_contract import (
    CANARY,
    accepts,
    break_noise,
    finite_numbers,
    has_delta,
    made_quickly,
    make,
    make_data,
)
from private_models import PRIVATE, by_model, every_model, is_regression


@functools.cache
def fitted(name):
    """Fit a model with only a schema, once for all tests that only read it."""
    return make(name).fit(*make_data(name))


# --- never raised because of a value ----------------------------------------------------------

HOSTILE_CELLS = [
    np.nan, np.inf, -np.inf, 1e308, -1, "", "x", CANARY, None, pd.NA, b"\xff", [1], {}, 1 + 2j,
    10**400, pd.Timestamp("2020-01-01"),
]  # fmt: skip


@every_model
def test_no_cell_of_any_kind_stops_a_fit_or_shows_in_the_model(name):
    X, y = make_data(name)
    X, y = X.astype(object), y.astype(object)
    for i, cell in enumerate(HOSTILE_CELLS):
        X.at[i, "age"] = cell
        X.at[i + 20, "job"] = cell
        y.at[i + 40] = cell
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a warning would tell that such a cell is there
        model = make(name).fit(X, y)
        made_quickly(name).fit(X, list(y))
    assert CANARY not in str(vars(model)) + model.explain_global().frame().to_csv()
    assert CANARY.encode() not in pickle.dumps(model)
    assert np.isfinite(
        model.predict(X) if is_regression(name) else model.decision_function(X)
    ).all()


@every_model
@pytest.mark.parametrize("n", [0, *(pytest.param(n, marks=pytest.mark.full) for n in (1, 2, 5))])
def test_tiny_and_empty_tables_are_fitted_like_any_other(name, n):
    X, y = make_data(name, n)
    model = made_quickly(name, 3).fit(X, y)
    assert list(model.feature_names_in_) == ["age", "job"]
    assert finite_numbers(model.explain_global())


@every_model
def test_one_class_and_constant_columns_are_fitted_like_any_other(name):
    X, y = make_data(name)
    X["age"], X["job"], y.iloc[:] = 50, "clerk", y.iloc[0]
    found = make(name).fit(X, y).explain_global()
    assert finite_numbers(found)
    if hasattr(found, "input_names"):
        assert found.input_names == ("age", "job=clerk", "job=nurse")
    else:
        assert found["job"].categories == ("clerk", "nurse")
        assert found["job"].special == ("other", "missing")


@every_model
def test_a_failing_fit_stays_charged_and_its_error_holds_no_value(name, monkeypatch):
    ledger = PrivacyLedger("patients", cap_epsilon=10.0)
    X, y = make_data(name)
    X["job"] = CANARY

    break_noise(monkeypatch, f"values {CANARY}")
    with pytest.raises(RuntimeError, match="charge") as caught:
        make(name, ledger=ledger).fit(X, y)
    assert len(ledger.entries) == 1
    text = "".join(traceback.format_exception(caught.value))
    assert CANARY not in text
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None  # its frames would hold the records


# --- what a fitted model says and keeps -------------------------------------------------------


@pytest.mark.full
@every_model
def test_the_guarantee_states_what_was_asked_for_under_both_adjacencies(name):
    X, y = make_data(name)
    delta = {"delta": 1e-5} if has_delta(name) else {}
    guarantee = make(name, epsilon=0.7, **delta).fit(X, y).guarantee_
    assert (guarantee.epsilon, guarantee.delta) == (0.7, delta.get("delta", 0.0))
    assert guarantee.private
    assert guarantee.adjacency == "add_remove"
    assert guarantee.epsilon_replace > guarantee.epsilon
    replaced = make(name, epsilon=0.7, adjacency="replace").fit(X, y).guarantee_
    assert replaced.epsilon_replace == pytest.approx(0.7, rel=1.1e-4)


@every_model
def test_planned_events_are_the_ones_that_a_fit_charges(name, untouched):
    X, y = make_data(name)
    estimator = make(name, epsilon=0.3)
    planned = estimator.planned_events(untouched[0])
    assert estimator.fit(X, y).ledger_.entries[0].events == planned


@pytest.mark.full
@every_model
def test_a_seeded_model_repeats_says_it_is_not_private_and_no_shared_ledger_takes_it(
    name, untouched
):
    X, y = make_data(name)
    first, second = (
        make(name, reproducible_seed=3, structure_seed=1).fit(X, y).explain_global()
        for _ in range(2)
    )
    assert first.frame().equals(second.frame())
    assert not first.guarantee.private
    with pytest.raises(ValueError, match="reproducible_seed"):
        make(name, reproducible_seed=3, ledger=PrivacyLedger("patients")).fit(*untouched)


@pytest.mark.full
@every_model
def test_a_reproducible_seed_alone_makes_fits_equal(name):
    X, y = make_data(name)
    first, second = (make(name, reproducible_seed=3).fit(X, y) for _ in range(2))
    assert first.explain_global().frame().equals(second.explain_global().frame())
    people = np.arange(len(X)) // 3
    if "max_rows_per_person" in first.get_params():
        bounded = {"reproducible_seed": 3, "max_rows_per_person": 2}
        first, second = (make(name, **bounded).fit(X, y, groups=people) for _ in range(2))
        assert first.explain_global().frame().equals(second.explain_global().frame())


@every_model
def test_fits_with_the_same_structure_seed_have_fresh_noise(name):
    X, y = make_data(name)
    estimator = make(name, structure_seed=1)
    first, second = (clone(estimator).fit(X, y).explain_global().frame() for _ in range(2))
    column = "contribution" if "contribution" in first else "weight"
    assert not np.array_equal(first[column], second[column])


@every_model
def test_clones_and_their_fits_share_the_ledger(name):
    ledger = PrivacyLedger("patients", cap_epsilon=10.0)
    X, y = make_data(name)
    clone(clone(make(name, ledger=ledger))).fit(X, y)
    assert len(ledger.entries) == 1


@every_model
def test_a_pickled_model_predicts_the_same(name):
    X, _ = make_data(name)
    model = fitted(name)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.explain_global() == model.explain_global()


@pytest.mark.full
@every_model
def test_no_attribute_of_a_fitted_model_tells_the_number_of_records(name):
    X, y = make_data(name, 397)

    def numbers(value, depth=0):
        if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
            yield float(value)
        elif isinstance(value, np.ndarray) and value.dtype != object:
            yield from (*value.ravel().astype(float), *map(float, value.shape), float(value.sum()))
        elif isinstance(value, (list, tuple)):
            for item in value:
                yield from numbers(item, depth + 1)
        elif hasattr(value, "__dict__") and depth < 8 and not inspect.isclass(value):
            yield from numbers(list(vars(value).values()), depth + 1)

    model = make(name).fit(X, y)
    assert 397.0 not in set(numbers(list(vars(model).values())))


@pytest.mark.parametrize("name", by_model(n for n in PRIVATE if accepts(n, "bin_budget_frac")))
def test_at_most_the_stated_rows_of_a_person_are_used(name):
    """Only for models that release a count of rows."""
    X, y = make_data(name, 600)
    one_person = make(name, epsilon=8.0, max_rows_per_person=2)
    people = np.where(np.arange(600) < 500, "same", [str(i) for i in range(600)])
    counts = one_person.fit(X, y, groups=people).explain_global()["job"].count
    # 2 of the 500 rows of one person and 100 others remain. Noise on 4 cells of sd sigma.
    sigma = 2 * np.sqrt(2) / (np.sqrt(0.2) * one_person.guarantee_.mu)
    assert abs(counts.sum() - 102) < 6 * 2 * sigma
    assert 6 * 2 * sigma < 250


@every_model
def test_column_order_and_number_type_do_not_matter(name):
    X, _ = make_data(name)
    model = fitted(name)
    shuffled = X[["job", "age"]].astype({"age": str})
    np.testing.assert_array_equal(model.predict(shuffled), model.predict(X))
    np.testing.assert_array_equal(model.predict(X.to_numpy(dtype=object)), model.predict(X))


@every_model
def test_ordinary_records_cause_no_warning(name):
    X, y = make_data(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(name).fit(X, y).explain_global()
