"""Decisions about many records: what they say, and how often they are true."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_iris

import view_examples
from dpexplain import (
    Classes,
    DPExplainableBoostingClassifier,
    DPExplainableBoostingRegressor,
    Numeric,
    Range,
    Schema,
    sweep,
)
from dpexplain.explain import claim, claim_strip, decisions
from dpexplain.explain.claims.leading_class import Leads
from dpexplain.explain.claims.score_errors import score_errors
from dpexplain.explain.noise_model import half_width
from pair_examples import swept
from view_examples import survey_people as people


@pytest.fixture(scope="module")
def comparison():
    return view_examples.comparison(joint=True)


def test_each_row_is_the_claim_about_its_record(comparison):
    records = people(12)
    table = decisions(comparison, records, threshold=0.3, epsilon=1.0, samples_public=True)
    assert list(table.index) == list(records.index)
    for k, row in enumerate(table.itertuples()):
        said = claim(
            comparison.explanations[1.0][0], record=records.iloc[[k]], threshold=0.3,
            samples_public=True,
        )  # fmt: skip
        assert row.holds == said.holds
        assert row.decision == ("above" if said.estimate > 0 else "below")
        assert row.certainty == pytest.approx(stats.norm.cdf(abs(said.estimate) / said.std))
        at = np.log(0.3 / 0.7)
        ends = [1 / (1 + np.exp(-each - at)) for each in (said.low, said.high)]
        assert [row.low, row.high] == pytest.approx(ends)
        assert row.low < row.prediction < row.high


def test_stability_counts_the_fits_that_decide_alike(comparison):
    records = people(30)
    table = decisions(comparison, records, epsilon=0.5)
    fits = [fit for rows in comparison.explanations.values() for fit in rows]
    sides = np.array([fit.explain_local(records).scores > 0 for fit in fits])
    chosen = np.array(table["decision"] == "above")
    assert table["same_fits"].tolist() == (sides == chosen).sum(axis=0).tolist()
    assert (table["fits"] == len(fits)).all()
    assert table["same_fits"].nunique() > 1


def test_a_rerun_agrees_as_often_as_it_says():
    """Compares decisions with those of a second fit, in 4,000 draws of its noise.

    Given only the first fit, the truth scatters around it by its error, and
    the second fit scatters around the truth by as much again.
    """
    rng = np.random.default_rng(0)
    gap, std, n = 0.7, 0.6, 4_000
    again = gap + rng.normal(0, std, n) + rng.normal(0, std, n)
    said = stats.norm.cdf(gap / (std * np.sqrt(2)))
    low, high = stats.binom.interval(1 - 1e-6, n, said)
    assert low <= (again > 0).sum() <= high
    table = decisions(view_examples.comparison(joint=True), people(50))
    ratio = stats.norm.ppf(np.clip(table["certainty"], 0.5, 1 - 1e-12))
    assert table["rerun"].to_numpy() == pytest.approx(stats.norm.cdf(ratio / np.sqrt(2)), abs=1e-6)
    assert (table["rerun"] <= table["certainty"]).all()


def test_records_that_are_not_public_are_marked_as_not_private(comparison):
    assert not decisions(comparison, people(3))["private"].any()
    assert decisions(comparison, people(3), samples_public=True)["private"].all()
    open_fits = view_examples.comparison(joint=True, private=False)
    assert not decisions(open_fits, people(3), samples_public=True)["private"].any()


def test_one_explanation_decides_alone(comparison):
    table = decisions(comparison.explanations[8.0][0], people(5))
    assert (table["fits"] == 1).all()
    assert (table["same_fits"] == 1).all()


def test_a_model_with_pairs_decides_with_their_errors_added_in_full():
    fit = swept().explanations[4.0][0]
    local = fit.explain_local(people(6))
    n_terms = len(fit.terms)
    alone = local.total_std[:, n_terms:].sum(axis=1)
    assert (alone > 0).all()
    errors = score_errors(fit, local)
    rows = [np.append(each, fit.noise.std[-1]) for each in local.total_std[:, :n_terms]]
    assert (errors >= [np.sqrt((row**2).sum()) for row in rows] + alone - 1e-12).all()
    said = claim(fit, record=people(6).iloc[[2]])
    assert said.std == pytest.approx(errors[2])
    assert said.high - said.estimate == pytest.approx(half_width(1) * errors[2])


@pytest.mark.parametrize(
    ("records", "asked", "error", "message"),
    [
        ([1, 2], {}, ValueError, "records must be a DataFrame"),
        (people(2).iloc[:0], {}, ValueError, "at least one row"),
        (people(2), {"epsilon": 3.3}, KeyError, "the epsilons are"),
        (people(2), {"threshold": 1.5}, ValueError, "between 0 and 1"),
    ],
)
def test_questions_without_a_decision_are_refused(comparison, records, asked, error, message):
    with pytest.raises(error, match=message):
        decisions(comparison, records, **asked)


@pytest.fixture(scope="module")
def flowers():
    """A sweep of a model with three classes, and some records."""
    iris = load_iris(as_frame=True)
    schema = Schema({name: Numeric(0, 10) for name in iris.data}, target=Classes([0, 1, 2]))
    model = DPExplainableBoostingClassifier(schema=schema)
    found = sweep(model, iris.data, iris.target, epsilons=(1, 8), progress=False)
    return found, iris.data.iloc[::10]


def test_each_row_of_several_classes_is_the_claim_about_its_record(flowers):
    comparison, records = flowers
    for epsilon, (fit,) in comparison.explanations.items():
        table = decisions(comparison, records, epsilon=epsilon)
        chances = fit.predict_proba(records)
        assert table["prediction"].tolist() == pytest.approx(chances.max(axis=1).tolist())
        assert table["decision"].tolist() == [str(k) for k in chances.argmax(axis=1)]
        for k, row in enumerate(table.itertuples()):
            said = claim(fit, record=records.iloc[[k]])
            assert (row.decision, row.holds) == (said.first, said.holds)
            assert row.low <= row.prediction <= row.high
            # The other classes can only lower the certainty against the closest one.
            assert row.certainty <= stats.norm.cdf(said.estimate / said.std) + 1e-12
            assert 0 <= row.rerun <= row.certainty


def test_certainty_and_intervals_of_classes_follow_from_normal_errors():
    rng = np.random.default_rng(0)
    scores, errors = np.array([0.9, 0.2, -0.4]), np.array([0.3, 0.5, 0.4])
    leads = Leads(np.array([0]), (scores[0] - scores)[None], (errors[0] + errors)[None])
    said = 1 - sum(
        stats.norm.sf(gap / std) for gap, std in zip((0.7, 1.3), (0.8, 0.7), strict=True)
    )
    assert leads.certainty() == pytest.approx([said])
    # Whatever the correlation, the true class is the predicted one at least that often.
    for shared in (0.0, 0.9, -0.4):
        cov = np.outer(errors, errors) * np.where(np.eye(3), 1.0, shared)
        truth = scores + rng.multivariate_normal(np.zeros(3), cov, 20_000)
        right = (truth.argmax(axis=1) == 0).mean()
        assert right >= said - 4 * np.sqrt(said * (1 - said) / 20_000)
        chance = np.exp(truth[:, 0]) / np.exp(truth).sum(axis=1)
        inside = (leads.chance(-1) <= chance) & (chance <= leads.chance(1))
        assert inside.mean() >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / 20_000)


def test_a_strip_over_epsilon_says_where_the_predicted_class_leads(flowers):
    comparison, records = flowers
    for k in range(len(records)):
        strip = claim_strip(comparison, record=records.iloc[[k]], samples_public=True)
        fits = [comparison.explanations[each][0] for each in strip.epsilons]
        each = [claim(fit, record=records.iloc[[k]], samples_public=True) for fit in fits]
        assert [said.words for said in strip.claims] == [said.words for said in each]
        for said, state in zip(strip.claims, strip.states, strict=True):
            same = said.first == strip.asked.first
            assert (state == "holds") == (said.holds and same)
            assert (state == "reversed") == (said.holds and not same)


def test_several_classes_have_no_threshold_and_one_class_no_decision(flowers):
    comparison, records = flowers
    with pytest.raises(ValueError, match="several classes have no threshold"):
        decisions(comparison, records, threshold=0.3)
    with pytest.raises(ValueError, match="take the explanation of all classes"):
        decisions(comparison.for_class(1), records)
    with pytest.raises(ValueError, match=r"call .for_class\(label\)"):
        claim_strip(comparison, "petal length (cm)")


def test_counts_are_decided_by_a_threshold_in_their_unit():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"age": rng.uniform(0, 100, 800)})
    y = rng.poisson(np.exp(X["age"] / 40))
    schema = Schema({"age": Numeric(0, 100)}, target=Range(0, 30))
    model = DPExplainableBoostingRegressor(schema=schema, objective="poisson")
    comparison = sweep(model, X, y, epsilons=(2, 8), progress=False)
    table = decisions(comparison, X.head(5), threshold=4.0)
    fit = comparison.explanations[8.0][0]
    assert table["prediction"].tolist() == pytest.approx(fit.predict(X.head(5)).tolist())
    assert table["decision"].tolist() == [
        "above" if each > 4 else "below" for each in table["prediction"]
    ]
    strip = claim_strip(comparison, record=X.iloc[[0]], threshold=4.0)
    assert len(strip.claims) == 2
    with pytest.raises(ValueError, match="threshold"):
        decisions(comparison, X.head(5))


def test_unknown_errors_decide_nothing():
    with pytest.raises(ValueError, match="errors of the score are unknown"):
        decisions(view_examples.comparison(), people(2))
