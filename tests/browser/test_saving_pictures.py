"""Saving a view as a picture, which is self-contained and states its guarantee."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import dpexplain_widgets
import view_examples
from dpexplain_widgets import Explorer
from page_checks import settle

pytestmark = [pytest.mark.browser, pytest.mark.full]

SVG = "{http://www.w3.org/2000/svg}"
STATEMENT = "(0.5, 1e-06)-differential privacy for one record"


@pytest.fixture
def closed():
    source = view_examples.comparison(reference=False)
    return Explorer(source, term="age", epsilon_index=1)


def save(page, folder, button: str):
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def choose(page, name: str) -> None:
    page.locator(".dpx-save").hover()
    page.get_by_label("Save", exact=True).select_option(label=name)


def texts(path) -> str:
    root = ElementTree.parse(path).getroot()
    return " ".join("".join(text.itertext()) for text in root.iter(f"{SVG}text"))


def test_svg_of_a_shape_stands_alone_with_its_guarantee(open_page, closed, tmp_path):
    page = open_page(closed)
    choose(page, "Shape")
    path = save(page, tmp_path, "SVG")
    text = path.read_text(encoding="utf-8")

    assert path.name == "shape-of-age.svg"
    assert STATEMENT in ElementTree.parse(path).getroot().find(f"{SVG}desc").text
    assert not re.search(r"class=|style=|var\(|href|<script|http(?!://www\.w3\.org/)", text)
    used = set(re.findall(r"url\(#([\w-]+)\)", text))
    assert used
    assert all(f'id="{name}"' in text for name in used)
    shown = texts(path)
    for words in ("Shape of age", "records per bin of width", "private model, ε = 0.5"):
        assert words in shown
    assert "ε = 0.5 · δ = 10⁻⁶" in shown
    assert "not releasable" not in shown


def test_saved_svg_looks_like_the_view(open_page, new_page, closed, tmp_path):
    page = open_page(closed)
    choose(page, "Shape")
    path = save(page, tmp_path, "SVG")
    alone = new_page(offline=True)
    alone.goto(path.as_uri())
    alone.locator("svg").first.screenshot(path=tmp_path / "alone.png")
    page.locator(".dpx-plot svg").screenshot(path=tmp_path / "view.png")
    frames = [np.asarray(Image.open(tmp_path / f"{name}.png").convert("RGB"), dtype=int)
              for name in ("alone", "view")]  # fmt: skip
    # The blue of the curve covers as many pixels in both, but for the swatch of the legend.
    counts = [int((np.abs(each - (0, 114, 178)).sum(axis=2) < 40).sum()) for each in frames]

    assert counts[1] > 1000
    assert abs(counts[0] - counts[1]) < 0.15 * counts[1] + 200


def test_png_holds_pixels_and_the_guarantee(open_page, closed, tmp_path):
    page = open_page(closed)
    choose(page, "Which terms matter")
    with Image.open(save(page, tmp_path, "PNG")) as image:
        image.load()
        assert image.width > 600
        assert len(image.convert("RGB").getcolors(1 << 20)) > 20
        assert STATEMENT in image.text["Description"]
        assert image.text["Title"] == "Which terms matter"


@pytest.mark.parametrize("name", ["Which terms matter", "Shape"])
def test_a_picture_with_the_reference_is_watermarked(open_page, survey, tmp_path, name):
    page = open_page(survey)
    choose(page, name)
    path = save(page, tmp_path, "SVG")
    assert "not releasable" in texts(path)
    assert ElementTree.parse(path).getroot().find(f"{SVG}desc").text.startswith("not releasable")

    page.locator(".dpx-scrubber").focus()
    page.keyboard.press("r")
    settle(page)
    choose(page, name)
    hidden = texts(save(page, tmp_path, "SVG"))
    assert "not releasable" not in hidden
    assert "reference" not in hidden


def test_metrics_on_records_are_watermarked_without_the_reference_as_well(
    open_page, closed, tmp_path
):
    page = open_page(closed)
    choose(page, "Affairs in a survey of 1974")
    path = save(page, tmp_path, "SVG")

    assert "AUROC" in texts(path)
    assert "not releasable" in texts(path)


def test_all_rows_of_a_long_list_are_in_the_picture(open_page, tmp_path):
    terms = view_examples.wide_terms(40, 40)
    page = open_page(Explorer(view_examples.comparison(terms, (0.5,)), term="group 1"))
    choose(page, "Which terms matter")
    shown = texts(save(page, tmp_path, "SVG"))
    assert all(term.name in shown for term in terms if len(term.name) < 30)

    choose(page, "Shape")
    shown = texts(save(page, tmp_path, "SVG"))
    assert "category number 39" in shown
    assert page.locator(".dpx-saving").count() == 0


def test_the_key_s_saves_the_view_that_has_the_focus(open_page, closed):
    page = open_page(closed)
    for place, name in ((".dpx-plot", "shape-of-age.svg"), (".dpx-terms [tabindex='0']",
                        "which-terms-matter.svg")):  # fmt: skip
        page.locator(place).first.focus()
        with page.expect_download() as download:
            page.keyboard.press("s")
        assert download.value.suggested_filename == name
    assert page.locator(".dpx-save [role=status]").inner_text() == f"saved as {name}"


def test_hostile_names_stay_text_in_a_saved_picture(open_page, new_page, tmp_path):
    hostile = view_examples.comparison(view_examples.hostile_terms(), (0.5,), reference=False)
    page = open_page(Explorer(hostile))
    path = save(page, tmp_path, "SVG")
    assert re.fullmatch(r"[a-z0-9.-]+", path.name)
    root = ElementTree.parse(path).getroot()
    kinds = {element.tag.removeprefix(SVG) for element in root.iter()}

    assert not kinds & {"script", "a", "image", "foreignObject", "animate", "set", "style"}
    alone = new_page(offline=True)
    alone.goto(path.as_uri())
    assert alone.evaluate("window.stolen") is None


def test_csv_holds_the_numbers_of_the_shape_with_their_guarantee(open_page, closed, tmp_path):
    page = open_page(closed)
    choose(page, "Shape")
    path = save(page, tmp_path, "CSV")
    table = pd.read_csv(path)

    assert path.name == "shape-of-age.csv"
    assert table["bin"].tolist() == closed.selection["bin"].tolist()
    off = (table["contribution"] - closed.selection["contribution"]).abs()
    assert off.max() <= 0.0005 + 1e-9  # three decimals are shown
    own = "ε = 0.5 · δ = 10⁻⁶ · add/remove adjacency"
    assert set(table["guarantee"]) == {"; ".join((own, *closed.payload["guarantee_words"]))}


def test_files_that_show_several_fits_say_what_all_of_them_cost(open_page, closed, tmp_path):
    together = closed.payload["guarantee_words"][1]
    closed.pinned_epsilon = closed.payload["epsilons"][-1]
    page = open_page(closed)
    page.get_by_role("tab", name="Ranks", exact=True).click()
    settle(page)
    for name in ("Which terms matter", "Feature rank by ε"):
        choose(page, name)
        path = save(page, tmp_path, "SVG")
        assert together in texts(path)
        assert together in ElementTree.parse(path).getroot().find(f"{SVG}desc").text
        assert together in save(page, tmp_path, "CSV").read_text("utf-8")


def test_csv_with_the_reference_says_so(open_page, survey, tmp_path):
    page = open_page(survey)
    for name in ("Shape", "Which terms matter"):
        choose(page, name)
        table = pd.read_csv(save(page, tmp_path, "CSV"))
        assert table["guarantee"].str.startswith("not releasable. ").all()
        assert any("non-private reference" in column for column in table)


TABS = ("Shape", "Edit", "All terms", "Disagreement", "Ranks", "One sample")


@pytest.mark.parametrize("reference", [True, False])
def test_every_part_is_saved_in_every_format_and_says_whether_it_may_leave(
    open_page, tmp_path, reference
):
    explorer = Explorer(view_examples.comparison(joint=True, reference=reference))
    for place, tab in enumerate(TABS):
        if place % 3 == 0:  # Chromium asks before it takes more than ten files from one page
            page = open_page(explorer)
        page.get_by_role("tab", name=tab, exact=True).click()
        settle(page)
        svg, csv = (save(page, tmp_path, ending) for ending in ("SVG", "CSV"))
        assert len(pd.read_csv(csv)) > 1, tab
        words = [texts(svg), csv.read_text("utf-8")]
        if reference:  # pixels take long, and without a reference hold less
            with Image.open(save(page, tmp_path, "PNG")) as image:
                words.append(image.text["Description"])
        assert all(("not releasable" in text) == reference for text in words), tab


@pytest.mark.parametrize("name", ["Affairs in a survey of 1974", "Which terms matter"])
def test_csv_of_what_stands_beside_the_parts_holds_what_python_reads(
    open_page, closed, tmp_path, name
):
    page = open_page(closed)
    choose(page, name)
    table = pd.read_csv(save(page, tmp_path, "CSV"))

    if name == "Which terms matter":
        terms = {term["name"]: term["importance"] for term in fit_terms(closed)}
        assert set(table["term"]) == set(terms)
        for row in table.itertuples():
            assert row.importance == pytest.approx(terms[row.term], rel=2e-3, abs=1e-4)
    else:
        assert table["fit"].tolist() == [f"ε = {epsilon:g}" for epsilon in view_examples.EPSILONS]
        assert table["guarantee"].str.startswith("not releasable. ").all()  # of the metrics


def fit_terms(view):
    names = [term["name"] for term in view.payload["terms"]]
    terms = view.payload["fits"][view.epsilon_index][0]["terms"]
    return [{**term, "name": name} for name, term in zip(names, terms, strict=True)]


ALONE = ("DisagreementView", "EditView", "ImportanceView", "LedgerView", "LocalView",
         "OverviewView", "PlannerView", "RankView", "ShapeView")  # fmt: skip


@pytest.mark.parametrize("name", ALONE)
def test_a_view_that_stands_alone_has_buttons_and_no_choice(open_one, name, tmp_path):
    view = getattr(dpexplain_widgets, name)
    page = open_one(view(view_examples.comparison(joint=True, reference=False)))

    assert page.get_by_label("Save", exact=True).is_hidden()
    assert texts(save(page, tmp_path, "SVG"))
    assert len(pd.read_csv(save(page, tmp_path, "CSV"))) > 1
