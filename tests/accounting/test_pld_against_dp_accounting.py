"""Mixed totals, compared with dp-accounting's accountants on a finer grid."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpexplain.accounting import (
    DiscreteLaplaceEvent,
    GaussianEvent,
    PureEvent,
    SubsampledGaussianEvent,
    epsilon_from_events,
    mu_from_epsilon,
)
from dpexplain.accounting.pld import pld_epsilon
from dpexplain.accounting.rdp import rdp_epsilon
from dpexplain.accounting.spending import Spending
from effort import examples

pytestmark = pytest.mark.full

dp_accounting = pytest.importorskip("dp_accounting")
pld = pytest.importorskip("dp_accounting.pld")
rdp = pytest.importorskip("dp_accounting.rdp")

RELATION = {
    "add_remove": dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE,
    "replace": dp_accounting.NeighboringRelation.REPLACE_ONE,
}


def steps(multiplier, probability, count):
    ours = SubsampledGaussianEvent("steps", multiplier, probability, count)
    one = dp_accounting.PoissonSampledDpEvent(
        probability, dp_accounting.GaussianDpEvent(multiplier)
    )
    return ours, dp_accounting.SelfComposedDpEvent(one, count)


@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
@pytest.mark.parametrize(
    ("multiplier", "probability", "count", "delta"),
    [
        (0.9, 256 / 32561, 2543, 1e-5),
        (2.0, 256 / 32561, 2543, 1e-5),
        (4.1, 500 / 60000, 2400, 1e-6),
        (1.1, 1500 / 60000, 2400, 1e-8),
        (2.0, 0.3, 7, 1e-5),
    ],
)
def test_subsampled_releases_agree_to_a_ten_thousandth(
    multiplier, probability, count, delta, adjacency
):
    ours, theirs = steps(multiplier, probability, count)
    judge = pld.PLDAccountant(RELATION[adjacency], value_discretization_interval=5e-5)
    judge.compose(theirs)
    expected = judge.get_epsilon(delta)

    got = epsilon_from_events([ours], delta, adjacency=adjacency)
    assert got == pytest.approx(expected, rel=1e-4, abs=1e-4)


@examples(4)
@example(3.0, 1 / 64, 10, 14.0, 5.0, 2)
@given(
    st.floats(0.8, 4), st.floats(0.005, 0.2), st.integers(10, 300), st.floats(4, 30),
    st.floats(5, 50), st.integers(1, 5),
)  # fmt: skip
def test_mixed_releases_agree_to_a_ten_thousandth(noise, rate, count, sums, laplace, n_laplace):
    ours, theirs = steps(noise, rate, count)
    judge = pld.PLDAccountant(value_discretization_interval=5e-5)
    judge.compose(theirs)
    judge.compose(dp_accounting.GaussianDpEvent(sums))
    judge.compose(dp_accounting.LaplaceDpEvent(laplace), n_laplace)
    # On so fine a lattice discrete noise costs what continuous noise does.
    scale = math.ceil(laplace * 2**20)
    fine = DiscreteLaplaceEvent("counts", scale, 2**20, n_laplace)
    mixed = [ours, GaussianEvent("sums", sums), fine]

    expected = judge.get_epsilon(1e-6)
    assert epsilon_from_events(mixed, 1e-6) == pytest.approx(expected, rel=2e-4, abs=1e-4)


@pytest.mark.parametrize("count", [1, 10, 300])
def test_pure_releases_agree_with_randomized_response(count):
    one = pld.privacy_loss_distribution.from_privacy_parameters(
        pld.common.DifferentialPrivacyParameters(0.1, 0.0), value_discretization_interval=1e-4
    )
    expected = one.self_compose(count).get_epsilon_for_delta(1e-6)

    got = epsilon_from_events([PureEvent("choice", 0.1, count)], 1e-6)
    assert got == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(("multiplier", "rate"), [(0.8, 0.01), (1.3, 0.0083), (5.0, 0.3)])
def test_renyi_divergences_are_theirs_or_less(multiplier, rate):
    ours, theirs = steps(multiplier, rate, 1000)
    judge = rdp.RdpAccountant()
    judge.compose(theirs)
    expected = judge.get_epsilon(1e-5)

    # Their series for orders that are no whole numbers is a bound; ours is the integral.
    got = rdp_epsilon(Spending.of([ours]), 1e-5)
    assert 0.97 * expected <= got <= expected * (1 + 1e-3)


# Training noise of 300 epochs over 14 features at delta 1e-6: 4200 releases.
@pytest.mark.parametrize(
    ("epsilon", "zcdp", "renyi"),
    [(0.5, 687.4, 562.3), (1, 346.7, 293.6), (2, 176.3, 154.4), (4, 90.9, 82.2), (8, 48.1, 44.7)],
)
def test_other_accountants_need_the_published_noise_for_4200_releases(epsilon, zcdp, renyi):
    rho = _rho(epsilon, 1e-6)
    assert math.sqrt(4200 / (2 * rho)) == pytest.approx(zcdp, abs=0.06)

    def spent(noise):
        return rdp_epsilon(Spending.of([GaussianEvent("trees", noise, 4200)]), 1e-6)

    assert spent(renyi * 1.002) <= epsilon <= spent(renyi * 0.998)
    exact = math.sqrt(4200) / mu_from_epsilon(epsilon, 1e-6)
    assert spent(exact) > epsilon


def _rho(epsilon, delta):
    """Return the largest rho for which rho + 2 sqrt(rho log(1 / delta)) is epsilon."""
    logarithm = math.log(1 / delta)
    return (math.sqrt(logarithm + epsilon) - math.sqrt(logarithm)) ** 2


@pytest.mark.parametrize("other", [{"pure": ((1.0, 1),)}, {"subsampled": ((0.001, 0.5, 1),)}])
def test_losses_beyond_any_grid_give_no_bound_and_no_error(other):
    assert pld_epsilon(Spending(1e8, **other), 1e-6) == math.inf
