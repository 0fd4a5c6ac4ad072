"""Every planted mistake is noticed by each tier that has to: power 1 on every estimator."""

from __future__ import annotations

import pytest

from audit_subjects import SUBJECTS
from dpexplain.audit.mutants import MUTANTS
from dpexplain.audit.tiers import planted_case, problems

# Fits with the canary, and without it, that tier 3 needs. The weakest mistakes double the
# parameter that is stated, so that both error rates are Phi(-1.53) = 0.063. After 200 fits their
# limits at one in a million stay below 0.19, and the bound above the stated 1.53, unless an error
# rate is more than four standard deviations (0.017 each) off.
N_FITS = 200

# Residuals of several classes reach sqrt(2) clips only where all other probability is on one class;
# at the start of three classes it is spread, and the canary uses 0.89 of the parameter. Errors
# are then Phi(-1.37) = 0.086, and 400 fits leave as much room.
N_FITS_OF_CLASSES = 400

PLANTED = [
    pytest.param(mutant, tier, subject, id=f"tier {tier}-{mutant.name}-{subject.name}")
    for mutant in MUTANTS
    for tier in sorted(mutant.seen_by - {4})
    for subject in SUBJECTS
    if planted_case(mutant, subject) is not None
]


@pytest.mark.parametrize(("mutant", "tier", "subject"), PLANTED)
def test_a_planted_mistake_is_noticed(mutant, tier, subject):
    many = len(getattr(subject.target, "labels", ())) > 2
    n_fits = N_FITS_OF_CLASSES if many else N_FITS
    assert problems(tier, planted_case(mutant, subject), n_fits=n_fits)


def test_every_estimator_can_make_most_mistakes_and_each_is_looked_for():
    """A model to which no mistake applies would pass an audit that never looked."""
    assert {m.name for m in MUTANTS} == {p.values[0].name for p in PLANTED}
    for subject in SUBJECTS:
        planted = {m.name for m in MUTANTS if planted_case(m, subject) is not None}
        assert len(planted) >= 9, (subject, planted)
    assert all(mutant.seen_by & {1, 2, 3} for mutant in MUTANTS)


def test_a_mutant_states_what_the_honest_estimator_states():
    for subject in SUBJECTS:
        for mutant in MUTANTS:
            case = planted_case(mutant, subject)
            if case is not None:
                model = case.estimator.fit(*case.present)
                assert type(model).__name__ == subject.estimator_class.__name__
                assert model.guarantee_.private
                assert model.guarantee_.epsilon == 8.0
