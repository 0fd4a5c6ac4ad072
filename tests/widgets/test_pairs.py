"""Pairs of features in views: cells are bins, and words stand where only curves make sense."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import traitlets

import view_examples
from dpexplain_widgets import Explorer
from dpexplain_widgets.export.bundle import bundle
from dpexplain_widgets.export.picture import static_svg
from pair_examples import PEOPLE, paired


def test_a_pair_is_a_term_whose_bins_are_its_cells():
    explorer = Explorer(paired(), term="age & job", bin_index=5)
    assert explorer.term_names == ("age", "job", "age & job", "age & town")
    chosen = explorer.selection
    assert chosen["bin"].tolist() == ["50 – 80, clerk"]
    assert chosen["contribution"].tolist() == [0.0]
    with pytest.raises(traitlets.TraitError, match="0 to 11"):
        explorer.bin_index = 12


def test_contributions_of_samples_are_those_of_the_explanation():
    explanation = paired()
    expected = explanation.explain_local(PEOPLE)
    explorer = Explorer(explanation, samples=PEOPLE, tab="local")
    for place in range(len(PEOPLE)):
        explorer.sample = place
        shown = explorer.selection
        np.testing.assert_array_equal(shown["contribution"], expected.contributions[place])
        assert tuple(shown["bin"]) == expected.bin_labels[place]


def test_what_if_moves_a_pair_with_its_features():
    explorer = Explorer(paired(), samples=PEOPLE, tab="local", sample=0)
    before = explorer.selection.set_index("term")["contribution"]
    explorer.what_if = {"age": 60}
    after = explorer.selection.set_index("term")["contribution"]
    assert after["age & job"] == before["age & job"] + 4
    with pytest.raises(traitlets.TraitError, match="change the values of these two"):
        explorer.what_if = {"age & job": 3}


def test_without_samples_a_pair_is_read_at_typical_values():
    shown = Explorer(paired(), tab="local").selection.set_index("term")
    assert shown.loc["age & job", "bin"] == "20 – 50, nurse"
    assert shown.loc["age & town", "bin"] == "20 – 50, A"


def test_figures_and_tables_of_a_pair_leave_the_view(tmp_path):
    explorer = Explorer(paired(), term="age & job")
    path = explorer.export_svg(tmp_path / "pair.svg", release_safe=False)
    assert "NOT PRIVATE" in path.read_text(encoding="utf-8")
    table = explorer.export_csv(tmp_path / "pair.csv", release_safe=False)
    assert len(pd.read_csv(table)) == 12
    fit = explorer.payload["reference"]
    assert "heat map" in static_svg(explorer.payload, fit, "age & job")


def test_models_side_by_side_say_how_to_leave_pairs_out():
    with pytest.raises(ValueError, match=r"without_pairs\(\)"):
        Explorer({"theirs": paired(), "ours": paired().without_pairs()})
    assert Explorer({"one": paired(), "two": paired()}).term_names[-1] == "age & town"


def test_samples_need_a_column_for_a_feature_that_only_a_pair_has():
    with pytest.raises(ValueError, match="'town'"):
        Explorer(paired(), samples=PEOPLE[["age", "job"]])


def test_scripts_of_views_with_pairs_join_into_one():
    for entry in ("explorer.js", "shape.js", "edit.js"):
        assert "createPairPanel" in bundle(entry)


def test_a_static_picture_calls_counts_noisy_only_where_they_are():
    explorer = Explorer(paired(), term="age")
    assert ">counts above<" in static_svg(explorer.payload, explorer.payload["reference"], "age")
    private = Explorer(view_examples.comparison(), term="age")
    shown = static_svg(private.payload, private.payload["fits"][0][0], "age")
    assert "noisy counts above" in shown
