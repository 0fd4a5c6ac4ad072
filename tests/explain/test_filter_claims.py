"""Claims about regions of filters: what they say, and how often they are true."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from dpexplain.compare import match_filters
from dpexplain.explain import FilterNoise, filter_claim, filter_claim_strip
from dpexplain.explain.noise_model import half_width
from example_explanations import private_guarantee
from example_filters import filter_bank, filter_comparison, image_bank, reference_bank

REGION = ((1, 2), (0, 3))


def with_basis(per_filter: bool, seed: int = 0):
    """Make an image bank whose pixels have correlated errors, because filters have a basis."""
    rng = np.random.default_rng(seed)
    basis = rng.standard_normal((4, 6, 20) if per_filter else (6, 20))
    noise = FilterNoise(rng.uniform(0.1, 0.5, (3, 4, 6)), np.full((3, 4), 0.01), basis)
    return image_bank(noise=noise)


@pytest.mark.parametrize("make", [image_bank, lambda: with_basis(False), lambda: with_basis(True)])
@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"against": "low"},
        {"place": 2},
        {"place": 2, "against_place": 0},
        {"place": 1, "against": "low", "against_place": 1},
    ],
)
def test_the_error_of_a_region_is_that_of_its_mean_in_joint_draws(make, asked):
    bank = make()
    said = filter_claim(bank, "high", REGION, **asked)
    filters, _ = bank.noise.draws(4_000, seed=5)
    if "place" in asked:
        errors = filters[:, 2, asked["place"]]
        if "against_place" in asked:
            errors = errors - filters[:, 0 if "against" in asked else 2, asked["against_place"]]
    else:
        errors = filters[:, 2].mean(axis=1)
        if "against" in asked:
            errors = errors - filters[:, 0].mean(axis=1)
    inside = np.zeros((4, 5))
    inside[1:3, 0:4] = 1 / 8
    drawn = (errors @ inside.ravel()).std()
    low, high = np.sqrt(stats.chi2.ppf([1e-6, 1 - 1e-6], 4_000) / 4_000)
    assert low <= drawn / said.std <= high
    if len(asked) > 1 or "against" in asked:
        weights = bank.contrast("high", **{"against": "high", **asked}).weights
    elif asked:
        weights = bank.filter("high", 2).weights
    else:
        weights = bank.class_mean("high").weights
    rounding = np.abs(bank.filters).max() / 32_767 if "place" in asked else 0.0
    assert said.estimate == pytest.approx(float(inside.ravel() @ weights), rel=1e-6, abs=rounding)


def test_matched_filters_keep_the_joint_errors_of_their_regions():
    bank, other = with_basis(True), image_bank(seed=7)
    matched = match_filters(bank, other)
    assert not np.array_equal(matched.filters, bank.filters)
    for asked in ({}, {"against": "low"}):
        before, after = (filter_claim(each, "high", REGION, **asked) for each in (bank, matched))
        assert after.std == pytest.approx(before.std, rel=1e-6)
    before, after = (
        sorted(filter_claim(each, "high", REGION, place=m).std for m in range(4))
        for each in (bank, matched)
    )
    np.testing.assert_allclose(after, before, rtol=1e-6)


def test_two_filters_of_any_classes_are_compared_with_their_own_noise():
    bank = with_basis(False)
    said = bank.contrast("high", "high", place=1, against_place=3)
    assert said.title == "filter 1 of high against filter 3 of high"
    np.testing.assert_array_equal(said.weights, bank.filters[2, 1] - bank.filters[2, 3])
    drawn = bank.noise.draws(4_000, seed=6)[0]
    ratio = (drawn[:, 2, 1] - drawn[:, 2, 3]).std(axis=0) / said.noise_std
    assert np.abs(ratio - 1).max() < 6 / np.sqrt(2 * 4_000)
    for places in ({"place": 1}, {"against_place": 1}):
        with pytest.raises(ValueError, match="both place= and against_place="):
            bank.contrast("high", "low", **places)
    with pytest.raises(ValueError, match="two different filters"):
        bank.contrast("low", "low", place=1, against_place=1)
    with pytest.raises(ValueError, match="place=9"):
        bank.contrast("low", "low", place=1, against_place=9)


def test_a_claim_covers_all_rectangles_of_the_map():
    said = filter_claim(image_bank(), "middle", REGION)
    rectangles = 10 * 15  # of 4 by 5 pixels
    assert said.high - said.estimate == pytest.approx(half_width(rectangles) * said.std)
    assert said.holds == (said.low > 0 or said.high < 0)
    assert "mean filter of middle is" in said.words
    assert "on average over rows 1 to 2 and columns 0 to 3" in said.words
    assert filter_claim(image_bank(), "middle", ((2, 1), (3, 0))).estimate == said.estimate


def test_inputs_that_are_not_on_a_grid_are_claimed_one_by_one():
    bank = filter_bank()
    said = filter_claim(bank, "low", "age")
    assert said.estimate == pytest.approx(bank.class_mean("low").weights[0], rel=1e-6)
    assert said.std == pytest.approx(bank.class_mean_std[0, 0], rel=1e-6)
    assert said.first == "age"


def test_a_strip_says_from_which_epsilon_on_a_region_has_its_sign():
    strip = filter_claim_strip(filter_comparison(image_bank), "high", REGION, against="low")
    assert strip.epsilons == (0.5, 2.0)
    assert strip.asked.guarantee.epsilon == 2.0
    assert strip.frame()["state"].tolist() == list(strip.states)
    assert "The claim holds" in strip.words


@pytest.mark.parametrize(
    ("make", "asked", "error", "message"),
    [
        (image_bank, {"region": ((0, 9), (0, 1))}, ValueError, "rows 0 to 3"),
        (image_bank, {"region": 3}, ValueError, "first row, last row"),
        (image_bank, {"region": REGION, "against": "low", "place": 0}, ValueError, "omit"),
        (image_bank, {"region": REGION, "against_place": 0}, ValueError, "needs both"),
        (image_bank, {"label": "tall", "region": REGION}, KeyError, "tall"),
        (filter_bank, {"region": "height"}, KeyError, "no input"),
        (reference_bank, {"region": "age"}, ValueError, "without known noise"),
    ],
)
def test_regions_that_make_no_claim_are_refused(make, asked, error, message):
    with pytest.raises(error, match=message):
        filter_claim(make(), **{"label": "high", **asked})


@pytest.mark.full
@pytest.mark.parametrize("per_filter", [False, True])
@pytest.mark.parametrize("place", [None, 1])
def test_claims_about_all_regions_are_true_in_95_percent_of_draws(per_filter, place):
    """Tests a quarter of all rectangles in a filter or their mean, in 120 draws of the noise.

    The nominal rate is 95%; a rate below the quantile occurs by chance once in a million times.
    """
    bank = with_basis(per_filter)
    shown = bank.class_mean("high") if place is None else bank.filter("high", place)
    truth = shown.weights.reshape(4, 5)
    filters, biases = bank.noise.draws(120, seed=8)
    spans = [list(itertools.combinations_with_replacement(range(n), 2)) for n in (4, 5)]
    true = 0
    for errors, offsets in zip(filters, biases, strict=True):
        drawn = type(bank).from_weights(
            bank.filters + errors, bank.biases + offsets, classes=bank.classes,
            input_names=bank.input_names, guarantee=private_guarantee(), grid_shape=(4, 5),
            noise=bank.noise,
        )  # fmt: skip
        right = True
        for rows, columns in list(itertools.product(*spans))[::4]:
            said = filter_claim(drawn, "high", (rows, columns), place=place)
            block = truth[rows[0] : rows[1] + 1, columns[0] : columns[1] + 1]
            right &= said.low <= block.mean() <= said.high
        true += right
    assert true >= stats.binom.ppf(1e-6, 120, 0.95)
