"""Edits made in a page with mouse and keyboard, saved, and read by Python."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import view_examples
from dpexplain import io
from dpexplain.edit import (
    EditLog,
    Flatten,
    Merge,
    Monotone,
    Recover,
    Shift,
)
from dpexplain_widgets import EditView, Explorer
from dpexplain_widgets.payload import packing
from edit_hands import Keyboard, Mouse, Try, assert_line
from page_checks import layout_problems, settle

pytestmark = [pytest.mark.browser, pytest.mark.full]


@pytest.fixture
def comparison():
    """Simulate fits that state what all their sums suggest."""
    made = view_examples.comparison()
    fits = {e: tuple(map(with_sums, repeats)) for e, repeats in made.explanations.items()}
    return dataclasses.replace(made, explanations=fits)


def with_sums(explanation):
    terms = [
        dataclasses.replace(term, stretch=0.8, recovered=0.7 * term.contribution)
        for term in explanation.terms
    ]
    return dataclasses.replace(explanation, terms=tuple(terms))


@pytest.fixture
def page(open_page, comparison):
    view = Explorer(comparison, term="age", epsilon_index=2, tab="edit")
    return open_page(view, wait=".dpx-edit-plot svg")


def downloaded(page) -> EditLog:
    with page.expect_download() as found:
        page.get_by_role("button", name="Download edits").click()
    return io.from_json(Path(found.value.path()).read_text(encoding="utf-8"))


def now(page) -> str:
    settle(page)
    return str(page.locator(".dpx-edit-plot .dpx-curve-main").get_attribute("d"))


def preview(page) -> str:
    settle(page)
    return str(page.locator(".dpx-edit-plot .dpx-edit-preview").get_attribute("d"))


def heights(path: str, n_bins: int) -> np.ndarray:
    return np.array([float(y) for y in re.findall(r"[ML][-\d.]+ ([-\d.]+)H", path)])[:n_bins]


def chosen(page, name):
    page.get_by_label("Operation", exact=True).select_option(name)


def bins(page, place):
    box = page.locator(".dpx-edit-plot svg").bounding_box()
    return box["x"] + place * box["width"], box["y"] + box["height"] - 70


def test_brushed_range_is_what_an_operation_is_about(page, comparison):
    page.mouse.move(*bins(page, 0.3))
    page.mouse.down()
    page.mouse.move(*bins(page, 0.55), steps=5)
    page.mouse.up()
    chosen(page, "flatten")
    page.get_by_role("button", name="Apply", exact=True).click()

    (operation,) = downloaded(page).operations
    low, high = operation.within
    assert 17 < low < high < 80
    assert operation == Flatten("age", within=(low, high))


def test_range_is_chosen_with_shift_and_arrows_and_nudged(page, comparison):
    plot = page.locator(".dpx-edit-plot")
    plot.focus()
    for key in ("Home", "Shift+ArrowRight", "Shift+ArrowRight", "ArrowUp", "ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
    page.keyboard.press("ArrowUp")

    edges = comparison.explanations[1.0][0]["age"].bin_edges
    (operation,) = downloaded(page).operations
    assert operation.within == (edges[0], edges[3])
    assert operation.by > 0
    assert len(downloaded(page).entries) == 1  # nudges of the same bins are one edit


def test_curve_is_dragged_with_the_mouse(page):
    plot = page.locator(".dpx-edit-plot svg")
    box = plot.bounding_box()
    path = now(page)
    left, top = map(float, re.match(r"M([-\d.]+) ([-\d.]+)H", path).groups())
    page.mouse.move(box["x"] + left + 5, box["y"] + top)
    page.mouse.down()
    page.mouse.move(box["x"] + left + 5, box["y"] + top - 40, steps=5)
    during = preview(page)
    page.mouse.up()

    assert now(page) == during
    (operation,) = downloaded(page).operations
    assert isinstance(operation, Shift)
    assert operation.by > 0


def test_undo_and_redo_by_key_and_any_state_from_the_history(page):
    released = now(page)
    for name in ("increasing", "flatten"):
        chosen(page, name)
        page.get_by_role("button", name="Apply", exact=True).click()
    both = now(page)
    page.locator(".dpx-edit-plot").focus()
    page.keyboard.press("Control+z")
    one = now(page)
    page.keyboard.press("Control+y")
    assert now(page) == both
    page.locator(".dpx-edit-state").nth(1).click()
    assert now(page) == one
    chosen(page, "decreasing")
    page.get_by_role("button", name="Apply", exact=True).click()
    page.locator(".dpx-edit-state").nth(0).click()
    assert now(page) == released

    log = downloaded(page)
    assert log.branches == (1, 2)
    assert "(after 1)" in page.locator(".dpx-edit-history").inner_text()
    page.locator(".dpx-edit-state").nth(3).click()
    states = page.locator(".dpx-edit-state").all_inner_texts()
    undone = [text.endswith("(undone)") for text in states]
    assert undone == [False, False, True, False]  # the next edit keeps what was undone in sight


def test_scores_of_people_follow_what_is_previewed_and_applied(page):
    words = page.locator("div:has(> h4:text-is('Score distribution')) > p")
    picture = page.locator(".dpx-edit-scores svg .dpx-curve-main")
    words.filter(has_text="(unchanged)").wait_for()
    released = picture.get_attribute("d")
    chosen(page, "shift")
    page.get_by_label("Number of the operation").fill("0.25")
    words.filter(has_text="(+0.2").wait_for()
    assert picture.get_attribute("d") != released
    page.get_by_role("button", name="Apply", exact=True).click()
    page.get_by_role("button", name="Undo", exact=True).click()
    words.filter(has_text="(unchanged)").wait_for()
    assert picture.get_attribute("d") == released


def test_notes_are_part_of_the_log(page):
    chosen(page, "increasing")
    page.get_by_role("button", name="Apply", exact=True).click()
    page.get_by_label("Note on edit 1").fill("risk rises with age")
    page.get_by_label("Note on edit 1").press("Tab")

    assert downloaded(page).entries[0].note == "risk rises with age"


def test_edits_are_signed_where_somebody_gives_a_name(page):
    page.get_by_role("button", name="Apply", exact=True).wait_for()
    for name, author in (("increasing", ""), ("flatten", "Dr Example")):
        page.get_by_label("Signed by").fill(author)
        chosen(page, name)
        page.get_by_role("button", name="Apply", exact=True).click()

    plain, signed = downloaded(page).entries
    assert (plain.who, plain.when) == ("", "")
    assert signed.who == "Dr Example"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", signed.when)
    history = page.locator(".dpx-edit-history").inner_text()
    assert f"Dr Example, {signed.when}" in history
    assert history.count("unsigned") == 1


def test_history_says_of_each_edit_what_python_says(page, comparison):
    for name in ("increasing", "recover", "remove"):
        chosen(page, name)
        page.get_by_role("button", name="Apply", exact=True).click()
    settle(page)
    shown = page.locator(".dpx-edit-trail").all_inner_texts()
    records = downloaded(page).apply(comparison.explanations[1.0][0]).edits

    assert [words.split(", moves")[0] for words in shown[:2]] == [
        f"{record.effects[0].words}; adds epsilon 0" for record in records[:2]
    ]
    assert shown[2].startswith("changes 25 bins")
    assert "for 100% of the records" in shown[2]


def test_what_asks_feature_by_feature_is_applied_with_a_warning_that_stays(page):
    words = page.locator(".dpx-edit-caution")
    careful = f"Warning: {Recover('age').caution}."
    for name in ("stretch", "recover", "repair-up"):
        assert words.is_hidden(), name
        chosen(page, name)
        assert words.inner_text() == careful, name
        page.get_by_role("button", name="Apply", exact=True).click()
        settle(page)
        assert words.inner_text() == careful, name
        page.get_by_role("button", name="Undo", exact=True).click()
        settle(page)


def test_an_edit_that_breaks_the_constraint_of_the_fit_says_so(open_page):
    explanation = with_sums(view_examples.comparison().explanations[1.0][0])
    term = explanation["age"]
    values = np.append(np.linspace(-1, 1, term.n_value_bins), 0.0)
    rising = dataclasses.replace(term, contribution=values, monotone="increasing")
    terms = tuple(rising if each.name == "age" else each for each in explanation.terms)
    view = Explorer(dataclasses.replace(explanation, terms=terms), term="age", tab="edit")
    page = open_page(view, wait=".dpx-edit-plot svg")
    words = page.locator(".dpx-edit-caution")
    broken = "the curve no longer increases everywhere, as the fit constrained it to"
    chosen(page, "smooth")
    assert words.is_hidden()
    page.locator(".dpx-edit-plot").focus()
    page.keyboard.press("Home")
    for _ in range(3):
        page.keyboard.press("ArrowUp")
    settle(page)
    assert words.inner_text() == f"Warning: {broken}."
    page.get_by_role("button", name="Undo", exact=True).click()


def test_single_bins_are_picked_with_space_and_left_again(page, comparison):
    plot = page.locator(".dpx-edit-plot")
    plot.focus()
    for key in ("Home", "Space", "ArrowRight", "ArrowRight", "Space", "ArrowRight", "Space"):
        page.keyboard.press(key)
    page.keyboard.press("Space")  # the last one is left again
    labels = comparison.explanations[1.0][0]["age"].bin_labels
    said = page.locator(".dpx-note", has_text="Selected:").inner_text()
    assert said.strip() == f"Selected: 2 bins, {labels[0]}; {labels[2]}."
    page.keyboard.press("ArrowUp")

    (operation,) = downloaded(page).operations
    assert operation.bins == (0, 2)


def test_warning_says_where_the_noise_band_is_left(page, comparison):
    chosen(page, "decreasing")
    words = page.locator(".dpx-edit-warning").inner_text()
    edited = Monotone("age", direction="decreasing").apply(comparison.explanations[1.0][0])

    count = edited.edits[0].n_outside
    assert f"leaves the noise band in {count} bins" in words
    assert page.locator(".dpx-edit-outside").count() == count
    assert page.locator(".dpx-edit-stamp").inner_text() == "ε 0"
    assert "epsilon 0" in page.locator(".dpx-edit-effect").inner_text()


@pytest.mark.parametrize("hand", [Mouse, Keyboard])
def test_categories_are_merged_by_mouse_and_by_keyboard(hand, open_page, comparison):
    view = Explorer(comparison, term="occupation", epsilon_index=2, tab="edit")
    page = open_page(view, wait=".dpx-edit-plot svg")
    explanation = comparison.explanations[1.0][0]
    merge = Merge("occupation", names=explanation["occupation"].bin_labels[:2])
    hands = hand(page.locator(".dpx").first, points=[0, 1])
    offered = hands.box.locator("option").evaluate_all("all => all.map((option) => option.value)")

    _, *curves = hands.do(Try("merge", merge, about="range"), offered)

    (entry,) = downloaded(page).entries
    assert entry.operation == merge
    merged = merge.apply(explanation)["occupation"].contribution
    for shown in curves:
        assert_line(merged, shown, "merge", digits=packing.DIGITS)


def test_every_category_is_named_on_a_phone(open_page, comparison):
    view = Explorer(comparison, term="occupation", epsilon_index=2, tab="edit")
    page = open_page(view, width=380, wait=".dpx-edit-plot svg")
    names = page.locator(".dpx-edit-plot text[transform]").all_text_contents()
    bins = comparison.explanations[1.0][0]["occupation"].contribution
    assert len(names) == len(set(names)) == len(bins)


def test_states_are_named_and_found_again(page):
    field = page.get_by_label("Checkpoint name")
    chosen(page, "increasing")
    page.get_by_role("button", name="Apply", exact=True).click()
    agreed = now(page)
    page.get_by_role("button", name="Save checkpoint").click()
    assert field.evaluate("(field) => field === document.activeElement")
    field.fill("agreed")
    page.get_by_role("button", name="Save checkpoint").click()
    chosen(page, "flatten")
    page.get_by_role("button", name="Apply", exact=True).click()
    field.focus()
    page.keyboard.type("<i>flat</i>")
    page.keyboard.press("Enter")

    page.get_by_role("button", name="agreed").click()
    assert now(page) == agreed
    log = downloaded(page)
    assert log.place("agreed") == log.head == 0
    assert log.place("<i>flat</i>") == 1
    assert page.locator(".dpx-edit-history i").count() == 0


def test_edits_follow_to_another_epsilon(page, comparison):
    chosen(page, "increasing")
    page.get_by_role("button", name="Apply", exact=True).click()
    page.locator(".dpx-scrubber").focus()
    page.keyboard.press("ArrowRight")

    n = comparison.explanations[2.0][0]["age"].n_value_bins
    assert (np.diff(heights(now(page), n)) <= 1e-6).all()  # pixels count downwards


def test_reference_is_marked_while_it_is_edited(open_page, comparison):
    view = Explorer(comparison, term="age", epsilon_index=len(comparison.epsilons), tab="edit")
    page = open_page(view, wait=".dpx-edit-plot svg")

    assert "do not publish" in page.locator(".dpx-edit-plot .dpx-watermark").text_content()
    assert page.locator(".dpx-edit-stamp").inner_text() == "NOT PRIVATE"
    assert "NOT PRIVATE" in page.locator(".dpx-edit-effect").inner_text()
    assert "epsilon 0" not in page.locator(".dpx-edit-effect").inner_text()


@pytest.mark.parametrize("width", [600, 760, 1000, 1366])
def test_the_last_number_of_an_axis_leaves_room_for_a_special_bin(open_one, width):
    made = view_examples.comparison().explanations[1.0][0]
    edges = made["age"].bin_edges
    stretched = 10_000 * (edges - edges[0]) / (edges[-1] - edges[0])
    wide = dataclasses.replace(made["age"], bin_edges=stretched, special=("missing",))
    terms = (wide, *(term for term in made.terms if term.name != "age"))
    page = open_one(EditView(dataclasses.replace(made, terms=terms), term="age"), width=width)
    page.locator(".dpx-edit-plot svg").wait_for()
    settle(page)
    assert layout_problems(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [420, 1000])
def test_edit_view_alone_is_laid_out_well(open_one, comparison, pictures, scheme, width):
    log = EditLog().edit(Recover("age"), who="Dr Example", when="2026-11-21 15:20 UTC")
    log = log.edit(Monotone("age", direction="increasing"), note="risk rises with age")
    view = EditView(comparison, term="age", epsilon_index=2)
    view.edit_log = log.edit(Shift("age", by=0.1, within=(17, 40))).undo()
    page = open_one(view, width=width, color_scheme=scheme)
    page.locator(".dpx-edit-plot svg").wait_for()
    settle(page)
    page.screenshot(path=pictures / f"edit-{scheme}-{width}.png", full_page=True)

    assert layout_problems(page) == []


def test_hostile_names_stay_text_while_they_are_edited(open_page):
    hostile = view_examples.comparison(view_examples.hostile_terms(), view_examples.EPSILONS[:2])
    page = open_page(Explorer(hostile, tab="edit"), wait=".dpx-edit-plot svg")
    for place in range(page.locator(".dpx-term").count()):
        page.locator(".dpx-term").nth(place).click()
        chosen(page, "flatten")
        settle(page)
        if page.get_by_role("button", name="Apply", exact=True).is_enabled():
            page.get_by_role("button", name="Apply", exact=True).click()

    assert page.evaluate("window.stolen") is None
