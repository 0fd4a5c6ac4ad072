"""Fits on request: free on declared stand-in data, charged on private data."""

from __future__ import annotations

import pytest

from dpexplain import BudgetError, DPExplainableBoostingClassifier, PrivacyLedger
from dpexplain.compare import Refitter
from dpexplain.datasets import load_fair


@pytest.fixture(scope="module")
def survey():
    return load_fair()


def estimator(survey, **parameters):
    return DPExplainableBoostingClassifier(schema=survey.schema, max_rounds=40, **parameters)


@pytest.mark.parametrize("data", ["mine", "", None, "PUBLIC"])
def test_data_that_are_not_declared_are_refused(survey, data):
    with pytest.raises(ValueError, match="'public', 'simulated' or 'private'"):
        Refitter(estimator(survey), survey.X, survey.y, data=data)


def test_private_data_need_a_ledger_and_stand_ins_have_none(survey):
    with pytest.raises(ValueError, match="needs a ledger"):
        Refitter(estimator(survey), survey.X, survey.y, data="private")
    ledger = PrivacyLedger("survey")
    for given in ({"ledger": ledger}, {}):
        model = estimator(survey, ledger=None if given else ledger)
        with pytest.raises(ValueError, match="a ledger belongs to private data"):
            Refitter(model, survey.X, survey.y, data="simulated", **given)
    assert ledger.entries == ()


def test_stand_in_data_are_fitted_at_any_epsilon_without_a_question(survey):
    refit = Refitter(estimator(survey), survey.X, survey.y, data="public")

    assert not refit.private
    assert refit.question([1.0]) == ""
    assert refit(0.7).guarantee.epsilon == 0.7
    assert "survey" not in repr(refit)


def test_a_private_fit_is_charged_and_its_question_says_so_before(survey):
    ledger = PrivacyLedger("survey", cap_epsilon=3.0)
    refit = Refitter(estimator(survey), survey.X, survey.y, data="private", ledger=ledger)

    words = refit.question([1.0])
    assert "ε = 1?" in words
    assert "ε = 0.1235, 1?" in refit.question([0.12341, 1.0])  # rounded up
    assert "'survey'" in words
    assert "permanently charges the ledger" in words
    assert ledger.entries == ()
    refit(1.0)
    assert len(ledger.entries) == 1
    assert ledger.private_epsilon() == pytest.approx(1.0, rel=1e-6)


def test_a_question_that_the_ledger_cannot_pay_for_is_refused_before_data_are_read(survey):
    ledger = PrivacyLedger("survey", cap_epsilon=1.0)
    refit = Refitter(estimator(survey, ledger=ledger), survey.X, survey.y, data="private")

    with pytest.raises(BudgetError, match="does not cover this"):
        refit.question([0.9, 0.9])
    assert ledger.entries == ()


def test_rows_and_targets_must_be_as_many(survey):
    with pytest.raises(ValueError, match="one value for each row"):
        Refitter(estimator(survey), survey.X, survey.y[:-1], data="public")


@pytest.mark.full
def test_what_was_charged_can_be_read_without_the_ledger(survey):
    ledger = PrivacyLedger("survey")
    refit = Refitter(estimator(survey, ledger=ledger), survey.X, survey.y, data="private")
    assert refit.ledger.entries == ()
    refit(1.0)
    assert refit.ledger == ledger.summary()
    assert len(refit.ledger.entries) == 1
    assert Refitter(estimator(survey), survey.X, survey.y, data="public").ledger is None
