"""Claims about one range of bins, or about two ranges."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpexplain.explain import NoiseModel, ShapeFunction, claim
from dpexplain.explain.claims.claimed_bins import span_label
from dpexplain.explain.claims.contrasts import (
    LEVELS,
    level_of,
    pair_levels,
    range_levels,
    share_of,
)
from example_explanations import classifier, private_guarantee
from noisy_curves import exact_std, explanation_of, some_noise


def share_of_range(noise: NoiseModel, n_bins: int, low: int, high: int) -> float:
    inside = (np.arange(n_bins) >= low) & (np.arange(n_bins) <= high)
    loads = inside / inside.sum() - ~inside / (~inside).sum()
    return (exact_std(noise, 0, loads) / (np.abs(loads) @ noise.std[:n_bins])) ** 2


def test_levels_are_shares_of_the_largest_variance_rounded_up():
    noise = some_noise(3, 9, 4)
    term = explanation_of(np.linspace(-1, 1, 9), noise)["x"]
    first, last = np.triu_indices(9)
    for low, high, level in zip(first, last, range_levels(noise, 0, term), strict=True):
        if high - low < 8:
            share = share_of_range(noise, 9, low, high)
            assert share * (1 - 1e-6) <= share_of(level) <= max(1.21 * share, share_of(LEVELS - 1))
    assert share_of(0) == 1.0
    assert share_of(LEVELS - 1) == pytest.approx(1 / 2000)
    assert len(pair_levels(noise, 0)) == 45


def test_a_range_of_numbers_reads_as_one_interval():
    def label(*ends, **bins):
        n = len(bins.get("bin_edges", range(4))) - 1 + len(bins.get("special", ()))
        kind = "categorical" if "categories" in bins else "numeric"
        term = ShapeFunction(
            "x", kind, np.zeros(n), np.ones(n), guarantee=private_guarantee(), **bins
        )
        return span_label(term, *ends)

    ages = {"bin_edges": [18, 20, 21, 24], "step": 1.0, "special": ("missing",)}
    assert label(0, 0, **ages) == "18 – 19"
    assert label(0, 1, **ages) == "18 – 20"
    assert label(1, 2, **ages) == "20 – 24"
    assert label(1, 3, **ages) == "20 to missing"
    assert label(0, 2, bin_edges=[-1.5, -0.5, 0.5, 1]) == "-1.5 – 1"
    assert label(0, 2, categories=("a – b", "c", "d – e")) == "a – b to d – e"


def test_a_range_is_compared_with_the_weighted_mean_of_the_rest():
    noise = some_noise(1, 6, 3)
    curve = np.array([0.0, 2.0, 2.0, -1.0, -1.0, -2.0])
    explanation = explanation_of(curve, noise)
    said = claim(explanation, "x", (1, 2))
    assert said.estimate == pytest.approx(2.0 - curve[[0, 3, 4, 5]].mean())
    loads = np.array([-0.25, 0.5, 0.5, -0.25, -0.25, -0.25])
    exact = exact_std(noise, 0, loads)
    assert exact * (1 - 1e-6) <= said.std <= 1.1 * exact


def test_a_range_has_the_level_that_is_stored_for_its_block():
    noise = some_noise(8, 40, 5)
    term = explanation_of(np.sin(np.arange(40)), noise)["x"]
    blocks = np.arange(40) * 16 // 40
    table = np.zeros((16, 16))
    table[np.triu_indices(16)] = range_levels(noise, 0, term)
    for ends in itertools.combinations_with_replacement(range(40), 2):
        if ends != (0, 39):  # all bins
            assert level_of(noise, 0, term, "range", ends) == table[tuple(blocks[list(ends)])]


@given(
    seed=st.integers(0, 2**31),
    n_bins=st.integers(2, 40),
    special=st.booleans(),
    data=st.data(),
)
@settings(max_examples=60, deadline=None)
def test_two_ranges_err_by_no_less_than_their_joint_errors(seed, n_bins, special, data):
    rng = np.random.default_rng(seed)
    n = n_bins + special
    noise = some_noise(seed, n, int(rng.integers(1, 6)))
    curve = rng.normal(size=n)
    term = ShapeFunction(
        "x", "numeric", curve, rng.uniform(0, 100, n) * (rng.random(n) < 0.7),
        bin_edges=np.arange(n_bins + 1.0), special=("missing",) * special,
        guarantee=private_guarantee(), noise_std=noise.std[:n], simultaneous_factor=3.0,
    )  # fmt: skip
    explanation = classifier(terms=(term,), noise=noise)
    ends = data.draw(st.lists(st.integers(0, n_bins - 1), min_size=4, max_size=4).map(sorted))
    if ends[1] == ends[2]:
        ends[:2], ends[2:] = [0, 0], [1, n_bins - 1]
    one, other = (tuple(ends[:2]), tuple(ends[2:]))
    said = claim(explanation, "x", one, other)
    places = np.arange(n)
    loads = np.zeros(n)
    for (first, last), sign in ((one, 1.0), (other, -1.0)):
        inside = ((places >= first) & (places <= last)).astype(float)
        weights = inside * term.weights if (inside * term.weights).any() else inside
        loads += sign * weights / weights.sum()
    assert said.estimate == pytest.approx(loads @ curve)
    assert said.std >= exact_std(noise, 0, loads) * (1 - 1e-6)
    mirrored = claim(explanation, "x", other, one)
    assert [mirrored.estimate, mirrored.std] == pytest.approx([-said.estimate, said.std])
    if ends[0] == ends[1] and ends[2] == ends[3]:
        assert said == claim(explanation, "x", ends[0], ends[2])
    # The interval follows from those of both ranges against the rest: it holds whenever they do.
    of_ranges = [claim(explanation, "x", each) for each in (one, other)]
    halves = [
        (1.0 - term.weights[first : last + 1].sum()) * (each.high - each.estimate)
        for each, (first, last) in zip(of_ranges, (one, other), strict=True)
    ]
    if ends[0] < ends[1] or ends[2] < ends[3]:
        assert said.high - said.estimate == pytest.approx(sum(halves))
