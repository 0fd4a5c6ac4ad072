"""What is compared with what, how far apart they are, and the order of terms."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import view_examples
from dpexplain.compare.faithfulness import _on_common_bins
from dpexplain_widgets import DisagreementView, RankView
from dpexplain_widgets.payload.payload import build_payload
from dpexplain_widgets.views.comparing import comparison_of, disagreement

pytestmark = pytest.mark.full

TERMS = view_examples.survey_terms()[:5]


@pytest.fixture(scope="module")
def comparison():
    return view_examples.comparison(TERMS, n_repeats=2, joint=True)


@pytest.fixture(scope="module")
def payload(comparison):
    return build_payload(comparison)


@pytest.fixture(scope="module")
def models(comparison):
    other = view_examples.comparison(view_examples.survey_terms()[:5], (0.3, 9.0), seed=3)
    return {"a": comparison, "b": other}


def value(frame: pd.DataFrame, term: str, epsilon: float) -> float:
    rows = frame[(frame["term"] == term) & (frame["epsilon"] == epsilon)]
    return float(rows["disagreement"].iloc[0])


@pytest.mark.parametrize("term", ["age", "occupation"])
def test_disagreement_is_the_mean_distance_over_the_size_of_the_reference(comparison, term):
    view = DisagreementView(comparison, repeat=1)
    shape, reference = comparison.explanations[0.5][1][term], comparison.reference[term]
    a, b, weights = _on_common_bins(shape, reference)

    expected = (weights @ np.abs(a - b)) / (weights @ np.abs(b))
    assert value(view.selection, term, 0.5) == pytest.approx(expected, rel=1e-12)
    assert set(view.selection["against"]) == {"reference"}
    assert not view.selection["private"].any()
    assert len(view.selection) == len(TERMS) * len(view_examples.EPSILONS)


def test_curves_with_other_bins_are_compared_on_the_common_ones(payload):
    one = payload["fits"][0][0]["terms"][0]
    merged = {
        **one,
        "edges": [one["edges"][0], one["edges"][5], one["edges"][-1]],
        "labels": ["low", "high", "missing"],
        "contribution": [0.5, -0.25, 0.0],
        "count": [1.0, 1.0, 1.0],
    }
    weights = np.maximum(one["count"], 0) / np.maximum(one["count"], 0).sum()
    other = np.array([0.5] * 5 + [-0.25] * 19 + [0.0])
    expected = weights @ np.abs(np.array(one["contribution"]) - other) / (weights @ np.abs(other))

    assert disagreement(one, merged) == pytest.approx(expected, rel=1e-12)
    assert disagreement(one, one) == 0.0


@given(factor=st.floats(-3.0, 3.0))
def test_a_curve_and_its_multiple_differ_by_the_difference_of_the_factors(payload, factor):
    one = payload["reference"]["terms"][0]
    other = {**one, "contribution": [factor * value for value in one["contribution"]]}

    assert disagreement(other, one) == pytest.approx(abs(factor - 1.0), abs=1e-12)


def test_nothing_can_be_said_against_a_flat_curve(payload):
    one = payload["reference"]["terms"][0]
    flat = {**one, "contribution": [0.0] * len(one["contribution"])}

    assert math.isnan(disagreement(one, flat))


def test_without_a_reference_epsilons_are_compared_and_may_leave(comparison, payload):
    view = DisagreementView(dataclasses.replace(comparison, reference=None))
    frame = view.selection
    assert set(frame["against"]) == {"epsilon"}
    assert frame["private"].all()
    assert math.isnan(value(frame, "age", 8.0))

    view.pinned_epsilon = 0.5
    assert math.isnan(value(view.selection, "age", 0.5))
    shapes = payload["fits"]
    expected = disagreement(shapes[5][0]["terms"][0], shapes[1][0]["terms"][0])
    assert value(view.selection, "age", 8.0) == expected


def test_a_hidden_reference_is_not_compared_with(comparison):
    assert comparison_of(DisagreementView(comparison, show_reference=False))[0] == "epsilon"


def test_another_fit_and_another_model_are_compared_with_where_they_are_wanted(models):
    view = DisagreementView(models, against="repeat", other_model="b")
    kind, fit_at = comparison_of(view)
    assert (kind, fit_at(2)) == ("repeat", view.shown["fits"][2][1])

    view.against = "model"
    kind, fit_at = comparison_of(view)
    assert kind == "model"
    other = view.payload["others"][0]["fits"]
    assert [fit_at(stop) for stop in (0, 5)] == [other[0][0], other[1][0]]


def test_a_single_fit_has_nothing_to_be_compared_with(comparison):
    frame = DisagreementView(comparison.explanations[1.0][0]).selection

    assert set(frame["against"]) == {"nothing"}
    assert frame["disagreement"].isna().all()


def test_ranks_are_those_of_the_explanations(comparison):
    frame = RankView(comparison, repeat=1).selection
    for epsilon in view_examples.EPSILONS:
        ranking = comparison.explanations[epsilon][1].ranking()
        rows = frame[frame["epsilon"] == epsilon].set_index("term").loc[ranking.index]
        assert rows["rank"].tolist() == list(range(1, len(TERMS) + 1))
        assert rows["rank_low"].tolist() == ranking["rank_low"].tolist()
        assert rows["rank_high"].tolist() == ranking["rank_high"].tolist()
        assert rows["above_noise"].tolist() == ranking["above_noise"].tolist()


def test_ranks_of_the_reference_come_and_go_with_it(comparison):
    view = RankView(comparison, term="age", epsilon_index=6)
    reference = view.selection[np.isinf(view.selection["epsilon"])]
    assert not reference["private"].any()
    assert view.selection[view.selection["chosen"]]["term"].tolist() == ["age"]

    view.show_reference = False
    assert np.isfinite(view.selection["epsilon"]).all()
