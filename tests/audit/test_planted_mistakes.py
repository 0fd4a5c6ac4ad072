"""Every planted mistake is noticed by each tier that has to: power 1 on every estimator."""

from __future__ import annotations

import pytest

from dpexplain.audit.cases import private_estimators, targets
from dpexplain.audit.mutants import MUTANTS
from dpexplain.audit.report import title
from dpexplain.audit.tiers import planted_case, problems

# Fits with the canary, and without it, that tier 3 needs. The weakest mistakes double the
# parameter that is stated, so that both error rates are Phi(-1.53) = 0.063. After 200 fits their
# limits at one in a million stay below 0.19, and the bound above the stated 1.53, unless an error
# rate is more than four standard deviations (0.017 each) off.
N_FITS = 200

PLANTED = [
    pytest.param(mutant, tier, cls, target, id=f"tier {tier}-{mutant.name}-{title(cls, target)}")
    for mutant in MUTANTS
    for tier in sorted(mutant.seen_by - {4})
    for cls in private_estimators().values()
    for target in targets(cls)
    if planted_case(mutant, cls, target) is not None
]


@pytest.mark.parametrize(("mutant", "tier", "estimator_class", "target"), PLANTED)
def test_a_planted_mistake_is_noticed(mutant, tier, estimator_class, target):
    case = planted_case(mutant, estimator_class, target)
    assert problems(tier, case, n_fits=N_FITS)


def test_every_estimator_can_make_most_mistakes_and_each_is_looked_for():
    """A model to which no mistake applies would pass an audit that never looked."""
    assert {m.name for m in MUTANTS} == {p.values[0].name for p in PLANTED}
    for cls in private_estimators().values():
        for target in targets(cls):
            planted = {m.name for m in MUTANTS if planted_case(m, cls, target) is not None}
            assert len(planted) >= 9, (cls, planted)
    assert all(mutant.seen_by & {1, 2, 3} for mutant in MUTANTS)


def test_a_mutant_states_what_the_honest_estimator_states():
    for cls in private_estimators().values():
        target = targets(cls)[0]
        for mutant in MUTANTS:
            case = planted_case(mutant, cls, target)
            if case is not None:
                model = case.estimator.fit(*case.present)
                assert type(model).__name__ == cls.__name__
                assert model.guarantee_.private
                assert model.guarantee_.epsilon == 8.0
