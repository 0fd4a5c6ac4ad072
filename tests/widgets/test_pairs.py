"""Pairs of features in views: cells are bins, and words stand where only curves make sense."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
import traitlets

import view_examples
from dpexplain_widgets import Explorer, ImportanceView, RankView
from dpexplain_widgets.export.bundle import bundle
from dpexplain_widgets.export.picture import Area, Line, picture_of, static_svg
from dpexplain_widgets.payload.payload import build_payload
from dpexplain_widgets.views.comparing import disagreement
from pair_examples import PEOPLE, paired, swept


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
    assert "job to the right, age upward" in static_svg(explorer.payload, fit, "age & job")


def test_models_side_by_side_can_differ_in_their_pairs():
    explorer = Explorer({"ours": paired().without_pairs(), "theirs": paired()})
    assert explorer.term_names == ("age", "job", "age & job", "age & town")
    ours, theirs = explorer.payload, explorer.payload["others"][0]
    assert [term.get("absent", False) for term in ours["reference"]["terms"]] == [
        False, False, True, True,
    ]  # fmt: skip
    assert theirs["reference"]["terms"][2]["contribution"] == list(np.arange(12.0) - 5)
    both = Explorer({"one": paired(), "two": paired()})
    assert not any("absent" in term for term in both.payload["reference"]["terms"])


def test_the_noise_of_a_pair_is_in_the_payload():
    fit = swept().explanations[1.0][0]
    (pair,) = fit.pairs
    ((payload,),) = build_payload(fit)["fits"]
    shown = payload["terms"][-1]
    assert payload["terms_above_noise"] == sum(term["above_noise"] for term in payload["terms"])
    for name in ("noise_std", "sampling_std", "total_std", "signal"):
        assert shown[name] == getattr(pair, name).ravel().tolist()
    assert (shown["noise_floor"], shown["band_factor"]) == (pair.noise_floor, pair.band_factor)
    assert shown["above_noise"] is (pair.name in fit.pairs_above_noise)
    assert shown["ranks"] is None


def test_the_effect_of_a_pair_is_in_the_payload_and_is_what_claims_refer_to():
    fit = swept().explanations[1.0][0]
    pair = dataclasses.replace(fit.pairs[0], effect_std=2.0 * fit.pairs[0].total_std)
    shown = build_payload(dataclasses.replace(fit, pairs=(pair,)))["fits"][0][0]["terms"][-1]
    for name in ("effect", "effect_std", "effect_signal"):
        assert shown[name] == getattr(pair, name).ravel().tolist()
    assert shown["effect_factor"] == pair.effect_factor
    assert shown["claims"] == {"basis": "effect"}


def test_models_at_each_epsilon_have_their_own_pairs_and_the_others_are_absent():
    explorer = Explorer(swept())
    assert explorer.term_names[-2:] == ("age & children", "education & children")
    shown = [row[0]["terms"][-2:] for row in explorer.payload["fits"]]
    absent = [[pair.get("absent", False) for pair in row] for row in shown]
    assert absent == [[True, True], [False, True], [False, False]]
    assert [len(row[0]["axes"][0]["labels"]) for row in shown[1:]] == [4, 6]
    for row, marks in zip(shown, absent, strict=True):
        for pair, is_absent in zip(row, marks, strict=True):
            assert (pair["importance"] == 0) is is_absent
            assert any(pair["contribution"]) is not is_absent


def test_a_chosen_cell_that_the_grid_of_another_epsilon_lacks_is_left_out_of_the_selection():
    explorer = Explorer(swept(), term="age & children", epsilon_index=2)
    explorer.bin_index = 23
    assert len(explorer.selection) == 1
    explorer.epsilon_index = 1
    assert len(explorer.selection) == 16
    explorer.epsilon_index = 0
    assert explorer.selection["contribution"].eq(0).all()


def test_a_score_without_a_pair_is_the_score_of_the_model():
    found = swept()
    explorer = Explorer(found, tab="local")
    for stop, epsilon in enumerate(found.epsilons):
        explorer.epsilon_index = stop
        shown = explorer.selection
        rows = pd.DataFrame([shown.set_index("term")["value"].iloc[:7].to_dict()])
        local = found.explanations[epsilon][0].explain_local(rows)
        assert shown["contribution"].sum() == pytest.approx(local.contributions.sum())
        names = list(local.term_names)
        stds = shown.set_index("term")["total_std"]
        np.testing.assert_array_equal(stds[names], local.total_std[0])
        assert stds.drop(names).eq(0).all()


def test_a_new_fit_with_other_pairs_is_shown_with_them():
    found = swept()

    def refit(epsilon):
        fit = found.explanations[4.0][0]
        promise = dataclasses.replace(fit.guarantee, epsilon=epsilon)
        new = dataclasses.replace(fit.pairs[0], name="new & pair")
        parts = {"terms": fit.terms, "pairs": (fit.pairs[1], new)}
        own = {
            name: tuple(dataclasses.replace(part, guarantee=promise) for part in given)
            for name, given in parts.items()
        }
        return dataclasses.replace(fit, guarantee=promise, **own)

    refit.private = False
    samples = pd.DataFrame(
        {
            "age": [30.0], "years married": 5.0, "capital gain": 0.0, "education": 12.0,
            "rating of the marriage": "good", "occupation": "student", "children": "no",
        }
    )  # fmt: skip
    explorer = Explorer(found, samples=samples, refit=refit, sample=0)
    explorer.wanted_epsilon = 2.0
    assert explorer.wait()
    assert explorer.plan["words"] == "fitted ε = 2"
    assert set(explorer.term_names[-3:]) == {"age & children", "education & children", "new & pair"}
    assert [len(row) for row in explorer.payload["samples"]["rows"]] == [10]
    explorer.tab = "local"
    shown = explorer.selection.set_index("term")
    record = refit(2.0).explain_local(samples)
    for place, name in enumerate(record.term_names):
        assert shown.loc[name, "contribution"] == record.contributions[0, place]


def test_ranks_are_those_of_curves_and_distances_need_equal_grids():
    found = swept()
    ranks = RankView(found).selection
    assert set(ranks["term"]) == set(found.term_names)
    table = Explorer(found, tab="disagreement").selection.set_index(["term", "epsilon"])
    assert table.loc["age & children", "disagreement"].isna().all()
    same = Explorer({"one": paired(), "two": paired()}).payload["reference"]["terms"][2]
    assert disagreement(same, same) == 0


def test_pictures_leave_out_a_pair_that_the_model_does_not_have():
    explorer = Explorer(swept(), term="age & children")
    without, having = (explorer.payload["fits"][stop][0] for stop in (0, 2))
    assert "not in this model" in static_svg(explorer.payload, without, "age & children")
    assert "children to the right, age upward" in static_svg(
        explorer.payload, having, "age & children"
    )
    assert "education &amp; chi" in static_svg(explorer.payload, having, "age")
    assert "education &amp; chi" not in static_svg(explorer.payload, without, "age")


def test_the_picture_of_a_pair_has_a_cell_for_each_bin_and_crosses_out_noise():
    explorer = Explorer(swept(), term="age & children")
    (fit,) = explorer.payload["fits"][1]
    (pair,) = [term for term in fit["terms"] if "axes" in term and not term.get("absent")]
    marks = picture_of(explorer.payload, fit, "age & children").marks
    cells = [mark for mark in marks if isinstance(mark, Area) and mark.points[0][0] >= 520]
    crossed = [mark for mark in marks if isinstance(mark, Line)]

    assert len(cells) == len(pair["labels"]) == 16
    largest = max(map(abs, pair["contribution"]))
    for cell, value in zip(cells, pair["contribution"], strict=True):
        assert cell.opacity == pytest.approx(abs(value) / largest, abs=0.005)
        assert value == 0 or (cell.fill == "#0072b2") is (value > 0)
    first, last = cells[0].points, cells[-1].points
    assert first[0][1] > last[0][1]
    assert first[0][0] < last[0][0]
    doubtful = [
        cell.points[0] for cell, sure in zip(cells, pair["signal"], strict=True) if not sure
    ]
    assert [mark.points[0] for mark in crossed] == doubtful
    assert 0 < len(doubtful) < 16


def test_a_figure_of_a_pair_needs_a_model_that_has_it(tmp_path):
    explorer = Explorer(swept(), term="age & children", epsilon_index=1)
    assert "may be noise" in explorer.export_svg(tmp_path / "a.svg").read_text(encoding="utf-8")
    with pytest.raises(KeyError, match="'age & children' is a pair of features"):
        explorer.export_svg(tmp_path / "b.svg", what="epsilons")
    explorer.epsilon_index = 0
    with pytest.raises(ValueError, match="no pair 'age & children' at this epsilon"):
        explorer.export_svg(tmp_path / "c.svg")


def test_effects_of_curves_stay_in_the_saved_table_of_importances(tmp_path):
    found = view_examples.with_effects(swept())
    path = ImportanceView(found, epsilon_index=2).export_csv(
        tmp_path / "importances.csv", what="importance", release_safe=False
    )
    table = pd.read_csv(path)
    known = table[table["private"]].set_index("term")["effect"].notna()
    assert known.drop(["age & children", "education & children"]).all()
    assert not known[["age & children", "education & children"]].any()


def test_samples_need_a_column_for_a_feature_that_only_a_pair_has():
    with pytest.raises(ValueError, match="'town'"):
        Explorer(paired(), samples=PEOPLE[["age", "job"]])


def test_scripts_of_views_with_pairs_join_into_one():
    for entry in ("explorer.js", "shape.js"):
        assert "const createPairPanel = creatorOf" in bundle(entry)
    for entry in ("explorer.js", "edit.js"):
        assert "function createPairEditor" in bundle(entry)


def test_a_static_picture_calls_counts_noisy_only_where_they_are():
    explorer = Explorer(paired(), term="age")
    assert ">counts above<" in static_svg(explorer.payload, explorer.payload["reference"], "age")
    private = Explorer(view_examples.comparison(), term="age")
    shown = static_svg(private.payload, private.payload["fits"][0][0], "age")
    assert "noisy counts above" in shown
