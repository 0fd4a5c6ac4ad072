"""Claims about peaks and troughs: possible bins, and how often claims are true."""

from __future__ import annotations

import dataclasses
import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

import view_examples
from dpexplain.explain import NoiseModel, claim, claim_strip
from dpexplain.explain.claims.claimed_bins import Place
from dpexplain.explain.claims.extremes import extreme_factor
from noisy_curves import explanation_of


def some_noise(seed: int, n_bins: int, rank: int, size: float) -> NoiseModel:
    rng = np.random.default_rng(seed)
    factor = size * (rng.normal(size=(n_bins + 1, rank)) + rng.normal(size=rank))
    return NoiseModel((n_bins,), factor, size * rng.uniform(0.2, 1.0, n_bins + 1))


def std_of_difference(noise: NoiseModel, one: int, other: int) -> float:
    """Return the standard deviation as rounded in the claim about the two bins."""
    explanation = explanation_of(np.zeros(noise.sizes[0]), noise)
    return claim(explanation, "x", one, other).std


@pytest.mark.parametrize("extreme", ["highest", "lowest"])
@pytest.mark.parametrize("seed", range(4))
def test_candidates_are_the_bins_that_no_other_exceeds_by_more_than_errors_explain(seed, extreme):
    noise = some_noise(seed, 6, 3, 0.2)
    curve = np.random.default_rng(seed).normal(size=6)
    explanation = explanation_of(curve, noise)
    said = claim(explanation, "x", (1, 2), extreme=extreme)
    factor = extreme_factor(explanation["x"])
    assert factor == pytest.approx(NormalDist().inv_cdf(1 - 0.05 / 10), abs=1e-3)
    up = curve if extreme == "highest" else -curve
    stay = [
        k for k in range(6)
        if all(up[j] - up[k] <= factor * std_of_difference(noise, j, k) for j in range(6) if j != k)
    ]  # fmt: skip
    labels = explanation["x"].bin_labels
    assert said.candidates == tuple(labels[k] for k in stay)
    assert said.holds == (set(stay) <= {1, 2} or not set(stay) & {1, 2})
    best = max if extreme == "highest" else min
    assert said.estimate == pytest.approx(best(curve[1:3]) - best(curve[[0, 3, 4, 5]]))
    assert said.low <= said.high
    assert math.isnan(said.std)


def test_a_trough_is_the_peak_of_the_curve_upside_down():
    noise, curve = some_noise(3, 8, 2, 0.3), np.sin(np.arange(8.0))
    peak = claim(explanation_of(curve, noise), "x", (1, 3), extreme="highest")
    trough = claim(explanation_of(-curve, noise), "x", (1, 3), extreme="lowest")
    assert peak.candidates == trough.candidates
    assert (peak.estimate, peak.low, peak.high) == (-trough.estimate, -trough.high, -trough.low)
    assert peak.words.replace("highest", "lowest")[:60] == trough.words[:60]


def test_without_a_range_the_bin_that_seems_to_be_the_extreme_is_claimed():
    explanation = view_examples.comparison(joint=True).explanations[8.0][0]
    said = claim(explanation, "age", extreme="highest")
    term = explanation["age"]
    assert said.first == term.bin_labels[int(term.contribution[: term.n_value_bins].argmax())]
    assert said.estimate > 0
    assert "have the highest odds of affairs = yes" in said.words
    assert said.frame().loc[0, "kind"] == "highest"


def test_categories_that_can_be_the_extreme_are_listed_and_bins_as_a_span():
    fits = view_examples.comparison(joint=True).explanations
    words = claim(fits[0.25][0], "occupation", extreme="highest").words
    assert "the highest bin may be any of them." in words
    words = claim(fits[1.0][0], "occupation", extreme="highest").words
    assert "the highest bin is one of " in words
    assert "the highest bin lies in " in claim(fits[2.0][0], "age", extreme="highest").words
    assert "do not have" in claim(fits[8.0][0], "age", (17, 26), extreme="highest").words


def test_the_same_peak_is_asked_about_at_every_epsilon():
    comparison = view_examples.comparison(joint=True)
    strip = claim_strip(comparison, "occupation", extreme="lowest")
    assert {each.first for each in strip.claims} == {strip.asked.first}
    assert strip.holds_from is not None
    strip = claim_strip(comparison, "age", (Place(8), Place(16)), extreme="highest", epsilon=8.0)
    assert strip.states[-1] == "holds"
    assert strip.states[0] != "holds"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"extreme": "largest"}, "'highest' or 'lowest'"),
        ({"extreme": "highest", "first": (17, 90)}, "outside the range"),
        ({"extreme": "highest", "first": "missing"}, "special bins are not compared"),
        ({"extreme": "highest", "first": 20, "second": 60}, "no second bin"),
    ],
)
def test_questions_about_extremes_that_make_no_claim_are_refused(asked, message):
    explanation = view_examples.comparison(joint=True).explanations[8.0][0]
    with pytest.raises(ValueError, match=message):
        claim(explanation, "age", **asked)


def test_a_record_has_no_extreme():
    explanation = view_examples.comparison(joint=True).explanations[8.0][0]
    record = view_examples.comparison(joint=True).reference  # never read: the question is refused
    with pytest.raises(ValueError, match="extreme= is about a term"):
        claim(explanation, record=record, extreme="highest")


@pytest.mark.full
@pytest.mark.parametrize("truth", ["flat", "bump", "two bumps"])
def test_every_claim_about_an_extreme_is_true_in_95_percent_of_draws(truth):
    """Tests the highest and lowest bins of every range, in 200 draws of the noise.

    The nominal rate is 95% for all of them at once; a rate below the quantile occurs by chance
    once in a million times. All bins of a flat curve are its highest and its lowest.
    """
    n, n_draws = 8, 200
    noise = some_noise(7, n, 4, 0.25)
    curve = {
        "flat": np.zeros(n),
        "bump": np.array([0, 0, 0.5, 2.0, 1.9, 0, 0, -1.5]),
        "two bumps": np.array([0, 1.5, 0, -1, 0, 1.4, 0, 0.0]),
    }[truth]
    explanation = explanation_of(curve, noise)
    ranges = [(a, b) for a, b in itertools.combinations_with_replacement(range(n), 2) if b - a < 7]
    true, held = 0, 0
    for errors in noise.draws(n_draws, seed=3)[:, :-1]:
        seen = dataclasses.replace(explanation["x"], contribution=curve + errors)
        drawn = dataclasses.replace(explanation, terms=(seen,))
        right = True
        for extreme, (first, last) in itertools.product(("highest", "lowest"), ranges[::3]):
            said = claim(drawn, "x", (first, last), extreme=extreme)
            inside = (np.arange(n) >= first) & (np.arange(n) <= last)
            best = np.max if extreme == "highest" else np.min
            margin = best(curve[inside]) - best(curve[~inside])
            right &= said.low <= margin <= said.high
            held += said.holds
        true += right
    assert true >= stats.binom.ppf(1e-6, n_draws, 0.95)
    assert held > 0 or truth == "flat"
