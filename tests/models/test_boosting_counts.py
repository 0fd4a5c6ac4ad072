"""Regression of counts with a log link."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import mean_poisson_deviance

from dpexplain import sweep
from dpexplain.compare._metrics import measure, poisson_deviance
from dpexplain.explain import inverse_link
from dpexplain.io import from_json, to_json
from dpexplain.models import DPExplainableBoostingRegressor, ExplainableBoostingRegressor
from dpexplain.schema import Categorical, Numeric, Range, Schema

pytestmark = pytest.mark.full

FEATURES = {"age": Numeric(0, 80, unit="years", step=1), "ward": Categorical(["A", "B"])}
COUNTS = Schema(FEATURES, target=Range(0, 40, unit="visits", name="calls"))
BOTH = [
    ExplainableBoostingRegressor(schema=COUNTS, objective="poisson", max_rounds=60),
    DPExplainableBoostingRegressor(schema=COUNTS, objective="poisson", epsilon=4),
]
both = pytest.mark.parametrize("estimator", BOTH, ids=lambda e: type(e).__name__)


def make_data(n=8000, seed=0):
    """Make counts whose expected value is the product of one factor per feature."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.integers(0, 81, n), "ward": rng.choice(["A", "B"], n)})
    rate = 1.5 * np.exp(np.where(X["age"] > 40, 0.8, -0.8)) * np.where(X["ward"] == "B", 2.0, 1.0)
    return X, rate, rng.poisson(rate).astype(float)


@both
def test_predictions_are_exponentials_of_scores_bit_by_bit(estimator):
    X, _, y = make_data(2000)
    model = estimator.fit(X, y)
    local = model.explain_local(X.head(50))
    assert local.link == model.explain_global().link == "log"
    assert local.predictions.tobytes() == np.exp(local.scores).tobytes()
    assert model.predict(X.head(50)).tobytes() == local.predictions.tobytes()


@pytest.mark.named_entropy
@both
def test_the_factors_behind_counts_are_found(estimator):
    """With 8,000 records at epsilon 4, the noise is a few percent, and so is a bin's error."""
    X, rate, y = make_data()
    model = estimator.fit(X, y)
    shapes = model.explain_global()
    step, ward = shapes["age"].evaluate([60, 20]), shapes["ward"].evaluate(["B", "A"])
    assert step[0] - step[1] == pytest.approx(1.6, abs=0.35)
    assert ward[0] - ward[1] == pytest.approx(np.log(2), abs=0.25)
    assert model.predict(X).mean() == pytest.approx(rate.mean(), rel=0.1)


def test_without_noise_it_is_as_good_as_additive_trees_of_scikit_learn():
    X, rate, y = make_data(6000, seed=3)
    other = HistGradientBoostingRegressor(loss="poisson", interaction_cst="no_interactions")
    numbers = X.assign(ward=(X["ward"] == "B").astype(float))
    theirs = mean_poisson_deviance(
        rate[3000:], other.fit(numbers[:3000], y[:3000]).predict(numbers[3000:])
    )
    ours = mean_poisson_deviance(rate[3000:], BOTH[0].fit(X[:3000], y[:3000]).predict(X[3000:]))
    assert ours <= theirs


@pytest.mark.named_entropy
def test_a_private_model_of_counts_is_better_than_a_constant_at_epsilon_one():
    X, rate, y = make_data()
    model = DPExplainableBoostingRegressor(schema=COUNTS, objective="poisson", epsilon=1).fit(X, y)
    constant = mean_poisson_deviance(rate, np.full(len(rate), rate.mean()))
    assert mean_poisson_deviance(rate, model.predict(X)) < 0.3 * constant


@both
def test_an_explanation_says_that_its_scores_are_logarithms(estimator):
    explanation = estimator.fit(*make_data(500)[::2]).explain_global()
    assert explanation.score_unit == "log of the expected visits"
    assert explanation.score_name == "log of the expected calls [visits]"
    assert explanation["age"].score_unit == explanation.score_unit
    assert explanation.score_unit in explanation._repr_html_()
    assert explanation.score_unit in explanation["age"].plot().get_ylabel()
    assert from_json(to_json(explanation)) == explanation


@both
def test_targets_that_are_no_counts_keep_every_number_finite(estimator):
    """Counts beyond the public range are clipped; cells that are not numbers become its middle."""
    X, _, y = make_data(300)
    y = pd.Series(y, dtype=object)
    y.iloc[:60] = [1e300, -5.0, 41.0] * 20
    if isinstance(estimator, DPExplainableBoostingRegressor):
        y.iloc[60:90] = [np.nan, np.inf, "many"] * 10
    model = estimator.fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    assert (model.predict(X) >= 0).all()


def test_scores_of_any_size_have_finite_predictions():
    assert inverse_link([-1e6, 0.0, 1e6], "log")[:2].tolist() == [0.0, 1.0]
    assert np.isfinite(inverse_link([1e6], "log")).all()


@pytest.mark.named_entropy
@pytest.mark.parametrize("clip", [None, 0.2])
def test_the_clip_follows_the_released_rate_unless_it_is_given(clip):
    X, _, y = make_data()
    model = DPExplainableBoostingRegressor(
        schema=COUNTS, objective="poisson", epsilon=4, clip=clip
    ).fit(X, y)
    if clip is None:
        # One count and 2.5 standard deviations of a Poisson count of the mean rate.
        expected = 1 + 2.5 * np.sqrt(y.mean())
        assert model.clip_ == pytest.approx(expected, rel=0.2)
    else:
        assert model.clip_ == pytest.approx(0.2 * 20)  # half of the range of 40


@both
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"objective": "gamma"}, "objective='gamma'.*'squared' or 'poisson'"),
        ({"objective": "poisson", "schema": Schema(FEATURES, target=Range(-1, 5))}, "starts at -1"),
    ],
)
def test_an_objective_that_does_not_suit_the_target_is_refused(estimator, settings, message):
    model = type(estimator)(**{"schema": COUNTS, **settings})
    with pytest.raises(ValueError, match=message):
        model.fit(*make_data(5)[::2])


def test_a_sweep_compares_by_poisson_deviance_with_a_reference_of_the_same_objective():
    X, _, y = make_data(1500)
    model = DPExplainableBoostingRegressor(schema=COUNTS, objective="poisson", max_rounds=5)
    assert model.reference_estimator().objective == "poisson"
    comparison = sweep(model, X, y, epsilons=(1, 4), evaluate=(X, y), progress=False)
    assert set(comparison.metrics["metric"]) == {"Poisson deviance"}
    assert comparison.reference.link == "log"
    assert from_json(to_json(comparison)) == comparison


@given(
    st.lists(st.tuples(st.integers(0, 30), st.floats(0.01, 50)), min_size=1, max_size=30),
)
def test_poisson_deviance_equals_scikit_learn(rows):
    count, expected = np.array(rows, dtype=float).T
    assert poisson_deviance(count, expected) == pytest.approx(
        mean_poisson_deviance(count, expected), abs=1e-9
    )


def test_a_deviance_of_what_cannot_be_read_is_not_a_number_and_raises_nothing():
    model = BOTH[1].fit(*make_data(100)[::2])
    X = make_data(100)[0]
    assert np.isnan(measure(model, X, ["x"] * 100)[1])
    assert measure(model, X, [-3.0] * 100)[1] >= 0
    assert np.isnan(poisson_deviance(np.zeros(0), np.zeros(0)))


@pytest.mark.parametrize("name", ["exposure", "offset", "init_score", "base_margin"])
@both
def test_an_exposure_is_refused_and_the_answer_is_to_make_it_a_feature(estimator, name):
    X, _, y = make_data(100)
    with pytest.raises(TypeError, match=f"{name}.* Instead, make the exposure .* a feature"):
        clone(estimator).fit(X, y, **{name: np.ones(100)})


def test_a_feature_for_the_exposure_makes_factors_ratios_of_rates():
    rng = np.random.default_rng(0)
    mines = rng.random(8000) < 0.5
    years = np.exp(rng.normal(2, 0.8, 8000)).clip(0.5, 100) * np.where(mines, 2, 1)
    X = pd.DataFrame({"section": np.where(mines, "mining", "retail"), "person_years": years})
    y = rng.poisson(np.where(mines, 0.2, 0.1) * years).astype(float)

    def factor(features):
        schema = Schema(features, target=Range(0, 200, name="accidents"))
        model = ExplainableBoostingRegressor(schema=schema, objective="poisson")
        curve = model.fit(X, y).explain_global()["section"].contribution
        return np.exp(curve[0] - curve[1])

    section = Categorical(["mining", "retail"])
    assert factor({"section": section}) > 3
    assert 1.8 < factor({"section": section, "person_years": Numeric(0, 200)}) < 2.2
