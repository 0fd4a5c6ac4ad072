"""How wide noise may be before its low bits stop being random."""

from __future__ import annotations

import numpy as np
import pytest

from dpexplain.mechanisms import NOISE_BACKENDS, NoiseSource


def test_rounded_noise_is_refused_where_its_low_bits_are_not_random():
    source = NoiseSource("rounded")
    assert source.check_sigma(2.0**44) == 2.0**44
    for refused in (source.check_sigma, lambda sigma: source.draw_int(sigma, 3)):
        with pytest.raises(ValueError, match='noise_backend="exact"'):
            refused(2.0**45)
    for backend in ("exact", "opendp"):
        assert NoiseSource(backend).check_sigma(2.0**56) == 2.0**56


@pytest.mark.parametrize("backend", NOISE_BACKENDS)
def test_seeded_noise_is_refused_there_too_and_the_seed_is_named(backend):
    source = NoiseSource(backend, reproducible_seed=0)
    assert source.check_sigma(2.0**44) == 2.0**44
    with pytest.raises(ValueError, match="and no reproducible_seed"):
        source.check_sigma(2.0**45)


@pytest.mark.parametrize("backend", NOISE_BACKENDS)
def test_at_the_widest_scale_even_and_odd_draws_are_equally_likely(backend):
    """The proportion of even draws may differ from 1/2 by seven standard deviations."""
    draws = NoiseSource(backend).draw_int(2.0**44, 5_000)
    assert abs((draws & 1).mean() - 0.5) < 7 * 0.5 / np.sqrt(5_000)
