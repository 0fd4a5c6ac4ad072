"""The waterfall of one sample and what-if inputs in a page without a kernel."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest

import view_examples
from dpexplain_widgets import Explorer, LocalView
from page_checks import layout_problems, plain, settle

pytestmark = [pytest.mark.browser, pytest.mark.full]

ROWS = pd.DataFrame(
    {
        "age": [22.0, 61.0, None],
        "years married": [1.0, 30.0, 7.0],
        "capital gain": [0.0, 50_000.0, 10.0],
        "rating of the marriage": ["poor", "very good", None],
        "occupation": ["student", "white-collar", "astronaut"],
        "children": ["no", "yes", "no"],
        "education": [12.0, 16.0, 20.0],
    },
    index=["Ann", "Ben", "<b>Cleo</b>"],
)


@pytest.fixture(scope="module")
def comparison():
    return view_examples.comparison(n_repeats=2, joint=True)


@pytest.fixture
def explorer(comparison):
    return Explorer(comparison, samples=ROWS, term="age", epsilon_index=1, tab="local")


def shown_as(value):
    """Format a number as the page does: in steps of 0.001, or with three digits in tables."""
    return pytest.approx(value, rel=5e-3, abs=6e-4)


def test_a_sample_is_picked_and_read_as_python_reads_it(open_page, explorer):
    page = open_page(explorer, wait=".dpx-waterfall svg")
    assert "Typical values" in page.locator(".dpx-local .dpx-note").first.inner_text()
    page.get_by_label("Sample", exact=True).select_option(label="<b>Cleo</b>")
    settle(page)
    assert "not marked as public" in page.locator(".dpx-local .dpx-note").first.inner_text()
    assert "not releasable: a record" in page.locator(".dpx-waterfall").text_content()
    page.locator(".dpx-local summary", has_text="Numbers as a table").click()
    table = page.locator(".dpx-local .dpx-table tbody tr")
    table.first.wait_for()
    shown = {cells[0]: cells for cells in (row.split("\t") for row in table.all_inner_texts())}

    explorer.sample = 2
    for row in explorer.selection.itertuples():
        cells = shown[row.term]
        assert cells[2] == row.bin
        assert float(cells[3].replace("−", "-")) == shown_as(row.contribution)
        assert cells[4] == ("certain" if row.sign_certainty >= 0.975 else "uncertain")
        assert float(cells[5].replace("−", "-")) == shown_as(row.reference)


def test_values_can_be_changed_within_their_range_only(open_page, explorer):
    page = open_page(explorer, wait=".dpx-waterfall svg")
    before = page.locator(".dpx-local-sum").inner_text()
    field = page.get_by_label("age", exact=True)
    field.fill("30")
    settle(page)
    assert "1 value changed" in page.locator(".dpx-local .dpx-note").first.inner_text()
    changed = page.locator(".dpx-local-sum").inner_text()
    assert changed != before
    was = before.split(": ")[1].split(" (")[0]
    assert f", before the change {was})" in changed
    assert "age = 30 (bin 30 – 32)" in plain(page.locator(".dpx-local .dpx-readout").inner_text())

    field.fill("300")
    settle(page)
    assert page.get_by_role("alert").inner_text() == "age must be a number in 17 to 90 years."
    assert field.get_attribute("aria-invalid") == "true"
    assert page.locator(".dpx-local-sum").inner_text() == changed
    page.get_by_label("children", exact=True).select_option(label="no")
    page.get_by_role("button", name="Undo all changes").click()
    settle(page)
    assert page.locator(".dpx-local-sum").inner_text() == before


def test_terms_are_read_in_the_waterfall_by_keys_and_by_click(open_page, explorer):
    page = open_page(explorer, wait=".dpx-waterfall svg")
    plot, readout = page.locator(".dpx-waterfall"), page.locator(".dpx-local .dpx-readout")
    seen = []
    plot.focus()
    page.keyboard.press("Home")
    for _ in range(7):
        settle(page)
        seen.append(readout.inner_text())
        assert plot.get_attribute("aria-valuetext") == readout.inner_text()
        page.keyboard.press("ArrowDown")
    assert len(set(seen)) == 7
    assert all("sign certain (" in each or "sign uncertain (" in each for each in seen)

    box = plot.bounding_box()
    page.mouse.click(box["x"] + 20, box["y"] + 30 + 34 * 1.5)
    settle(page)
    assert readout.inner_text() == seen[0]


def test_scrubbing_epsilon_moves_the_waterfall(open_page, explorer):
    page = open_page(explorer, wait=".dpx-waterfall svg")
    seen = set()
    page.locator(".dpx-scrubber").focus()
    page.keyboard.press("Home")
    for _ in range(6):
        settle(page)
        seen.add(page.locator(".dpx-local-sum").inner_text())
        page.keyboard.press("ArrowRight")
    assert len(seen) == 6


def test_flips_of_signs_are_named(open_page, explorer):
    page = open_page(explorer, wait=".dpx-waterfall svg", width=1500)
    explorer.epsilon_index = 0
    page.locator(".dpx-scrubber").focus()
    page.keyboard.press("Home")
    settle(page)
    flipped = page.locator(".dpx-waterfall text", has_text="sign flips").count()

    assert flipped == explorer.selection["flips"].sum() > 0
    label = page.locator(".dpx-waterfall").get_attribute("aria-label")
    assert label.endswith(f", {flipped} flip")


def test_the_side_of_a_threshold_is_told_with_its_certainty(open_page, explorer):
    page = open_page(explorer, wait=".dpx-waterfall svg")
    crossing = page.locator(".dpx-local").get_by_text("The prediction is")
    assert "below 0.5 with" in crossing.inner_text()
    threshold = page.get_by_label("Threshold")
    threshold.fill("0.01")
    threshold.press("Tab")
    settle(page)
    assert "above 0.01 with" in crossing.inner_text()


def test_public_samples_carry_no_mark(open_page, comparison):
    alone = dataclasses.replace(comparison, reference=None)
    view = Explorer(alone, samples=ROWS, samples_public=True, sample=0, tab="local")
    page = open_page(view, wait=".dpx-waterfall svg")

    assert page.locator(".dpx-waterfall .dpx-watermark").count() == 0
    assert "marked as public" in page.locator(".dpx-local .dpx-note").first.inner_text()


@pytest.mark.parametrize("width", [480, 900, 1400])
def test_no_label_is_cut_or_over_another(open_page, pictures, explorer, width):
    page = open_page(explorer, width=width, wait=".dpx-waterfall svg")
    settle(page)

    assert layout_problems(page) == []
    page.screenshot(path=pictures / f"local-{width}.png", full_page=True)


def test_the_view_stands_alone(open_one, comparison):
    page = open_one(LocalView(comparison, samples=ROWS, sample=1))
    page.locator(".dpx-waterfall svg").wait_for()

    assert "ε = 1 · δ = 10⁻⁶" in page.locator(".dpx-standalone-words").inner_text()
    assert layout_problems(page) == []


def test_two_models_are_read_side_by_side(open_page, comparison):
    other = view_examples.comparison(epsilons=(0.5, 2.0), seed=4)
    view = Explorer({"DP-EBM": comparison, "linear": other}, term="age", epsilon_index=1)
    page = open_page(view)
    page.get_by_label("Second model").select_option(label="linear")
    settle(page)
    assert page.locator(".dpx-plot .dpx-curve-other").count() > 0
    assert "linear, ε = 0.5" in plain(page.locator(".dpx-legend").first.inner_text())
    beside = page.locator(".dpx-plot .dpx-curve-other").first.get_attribute("d")

    page.get_by_label("Model", exact=True).select_option(label="linear")
    page.get_by_label("Same axis at every ε").uncheck()
    settle(page)
    assert page.locator(".dpx-plot .dpx-curve-main").first.get_attribute("d") != beside
    assert "DP-EBM, ε = 0.5" in plain(page.locator(".dpx-legend").first.inner_text())
    assert layout_problems(page) == []
