from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.accounting import additive_budget, epsilon_from_mu, joint_budget, mu_from_epsilon

# epsilon, mu, and epsilon that the additive split of 10 % really spends; delta 1e-5.
ADDITIVE_WASTE = [(0.5, 0.14221, 0.4325), (1, 0.26805, 0.8686), (4, 0.92493, 3.505)]
# Share of mu squared: noise of training and of histograms, joint over additive; delta 1e-5.
GAINS = [
    (0.5, 0.05, 0.890, 0.512),
    (1, 0.05, 0.895, 0.514),
    (4, 0.05, 0.906, 0.535),
    (0.5, 0.10, 0.915, 0.362),
    (1, 0.10, 0.919, 0.363),
    (4, 0.10, 0.931, 0.378),
    (0.5, 0.20, 0.970, 0.256),
    (1, 0.20, 0.975, 0.257),
    (4, 0.20, 0.988, 0.268),
]


@given(st.floats(1e-4, 100), st.floats(1e-12, 1e-2), st.floats(0, 0.99))
def test_joint_budget_spends_all_of_mu_squared(epsilon, delta, share):
    split = joint_budget(epsilon, delta, share)
    mu = mu_from_epsilon(epsilon, delta)

    assert split.mu == pytest.approx(mu, rel=1e-14)
    assert split.mu_bins**2 == pytest.approx(share * mu**2, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize(("epsilon", "mu", "spent"), ADDITIVE_WASTE)
def test_additive_budget_spends_less_than_it_may(epsilon, mu, spent):
    split = additive_budget(epsilon, 1e-5, 0.1, 14, 4200)

    assert mu_from_epsilon(epsilon, 1e-5) == pytest.approx(mu, abs=5e-6)
    assert epsilon_from_mu(split.mu, 1e-5) == pytest.approx(spent, rel=2e-4)


@pytest.mark.parametrize(("epsilon", "share", "training", "bins"), GAINS)
def test_joint_budget_needs_less_noise_than_the_additive_one(epsilon, share, training, bins):
    joint, additive = joint_budget(epsilon, 1e-5, share), additive_budget(epsilon, 1e-5, 0.1, 14, 1)

    assert additive.mu_train / joint.mu_train == pytest.approx(training, abs=1e-3)
    assert additive.mu_bins / joint.mu_bins == pytest.approx(bins, abs=1e-3)


@pytest.mark.parametrize(
    ("epsilon", "train", "bins"),
    [
        (0.5, 597.26, 271.3),
        (1, 312.10, 141.7),
        (2, 164.08, 73.9),
        (4, 87.30, 38.5),
        (8, 47.40, 20.1),
    ],
)
def test_additive_budget_gives_the_published_noise(epsilon, train, bins):
    split = additive_budget(epsilon, 1e-6, 0.1, 14, 4200, composition="gdp")

    assert math.sqrt(4200) / split.mu_train == pytest.approx(train, abs=0.01)
    assert math.sqrt(14) / split.mu_bins == pytest.approx(bins, abs=0.06)


def test_classic_composition_needs_more_noise():
    classic = additive_budget(1.0, 1e-6, 0.1, 14, 4200, composition="classic")
    exact = additive_budget(1.0, 1e-6, 0.1, 14, 4200, composition="gdp")

    assert classic.mu_train < exact.mu_train
    assert classic.mu_bins < exact.mu_bins


@pytest.mark.parametrize("share", [-0.1, 1.0, math.nan, True])
def test_bin_share_must_leave_something_for_training(share):
    with pytest.raises(ValueError, match="bin_share="):
        joint_budget(1.0, 1e-6, share)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"bin_fraction": 0.0}, "bin_fraction"),
        ({"bin_fraction": 1.0}, "bin_fraction"),
        ({"n_bin_releases": 0}, "n_bin_releases"),
        ({"n_train_releases": 0}, "n_train_releases"),
        ({"composition": "rdp"}, "composition"),
        ({"delta": math.nan}, "delta"),
        ({"epsilon": -1.0}, "epsilon"),
    ],
)
def test_additive_budget_names_the_wrong_parameter(change, name):
    good = dict(epsilon=1.0, delta=1e-6, bin_fraction=0.1, n_bin_releases=1, n_train_releases=1)

    with pytest.raises(ValueError, match=f"{name}="):
        additive_budget(**{**good, **change})
