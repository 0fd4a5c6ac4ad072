"""Joint noise, and what follows from it: bands, marks, ranks and certainties."""

from __future__ import annotations

import dataclasses
import math
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import numpy as np
import pytest

from dpexplain.explain import NoiseModel
from dpexplain.explain._normals import keeping_normals
from dpexplain.explain.bands._drawn import rank_intervals
from dpexplain.explain.noise_model import mean_absolute, normal_certainty
from example_explanations import age, classifier, job, samples

RNG = np.random.default_rng(0)
STD = np.array([0.1, 0.1, 0.1, 0.3, 0.1, 0.2, 0.9, 0.9, 0.05])


def correlated(n=4_000):
    """Make strongly correlated errors for the nine values of the example classifier."""
    common = RNG.standard_normal((n, 1))
    return (0.8 * common + 0.6 * RNG.standard_normal((n, len(STD)))) * STD


def noisy_classifier(**changes):
    return classifier(noise=NoiseModel.from_draws((4, 4), [correlated()]), **changes)


def test_variances_of_draws_are_kept_and_correlations_up_to_the_rank():
    errors = correlated()
    full = NoiseModel.from_draws((4, 4), [errors])
    covariance = errors.T @ errors / len(errors)
    found = full.factor @ full.factor.T + np.diag(full.remainder_std**2)
    np.testing.assert_allclose(found, covariance, rtol=1e-5, atol=1e-9)
    one = NoiseModel.from_draws((4, 4), [errors], rank=1)
    np.testing.assert_allclose(one.std, np.sqrt(np.diag(covariance)), rtol=1e-6)
    assert one.factor.shape == (9, 1)


def test_causes_add_up_and_a_value_without_scatter_stays_without():
    a, b = correlated(), correlated(1_000)
    a[:, 2] = b[:, 2] = 0.0
    both = NoiseModel.from_draws((4, 4), [a, b])
    np.testing.assert_allclose(both.std**2, (a**2).mean(0) + (b**2).mean(0), rtol=1e-5)
    assert both.std[2] == 0


def test_rounding_errors_of_the_simulated_errors_do_not_change_the_draws():
    """Four values are independent of all others, and two are opposites, as in a binary feature."""
    joint = np.zeros((9, 9))
    joint[:5, :3] = RNG.standard_normal((5, 3))
    joint[:5, 3] = -joint[:5, 2]
    joint[5:, 4:8] = np.diag(STD[4:8])
    joint[:5, 8] = RNG.standard_normal(5)
    model = NoiseModel.from_draws((4, 4), [joint])
    assert model.factor.shape == (9, 4)
    np.testing.assert_allclose(model.remainder_std[4:8], STD[4:8] / 3.0, rtol=1e-6)
    for _ in range(20):
        moved = joint * (1.0 + 1e-15 * RNG.standard_normal(joint.shape))
        rounded = NoiseModel.from_draws((4, 4), [moved])
        np.testing.assert_allclose(rounded.draws(50), model.draws(50), rtol=1e-4, atol=1e-5)


def test_draws_come_back_from_their_seed_and_have_the_covariance():
    """A correlation of 20,000 draws has a standard error of 0.0071; the test allows five."""
    model = NoiseModel.from_draws((4, 4), [correlated()])
    draws = model.draws(20_000, seed=1)
    assert np.array_equal(draws, model.draws(20_000, seed=1))
    assert not np.array_equal(draws, model.draws(20_000, seed=2))
    wanted = model.factor @ model.factor.T + np.diag(model.remainder_std**2)
    wanted /= np.outer(model.std, model.std)
    assert np.abs(np.corrcoef(draws.T) - wanted).max() < 5 * 0.0071


def test_simultaneous_band_holds_for_all_bins_of_a_term_at_once():
    """Nominal: 95% of 10,000 curves; the test allows for errors of 0.0022 and 0.0034 (factor)."""
    model = NoiseModel.from_draws((4, 4), [correlated()])
    factors = model.simultaneous_factors()
    fresh = np.abs(model.draws(10_000, seed=9)) / model.std
    for place, factor in enumerate(factors):
        inside = (fresh[:, model.term(place)] <= factor).all(axis=1).mean()
        assert inside == pytest.approx(0.95, abs=5 * 0.0041)
        assert 1.96 - 0.1 < factor < 2.5 + 0.1  # between one bin and four independent ones
    assert model.overall_factor() > factors.max()


def test_mean_absolute_value_of_a_normal():
    assert mean_absolute(np.zeros(1), np.ones(1))[0] == pytest.approx(math.sqrt(2 / math.pi))
    assert mean_absolute(np.array([-3.0]), np.zeros(1))[0] == 3.0
    draws = np.abs(0.7 + 1.3 * RNG.standard_normal(100_000))
    found = mean_absolute(np.array([0.7]), np.array([1.3]))[0]
    assert found == pytest.approx(draws.mean(), abs=5 * draws.std() / math.sqrt(100_000))


def test_certainty_of_a_sign_goes_from_a_coin_to_one():
    np.testing.assert_allclose(
        normal_certainty([0.0, np.nan, -1.0, 1.0, np.inf]),
        [0.5, 0.5, 0.841345, 0.841345, 1.0],
        1e-5,
    )


def test_a_bin_is_signal_where_the_band_from_all_causes_excludes_zero():
    shape = age(structure_std=[0.1] * 4, sampling_std=[0.2] * 4, simultaneous_factor=1.5)
    np.testing.assert_allclose(shape.total_std[:3], math.sqrt(0.01 + 0.01 + 0.04))
    low, high = shape.band
    np.testing.assert_allclose(high - low, 3.0 * shape.total_std)
    assert shape.signal.tolist() == [True, False, True, False]
    assert age().signal.tolist() == [True, True, True, False]  # two deviations, privacy alone
    quiet = age(noise_std=None)
    assert quiet.signal is quiet.band is quiet.total_std is quiet.noise_floor is None


@pytest.mark.full
def test_corrected_importance_is_zero_under_the_floor_and_unbiased_well_above():
    """The curve's mean size is 0.8 or 4 times the noise of its bins; there are 8,000 copies."""

    def errors(scale):
        truth = age(contribution=scale * np.array([-0.2, 0.1, 0.12, 0.0]), noise_std=[0.15] * 4)
        noise = 0.15 * np.random.default_rng(0).standard_normal((8_000, 4))
        copies = [
            dataclasses.replace(truth, contribution=truth.contribution + each) for each in noise
        ]
        found = [(copy.importance, copy.corrected_importance) for copy in copies]
        wrong = np.array(found) - truth.weights @ np.abs(truth.contribution)
        return wrong.mean(axis=0), wrong.std(axis=0) / np.sqrt(len(noise))

    (plain, corrected), stds = errors(1.0)
    assert plain > 0.02
    assert plain - abs(corrected) > 4 * stds.sum()  # whatever their correlation
    (_, corrected), (_, std) = errors(5.0)
    assert abs(corrected) < 4 * std
    assert age(contribution=[0.01, -0.01, 0.0, 0.0]).corrected_importance == 0.0
    assert age(noise_std=None).corrected_importance == age().importance
    large = age(contribution=[-5.0, 4.0, 5.0, 0.0])
    assert large.corrected_importance == pytest.approx(large.importance, rel=1e-3)


def test_directions_that_fit_inside_the_band():
    flat = {"noise_std": [0.01] * 4}
    assert age(**flat).possible_directions == ("rising",)
    assert age(contribution=[0.5, 0.0, -0.5, 9.0], **flat).possible_directions == ("falling",)
    assert age(contribution=[0.5, 0.0, 0.5, 0.0], **flat).possible_directions == ()
    assert age(noise_std=[9.0] * 4).possible_directions == ("constant", "rising", "falling")


def test_a_model_says_which_terms_stand_out_and_how_much_of_it_is_noise():
    explanation = noisy_classifier()
    assert explanation.terms_above_noise == ("job", "age")
    assert 0 < explanation.noise_share < 0.2
    assert explanation.noise_words.startswith("All terms rise above the noise")
    small = {"contribution": [0.01, -0.01, 0.01, 0.0]}
    one = noisy_classifier(terms=(age(), job(**small)))
    assert one.noise_words.startswith("1 of 2 terms rises above the noise")
    nothing = noisy_classifier(terms=(age(**small), job(**small)))
    assert nothing.terms_above_noise == ()
    assert nothing.noise_share == 1.0
    assert "Nothing rises above the noise: about 100%" in nothing.noise_words
    assert nothing.noise_words in nothing._repr_html_()
    quiet = classifier(terms=(age(noise_std=None), job(noise_std=None)))
    assert quiet.terms_above_noise is quiet.noise_share is None
    assert "not available" in quiet.noise_words
    assert quiet.noise_words in quiet._repr_html_()
    assert classifier().terms_above_noise is None  # deviations, but no joint noise
    assert classifier().noise_words.startswith("About")


def test_ranking_holds_importances_with_what_noise_does_to_them():
    table = noisy_classifier().ranking()
    assert table.index.tolist() == ["job", "age"]
    assert table["rank_low"].tolist() == [1, 2] == table["rank_high"].tolist()
    assert (table["corrected_importance"] <= table["importance"]).all()
    assert table.loc["age", "direction"] == "rising"
    assert table.loc["age", "direction_certainty"] > 0.99
    assert table["direction"].isna().tolist() == [True, False]
    assert np.isnan(table.loc["job", "direction_certainty"])
    assert table["above_noise"].all()
    bare = classifier().ranking()
    assert bare["rank_low"].isna().all()


def test_terms_of_equal_importance_share_their_ranks():
    draws = np.array([1.0, 1.0, 3.0]) + 0.1 * RNG.standard_normal((2_000, 3))
    low, high = rank_intervals(np.array([1.0, 1.05, 3.0]), [draws])
    assert low.tolist() == [2, 2, 1]
    assert high.tolist() == [3, 3, 1]
    assert [v.tolist() for v in rank_intervals(np.array([1.0]), [draws[:, :1]])] == [[1], [1]]


def test_score_scatter_takes_terms_and_intercept_together():
    """The variance of 20,000 scores has a standard error of 1%; the test allows five of these."""
    model = NoiseModel.from_draws((4, 4), [correlated()])
    bins = np.array([[0, 1], [3, 3]])
    draws = model.draws(20_000)
    scores = np.stack([draws[:, a] + draws[:, 4 + b] + draws[:, -1] for a, b in bins])
    np.testing.assert_allclose(model.score_std(bins) ** 2, scores.var(axis=1), rtol=0.05)


def test_signs_and_sides_of_a_threshold_are_as_certain_as_their_scatter_allows():
    local = samples(total_std=[[0.5, 1e9]] * 2, score_std=[1e9, 1e-9])
    certainty = local.sign_certainty
    assert certainty.shape == local.contributions.shape
    assert certainty[0, 1] == pytest.approx(0.5)
    assert local.frame()["sign_certainty"].between(0.5, 1).all()
    assert local.crossing_certainty() == pytest.approx([0.5, 1.0])
    assert samples(noise_std=None).sign_certainty is None
    assert samples(noise_std=None).crossing_certainty() is None
    with pytest.raises(ValueError, match="between 0 and 1"):
        local.crossing_certainty(1.5)
    regression = samples(link="identity", classes=None)
    with pytest.raises(ValueError, match="no default threshold"):
        regression.crossing_certainty()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sizes": (4, 3)}, "factor has shape"),
        ({"sizes": (4, 0)}, "sizes"),
        ({"factor": np.full((9, 1), np.nan)}, "finite"),
        ({"remainder_std": np.full(9, -1.0)}, "negative"),
    ],
)
def test_contradicting_noise_is_refused(changes, words):
    fields = {"sizes": (4, 4), "factor": np.zeros((9, 1)), "remainder_std": np.zeros(9)}
    with pytest.raises(ValueError, match=words):
        NoiseModel(**{**fields, **changes})


def test_noise_of_another_model_is_refused():
    with pytest.raises(ValueError, match="bins"):
        classifier(noise=NoiseModel((4, 3), np.zeros((8, 1)), np.zeros(8)))
    with pytest.raises(ValueError, match="NoiseModel"):
        classifier(noise=0.1)


def test_models_that_share_numbers_draw_what_they_draw_alone():
    rng = np.random.default_rng(7)
    models = [
        NoiseModel((n, 2), rng.normal(size=(n + 3, 2)), rng.uniform(size=n + 3)) for n in (3, 5, 2)
    ]
    alone = [(model.draws(50), model.overall_factor()) for model in models]
    fresh = [NoiseModel(each.sizes, each.factor, each.remainder_std) for each in models]
    with keeping_normals():
        together = [(model.draws(50), model.overall_factor()) for model in fresh]

    for (draws, factor), (shared, same_factor) in zip(alone, together, strict=True):
        np.testing.assert_array_equal(draws, shared)
        assert factor == same_factor


def test_threads_that_share_numbers_draw_what_they_draw_alone():
    rng = np.random.default_rng(8)
    models = [
        NoiseModel((n,), rng.normal(size=(n + 1, 2)), rng.uniform(size=n + 1)) for n in (4, 9)
    ]
    alone = [model.draws(300) for model in models] * 4
    with keeping_normals(), ThreadPoolExecutor(4) as threads:
        waiting = [threads.submit(copy_context().run, m.draws, 300) for m in models * 4]
        together = [each.result() for each in waiting]
    np.testing.assert_array_equal(np.concatenate(alone, axis=1), np.concatenate(together, axis=1))
