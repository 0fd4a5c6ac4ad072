"""Whatever a table contains, a private fit completes in the same way and silently."""

from __future__ import annotations

import json
import math
import warnings
from decimal import Decimal
from fractions import Fraction
from numbers import Real

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import dpexplain.io
from canary_channels import Listener
from dpexplain import PrivacyLedger
from dpexplain.audit import record, replay
from dpexplain.exceptions import PrivacyWarning
from dpexplain.explain import FilterBank
from dpexplain_widgets import Explorer
from effort import examples
from hostile_tables import NAMES, Bomb, as_objects, features, tables
from private_models import PRIVATE, is_regression, make, records_for, schema_for
from private_models import known as known_settings

pytestmark = [pytest.mark.parametrize("name", PRIVATE), pytest.mark.full]


# --- any table -----------------------------------------------------------------------------------


@examples(40)
@given(data=st.data())
def test_any_table_is_fitted_without_a_word_and_explained_in_finite_numbers(name, data):
    known = data.draw(features())
    X, y, groups = data.draw(tables(known))
    bound = data.draw(st.sampled_from([None, 1, 3]))
    model = make(name, schema=schema_for(name, known), max_rows_per_person=bound)
    model.set_params(ledger=PrivacyLedger("hostile"), **known_settings(name, max_rounds=2))
    if hasattr(model, "n_filters"):  # which refuses bounds beyond 1e30, before it reads a record
        assume(not refusal_of(model, X))
    with Listener(alarms=False) as listener:
        model.fit(X, y, groups=None if bound is None else groups)
        explanation = model.explain_global()
        scores = model.predict(X) if is_regression(name) else model.decision_function(X)
        local = model.explain_local(X)
    assert listener.text == ""
    assert np.isfinite(scores).all()
    check_numbers(explanation, local, scores, known)
    assert dpexplain.io.from_json(dpexplain.io.to_json(explanation)) == explanation
    explanation._repr_html_()


def check_numbers(explanation, local, scores, known):
    """Check that everything shown is finite, and that contributions add up to the score."""
    if isinstance(explanation, FilterBank):
        assert explanation.preparation is not None
        assert tuple(f.name for f in explanation.preparation.features) == tuple(known)
        assert np.isfinite(explanation.filters).all()
        found = local.scores[:, 1] - local.scores[:, 0]
        np.testing.assert_allclose(found, scores, rtol=1e-9, atol=1e-9)
        return
    assert tuple(explanation) == tuple(known)
    for term in explanation.terms:
        assert np.isfinite(term.contribution).all()
        assert np.isfinite(term.count).all()
        assert set(term.special) >= {"missing"}
    np.testing.assert_allclose(
        local.contributions.sum(axis=1) + local.intercept, scores, rtol=1e-9, atol=1e-9
    )
    json.dumps(Explorer(explanation).payload, allow_nan=False)


# --- each rule, exactly: the same sums as for the cell that it stands for -----------------------

MISSING = [
    np.nan, None, pd.NA, pd.NaT, "", "  ", "abc", "nan", "1_000", "12 years", b"12", [12], (), {},
    1 + 2j, pd.Timestamp("2020-01-01"), np.timedelta64(3, "D"), Bomb(), NAMES[4], "\ud800",
    Decimal("sNaN"),
]  # fmt: skip
HIGH = [np.inf, 1e308, 101, 10**400, "inf", "1e999", " 250 ", Decimal("1e9999"), np.uint64(2**63)]
LOW = [-np.inf, -1e308, -1, -(10**400), "-inf", "-1e999", Decimal("-1e9999"), np.int8(-5)]
INSIDE = [73, 73.0, "73", " 73.00 ", "7.3e1", np.float16(73), np.uint8(73), Fraction(146, 2)]
UNSEEN = ["smith", "CLERK", 5, -0.5, b"clerk", ["clerk"], Bomb(), NAMES[4], "\ud800", np.inf, True]
EMPTY = [None, np.nan, pd.NA, pd.NaT, "", "   ", "nan", "NA", np.datetime64("NaT")]

RULES = {
    "no number counts as missing": ("age", MISSING, np.nan),
    "beyond the upper bound counts at it": ("age", HIGH, 100.0),
    "beyond the lower bound counts at it": ("age", LOW, 0.0),
    "a number counts however it is written": ("age", INSIDE, 73.0),
    "an unseen category is another": ("job", UNSEEN, "some other"),
    "an empty category is missing": ("job", EMPTY, None),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("preset", ["default", "paper"])
def test_a_cell_of_a_feature_counts_in_histograms_and_sums_as_its_rule_says(name, rule, preset):
    column, cells, stands_for = RULES[rule]
    X, y = records_for(name, 60)
    X = X.astype(object)
    plain, odd = X.copy(), X.copy()
    plain[column] = as_objects([*[stands_for] * len(cells), *X[column][len(cells) :]])
    odd[column] = as_objects([*cells, *X[column][len(cells) :]])
    assert_same_releases(name, (plain, y), (odd, y), preset=preset)


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_a_cell_of_the_target_counts_as_its_rule_says(name, preset):
    X, y = records_for(name, 60)
    if is_regression(name):
        rules = [(HIGH, 10.0), (LOW, 0.0), ([7, "7", "7.0", np.int8(7)], 7.0)]
        unusable = MISSING
    else:
        rules, unusable = [([" yes", "yes "], "yes")], [*UNSEEN, *EMPTY]
    for cells, stands_for in rules:
        rest = list(y[len(cells) :])
        plain = as_objects([stands_for] * len(cells) + rest)
        assert_same_releases(name, (X, plain), (X, as_objects(cells + rest)), preset=preset)
    kept = len(unusable)
    odd = as_objects([*unusable, *y[kept:]])
    assert_same_releases(name, (X[kept:], y[kept:]), (X, odd), preset=preset)


def assert_same_releases(name, plain, odd, **options):
    """Fit both with the same answers forced; check that queries and models are equal."""
    settings = known_settings(name, max_rounds=3, **options)
    estimator = make(name, structure_seed=5, **settings)
    model, transcript = record(estimator, *plain)
    report = replay(estimator, odd, model, transcript)
    assert report.differences == ()
    assert report.spent_mu == 0.0


@pytest.mark.parametrize("storage", ["object", "string", "category", "list", "array", "one bad"])
def test_how_a_column_is_stored_does_not_change_what_is_released(name, storage):
    X, y = records_for(name, 60)
    given = {
        "object": lambda: X.astype(object),
        "string": lambda: X.astype("string"),
        "category": lambda: X.astype("category"),
        "list": lambda: X.to_numpy().tolist(),
        "array": lambda: X.to_numpy(dtype=object),
        "one bad": lambda: X.assign(age=X["age"].astype(str)),
    }[storage]()
    assert_same_releases(name, (X, y), (given, y))


# --- any size ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 2, 3, 20_000])
@pytest.mark.parametrize("constant", [False, True], ids=["varied", "constant"])
def test_the_number_of_records_changes_nothing_in_the_outline(name, n, constant):
    X, y = records_for(name, n)
    if constant:
        X["age"], X["job"] = 50, "clerk"
        y = pd.Series([5.0 if is_regression(name) else "yes"] * n)
    with Listener(alarms=False) as listener:
        explanation = make(name, **known_settings(name, max_rounds=2)).fit(X, y).explain_global()
    assert listener.text == ""
    if isinstance(explanation, FilterBank):
        assert explanation.input_names == ("age", "job=clerk", "job=nurse")
        assert np.isfinite(explanation.filters).all()
        return
    assert list(explanation) == ["age", "job"]
    assert explanation["age"].special == ("missing",)
    assert explanation["job"].categories == ("clerk", "nurse")
    assert explanation["job"].special == ("other", "missing")
    assert len({each.guarantee for each in (explanation, *explanation.terms)}) == 1


# --- parameters -----------------------------------------------------------------------------------

junk = st.one_of(
    st.floats(),
    st.integers(),
    st.booleans(),
    st.text(max_size=5),
    st.none(),
    st.complex_numbers(),
    st.lists(st.floats(), max_size=2),
    st.sampled_from([np.float64("nan"), np.True_, Decimal("0.5"), Fraction(1, 2), b"1", 10**400]),
)


def refusal_of(model, X):
    try:
        model.planned_events(X)
    except ValueError as error:
        return str(error)
    return ""


@examples(150)
@given(epsilon=junk, delta=junk)
def test_epsilon_and_delta_are_numbers_in_their_range_or_refused(name, epsilon, delta):
    X = pd.DataFrame({"age": [1.0], "job": ["clerk"]})
    if not known_settings(name, delta=delta):
        delta = 1e-6
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        settings = known_settings(name, epsilon=epsilon, delta=delta)
        refusal = refusal_of(make(name, **settings), X)
    if refusal:
        assert "epsilon" in refusal or "delta" in refusal
        assert len(refusal) < 400
        return
    for value in (epsilon, delta):
        assert isinstance(value, Real)
        assert not isinstance(value, bool | np.bool_)
        assert math.isfinite(value)
    assert 0 < epsilon <= 50
    assert 0 < delta < 1
    is_weak = epsilon > 10 or delta > 0.001
    assert any(w.category is PrivacyWarning for w in caught) == is_weak


@pytest.mark.parametrize(
    "unsupported",
    ["sample_weight", "callbacks", "eval_set", "init_score", "warm_start", "check_input"],
)
def test_what_would_change_the_influence_of_a_record_is_refused_by_fit(name, unsupported):
    ledger = PrivacyLedger("unsupported")
    X, y = records_for(name, 10)
    with pytest.raises(TypeError, match=unsupported):
        make(name, ledger=ledger).fit(X, y, **{unsupported: [1.0] * 10})
    assert ledger.entries == ()


@pytest.mark.parametrize(
    "unknown", ["warm_start", "early_stopping", "callbacks", "cv", "validation_size", "n_samples"]
)
def test_there_is_no_parameter_for_warm_starts_callbacks_or_early_stopping(name, unknown):
    with pytest.raises(TypeError, match=unknown):
        make(name, **{unknown: 1})
    assert not hasattr(make(name), "partial_fit")
