"""Claims about cells and regions of a pair: what they say, and how often they are true."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from scipy import stats

from dpexplain.explain import claim, claim_strip
from dpexplain.explain.claims.pair_claims import region_elsewhere, region_of
from pair_examples import paired, swept


@pytest.fixture(scope="module")
def fit():
    return swept().explanations[4.0][0]


def test_two_cells_are_compared_beyond_the_curves_of_their_features(fit):
    pair = fit.pair("age & children")
    said = claim(fit, "age & children", 0, "76 – 90, no")
    assert said.estimate == pytest.approx(pair.contribution[0, 0] - pair.contribution[4, 0])
    assert said.std == pytest.approx(pair.total_std[0, 0] + pair.total_std[4, 0])
    assert said.high - said.estimate == pytest.approx(pair.band_factor * said.std)
    assert said.words.startswith("At ε = 4, records with age = 17 – 31 and children = no have")
    assert "beyond what age and children add separately" in said.words
    assert said.basis == "noise"
    assert said.frame().loc[0, "private"]


def test_a_region_is_the_mean_of_its_cells_by_their_noisy_counts(fit):
    pair = fit.pair("age & children")
    said = claim(fit, "age & children", (0, 5))
    inside = pair.weights[:2, :2] / pair.weights[:2, :2].sum()
    assert said.kind == "sign"
    assert said.estimate == pytest.approx((inside * pair.contribution[:2, :2]).sum())
    assert said.std == pytest.approx((inside * pair.total_std[:2, :2]).sum())
    assert said.first == "17 – 46, no to yes"
    assert claim(fit, "age & children", (1, 4)).estimate == said.estimate  # the other corners
    both = claim(fit, "age & children", (0, 5), (12, 17))
    assert both.kind == "difference"
    assert "than records with age = 61 – 90 and children = no to yes" in both.words


def test_cells_are_found_by_a_value_of_each_feature(fit):
    pair = fit.pair("age & children")
    for cell in ("80, no", "80,no", " 80 , no"):
        assert region_of(pair, cell) == region_of(pair, "76 – 90, no")
    assert region_of(pair, ("18, no", "40, yes")) == region_of(pair, (0, 5))
    columns = dataclasses.replace(pair.axes[1], categories=("no, none", "yes"))
    awkward = dataclasses.replace(pair, axes=(pair.axes[0], columns))
    assert region_of(awkward, "80, no, none") == region_of(pair, "80, no")


def test_a_pair_that_a_fit_lacks_is_answered_with_those_that_it_has(fit):
    with pytest.raises(KeyError, match=r"no pair 'age & job'; the pairs are .*'age & children'"):
        claim(fit, "age & job", 0)
    with pytest.raises(KeyError, match=r"Did you mean 'age & children'\?"):
        fit.pair("children & age")
    with pytest.raises(KeyError, match="no pair 'age & job'; this model has no pairs; fit it with"):
        fit.without_pairs()["age & job"]


def test_cells_of_other_grids_are_found_by_midpoint_and_label():
    comparison = swept()
    fine, coarse = (comparison.explanations[e][0].pair("age & children") for e in (4.0, 1.0))
    assert region_elsewhere(fine, region_of(fine, 0), coarse) == ((0, 0), (0, 0))
    assert region_elsewhere(fine, region_of(fine, (0, 5)), coarse) == ((0, 0), (0, 1))
    strip = claim_strip(comparison, "age & children", 0, 16)
    assert strip.states[0] == "not resolved"  # this fit does not have the pair
    assert strip.claims[1].first == "17 – 41, no"
    assert strip.claims[2].holds
    near = claim_strip(comparison, "age & children", 0, 4)  # one bin of the coarse grid
    assert near.states[:2] == ("not resolved", "not resolved")


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ((), ValueError, "about its cells"),
        ((0, 0), ValueError, "two different cells"),
        ((99,), KeyError, "no cell 99"),
        (("17, noo",), KeyError, "no bin 'noo' of 'children'.*Did you mean 'no'"),
        (("old, no",), KeyError, "no bin 'old' of 'age'.* Write a number[.]"),
        (("200, no",), KeyError, "no bin '200' of 'age'; its bins cover 17 – 90"),
        (("17",), KeyError, "name a bin of each feature, or a value in it, such as '17 – 31, no'"),
        (((0, 1, 2),), ValueError, "a region is"),
    ],
)
def test_questions_about_a_pair_that_make_no_claim_are_refused(fit, asked, error, message):
    with pytest.raises(error, match=message):
        claim(fit, "age & children", *asked)


def test_a_pair_without_known_noise_or_with_edits_makes_no_claim(fit):
    with pytest.raises(ValueError, match="its errors are unknown"):
        claim(paired(), "age & job", 0)
    pair = fit.pair("age & children")
    edited = dataclasses.replace(pair, released=pair.contribution)
    with pytest.raises(ValueError, match="edited by hand"):
        claim(dataclasses.replace(fit, pairs=(edited,)), "age & children", 0)


@pytest.mark.full
@pytest.mark.parametrize("alike", [0.0, 0.6, 1.0])
def test_every_claim_about_regions_is_true_in_95_percent_of_draws(fit, alike):
    """Tests all pairs of regions of the grid, in 300 draws with any correlation.

    The nominal rate is 95% for all of them at once; a rate below the quantile occurs by chance
    once in a million times.
    """
    pair = fit.pair("age & children")
    rng = np.random.default_rng(1)
    n_draws, shape = 300, pair.contribution.shape
    spans = [list(itertools.combinations_with_replacement(range(n), 2)) for n in shape]
    regions = list(itertools.product(*spans))[::7]
    true, held = 0, 0
    for _ in range(n_draws):
        errors = np.sqrt(alike) * rng.normal() + np.sqrt(1 - alike) * rng.normal(size=shape)
        seen = dataclasses.replace(pair, contribution=pair.contribution + pair.total_std * errors)
        drawn = dataclasses.replace(fit, pairs=(seen,))
        right = True
        for rows, columns in regions:
            corners = (rows[0] * shape[1] + columns[0], rows[1] * shape[1] + columns[1])
            block = np.s_[rows[0] : rows[1] + 1, columns[0] : columns[1] + 1]
            weights = pair.weights[block]
            weights = (
                weights / weights.sum()
                if weights.any()
                else np.full(weights.shape, 1 / weights.size)
            )
            said = claim(drawn, pair.name, corners)
            right &= said.low <= (weights * pair.contribution[block]).sum() <= said.high
            held += said.holds
        true += right
    assert true >= stats.binom.ppf(1e-6, n_draws, 0.95)
    assert held > 0


def test_a_claim_about_a_pair_whose_effect_is_estimated_covers_shrinkage(fit):
    pair = fit.pair("age & children")
    wide = dataclasses.replace(pair, effect_std=3.0 * pair.total_std)
    others = tuple(wide if each is pair else each for each in fit.pairs)
    said = claim(dataclasses.replace(fit, pairs=others), pair.name, 0, 16)
    noise = claim(fit, pair.name, 0, 16)
    assert (said.basis, noise.basis) == ("effect", "noise")
    assert said.estimate == noise.estimate
    assert said.std == pytest.approx(3.0 * noise.std)
    assert said.high - said.estimate == pytest.approx(wide.effect_factor * said.std)
    assert "hidden by shrinkage" not in said.words
