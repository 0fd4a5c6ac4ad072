"""Every stated total, compared with the exact loss of the draws."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from dpexplain import PrivacyLedger
from dpexplain.accounting import (
    DiscreteLaplaceEvent,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
    SubsampledGaussianEvent,
    epsilon_from_events,
)
from dpexplain.accounting.cap import approximate_mu
from dpexplain.accounting.gdp import delta_from_mu, epsilon_from_mu
from dpexplain.accounting.ladder import masses_on_grid
from dpexplain.accounting.pld import pld_delta, pld_epsilon
from dpexplain.accounting.rdp import rdp_delta, rdp_epsilon
from dpexplain.accounting.spending import Spending
from dpexplain.mechanisms import ChoicePhase, LaplacePhase, Phase, SampledPhase
from effort import examples
from exact_loss import (
    Loss,
    choice_chances,
    gaussian_chances,
    laplace_chances,
    laplace_loss,
    loss_of,
    response_chances,
    sampled_chances,
)

pytestmark = pytest.mark.full

DELTAS = (1e-3, 1e-6, 1e-9)
INFLATION = 1 + 1e-6
"""By which `NoiseSource` widens Gaussian noise."""

# The rounding of a delta from here: sums of terms of one sign, or differences near 1.
ROUNDING, ABSOLUTE = 1 + 1e-9, 2e-14


def holds(events, truth, adjacency="add_remove", *, mu=0.0):
    """Compare all ways of stating a total with the exact losses in both directions."""
    spending = Spending.of(events, adjacency)

    def exact(epsilon):
        return max(loss.delta(epsilon, mu) for loss in truth)

    ledger = PrivacyLedger(f"exact {id(truth)}", delta=1e-6, adjacency=adjacency)
    ledger.charge(events, label="fit", adjacency=adjacency)
    for delta in DELTAS:
        stated = {
            "pld": pld_epsilon(spending, delta),
            "rdp": rdp_epsilon(spending, delta),
            "gdp": epsilon_from_mu(spending.gaussian_bound, delta),
            "total": epsilon_from_events(events, delta, adjacency=adjacency),
            "ledger": ledger.total_epsilon(delta),
        }
        for way, epsilon in stated.items():
            if math.isfinite(epsilon):
                assert exact(epsilon) <= delta * ROUNDING + ABSOLUTE, (way, delta, epsilon)
    last = min(pld_epsilon(spending, 1e-9), 50.0)
    epsilons = np.linspace(0.0, last, 40)
    needed = np.array([exact(epsilon) for epsilon in epsilons])
    for curve in (pld_delta, rdp_delta):
        assert (needed <= curve(spending, epsilons) * ROUNDING + ABSOLUTE).all(), curve
    for tail in (1e-6, 1e-9):
        covering = approximate_mu(spending, tail)
        if math.isfinite(covering):
            covered = [tail + (1 - tail) * delta_from_mu(covering, e) for e in epsilons]
            assert (needed <= np.array(covered) * ROUNDING + ABSOLUTE).all(), tail


# Scales from the smallest that a phase allows upwards; changes of one step, few, and many.
LADDERS = [
    (1, 1, 20), (2, 1, 50), (1, 2, 7), (1, 5, 3), (3, 2, 12), (4, 4, 20), (7, 3, 40), (16, 16, 20),
    (64, 16, 30), (256, 1024, 5), (640, 1024, 9), (1024, 1024, 2), (5000, 1024, 4),
]  # fmt: skip


@pytest.mark.parametrize(("scale", "change", "count"), LADDERS)
def test_totals_of_discrete_laplace_noise_hold_for_every_lattice(scale, change, count):
    phase = LaplacePhase("leaves", float(change), float(scale), 1)
    truth = [laplace_loss(scale, change).times(count)]
    event = phase.event(count)
    assert event == DiscreteLaplaceEvent("leaves", scale, change, count)
    holds([event], truth)
    holds([LaplaceEvent("leaves", scale / change, count)], truth)

    # And not much above: the grid adds a share below a thousandth of the largest loss.
    spending = Spending.of([event])
    for delta in (1e-3, 1e-6):
        assert truth[0].delta(pld_epsilon(spending, delta) * (1 - 5e-3)) > delta


@pytest.mark.parametrize(("scale", "change", "count"), LADDERS[::3])
def test_totals_for_an_exchange_hold_for_twice_the_change(scale, change, count):
    event = DiscreteLaplaceEvent("leaves", scale, change, count)
    truth = laplace_loss(scale, 2 * change).times(count)
    for delta in DELTAS:
        stated = epsilon_from_events([event], delta, replace=True)
        assert truth.delta(stated) <= delta * ROUNDING + ABSOLUTE
    holds([DiscreteLaplaceEvent("leaves", scale, 2 * change, count)], [truth], "replace")


@examples(40)
@given(
    scale=st.integers(1, 9), changes=st.lists(st.integers(1, 6), min_size=2, max_size=4),
    epsilons=st.lists(st.floats(-12, 12), min_size=5, max_size=5),
)  # fmt: skip
def test_a_change_of_several_sums_gives_away_no_more_than_one_of_the_same_size(
    scale, changes, epsilons
):
    apart = laplace_loss(scale, changes[0])
    for change in changes[1:]:
        apart = apart * laplace_loss(scale, change)
    together = laplace_loss(scale, sum(changes))
    for epsilon in [*epsilons, *together.losses, *apart.losses]:
        assert apart.delta(epsilon) <= together.delta(epsilon) + 1e-12


@examples(60)
@given(
    scale=st.integers(1, 3000), change=st.integers(1, 3000), share=st.floats(1e-3, 3.0),
)  # fmt: skip
def test_losses_on_a_grid_give_away_more_and_at_its_points_the_same(scale, change, share):
    step = share * change / scale
    exact = laplace_loss(scale, change)
    first, masses = masses_on_grid(change / scale, change, step)
    on_grid = Loss(first, masses, step)
    inside = on_grid.losses[np.abs(on_grid.losses) <= change / scale]
    for epsilon in np.linspace(-1.2, 1.2, 25) * change / scale:
        assert exact.delta(epsilon) <= on_grid.delta(epsilon) + 1e-14
    for epsilon in inside[:: max(1, len(inside) // 20)]:
        assert on_grid.delta(epsilon) == pytest.approx(exact.delta(epsilon), abs=1e-9)
    assert masses.min() >= 0.0
    assert math.fsum(masses) >= 1.0 - 1e-15


@pytest.mark.parametrize(("epsilon", "count"), [(1e-3, 1000), (0.1, 60), (1.0, 12), (5.0, 4)])
def test_totals_of_choices_hold_for_the_worst_and_for_real_ones(epsilon, count):
    """Covers randomized response, and the exponential mechanism within its range."""
    event = ChoicePhase("splits", 4.0, epsilon, 3, 1).event(count)
    assert event == PureEvent("splits", epsilon, count)
    true, _ = response_chances(epsilon)
    holds([event], [Loss(-1, np.array([true[1], 0.0, true[0]]), epsilon).times(count)])
    utilities = np.array([0.0, 3.0, 4.0])
    for change in ([4.0, 0.0, 0.0], [0.0, 0.0, 4.0], [-3.0, 1.0, 1.0]):
        p, q = choice_chances(utilities, utilities + change, epsilon, 4.0)
        for pair in ((p, q), (q, p)):
            truth = loss_of(*pair, step=epsilon / 5).times(count)
            for delta in DELTAS:
                assert truth.delta(epsilon_from_events([event], delta)) <= delta * ROUNDING


# --- Gaussian noise on its lattice --------------------------------------------------------------


def normal_steps(sigma, reach=14.0, first=10.0):
    """Return ``sigma (Phi^-1(F(x)) - Phi^-1(F(x - 1)))`` for x from -10 sigma to 0.

    By symmetry, this suffices. Values beyond 14 sigma are ignored: their probability is 1e-20 of
    that beyond 10.
    """
    x = np.arange(-math.ceil(reach * sigma), 1, dtype=np.longdouble)
    p = np.exp(-0.5 * np.square(x / np.longdouble(sigma)))
    whole = 2 * p[:-1].sum() + p[-1] if sigma < 30 else sigma * np.sqrt(2 * np.longdouble(np.pi))
    cumulated = np.cumsum(p) / whole
    quantile = special.ndtri_exp(np.log(cumulated).astype(float))
    return float(sigma) * np.diff(quantile)[int((reach - first) * sigma) :]


@pytest.mark.parametrize("sigma", [3.0, 10.0, 77.7, 1000.0, 2.0**14])
def test_discrete_gaussian_gives_away_what_the_midpoint_rule_says(sigma):
    """Steps between its quantiles exceed those of a normal by at most 1 / (24 sigma^2)."""
    steps = normal_steps(sigma)
    excess = 1 / (24 * sigma**2)
    rounding = 1e-9 if sigma > 500 else 1e-12
    assert steps.max() <= 1 + excess * (1 + 1.0 / sigma**2) + rounding
    assert steps.max() <= INFLATION or sigma < 205
    if sigma < 100:
        assert steps.max() >= 1 + 0.9 * excess


def test_a_coarser_lattice_would_exceed_what_is_stated():
    assert normal_steps(100.0).max() > INFLATION


@pytest.mark.parametrize("change", [1, 2**10, 2**14, 2**15])
@pytest.mark.parametrize("count", [1, 2])
def test_totals_of_the_smallest_gaussian_noise_hold(change, count):
    """The sum of the draws is sufficient; its lattice is that of a single draw."""
    sigma = 2.0**14
    event = Phase("sums", float(change), sigma, 1).event(count)
    p, _ = gaussian_chances(sigma * INFLATION, change)
    n = count * (len(p) - 1) + 1
    size = 1 << n.bit_length()
    moved = np.fft.irfft(np.fft.rfft(p, size) ** count, size)[:n]
    x = np.arange(n) - count * math.ceil(9 * sigma * INFLATION)
    # Of all draws that add up to x the losses are the same.
    losses = (count * change**2 - 2.0 * change * x) / (2 * (sigma * INFLATION) ** 2)
    for delta in (1e-3, 1e-6, 1e-9):
        epsilon = epsilon_from_events([event], delta)
        worse = losses > epsilon
        assert np.sum(moved[worse] * -np.expm1(epsilon - losses[worse])) <= delta * ROUNDING


@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
@pytest.mark.parametrize(
    ("change", "probability", "count"), [(2**14, 0.1, 12), (2**13, 0.5, 5), (2**15, 0.02, 20)]
)
def test_totals_of_sampled_gaussian_noise_hold(change, probability, count, adjacency):
    sigma, n_changed = 2.0**14, 1 if adjacency == "add_remove" else 2
    phase = SampledPhase("gradients", float(n_changed * change), sigma, 1, n_changed, probability)
    event = phase.event(count)
    assert event == SubsampledGaussianEvent("gradients", sigma / change, probability, count)
    pairs = sampled_chances(sigma * INFLATION, change, probability, adjacency)
    holds([event], [loss_of(*pair).times(count) for pair in pairs], adjacency)


# --- mixed totals -------------------------------------------------------------------------------


@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
@pytest.mark.parametrize("kinds", ["GL", "GP", "LP", "GLP", "SL", "GLPS", "LL"])
def test_mixed_totals_hold(kinds, adjacency):
    change = 1 if adjacency == "add_remove" else 2
    sigma, probability = 2.0**14, 0.1
    events, mu, truth = [], 0.0, [Loss(0, np.ones(1))] * 2
    for kind in kinds:
        if kind == "G":
            events.append(GaussianEvent("sums", 2.5, 3))
            mu = math.sqrt(3) / (2.5 * INFLATION)
            continue
        if kind == "L":
            scale, steps, count = (3, 2 * change, 4) if events else (16, 8 * change, 6)
            events.append(DiscreteLaplaceEvent("leaves", scale, steps, count))
            pairs = [laplace_chances(scale, steps)] * 2
        elif kind == "P":
            count = 5
            events.append(PureEvent("splits", 0.3, count))
            pairs = [response_chances(0.3)] * 2
        else:
            count = 10
            phase = SampledPhase("g", change * 2.0**14, sigma, 1, change, probability)
            events.append(phase.event(count))
            pairs = sampled_chances(sigma * INFLATION, 2**14, probability, adjacency) * 2
        both = zip(truth, pairs[:2], strict=True)
        truth = [loss * loss_of(*pair).times(count) for loss, pair in both]
    holds(events, truth, adjacency, mu=mu)


def test_equal_totals_whatever_the_order_of_the_events():
    events = [
        DiscreteLaplaceEvent("a", 16, 8, 3), LaplaceEvent("b", 2.0, 2), PureEvent("c", 0.5, 1),
        GaussianEvent("d", 3.0),
    ]  # fmt: skip
    totals = {epsilon_from_events(e, 1e-6) for e in itertools.permutations(events)}
    assert len(totals) == 1


def test_mu_of_releases_that_hide_next_to_nothing_covers_them():
    """Deltas are near 1 at small epsilons, which require less than larger ones."""
    events = [PureEvent("splits", 6.3, 8), PureEvent("splits", 0.23, 116)]
    spending = Spending.of(events)
    truth = Loss(0, np.ones(1), 0.01)
    for event in events:
        places = round(event.epsilon / 0.01)
        true, false = response_chances(event.epsilon)[0]
        one = np.zeros(2 * places + 1)
        one[[0, -1]] = false, true
        truth = truth * Loss(-places, one, 0.01).times(event.count)
    covering = approximate_mu(spending, 1e-6)
    for epsilon in np.linspace(0.0, pld_epsilon(spending, 1e-6), 200):
        covered = 1e-6 + (1 - 1e-6) * delta_from_mu(covering, epsilon)
        assert truth.delta(epsilon) <= covered * ROUNDING


def test_curve_of_losses_whose_exponential_overflows_is_a_probability():
    spending = Spending.of([PureEvent("splits", 4.6, 182)])
    deltas = pld_delta(spending, np.linspace(0.0, 840.0, 50))
    assert ((deltas >= 0.0) & (deltas <= 1.0)).all()
    assert (np.diff(deltas) <= 1e-12).all()
