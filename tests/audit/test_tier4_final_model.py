"""Tier 4 on a small scale: an attacker on final models. The long run is `make audit`."""

from __future__ import annotations

import numpy as np
import pytest

from audit_subjects import SUBJECTS, every_subject
from dpexplain.audit.__main__ import main
from dpexplain.audit.black_box import as_matrix, audit_final_model, observations
from dpexplain.audit.cases import canary_case
from dpexplain.audit.mutants import MUTANTS
from dpexplain.audit.report import PowerRow, bound_row, bounds_table, power_rows, power_table
from dpexplain.audit.subjects import powerful_tiers
from dpexplain.audit.tiers import planted_case, problems

pytestmark = pytest.mark.full


@every_subject
def test_final_models_show_no_more_than_is_stated(subject):
    assert problems(4, canary_case(subject), n_fits=100) == []


@every_subject
def test_a_kept_number_of_records_gives_the_canary_away(subject):
    """Perfect guesses on 45 fits each bound both rates by 0.33: mu exceeds 0.9, epsilon 0.7.

    A mu of 0.07 and an epsilon of 0.25 are stated. The number shows whatever epsilon is.
    """
    (mutant,) = (m for m in MUTANTS if m.name == "exact number of records kept")
    assert problems(4, planted_case(mutant, subject, epsilon=0.25), n_fits=75)


@every_subject
def test_scores_explanation_and_attributes_are_looked_at(subject):
    case = canary_case(subject)
    model = case.estimator.fit(*case.present)
    model.kept_ = {"list": [1.5, "clerk"], "array": np.array([2.0])}
    seen = observations(model, case.present[0])
    assert len(seen) > 10
    assert any(name.startswith("score") for name in seen)
    assert seen["kept_[list][0]"] == 1.5
    assert seen["kept_[list][1] is clerk"] == 1.0
    assert seen["kept_[array][0]"] == 2.0


def test_numbers_that_only_some_models_show_tell_them_apart():
    seen = [{"a": 1.0}, {"a": 2.0, "b": 5.0}, {"a": 1.5}, {"a": 2.5, "b": 5.0}]
    matrix = as_matrix(seen, np.array([True, True, True, False]))
    assert matrix.shape == (4, 2)
    lacks = matrix[:, 1]
    assert lacks[0] == pytest.approx(lacks[2], abs=0.01)
    assert abs(lacks[0] - lacks[1]) > 1.0


def test_an_attacker_learns_and_guesses_on_different_fits():
    case = canary_case(SUBJECTS[0])
    audit = audit_final_model(case, n_fits=50)
    assert audit.balanced.n_present == audit.balanced.n_absent == 30
    assert audit.confident.n_present == 30


def test_the_command_prints_both_tables_and_says_what_went_unnoticed(capsys, monkeypatch):
    """Ten final models are too few to notice anything, so tier 4 must be reported as failing."""
    name = SUBJECTS[0].name
    planted = [m for m in MUTANTS if m.name in ("records counted twice", "category list from data")]
    for module in ("__main__", "report"):
        monkeypatch.setattr(f"dpexplain.audit.{module}.MUTANTS", planted)
    status = main([name, "--fits", "10", "--epsilon", "8", "--jobs", "1"])
    printed = capsys.readouterr()
    assert status == 1
    assert f"| {name}" in printed.out
    for mutant in planted:
        assert f"| {mutant.name} " in printed.out
        assert f"FAILED: tier 4 missed: {mutant.name}" in printed.err
    assert "tier 3 missed" not in printed.err


def test_the_command_succeeds_where_nothing_is_wrong_for_every_estimator(capsys):
    assert main(["--fits", "10", "--epsilon", "1", "--jobs", "1", "--no-mistakes"]) == 0
    printed = capsys.readouterr().out
    assert "planted" not in printed
    for subject in SUBJECTS:
        assert f"| {subject.name} " in printed


def test_a_guarantee_that_is_not_gaussian_gets_no_gaussian_bound_of_its_final_model():
    pure, gaussian = (
        bound_row(s, 1.0, n_fits=10)
        for name in ("DPBoostClassifier", "DPExplainableBoostingClassifier")
        for s in SUBJECTS
        if s.name == name
    )
    assert (pure.mu, pure.model_mu, pure.model_epsilon_of_mu) == (None, None, None)
    assert None not in (gaussian.mu, gaussian.model_mu, gaussian.model_epsilon_of_mu)
    assert bounds_table([pure]).splitlines()[-1].count(" – |") == 3
    assert "–" not in bounds_table([gaussian]).splitlines()[-1]


def test_a_mistake_that_one_run_missed_counts_as_unnoticed():
    mutant, every = MUTANTS[0], frozenset({1, 2, 3, 4})
    all_seen = dict.fromkeys((1, 2, 3, 4), 3)
    assert PowerRow(mutant, every, 3, all_seen).survives == []
    assert PowerRow(mutant, every, 3, all_seen | {3: 2}).survives == [3]


def test_a_tier_without_power_on_an_estimator_does_not_have_to_notice():
    mutant = MUTANTS[0]
    strong, weak = (
        next(s for s in SUBJECTS if (powerful_tiers(s) == {2}) is weak) for weak in (False, True)
    )
    missed, seen = dict.fromkeys((1, 2, 3, 4), False), dict.fromkeys((1, 2, 3, 4), True)
    rows = power_rows([(mutant, strong, seen), (mutant, weak, missed | {2: True})])
    assert [(row.powerful, row.runs, row.survives) for row in rows] == [
        (frozenset({1, 2, 3, 4}), 1, []),
        (frozenset({2}), 1, []),
    ]
    assert "**0.00**" not in power_table(rows)
    (row,) = power_rows([(mutant, weak, missed)])
    assert row.survives == [2]
