"""Outer bags: curves averaged over random parts of the records, and what that costs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpexplain.audit import record
from dpexplain.mechanisms import SecretCoins
from dpexplain.models import (
    DPExplainableBoostingClassifier,
    DPExplainableBoostingRegressor,
    ExplainableBoostingClassifier,
    ExplainableBoostingRegressor,
)
from dpexplain.models.boosting.fit import BAG_SHARE
from dpexplain.schema import Categorical, Classes, Numeric, Range, Schema

pytestmark = pytest.mark.full

FEATURES = {"dose": Numeric(0, 1), "ward": Categorical(["A", "B"])}
CLASSES = Schema(FEATURES, target=Classes(["no", "yes"]))
NUMBERS = Schema(FEATURES, target=Range(-4, 4))
ALL = [
    ExplainableBoostingClassifier(schema=CLASSES, max_rounds=20),
    ExplainableBoostingRegressor(schema=NUMBERS, max_rounds=20),
    DPExplainableBoostingClassifier(schema=CLASSES),
    DPExplainableBoostingRegressor(schema=NUMBERS),
]
by_name = pytest.mark.parametrize("estimator", ALL, ids=lambda e: type(e).__name__)
private = pytest.mark.parametrize("estimator", ALL[2:], ids=lambda e: type(e).__name__)


def make_data(estimator, n=2000, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"dose": rng.random(n), "ward": rng.choice(["A", "B"], n)})
    score = 2 * X["dose"] + (X["ward"] == "B") - 1.5
    if estimator.schema is NUMBERS:
        return X, score + rng.normal(0, 0.3, n)
    return X, np.where(score + rng.logistic(0, 1, n) > 0, "yes", "no")


@by_name
def test_several_bags_show_how_much_they_differ(estimator):
    model = type(estimator)(schema=estimator.schema, outer_bags=5, max_rounds=10)
    shapes = model.fit(*make_data(estimator)).explain_global()
    for shape in shapes.values():
        filled = shape.count > 50
        assert (shape.bag_std[filled] > 0).all()
        assert shape.frame()["bag_std"].tolist() == shape.bag_std.tolist()


@by_name
def test_one_bag_shows_no_difference_between_bags(estimator):
    model = type(estimator)(schema=estimator.schema, outer_bags=1, max_rounds=10)
    shape = model.fit(*make_data(estimator)).explain_global()["dose"]
    assert shape.bag_std is None
    assert shape.frame()["bag_std"].isna().all()


@private
def test_bags_are_averaged_and_compared_after_each_is_centered(estimator):
    model = type(estimator)(schema=estimator.schema, outer_bags=3, max_rounds=10)
    model.fit(*make_data(estimator))
    shape, bags = model.explain_global()["ward"], [tables[1] for tables in model._fit.bags]
    nobody = model._fit.binned.counts[1].perhaps_nobody  # as good as always both special bins
    weights = np.where(nobody, 0, np.maximum(shape.count, 0))
    centered = [bag - weights @ bag / weights.sum() for bag in bags]
    line = model._fit.line  # calibrates the scores
    unit = line.scale * (4.0 if estimator.schema is NUMBERS else 1.0)
    assert shape.contribution[:2] == pytest.approx(unit * np.mean(centered, axis=0)[:2])
    assert shape.bag_std[:2] == pytest.approx(unit * np.std(centered, axis=0, ddof=1)[:2])


@private
@pytest.mark.parametrize("n_bags", [1, 4, 9])
def test_the_noise_of_a_bag_grows_with_the_root_of_their_number(estimator, n_bags):
    settings = {"schema": estimator.schema, "structure_seed": 1, "max_rounds": 6, "clip": 0.3}
    one, several = (
        record(type(estimator)(outer_bags=n, **settings), *make_data(estimator))
        for n in (1, n_bags)
    )
    boosting = [next(p for p in t.phases if p.label == "boosting") for _, t in (one, several)]
    assert boosting[1].sigma_int == pytest.approx(boosting[0].sigma_int * np.sqrt(n_bags))
    trees = sum(phase.label == "boosting" for phase in several[1].phases)
    assert trees == n_bags * 6 * len(FEATURES)
    assert several[0].guarantee_.mu == pytest.approx(one[0].guarantee_.mu)
    event = type(estimator)(outer_bags=n_bags, **settings).planned_events(make_data(estimator)[0])
    assert event[-1].noise_multiplier == pytest.approx(boosting[1].noise_multiplier)
    assert event[-1].count == trees


def test_each_record_is_in_a_bag_by_a_coin_of_its_own():
    """Sizes of bags are binomial: neither fixed nor with records counted twice."""
    n, n_bags = 4000, 200
    source = _one_bin_records(n)
    coins = np.random.default_rng(5)
    sizes = [len(source.bag(BAG_SHARE, coins)._target) for _ in range(n_bags)]
    std = np.sqrt(n * BAG_SHARE * (1 - BAG_SHARE))
    # Four standard errors of a mean and of a standard deviation of 200 draws.
    assert np.mean(sizes) == pytest.approx(n * BAG_SHARE, abs=4 * std / np.sqrt(n_bags))
    assert np.std(sizes) == pytest.approx(std, rel=4 / np.sqrt(2 * n_bags))
    assert max(np.bincount(source.bag(0.5, coins)._target.astype(int))) == 1


def _one_bin_records(n):
    from dpexplain.models.boosting.records.binned import SQUARED, Records

    names = np.arange(n, dtype=np.float32)
    return Records([np.zeros(n, np.uint8)], [1], names, SQUARED)


@private
def test_coins_are_fresh_and_not_kept(estimator):
    assert (estimator._coins().random(2) != estimator._coins().random(2)).all()
    model = type(estimator)(schema=estimator.schema, outer_bags=2, max_rounds=2)
    model.fit(*make_data(estimator, n=200))
    kept = [value for part in (model, model._fit) for value in vars(part).values()]
    assert not any(isinstance(value, np.random.Generator | SecretCoins) for value in kept)


@private
@pytest.mark.parametrize("n_bags", [0, -1, 2.5, True])
def test_a_number_of_bags_that_is_none_is_refused(estimator, n_bags):
    model = type(estimator)(schema=estimator.schema, outer_bags=n_bags)
    with pytest.raises(ValueError, match="outer_bags"):
        model.fit(*make_data(estimator, n=5))


@private
def test_the_guarantee_says_what_bags_cost(estimator):
    model = type(estimator)(schema=estimator.schema, outer_bags=9, max_rounds=2)
    statement = model.fit(*make_data(estimator, n=200)).guarantee_.statement()
    assert "means over 9 random parts of the records" in statement
    assert "the noise of each is larger by a factor of the square root of 9" in statement
    single = type(estimator)(schema=estimator.schema, max_rounds=2)
    assert single.fit(*make_data(estimator, n=200)).guarantee_.notes == ()
