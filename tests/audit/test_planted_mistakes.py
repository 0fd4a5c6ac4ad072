"""Every planted mistake is noticed by each tier that should notice it, on every estimator."""

from __future__ import annotations

import pytest

from audit_subjects import SUBJECTS
from dpexplain.audit.mutants import MUTANTS
from dpexplain.audit.subjects import powerful_tiers
from dpexplain.audit.tiers import planted_case, problems

pytestmark = pytest.mark.full

# Tier 3 fits hundreds of models: here for the first target of each, and for all by `make audit`.
FIRST = list({subject.estimator_class: subject for subject in reversed(SUBJECTS)}.values())
PLANTED = [
    pytest.param(mutant, tier, subject, id=f"tier {tier}-{mutant.name}-{subject.name}")
    for mutant in MUTANTS
    for tier in sorted(mutant.seen_by - {4})
    for subject in SUBJECTS
    if tier in powerful_tiers(subject)
    if tier < 3 or subject in FIRST
    if planted_case(mutant, subject) is not None
]


@pytest.mark.parametrize(("mutant", "tier", "subject"), PLANTED)
def test_a_planted_mistake_is_noticed(mutant, tier, subject):
    """Each mistake goes unnoticed with a probability of at most 1e-7.

    Tier 1 is exact. In tier 2, mistakes are at least eight standard deviations off. Tier 3 goes on
    until it has decided: it misses, with probability 1e-7 at most, a canary that shows 1.75 times
    what is stated. The weakest mistakes here double it, and the canary of several classes makes
    0.88 of what it could.
    """
    assert problems(tier, planted_case(mutant, subject))


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
