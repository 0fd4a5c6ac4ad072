"""Every task of docs/tasks.md is answered by what the screen says."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import view_examples
from dpexplain_widgets import Explorer
from page_checks import settle, words_at

pytestmark = [pytest.mark.browser, pytest.mark.full]

DOCUMENT = Path(__file__).parents[2] / "docs" / "tasks.md"
ROW = re.compile(r"^\| (\d+) \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
ANSWERS = {int(n): answer for n, _, _, answer in ROW.findall(DOCUMENT.read_text("utf-8"))}


@pytest.fixture
def page(open_page):
    source = view_examples.comparison(joint=True)
    return open_page(Explorer(source, term="age", epsilon_index=1))


def scrub(page, *keys: str) -> None:
    page.locator(".dpx-scrubber").focus()
    for key in keys:
        page.keyboard.press(key)
    settle(page)


def read_bin(page, label: str) -> str:
    """Walk with the arrow keys until the bin is read."""
    page.locator(".dpx-plot").focus()
    page.keyboard.press("Home")
    for _ in range(40):
        if label in words_at(page, ".dpx-readout-title"):
            return words_at(page, ".dpx-readout")
        page.keyboard.press("ArrowRight")
    raise AssertionError(f"no bin {label}")


def reliable_terms(page) -> str:
    page.get_by_label("Above noise only").check()
    settle(page)
    return ", ".join(page.locator(".dpx-term-name").all_inner_texts())


def at_quarter(page) -> str:
    scrub(page, "Home")
    return words_at(page, ".dpx-overview")


def place_at_one(page) -> str:
    scrub(page, "ArrowRight")
    row = page.locator(".dpx-term", has_text="rating of the marriage").first
    return " ".join(row.inner_text().split())


def promise(page) -> str:
    page.locator("summary", has_text="Guarantee and noise").click()
    return words_at(page, ".dpx-overview-more")


def needed(page) -> str:
    page.locator("summary", has_text="Every term").click()
    row = page.locator(".dpx-planner tr", has_text="education")
    return " ".join(row.inner_text().split())


def safe_picture(page, tmp_path) -> str:
    scrub(page, "r")
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG", exact=True).click()
    path = tmp_path / "picture.svg"
    download.value.save_as(path)
    text = "".join(ElementTree.parse(path).getroot().itertext())
    assert "reference" not in text
    assert "not releasable" not in text
    return f"{download.value.suggested_filename} {words_at(page, '.dpx-save')}"


LOOK = {
    1: lambda page: words_at(page, ".dpx-overview"),
    2: reliable_terms,
    3: lambda page: read_bin(page, "69 – 71"),
    4: lambda page: read_bin(page, "81 – 83"),
    5: promise,
    6: lambda page: words_at(page, ".dpx-ledger"),
    7: lambda page: words_at(page, ".dpx-ledger"),
    8: at_quarter,
    9: place_at_one,
    10: lambda page: words_at(page, ".dpx-metrics"),
    11: needed,
}


def test_there_are_twelve_tasks():
    assert sorted(ANSWERS) == list(range(1, 13))
    assert set(LOOK) | {12} == set(ANSWERS)


@pytest.mark.parametrize("task", sorted(LOOK))
def test_the_screen_answers_the_task(page, task):
    assert ANSWERS[task] in LOOK[task](page)


def test_a_picture_without_the_reference_is_one_key_and_one_button_away(page, tmp_path):
    assert ANSWERS[12] in safe_picture(page, tmp_path)
