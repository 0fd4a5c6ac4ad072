"""Projections, samples and the noise carried by Adam, each on its own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.accounting import subsampled_noise_multiplier
from dpexplain.mechanisms import SeededCoins, secret_coins
from dpexplain.models.locally_linear.optimizer import Adam, linear_rates, stepped_rates
from dpexplain.models.locally_linear.projections import cosine_basis, make_basis
from dpexplain.models.locally_linear.sampling import PoissonSampler, representable

pytestmark = pytest.mark.full


@pytest.mark.parametrize("shape", [(7,), (28, 28), (3, 5), (2, 3, 4), (1, 6)])
def test_frequencies_are_orthonormal_on_any_grid_and_the_constant_is_left_out(shape):
    n = int(np.prod(shape))
    rows = cosine_basis(shape, n - 1)
    assert rows.shape == (n - 1, n)
    assert np.allclose(rows @ rows.T, np.eye(n - 1), atol=1e-12)
    assert np.allclose(rows.sum(axis=1), 0.0, atol=1e-12)


def test_low_frequencies_come_first_and_a_longer_basis_starts_with_a_shorter_one():
    rows = cosine_basis((28, 28), 120)
    assert np.array_equal(rows[:40], cosine_basis((28, 28), 40))
    crossings = [(np.diff(np.sign(row.reshape(28, 28)[0])) != 0).sum() for row in rows]
    crossings_down = [(np.diff(np.sign(row.reshape(28, 28)[:, 0])) != 0).sum() for row in rows]
    squared = np.array(crossings) ** 2 + np.array(crossings_down) ** 2
    assert (np.diff(squared) >= 0).all()
    assert squared[:2].tolist() == [1, 1]


def test_random_rows_repeat_with_their_seed_and_have_the_stated_variance():
    def basis(seed, projection="per_filter"):
        rng = np.random.default_rng(seed)
        return make_basis(projection, 300, n_basis=40, n_filters=3, grid_shape=None, rng=rng)

    assert np.array_equal(basis(0).integers, basis(0).integers)
    assert not np.array_equal(basis(0).integers, basis(1).integers)
    assert basis(0).rows.shape == (3, 40, 300)
    assert basis(0, "shared").rows.shape == (1, 40, 300)
    # 36,000 entries: their variance is known to a share of sqrt(2 / 36,000) = 0.0075.
    assert basis(0).rows.var() == pytest.approx(0.5, rel=0.05)


# --- samples ----------------------------------------------------------------------------------


def sampler(person, probability, seed=0):
    people = np.asarray(person, dtype=np.int32)
    return PoissonSampler(people, representable(probability), SeededCoins(seed))


@given(st.floats(1e-12, 1.0))
def test_coins_have_the_stated_probability_exactly_and_never_a_larger_one(probability):
    exact = representable(probability)
    assert (exact * 2**32).is_integer()
    assert 0 < exact <= max(probability, 2**-32)
    assert probability - exact < 2**-32


def test_everybody_is_in_every_sample_at_probability_one_and_the_empty_table_has_samples():
    for rows in sampler(range(7), 1.0).samples(3):
        assert rows.tolist() == list(range(7))
    assert [rows.tolist() for rows in sampler([], 0.5).samples(2)] == [[], []]


def test_people_come_independently_and_as_often_as_stated():
    """Means of 500 * 200 coins are within 6 standard deviations of their expectations."""
    n, n_steps, q = 200, 500, 0.3
    taken = np.zeros((n_steps, n))
    for t, rows in enumerate(sampler(range(n), q).samples(n_steps)):
        taken[t, rows] = 1.0
    spread = np.sqrt(q * (1 - q))
    assert abs(taken.mean() - q) < 6 * spread / np.sqrt(n * n_steps)
    centered = (taken - q) / spread
    # Neighboring people and neighboring steps: products of mean 0 and variance 1.
    for a, b in ((centered[1:], centered[:-1]), (centered[:, 1:], centered[:, :-1])):
        assert abs((a * b).mean()) < 6 / np.sqrt(a.size)
    sizes = taken.sum(axis=1)
    assert sizes.std() > 0.0  # no fixed size


def test_secret_samples_have_the_stated_size_too():
    """The proportion among 100,000 coins is within 6 standard deviations."""
    n, q = 100_000, representable(0.3)
    (rows,) = PoissonSampler(np.arange(n, dtype=np.int32), q, secret_coins()).samples(1)
    assert abs(len(rows) / n - q) < 6 * np.sqrt(q * (1 - q) / n)


def test_a_person_more_at_the_end_changes_nobody_elses_samples():
    few = [rows.copy() for rows in sampler(range(50), 0.4, seed=3).samples(6)]
    more = [rows.copy() for rows in sampler(range(51), 0.4, seed=3).samples(6)]
    assert [rows[rows < 50].tolist() for rows in more] == [rows.tolist() for rows in few]


def test_rows_of_a_person_are_taken_together():
    person = np.array([0, 1, 0, 2, 2, 2, 1])
    for rows in sampler(person, 0.5, seed=1).samples(20):
        for one in range(3):
            own = np.flatnonzero(person == one)
            assert np.isin(own, rows).all() or not np.isin(own, rows).any()


# --- noise that Adam carries ------------------------------------------------------------------


def brute_force_variance(gains, momentum, noise_std, reset_every=None):
    """Return the sum of squared influences of past gradients on the weights."""
    n = len(gains)
    total = np.zeros_like(gains[0])
    for s in range(n):
        end = n if reset_every is None else min(n, (s // reset_every + 1) * reset_every)
        reach = sum(momentum ** (t - s) * gains[t] for t in range(s, end))
        total += ((1 - momentum) * reach) ** 2
    return noise_std**2 * total


@pytest.mark.parametrize("reset_every", [None, 7])
def test_the_noise_that_is_carried_is_the_sum_over_all_gradients(reset_every):
    rng = np.random.default_rng(0)
    adam = Adam((4, 3), 0.5, reset_every=reset_every)
    gains, first = [], np.zeros((4, 3))
    for t, rate in enumerate(linear_rates(0.1, 30)):
        if reset_every and t % reset_every == 0:
            first = np.zeros((4, 3))
        gradient = rng.standard_normal((4, 3))
        first += 0.1 * (gradient - first)
        gains.append(adam.update(gradient, rate) / first)
    expected = brute_force_variance(gains, 0.9, 0.5, reset_every)
    assert np.allclose(adam.noise_variance, expected, rtol=1e-10)


def test_adam_is_the_published_one_where_the_noise_is_small():
    rng = np.random.default_rng(1)
    adam, m, v, w, found = Adam((5,), 0.0), np.zeros(5), np.zeros(5), np.zeros(5), np.zeros(5)
    for t, rate in enumerate(linear_rates(0.1, 20), start=1):
        g = rng.standard_normal(5)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        w = w - rate * (m / (1 - 0.9**t)) / np.sqrt(v / (1 - 0.999**t))
        found -= adam.update(g, rate)
    assert np.allclose(found, w, rtol=1e-10)
    assert not adam.noise_variance.any()


def test_noise_alone_spreads_weights_as_predicted():
    """The variance of 2,000 walks of 400 steps has a relative error of sqrt(2 / 2000) = 0.03.

    If the first gradients happen to be large, so are the second moments: steps are then a little
    shorter than independent ones would be.
    """
    rng = np.random.default_rng(2)
    adam, w = Adam((2000,), 2.0), np.zeros(2000)
    for rate in linear_rates(0.05, 400):
        w -= adam.update(2.0 * rng.standard_normal(2000), rate)
    assert np.mean(w**2) == pytest.approx(np.mean(adam.noise_variance), rel=0.15)


def test_rates_fall_to_zero_or_by_a_fifth():
    assert linear_rates(1.0, 4).tolist() == [1.0, 0.75, 0.5, 0.25]
    assert stepped_rates(1.0, 5, 2, 0.8).tolist() == pytest.approx([1.0, 1.0, 0.8, 0.8, 0.64])


# --- accounting -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "multiplier"), [(0.5, 3.019), (1.0, 1.712), (2.0, 1.084), (4.0, 0.790)]
)
def test_images_need_the_published_noise_or_a_hundredth_less(epsilon, multiplier):
    """There are 60,000 records, samples of 500 on average, 2,400 steps, and delta is 1e-5."""
    found = subsampled_noise_multiplier(epsilon, 1e-5, 2400, 500 / 60_000)
    assert 0.985 * multiplier < found < multiplier + 1e-3
