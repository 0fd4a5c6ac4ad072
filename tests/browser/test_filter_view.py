"""Filters in a page without a kernel: pictures, keys, words, noise and private parts."""

from __future__ import annotations

import statistics

import numpy as np
import pytest

from dpexplain_widgets import Explorer, FilterView
from example_filters import (
    filter_comparison,
    picture_comparison,
    some_pictures,
)
from page_checks import layout_problems, plain, scrub_latency, settle, words_at

pytestmark = [pytest.mark.browser, pytest.mark.full]

RECORDS = [[30, "clerk"], [80, "cook"]]

SCALE = ".dpx-colour-scale .dpx-note"
PIXELS = """canvas => Array.from(
  canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data)"""


@pytest.fixture
def pictures_view():
    return Explorer(
        picture_comparison(), some_pictures(), samples_public=True, filter_class="class 1"
    )


def picture(view, selector):
    """Return the colors of a picture, of shape (n_pixels, 4)."""
    return np.reshape(view.locator(selector).first.evaluate(PIXELS), (-1, 4))


def cell(page, k, column):
    return page.locator(f".dpx-filter-cell[data-class='{k}'][data-column='{column}']")


def test_pictures_have_the_signs_of_the_weights(open_page, pictures_view):
    page = open_page(pictures_view)
    comparison = pictures_view.origin.source.matched()
    for column, epsilon in enumerate(comparison.epsilons):
        bank = comparison.explanations[epsilon][0]
        for k in range(3):
            weights = bank.class_means()[k]
            colors = picture(page, f"[data-class='{k}'][data-column='{column}'] canvas").astype(int)
            sized = np.abs(weights) > 0.05 * np.abs(weights).max()
            blue = colors[:, 2] > colors[:, 0]
            np.testing.assert_array_equal(blue[sized], weights[sized] > 0)


def test_mask_grays_exactly_what_may_be_noise(open_page, pictures_view):
    page = open_page(pictures_view)
    before = picture(page, ".dpx-filter-main .dpx-picture-stage canvas")
    page.get_by_label("Hide weights that may be noise").check()
    settle(page)
    after = picture(page, ".dpx-filter-main .dpx-picture-stage canvas")
    changed = (before != after).any(axis=1)
    comparison = pictures_view.origin.source.matched()
    weights = comparison.explanations[1.0][0].class_mean("class 1")
    np.testing.assert_array_equal(changed, ~weights.above_noise)
    assert "gray pixels: inside 2 standard deviations" in words_at(
        page, ".dpx-colour-scale .dpx-note"
    )

    page.get_by_label("Show", exact=True).select_option("filter")
    settle(page)
    bank = comparison.explanations[1.0][0]
    single = picture(page, ".dpx-filter-main .dpx-picture-stage canvas")
    gray = (single == after[changed][0]).all(axis=1)
    np.testing.assert_array_equal(gray, np.abs(bank.filters[1, 0]) <= 2 * bank.filter_std[1, 0])


def test_class_and_epsilon_are_chosen_in_the_grid_by_pointer_and_keys(open_page, pictures_view):
    page = open_page(pictures_view)
    assert words_at(page, ".dpx-filter-main h4") == "Mean filter of “class 1”, ε = 1"
    cell(page, 2, 0).click()
    assert words_at(page, ".dpx-filter-main h4") == "Mean filter of “class 2”, ε = 0.5"
    assert page.locator(".dpx-epsilon").inner_text() == "ε = 0.5"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    assert words_at(page, ".dpx-filter-main h4") == "Mean filter of “class 1”, ε = 1"
    assert cell(page, 1, 1).get_attribute("aria-selected") == "true"
    assert page.locator(".dpx-filter-cell[tabindex='0']").count() == 1
    label = plain(cell(page, 1, 1).get_attribute("aria-label"))
    assert label.startswith("mean filter of “class 1”, ε = 1, ")
    assert "rise above the noise" in label


def test_contrast_is_taken_against_the_chosen_class(open_page, pictures_view):
    page = open_page(pictures_view)
    page.get_by_label("Show", exact=True).select_option("contrast")
    page.get_by_label("Against", exact=True).select_option("class 2")
    assert words_at(page, ".dpx-filter-main h4") == "“class 1” vs. “class 2”, ε = 1"
    heads = page.locator(".dpx-filter-table tbody th")
    assert ["mean filter" in head for head in heads.all_inner_texts()] == [False, False, True]
    page.get_by_role("slider", name="“").first.focus()
    comparison = pictures_view.origin.source.matched()
    weights = comparison.explanations[1.0][0].contrast("class 1", "class 2").weights
    colors = picture(page, ".dpx-filter-main .dpx-picture-stage canvas").astype(int)
    sized = np.abs(weights) > 0.05 * np.abs(weights).max()
    np.testing.assert_array_equal((colors[:, 2] > colors[:, 0])[sized], weights[sized] > 0)


def test_the_map_at_the_pinned_epsilon_stands_next_to_the_chosen_one(open_page, pictures_view):
    page = open_page(pictures_view)
    page.get_by_label("Show", exact=True).select_option("contrast")
    maps = page.locator(".dpx-filter-main > .dpx-map:visible")
    assert maps.count() == 1
    page.get_by_role("button", name="Pin ε = 1").click()
    cell(page, 1, 0).click()
    settle(page)
    titles = [plain(text) for text in maps.locator("h4").all_inner_texts()]
    pair = [f"“class 1” vs. “class 0”, ε = {epsilon}" for epsilon in ("0.5", "1")]
    assert titles == [*pair, "Difference: ε = 0.5 minus ε = 1"]
    for place, column in enumerate((0, 1)):
        shown = maps.nth(place).locator("canvas").evaluate(PIXELS)
        assert shown == cell(page, 1, column).locator("canvas").evaluate(PIXELS)
    assert layout_problems(page) == []


def test_weights_are_read_by_keys_and_by_pointer(open_page, pictures_view):
    page = open_page(pictures_view)
    stage = page.locator(".dpx-filter-main .dpx-picture-stage").first
    assert "to read a weight" in words_at(page, ".dpx-filter-main .dpx-readout")
    stage.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    read = words_at(page, ".dpx-filter-main .dpx-readout")
    assert read.startswith("pixel 1, 1: weight ")
    assert "standard deviations of privacy noise: " in read
    assert stage.get_attribute("aria-valuenow") == "8"
    assert plain(stage.get_attribute("aria-valuetext")) == read
    box = stage.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.95, box["y"] + box["height"] * 0.95)
    assert words_at(page, ".dpx-filter-main .dpx-readout").startswith("pixel 5, 5: weight ")


def test_filters_are_listed_by_signal_to_noise_and_chosen_by_keys(open_page, pictures_view):
    page = open_page(pictures_view)
    bank = pictures_view.origin.source.matched().explanations[1.0][0]
    order = np.argsort(-bank.signal_to_noise()[1], kind="stable")
    names = page.locator(".dpx-filter-list .dpx-tile-words").all_inner_texts()
    assert [name.split(" ")[0] for name in names] == [f"#{m}" for m in order]
    page.get_by_label("Highest signal-to-noise first").uncheck()
    names = page.locator(".dpx-filter-list .dpx-tile-words").all_inner_texts()
    assert [name.split(" ")[0] for name in names] == ["#0", "#1", "#2", "#3"]
    page.locator(".dpx-filter-list .dpx-filter-tile").nth(1).click()
    assert words_at(page, ".dpx-filter-main h4") == "Filter 1 of “class 1”, ε = 1"
    page.locator(".dpx-filter-list .dpx-filter-tile").nth(1).focus()
    page.keyboard.press("ArrowDown")
    assert words_at(page, ".dpx-filter-main h4") == "Filter 2 of “class 1”, ε = 1"
    assert page.locator(".dpx-filter-list [aria-selected=true]").count() == 1


def shown_weights(page):
    page.locator("summary", has_text="Weights as a table").click()
    rows = page.locator(".dpx-filter > details .dpx-table tbody tr")
    rows.nth(35).wait_for()
    cells = rows.evaluate_all("rows => rows.map(row => [...row.cells].map(c => c.textContent))")
    return (
        np.array([float(row[1].replace("−", "-")) for row in cells]),
        np.array([row[3] == "above noise" for row in cells]),
    )


def test_two_filters_of_any_classes_are_compared(open_page, pictures_view):
    page = open_page(pictures_view)
    page.get_by_label("Show", exact=True).select_option("filter")
    tiles = page.locator(".dpx-filter-list .dpx-filter-tile")
    page.locator(".dpx-filter-list [data-filter='2']").click()
    page.locator(".dpx-filter-list [data-filter='0']").click(modifiers=["Control"])
    heading = "Filter 2 of “class 1” against filter 0 of “class 1”, ε = 1"
    assert words_at(page, ".dpx-filter-main h4") == heading
    assert "vs. #0" in " ".join(tiles.all_inner_texts())
    page.get_by_label("Against", exact=True).select_option("class 2")
    page.get_by_label("Against filter", exact=True).select_option("3")
    heading = "Filter 2 of “class 1” against filter 3 of “class 2”, ε = 1"
    assert words_at(page, ".dpx-filter-main h4") == heading
    bank = pictures_view.origin.source.matched().explanations[1.0][0]
    wanted = bank.contrast("class 1", "class 2", place=2, against_place=3)
    weights, above = shown_weights(page)
    largest = np.abs(bank.filters).max()
    np.testing.assert_allclose(weights, wanted.weights, atol=largest / 100)
    assert not np.any(above & ~wanted.above_noise)  # rounding never adds a mark
    assert above.sum() >= wanted.above_noise.sum() / 2
    page.locator(".dpx-filter-list .dpx-filter-tile[aria-selected=true]").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("c")
    assert "against" not in words_at(page, ".dpx-filter-main h4")  # never with itself
    page.get_by_label("Against filter", exact=True).select_option(label="none")
    assert not page.get_by_label("Against", exact=True).is_visible()


def test_a_pinned_fit_is_subtracted_from_the_selected_one(open_page, pictures_view):
    page = open_page(pictures_view)
    page.get_by_role("button", name="Pin ε = 1").click()
    cell(page, 1, 2).click()
    settle(page)
    maps = page.locator(".dpx-filter-main > .dpx-map")
    comparison = pictures_view.origin.source.matched()
    there, here = (comparison.explanations[epsilon][0] for epsilon in comparison.epsilons[1:3])
    heading = plain(maps.nth(2).locator("h4").inner_text())
    assert heading == "Difference: ε = {:g} minus ε = {:g}".format(
        *reversed(comparison.epsilons[1:3])
    )
    change = here.class_mean("class 1").weights - there.class_mean("class 1").weights
    colors = np.reshape(maps.nth(2).locator("canvas").evaluate(PIXELS), (-1, 4)).astype(int)
    sized = np.abs(change) > 0.1 * np.abs(here.class_means()).max()
    np.testing.assert_array_equal((colors[:, 2] > colors[:, 0])[sized], change[sized] > 0)
    stds = [bank.class_mean("class 1").noise_std[0] for bank in (here, there)]
    stage = maps.nth(2).locator(".dpx-picture-stage")
    box = stage.bounding_box()
    page.mouse.move(box["x"] + 3, box["y"] + 3)
    read = plain(maps.nth(2).locator(".dpx-readout").inner_text())
    ratio = float(read.split(", ")[-1].split(" standard")[0])
    assert ratio == pytest.approx(abs(change[0]) / np.hypot(*stds), rel=0.02)


def test_sample_is_explained_as_python_explains_it(open_page, pictures_view):
    page = open_page(pictures_view)
    page.get_by_label("Sample", exact=True).select_option("2")
    bank = pictures_view.origin.source.matched().explanations[1.0][0]
    explanation = bank.explain(bank.inputs(some_pictures()))
    best = explanation.predicted[2]
    k = list(bank.classes).index(best)  # the page explains the predicted class
    text = words_at(page, ".dpx-filter-sample .dpx-sentence")
    assert text.startswith(f"Predicted “{best}” (")
    shown = float(text.split("(")[1].split("%")[0].lstrip("<>"))
    assert shown == pytest.approx(100 * explanation.predictions[2].max(), rel=6e-3)
    contributions = explanation.contributions[2, k]
    colors = picture(page, ".dpx-filter-sample [role=slider] canvas").astype(int)
    sized = np.abs(contributions) > 0.05 * np.abs(contributions).max()
    blue = (colors[:, 2] > colors[:, 0])[sized]
    np.testing.assert_array_equal(blue, contributions[sized] > 0)
    shares = page.locator(".dpx-filter-sample [role=img] rect title").all_text_contents()
    largest = int(
        np.argmax([float(each.split(": ")[1].split("%")[0].lstrip("<>")) for each in shares])
    )
    assert largest == explanation.top_filters[2, k]


def test_samples_that_are_not_public_are_called_so(open_page):
    view = Explorer(picture_comparison(), some_pictures())
    page = open_page(view)
    assert "not marked as public" in words_at(page, ".dpx-filter-sample")
    public = open_page(Explorer(picture_comparison(), some_pictures(), samples_public=True))
    assert "not marked as public" not in words_at(public, ".dpx")


def test_reference_is_called_not_releasable_and_hidden_by_a_key(open_page, pictures_view):
    page = open_page(pictures_view)
    assert page.locator(".dpx-filter-cell.dpx-filter-reference").count() == 3
    assert "not releasable" in words_at(page, ".dpx-filter-table")
    scale = words_at(page, SCALE)
    cell(page, 0, 3).click()
    assert words_at(page, ".dpx-filter-main .dpx-picture-warning") == (
        "non-private reference: not releasable"
    )
    page.keyboard.press("r")
    settle(page)
    assert page.locator(".dpx-filter-reference").count() == 0
    assert "not releasable" not in words_at(page, ".dpx-filter")
    alone = open_page(Explorer(picture_comparison(reference=False), filter_class="class 1"))
    assert words_at(alone, ".dpx-colour-scale .dpx-note") == words_at(
        page, ".dpx-colour-scale .dpx-note"
    )
    assert scale


def test_tables_are_drawn_as_signed_strips(open_page):
    comparison = filter_comparison()
    page = open_page(Explorer(comparison, RECORDS, samples_public=True))
    bank = comparison.matched().explanations[0.5][0]
    strip = cell(page, 0, 0).locator("rect")
    classes = strip.evaluate_all("bars => bars.map((bar) => bar.getAttribute('class'))")
    signs = [int("positive" in each) for each in classes]
    np.testing.assert_array_equal(signs, bank.class_means()[0] >= 0)
    rows = words_at(page, ".dpx-filter-main .dpx-picture-rows")
    assert "job=clerk" in rows
    stage = page.locator(".dpx-filter-main .dpx-picture-stage").first
    stage.focus()
    page.keyboard.press("End")
    assert words_at(page, ".dpx-filter-main .dpx-readout").startswith("job=cook: weight ")
    page.get_by_label("Fit", exact=True).select_option(label="2 of 2")
    other = comparison.matched().explanations[0.5][1].class_means()[0]
    classes = strip.evaluate_all("bars => bars.map((bar) => bar.getAttribute('class'))")
    np.testing.assert_array_equal([int("positive" in each) for each in classes], other >= 0)


def test_table_lists_the_weights_of_the_map(open_page, pictures_view):
    page = open_page(pictures_view)
    page.locator("summary", has_text="Weights as a table").click()
    rows = page.locator(".dpx-filter > details .dpx-table tbody tr")
    rows.nth(35).wait_for()
    assert rows.count() == 36
    weights = pictures_view.selection["weight"]
    shown = rows.nth(4).inner_text().split("\t")
    assert plain(shown[0]) == "pixel 0, 4"
    assert float(shown[1].replace("−", "-")) == pytest.approx(weights[4], rel=6e-3)


def test_hostile_names_of_filters_stay_text(open_page):
    import view_examples
    from example_filters import filter_bank

    hostile = view_examples.HOSTILE_NAMES
    bank = filter_bank(
        classes=hostile[:3],
        input_names=hostile[3:7],
        preparation=None,
        target_name=hostile[1],
        model_name=hostile[0],
    )
    page = open_page(FilterView(bank))
    page.locator("summary", has_text="Weights as a table").click()
    page.locator(".dpx-filter-main .dpx-picture-stage").first.focus()
    page.keyboard.press("Home")
    settle(page)
    assert page.evaluate("window.stolen") is None
    strange = ".dpx :is(script, img, b, a, iframe, object, foreignObject), .dpx [onload]"
    assert page.locator(strange).count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 760, 480])
def test_filters_are_laid_out_without_cut_or_touching_labels(
    open_page, pictures_view, pictures, width, scheme
):
    table = Explorer(filter_comparison(), RECORDS, samples_public=True)
    page = open_page(pictures_view, table, width=width, color_scheme=scheme)
    page.get_by_label("Hide weights that may be noise").first.check()
    settle(page)
    assert layout_problems(page) == []
    page.locator(".dpx").first.screenshot(path=pictures / f"filters-{scheme}-{width}.png")
    page.locator(".dpx").nth(1).screenshot(path=pictures / f"strips-{scheme}-{width}.png")


def test_colors_of_pictures_follow_the_theme(new_page, open_page, pictures_view):
    page = open_page(pictures_view)
    light = picture(page, ".dpx-filter-main .dpx-picture-stage canvas")
    page.emulate_media(color_scheme="dark")
    page.locator(".dpx[data-theme=dark]").wait_for()
    settle(page)
    dark = picture(page, ".dpx-filter-main .dpx-picture-stage canvas")
    assert light[:, :3].mean() > 128 > dark[:, :3].mean()


def test_view_alone_has_its_own_choice_of_epsilon(new_page, tmp_path):
    view = FilterView(picture_comparison())
    path = view.export_html(tmp_path / "filters.html")
    page = new_page(offline=True)
    page.goto(path.as_uri())
    page.locator(".dpx-filter canvas").first.wait_for()
    page.get_by_label("ε", exact=True).select_option("0")
    assert words_at(page, ".dpx-filter-main h4").endswith("ε = 0.5")
    assert page.locator(".dpx-filter-sample").is_hidden()


def test_scrubbing_ten_classes_of_thirty_filters_is_measured(open_page, capsys):
    comparison = picture_comparison(10, 30, 28, (0.5, 1.0, 2.0, 4.0, 8.0))
    choices = {"shown_map": "filter", "filter_class": "class 0"}
    view = Explorer(comparison, some_pictures(4, 28), samples_public=True, **choices)
    page = open_page(view)
    page.locator(".dpx-scrubber").focus()
    page.keyboard.press("Home")
    times = scrub_latency(page, page.locator(".dpx-scrubber"), moves=24)

    assert len(times) == 24
    assert words_at(page, ".dpx-filter-main h4").startswith("Filter 0 of “class 0”, ε = ")
    median, slow = statistics.median(times), sorted(times)[22]
    with capsys.disabled():
        print(
            f"\nscrubbing 10 x 30 filters of 28 x 28, {len(view.filter_arrays) / 2**20:.1f} MiB: "
            f"median {median:.0f} ms, 95th percentile {slow:.0f} ms"
        )
