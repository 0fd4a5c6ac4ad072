"""What every private estimator refuses before it reads data, and what it warns about."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from dpexplain.accounting import PrivacyLedger
from dpexplain.exceptions import BudgetError, PrivacyWarning, SchemaError
from dpexplain.schema import Categorical, Classes, Numeric, Range, Schema
from dpexplain.tables.columns import values_of
from private_contract import (
    FEATURES,
    Untouchable,
    accepts,
    break_noise,
    finite_numbers,
    has_delta,
    made_quickly,
    make,
    make_data,
    schema_for,
)
from private_models import PRIVATE, by_model, every_model, is_regression, marks_of

pytestmark = pytest.mark.full


# --- refused before data are touched, and free ------------------------------------------------

BAD_PARAMETERS = {
    "epsilon NaN": {"epsilon": float("nan")},
    "epsilon infinite": {"epsilon": float("inf")},
    "epsilon zero": {"epsilon": 0.0},
    "epsilon negative": {"epsilon": -0.5},
    "epsilon bool": {"epsilon": True},
    "epsilon text": {"epsilon": "1"},
    "epsilon above 50": {"epsilon": 51.0},
    "delta zero": {"delta": 0.0},
    "delta one": {"delta": 1.0},
    "delta two": {"delta": 2.0},
    "delta NaN": {"delta": float("nan")},
    "bin share zero": {"bin_budget_frac": 0.0},
    "bin share above one": {"bin_budget_frac": 1.5},
    "unknown adjacency": {"adjacency": "neighbor"},
    "unknown preset": {"preset": "best"},
    "unknown composition": {"composition": "naive"},
    "unknown backend": {"noise_backend": "numpy"},
    "no bins": {"max_bins": 1},
    "no rounds": {"max_rounds": 0},
    "rounds with a fraction": {"max_rounds": 2.5},
    "one leaf": {"max_leaves": 1},
    "too many leaves": {"max_leaves": 256},
    "learning rate above one": {"learning_rate": 1.5},
    "clip zero": {"clip": 0.0},
    "rows per person zero": {"max_rows_per_person": 0},
    "schema of another type": {"schema": {"age": (0, 100)}},
    "classic without rounds": {"composition": "classic"},
    "structure seed negative": {"structure_seed": -1},
    "structure seed text": {"structure_seed": "a"},
    "reproducible seed negative": {"reproducible_seed": -1},
    "public number of people text": {"n_public": "many"},
    "permission that is no truth value": {"allow_weak": "no"},
    "no threads": {"n_jobs": 0},
    "fewer threads than all": {"n_jobs": -2},
    "more threads than anybody has": {"n_jobs": 10**6},
    "threads with a fraction": {"n_jobs": 1.5},
    "threads as a truth value": {"n_jobs": True},
}


def crossed(cases):
    """Pair each model with the cases whose settings it has."""
    return [
        pytest.param(name, settings, id=f"{name}-{case}", marks=marks_of(name))
        for name in PRIVATE
        for case, settings in cases.items()
        if all(accepts(name, parameter) for parameter in settings)
    ]


@pytest.mark.parametrize(("name", "settings"), crossed(BAD_PARAMETERS))
def test_a_wrong_parameter_is_named_before_data_are_read_and_costs_nothing(
    name, settings, untouched
):
    ledger = PrivacyLedger("patients", cap_epsilon=10.0)
    parameter = next(iter(settings))
    with pytest.raises((ValueError, TypeError), match=parameter):
        make(name, ledger=ledger, **settings).fit(*untouched)
    assert ledger.entries == ()


@every_model
def test_wrong_columns_are_named_before_data_are_read_and_cost_nothing(name, untouched):
    ledger = PrivacyLedger("patients", cap_epsilon=10.0)
    X, y = untouched
    for wrong in (X.rename(columns={"job": "Job"}), X[["age"]]):
        with pytest.raises((SchemaError, ValueError)):
            make(name, ledger=ledger).fit(wrong, y)
    with pytest.raises(ValueError, match="2"):
        make(name, ledger=ledger).fit(np.zeros((5, 3)), np.zeros(5))
    assert ledger.entries == ()


@every_model
def test_a_target_of_the_wrong_length_costs_nothing(name):
    ledger = PrivacyLedger("patients", cap_epsilon=10.0)
    X, y = make_data(name)
    for wrong in (y[:-1], None, np.zeros((len(X), 2))):
        with pytest.raises(ValueError, match="y"):
            make(name, ledger=ledger).fit(X, wrong)
    assert ledger.entries == ()


@every_model
def test_a_schema_with_the_wrong_kind_of_target_is_refused(name, untouched):
    other = Classes(["a", "b"]) if is_regression(name) else Range(0, 1)
    with pytest.raises(ValueError, match="target"):
        make(name, schema=Schema(FEATURES, target=other)).fit(*untouched)


@every_model
def test_weights_and_other_fit_parameters_are_refused(name):
    X, y = make_data(name)
    with pytest.raises(TypeError, match="sample_weight"):
        make(name).fit(X, y, sample_weight=np.ones(len(X)))


@every_model
def test_a_fit_beyond_the_cap_reads_nothing_and_leaves_the_ledger_as_it_was(name, untouched):
    ledger = PrivacyLedger("patients", cap_epsilon=1.0, delta=1e-6)
    X, y = make_data(name)
    make(name, epsilon=0.8, ledger=ledger).fit(X, y)
    before = ledger.private_epsilon()
    # Many pure releases compose so well that two fits of 0.8 would stay below 1.
    second = 0.8 if has_delta(name) else 8.0
    with pytest.raises(BudgetError, match="left"):
        make(name, epsilon=second, ledger=ledger).fit(*untouched)
    assert len(ledger.entries) == 1
    assert ledger.private_epsilon() == before


BEYOND_ARITHMETIC = {
    "so many rows per person": {"max_rows_per_person": 10**12},
    "so little noise": {"epsilon": 1e5, "allow_weak": True},
    "so many categories": {
        "features": {"job": Categorical([str(i) for i in range(70_000)])},
    },
}


@pytest.mark.full
@every_model
@pytest.mark.filterwarnings("ignore::dpexplain.exceptions.PrivacyWarning")
@pytest.mark.parametrize("settings", BEYOND_ARITHMETIC.values(), ids=BEYOND_ARITHMETIC)
def test_what_the_arithmetic_cannot_do_is_refused_before_the_charge(name, settings):
    ledger = PrivacyLedger("patients")
    settings = dict(settings)
    features = settings.pop("features", FEATURES)
    if "epsilon" in settings and not has_delta(name):
        settings["epsilon"] = 1e9
    schema = Schema(features, target=schema_for(name).target)
    secrets = Untouchable(features)
    with pytest.raises(ValueError, match=r"sigma|noise|bins"):
        make(name, schema=schema, ledger=ledger, **settings).fit(
            secrets.frame,
            secrets.target,
            groups=np.zeros(20) if "max_rows_per_person" in settings else None,
        )
    assert ledger.entries == ()
    assert secrets.looks == []


PRESETS = {"as it comes": {}, "paper": {"preset": "paper"}}


@pytest.mark.full
@pytest.mark.parametrize(("name", "settings"), crossed(PRESETS))
@pytest.mark.parametrize("feature", [Numeric(0, 1, step=1e-300), Numeric(0, 5e-324)])
def test_schemas_at_the_limits_of_floating_point_are_fitted_or_refused_for_free(
    name, feature, settings
):
    ledger = PrivacyLedger("patients")
    schema = Schema({"x": feature}, target=schema_for(name).target)
    X, y = make_data(name)
    estimator = made_quickly(name, schema=schema, ledger=ledger, **settings)
    try:
        estimator.planned_events(X[["age"]].rename(columns={"age": "x"}))
    except ValueError:
        return
    found = estimator.fit(X[["age"]].rename(columns={"age": "x"}), y).explain_global()
    assert finite_numbers(found)
    if "max_bins" in estimator.get_params():
        assert (np.diff(found["x"].bin_edges) > 0).all()


NUMBERS = {
    "epsilon": [np.float32(1.25), np.longdouble(1.25), Fraction(5, 4)],
    "bin_budget_frac": [np.float16(0.3)],
    "tree_budget_frac": [np.float32(0.3)],
    "alpha": [Fraction(1, 2)],
    "regularisation": [Fraction(1, 2)],
    "n_trees": [np.int8(4)],
    "trees_per_ensemble": [np.uint8(2)],
    "max_rounds": [np.uint8(4), np.int16(3)],
    "outer_bags": [np.int8(2)],
    "sampling_probability": [np.float16(0.5)],
}


@pytest.mark.parametrize(
    ("name", "settings"),
    crossed({f"{p} {type(n).__name__}": {p: n} for p, kinds in NUMBERS.items() for n in kinds}),
)
def test_a_number_of_any_type_costs_what_the_number_of_python_costs(name, settings):
    ((parameter, number),) = settings.items()
    plain = int(number) if isinstance(number, np.integer) else float(number)
    X, y = make_data(name, 40)
    expected = make(name, **{parameter: plain}).planned_events(X)
    model = make(name, **settings).fit(X, y)
    assert model.planned_events(X) == model.ledger_.entries[0].events == expected
    assert type(model.guarantee_.epsilon) is float
    assert getattr(model, parameter) is number


@every_model
def test_a_failed_refit_leaves_no_model_of_an_earlier_fit(name, monkeypatch):
    X, y = make_data(name)
    model = make(name).fit(X, y)

    break_noise(monkeypatch, "no noise today")
    with pytest.raises(RuntimeError, match="charge"):
        model.fit(X, y)
    assert not hasattr(model, "guarantee_")
    assert not hasattr(model, "_terms")


@every_model
def test_a_refit_forgets_the_band_of_the_fit_before_and_keeps_what_the_user_set(name):
    X, y = make_data(name)
    model = make(name, epsilon=8.0).fit(X, y)
    model._user_setting = "kept"
    before = model.explain_global().frame()
    after = model.set_params(epsilon=0.2).fit(X, y).explain_global().frame()
    # Without a band the numbers themselves must be new.
    shown = "noise_std" if before["noise_std"].notna().all() else "contribution"
    assert not np.array_equal(before[shown], after[shown])
    assert model._user_setting == "kept"


@every_model
def test_groups_and_a_bound_on_the_rows_of_a_person_need_each_other(name, untouched):
    with pytest.raises(ValueError, match="groups"):
        make(name, max_rows_per_person=3).fit(*untouched)
    with pytest.raises(ValueError, match="max_rows_per_person"):
        make(name).fit(*untouched, groups=np.zeros(20))


@every_model
def test_no_message_about_wrong_shapes_says_how_many_rows_there_are(name):
    X, y = make_data(name, n := 371)
    persons = {"max_rows_per_person": 2}
    for settings, wrong_X, wrong_y, groups in (
        ({}, X[[]], y, None),
        ({}, np.zeros((n, 0)), y, None),
        ({}, np.zeros((n, 5)), y, None),
        ({}, X["age"], y, None),
        ({}, X, y[:-1], None),
        ({}, X, np.zeros((n, 2)), None),
        ({}, X, csr_matrix(np.zeros((n, 1))), None),
        ({}, X, 1.0, None),
        (persons, X, y, np.zeros(n - 1)),
        (persons, X, y, ("who", np.zeros((n, 2)))),
        (persons, X, y, 3),
    ):
        with pytest.raises(ValueError, match=r"feature|Expected|row") as caught:
            make(name, **settings).fit(wrong_X, wrong_y, groups=groups)
        assert not {"370", "371"} & set(re.findall(r"\d+", str(caught.value)))
    with pytest.raises(ValueError, match="2 dimensions"):
        values_of(np.zeros((n, 2)))


# --- warned about -----------------------------------------------------------------------------


@every_model
def test_a_large_epsilon_warns_and_a_very_large_one_needs_permission(name):
    X, y = make_data(name)
    with pytest.warns(PrivacyWarning, match="epsilon"):
        make(name, epsilon=20.0).fit(X, y)
    with pytest.warns(PrivacyWarning, match="epsilon"):
        assert make(name, epsilon=60.0, allow_weak=True).fit(X, y).guarantee_.epsilon == 60.0


@pytest.mark.parametrize("name", by_model(filter(has_delta, PRIVATE)))
def test_a_delta_of_one_person_or_more_warns(name):
    X, y = make_data(name)
    with pytest.warns(PrivacyWarning, match="delta"):
        make(name, delta=1e-2, n_public=400).fit(X, y)
    with pytest.warns(PrivacyWarning, match="one complete random record of a table of 100 or more"):
        make(name, delta=1e-2).fit(X, y)


@every_model
def test_without_a_schema_the_fit_warns_and_its_total_is_infinite(name):
    ledger = PrivacyLedger("patients", cap_epsilon=10.0)
    X, y = make_data(name)
    with pytest.warns(PrivacyWarning, match="schema"):
        model = make(name, schema=None, ledger=ledger).fit(X, y)
    assert np.isinf(ledger.total_epsilon())
    # Noise of subsampled releases is searched until a share of 1e-4 of epsilon is left. At a delta
    # above zero, many pure releases amount to less than the sum of their epsilons.
    least = 1.0 if has_delta(name) else 0.2
    assert least * (1 - 1.1e-4) <= ledger.private_epsilon() <= 1.0 + 1.1e-4
    assert not model.guarantee_.private
    assert not model.explain_global().guarantee.private


@every_model
def test_a_target_of_the_other_kind_names_the_model_for_it(name, untouched):
    regression = is_regression(name)
    target = Classes(["no", "yes"]) if regression else Range(0, 1)
    schema = Schema({"age": Numeric(0, 100)}, target=target)
    suited = f"use DPExplainableBoosting{'Classifier' if regression else 'Regressor'}"
    with pytest.raises(ValueError, match=suited):
        make(name, schema=schema).fit(*untouched)


@every_model
def test_an_infinite_epsilon_names_the_model_without_privacy_for_this_target(name, untouched):
    suited = f"use ExplainableBoosting{'Regressor' if is_regression(name) else 'Classifier'}"
    with pytest.raises(ValueError, match=rf"{suited}\.$"):
        make(name, epsilon=float("inf")).fit(*untouched)
