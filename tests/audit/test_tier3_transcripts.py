"""Tier 3: whoever sees all noisy answers learns no more of the canary than is stated."""

from __future__ import annotations

import numpy as np

from audit_subjects import every_subject
from dpexplain.audit.bounds import Guesses
from dpexplain.audit.cases import canary_case
from dpexplain.audit.likelihood import ALL, TranscriptAudit, audit_transcripts
from dpexplain.audit.tiers import CONFIDENCE


@every_subject
def test_the_best_attacker_learns_nearly_what_is_stated_and_not_more(subject):
    """At mu = 1.53 both error rates are Phi(-0.766) = 0.222, known to 0.0186 after 500 fits.

    Their limits at 97.5 % are about 0.259, which makes the bound 2 * 0.646 = 1.29, with a
    standard deviation of sqrt(2) * 0.0186 / phi(0.646) = 0.081. A canary that uses 0.89 of the
    parameter, as that of three classes does, makes it 1.13. The demanded 0.84 is more than three
    and a half standard deviations below that.
    """
    audit = audit_transcripts(canary_case(subject), n_fits=500)
    assert audit.violations(CONFIDENCE) == []
    assert audit.tightness() > 0.55


def synthetic(mu, n, rng):
    """Guesses from a Gaussian release of parameter mu, as the likelihood ratio makes them."""
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
