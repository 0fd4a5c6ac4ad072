"""Simulated tables follow the true model that is stored with them."""

from __future__ import annotations

import numpy as np
import pytest

from dpexplain.datasets import make_additive
from dpexplain.datasets.simulated_problems import PROBLEMS
from dpexplain.schema import Classes, Range
from dpexplain.tables.encoding import check_columns, encode_features

BOTH = ["classification", "regression"]


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("task", BOTH)
def test_data_fit_their_schema_and_are_drawn_anew_from_each_seed(problem, task):
    data = make_additive(problem, 400, task=task, random_state=3)
    check_columns(data.X, data.schema)
    for name, codes in zip(data.X, encode_features(data.X, data.schema), strict=True):
        categories = getattr(data.schema.features[name], "categories", None)
        hidden = data.X[name].isna().to_numpy()
        if categories is None:
            assert np.array_equal(np.isnan(codes), hidden)
        else:
            assert (codes < len(categories))[~hidden].all()
    assert isinstance(data.schema.target, Classes if task == "classification" else Range)
    again = make_additive(problem, 400, task=task, random_state=3)
    other = make_additive(problem, 400, task=task, random_state=4)
    assert data.X.equals(again.X)
    assert data.y.equals(again.y)
    assert not data.X.equals(other.X)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_targets_scatter_around_the_true_score(problem):
    """The mean of 20,000 unit normals has a standard deviation of 0.0071; the test allows five."""
    data = make_additive(problem, 20_000, task="regression", random_state=0)
    columns = PROBLEMS[problem].columns
    complete = data.X[[n for n in columns if columns[n].missing_share]].notna().all(axis=1)
    error = (data.y - data.truth.score(data.X))[complete]
    n = complete.sum()
    assert abs(error.mean()) < 5 / np.sqrt(n)
    assert abs(error.std() - 1) < 5 / np.sqrt(2 * n)
    low, high = data.schema.target.low, data.schema.target.high
    assert ((data.y > low) & (data.y < high)).all()


def test_classes_occur_as_often_as_the_true_score_says():
    """The mean difference of 20,000 coins from their probabilities has sd at most 0.0035."""
    data = make_additive("correlated", 20_000, random_state=0)
    chance = 1 / (1 + np.exp(-data.truth.score(data.X)))
    assert abs(np.mean((data.y == "yes") - chance)) < 5 * 0.5 / np.sqrt(20_000)


def test_features_without_effect_and_strength_zero_leave_the_score_alone():
    data = make_additive("smooth", 50, random_state=0)
    assert data.truth.features_without_effect == ("x8", "x9", "letter")
    changed = data.X.assign(x8=0.0, x9=1.0, letter="a")
    assert np.array_equal(data.truth.score(changed), data.truth.score(data.X))
    nothing = make_additive("interactions", 50, strength=0.0, random_state=0)
    assert set(nothing.truth.features_without_effect) == set(nothing.X)
    assert np.ptp(nothing.truth.score(nothing.X)) == 0


def test_features_of_the_correlated_problem_are_correlated():
    """Normal variables with correlation 0.7 have correlation 0.683 once made uniform."""
    X = make_additive("correlated", 20_000, random_state=0).X
    corr = X.drop(columns="letter").corr()
    assert corr.loc["x1", "x8"] == pytest.approx(0.683, abs=0.03)
    assert corr.loc["x1", "x3"] == pytest.approx(0.0, abs=5 / np.sqrt(20_000))


def test_score_without_intercept_is_the_sum_of_contributions_and_interactions():
    data = make_additive("interactions", 200, random_state=1)
    truth = data.truth
    parts = truth.contributions(data.X).sum(axis=1).to_numpy()
    for (a, b), pair in truth.pairs.items():
        parts = parts + pair(data.X[a], data.X[b])
    assert np.allclose(truth.score(data.X), truth.intercept + parts)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"problem": "hard"}, "problem='hard' must be one of"),
        ({"n_samples": 0}, "n_samples=0"),
        ({"n_samples": True}, "n_samples=True"),
        ({"task": "ranking"}, "task='ranking'"),
        ({"strength": float("nan")}, "strength=nan"),
        ({"residual_std": 0.0}, r"residual_std=0\.0"),
    ],
)
def test_wrong_parameters_are_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        make_additive(**{"problem": "smooth", "n_samples": 10, **arguments})
