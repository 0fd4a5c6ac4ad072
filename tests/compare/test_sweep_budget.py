"""What a sweep costs: all of it at once, before data are read, or nothing."""

from __future__ import annotations

import math

import pytest
from sklearn.base import clone

from dpexplain import BudgetError, PrivacyLedger, sweep
from dpexplain.accounting.composition import compose_mu
from dpexplain.accounting.gdp import epsilon_from_mu
from fake_estimator import FakePrivateClassifier, Untouchable, UntouchableColumn, table

QUIET = {"progress": False}


def refused(error, match, estimator=None, X=None, y=None, **arguments):
    """Run a sweep that must be refused, on data that must not be touched."""
    ledger = arguments.pop("ledger", None) or PrivacyLedger("refused sweeps")
    before = ledger.to_json()
    estimator = FakePrivateClassifier() if estimator is None else estimator
    X = Untouchable() if X is None else X
    y = UntouchableColumn() if y is None else y
    with pytest.raises(error, match=match) as caught:
        sweep(estimator, X, y, ledger=ledger, **{**QUIET, **arguments})
    assert ledger.to_json() == before
    return caught


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epsilons": ()}, "epsilons is empty"),
        ({"epsilons": (1, 1.0)}, "duplicate value"),
        ({"epsilons": (1, -1)}, "epsilon"),
        ({"epsilons": (1, 0)}, "epsilon"),
        ({"epsilons": (1, math.nan)}, "epsilon"),
        ({"epsilons": (1, math.inf)}, "epsilon"),
        ({"epsilons": (1, True)}, "epsilon"),
        ({"epsilons": (1, 1000)}, "epsilon"),
        ({"epsilons": "12"}, "sequence of numbers"),
        ({"epsilons": 1.0}, "sequence of numbers"),
        ({"n_repeats": 0}, "n_repeats"),
        ({"n_repeats": 1.5}, "n_repeats"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"n_jobs": "all"}, "n_jobs"),
        ({"structure_seed": -1}, "structure_seed"),
        ({"evaluate": Untouchable()}, "pair"),
        ({"evaluate": (Untouchable(), [1, 2])}, "y of evaluate"),
        ({"y": [1, 2]}, "y must contain one value"),
        ({"y": Untouchable()}, "y must contain one value"),
        (
            {"groups": [1, 2], "estimator": FakePrivateClassifier(max_rows_per_person=2)},
            "groups must contain one value",
        ),
    ],
)
def test_wrong_parameter_costs_nothing_and_touches_no_data(arguments, message):
    refused(ValueError, message, **arguments)


@pytest.mark.filterwarnings("ignore:epsilon=49")
def test_wrong_epsilon_is_found_before_the_first_fit_is_charged():
    refused(ValueError, "epsilon", epsilons=(0.5, 49, 51))


def test_wrong_columns_cost_nothing_and_touch_no_data():
    renamed = Untouchable()
    renamed.columns = ["age", "occupation"]
    refused(ValueError, "columns", X=renamed)
    refused(ValueError, "columns", evaluate=(renamed, UntouchableColumn()))


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (FakePrivateClassifier, "not a private estimator"),
        (FakePrivateClassifier().reference_estimator(), "not a private estimator"),
        (FakePrivateClassifier(reproducible_seed=1), "NOT PRIVATE"),
        (
            FakePrivateClassifier(max_rows_per_person=3),
            "groups= of the sweep must be given together",
        ),
        (
            FakePrivateClassifier(ledger=PrivacyLedger("another")),
            "differs from the estimator's ledger",
        ),
    ],
)
def test_wrong_estimator_costs_nothing_and_touches_no_data(estimator, message):
    refused(ValueError, message, estimator=estimator)


def test_sweep_beyond_the_cap_is_refused_as_a_whole():
    # 0.9 alone would fit below the cap of 1, 0.8 and 0.9 together do not
    ledger = PrivacyLedger("capped", cap_epsilon=1.0)
    refused(BudgetError, "this sweep needs", ledger=ledger, epsilons=(0.8, 0.9))
    X, y = table()
    sweep(FakePrivateClassifier(), X, y, epsilons=(0.9,), ledger=ledger, **QUIET)
    assert ledger.private_epsilon() <= 1.0


def test_sweep_of_another_adjacency_than_the_ledger_is_refused():
    refused(BudgetError, "adjacency", estimator=FakePrivateClassifier(adjacency="replace"))


@pytest.mark.parametrize("n_repeats", [1, 3])
def test_every_fit_is_an_entry_and_together_they_cost_their_composition(n_repeats):
    X, y = table()
    ledger = PrivacyLedger(f"together {n_repeats}", delta=1e-6)
    epsilons = (0.5, 1.0, 2.0)
    sweep(
        FakePrivateClassifier(), X, y, epsilons=epsilons, n_repeats=n_repeats, reference=False,
        ledger=ledger, **QUIET,
    )  # fmt: skip
    assert len(ledger.entries) == len(epsilons) * n_repeats
    mus = [FakePrivateClassifier(epsilon=epsilon).mu for epsilon in epsilons] * n_repeats
    assert ledger.total_epsilon() == pytest.approx(epsilon_from_mu(compose_mu(mus), 1e-6), rel=1e-6)
    assert ledger.total_epsilon() < sum(epsilons) * n_repeats


def test_reference_makes_the_total_infinite_and_leaves_the_private_part_finite():
    X, y = table()
    ledger = PrivacyLedger("with reference")
    sweep(FakePrivateClassifier(), X, y, epsilons=(0.5,), ledger=ledger, **QUIET)
    assert ledger.total_epsilon() == math.inf
    assert ledger.private_epsilon() == pytest.approx(0.5, rel=1e-3)


def test_ledger_of_the_estimator_pays():
    X, y = table()
    ledger = PrivacyLedger("of the estimator")
    estimator = FakePrivateClassifier(ledger=ledger)
    sweep(estimator, X, y, epsilons=(0.5,), **QUIET)
    assert [entry.label for entry in ledger.entries] == [
        "FakePrivateClassifier (epsilon=0.5)",
        "FakeReference",
    ]
    assert estimator.get_params() == clone(estimator).get_params()


def test_sweep_without_a_ledger_opens_one_and_says_so():
    X, y = table()
    comparison = sweep(FakePrivateClassifier(), X, y, epsilons=(0.5, 1.0), **QUIET)
    assert comparison.ledger.dataset == "this sweep alone"
    assert len(comparison.ledger.entries) == 3


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_failing_fit_stays_charged_and_its_error_holds_no_data(n_jobs):
    X, y = table()
    X["age"] = 71.123
    ledger = PrivacyLedger("failing")
    with pytest.raises(RuntimeError, match="ValueError; the sweep stays charged") as caught:
        sweep(
            FakePrivateClassifier(broken=True), X, y, epsilons=(0.5, 1.0), ledger=ledger,
            n_jobs=n_jobs, **QUIET,
        )  # fmt: skip
    assert len(ledger.entries) == 3
    assert "71.123" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_an_unknown_argument_is_answered_with_the_known_ones_and_costs_nothing():
    refused(TypeError, "sweep has no parameter 'test'; it has .* evaluate, ", test=None)
    refused(TypeError, "did you mean 'epsilons'", epsilon=None)
