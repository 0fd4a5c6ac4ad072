"""Tier 3: an attacker with all noisy answers learns no more than stated."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from audit_subjects import SUBJECTS, every_subject
from dpexplain.audit.cases import canary_case
from dpexplain.audit.mutants import MUTANTS
from dpexplain.audit.statistics import likelihood
from dpexplain.audit.statistics.bounds import Guesses
from dpexplain.audit.statistics.likelihood import (
    ALL,
    TranscriptAudit,
    audit_transcripts,
    paired_errors,
    refute_transcripts,
    stated_mu,
)
from dpexplain.audit.statistics.sequential import ErrorTest
from dpexplain.audit.subjects import powerful_tiers
from dpexplain.audit.tiers import CONFIDENCE, planted_case

pytestmark = pytest.mark.full


def shows_nearly_what_is_stated(pairs):
    """Whether the errors of pairs of fits refute 0.55 of what is stated.

    Less would pass with a probability of 1e-7. The test is as certain to accept 0.85 and above; the
    canary reaches 0.98 of what is stated (0.88 if there are several classes; see tier 1). No test
    could distinguish the two faster.
    """
    test = None
    for model, errors in pairs:
        stated = stated_mu(model)[ALL]
        test = test or ErrorTest(0.55 * stated, 0.85 * stated, 1e-7)
        test.count(errors[ALL])
        if test.decided:
            break
    return test.refutes


def shared_pairs(case, monkeypatch):
    """Return the pairs of fits that `refute_transcripts` is to use, for another test of them."""
    used, left = itertools.tee(paired_errors(case))
    monkeypatch.setattr(likelihood, "paired_errors", lambda case: used)
    return left


@every_subject
def test_the_best_attacker_learns_what_is_stated_or_slightly_less(subject, monkeypatch):
    """Each verdict is wrong with a probability of at most 1e-7."""
    case = canary_case(subject)
    pairs = shared_pairs(case, monkeypatch)
    assert refute_transcripts(case, doubt=1e-7) == []
    if 3 in powerful_tiers(subject):
        assert shows_nearly_what_is_stated(pairs)


SAMPLING = [s for s in SUBJECTS if hasattr(s.estimator_class, "_sampler")]


@pytest.mark.parametrize("subject", SAMPLING, ids=lambda s: s.name)
def test_samples_hide_as_much_as_is_stated_and_hardly_more(subject, monkeypatch):
    """Each verdict is wrong with a probability of 1e-7; the margins are those above."""
    case = canary_case(subject, epsilon=10.0, sampling_probability=0.7, n_steps=3)
    pairs = shared_pairs(case, monkeypatch)
    assert refute_transcripts(case, doubt=1e-7) == []
    assert case.estimator.fit(*case.present).guarantee_.mu is None
    assert shows_nearly_what_is_stated(pairs)


def test_too_few_fits_are_an_error_and_no_verdict():
    with pytest.raises(RuntimeError, match=r"3 fits .* all releases"):
        refute_transcripts(canary_case(SUBJECTS[0]), most_pairs=3)


def test_releases_that_part_ways_are_noticed_at_once():
    (mutant,) = (m for m in MUTANTS if m.name == "category list from data")
    case = planted_case(mutant, SUBJECTS[0])
    assert "shape" in refute_transcripts(case, most_pairs=1)[0]


def synthetic(mu, n, rng):
    """Make likelihood-ratio guesses from a Gaussian release with parameter mu."""
    false_alarms = int((rng.standard_normal(n) > mu / 2).sum())
    misses = int((rng.standard_normal(n) + mu <= mu / 2).sum())
    return Guesses(n, false_alarms, n, misses)


def test_each_label_is_held_to_its_own_budget():
    rng = np.random.default_rng(0)
    guesses = {ALL: synthetic(1.0, 5000, rng), "sums": synthetic(1.0, 5000, rng)}
    audit = TranscriptAudit(guesses, {ALL: 2.0, "sums": 0.5}, parted=0)
    found = audit.violations(CONFIDENCE)
    assert len(found) == 1
    assert found[0].startswith("sums")


def test_fits_that_part_ways_are_a_violation_of_their_own():
    nothing = {ALL: Guesses(10, 5, 10, 5)}
    assert TranscriptAudit(nothing, {ALL: 1.0}, parted=0).violations(CONFIDENCE) == []
    assert TranscriptAudit(nothing, {ALL: 1.0}, parted=1).violations(CONFIDENCE) != []


def test_bounds_of_a_fixed_number_of_fits_stay_below_what_is_stated():
    audit = audit_transcripts(canary_case(SUBJECTS[0]), n_fits=50)
    assert audit.violations(CONFIDENCE) == []
    assert audit.parted == 0
    assert {g.n_present for g in audit.guesses.values()} == {50}
