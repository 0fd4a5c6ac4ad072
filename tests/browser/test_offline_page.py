"""The same modules in a page without a kernel or network: keys, words, hostile names."""

from __future__ import annotations

import re
import statistics

import pytest

import view_examples
from dpexplain_widgets import Explorer
from dpexplain_widgets.export.page import offline_page, state_of
from dpexplain_widgets.state.state import STATE_TRAITS
from page_checks import curve_of, histogram_of, plain, scrub_latency, settle

pytestmark = [pytest.mark.browser, pytest.mark.full]

TWO = view_examples.EPSILONS[:2]


def test_page_asks_nothing_of_the_network(new_page, tmp_path, survey):
    asked = []
    page = new_page()
    page.route("**/*", lambda route: (asked.append(route.request.url), route.continue_()))
    path = tmp_path / "page.html"
    path.write_text(offline_page([state_of(survey, STATE_TRAITS)]), encoding="utf-8")
    page.goto(path.as_uri())
    page.locator(".dpx-plot .dpx-curve-main").first.wait_for()

    assert asked == [path.as_uri()]


def test_page_without_kernel_scrubs_all_epsilons(open_page, survey):
    page = open_page(survey)
    seen = set()
    page.locator(".dpx-scrubber").focus()
    page.keyboard.press("Home")
    for epsilon in ("0.25", "0.5", "1", "2", "4", "8"):
        assert page.locator(".dpx-epsilon").inner_text() == f"ε = {epsilon}"
        seen.add((curve_of(page), tuple(histogram_of(page))))
        page.keyboard.press("ArrowRight")

    assert len(seen) == 6
    assert page.locator(".dpx-epsilon").inner_text() == "NOT PRIVATE — do not publish"
    assert page.locator(".dpx-plot .dpx-curve-main").count() == 0


def test_hostile_names_stay_text(open_page):
    hostile = view_examples.comparison(
        view_examples.hostile_terms(), TWO, title=view_examples.HOSTILE_NAMES[1]
    )
    page = open_page(Explorer(hostile))
    for place in range(page.locator(".dpx-term").count()):
        page.locator(".dpx-term").nth(place).click()
        page.locator(".dpx-plot").focus()
        page.keyboard.press("Home")
        page.locator("summary", has_text="Numbers as a table").click()
    settle(page)

    assert page.evaluate("window.stolen") is None
    strange = ".dpx :is(script, img, b, a, iframe, object, foreignObject), .dpx svg [onload]"
    assert page.locator(strange).count() == 0
    attributes = page.evaluate(
        "Array.from(document.querySelectorAll('.dpx *'), (e) => e.getAttributeNames()).flat()"
    )
    assert not [name for name in attributes if name.startswith("on")]


def test_bins_are_read_by_keys_and_by_pointer(open_page, survey):
    page = open_page(survey)
    plot, readout = page.locator(".dpx-plot"), page.locator(".dpx-readout")
    assert "press arrow keys" in readout.inner_text()

    plot.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    first = readout.inner_text()
    assert "age: 21 – 23 years" in plain(first)
    assert "noisy count" in first
    assert "inside the noise band of ±" in first
    assert "non-private reference: " in first
    assert plot.get_attribute("aria-valuenow") == "2"
    assert "contribution" in plot.get_attribute("aria-valuetext")

    box = plot.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 150)
    assert readout.inner_text() != first
    page.mouse.move(box["x"] + 40, box["y"] - 60)
    assert readout.inner_text() == first


def test_terms_are_chosen_by_click_and_by_arrows(open_page, survey):
    page = open_page(survey)
    heading = page.locator(".dpx-shape h3")
    page.locator(".dpx-term", has_text="occupation").click()
    assert heading.inner_text() == "Shape of occupation"

    names = page.locator(".dpx-term-name").all_inner_texts()
    for key, place in (("Home", 0), ("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1)):
        page.keyboard.press(key)
        assert heading.inner_text() == f"Shape of {names[place]}"
    assert page.locator(".dpx-term[aria-selected=true]").count() == 1


def test_keys_scroll_long_lists_to_what_they_choose(open_page):
    wide = view_examples.comparison(view_examples.wide_terms(40, 40), TWO)
    page = open_page(Explorer(wide, term="group 1"))
    plot = page.locator(".dpx-plot")
    plot.focus()
    page.keyboard.press("End")
    settle(page)
    last = page.locator(".dpx-plot .dpx-column-chosen").bounding_box()
    frame = plot.bounding_box()

    assert frame["y"] <= last["y"]
    assert last["y"] + last["height"] <= frame["y"] + frame["height"] + 1
    assert page.locator(".dpx-terms").evaluate("e => e.scrollHeight > e.clientHeight")


def test_a_pinned_epsilon_stays_while_another_is_read(open_page, survey):
    page = open_page(survey)
    own = curve_of(page)
    page.get_by_role("button", name="Pin ε = 0.5 to compare").click()
    page.locator(".dpx-scrubber").focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.get_by_label("Same axis at every ε").uncheck()
    page.get_by_label("Same axis at every ε").check()

    pinned = page.locator(".dpx-plot .dpx-curve-pinned").first
    assert pinned.get_attribute("d") == own
    assert curve_of(page) != own
    assert "pinned, ε = 0.5" in page.locator(".dpx-legend").inner_text()


def test_another_fit_of_the_same_epsilon_can_be_read(open_page, survey):
    page = open_page(survey)
    before = curve_of(page)
    faint = page.locator(".dpx-plot .dpx-curve-repeat").first.get_attribute("d")
    page.get_by_label("Fit", exact=True).select_option(label="2 of 2")

    assert curve_of(page) == faint
    assert page.locator(".dpx-plot .dpx-curve-repeat").first.get_attribute("d") == before


def test_playing_walks_through_the_private_epsilons_and_stops(open_page, survey):
    page = open_page(survey)
    page.locator(".dpx-scrubber").focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="Play through ε").click()

    page.locator(".dpx-epsilon", has_text="ε = 0.25").wait_for()
    page.locator(".dpx-epsilon", has_text="ε = 0.5").wait_for()
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Play through ε").wait_for()


def test_small_epsilon_is_colored_as_any_other(open_page, survey):
    page = open_page(survey)
    looks = []
    page.locator(".dpx-scrubber").focus()
    for key in ("Home", "End", "ArrowLeft"):
        page.keyboard.press(key)
        looks.append(
            page.evaluate(
                "['.dpx-guarantee', '.dpx-epsilon', '.dpx-handle'].map((selector) => {"
                " const style = getComputedStyle(document.querySelector(selector));"
                " return [style.color, style.borderLeftColor, style.fill]; })"
            )
        )

    smallest, none, largest = looks
    assert smallest == largest
    assert smallest != none


def test_everything_that_can_be_used_has_a_name_and_shows_its_focus(open_page, survey):
    page = open_page(survey)
    names, unseen = [], []
    for _ in range(40):
        page.keyboard.press("Tab")
        name, ring = page.evaluate(
            "() => { const e = document.activeElement; const style = getComputedStyle(e);"
            " const handle = e.querySelector?.('.dpx-handle');"
            " const ring = style.outlineStyle !== 'none' ||"
            "   (handle && getComputedStyle(handle).outlineStyle !== 'none');"
            " const label = e.getAttribute('aria-label') ?? e.labels?.[0]?.textContent ??"
            "   e.textContent; return [e === document.body ? null : label, Boolean(ring)]; }"
        )
        if name is None:
            break
        names.append(name.strip())
        if not ring:
            unseen.append(name)

    assert unseen == []
    assert all(names)
    assert "Privacy parameter epsilon" in names
    assert len(names) >= 10


def test_fits_with_seeded_noise_are_called_not_private_everywhere(open_page):
    page = open_page(Explorer(view_examples.comparison(private=False), term="age"))

    assert page.locator(".dpx-epsilon").inner_text() == "NOT PRIVATE — do not publish"
    assert page.locator(".dpx-watermark").text_content() == "NOT PRIVATE — do not publish"
    assert "non-private model, ε = 1" in page.locator(".dpx-legend").inner_text()
    text = page.locator(".dpx").inner_text().replace("non-private model", "")
    assert "private model" not in text
    assert "NOT PRIVATE" in page.locator(".dpx-sum").first.inner_text()


def test_changes_of_epsilon_are_announced(open_page, survey):
    page = open_page(survey)
    page.locator(".dpx-scrubber").focus()
    page.keyboard.press("ArrowRight")

    status = page.locator("[aria-live=polite]")
    assert status.inner_text() == "ε = 1, reference shown"
    page.keyboard.press("r")
    assert status.inner_text() == "ε = 1, reference hidden"


def test_a_hidden_reference_leaves_no_trace_in_the_picture(open_page, survey):
    page = open_page(survey)
    page.locator(".dpx-scrubber").focus()
    page.keyboard.press("r")
    settle(page)
    hidden = page.locator(".dpx-plot").inner_html()
    without = Explorer(
        view_examples.comparison(n_repeats=2, reference=False), term="age", epsilon_index=1
    )
    other = open_page(without)

    assert strip_ids(other.locator(".dpx-plot").inner_html()) == strip_ids(hidden)


def strip_ids(text: str) -> str:
    return re.sub(r"dpx-(hatch|clip)-\w+", "id", text)


def test_table_shows_the_numbers_of_the_curve(open_page, survey):
    page = open_page(survey)
    page.locator("summary", has_text="Numbers as a table").click()
    table = page.locator(".dpx-shape .dpx-table")
    table.wait_for()
    selection = survey.selection

    assert table.locator("tbody tr").count() == len(selection)
    first = table.locator("tbody tr").first.inner_text().split("\t")
    assert first[0] == selection["bin"][0]
    # Curves of 1 to 10 are kept in steps of a thousandth, and tables show a few digits.
    assert float(first[1].replace("−", "-")) == pytest.approx(
        selection["contribution"][0], rel=5e-3, abs=6e-4
    )


def test_two_explorers_in_one_page_are_independent(open_page, survey):
    other = Explorer(view_examples.comparison(), term="age", epsilon_index=5)
    page = open_page(survey, other)
    page.locator(".dpx-scrubber").first.focus()
    page.keyboard.press("Home")

    assert page.locator(".dpx-epsilon").all_inner_texts() == ["ε = 0.25", "ε = 8"]


def test_scrubbing_a_page_is_measured(open_page, survey, capsys):
    page = open_page(survey)
    page.locator(".dpx-scrubber").focus()
    page.keyboard.press("Home")
    times = scrub_latency(page, page.locator(".dpx-scrubber"), moves=24)

    assert len(times) == 24
    median, slow = statistics.median(times), sorted(times)[22]
    with capsys.disabled():
        print(f"\nscrubbing a page: median {median:.0f} ms, 95th percentile {slow:.0f} ms")
