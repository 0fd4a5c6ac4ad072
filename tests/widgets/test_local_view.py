"""The local view shows the same values as the explanations, read from released curves."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest

import view_examples
from dpexplain_widgets import Explorer, LocalView
from dpexplain_widgets.views.local import _typical

PLANS = view_examples.survey_terms()


@pytest.fixture(scope="module")
def comparison():
    return view_examples.comparison(PLANS, joint=True)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    columns = {
        plan.name: rng.uniform(plan.bins[0] - 5, plan.bins[-1] + 5, 30)
        if plan.numeric
        else rng.choice([*plan.bins, "unheard of"], 30)
        for plan in PLANS
    }
    frame = pd.DataFrame(columns).astype(object)
    frame.iloc[3, :] = None
    return frame


@pytest.mark.parametrize("epsilon", [0.25, 8.0, math.inf])
def test_contributions_are_those_of_the_shape_functions(comparison, rows, epsilon):
    view = LocalView(comparison, samples=rows)
    view.epsilon = epsilon
    fit = comparison.reference if math.isinf(epsilon) else comparison.explanations[epsilon][0]
    for place in range(len(rows)):
        view.sample = place
        frame = view.selection
        expected = [fit[name].evaluate([rows[name].iloc[place]])[0] for name in fit]
        assert frame["contribution"].tolist() == expected
        assert frame["term"].tolist() == list(fit)


def test_certainty_of_signs_is_that_of_all_noise(comparison, rows):
    from dpexplain.explain.noise_model import normal_certainty

    view = LocalView(comparison, samples=rows, sample=7)
    frame = view.selection
    fit = comparison.explanations[1.0][0]
    for row in frame.itertuples():
        bin_index = fit[row.term].bin_index([rows[row.term].iloc[7]])[0]
        assert row.total_std == fit[row.term].total_std[bin_index]
        ratio = abs(row.contribution) / row.total_std
        assert row.sign_certainty == pytest.approx(float(normal_certainty(ratio)))


def test_a_flip_is_another_sign_in_the_reference(comparison, rows):
    view = LocalView(comparison, samples=rows, sample=2, epsilon_index=0)
    frame = view.selection
    assert (frame["flips"] == (frame["contribution"] * frame["reference"] < 0)).all()

    view.show_reference = False
    assert view.selection["reference"].isna().all()
    assert not view.selection["flips"].any()


def test_made_up_values_replace_those_of_the_sample(comparison, rows):
    view = LocalView(comparison, samples=rows, sample=3, what_if={"age": 30.0})
    frame = view.selection.set_index("term")

    assert frame.loc["age", "value"] == 30.0
    assert frame["made_up"].sum() == 1
    assert frame.loc["occupation", "value"] is None
    assert frame.loc["occupation", "bin"] == "missing"


def test_without_a_sample_medians_and_the_largest_categories_are_shown(comparison):
    view = LocalView(comparison)
    fit = comparison.explanations[8.0][0]
    for row in view.selection.itertuples():
        shape = fit[row.term]
        count = np.maximum(shape.count[: shape.n_value_bins], 0.0)
        place = shape.bin_index([row.value])[0]
        if shape.bin_edges is None:
            assert place == np.argmax(count)
        else:
            assert 2 * count[:place].sum() < count.sum() <= 2 * count[: place + 1].sum()
    age = view.selection.set_index("term").loc["age", "value"]
    assert age == round(age)


def test_only_what_holds_no_record_and_no_reference_counts_as_private(comparison, rows):
    private = dataclasses.replace(comparison, reference=None)
    cases = [
        (LocalView(private), True),
        (LocalView(private, samples=rows, sample=1), False),
        (LocalView(private, samples=rows, samples_public=True, sample=1), True),
        (LocalView(comparison), False),
        (LocalView(comparison, show_reference=False), True),
    ]

    assert [bool(view.selection["private"].all()) for view, _ in cases] == [
        private for _, private in cases
    ]


def test_an_explorer_gives_the_table_of_its_open_part(comparison, rows):
    explorer = Explorer(comparison, samples=rows, sample=4, term="age")
    columns = {}
    for tab in ("shape", "disagreement", "rank", "local"):
        explorer.tab = tab
        columns[tab] = set(explorer.selection.columns)

    assert {"bin_left", "count"} <= columns["shape"]
    assert "disagreement" in columns["disagreement"]
    assert "rank_low" in columns["rank"]
    pd.testing.assert_frame_equal(explorer.selection, LocalView(explorer).selection)


@pytest.mark.parametrize(
    ("edges", "value"),
    [
        ((8.774425187284055, 9.054425187284055), 8.9),
        ((8.7744, 8.7745), 8.77445),
        ((-250.25, 300.5), 25.0),
        ((0.0, 1e-15), 0.0),
        ((2e-7, 3e-7), 2e-7),
    ],
)
def test_a_typical_value_has_the_decimals_that_its_bin_needs(edges, value):
    term = {"labels": ["bin"], "special": [], "count": np.ones(1), "edges": edges}
    assert _typical(term, None) == value
