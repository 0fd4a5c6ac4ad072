"""What holds for every private estimator of ``dpexplain.models.__all__``."""

from __future__ import annotations

import inspect
import pickle
import traceback
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import dpexplain.models as models
from dpexplain.accounting import PrivacyLedger
from dpexplain.exceptions import BudgetError, PrivacyWarning, SchemaError
from dpexplain.mechanisms import NoiseSource
from dpexplain.models.pure import PureEstimator
from dpexplain.schema import Categorical, Classes, Numeric, Range, Schema
from private_models import is_regression, known

PRIVATE = [name for name in models.__all__ if name.startswith("DP")]
FEATURES = {"age": Numeric(0, 100, unit="years", step=1), "job": Categorical(["clerk", "nurse"])}
CANARY = "Zorblax-1729"


class Untouchable:
    """Columns of secrets; whoever looks at one is written down, also if the error is swallowed."""

    def __init__(self, columns):
        self.looks = []
        cells = np.empty((20, len(columns) + 1), dtype=object)
        for place in np.ndindex(cells.shape):
            cells[place] = Secret(self.looks)
        self.frame = pd.DataFrame(cells[:, 1:], columns=list(columns))
        self.target = pd.Series(cells[:, 0])


class Secret:
    """A cell that may be carried around but not looked at."""

    def __init__(self, looks):
        vars(self)["looks"] = looks

    def _look(self, *args):
        vars(self)["looks"].append("look")
        raise AssertionError("a value was read")

    __str__ = __repr__ = __float__ = __int__ = __index__ = __hash__ = __eq__ = __bool__ = _look
    __format__ = __lt__ = __gt__ = __len__ = __iter__ = __array__ = __getattr__ = _look


@pytest.fixture
def untouched():
    """A table and a target that fail the test if a value of them was read."""
    secrets = Untouchable(FEATURES)
    yield secrets.frame, secrets.target
    assert secrets.looks == []


def schema_for(name):
    target = Range(0, 10, unit="visits") if is_regression(name) else Classes(["no", "yes"])
    return Schema(FEATURES, target=target)


def make(name, **settings):
    return getattr(models, name)(**{"schema": schema_for(name), **settings})


def accepts(name, parameter):
    return parameter in inspect.signature(getattr(models, name)).parameters


def made_quickly(name, rounds=2, **settings):
    """A model that is fitted in few rounds, whatever it calls them."""
    return make(name, **known(name, max_rounds=rounds), **settings)


def finite_numbers(explanation):
    """Whether a global explanation of any kind holds finite numbers alone."""
    frame = explanation.frame()
    column = "weight" if "weight" in frame else "contribution"
    return bool(np.isfinite(frame[column]).all())


def break_noise(monkeypatch, text):
    """Let every draw of every mechanism fail."""

    def broken(self, *arguments):
        raise ValueError(text)

    for draw in ("draw_int", "draw_laplace", "choose"):
        monkeypatch.setattr(NoiseSource, draw, broken)


def has_delta(name):
    """Whether the guarantee has a delta other than zero."""
    return not issubclass(getattr(models, name), PureEstimator)


def make_data(name, n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.integers(0, 101, n), "job": rng.choice(["clerk", "nurse"], n)})
    chance = (X["age"] > 50).to_numpy() * 0.8 + 0.1
    if is_regression(name):
        return X, pd.Series(10 * chance)
    return X, pd.Series(np.where(rng.random(n) < chance, "yes", "no"))


pytestmark = pytest.mark.parametrize("name", PRIVATE)


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
    "unknown adjacency": {"adjacency": "neighbour"},
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


@pytest.mark.parametrize("settings", BAD_PARAMETERS.values(), ids=BAD_PARAMETERS)
def test_a_wrong_parameter_is_named_before_data_are_read_and_costs_nothing(
    name, settings, untouched
):
    ledger = PrivacyLedger("patients", cap_epsilon=10.0)
    parameter = next(iter(settings))
    with pytest.raises((ValueError, TypeError), match=parameter):
        # A model without such a parameter does not take it.
        make(name, ledger=ledger, **settings).fit(*untouched)
    assert ledger.entries == ()


def test_wrong_columns_are_named_before_data_are_read_and_cost_nothing(name, untouched):
    ledger = PrivacyLedger("patients", cap_epsilon=10.0)
    X, y = untouched
    for wrong in (X.rename(columns={"job": "Job"}), X[["age"]], X.assign(extra=1)):
        with pytest.raises((SchemaError, ValueError)):
            make(name, ledger=ledger).fit(wrong, y)
    with pytest.raises(ValueError, match="2"):
        make(name, ledger=ledger).fit(np.zeros((5, 3)), np.zeros(5))
    assert ledger.entries == ()


def test_a_target_of_the_wrong_length_costs_nothing(name):
    ledger = PrivacyLedger("patients", cap_epsilon=10.0)
    X, y = make_data(name)
    for wrong in (y[:-1], None, np.zeros((len(X), 2))):
        with pytest.raises(ValueError, match="y"):
            make(name, ledger=ledger).fit(X, wrong)
    assert ledger.entries == ()


def test_a_schema_with_the_wrong_kind_of_target_is_refused(name, untouched):
    other = Classes(["a", "b"]) if is_regression(name) else Range(0, 1)
    with pytest.raises(ValueError, match="target"):
        make(name, schema=Schema(FEATURES, target=other)).fit(*untouched)


def test_weights_and_other_fit_parameters_are_refused(name):
    X, y = make_data(name)
    with pytest.raises(TypeError, match="sample_weight"):
        make(name).fit(X, y, sample_weight=np.ones(len(X)))


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


@pytest.mark.parametrize("feature", [Numeric(0, 1, step=1e-300), Numeric(0, 5e-324)])
@pytest.mark.parametrize("preset", ["default", "paper"])
def test_schemas_at_the_limits_of_floating_point_are_fitted_or_refused_for_free(
    name, feature, preset
):
    ledger = PrivacyLedger("patients")
    schema = Schema({"x": feature}, target=schema_for(name).target)
    X, y = make_data(name)
    estimator = made_quickly(name, schema=schema, ledger=ledger, **known(name, preset=preset))
    try:
        estimator.planned_events(X[["age"]].rename(columns={"age": "x"}))
    except ValueError:
        return
    found = estimator.fit(X[["age"]].rename(columns={"age": "x"}), y).explain_global()
    assert finite_numbers(found)
    if "max_bins" in estimator.get_params():
        assert (np.diff(found["x"].bin_edges) > 0).all()


def test_a_failed_refit_leaves_no_model_of_an_earlier_fit(name, monkeypatch):
    X, y = make_data(name)
    model = make(name).fit(X, y)

    break_noise(monkeypatch, "no noise today")
    with pytest.raises(RuntimeError, match="charge"):
        model.fit(X, y)
    assert not hasattr(model, "guarantee_")
    assert not hasattr(model, "_terms")


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


def test_groups_and_a_bound_on_the_rows_of_a_person_need_each_other(name, untouched):
    with pytest.raises(ValueError, match="groups"):
        make(name, max_rows_per_person=3).fit(*untouched)
    with pytest.raises(ValueError, match="max_rows_per_person"):
        make(name).fit(*untouched, groups=np.zeros(20))


# --- warned about -----------------------------------------------------------------------------


def test_a_large_epsilon_warns_and_a_very_large_one_needs_permission(name):
    X, y = make_data(name)
    with pytest.warns(PrivacyWarning, match="epsilon"):
        make(name, epsilon=20.0).fit(X, y)
    with pytest.warns(PrivacyWarning, match="epsilon"):
        assert make(name, epsilon=60.0, allow_weak=True).fit(X, y).guarantee_.epsilon == 60.0


def test_a_delta_of_one_person_or_more_warns(name):
    if not has_delta(name):
        pytest.skip("has no delta")
    X, y = make_data(name)
    with pytest.warns(PrivacyWarning, match="delta"):
        make(name, delta=1e-2, n_public=400).fit(X, y)


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


# --- never raised because of a value ----------------------------------------------------------

HOSTILE_CELLS = [
    np.nan, np.inf, -np.inf, 1e308, -1, "", "x", CANARY, None, pd.NA, b"\xff", [1], {}, 1 + 2j,
    10**400, pd.Timestamp("2020-01-01"),
]  # fmt: skip


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


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_tiny_and_empty_tables_are_fitted_like_any_other(name, n):
    X, y = make_data(name, n)
    model = made_quickly(name, 3).fit(X, y)
    assert list(model.feature_names_in_) == ["age", "job"]
    assert finite_numbers(model.explain_global())


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


@pytest.mark.parametrize("preset", ["default", "paper"])
@pytest.mark.parametrize("composition", [None, "joint", "gdp", "classic", "pld", "rdp", "moments"])
def test_the_ledger_never_holds_more_than_was_asked_for(name, preset, composition):
    X, y = make_data(name)
    settings = known(name, preset=preset, composition=composition)
    estimator = made_quickly(name, 5, **settings)
    try:
        estimator.planned_events(X)
    except ValueError as error:
        if "is not a choice" not in str(error):
            raise
        pytest.skip(f"{name} has no such preset or composition")
    model = estimator.fit(X, y)
    spent = model.ledger_.total_epsilon(1e-6)
    assert spent <= 1.0 * (1 + 1e-6)
    if not has_delta(name):
        return
    if model.guarantee_.mu is not None:
        assert model.ledger_.summary().entries[0].mu == pytest.approx(model.guarantee_.mu)
    if composition in ("joint", "pld"):
        assert spent == pytest.approx(1.0, rel=1.1e-4)


def test_planned_events_are_the_ones_that_a_fit_charges(name, untouched):
    X, y = make_data(name)
    estimator = make(name, epsilon=0.3)
    planned = estimator.planned_events(untouched[0])
    assert estimator.fit(X, y).ledger_.entries[0].events == planned


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


def test_fits_with_the_same_structure_seed_have_fresh_noise(name):
    X, y = make_data(name)
    estimator = make(name, structure_seed=1)
    first, second = (clone(estimator).fit(X, y).explain_global().frame() for _ in range(2))
    column = "contribution" if "contribution" in first else "weight"
    assert not np.array_equal(first[column], second[column])


def test_clones_and_their_fits_share_the_ledger(name):
    ledger = PrivacyLedger("patients", cap_epsilon=10.0)
    X, y = make_data(name)
    clone(clone(make(name, ledger=ledger))).fit(X, y)
    assert len(ledger.entries) == 1


def test_a_pickled_model_predicts_the_same(name):
    X, y = make_data(name)
    model = make(name).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.explain_global() == model.explain_global()


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


def test_at_most_the_stated_rows_of_a_person_are_used(name):
    if not accepts(name, "bin_budget_frac"):
        pytest.skip("no released number counts rows")
    X, y = make_data(name, 600)
    one_person = make(name, epsilon=8.0, max_rows_per_person=2)
    people = np.where(np.arange(600) < 500, "same", [str(i) for i in range(600)])
    counts = one_person.fit(X, y, groups=people).explain_global()["job"].count
    # 2 of the 500 rows of one person and 100 others remain. Noise on 4 cells of sd sigma.
    sigma = 2 * np.sqrt(2) / (np.sqrt(0.2) * one_person.guarantee_.mu)
    assert abs(counts.sum() - 102) < 6 * 2 * sigma
    assert 6 * 2 * sigma < 250


def test_column_order_and_number_type_do_not_matter(name):
    X, y = make_data(name)
    model = make(name).fit(X, y)
    shuffled = X[["job", "age"]].astype({"age": str})
    np.testing.assert_array_equal(model.predict(shuffled), model.predict(X))
    np.testing.assert_array_equal(model.predict(X.to_numpy(dtype=object)), model.predict(X))


def test_own_warnings_are_only_privacy_warnings(name):
    X, y = make_data(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(name).fit(X, y).explain_global()
