"""Private linear models: what they learn, what they show, and mistakes that replays notice."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpexplain import DPLinearRegression, DPLogisticRegression
from dpexplain.audit import record, replay
from dpexplain.audit.tiers import hostile
from dpexplain.compare import sweep
from dpexplain.models.linear import design as linear_design
from dpexplain.models.linear.fit import LinearBudget
from dpexplain.schema import Categorical, Classes, Numeric, Range, Schema

FEATURES = {
    "age": Numeric(0, 100, unit="years"),
    "income": Numeric(0, 1e6),
    "job": Categorical(["clerk", "nurse", "smith"]),
}
WARDS = Classes(["home", "moved", "readmitted"])
TARGETS = {DPLinearRegression: Range(0, 10), DPLogisticRegression: Classes(["no", "yes"])}


def make_data(target, n=4000, seed=0):
    """Make data with a skewed income: half of its public range is empty."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.uniform(0, 100, n),
            "income": 1e6 * rng.beta(1, 20, n),
            "job": rng.choice(["clerk", "nurse", "smith"], n),
        }
    )
    score = (X["age"] - 50) / 25 + 1.5 * (X["job"] == "nurse") - 0.5
    if isinstance(target, Range):
        return X, (5 + score + rng.normal(0, 0.5, n)).clip(0, 10)
    if len(target.labels) == 2:
        return X, pd.Series(np.where(rng.logistic(size=n) < score, "yes", "no"))
    noise = rng.gumbel(size=(n, 3))
    return X, pd.Series(
        np.array(target.labels)[(noise + np.c_[0 * score, score, -score]).argmax(1)]
    )


def make(model, target=None, **settings):
    schema = Schema(FEATURES, target=target or TARGETS[model])
    return model(schema=schema, **settings)


models_ = pytest.mark.parametrize("model", TARGETS)


def test_a_known_line_is_found_with_little_noise():
    X, y = make_data(Range(0, 10), 20_000)
    shapes = make(DPLinearRegression, epsilon=10).fit(X, y).explain_global()
    rise = shapes["age"].evaluate([90.0])[0] - shapes["age"].evaluate([10.0])[0]
    jobs = shapes["job"].contribution
    # 20,000 people, noise 0.5: standard errors below 0.02. The grid and the penalty move less.
    assert rise == pytest.approx(80 / 25, abs=0.15)
    assert jobs[1] - jobs[0] == pytest.approx(1.5, abs=0.15)
    assert abs(shapes["income"].contribution[0]) < 0.15


def test_known_log_odds_are_found_with_little_noise():
    X, y = make_data(Classes(["no", "yes"]), 20_000)
    model = make(DPLogisticRegression, epsilon=10, max_rounds=20).fit(X, y)
    shapes = model.explain_global()
    rise = shapes["age"].evaluate([90.0])[0] - shapes["age"].evaluate([10.0])[0]
    # The standard error of the slope is 0.8 % of it, that of the jobs 0.05.
    assert rise == pytest.approx(80 / 25, abs=0.3)
    assert shapes["job"].contribution[1] - shapes["job"].contribution[0] == pytest.approx(
        1.5, abs=0.35
    )


@models_
def test_curves_of_numbers_are_lines_on_their_scale(model):
    X, y = make_data(TARGETS[model])
    shapes = make(model, scaling="public").fit(X, y).explain_global()
    for name in ("age", "income"):
        edges, n = shapes[name].bin_edges, shapes[name].n_value_bins
        middle = (edges[1:] + edges[:-1]) / 2
        line = np.polyfit(middle, shapes[name].contribution[:n], 1)
        size = np.abs(shapes[name].contribution).max()
        # Coordinates are multiples of 2**-10.
        assert np.allclose(np.polyval(line, middle), shapes[name].contribution[:n], atol=size / 250)


@models_
def test_a_released_scale_ends_where_people_end(model):
    X, y = make_data(TARGETS[model])
    curve = make(model, epsilon=8).fit(X, y).explain_global()["income"]
    values = curve.contribution[: curve.n_value_bins]
    flat = np.flatnonzero(values == values[-1])
    # 99 % of a beta(1, 20) lie below 0.21 of the range.
    assert curve.bin_edges[flat[0]] < 0.5e6


@models_
def test_contributions_and_intercept_are_the_score_bit_by_bit(model):
    X, y = make_data(TARGETS[model], 500)
    fitted = make(model).fit(X, y)
    local = fitted.explain_local(X[:20], samples_public=True)
    if model is DPLinearRegression:
        np.testing.assert_array_equal(local.predictions, fitted.predict(X[:20]))
    else:
        np.testing.assert_array_equal(local.scores, fitted.decision_function(X[:20]))
    totals = local.intercept + local.contributions.sum(axis=1)
    np.testing.assert_allclose(totals, local.scores, atol=1e-12)


def test_several_classes_have_a_score_each_and_probabilities_that_add_up():
    X, y = make_data(WARDS)
    model = make(DPLogisticRegression, WARDS, epsilon=8).fit(X, y)
    chances = model.predict_proba(X)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0, atol=1e-12)
    # Guessing is right for about a third; the best rule for about 64 %.
    assert np.mean(model.predict(X) == y) > 0.5
    rising = model.explain_global().for_class("moved")["age"]
    assert rising.evaluate([90.0])[0] > rising.evaluate([10.0])[0]


@pytest.mark.full
@models_
def test_bands_have_the_width_of_the_scatter_between_fits(model):
    """40 fits give a standard deviation to 1 / sqrt(80) = 11%; the test allows six times that.

    The first-order approximation adds a few percent; see docs/comparison_models.md.
    """
    X, y = make_data(TARGETS[model])
    estimator = make(model, scaling="public")
    shapes = [estimator.fit(X, y).explain_global()["job"] for _ in range(40)]
    scatter = np.std([s.contribution[:3] for s in shapes], axis=0)
    stated = np.sqrt(np.mean([s.noise_std[:3] ** 2 for s in shapes], axis=0))
    assert (stated > scatter / 1.8).all()
    assert (stated < 1.8 * scatter).all()


@models_
def test_a_sweep_has_the_model_without_noise_beside_it(model):
    X, y = make_data(TARGETS[model], 1000)
    comparison = sweep(
        make(model), X, y, epsilons=(1, 4), progress=False, evaluate=(X[:100], y[:100])
    )
    assert not comparison.reference.guarantee.private
    assert list(comparison.reference) == list(comparison.explanations[1.0][0])
    assert comparison.reference.noise is None


@models_
def test_the_same_sums_for_any_order_of_the_rows(model):
    X, y = make_data(TARGETS[model], 300)
    rows = np.random.default_rng(1).permutation(300)
    estimator = make(model, structure_seed=0)
    first, transcript = record(estimator, X, y)
    again, _ = record(estimator, X.iloc[rows], y.iloc[rows], answers=transcript.answers)
    assert again.explain_global() == first.explain_global()


# --- planted mistakes -------------------------------------------------------------------------


def beyond_the_scale(edges, counts, honest=linear_design._scaled):
    """Do not clip numbers beyond the scale."""
    return 3.0 * honest(edges, counts)


def moments_of_replaced_records(self, n_features, n_values, honest=LinearBudget.moment_phase):
    """Treat an exchange like the removal of one record."""
    single = LinearBudget(**{**vars(self), "moment_factor": 1.0})
    return honest(single, n_features, n_values)


def spent(estimator, present, absent):
    reports = []
    for seed in range(4):
        model, transcript = record(estimator, *present, answers=hostile(seed) if seed else None)
        reports.append(replay(estimator, absent, model, transcript))
    return reports


def neighbors(model, adjacency):
    """Make extreme records, and a neighboring table whose last record is removed or replaced."""
    n, target = 9, TARGETS[model]
    ends = target.labels if isinstance(target, Classes) else (target.low, target.high)
    X = pd.DataFrame({"age": [100.0] * n, "income": [1e6] * n, "job": ["smith"] * n})
    y = pd.Series([ends[1]] * n)
    if adjacency == "add_remove":
        return (X, y), (X[:-1], y[:-1])
    other = X.copy(), y.copy()
    other[0].loc[n - 1] = [0.0, 0.0, "clerk"]
    other[1].loc[n - 1] = ends[0]
    return (X, y), other


@models_
@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_the_farthest_records_stay_within_the_guarantee(model, adjacency):
    reports = spent(
        make(model, adjacency=adjacency, structure_seed=1, scaling="public"),
        *neighbors(model, adjacency),
    )
    assert all(report.holds for report in reports), reports


@models_
def test_a_scale_that_is_not_clamped_is_noticed(model, monkeypatch):
    monkeypatch.setattr(linear_design, "_scaled", beyond_the_scale)
    reports = spent(make(model, structure_seed=1), *neighbors(model, "add_remove"))
    assert any("second moments" in text for report in reports for text in report.overspent)


@models_
def test_moments_of_an_exchanged_record_with_the_noise_of_one_are_noticed(model, monkeypatch):
    monkeypatch.setattr(LinearBudget, "moment_phase", moments_of_replaced_records)
    estimator = make(model, structure_seed=1, adjacency="replace", scaling="public")
    reports = spent(estimator, *neighbors(model, "replace"))
    assert any("second moments" in text for report in reports for text in report.overspent)
