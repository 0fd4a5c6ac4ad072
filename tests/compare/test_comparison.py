"""Comparisons hold fits that belong together, and describe their cost."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dpexplain import Comparison, PrivacyLedger
from dpexplain.accounting import GaussianEvent, LaplaceEvent, Person
from dpexplain.accounting.gdp import epsilon_from_mu
from dpexplain.explain import Guarantee
from example_explanations import HOSTILE_NAMES, age, age_and_job, classifier, job, reference
from fake_estimator import FakePrivateClassifier


def fit(epsilon, **changes):
    mu = FakePrivateClassifier(epsilon=epsilon).mu
    return classifier(Guarantee(epsilon, 1e-6, "add_remove", True, mu=mu), **changes)


def metrics(value=0.8):
    row = (0.5, 0, "AUROC", value, False)
    return pd.DataFrame([row], columns=["epsilon", "repeat", "metric", "value", "private"])


def comparison(**changes):
    fields = {
        "epsilons": (0.5, 2.0),
        "explanations": {0.5: (fit(0.5), fit(0.5)), 2.0: (fit(2.0),)},
        "reference": reference(),
        "metrics": metrics(),
        "ledger": PrivacyLedger("comparison").summary(),
        "title": "Income",
    }
    return Comparison(**{**fields, **changes})


def test_two_labels_say_each_alone_and_all_together():
    alone, together = comparison().guarantee_words
    assert alone == "each model alone: ε = 0.5, 2 (δ = 1e-06)"
    assert together.startswith("all models shown, if published together: ε = 2.")


def test_pairs_that_only_fits_without_privacy_have_name_no_row():
    pair = age_and_job()
    seeded = pair.guarantee.not_private("seeded noise")
    plain = replace(pair, guarantee=seeded)
    beside = comparison(reference=replace(reference(), pairs=(plain,)))
    assert beside.pair_names == ()
    assert list(beside.importances().index) == list(comparison().importances().index)

    unsafe = classifier(seeded, pairs=(plain,))
    mixed = comparison(explanations={0.5: (fit(0.5), unsafe), 2.0: (fit(2.0),)})
    assert mixed.pair_names == ()
    assert comparison(explanations={0.5: (unsafe,)}, epsilons=(0.5,)).pair_names == (pair.name,)
    private = fit(2.0, pairs=(age_and_job(fit(2.0).guarantee),))
    assert comparison(explanations={2.0: (private,)}, epsilons=(2.0,)).pair_names == (pair.name,)


def test_models_together_cost_their_composition():
    mus = [FakePrivateClassifier(epsilon=epsilon).mu for epsilon in (0.5, 0.5, 2.0)]
    expected = epsilon_from_mu(math.sqrt(sum(mu * mu for mu in mus)), 1e-6)
    assert comparison().epsilon_together == pytest.approx(expected)
    assert 2.0 < expected < 3.0


def pure(n_charges):
    ledger = PrivacyLedger("without mu")
    for _ in range(n_charges):
        ledger.charge([LaplaceEvent("leaves", noise_multiplier=2.0)], label="forest")
    fits = (classifier(Guarantee(0.5, 0.0, "add_remove", True)),) * 2
    return comparison(epsilons=(0.5,), explanations={0.5: fits}, ledger=ledger.summary())


def test_models_without_mu_take_the_total_of_the_ledger():
    three = pure(3)
    assert three.epsilon_together == three.ledger.private_epsilon > 1.0


def test_models_without_mu_need_a_ledger_that_can_hold_them():
    with pytest.raises(ValueError, match="2 private fits, but the ledger has 1 private entries"):
        pure(1)


@pytest.mark.parametrize(
    "other", [{"unit": "one person (patient)"}, {"adjacency": "replace"}], ids=["unit", "adjacency"]
)
def test_models_that_protect_something_else_have_no_total(other):
    mixed = classifier(replace(fit(2.0).guarantee, **other))
    with pytest.raises(ValueError, match="explanations protect different units of privacy"):
        comparison(explanations={0.5: (fit(0.5),), 2.0: (mixed,)})


def test_the_rows_of_a_person_are_no_other_unit_and_the_unit_is_named():
    units = ("one person (patient)", "one person (patient), of whom at most 2 rows are used")
    fits = [
        classifier(replace(fit(epsilon).guarantee, unit=unit))
        for epsilon, unit in zip((0.5, 2.0), units, strict=True)
    ]
    words = comparison(explanations={0.5: (fits[0],), 2.0: (fits[1],)}).guarantee_words
    assert all(line.endswith("for one person (patient)") for line in words)


def of_unnamed(groupings, ledger=None):
    """Compare two fits that protect persons of unnamed groupings, charged to one ledger."""
    charged = PrivacyLedger("unnamed") if ledger is None else ledger
    if ledger is None:
        for unit in groupings:
            charged.charge([GaussianEvent("sums", noise_multiplier=2.0)], label="fit", unit=unit)
    fits = [
        classifier(replace(fit(epsilon).guarantee, unit=unit.words))
        for epsilon, unit in zip((0.5, 2.0), groupings, strict=True)
    ]
    by_epsilon = {0.5: (fits[0],), 2.0: (fits[1],)}
    return comparison(explanations=by_epsilon, ledger=charged.summary())


def test_fits_of_two_unnamed_groupings_have_no_total():
    one, other = Person.unnamed(2), Person.unnamed(2)
    apart = of_unnamed((one, other))
    assert math.isinf(apart.epsilon_together)
    assert apart.guarantee_words[1].endswith("give no bound for the same persons")
    with pytest.raises(ValueError, match="2 private fits, but the ledger has 0 private entries"):
        of_unnamed((one, other), ledger=PrivacyLedger("another"))


def test_fits_of_one_unnamed_grouping_take_the_total_of_their_ledger():
    both = of_unnamed((Person.unnamed(2),) * 2)
    assert both.epsilon_together == both.ledger.private_epsilon < math.inf
    assert both.guarantee_words[1].endswith("for one person")


def test_seeded_models_are_called_not_private():
    seeded = classifier(Guarantee.not_private("seeded"))
    words = comparison(epsilons=(0.5,), explanations={0.5: (seeded,)}).guarantee_words
    assert all("NOT PRIVATE" in label for label in words)


def test_comparison_is_private_only_without_reference_and_diagnostics():
    assert not comparison().private
    assert not comparison(reference=None).private
    assert not comparison(metrics=None).private
    assert comparison(reference=None, metrics=None).private


def test_frame_has_every_fit_and_the_reference_last():
    frame = comparison().frame()
    assert list(frame.columns[:5]) == ["epsilon", "repeat", "private", "term", "bin"]
    assert frame["epsilon"].unique().tolist() == [0.5, 2.0, math.inf]
    assert len(frame) == 8 * 4
    assert frame.loc[frame["epsilon"] == 0.5, "repeat"].unique().tolist() == [0, 1]
    assert not frame.loc[np.isinf(frame["epsilon"]), "private"].any()


def test_importances_are_a_table_of_terms_and_epsilons():
    table = comparison().importances()
    assert table.index.tolist() == ["age", "job"]
    assert table.columns.tolist() == [0.5, 2.0, math.inf]
    assert table.loc["age", 2.0] == age().importance


def test_unknown_epsilon_is_answered_with_those_there_are():
    with pytest.raises(KeyError, match=r"no fit with epsilon=3; the epsilons are 0.5, 2"):
        comparison().explanations[3]


def test_an_epsilon_in_brackets_gives_its_fits():
    found = comparison()
    assert found[2] == found.explanations[2]
    assert list(found) == [0.5, 2.0]
    assert 3 not in found
    with pytest.raises(KeyError, match="no fit with epsilon=3"):
        found[3]


def test_explanations_cannot_be_replaced():
    with pytest.raises(TypeError):
        comparison().explanations[0.5] = ()


@pytest.mark.parametrize("revive", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_comparison_survives_copying(revive):
    assert revive(comparison()) == comparison()


def test_comparisons_with_different_numbers_differ():
    assert comparison() != comparison(metrics=metrics(0.9))
    assert comparison() != comparison(reference=None)
    assert comparison(metrics=metrics(math.nan)) == comparison(metrics=metrics(math.nan))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilons": (2.0, 0.5)}, "ascending"),
        ({"epsilons": (0.5,)}, "ascending"),
        ({"epsilons": (), "explanations": {}}, "at least one"),
        ({"epsilons": (0.5,), "explanations": {0.5: ()}}, "at least one fit"),
        ({"epsilons": (math.inf,), "explanations": {math.inf: (reference(),)}}, "finite"),
        ({"ledger": PrivacyLedger("x")}, "LedgerSummary"),
        ({"title": None}, "title"),
        ({"reference": "none"}, "GlobalExplanation"),
        ({"metrics": pd.DataFrame({"value": [1]})}, "columns"),
        ({"reference": classifier(classes=("a", "b"))}, "classes"),
        ({"reference": classifier(terms=(age(), job(name="work")))}, "terms"),
    ],
)
def test_what_does_not_belong_together_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        comparison(**changes)


def test_repr_and_html_carry_both_labels_and_the_warning():
    shown = comparison()
    assert "if published together" in repr(shown)
    page = shown._repr_html_()
    for words in (*shown.guarantee_words, "NOT PRIVATE", "diagnostic on held-out records"):
        assert words in page
    assert len(page) < 6_000


def test_figures_of_one_metric_have_the_same_decimals():
    table = pd.concat([metrics(0.75), metrics(0.7341).assign(epsilon=2.0)])
    page = comparison(metrics=table)._repr_html_()
    assert ">0.750<" in page
    assert ">0.734<" in page


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_names_stay_text_in_html(name):
    terms = (age(name=name), job())
    shown = comparison(
        epsilons=(0.5,),
        explanations={0.5: (fit(0.5, terms=terms),)},
        reference=None,
        metrics=None,
        title=name,
    )
    page = shown._repr_html_()
    assert "<img" not in page
    assert "<script" not in page
    assert len(page) < 6_000
