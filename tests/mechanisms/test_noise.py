from __future__ import annotations

import os
import pickle
import struct

import numpy as np
import pytest
from scipy import stats

from dpexplain.accounting import delta_from_mu
from dpexplain.mechanisms import NOISE_BACKENDS, NoiseSource, noise_source

# A correct sampler fails one of these tests once in a thousand million runs.
ALPHA = 1e-9


def ks_bound(n_draws: int) -> float:
    """Return the distance that is exceeded with probability at most ALPHA (DKW)."""
    return float(np.sqrt(np.log(2 / ALPHA) / (2 * n_draws)))


def has_noise_std(noise: np.ndarray, noise_std: float) -> bool:
    """Test the scale of Gaussian noise with a two-sided chi-square test at level ALPHA."""
    statistic = np.sum((noise / noise_std) ** 2)
    low, high = stats.chi2.ppf([ALPHA / 2, 1 - ALPHA / 2], df=len(noise))
    return bool(low <= statistic <= high)


@pytest.mark.parametrize("backend", NOISE_BACKENDS)
def test_noise_is_gaussian(backend):
    # On this lattice a step is a millionth of the standard deviation: nothing against the bound.
    noise = NoiseSource(backend).draw_int(2.0**20, 20_000)

    assert stats.kstest(noise / 2.0**20, stats.norm.cdf).statistic < ks_bound(len(noise))


def test_a_sampler_that_is_not_installed_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(noise_source, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r'needs opendp; .*pip install .*\[opendp\]"'):
        NoiseSource("opendp")
    assert NoiseSource().backend == "exact"


@pytest.mark.full
@pytest.mark.parametrize("backend", ["exact", "opendp"])
def test_noise_on_a_coarse_lattice_is_the_discrete_gaussian(backend):
    sigma, n_draws = 1.5, 20_000
    noise = NoiseSource(backend).draw_int(sigma, n_draws)
    values = np.arange(-40, 41)
    mass = np.exp(-(values**2) / (2 * sigma**2))
    expected = n_draws * mass / mass.sum()
    observed = np.array([np.sum(noise == value) for value in values])
    kept = expected >= 5  # the usual condition of the chi-square approximation
    pooled = [np.append(a[kept], a[~kept].sum()) for a in (observed, expected)]
    statistic = np.sum((pooled[0] - pooled[1]) ** 2 / pooled[1])

    assert observed.sum() == n_draws
    assert statistic < stats.chi2.ppf(1 - ALPHA, df=len(pooled[0]) - 1)


@pytest.mark.parametrize("backend", NOISE_BACKENDS)
@pytest.mark.parametrize("sigma", [2.0**14, 3.7e7, 2.0**40, 2.0**44])
def test_noise_has_the_stated_scale(backend, sigma):
    assert has_noise_std(NoiseSource(backend).draw_int(sigma, 1000), sigma)


@pytest.mark.parametrize("backend", NOISE_BACKENDS)
def test_scale_test_sees_half_of_the_noise(backend):
    class Halved(NoiseSource):
        def draw_int(self, sigma_int, size):
            return super().draw_int(sigma_int / 2, size)

    # The statistic is a quarter of a chi-square of mean 300 and standard deviation 24.5: it is
    # 75 with standard deviation 6, and the lower limit at ALPHA / 2 is 170, 15 deviations off.
    assert not has_noise_std(Halved(backend).draw_int(2.0**20, 300), 2.0**20)


@pytest.mark.parametrize("backend", NOISE_BACKENDS)
def test_noise_uses_every_step_of_the_lattice(backend):
    noise = NoiseSource(backend).draw_int(2.0**30, 4000)
    ones = [int(np.sum((noise >> bit) & 1)) for bit in range(20)]

    assert noise.dtype == np.int64
    # Each low bit is a fair coin: 20 bits, two sides.
    low, high = stats.binom.ppf([ALPHA / 40, 1 - ALPHA / 40], len(noise), 0.5)
    assert all(low <= count <= high for count in ones)


@pytest.mark.parametrize("backend", NOISE_BACKENDS)
def test_draws_are_independent_of_their_neighbors(backend):
    noise = NoiseSource(backend).draw_int(2.0**20, 10_000) / 2.0**20
    correlation = np.mean(noise[1:] * noise[:-1])

    # Products of independent normals have variance 1; six standard deviations of their mean.
    assert abs(correlation) < 6 / np.sqrt(len(noise) - 1)


@pytest.mark.system_entropy
@pytest.mark.parametrize("backend", NOISE_BACKENDS)
def test_no_two_calls_share_noise(backend):
    source, other = NoiseSource(backend), NoiseSource(backend)
    draws = [s.draw_int(2.0**44, 100) for s in (source, source, other, other)]

    # 400 draws from 2**44 values and more collide with a probability below 1e-8.
    assert len(np.unique(np.concatenate(draws))) == 400


@pytest.mark.system_entropy
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.parametrize("backend", NOISE_BACKENDS)
def test_noise_is_fresh_after_a_fork(backend):
    source = NoiseSource(backend)
    source.draw_int(2.0**44, 10)  # whatever a sampler keeps is there before the fork
    drawn = [_draw_in_a_fork(source), _draw_in_a_fork(source), source.draw_int(2.0**44, 50)]

    assert len(np.unique(np.concatenate(drawn))) == 150


def _draw_in_a_fork(source: NoiseSource) -> np.ndarray:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.write(writer, struct.pack("50q", *source.draw_int(2.0**44, 50)))
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    content = os.read(reader, 400)
    os.close(reader)
    assert os.waitpid(child, 0)[1] == 0
    return np.array(struct.unpack("50q", content))


@pytest.mark.parametrize("backend", NOISE_BACKENDS)
def test_seed_repeats_the_noise_and_ends_privacy(backend):
    first, second = (NoiseSource(backend, reproducible_seed=7) for _ in range(2))
    noise = first.draw_int(2.0**20, 300)

    assert not first.private
    assert "not private" in first.description
    assert "NOT PRIVATE" in repr(first)
    assert np.array_equal(noise, second.draw_int(2.0**20, 300))
    assert not np.array_equal(noise, first.draw_int(2.0**20, 300))
    assert not np.array_equal(noise, NoiseSource(reproducible_seed=8).draw_int(2.0**20, 300))
    assert has_noise_std(noise, 2.0**20)


@pytest.mark.system_entropy
@pytest.mark.parametrize("backend", NOISE_BACKENDS)
def test_source_without_seed_is_private_and_ignores_global_seeds(backend):
    source = NoiseSource(backend)
    drawn = []
    for _ in range(2):
        np.random.seed(0)  # noqa: NPY002
        drawn.append(source.draw_int(2.0**44, 20))

    assert source.private
    assert len(np.unique(np.concatenate(drawn))) == 40


def test_description_names_sampler_and_randomness():
    exact, opendp, rounded = texts = [NoiseSource(name).description for name in NOISE_BACKENDS]

    assert exact.startswith("exact discrete Gaussian (rejection sampling")
    assert opendp.startswith("exact discrete Gaussian (OpenDP ")
    assert "rounded Gaussian" in rounded
    assert "assumed, not proved" in rounded
    assert all("operating system" in text for text in texts)


@pytest.mark.parametrize("backend", NOISE_BACKENDS)
def test_source_keeps_no_state_that_could_leak(backend):
    source = NoiseSource(backend)
    before = pickle.dumps(source)
    source.draw_int(2.0**20, 10)

    assert pickle.dumps(source) == before
    assert pickle.loads(before).private


def test_empty_draw_is_empty():
    sources = [NoiseSource(name) for name in NOISE_BACKENDS]
    for source in (*sources, NoiseSource(reproducible_seed=0)):
        drawn = source.draw_int(1e6, 0)
        assert drawn.shape == (0,)
        assert drawn.dtype == np.int64


@pytest.mark.parametrize("sigma", [0, -1.0, np.nan, np.inf, 2.0**57, True, "1"])
def test_scale_out_of_range_is_refused(sigma):
    with pytest.raises(ValueError, match="sigma_int="):
        NoiseSource().draw_int(sigma, 1)


@pytest.mark.parametrize("size", [-1, 1.5, True, None])
def test_size_is_a_count(size):
    with pytest.raises(ValueError, match="size="):
        NoiseSource().draw_int(1e6, size)


def test_unknown_backend_and_wrong_seed_are_refused():
    with pytest.raises(ValueError, match="noise_backend='numpy'"):
        NoiseSource("numpy")
    with pytest.raises(ValueError, match=r"reproducible_seed=-1"):
        NoiseSource(reproducible_seed=-1)
    with pytest.raises(ValueError, match=r"reproducible_seed=0\.5"):
        NoiseSource(reproducible_seed=0.5)


@pytest.mark.parametrize("mu", [0.01, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("deviations", [0.0, 1.0, 3.0, 5.0])
def test_smallest_scale_of_a_phase_spends_no_more_than_gaussian_dp_accounts_for(mu, deviations):
    """Computes the exact delta of the discrete Gaussian, including the source's widening."""
    stated = 2.0**14
    sensitivity = round(mu * stated)
    mu = sensitivity / stated
    epsilon = deviations * mu + mu**2 / 2
    sigma = stated * (1 + 1e-6)
    threshold = epsilon * sigma**2 / sensitivity - sensitivity / 2
    # Beyond twelve standard deviations (or as many past the threshold) nothing counts any more.
    outputs = np.arange(np.floor(threshold) + 1, max(threshold, 0) + 12 * sigma)
    with_record = np.exp(-(outputs**2) / (2 * sigma**2))
    without = np.exp(epsilon - (outputs + sensitivity) ** 2 / (2 * sigma**2))
    # The normalizing sum differs from the integral by less than exp(-2 pi^2 sigma^2).
    discrete = np.sum(with_record - without) / (np.sqrt(2 * np.pi) * sigma)

    claimed = delta_from_mu(mu, epsilon)
    assert 0.999 * claimed < discrete < claimed
