"""Explainable boosting, private and non-private: what the models compute."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.audit import record
from dpexplain.explain import total_score
from dpexplain.models import (
    DPExplainableBoostingClassifier,
    DPExplainableBoostingRegressor,
    ExplainableBoostingClassifier,
    ExplainableBoostingRegressor,
)
from dpexplain.schema import Categorical, Classes, Numeric, Range, Schema
from effort import examples

FEATURES = {
    "age": Numeric(18, 90, unit="years", step=1),
    "income": Numeric(0, 1e6, unit="dollars"),
    "job": Categorical(["clerk", "nurse", "smith"]),
}
CLASSES = Schema(FEATURES, target=Classes(["no", "yes"], name="visit"))
NUMBERS = Schema(FEATURES, target=Range(0, 10, unit="visits", name="visits"))
ALL = [
    ExplainableBoostingClassifier(schema=CLASSES, max_rounds=20),
    ExplainableBoostingRegressor(schema=NUMBERS, max_rounds=20),
    DPExplainableBoostingClassifier(schema=CLASSES),
    DPExplainableBoostingRegressor(schema=NUMBERS),
]
by_name = pytest.mark.parametrize("estimator", ALL, ids=lambda e: type(e).__name__)


def make_data(n=3000, seed=0):
    """Make log-odds (x 3 for regression) with a step at age 40 and one job that differs."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 91, n),
            "income": rng.lognormal(10.5, 0.7, n),
            "job": rng.choice(["clerk", "nurse", "smith"], n),
        }
    )
    score = np.where(X["age"] < 40, -1.0, 0.5) + (X["job"] == "smith") * 1.5
    return X, score.to_numpy(), rng


def targets(estimator, X, score, rng):
    if estimator.schema is NUMBERS:
        return 5 + score + rng.normal(0, 0.3, len(X))
    return np.where(rng.random(len(X)) < 1 / (1 + np.exp(-score)), "yes", "no")


@pytest.mark.full
@by_name
@examples(15)
@given(seed=st.integers(0, 2**32 - 1), n_rows=st.integers(0, 30))
def test_contributions_plus_intercept_are_the_score_bit_by_bit(estimator, seed, n_rows):
    X, score, rng = make_data(200, seed)
    model = estimator.fit(X, targets(estimator, X, score, rng))
    rows = X.iloc[:n_rows].astype(object)
    rows.iloc[: n_rows // 3, 0] = "not a number"
    rows.iloc[: n_rows // 2, 2] = "sailor"
    local = model.explain_local(rows)
    shown = getattr(model, "decision_function", model.predict)(rows)
    assert local.scores.tobytes() == shown.tobytes()
    assert total_score(local.contributions, model.explain_global().intercept).tobytes() == (
        shown.tobytes()
    )


@by_name
def test_local_contributions_are_the_values_of_the_shape_functions(estimator):
    X, score, rng = make_data(500)
    model = estimator.fit(X, targets(estimator, X, score, rng))
    shapes, local = model.explain_global(), model.explain_local(X.head(20))
    for k, (name, shape) in enumerate(shapes.items()):
        at = [shape.bin_labels.index(labels[k]) for labels in local.bin_labels]
        np.testing.assert_array_equal(local.contributions[:, k], shape.contribution[at])
        assert local.term_names[k] == name


@by_name
def test_terms_have_count_weighted_mean_zero(estimator):
    X, score, rng = make_data(2000)
    for shape in estimator.fit(X, targets(estimator, X, score, rng)).explain_global().values():
        weights = np.maximum(shape.count, 0)
        assert abs(np.average(shape.contribution, weights=weights)) < 1e-9


@pytest.mark.full
@by_name
def test_a_step_and_a_category_are_found_where_they_are(estimator):
    """Noise moves the differences by 0.05 (one sd of 20 fits); random cuts round off the step."""
    X, score, rng = make_data(20_000)
    shapes = estimator.fit(X, targets(estimator, X, score, rng)).explain_global()
    age, job = shapes["age"], shapes["job"]
    young = (age.bin_edges[1:] <= 39) & (age.bin_edges[:-1] >= 20)
    old = (age.bin_edges[:-1] >= 41) & (age.bin_edges[1:] <= 88)
    gap = age.contribution[:-1][old].mean() - age.contribution[:-1][young].mean()
    assert 1.0 < gap < 1.75
    difference = dict(zip(job.categories, job.contribution, strict=False))
    assert difference["smith"] - difference["clerk"] == pytest.approx(1.5, abs=0.4)
    assert shapes.importances().idxmin() == "income"


@pytest.mark.full
@by_name
def test_bins_carry_the_units_and_labels_of_the_schema(estimator):
    X, score, rng = make_data(3000)
    explanation = estimator.fit(X, targets(estimator, X, score, rng)).explain_global()
    assert explanation["age"].unit == "years"
    assert explanation["age"].bin_edges[0] == 17.5
    assert explanation["age"].bin_edges[-1] == 90.5
    assert explanation["job"].special == ("other", "missing")
    assert explanation["income"].special == ("missing",)
    assert explanation.target_name == estimator.schema.target.name
    assert explanation.score_unit == ("visits" if estimator.schema is NUMBERS else "log-odds")


@pytest.mark.parametrize("estimator", ALL[2:], ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("preset", ["default", pytest.param("paper", marks=pytest.mark.full)])
def test_row_order_changes_no_bit_of_a_private_model(estimator, preset):
    """With the same answers forced, queries and model are the same whatever the row order."""
    X, score, rng = make_data(4100)
    y = pd.Series(targets(estimator, X, score, rng))
    estimator = type(estimator)(
        schema=estimator.schema, preset=preset, structure_seed=5, max_rounds=5
    )
    model, transcript = record(estimator, X, y)
    order = rng.permutation(len(X))
    other, second = record(estimator, X.iloc[order], y.iloc[order], answers=transcript.answers)
    for a, b in zip(transcript.queries, second.queries, strict=True):
        np.testing.assert_array_equal(a, b)
    assert other.explain_global() == model.explain_global()


@pytest.mark.full
@pytest.mark.named_entropy
@pytest.mark.parametrize("estimator", ALL[2:], ids=lambda e: type(e).__name__)
def test_more_privacy_means_a_wider_noise_band(estimator):
    """With the same schedule, noise is proportional to 1 / mu, about 1 / epsilon.

    With a quarter of epsilon, the band should be four times as wide. Bins are merged by noisy
    counts, so the ratio of the medians has a standard deviation of 0.5 around 3.5 (25 fits); 1.3 is
    four below.
    """
    X, score, rng = make_data(5000)
    y = targets(estimator, X, score, rng)
    fixed = type(estimator)(schema=estimator.schema, max_rounds=30, learning_rate=0.2, clip=0.3)
    bands = [
        np.median(fixed.set_params(epsilon=e).fit(X, y).explain_global()["age"].noise_std)
        for e in (0.5, 2.0, 8.0)
    ]
    assert bands[0] > 1.3 * bands[1] > 1.3**2 * bands[2] > 0


@pytest.mark.full
@pytest.mark.named_entropy
@pytest.mark.parametrize("estimator", ALL[2:], ids=lambda e: type(e).__name__)
def test_the_noise_band_covers_fresh_noise_on_the_same_structure(estimator):
    """Refits with forced histograms and the same trees differ only by boosting noise.

    40 refits: the ratio of an empirical to the true standard deviation has standard error
    1 / sqrt(80) = 0.11 per bin; the median over a few dozen correlated bins may deviate by 0.3.
    """
    X, score, rng = make_data(5000)
    y = targets(estimator, X, score, rng)
    estimator = type(estimator)(schema=estimator.schema, structure_seed=5, max_rounds=25)
    model, transcript = record(estimator, X, y)
    histograms = [
        answer
        for phase, answer in zip(transcript.phases, transcript.answers, strict=True)
        if phase.label in ("count", "histograms")
    ]
    spread = {}
    for _ in range(40):
        shapes = _refit(estimator, X, y, histograms).explain_global()
        for name, shape in shapes.items():
            spread.setdefault(name, []).append(shape.contribution)
    simulated = model.explain_global()
    ratios = np.concatenate(
        [
            np.std(values, axis=0, ddof=1)[: simulated[name].n_value_bins]
            / simulated[name].noise_std[: simulated[name].n_value_bins]
            for name, values in spread.items()
        ]
    )
    assert 0.7 < np.median(ratios) < 1.3


def _refit(estimator, X, y, histograms):
    """Refit with forced histograms and fresh noise in the leaf sums."""
    left = list(histograms)
    model, _ = record(estimator, X, y, answers=lambda phase, drawn: left.pop(0) if left else drawn)
    return model


@pytest.mark.named_entropy
def test_a_private_model_comes_close_to_its_reference_at_a_generous_epsilon():
    X, score, rng = make_data(20_000)
    y = targets(ALL[3], X, score, rng)
    reference = ExplainableBoostingRegressor(schema=NUMBERS).fit(X, y)
    private = DPExplainableBoostingRegressor(epsilon=8.0, schema=NUMBERS).fit(X, y)
    truth = 5 + score
    assert np.sqrt(np.mean((reference.predict(X) - truth) ** 2)) < 0.1
    assert np.sqrt(np.mean((private.predict(X) - truth) ** 2)) < 0.25


@pytest.mark.full
@pytest.mark.named_entropy
@pytest.mark.parametrize("estimator", ALL[2:], ids=lambda e: type(e).__name__)
def test_a_special_bin_contributes_only_where_people_are_in_it(estimator):
    """Otherwise, its value would only show which leaves it happened to share."""
    X, score, rng = make_data(5000)
    y = targets(estimator, X, score, rng)
    empty = estimator.fit(X, y).explain_global()["job"]
    # Noise on a count of nobody exceeds three of its standard deviations in 0.1 % of fits.
    assert (empty.contribution[-2:] == 0).mean() >= 0.5
    X = X.astype(object)
    X.loc[score > 0.6, "job"] = None  # every smith from 40 years on
    filled = estimator.fit(X, y).explain_global()["job"]
    assert filled.contribution[-1] > 0.5


def test_the_reference_keeps_special_bins_without_people_neutral():
    X, score, rng = make_data(500)
    for shape in ALL[0].fit(X, targets(ALL[0], X, score, rng)).explain_global().values():
        assert (shape.contribution[shape.n_value_bins :] == 0).all()


@pytest.mark.full
@pytest.mark.named_entropy
def test_the_paper_preset_fits_rare_categories_as_one():
    X, score, rng = make_data(5000)
    X.loc[:4, "job"] = "nurse"
    X.loc[5:, "job"] = np.where(rng.random(len(X) - 5) < 0.5, "clerk", "other job")
    schema = Schema(
        {**FEATURES, "job": Categorical(["clerk", "nurse", "other job", "smith"])},
        target=CLASSES.target,
    )
    model = DPExplainableBoostingClassifier(epsilon=8.0, schema=schema, preset="paper")
    y = targets(ALL[2], X, score, rng)
    job = model.fit(X, y).explain_global()["job"]
    assert job.contribution[1] == job.contribution[3]
    assert len(set(job.contribution[[0, 1, 2]])) == 3


@pytest.mark.full
def test_small_epsilon_gives_bounded_curves_and_no_divergence():
    X, score, rng = make_data(300)
    for epsilon in (0.01, 0.05):
        for estimator in (ALL[2], ALL[3]):
            model = type(estimator)(epsilon=epsilon, schema=estimator.schema)
            shapes = model.fit(X, targets(estimator, X, score, rng)).explain_global()
            bound = 60.0 if estimator is ALL[2] else 16.0 * 5
            assert all(np.abs(s.contribution).max() <= bound for s in shapes.values())


def test_reference_estimator_is_the_unfitted_twin_with_the_same_schema():
    twin = ALL[2].reference_estimator()
    assert type(twin) is ExplainableBoostingClassifier
    assert twin.schema is CLASSES
    assert not hasattr(twin, "schema_")


def test_a_non_private_model_says_so_everywhere():
    X, score, rng = make_data(300)
    model = ALL[0].fit(X, targets(ALL[0], X, score, rng))
    assert not model.guarantee_.private
    assert np.isinf(model.ledger_.total_epsilon())
    assert "NOT PRIVATE" in model.explain_global()._repr_html_()
