"""Edits made in a page with mouse and keyboard, and the file of them that Python reads."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import view_examples
from dpexplain import io
from dpexplain.edit import (
    Align,
    Convex,
    EditLog,
    Flatten,
    Interpolate,
    Merge,
    Monotone,
    Recover,
    Remove,
    Revert,
    Scale,
    Set,
    Shift,
    Smooth,
    Stretch,
    repair,
)
from dpexplain_widgets import EditView, Explorer
from page_checks import layout_problems, settle

pytestmark = pytest.mark.browser

# The name in the menu, what is typed to reach it there, and what it is in Python.
OPERATIONS = [
    ("set", "Level: Set", Set("age", value=0.25)),
    ("shift", "Level: Shift", Shift("age", by=0.25)),
    ("scale", "Level: Scale", Scale("age", factor=0.25)),
    ("interpolate", "Level: Int", Interpolate("age")),
    ("left", "Level: Align to the l", Align("age", to="left")),
    ("right", "Level: Align to the r", Align("age", to="right")),
    ("average", "Level: Align to the a", Align("age", to="average")),
    ("increasing", "Shape: Make i", Monotone("age", direction="increasing")),
    ("decreasing", "Shape: Make d", Monotone("age", direction="decreasing")),
    ("convex", "Shape: Make convex", Convex("age", bend="convex")),
    ("concave", "Shape: Make concave", Convex("age", bend="concave")),
    ("smooth", "Noise: S", Smooth("age")),
    ("flatten", "Noise: F", Flatten("age")),
    ("stretch", "Noise: St", Stretch("age")),
    ("recover", "Noise: R", Recover("age")),
    ("repair-up", "Repair: Repair: i", repair("age", "increasing")),
    ("repair-down", "Repair: Repair: d", repair("age", "decreasing")),
    ("remove", "Term: Remove", Remove("age")),
    ("revert", "Term: Revert", Revert("age")),
]

MOVE_THE_BAND = ("stretch", "recover", "repair-up", "repair-down")


@pytest.fixture
def comparison():
    """Made-up fits that say what all their sums speak for."""
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


def operation_box(page):
    return page.get_by_label("Operation", exact=True)


def chosen_by_mouse(page, name):
    operation_box(page).select_option(name)


def chosen_by_keyboard(page, typed):
    operation_box(page).focus()
    page.keyboard.type(typed, delay=5)


def number(page):
    field = page.get_by_label("Number of the operation")
    if field.is_visible():
        field.fill("0.25")


def check(page, comparison, operation, before):
    """The applied curve is the one that was previewed, and the one that Python makes."""
    drawn = now(page)
    log = downloaded(page)
    assert log.operations == (operation,)
    term = comparison.explanations[1.0][0]["age"]
    edited = log.apply(comparison.explanations[1.0][0])["age"]
    assert heights(before, term.n_bins).shape == (term.n_bins,)
    # The page's axis is linear: pixels are an affine function of contributions.
    values, pixels = edited.contribution, heights(drawn, term.n_bins)
    if np.ptp(values) > 1e-9:
        slope, level = np.polyfit(values, pixels, 1)
        np.testing.assert_allclose(pixels, slope * values + level, atol=0.02)
    else:
        assert np.ptp(pixels) < 0.02


def test_every_operation_is_previewed_and_applied_with_the_mouse(page, comparison):
    n_bins = comparison.explanations[1.0][0]["age"].n_bins
    for name, _, operation in OPERATIONS:
        before = now(page)
        chosen_by_mouse(page, name)
        number(page)
        shown = preview(page)
        page.get_by_role("button", name="Apply", exact=True).click()
        if name in MOVE_THE_BAND:  # and with it the axis
            first, second = (heights(path, n_bins) for path in (shown, now(page)))
            line = np.polyfit(first, second, 1)
            np.testing.assert_allclose(second, np.polyval(line, first), atol=0.02, err_msg=name)
        else:
            assert now(page) == shown, name
        check(page, comparison, operation, before)
        page.get_by_role("button", name="Undo", exact=True).click()
        assert now(page) == before, name
        page.reload()
        page.locator(".dpx-edit-plot svg").wait_for()


def test_every_operation_is_applied_with_the_keyboard_alone(page, comparison):
    for name, typed, operation in OPERATIONS:
        before = now(page)
        chosen_by_keyboard(page, typed)
        assert operation_box(page).input_value() == name
        number(page)
        page.locator(".dpx-edit-plot").focus()
        page.keyboard.press("Enter")
        check(page, comparison, operation, before)
        page.locator(".dpx-edit-plot").focus()
        page.keyboard.press("Control+z")
        assert now(page) == before, name
        page.reload()
        page.locator(".dpx-edit-plot svg").wait_for()


def bins(page, place):
    box = page.locator(".dpx-edit-plot svg").bounding_box()
    return box["x"] + place * box["width"], box["y"] + box["height"] - 70


def test_brushed_range_is_what_an_operation_is_about(page, comparison):
    page.mouse.move(*bins(page, 0.3))
    page.mouse.down()
    page.mouse.move(*bins(page, 0.55), steps=5)
    page.mouse.up()
    chosen_by_mouse(page, "flatten")
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
        chosen_by_mouse(page, name)
        page.get_by_role("button", name="Apply", exact=True).click()
    both = now(page)
    page.locator(".dpx-edit-plot").focus()
    page.keyboard.press("Control+z")
    one = now(page)
    page.keyboard.press("Control+y")
    assert now(page) == both
    page.locator(".dpx-edit-state").nth(1).click()
    assert now(page) == one
    chosen_by_mouse(page, "decreasing")
    page.get_by_role("button", name="Apply", exact=True).click()
    page.locator(".dpx-edit-state").nth(0).click()
    assert now(page) == released

    log = downloaded(page)
    assert log.branches == (1, 2)
    assert "(after 1)" in page.locator(".dpx-edit-history").inner_text()


def test_scores_of_people_follow_what_is_previewed_and_applied(page):
    words = page.locator("div:has(> h4:text-is('Scores of people')) > p")
    picture = page.locator(".dpx-edit-scores svg .dpx-curve-main")
    words.filter(has_text="(unchanged)").wait_for()
    released = picture.get_attribute("d")
    chosen_by_mouse(page, "shift")
    page.get_by_label("Number of the operation").fill("0.25")
    words.filter(has_text="(+0.2").wait_for()
    assert picture.get_attribute("d") != released
    page.get_by_role("button", name="Apply", exact=True).click()
    page.get_by_role("button", name="Undo", exact=True).click()
    words.filter(has_text="(unchanged)").wait_for()
    assert picture.get_attribute("d") == released


def test_notes_are_part_of_the_log(page):
    chosen_by_mouse(page, "increasing")
    page.get_by_role("button", name="Apply", exact=True).click()
    page.get_by_label("Note on edit 1").fill("risk rises with age")
    page.get_by_label("Note on edit 1").press("Tab")

    assert downloaded(page).entries[0].note == "risk rises with age"


def test_warning_says_where_the_noise_band_is_left(page, comparison):
    chosen_by_mouse(page, "decreasing")
    words = page.locator(".dpx-edit-warning").inner_text()
    edited = Monotone("age", direction="decreasing").apply(comparison.explanations[1.0][0])

    count = edited.edits[0].n_outside
    assert f"leaves the noise band in {count} bins" in words
    assert page.locator(".dpx-edit-outside").count() == count
    assert page.locator(".dpx-edit-stamp").inner_text() == "ε 0"
    assert "epsilon 0" in page.locator(".dpx-edit-effect").inner_text()


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_categories_are_merged(open_page, comparison, by):
    view = Explorer(comparison, term="occupation", epsilon_index=2, tab="edit")
    page = open_page(view, wait=".dpx-edit-plot svg")
    page.locator(".dpx-edit-plot").focus()
    page.keyboard.press("Home")
    page.keyboard.press("Shift+ArrowRight")
    if by == "mouse":
        chosen_by_mouse(page, "merge")
        page.get_by_role("button", name="Apply", exact=True).click()
    else:
        chosen_by_keyboard(page, "Term: M")
        page.locator(".dpx-edit-plot").focus()
        page.keyboard.press("Enter")

    names = comparison.explanations[1.0][0]["occupation"].bin_labels[:2]
    assert downloaded(page).operations == (Merge("occupation", names=names),)


def test_states_are_named_and_found_again(page):
    field = page.get_by_label("Name of this state")
    chosen_by_mouse(page, "increasing")
    page.get_by_role("button", name="Apply", exact=True).click()
    agreed = now(page)
    field.fill("agreed")
    page.get_by_role("button", name="Name this state").click()
    chosen_by_mouse(page, "flatten")
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
    chosen_by_mouse(page, "increasing")
    page.get_by_role("button", name="Apply", exact=True).click()
    page.locator(".dpx-scrubber").focus()
    page.keyboard.press("ArrowRight")

    n = comparison.explanations[2.0][0]["age"].n_value_bins
    assert (np.diff(heights(now(page), n)) <= 1e-6).all()  # pixels count downwards


def test_reference_is_marked_while_it_is_edited(open_page, comparison):
    view = Explorer(comparison, term="age", epsilon_index=len(comparison.epsilons), tab="edit")
    page = open_page(view, wait=".dpx-edit-plot svg")

    assert "do not publish" in page.locator(".dpx-edit-plot .dpx-watermark").text_content()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [420, 1000])
def test_edit_view_alone_is_laid_out_well(open_one, comparison, pictures, scheme, width):
    log = EditLog().edit(Monotone("age", direction="increasing"), note="risk rises with age")
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
        chosen_by_mouse(page, "flatten")
        settle(page)
        if page.get_by_role("button", name="Apply", exact=True).is_enabled():
            page.get_by_role("button", name="Apply", exact=True).click()

    assert page.evaluate("window.stolen") is None
