"""Ranges of bins, replayed noise and small multiples in a page without a kernel."""

from __future__ import annotations

import dataclasses

import pytest

import view_examples
from dpexplain_widgets import Explorer, ShapeView
from page_checks import curve_of, layout_problems, plain, settle

pytestmark = [pytest.mark.browser, pytest.mark.full]


@pytest.fixture(scope="module")
def comparison():
    return view_examples.comparison(n_repeats=2, joint=True)


def test_a_range_is_brushed_with_the_mouse(open_page, comparison):
    page = open_page(Explorer(comparison, term="age"))
    box = page.locator(".dpx-plot").bounding_box()
    x, y = box["x"] + 0.3 * box["width"], box["y"] + 120
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y, steps=3)
    page.mouse.move(x + 120, y, steps=3)
    page.mouse.up()
    page.mouse.move(box["x"] + 10, box["y"] - 30)
    settle(page)
    text = plain(page.locator(".dpx-shape .dpx-readout").inner_text())
    assert " bins, on average " in text
    assert "of them signal" in text
    assert "non-private reference: " in text
    assert page.locator(".dpx-column-range").count() == 1
    assert page.locator(".dpx-column-chosen").count() == 0

    page.get_by_role("button", name="Clear range").click()
    settle(page)
    assert page.locator(".dpx-column-range").count() == 0


def test_a_very_narrow_bin_continues_off_scale_and_leaves_the_other_bars_their_height(open_page):
    found = view_examples.comparison(n_repeats=1)
    shown = found.explanations[1.0][0]
    shape = shown["age"]
    edges = shape.bin_edges.copy()
    edges[1] = edges[0] + 1e-3 * (edges[1] - edges[0])
    narrowed = dataclasses.replace(shape, bin_edges=edges, step=None)
    terms = tuple(narrowed if term.name == "age" else term for term in shown.terms)
    page = open_page(
        ShapeView(dataclasses.replace(shown, terms=terms), term="age", even_bins=False)
    )
    heights = page.locator(".dpx-plot .dpx-count").evaluate_all(
        "bars => bars.map((bar) => Number(bar.getAttribute('height')))"
    )
    value_bars = heights[: shape.n_value_bins]
    assert max(value_bars) == value_bars[0]
    assert max(value_bars[1:]) > 0.25 * value_bars[0]
    assert page.locator(".dpx-plot .dpx-beyond-noise").count() >= 1


def test_a_drag_that_ends_outside_does_not_go_on_when_the_mouse_comes_back(open_page, comparison):
    page = open_page(Explorer(comparison, term="age"))
    box = page.locator(".dpx-plot").bounding_box()
    x, y = box["x"] + 0.3 * box["width"], box["y"] + 120
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y, steps=3)
    page.mouse.move(x + 60, box["y"] - 30)
    page.mouse.up()

    def read():
        page.mouse.move(box["x"] + 10, box["y"] - 30)
        settle(page)
        return plain(page.locator(".dpx-shape .dpx-readout").inner_text())

    page.mouse.move(x + 60, y)
    chosen = read()
    page.mouse.move(x + 160, y, steps=3)
    assert " bins, on average " in chosen
    assert read() == chosen


def test_a_range_is_chosen_by_keys_and_python_reads_the_same(open_page, comparison):
    view = Explorer(comparison, term="age")
    page = open_page(view)
    plot = page.locator(".dpx-plot")
    plot.focus()
    page.keyboard.press("Home")
    for _ in range(3):
        page.keyboard.press("Shift+ArrowRight")
    settle(page)
    view.bin_range = [0, 3]
    text = plain(page.locator(".dpx-shape .dpx-readout").inner_text())
    assert text.startswith("age: 17 to ")
    assert "4 bins, on average" in text
    count = int(text.split("noisy count ")[1].split(" ")[0].replace(",", ""))
    # A page holds whole counts: four of them, and their sum, are half a person off at most.
    assert count == pytest.approx(view.selection["count"].sum(), abs=2.5)
    assert len(view.selection) == 4
    assert "4 bins" in plot.get_attribute("aria-valuetext")

    page.keyboard.press("ArrowRight")
    settle(page)
    assert page.locator(".dpx-column-range").count() == 0


@pytest.mark.parametrize("term", ["age", "occupation"])
def test_noise_is_replayed_step_by_step(open_page, comparison, term):
    page = open_page(Explorer(comparison, term=term), reduced_motion="reduce")
    before = page.locator(".dpx-plot").inner_html()
    page.get_by_role("button", name="Replay the noise").click()
    seen = []
    for _ in range(3):
        settle(page)
        seen.append(page.locator(".dpx-plot").inner_html())
        page.get_by_role("button", name="Next rerun").click()
    assert len({before, *seen}) == 4
    assert "simulated rerun 4" in page.locator(".dpx-legend").inner_text()
    page.wait_for_timeout(900)
    assert "simulated rerun 4" in page.locator(".dpx-legend").inner_text()

    page.get_by_role("button", name="Stop replay").click()
    settle(page)
    assert "simulated rerun" not in page.locator(".dpx-legend").inner_text()


def test_a_replay_plays_by_itself_and_stops(open_page, comparison):
    page = open_page(Explorer(comparison, term="age"))
    main = curve_of(page)
    page.get_by_role("button", name="Replay the noise").click()
    page.get_by_text("simulated rerun 3").wait_for()
    assert curve_of(page) == main
    page.get_by_role("button", name="Stop replay").click()
    assert page.locator(".dpx-plot .dpx-curve-replay").count() == 0


def test_the_reference_has_no_noise_to_replay(open_page, comparison):
    page = open_page(Explorer(comparison, term="age", epsilon_index=6))

    assert page.get_by_role("button", name="Replay the noise").is_hidden()


def test_what_the_variance_is_made_of_is_told(open_page, comparison):
    explanation = comparison.explanations[1.0][0]
    terms = [
        dataclasses.replace(term, structure_std=term.noise_std / 2, sampling_std=term.noise_std / 2)
        for term in explanation.terms
    ]
    page = open_page(Explorer(dataclasses.replace(explanation, terms=terms, noise=None)))

    words = page.locator(".dpx-shape .dpx-legend").inner_text()
    assert "privacy 67%, bins and trees 17%, sampling 17%" in words


@pytest.mark.parametrize("width", [480, 1400])
def test_small_multiples_choose_and_open_terms(open_page, pictures, comparison, width):
    page = open_page(
        Explorer(comparison, term="age", tab="terms"), width=width, wait=".dpx-small svg"
    )
    settle(page)
    assert page.locator(".dpx-small").count() == 7
    assert layout_problems(page) == []
    page.screenshot(path=pictures / f"small-multiples-{width}.png", full_page=True)
    page.locator(".dpx-small", has_text="education").click()
    settle(page)
    assert page.locator(".dpx-term[aria-selected=true]").inner_text().startswith("education")

    page.locator(".dpx-small[tabindex='0']").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    settle(page)
    second = page.locator(".dpx-small").nth(1)
    assert second.get_attribute("aria-selected") == "true"
    name = second.locator(".dpx-small-name").inner_text()
    page.keyboard.press("Enter")
    page.locator(".dpx-plot svg").first.wait_for()
    assert page.locator(".dpx-shape h3").inner_text() == f"Shape of {name}"


def test_small_charts_keep_their_axes_and_elements_at_every_epsilon(open_page, comparison):
    page = open_page(Explorer(comparison, tab="terms"), wait=".dpx-small svg")
    curve = ".dpx-small .dpx-curve-main"
    pictures = "Array.from(document.querySelectorAll('.dpx-small svg'))"
    drawn = page.locator(curve).first.get_attribute("d")
    texts = page.locator(".dpx-small text").all_inner_texts()
    page.evaluate(f"window.drawn = {pictures}")
    page.locator(".dpx-scrubber").focus()
    page.keyboard.press("ArrowRight")
    settle(page)

    assert page.evaluate(f"{pictures}.every((each, i) => each === drawn[i])")
    assert page.locator(curve).first.get_attribute("d") != drawn
    assert page.locator(".dpx-small text").all_inner_texts() == texts
    page.get_by_label("Show non-private reference").click()  # now there are other curves
    settle(page)
    assert page.locator(".dpx-small .dpx-curve-reference").count() == 0


def test_forty_terms_are_paged(open_page):
    wide = view_examples.comparison(view_examples.wide_terms(40, 6), view_examples.EPSILONS[:2])
    page = open_page(Explorer(wide, tab="terms", term_order="schema"), wait=".dpx-small svg")
    assert page.locator(".dpx-small").count() == 12
    page.get_by_role("button", name="Next").click()
    settle(page)
    assert page.locator(".dpx-all-terms [role=status]").inner_text() == "13–24 of 40"
    assert page.locator(".dpx-small").first.get_attribute("aria-posinset") == "13"


def test_the_shape_view_alone_switches_to_all_terms_and_back(open_one, comparison):
    page = open_one(ShapeView(comparison, term="age"))
    page.locator(".dpx-plot svg").first.wait_for()
    page.get_by_label("Show all as small charts").check()
    page.locator(".dpx-small svg").first.wait_for()
    page.locator(".dpx-small", has_text="children").dblclick()
    page.locator(".dpx-plot svg").first.wait_for()

    assert page.locator("h3").first.inner_text() == "Shape of children"
    assert not page.get_by_label("Show all as small charts").is_checked()
    assert "ε = 1 · δ = 10⁻⁶" in page.locator(".dpx-standalone-words").inner_text()
    assert layout_problems(page) == []
