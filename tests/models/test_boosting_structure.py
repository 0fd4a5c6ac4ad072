"""Random trees are drawn from public quantities, with enough people in every leaf."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.binning import FeatureBins
from dpexplain.binning.counts import BinCounts
from dpexplain.models.boosting.fit import _rare_together
from dpexplain.models.boosting.recipe import (
    DEFAULT,
    cells_for,
    neutral_records,
    recipe,
    schedule,
)
from dpexplain.models.boosting.structure import random_visits
from dpexplain.schema import Categorical
from effort import examples


def counts_of(values, *, ordered=True, n_special=1, variance=4.0):
    values = np.asarray(values, dtype=float)
    return BinCounts(values, np.full(len(values), variance), n_special, ordered)


def visits_of(features, **settings_):
    settings_ = {"n_epochs": 6, "max_leaves": 3, "min_leaf_count": 50.0, **settings_}
    return random_visits(features, rng=np.random.default_rng(0), **settings_)


@examples(40)
@given(
    counts=st.lists(st.floats(-20, 300), min_size=2, max_size=60),
    ordered=st.booleans(),
    max_leaves=st.integers(2, 5),
    min_leaf_count=st.floats(1, 500),
)
def test_every_leaf_holds_enough_people_or_the_tree_has_fewer_leaves(
    counts, ordered, max_leaves, min_leaf_count
):
    feature = counts_of(counts, ordered=ordered)
    for visit in visits_of([feature], max_leaves=max_leaves, min_leaf_count=min_leaf_count):
        n_leaves = len(visit.leaf_weight)
        assert set(visit.leaf_of_bin) <= set(range(n_leaves))
        assert n_leaves <= max_leaves
        held = np.bincount(visit.leaf_of_bin[:-1], weights=feature.counts[:-1], minlength=n_leaves)
        assert n_leaves == 1 or (held >= min_leaf_count - 1e-6).all()
        assert (visit.leaf_weight >= min_leaf_count).all()


def test_leaves_of_ordered_bins_are_intervals_and_those_of_categories_are_not_always():
    counts = np.full(13, 100.0)
    rises = [
        (np.diff(v.leaf_of_bin[:-1].astype(int)) >= 0).all() for v in visits_of([counts_of(counts)])
    ]
    assert all(rises)
    unordered = visits_of([counts_of(counts, ordered=False)])
    assert not all((np.diff(v.leaf_of_bin[:-1].astype(int)) >= 0).all() for v in unordered)


def test_missing_and_other_take_changing_sides():
    feature = counts_of(np.full(14, 100.0), n_special=2)
    sides = {tuple(v.leaf_of_bin[-2:]) for v in visits_of([feature], n_epochs=60)}
    assert len(sides) > 4


def test_each_epoch_visits_every_feature_once():
    features = [counts_of(np.full(5, 100.0)) for _ in range(4)]
    order = [v.feature for v in visits_of(features, n_epochs=10)]
    for epoch in range(10):
        assert sorted(order[4 * epoch : 4 * epoch + 4]) == [0, 1, 2, 3]


def test_the_same_seed_and_counts_give_the_same_trees():
    first, second = (visits_of([counts_of(np.arange(20) * 10)]) for _ in range(2))
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a.leaf_of_bin, b.leaf_of_bin)


def test_a_denominator_stays_clear_of_its_own_noise():
    """Bins have variance 4, so a leaf of k bins has sd 2 sqrt(k); its floor is three sds."""
    feature = counts_of(np.zeros(11))
    for visit in visits_of([feature], min_leaf_count=0.0):
        bins = np.bincount(visit.leaf_of_bin)
        assert (visit.leaf_weight >= 3 * 2 * np.sqrt(bins) - 1e-9).all()


def test_neutral_records_shorten_the_steps_of_small_leaves_only():
    feature = counts_of([20.0] * 9 + [300.0] * 4, n_special=0)  # 1,380 records
    plain = visits_of([feature], n_epochs=40, max_leaves=5, min_leaf_count=20.0)
    given_ = {"n_epochs": 40, "max_leaves": 5, "min_leaf_count": 20.0, "n_neutral": 100.0}
    neutral = visits_of([feature], **given_)
    np.testing.assert_array_equal(plain.leaf_of_bin, neutral.leaf_of_bin)
    third = plain.n_records / 3
    assert plain.n_records == neutral.n_records == 1380
    for a, b in zip(plain, neutral, strict=True):
        longer = b.leaf_weight < a.leaf_weight
        np.testing.assert_array_equal(longer, a.leaf_weight > third)
        a_third = (third + 100.0) * a.leaf_weight / (a.leaf_weight + 100.0)
        np.testing.assert_allclose(b.leaf_weight * a_third, a.leaf_weight * third, rtol=1e-12)


@examples(60)
@given(ratio=st.floats(1, 1e7), n=st.floats(-100, 1e7), noise=st.floats(0, 1e6))
def test_trees_have_more_leaves_and_neutral_records_only_if_noise_is_small(ratio, n, noise):
    n_leaves = schedule(DEFAULT, ratio, clip_adapts=False).max_leaves
    assert n_leaves == (3 if ratio < 525 else 4 if ratio <= 675 else 5)
    number = neutral_records(DEFAULT, n_leaves, n, noise)
    assert 0 <= number <= 0.2 * max(1, n)
    assert n_leaves > 3 or number == 0
    assert neutral_records(recipe("paper"), 5, n, noise) == 0
    assert schedule(recipe("default", max_leaves=7), ratio, clip_adapts=False).max_leaves == 7


@examples(60)
@given(ratio=st.floats(1, 1e7), adapts=st.booleans())
def test_the_schedule_is_bounded_and_takes_fewer_steps_and_a_tighter_clip_under_more_noise(
    ratio, adapts
):
    plan = schedule(DEFAULT, ratio, clip_adapts=adapts)
    noisier = schedule(DEFAULT, ratio / 2, clip_adapts=adapts)
    assert 5 <= noisier.n_epochs <= plan.n_epochs <= 200
    assert 0 < plan.learning_rate <= 1
    assert 0 < noisier.learning_rate <= 1
    assert 0 < noisier.clip <= plan.clip <= 1
    assert (plan.clip_quantile is not None) == adapts
    if adapts:
        assert 0.5 < noisier.clip_quantile <= plan.clip_quantile < 1
    assert 4 <= cells_for(DEFAULT, ratio / 2) <= cells_for(DEFAULT, ratio) <= 256


@pytest.mark.parametrize(
    ("ratio", "n_cells"), [(1, 4), (8, 8), (14, 16), (30, 32), (140, 32), (600, 128), (1e6, 256)]
)
def test_a_feature_has_few_cells_if_noise_dominates_and_more_only_with_much_more_signal(
    ratio, n_cells
):
    assert cells_for(DEFAULT, ratio) == n_cells


def test_what_the_user_gives_wins_over_the_preset():
    settings_ = recipe("default", n_epochs=7, learning_rate=0.3, clip=0.2, max_bins=50)
    plan = schedule(settings_, 1000.0, clip_adapts=True)
    assert (plan.n_epochs, plan.learning_rate, plan.clip) == (7, 0.3, 0.2)
    assert plan.n_clip_queries == 0
    assert cells_for(settings_, 10.0) >= 50


@examples(60)
@given(clip=st.floats(1e-3, 5), answer=st.floats(allow_nan=False))
def test_an_adapted_clip_stays_in_its_public_range_whatever_the_answer(clip, answer):
    assert 0.02 <= schedule(DEFAULT, 100.0, clip_adapts=True).next_clip(clip, answer) <= 1


def test_the_paper_preset_is_the_paper():
    paper = recipe("paper")
    assert (paper.max_bins, paper.n_cells, paper.n_epochs, paper.learning_rate) == (
        32,
        64,
        300,
        0.01,
    )
    assert (paper.max_leaves, paper.bin_share, paper.clip) == (3, 0.1, 1.0)
    assert paper.spacing == "equal"
    with pytest.raises(TypeError):
        recipe("paper", colour=1)


def test_categories_are_cut_by_name_and_rare_ones_as_the_last():
    bins = FeatureBins("job", Categorical(["smith", "clerk", "nurse", "baker"]))
    counts = np.array([100.0, 100.0, 2.0, 100.0, 0.0, 0.0])
    assert _rare_together(bins, counts, 10.0).tolist() == [2, 1, 3, 0, 4, 5]
    assert _rare_together(bins, counts, 0.0).tolist() == [3, 1, 2, 0, 4, 5]
    ordered = dataclasses.replace(bins, feature=dataclasses.replace(bins.feature, ordered=True))
    assert _rare_together(ordered, counts, 10.0).tolist() == [0, 1, 3, 2, 4, 5]
    assert _rare_together(bins, counts, 1e9).tolist() == [0, 0, 0, 0, 1, 2]


def test_bins_of_one_unit_always_share_a_leaf():
    counts = counts_of(np.full(8, 100.0), n_special=2)
    tied = dataclasses.replace(counts, unit_of_bin=np.array([0, 3, 1, 3, 2, 3, 4, 5]))
    for visit in visits_of([tied], n_epochs=30):
        assert len(set(visit.leaf_of_bin[[1, 3, 5]])) == 1
