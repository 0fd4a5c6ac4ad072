"""Privacy noise of pairs: bands, marks and importances, against a naive twin."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy import stats

from dpexplain.explain.bands._noisy_part import NOT_AVAILABLE
from example_explanations import age, age_and_job, classifier, pairs
from pair_examples import paired

PEOPLE = pd.DataFrame({"age": [25.0, 60.0, None], "job": ["nurse", "clerk", "clerk"]})


def naive_factor(stds, level):
    """Return the quantile of the largest of independent errors, one per noisy cell."""
    n_noisy = sum(std > 0 for row in stds for std in row) or 1
    return stats.norm.ppf((1 + level ** (1 / n_noisy)) / 2)


@given(pairs())
def test_marks_of_cells_are_those_of_a_naive_twin(pair):
    if pair.noise_std is None:
        assert pair.signal is pair.band is pair.noise_floor is None
        assert pair.corrected_importance == pair.importance
        return
    sampling = np.zeros(pair.noise_std.shape) if pair.sampling_std is None else pair.sampling_std
    total = np.array([math.hypot(*s) for s in zip(pair.noise_std.flat, sampling.flat, strict=True)])
    total = total.reshape(sampling.shape)
    np.testing.assert_allclose(pair.total_std, total, rtol=1e-12)
    factor = naive_factor(total, 0.95)
    assert pair.band_factor == pytest.approx(factor)
    for place in np.ndindex(pair.contribution.shape):
        size, reach = abs(pair.contribution[place]), factor * total[place]
        if not math.isclose(size, reach, rel_tol=1e-9):
            assert pair.signal[place] == (size > reach)
    expected = sum(
        pair.weights[place] * total[place] * math.sqrt(2 / math.pi)
        for place in np.ndindex(pair.contribution.shape)
    )
    assert pair.noise_floor == pytest.approx(expected)


def test_noise_alone_marks_a_cell_in_one_of_twenty_pairs_even_if_cells_share_it():
    rng = np.random.default_rng(1)
    std = rng.uniform(0.1, 2.0, (3, 3))
    shared = 0.6  # part of the variance that all cells have in common
    marked = 0
    for _ in range(1000):
        errors = math.sqrt(1 - shared) * rng.normal(size=(3, 3)) + math.sqrt(shared) * rng.normal()
        pair = age_and_job(contribution=std * errors, noise_std=std)
        marked += bool(pair.signal.any())
    assert 0 < marked <= 50


def test_importance_without_noise_is_what_is_left_after_shrinking():
    pair = age_and_job()
    assert 0 < pair.noise_floor < pair.importance
    assert 0 < pair.corrected_importance < pair.importance
    assert age_and_job(contribution=np.full((3, 3), 0.01)).corrected_importance == 0


def test_the_table_of_cells_shows_the_noise():
    pair = age_and_job()
    table = pair.frame()
    low, high = pair.band
    np.testing.assert_array_equal(table["noise_std"], pair.noise_std.ravel())
    np.testing.assert_array_equal(table["band_low"], low.ravel())
    np.testing.assert_array_equal(table["band_high"], high.ravel())
    assert table["signal"].tolist() == [True, True, *[False] * 6, True]
    without = age_and_job(noise_std=None).frame()
    assert list(without) == list(table)
    assert without["noise_std"].isna().all()
    assert without["signal"].tolist() == [None] * 9


def test_words_count_the_cells_above_the_noise():
    pair = age_and_job()
    assert pair.noise_words.startswith("3 of 9 cells rise above the noise; noise alone gives")
    assert "3 of 9 cells" in pair._repr_html_()
    assert pair.noise_words in list(pair.describe())
    flat = age_and_job(contribution=np.zeros((3, 3)))
    assert flat.noise_words.startswith("None of 9 cells rises above the noise")
    assert age_and_job(noise_std=None).noise_words == NOT_AVAILABLE
    assert paired().pairs[0].noise_words == ""


@pytest.mark.parametrize(
    ("std", "words"),
    [
        (np.ones((2, 3)), "noise_std has shape"),
        (-np.ones((3, 3)), "noise_std must not be negative"),
        (np.full((3, 3), np.nan), "noise_std must contain finite numbers"),
    ],
)
def test_noise_that_does_not_fit_the_cells_is_refused(std, words):
    with pytest.raises(ValueError, match=words):
        age_and_job(noise_std=std)


def test_sampling_without_privacy_noise_is_refused():
    with pytest.raises(ValueError, match="sampling_std needs noise_std"):
        age_and_job(noise_std=None, sampling_std=np.ones((3, 3)))


def test_sampling_widens_the_band_and_the_noise_of_samples():
    pair = age_and_job(sampling_std=np.full((3, 3), 0.4))
    assert pair.signal.sum() == 0
    local = classifier(pairs=(pair,)).explain_local(PEOPLE.iloc[[0]])
    assert local.noise_std[0, 2] == 0.1
    assert local.total_std[0, 2] == pytest.approx(math.hypot(0.1, 0.4))


def test_pairs_above_the_noise_are_found_over_the_cells_of_all_pairs():
    weak = age_and_job(name="weak", noise_std=np.full((3, 3), 0.5 / naive_factor([[1] * 18], 0.98)))
    strong = age_and_job(name="strong", noise_std=np.full((3, 3), 0.01))
    model = classifier(pairs=(weak, strong))
    assert weak.signal.any()
    assert model.pairs_above_noise == ("weak", "strong")
    stds = np.full((3, 3), 0.5 / naive_factor([[1] * 18], 0.96))
    model = classifier(pairs=(dataclasses.replace(weak, noise_std=stds), strong))
    assert model.pairs_above_noise == ("strong",)
    assert "1 of 2 pairs of features rises above the noise." in model.noise_words
    table = list(model.describe())[-1]
    assert table["above_noise"].to_dict() == {"weak": False, "strong": True}
    assert table.loc["weak", "noise_floor"] == model.pair("weak").noise_floor


def test_models_without_pairs_or_with_unknown_noise_say_nothing_about_pairs():
    assert classifier().pairs_above_noise is None
    assert paired().pairs_above_noise is None
    assert "pair" not in classifier().noise_words
    one = classifier(pairs=(age_and_job(),)).noise_words
    assert one.endswith("The pair of features rises above the noise.")


def test_a_sample_gets_the_noise_of_its_cell():
    model = classifier(pairs=(age_and_job(),))
    local = model.explain_local(PEOPLE)
    assert local.contributions[:, 2].tolist() == [0.5, 0.2, 0.3]
    assert local.noise_std[:, 2].tolist() == [0.1, 0.1, 0.3]
    assert local.total_std[:, 2].tolist() == [0.1, 0.1, 0.3]
    expected = stats.norm.cdf([5.0, 2.0, 1.0])
    np.testing.assert_allclose(local.sign_certainty[:, 2], expected, atol=1e-9)
    unknown = classifier(pairs=(age_and_job(noise_std=None),)).explain_local(PEOPLE)
    assert unknown.noise_std is None


def test_the_table_of_terms_shows_the_importance_from_noise_alone():
    shown = classifier(terms=(age(noise_std=None),), pairs=(age_and_job(),))._repr_html_()
    assert "from noise alone" in shown


def test_the_effect_band_of_cells_contains_what_shrinkage_hides():
    std = np.full((3, 3), 0.2)
    pair = age_and_job(effect_std=std)
    np.testing.assert_array_equal(pair.effect, pair.contribution)
    assert pair.effect_factor == pytest.approx(naive_factor([[1] * 9], 0.95))
    low, high = pair.effect_band
    np.testing.assert_allclose(high - low, 2 * pair.effect_factor * std)
    assert pair.effect_signal.sum() < pair.signal.sum()
    assert pair.effect_importance > pair.importance
    table = pair.frame()
    np.testing.assert_array_equal(table["effect_low"], low.ravel())
    np.testing.assert_array_equal(table["effect_signal"], pair.effect_signal.ravel())
    plain = age_and_job()
    assert plain.effect is plain.effect_band is plain.effect_importance is None
    assert "effect" not in plain.frame()


def test_the_effect_of_an_edited_pair_is_that_of_the_released_one():
    pair = age_and_job(effect_std=np.full((3, 3), 0.2))
    flat = dataclasses.replace(
        pair, contribution=np.zeros((3, 3)), released=pair.contribution, edits=("flat",)
    )
    np.testing.assert_array_equal(flat.effect, pair.contribution)


def test_an_effect_without_noise_is_refused():
    with pytest.raises(ValueError, match="effect_std needs noise_std"):
        age_and_job(noise_std=None, effect_std=np.ones((3, 3)))


def test_pairs_have_rank_intervals_if_their_effects_are_estimated():
    def sized(name, size, std):
        cells = age_and_job().contribution * size
        return age_and_job(name=name, contribution=cells, effect_std=np.full((3, 3), std))

    model = classifier(pairs=(sized("b", 1.0, 0.01), sized("a", 9.0, 0.01), sized("c", 1.1, 0.01)))
    table = model.pair_ranking()
    assert list(table.index) == ["a", "c", "b"]
    assert table["rank_low"].to_dict() == {"a": 1, "b": 2, "c": 2}
    assert table["rank_high"].to_dict() == {"a": 1, "b": 3, "c": 3}
    unsure = classifier(pairs=(sized("b", 1.0, 9.0), sized("a", 9.0, 9.0))).pair_ranking()
    assert unsure[["rank_low", "rank_high"]].to_numpy().tolist() == [[1, 2], [1, 2]]
    assert "rank_low" not in classifier(pairs=(age_and_job(),)).pair_ranking()
