"""Denoised curves, from which the known noise was removed."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dpexplain.compare import faithfulness
from dpexplain.explain import NoiseModel, denoised
from example_explanations import age, classifier

RNG = np.random.default_rng(0)
N = 40
EDGES = np.linspace(0.0, 80.0, N + 1)
MIDDLE = (EDGES[:-1] + EDGES[1:]) / 2
STD = 0.3


def smooth(**changes):
    """Make one term of 40 bins, with independent noise of 0.3."""
    curve = np.append(np.sin(MIDDLE / 12.0), 0.0)
    curve[:-1] -= curve[:-1].mean()
    fields = {
        "contribution": curve,
        "count": np.append(np.full(N, 50.0), 0.0),
        "bin_edges": EDGES,
        "noise_std": np.full(N + 1, STD),
        "step": None,
    }
    return age(**{**fields, **changes})


def noisy(term):
    noise = NoiseModel((N + 1,), np.zeros((N + 2, 0)), np.full(N + 2, STD))
    errors = np.append(STD * RNG.standard_normal(N), 0.0)
    seen = dataclasses.replace(term, contribution=term.contribution + errors)
    return classifier(terms=(seen,), noise=noise)


@pytest.mark.full
def test_a_smooth_curve_comes_closer_to_the_truth_and_its_band_holds():
    """For 20 curves, denoising halves the distance to the truth, and 95% bands hold.

    At a coverage of 95%, the probability that fewer than 16 of 20 bands hold is 0.3%.
    """
    truth = classifier(terms=(smooth(),))
    before, after, held = [], [], 0
    for _ in range(20):
        seen = noisy(smooth())
        estimate = denoised(seen)
        before.append(faithfulness(seen, truth).distance)
        after.append(faithfulness(estimate, truth).distance)
        low, high = estimate["age"].band
        inside = (low <= truth["age"].contribution) & (truth["age"].contribution <= high)
        held += inside[:N].all()
    assert np.mean(after) < 0.5 * np.mean(before)
    assert held >= 16


def test_pure_noise_becomes_flat():
    flat = smooth(contribution=np.zeros(N + 1))
    seen = [noisy(flat) for _ in range(10)]
    before = np.mean([e["age"].importance for e in seen])
    assert np.mean([denoised(e)["age"].importance for e in seen]) < 0.35 * before


def test_estimates_are_centered_and_empty_bins_stay_at_zero():
    term = denoised(noisy(smooth()))["age"]
    assert abs(term.weights @ term.contribution) < 1e-9
    assert term.contribution[-1] == 0.0
    assert term.structure_std is term.sampling_std is None
    assert (term.noise_std < STD * 1.05).all()


def test_denoising_needs_joint_noise():
    with pytest.raises(ValueError, match="denoising needs a joint noise model"):
        denoised(classifier())
