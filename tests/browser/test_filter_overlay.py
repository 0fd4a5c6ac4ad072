"""The explanation of a sample over its picture: pixels, keys, words, sums and files."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from dpexplain_widgets import Explorer, FilterView
from example_filters import filter_comparison, picture_comparison, some_pictures
from page_checks import plain, settle, words_at

pytestmark = [pytest.mark.browser, pytest.mark.full]

SVG = "{http://www.w3.org/2000/svg}"
PIXELS = """canvas => Array.from(
  canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data)"""

# Colors of the light theme.
POSITIVE, NEGATIVE, ZERO = (0, 114, 178), (160, 125, 0), (255, 255, 255)
PAPER, INK, MASK = (255, 255, 255), (27, 32, 39), (195, 200, 206)


@pytest.fixture
def pictures_view():
    return Explorer(
        picture_comparison(), some_pictures(), samples_public=True, filter_class="class 1"
    )


def stage(page, place=0):
    """Show the picture for the class, and the one that compares it with another."""
    return page.locator(".dpx-filter-sample [role=slider].dpx-picture-stage").nth(place)


def pixels(stage_):
    return np.reshape(stage_.locator("canvas").evaluate(PIXELS), (-1, 4))[:, :3].astype(float)


def fits_of(view):
    comparison = view.origin.source.matched()
    return [comparison.explanations[each][0] for each in comparison.epsilons] + [
        comparison.reference
    ]


def explained(view, column):
    bank = fits_of(view)[column]
    return bank.explain(bank.inputs(some_pictures()))


def scale_end(view, column, n, k):
    """Return the largest contribution at any epsilon, also in comparisons with a rival."""
    scores = explained(view, column).scores[n]
    rival = next(place for place in np.argsort(-scores, kind="stable") if place != k)
    parts = [explained(view, each).contributions[n] for each in range(len(fits_of(view)))]
    return max(np.abs([each[k], each[k] - each[rival]]).max() for each in parts)


def overlay(view, n, k, opacity, *, column=1, read=None, masked=False):
    """Return the colors of contributions over a sample, of shape (n_pixels, 3)."""
    explanation = explained(view, column)
    inputs, values = explanation.inputs[n], explanation.contributions[n, k]
    limit = scale_end(view, column if read is None else read, n, k)
    sample = (inputs - inputs.min()) / np.ptp(inputs)
    below = np.array(PAPER) + sample[:, None] * (np.array(INK, float) - PAPER)
    below += opacity * (np.array(ZERO) - below)
    ends = np.where(values[:, None] < 0, NEGATIVE, POSITIVE)
    share = min(1, 2 * opacity) * np.abs(values[:, None]) / limit
    colors = below + share * (ends - below)
    if not masked:
        return colors
    signal = np.abs(values) > 2 * explanation.contribution_std[n, k]
    return np.where(signal[:, None], colors, below)


def slide(page, opacity):
    slider = page.locator(".dpx-layer-slider")
    slider.fill(str(round(100 * opacity)))
    settle(page)
    return slider


def test_pixels_are_the_sample_under_its_contributions(open_page, pictures_view):
    page = open_page(pictures_view)
    for opacity in (0.5, 0.0, 0.2, 1.0):
        slide(page, opacity)
        np.testing.assert_allclose(
            pixels(stage(page)), overlay(pictures_view, 0, 1, opacity), atol=2.5
        )
    alone = pixels(page.locator(".dpx-sample-input"))
    np.testing.assert_allclose(alone, overlay(pictures_view, 0, 1, 0.0), atol=2.5)


def test_overlay_follows_class_epsilon_and_sample(open_page, pictures_view):
    page = open_page(pictures_view)
    page.get_by_label("Sample", exact=True).select_option("2")  # also selects its class
    page.locator(".dpx-filter-cell[data-class='2'][data-column='0']").click()
    settle(page)
    np.testing.assert_allclose(
        pixels(stage(page)), overlay(pictures_view, 2, 2, 0.5, column=0), atol=2.5
    )
    page.locator(".dpx-scrubber").focus()
    page.keyboard.press("ArrowRight")
    settle(page)
    np.testing.assert_allclose(pixels(stage(page)), overlay(pictures_view, 2, 2, 0.5), atol=2.5)


def test_every_epsilon_and_the_reference_stand_beside_each_other(open_page, pictures_view):
    page = open_page(pictures_view)
    tiles = page.locator(".dpx-filter-epsilons [role=option]")
    assert tiles.count() == 4
    for column in range(4):
        expected = overlay(pictures_view, 0, 1, 0.5, column=column, read=1)
        np.testing.assert_allclose(pixels(tiles.nth(column)), expected, atol=2.5)
    assert tiles.nth(3).get_attribute("aria-label").startswith("non-private, probability ")
    assert tiles.nth(3).get_attribute("aria-label").endswith("not releasable")
    tiles.nth(2).click()
    assert words_at(page, ".dpx-filter-main h4") == "Mean filter of “class 1”, ε = 2"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    settle(page)
    assert words_at(page, ".dpx-filter-main h4") == "Mean filter of “class 1”, ε = 0.5"
    assert tiles.nth(0).get_attribute("aria-selected") == "true"
    share = float(tiles.nth(0).inner_text().split("P ")[1].lstrip("=<> ").split("%")[0])
    assert share == pytest.approx(100 * explained(pictures_view, 0).predictions[0, 1], rel=0.06)
    page.keyboard.press("r")
    settle(page)
    assert tiles.count() == 3


def test_what_may_be_noise_is_not_drawn_over_the_sample(open_page, pictures_view):
    page = open_page(pictures_view)
    page.get_by_label("Hide weights that may be noise").check()
    settle(page)
    explanation = explained(pictures_view, 1)
    expected = overlay(pictures_view, 0, 1, 0.5, masked=True)
    np.testing.assert_allclose(pixels(stage(page)), expected, atol=2.5)
    slide(page, 1.0)
    gray = (pixels(stage(page)) == MASK).all(axis=1)
    noisy = np.abs(explanation.contributions[0, 1]) <= 2 * explanation.contribution_std[0, 1]
    assert 0 < noisy.sum() < len(noisy)
    np.testing.assert_array_equal(gray, noisy)


def test_opacity_is_set_by_keys_and_said_in_words(open_page, pictures_view):
    page = open_page(pictures_view)
    slider = page.locator(".dpx-layer-slider")
    slider.focus()
    for key, said in (
        ("Home", "0%: sample alone"),
        ("ArrowRight", "5%: contributions over the sample"),
        ("End", "100%: contributions alone"),
        ("ArrowLeft", "95%: contributions over the sample"),
    ):
        page.keyboard.press(key)
        settle(page)
        assert slider.get_attribute("aria-valuetext") == said
    label = plain(stage(page).get_attribute("aria-label"))
    assert label.startswith("Evidence for “class 1”, contributions over the sample, ")
    best = explained(pictures_view, 1).contributions[0, 1].argmax()
    assert f"most in favor: pixel {best // 6}, {best % 6} +" in label
    assert "of the contributions rise above the noise" in label
    sample = plain(page.locator(".dpx-sample-input").get_attribute("aria-label"))
    assert sample.startswith("sample 0, in gray: inputs from -")


def numbers(text):
    return [float(each.replace("−", "-")) for each in re.findall(r"[+−]?\d+(?:\.\d+)?", text)]


@pytest.mark.parametrize("make", [picture_comparison, filter_comparison])
def test_what_is_written_adds_up_to_the_score(open_page, make):
    records = some_pictures() if make is picture_comparison else [[30, "clerk"], [80, "cook"]]
    comparison = make()
    first = comparison.classes[0]
    view = Explorer(comparison, records, samples_public=True, filter_class=first)
    page = open_page(view)
    bank = view.origin.source.matched().explanations[view.epsilon][0]
    explanation = bank.explain(bank.inputs(records))
    rival = np.argsort(-explanation.scores[0])
    rival = int(next(place for place in rival if place != 0))
    for place, (scores, rests, parts) in enumerate((
        (explanation.scores[0, 0], explanation.bias_part[0, 0], explanation.contributions[0, 0]),
        (
            explanation.scores[0, 0] - explanation.scores[0, rival],
            explanation.bias_part[0, 0] - explanation.bias_part[0, rival],
            explanation.contributions[0, 0] - explanation.contributions[0, rival],
        ),
    )):  # fmt: skip
        note = page.locator(".dpx-filter-sample .dpx-map-note").nth(place)
        text = re.sub("“[^”]*”", "", note.inner_text())
        up, down, total, rest, score, *_ = numbers(text)
        assert total + rest == pytest.approx(score, abs=1e-9)
        assert up + down == pytest.approx(total, abs=1e-9)
        unit = 10 ** (np.floor(np.log10(max(map(abs, (up, down, rest, score))))) - 2)
        exact = (parts[parts > 0].sum(), parts[parts < 0].sum(), parts.sum(), rests, scores)
        np.testing.assert_allclose((up, down, total, rest, score), exact, atol=1.6 * unit)


def test_rows_of_a_table_hold_the_values_of_the_sample(open_page):
    page = open_page(
        Explorer(filter_comparison(), [[30, "clerk"], [80, "cook"]], samples_public=True)
    )
    assert page.locator(".dpx-layer-slider").is_hidden()
    cells = page.locator(".dpx-filter-sample .dpx-picture-rows").first.locator(".dpx-row-cell")
    assert cells.all_text_contents() == ["30", "no", "yes", "no"]
    page.get_by_label("Sample", exact=True).select_option("1")
    settle(page)
    assert cells.all_text_contents() == ["80", "no", "no", "yes"]
    stage(page).focus()
    page.keyboard.press("Home")
    settle(page)
    assert words_at(page, ".dpx-filter-sample .dpx-readout").startswith("age (80): contribution ")


def save(page, folder, what, ending):
    page.locator(".dpx-save").hover()
    page.get_by_label("Save", exact=True).select_option(label=what)
    with page.expect_download() as download:
        page.get_by_role("button", name=ending, exact=True).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_saved_picture_holds_the_overlay_as_it_is_drawn(open_page, pictures_view, tmp_path):
    pictures_view.show_reference = False
    page = open_page(pictures_view)
    path = save(page, tmp_path, "One sample", "SVG")
    root = ElementTree.parse(path).getroot()
    assert len(list(root.iter(f"{SVG}image"))) == 6  # the sample, two maps, three epsilons
    text = " ".join("".join(each.itertext()) for each in root.iter(f"{SVG}text"))
    assert "add up to" in text
    assert "not releasable" not in text
    with Image.open(save(page, tmp_path, "One sample", "PNG")) as image:
        colors = np.asarray(image.convert("RGB")).reshape(-1, 3)
    shown = {tuple(each) for each in pixels(stage(page)).astype(int).tolist()}
    found = set(map(tuple, colors.tolist()))
    assert len(shown) > 10
    assert shown <= found
    table = pd.read_csv(save(page, tmp_path, "One sample", "CSV"))
    assert table["input"].tolist()[-2:] == ["bias", "score"]
    parts = table["contribution"].to_numpy()
    assert parts[:-1].sum() == pytest.approx(parts[-1], abs=0.02)
    weights = pd.read_csv(save(page, tmp_path, "Filters", "CSV"))
    assert weights.columns[:2].tolist() == ["input", "weight"]
    assert len(weights) == 36


def test_saved_picture_of_a_sample_that_is_not_public_is_watermarked(open_page, tmp_path):
    page = open_page(Explorer(picture_comparison(reference=False), some_pictures()))
    for what in ("Filters", "One sample"):
        text = save(page, tmp_path, what, "SVG").read_text(encoding="utf-8")
        assert "<desc>not releasable. " in text
        table = pd.read_csv(save(page, tmp_path, what, "CSV"))
        assert table["guarantee"].str.startswith("not releasable. ").all()


def test_released_page_draws_public_samples_only(new_page, tmp_path):
    for public, name in ((True, "open.html"), (False, "closed.html")):
        view = FilterView(
            picture_comparison(), some_pictures(), samples_public=public, contribution_opacity=1.0
        )
        page = new_page(offline=True)
        page.goto(view.export_html(tmp_path / name).as_uri())
        page.locator(".dpx-filter canvas").first.wait_for()
        assert page.locator(".dpx-filter-sample").is_visible() == public
        if public:
            slider = page.locator(".dpx-layer-slider")
            assert slider.input_value() == "100"
            assert len(np.unique(pixels(stage(page)), axis=0)) > 10
