"""Charges follow from the phase that draws the noise; uncharged draws are refused."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import RegressorMixin

import dpexplain.models as models
from dpexplain import Classes, Numeric, Range, Schema
from dpexplain.accounting import (
    DiscreteLaplaceEvent,
    GaussianEvent,
    LaplaceEvent,
    NonPrivateEvent,
    PureEvent,
)
from dpexplain.accounting.pld import pld_delta
from dpexplain.accounting.spending import Spending
from dpexplain.audit import private_estimators
from dpexplain.mechanisms import (
    Allowance,
    ChoicePhase,
    LaplacePhase,
    Mechanism,
    NoiseSource,
    Phase,
    Releases,
    SampledPhase,
)
from effort import examples
from exact_loss import laplace_loss
from private_models import by_model

PHASES = [
    Phase("sums", 2.0**20, 2.0**22, 12),
    SampledPhase("gradients", 2.0**21, 2.0**22, 12, 2, 0.25),
    LaplacePhase("leaves", 3.0, 7.0, 12),
    ChoicePhase("splits", 4.0, 0.3, 5, 12),
]
kinds = pytest.mark.parametrize("phase", PHASES, ids=lambda phase: phase.label)


class Watched(NoiseSource):
    """Remembers how often it was asked for noise."""

    asked = 0

    def draw_int(self, sigma_int, size):
        self.asked += 1
        return super().draw_int(sigma_int, size)

    def draw_laplace(self, scale_int, size):
        self.asked += 1
        return super().draw_laplace(scale_int, size)

    def choose(self, utilities, epsilon, spread):
        self.asked += 1
        return super().choose(utilities, epsilon, spread)


def release(mechanism, phase):
    if isinstance(phase, ChoicePhase):
        return mechanism.choose(np.zeros((1, phase.n_candidates), dtype=np.int64))
    return mechanism.release(np.zeros(1, dtype=np.int64))


@kinds
@pytest.mark.parametrize("count", [1, 3])
def test_event_of_a_phase_pays_for_so_many_releases_and_none_more(phase, count):
    mechanism = Mechanism(NoiseSource(), [Releases(phase, count).event])
    mechanism.begin(phase)
    for _ in range(count):
        assert len(release(mechanism, phase)) == 1
    with pytest.raises(RuntimeError, match=f"do not cover another release of phase '{phase.label}"):
        release(mechanism, phase)


@kinds
@pytest.mark.parametrize("spoil", [lambda p: p.with_noise(0.8), lambda p: replace(p, label="a")])
def test_phase_that_was_not_planned_is_refused_before_noise_is_drawn(phase, spoil):
    source = Watched()
    mechanism = Mechanism(source, [phase.event()])
    with pytest.raises(RuntimeError, match="draw only noise that was charged"):
        mechanism.begin(spoil(phase))
    assert source.asked == 0
    mechanism.begin(phase)  # and the mechanism is ready for what was planned


def test_nothing_is_paid_for_by_events_that_are_not_private_or_of_another_kind():
    for charged in ([], [NonPrivateEvent("leaves", "seeded")], [PureEvent("leaves", 0.3)]):
        with pytest.raises(RuntimeError, match="charged"):
            Mechanism(NoiseSource(), charged).begin(LaplacePhase("leaves", 3.0, 7.0, 1))
    # A pure event is worse than any noise of its epsilon.
    fine = LaplacePhase("leaves", 3.0, 7.0, 1)
    Allowance([LaplaceEvent("leaves", math.nextafter(7 / 3, 0))]).spend(fine)
    Allowance([PureEvent("leaves", math.nextafter(3 / 7, 1))]).spend(fine)
    with pytest.raises(RuntimeError, match="charged"):
        Allowance([LaplaceEvent("leaves", math.nextafter(7 / 3, 3))]).spend(fine)
    with pytest.raises(RuntimeError, match="charged"):
        Allowance([DiscreteLaplaceEvent("leaves", 14, 6)]).spend(
            ChoicePhase("leaves", 1, 0.1, 2, 1)
        )


def test_more_noise_and_less_sensitivity_than_charged_are_covered():
    charged = Releases(LaplacePhase("leaves", 8.0, 16.0, 1)).event
    for phase in (LaplacePhase("leaves", 7.2, 16.0, 1), LaplacePhase("leaves", 8.0, 16.5, 1)):
        Allowance([charged]).spend(phase)
    for phase in (LaplacePhase("leaves", 9.0, 18.0, 1), LaplacePhase("leaves", 4.0, 8.0, 1)):
        with pytest.raises(RuntimeError, match="charged"):
            Allowance([charged]).spend(phase)  # of the same ratio, on another lattice


def test_sizes_that_follow_from_noisy_counts_may_change_at_the_same_price():
    """One release of mu is charged; 140 releases with mu**2 / 140 each are drawn."""
    mechanism = Mechanism(NoiseSource(), [GaussianEvent("boosting", 4.0)])
    with mechanism.phase(Phase("boosting", 2.0**20, math.sqrt(140) * 2.0**22, 140)):
        for _ in range(140):
            mechanism.release(np.zeros(1, dtype=np.int64))
    with pytest.raises(RuntimeError, match="charged"):
        mechanism.begin(Phase("boosting", 2.0**20, math.sqrt(140) * 2.0**22, 1))


def test_every_phase_pays_its_own_price_when_phases_alternate():
    cheap = Phase("sums", 2.0**20, 2.0**23, 12)  # a quarter of the price
    dear = Phase("sums", 2.0**20, 2.0**22, 12)
    allowance = Allowance([dear.event(3)])
    for phase in (cheap, dear, cheap, cheap, dear, cheap):
        allowance.spend(phase)
    for phase in (cheap, dear):
        with pytest.raises(RuntimeError, match="charged"):
            allowance.spend(phase)


@kinds
def test_phase_that_is_covered_pays_for_no_dearer_one(phase):
    allowance = Allowance([phase.event()])
    allowance.check(phase)
    with pytest.raises(RuntimeError, match="charged"):
        allowance.spend(phase.with_noise(0.5))
    allowance.spend(phase)


def test_event_of_a_phase_is_built_once():
    class Counted(Phase):
        built = 0

        def event(self, count=1):
            type(self).built += 1
            return super().event(count)

    phase = Counted("sums", 2.0**20, 2.0**22, 12)
    allowance = Allowance([phase.event(12)])
    Counted.built = 0
    for _ in range(12):
        allowance.spend(phase)
    assert Counted.built == 1


def test_releases_on_disjoint_records_cost_as_much_as_one():
    phases = [
        LaplacePhase("leaves", 8.0 - k, 3.0 * (8 - k) - 0.5, 1, n_disjoint=3) for k in (0, 1, 2)
    ]
    planned = Releases(phases[0], 2, tuple(phases[1:]))
    assert isinstance(planned.event, LaplaceEvent)
    allowance = Allowance([planned.event])
    for phase in phases * 2:
        allowance.spend(phase)
    with pytest.raises(RuntimeError, match="charged"):
        allowance.spend(phases[2])


@examples(30)
@given(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=2, max_size=4))
def test_event_of_several_lattices_covers_the_loss_on_each(lattices):
    phases = [LaplacePhase("leaves", float(d), float(t), 1) for d, t in lattices]
    event = Releases(phases[0], 1, tuple(phases[1:])).event
    if isinstance(event, LaplaceEvent):
        assert all(p.exact_epsilon <= 1 / Fraction(event.noise_multiplier) for p in phases)
    epsilons = np.linspace(0, max(d / t for d, t in lattices), 15)
    stated = pld_delta(Spending.of([event]), epsilons)
    for change, scale in lattices:
        exact = laplace_loss(scale, change)
        assert all(exact.delta(e) <= s + 1e-14 for e, s in zip(epsilons, stated, strict=True))


@examples(100)
@given(st.integers(1, 2**40), st.integers(-3, 3), st.floats(1, 1e6))
def test_rounding_hides_no_step_of_the_lattice_that_is_drawn_on(steps, ulps, scale):
    stated = float(steps)
    for _ in range(abs(ulps)):
        stated = math.nextafter(stated, math.inf if ulps > 0 else 0.0)
    phase = LaplacePhase("leaves", stated, scale, 1)
    assert steps <= phase.drawn_sensitivity <= steps * (1 + 2e-12)
    assert phase.drawn_scale == math.ceil(scale)
    assert phase.event() == DiscreteLaplaceEvent(
        "leaves", phase.drawn_scale, phase.drawn_sensitivity
    )


def test_copies_of_a_mechanism_pay_for_nothing():
    mechanism = Mechanism(NoiseSource(), [PHASES[2].event(5)])
    for twin in (
        copy.copy(mechanism),
        copy.deepcopy(mechanism),
        pickle.loads(pickle.dumps(mechanism)),
    ):
        with pytest.raises(RuntimeError, match="charged"):
            twin.begin(PHASES[2])
    free = pickle.loads(pickle.dumps(Mechanism(NoiseSource())))
    free.begin(PHASES[2])


# --- whole fits ---------------------------------------------------------------------------------


def planted(kind, factor):
    """Return an estimator whose drawing phases are not those charged."""

    class Careless(kind):
        def _fit_released(self, X, y, schema, mechanism):
            honest = mechanism.begin
            mechanism.begin = lambda phase: honest(phase.with_noise(factor))
            super()._fit_released(X, y, schema, mechanism)

    return Careless


@pytest.mark.parametrize("name", by_model(sorted(private_estimators())))
def test_fit_that_draws_less_noise_than_it_charged_is_stopped(name):
    kind = getattr(models, name)
    target = Range(0, 1) if issubclass(kind, RegressorMixin) else Classes(["a", "b"])
    x = np.linspace(0, 1, 50)
    y = x if isinstance(target, Range) else np.where(x > 0.5, "b", "a")
    settings = {"n_trees": 2, "depth": 1, "max_rounds": 3, "n_steps": 20}
    given = {k: v for k, v in settings.items() if k in kind().get_params()}
    schema = Schema({"x": Numeric(0, 1)}, target=target)
    fitted = planted(kind, 1.01)(schema=schema, **given).fit(x.reshape(-1, 1), y)
    assert fitted.guarantee_.private
    assert "_charged" not in vars(fitted)
    careless = planted(kind, 0.999)(schema=schema, **given)
    with pytest.raises(RuntimeError, match="the fit stopped with RuntimeError"):
        careless.fit(x.reshape(-1, 1), y)
    assert not hasattr(careless, "guarantee_")
    assert "_charged" not in vars(careless)
