"""Figures, tables and JSON of a view have their guarantee, and only what is releasable."""

from __future__ import annotations

import io
import math
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import dpexplain.io
import view_examples
from dpexplain_widgets import Explorer, LedgerView
from dpexplain_widgets.export.figure_files import csv_text

pytestmark = pytest.mark.full


FIGURES = ("shape", "importance", "epsilons")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def comparison():
    return view_examples.comparison()


@pytest.fixture
def view(comparison):
    return Explorer(comparison, term="age", epsilon_index=1)


@pytest.mark.parametrize("what", FIGURES)
def test_svg_stands_alone_and_says_its_guarantee(what, view, comparison, tmp_path):
    path = view.export_svg(tmp_path / "a.svg", what)
    root = ElementTree.parse(path).getroot()

    stated = root.find(f"{SVG}desc").text
    if what == "epsilons":
        assert stated == f"{'. '.join(comparison.guarantee_words)}."
    else:
        assert "(0.5, 1e-06)-differential privacy" in stated
    assert root.find(f"{SVG}title").text
    assert "NOT PRIVATE" not in path.read_text(encoding="utf-8")
    assert "reference" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("what", ["importance", "epsilons", "metric"])
def test_a_figure_that_may_not_leave_is_watermarked(what, view, tmp_path):
    text = view.export_svg(tmp_path / "a.svg", what, release_safe=False).read_text()

    assert "<desc>NOT PRIVATE" in text
    assert text.count("NOT PRIVATE") > 1
    assert "non-private" in text


def test_png_says_its_guarantee_in_a_text_of_the_file(view, tmp_path):
    with Image.open(view.export_png(tmp_path / "a.png")) as image:
        assert "(0.5, 1e-06)-differential privacy" in image.text["Description"]


def test_figures_have_the_same_bytes_twice_and_leave_no_open_figure(view, tmp_path):
    import matplotlib.pyplot as plt

    one, other = (view.export_svg(tmp_path / name).read_bytes() for name in ("a.svg", "b.SVG"))

    assert one == other
    assert plt.get_fignums() == []


@pytest.mark.parametrize(
    ("kind", "name"),
    [("png", "a.jpg"), ("svg", "a.png"), ("csv", "a"), ("csv", ""), ("json", "a.csv")],
)
def test_a_file_is_refused_a_name_that_says_another_kind(view, tmp_path, kind, name):
    with pytest.raises(ValueError, match=rf"must end in \.{kind}; export_html, "):
        getattr(view, f"export_{kind}")(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_metrics_on_records_are_drawn_only_if_that_may_stay_inside(view, tmp_path):
    with pytest.raises(ValueError, match="none that may be released"):
        view.export_svg(tmp_path / "a.svg", "metric")
    assert "NOT PRIVATE" in view.export_svg(tmp_path / "a.svg", "metric", False).read_text()


def test_csv_holds_the_shown_bins_with_their_guarantee(view, comparison, tmp_path):
    view.pinned_epsilon = 4.0
    table = pd.read_csv(view.export_csv(tmp_path / "a.csv"))
    shown = comparison.explanations[0.5][0]["age"]

    assert table["epsilon"].unique().tolist() == [0.5, 4.0]
    first = table[table["epsilon"] == 0.5]
    np.testing.assert_allclose(first["contribution"], shown.contribution, rtol=1e-12)
    assert first["bin"].tolist() == list(shown.bin_labels)
    assert set(first["guarantee"]) == {"(0.5, 1e-06)-DP, add/remove"}
    assert set(first["delta"]) == {1e-6}
    assert table["private"].all()


def test_csv_that_may_stay_inside_holds_the_shown_reference(view, tmp_path):
    table = pd.read_csv(view.export_csv(tmp_path / "a.csv", release_safe=False))

    assert table["epsilon"].unique().tolist() == [0.5, math.inf]
    assert set(table.loc[table["epsilon"] == math.inf, "guarantee"]) == {
        "NOT PRIVATE — do not publish"
    }
    view.show_reference = False
    table = pd.read_csv(view.export_csv(tmp_path / "a.csv", release_safe=False))
    assert table["epsilon"].unique().tolist() == [0.5]


def test_csv_of_importances_has_a_row_for_every_term(view, comparison, tmp_path):
    table = pd.read_csv(view.export_csv(tmp_path / "a.csv", "importance"))

    assert table["term"].tolist() == list(comparison.term_names)
    expected = comparison.explanations[0.5][0].importances()[table["term"]]
    np.testing.assert_allclose(table["importance"], expected, rtol=1e-12)


@pytest.mark.parametrize("sign", "=+-@\t\r")
def test_a_cell_that_could_be_a_formula_gets_an_apostrophe(sign):
    table = pd.DataFrame({"name": [f"{sign}1+1", "age"], f"{sign}x": [-1.5, 2.0]})
    back = pd.read_csv(io.StringIO(csv_text(table)))

    assert back["name"].tolist() == [f"'{sign}1+1", "age"]
    assert back.columns[1] == f"'{sign}x"
    assert back.iloc[:, 1].tolist() == [-1.5, 2.0]


def test_json_is_the_releasable_comparison_bit_by_bit(view, comparison, tmp_path):
    loaded = dpexplain.io.load(view.export_json(tmp_path / "a.json"))

    assert loaded.private
    assert loaded.explanations == comparison.explanations
    whole = dpexplain.io.load(view.export_json(tmp_path / "b.json", release_safe=False))
    assert whole == comparison


def test_unknown_kinds_are_answered_with_the_known_ones(view, tmp_path):
    with pytest.raises(ValueError, match=r"no figure 'pie'; there are 'shape', 'importance'"):
        view.export_svg(tmp_path / "a.svg", "pie")
    with pytest.raises(ValueError, match=r"no table 'pie'; there are 'shape', 'importance'"):
        view.export_csv(tmp_path / "a.csv", "pie")
    with pytest.raises(ValueError, match="created from a LedgerSummary"):
        LedgerView(view_examples.comparison().ledger).export_svg(tmp_path / "a.svg")
    assert list(tmp_path.iterdir()) == []


def test_one_explanation_is_drawn_too(comparison, tmp_path):
    single = Explorer(comparison.explanations[2.0][0], term="occupation")

    assert "(2, 1e-06)-differential" in single.export_svg(tmp_path / "a.svg").read_text()
    with pytest.raises(ValueError, match="pass a Comparison"):
        single.export_svg(tmp_path / "a.svg", "epsilons")
