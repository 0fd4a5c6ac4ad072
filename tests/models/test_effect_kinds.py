"""The estimate of the effect for counts, several classes and monotone terms."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dpexplain.binning.counts import BinCounts
from dpexplain.exceptions import PrivacyWarning
from dpexplain.io import from_json, to_json
from dpexplain.models import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor
from dpexplain.models.boosting.uncertainty.effects import effect
from dpexplain.models.boosting.uncertainty.effects._kernels_classes import add_up_classes
from dpexplain.models.boosting.uncertainty.effects._kernels_counts import add_up_counts
from dpexplain.models.boosting.uncertainty.effects._kernels_expected import per_bin
from dpexplain.models.boosting.uncertainty.effects.class_estimate import contrasts
from dpexplain.models.boosting.uncertainty.effects.constrained import constrained_curves
from dpexplain.models.boosting.uncertainty.effects.counts import count_table
from dpexplain.schema import Categorical, Classes, Numeric, Range, Schema

pytestmark = [
    pytest.mark.full,
    pytest.mark.filterwarnings("ignore::dpexplain.exceptions.PrivacyWarning"),
]
assert issubclass(PrivacyWarning, Warning)

FEATURES = {"x": Numeric(0, 1), "z": Numeric(0, 1), "job": Categorical(["a", "b", "c"])}
OF_JOB = np.array([-0.6, 0.2, 0.8])
ON_X = {"counts": [2.0], "classes": [2.5, -1.25, 0.0], "monotone": [3.0]}
ON_JOB = {"counts": [1.0], "classes": [0.0, 1.0, -1.0], "monotone": [1.0]}
LABELS = {"classes": ["left", "middle", "right"], "monotone": ["no", "yes"]}


def draw(kind, n, seed):
    """Draw independent features, the second of which has no effect."""
    rng = np.random.default_rng(seed)
    job = rng.integers(0, 3, n)
    X = pd.DataFrame({"x": rng.uniform(0, 1, n), "z": rng.uniform(0, 1, n)})
    X["job"] = np.array(list("abc"))[job]
    score = np.outer(X["x"] - 0.5, ON_X[kind]) + np.outer(OF_JOB[job], ON_JOB[kind])
    if kind == "counts":  # with a variance of rate + rate ** 2
        return X, np.minimum(rng.poisson(np.exp(score[:, 0]) * rng.exponential(1.0, n)), 30)
    if kind == "monotone":
        score = np.column_stack([np.zeros(n), score])
    shares = np.exp(score).cumsum(axis=1)
    place = (rng.random((n, 1)) * shares[:, -1:] > shares).sum(axis=1)
    return X, np.array(LABELS[kind])[place]


def fitted(kind, n=3_000, seed=0, **settings):
    target = Range(0, 30) if kind == "counts" else Classes(LABELS[kind])
    estimator = DPExplainableBoostingClassifier
    if kind == "counts":
        estimator, settings = DPExplainableBoostingRegressor, {"objective": "poisson", **settings}
    if kind == "monotone":
        settings["monotone_constraints"] = {"x": "increasing", "z": "decreasing"}
    schema = Schema(FEATURES, target=target)
    return estimator(schema=schema, structure_seed=seed, **settings).fit(*draw(kind, n, seed))


def parts_of(explanation):
    return getattr(explanation, "by_class", (explanation,))


def truth(kind, term, c):
    """Return the true curve per bin, centered like the term."""
    x, job = (np.array(each[kind]) - np.mean(each[kind]) for each in (ON_X, ON_JOB))
    if len(x) == 1:
        x, job = np.array(ON_X[kind]), np.array(ON_JOB[kind])
    curve = np.zeros(term.n_bins)
    if term.name == "job":
        curve[:3] = job[c] * OF_JOB
    elif term.name == "x":
        curve[:-1] = x[c] * ((term.bin_edges[1:] + term.bin_edges[:-1]) / 2 - 0.5)
    return curve - term.weights @ curve


# Parts.


@pytest.mark.parametrize("dispersion", [0.05, 1.0, 3.0])
def test_a_table_of_counts_is_that_of_scipy(dispersion):
    high = 40.0
    table = count_table(high, dispersion)
    counts, rates = np.arange(41), np.exp(table.log_rates[[30, 110, 159]])
    for row, rate in zip([30, 110, 159], rates, strict=True):
        size = 1.0 / dispersion
        chance = stats.nbinom.pmf(np.arange(4_000), size, size / (size + rate))
        held = np.minimum(np.arange(4_000), high)
        expected = [chance @ np.maximum(held - limit, 0.0) for limit in counts]
        np.testing.assert_allclose(table.above[row], expected, atol=1e-9)


def test_more_dispersed_counts_exceed_a_high_limit_more_often():
    table = count_table(40.0, 0.5)
    near = count_table(40.0, 0.52).above - count_table(40.0, 0.48).above
    # Both are secants, of different lengths.
    np.testing.assert_allclose(table.slope, near / 0.04, atol=0.01 * np.abs(table.slope).max())
    assert table.slope[130, 20] > 0


def test_clipped_counts_scatter_like_drawn_ones():
    """With 200,000 draws, means are known to 0.01, and variances to 1%."""
    table, clip = count_table(60.0, 0.5), 4.0
    sensitivity, variance = table.scatter(clip)
    rng = np.random.default_rng(0)
    for row in (100, 120, 140):
        rate, step = np.exp(table.log_rates[row]), 0.2
        y = [
            np.minimum(rng.poisson(r * rng.gamma(2.0, 0.5, 200_000)), 60.0)
            for r in (rate * np.exp(-step), rate, rate * np.exp(step))
        ]
        low, same, up = (np.clip(each - rate, -clip, clip) for each in y)
        assert variance[row] == pytest.approx(same.var(), rel=0.03)
        slope = (up.mean() - low.mean()) / (2 * step)
        assert sensitivity[row] == pytest.approx(slope, rel=0.05)


def test_expected_sums_of_counts_are_those_of_a_naive_loop():
    rng = np.random.default_rng(2)
    high, n_people = 20.0, 50
    table = count_table(high, 0.7)
    visits = _visits(rng, n_people)
    truth_ = rng.normal(-2.0, 0.8, n_people)
    functions, scores = (
        [rng.normal(size=(n, n - 2)) for n in (4, 3)],
        rng.normal(size=(n_people, 2)),
    )
    bins = visits["bins"]
    columns = np.concatenate([own[bins[:, k]] for k, own in enumerate(functions)], axis=1)
    sums, reach, weights = np.zeros(8), np.zeros(8), np.zeros((3, 2, n_people, 2))
    clips = np.array([0.3, 0.25, 0.2, 0.2])
    add_up_counts(
        np.ascontiguousarray(visits["bins"].T), visits["start"], truth_, 2.5, high,
        table.log_rates, table.above, table.slope, -1.0, visits["feature"], visits["leaf_of_bin"],
        visits["bin_start"], visits["updates"][:, 0].copy(), visits["leaf_start"], clips,
        np.array([0, 0, -1, 1]), sums, reach, weights,
    )  # fmt: skip
    cells = bins + visits["start"][:2]
    found = [per_bin(k, cells, functions, *weights[:2, k], scores) for k in (0, 1)]
    slopes = np.concatenate([np.concatenate(own, axis=2) for own in found], axis=1)
    expected, wanted, score = np.zeros(8), np.zeros((2, 7, 5)), np.full(n_people, -1.0)
    counts, size = np.arange(2_000), 1 / 0.7
    held = np.minimum(counts, high) / high
    for v, (k, a) in enumerate(zip(visits["feature"], [0, 0, -1, 1], strict=True)):
        for m in range(n_people):
            residuals = np.clip(held - np.exp(min(score[m], 0.0)), -clips[v], clips[v])

            def mean(shift, m=m, residuals=residuals):
                rate = high * np.exp(truth_[m] + shift)
                return stats.nbinom.pmf(counts, size, size / (size + rate)) @ residuals

            bin_ = visits["bins"][m, k]
            place = visits["bin_start"][v] + bin_
            expected[visits["leaf_start"][v] + visits["leaf_of_bin"][place]] += 2.5 * mean(0.0)
            if a >= 0:
                reaction = (mean(0.05) - mean(-0.05)) / 0.1
                row = wanted[a, visits["start"][k] + bin_]
                row[:3] += 2.5 * reaction * columns[m]
                row[3:5] += 2.5 * mean(0.0) * scores[m]
            score[m] += visits["updates"][place, 0]
    # Rates are interpolated between rows that are 8 % apart.
    np.testing.assert_allclose(sums, expected, atol=2e-3 * np.abs(expected).max())
    np.testing.assert_allclose(slopes, wanted, atol=0.03 * np.abs(wanted).max())


def _visits(rng, n_people, n_scores=1):
    sizes, feature = [4, 3], np.array([0, 1, 0, 1])
    return {
        "start": np.array([0, 4, 7]),
        "bins": np.column_stack([rng.integers(0, b, n_people) for b in sizes]),
        "feature": feature,
        "leaf_of_bin": np.concatenate([rng.integers(0, 2, sizes[k]) for k in feature]),
        "bin_start": np.array([0, 4, 7, 11]),
        "leaf_start": np.array([0, 2, 4, 6, 8]),
        "updates": rng.normal(0.0, 0.5, (14, n_scores)),
    }


@pytest.mark.parametrize("n_classes", [3, 5])
def test_expected_sums_of_classes_are_those_of_a_naive_loop(n_classes):
    rng = np.random.default_rng(3)
    n_people = 40
    visits = _visits(rng, n_people, n_classes)
    loads = contrasts(n_classes)
    truth_ = rng.normal(size=(n_people, n_classes - 1))
    clips, rows = np.array([1.0, 0.5, 0.6, 0.4]), np.array([0, -1, -1, 1])

    def softmax(scores):
        odds = np.exp(scores)
        return odds / odds.sum(axis=-1, keepdims=True)

    sums, reach = np.zeros((2, 8, n_classes))
    residuals = np.zeros((2, n_people, n_classes))
    reactions = np.zeros((2, n_people, n_classes, n_classes - 1))
    add_up_classes(
        np.ascontiguousarray(visits["bins"].T), visits["start"], softmax(truth_ @ loads.T), 2.5,
        loads, visits["feature"], visits["leaf_of_bin"], visits["bin_start"], visits["updates"],
        visits["leaf_start"], clips, rows, sums, reach, residuals, reactions,
    )  # fmt: skip
    expected, score = np.zeros((8, n_classes)), np.zeros((n_people, n_classes))
    for v, k in enumerate(visits["feature"]):
        p = softmax(score)
        weight = np.minimum(1.0, clips[v] / (1.0 - p))

        def mean(shift, p=p, weight=weight):
            q = softmax((truth_ + shift) @ loads.T)
            of_each = weight[:, :, None] * (np.eye(n_classes) - p[:, None, :])
            return np.einsum("my,myc->mc", q, of_each)

        place = visits["bin_start"][v] + visits["bins"][:, k]
        leaf = visits["leaf_start"][v] + visits["leaf_of_bin"][place]
        np.add.at(expected, leaf, 2.5 * mean(0.0))
        if rows[v] >= 0:
            np.testing.assert_allclose(residuals[rows[v]], mean(0.0), atol=1e-12)
            for j in range(n_classes - 1):
                shift = 1e-5 * np.eye(n_classes - 1)[j]
                slope = (mean(shift) - mean(-shift)) / 2e-5
                np.testing.assert_allclose(reactions[rows[v], :, :, j], slope, atol=1e-8)
        score += visits["updates"][place]
    np.testing.assert_allclose(sums, expected, atol=1e-10)
    assert (reach >= 0).all()


def test_contrasts_give_every_class_the_same_variance_and_all_classes_the_sum_zero():
    loads = contrasts(4)
    np.testing.assert_allclose(loads.sum(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose((loads**2).sum(axis=1), 1.0)


def test_a_constrained_curve_is_the_nearest_monotone_one():
    counts = BinCounts(np.full(5, 10.0), np.ones(5), 1, True)
    curve, std = np.array([0.0, 2.0, 1.0, 3.0, -6.0]), np.array([1.0, 1.0, 0.5, 1.0, 1.0])
    free = np.array([1.0, -1.0, 1.0, -1.0, 0.0])
    moved, shift = constrained_curves(
        (curve, free), (std, std), (counts, counts), ("increasing", None)
    )
    pooled = (2.0 + 4.0 * 1.0) / 5.0  # by the precision of the two bins
    expected = np.array([0.0, pooled, pooled, 3.0, -6.0])
    np.testing.assert_allclose(moved[0] + shift, expected)
    assert np.array_equal(moved[1], free)
    falling, _ = constrained_curves((curve,), (std,), (counts,), ("decreasing",))
    assert (np.diff(falling[0][:4]) <= 0).all()


# The whole.


@pytest.mark.parametrize("kind", ["counts", "classes", "monotone"])
def test_bands_of_the_effect_contain_the_truth(kind):
    """Whole curves of 10 fits with three terms each: nominal 95%, required 85%.

    Terms of one fit are taken to hold or fail together, so that 10 count. Fewer than the quantile
    below of them would be wrong by chance once in ten thousand times. The estimate is nearer to the
    truth than the curve that is shown, up to three standard errors of their difference.
    """
    n_fits, inside, shown, estimated = 10, [], [], []
    for seed in range(n_fits):
        explanation = fitted(kind, seed=seed).explain_global()
        for c, part in enumerate(parts_of(explanation)):
            for term in part.terms:
                low, high = term.effect_band
                true, people = truth(kind, term, c), term.weights > 0.002
                inside.append(bool(((low <= true) & (true <= high))[people].all()))
                if (true**2).sum() > 0:
                    size = term.weights @ true**2
                    shown.append(term.weights @ (term.contribution * true) / size)
                    estimated.append(term.weights @ (term.effect * true) / size)
    assert np.mean(inside) >= stats.binom.ppf(1e-4, n_fits, 0.85) / n_fits
    moved = np.subtract(estimated, shown)
    nearer = abs(1 - np.mean(shown)) - abs(1 - np.mean(estimated))
    assert nearer > -3 * moved.std(ddof=1) / np.sqrt(len(moved))


def test_bands_of_counts_hold_for_another_tail_than_assumed():
    """Four tables of Poisson counts, of which 40% are replaced by zeros; the noise is seeded.

    The asked share of bins is 90%; with the assumed tail taken for granted, it is about 77%.
    """
    inside = []
    for seed in range(4):
        X, _ = draw("counts", 10_000, seed)
        rng = np.random.default_rng(100 + seed)
        score = ON_X["counts"][0] * (X["x"] - 0.5) + OF_JOB[X["job"].map(ord) - ord("a")]
        rate = np.exp(score + 0.3) * (rng.random(len(X)) < 0.6) / 0.6
        schema = Schema(FEATURES, target=Range(0, 40))
        model = DPExplainableBoostingRegressor(
            schema=schema, objective="poisson", epsilon=4.0, reproducible_seed=seed
        )
        explanation = model.fit(X, np.minimum(rng.poisson(rate), 40)).explain_global()
        for term in explanation.terms:
            error = np.abs(term.effect - truth("counts", term, 0))[term.weights > 0.002]
            std = term.effect_std[term.weights > 0.002]
            inside.append(float((error <= 1.96 * std).mean()))
    assert np.mean(inside) >= 0.9


def test_estimates_of_constrained_terms_are_monotone():
    explanation = fitted("monotone", n=1_000).explain_global()
    for name, sign in (("x", 1.0), ("z", -1.0)):
        term = explanation[name]
        assert (sign * np.diff(term.effect[: term.n_value_bins]) >= -1e-12).all()


def test_estimates_of_all_classes_add_up_to_nothing():
    explanation = fitted("classes", n=1_000).explain_global()
    for name in explanation.term_names:
        total = np.sum([part[name].effect for part in explanation.by_class], axis=0)
        np.testing.assert_allclose(total, 0.0, atol=1e-9)


def test_a_model_of_classes_says_what_is_certain_over_all_of_them():
    explanation = fitted("classes", n=8_000, epsilon=4.0).explain_global()
    assert set(explanation.terms_with_effect) == {"x", "job"}
    assert explanation.effect_words.startswith("2 of 3 terms have an effect that is certain.")
    assert explanation.effect_caution == explanation.effect_note == ""
    assert explanation.effect_words in explanation._repr_html_()
    table = explanation.ranking()
    assert set(table["basis"]) == {"effect"}
    assert table["has_effect"].to_dict() == {"x": True, "job": True, "z": False}
    assert table.loc["z", "rank_low"] == 3
    assert (table["effect_std"] > 0).all()


@pytest.mark.parametrize("kind", ["counts", "classes"])
def test_estimates_come_back_from_a_file(kind):
    explanation = fitted(kind, n=1_000).explain_global()
    text = to_json(explanation)
    again = from_json(text)
    assert to_json(again) == text
    for part, same in zip(parts_of(explanation), parts_of(again), strict=True):
        np.testing.assert_array_equal(part["x"].effect, same["x"].effect)
        assert part.effect_words == same.effect_words != ""


def test_few_people_of_a_class_are_named():
    explanation = fitted("classes", n=600).explain_global()
    assert "records in the rarest class" in explanation.effect_note


@pytest.mark.parametrize("kind", ["counts", "classes"])
@pytest.mark.parametrize("n", [0, 1, 30])
def test_few_people_leave_everything_open(kind, n):
    explanation = fitted(kind, n=n, epsilon=0.1).explain_global()
    for part in parts_of(explanation):
        for term in part.terms:
            assert np.isfinite(term.effect).all()
            assert not term.effect_signal.any()


def test_where_no_estimate_is_made_the_words_say_so(monkeypatch):
    X, y = draw("counts", 300, 0)
    large = Schema(FEATURES, target=Range(0, 5_000))
    counts = DPExplainableBoostingRegressor(schema=large, objective="poisson").fit(X, y)
    explanation = counts.explain_global()
    assert explanation["x"].effect is None
    assert "not estimated" in explanation.effect_caution
    monkeypatch.setattr(effect, "MOST_COEFFICIENTS", 5)
    explanation = fitted("classes", n=300).explain_global()
    assert explanation.terms_with_effect is None
    assert explanation.effect_words == ""
    assert "not estimated" in explanation.effect_caution
    assert set(explanation.ranking()["basis"]) == {"noise"}
