"""Every question "Can I say this?" of docs/tasks.md is answered in at most three interactions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import example_filters
import view_examples
from dpexplain_widgets import Explorer
from page_checks import layout_problems, plain, settle, words_at
from pair_examples import swept

pytestmark = [pytest.mark.browser, pytest.mark.full]

DOCUMENT = Path(__file__).parents[2] / "docs" / "tasks.md"
ROW = re.compile(r"^\| ([A-Z]{1,2}) \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
ANSWERS = {name: answer for name, _, _, answer in ROW.findall(DOCUMENT.read_text("utf-8"))}
MOST = 3


class Reader:
    """Someone at the page, whose interactions are counted; looking and pointing are free."""

    def __init__(self, page):
        self.page = page
        self.count = 0

    def click(self, place, **options):
        self.count += 1
        place.click(**options)
        settle(self.page)

    def ask(self, text):
        self.count += 1
        self.page.get_by_label("Ask", exact=True).select_option(label=text)
        settle(self.page)

    def term(self, name):
        self.click(self.page.locator(".dpx-terms").get_by_text(name, exact=True).first)

    def drag(self, first, last):
        (x, y), (to, _) = self.bin(first), self.bin(last)
        self.stroke((x, y), (to, y))

    def stroke(self, start, end):
        self.count += 1
        self.page.mouse.move(*start)
        self.page.mouse.down()
        self.page.mouse.move(*end, steps=5)
        self.page.mouse.up()
        settle(self.page)

    def bin(self, label):
        """Where the pointer reads a bin of the curve."""
        box = self.page.locator(".dpx-shape .dpx-plot").bounding_box()
        for x in range(int(box["x"]) + 40, int(box["x"] + box["width"]), 8):
            self.page.mouse.move(x, box["y"] + 100)
            settle(self.page)
            if label in said(self.page, ".dpx-readout-title"):
                return x, box["y"] + 100
        raise AssertionError(f"no bin {label}")

    def cell(self, row, column, **options):
        """Click a cell of the grid of 6 by 4; its first row is at the bottom."""
        box = self.page.locator(".dpx-plot image").bounding_box()
        at = {"x": (column + 0.5) * box["width"] / 4, "y": (5.5 - row) * box["height"] / 6}
        self.click(self.page.locator(".dpx-plot image"), position=at, **options)

    def people(self, column):
        self.click(self.page.get_by_role("tab", name="One sample"))
        self.click(self.page.get_by_text("All samples: which decisions are certain?"))
        self.click(self.page.locator(".dpx-people").get_by_role("button", name=column))


def said(page, place=".dpx-claim") -> str:
    return words_at(page, place)


def where_it_is_highest(reader):
    reader.ask("where it is highest")
    return said(reader.page)


def highest_between_two_ages(reader):
    reader.drag("42 – 44", "66 – 68")
    reader.ask("where it is highest")
    return said(reader.page)


def two_age_groups(reader):
    reader.drag("24 – 26", "33 – 35")
    reader.page.keyboard.down("Control")
    reader.drag("48 – 50", "60 – 62")
    reader.page.keyboard.up("Control")
    return said(reader.page)


def lowest_occupation(reader):
    reader.term("occupation")
    reader.ask("where it is lowest")
    return said(reader.page)


def youngest_without_children(reader):
    reader.term("age & children")
    reader.cell(0, 0)
    return said(reader.page)


def youngest_and_oldest(reader):
    reader.term("age & children")
    reader.cell(0, 0)
    reader.cell(4, 0, modifiers=["Control"])
    return said(reader.page)


def least_certain(reader):
    reader.people("certainty")
    return said(reader.page, ".dpx-people tbody tr")


def most_fickle(reader):
    reader.people("same in fits")
    return said(reader.page, ".dpx-people tbody tr")


def person_three(reader):
    reader.click(reader.page.get_by_role("tab", name="One sample"))
    reader.count += 1
    reader.page.get_by_label("Sample", exact=True).select_option("3")
    settle(reader.page)
    return said(reader.page)


def patients(reader):
    reader.click(reader.page.get_by_role("tab", name="One sample"))
    reader.click(reader.page.get_by_text("All samples: which decisions are certain?"))
    return said(reader.page, ".dpx-local details:has(.dpx-people)")


def credit(reader):
    reader.count += 1
    reader.page.get_by_label("AUROC target:").fill("0.73")
    reader.page.keyboard.press("Enter")
    settle(reader.page)
    return said(reader.page, ".dpx-plan-metric")


def pictures_of_two_classes(reader):
    reader.count += 1
    reader.page.get_by_label("Show", exact=True).select_option("contrast")
    settle(reader.page)
    box = reader.page.locator(".dpx-filter-main .dpx-picture-stage").first.bounding_box()
    reader.stroke((box["x"] + 60, box["y"] + 60), (box["x"] + 200, box["y"] + 150))
    return said(reader.page)


def twenty_years_older(reader):
    reader.click(reader.page.get_by_role("tab", name="One sample"))
    reader.count += 1
    reader.page.get_by_label("Sample", exact=True).select_option("3")
    reader.count += 1
    reader.page.get_by_label("age", exact=True).fill("60")
    settle(reader.page)
    return said(reader.page, ".dpx-local-sum")


def happy_and_unhappy(reader):
    reader.term("rating of the marriage")
    rating = reader.page.locator(".dpx-shape .dpx-plot text")
    reader.click(rating.filter(has_text="very poor"), force=True)
    reader.click(rating.filter(has_text="very good"), force=True, modifiers=["Control"])
    return said(reader.page)


def first_age_above(reader):
    reader.click(reader.page.get_by_text("Numbers as a table").first)
    rows = reader.page.locator(".dpx-shape .dpx-table tbody tr").all_inner_texts()
    cells = [plain(row).split("\t") for row in rows]
    return next(age for age, size, _, mark, *_ in cells if mark == "signal" and size[0] == "+")


def two_regions(reader):
    reader.term("age & children")
    box = reader.page.locator(".dpx-plot image").bounding_box()

    def at(row, column):
        x = box["x"] + (column + 0.5) * box["width"] / 4
        return x, box["y"] + (5.5 - row) * box["height"] / 6

    reader.stroke(at(0, 0), at(1, 0))
    reader.page.keyboard.down("Control")
    reader.stroke(at(3, 0), at(4, 0))
    reader.page.keyboard.up("Control")
    return said(reader.page)


def where_the_pair_is(reader):
    reader.term("age & children")
    return said(reader.page, ".dpx-plan-term")


def ratings_in_the_noise(reader):
    reader.term("rating of the marriage")
    return said(reader.page, ".dpx-shape .dpx-legend")


def age_of_person_three(reader):
    person_three(reader)
    return said(reader.page, ".dpx-waterfall")


def patients_at_a_lower_threshold(reader):
    patients(reader)
    reader.count += 1
    reader.page.get_by_label("Threshold", exact=True).fill("0.3")
    reader.page.keyboard.press("Enter")
    settle(reader.page)
    return said(reader.page, ".dpx-local details:has(.dpx-people)")


def largest_cell(reader):
    reader.term("age & children")
    reader.click(reader.page.get_by_text("Numbers as a table").first)
    reader.click(reader.page.locator(".dpx-shape .dpx-table").get_by_role("button", name="contrib"))
    return said(reader.page, ".dpx-shape .dpx-table tbody tr")


def rank_of_education(reader):
    reader.term("education")
    return said(reader.page)


def noise_in_curves(reader):
    reader.click(reader.page.get_by_text("Every ε", exact=True))
    return said(reader.page, ".dpx-planner")


def ages_compared(reader):
    for age, keys in (("30 – 32", []), ("60 – 62", ["Control"])):
        x, y = reader.bin(age)
        box = reader.page.locator(".dpx-shape .dpx-plot").bounding_box()
        at = {"x": x - box["x"], "y": y - box["y"]}
        reader.click(reader.page.locator(".dpx-shape .dpx-plot"), position=at, modifiers=keys)
    return said(reader.page)


def furthest_from_the_reference(reader):
    reader.click(reader.page.get_by_role("tab", name="Disagreement"))
    return said(reader.page, ".dpx-tab-panel")


def records_at_an_age(reader):
    reader.bin("69 – 71")
    return said(reader.page, ".dpx-shape .dpx-readout")


def change_from_one_to_two(reader):
    reader.click(reader.page.get_by_role("button", name="Pin"))
    reader.count += 1
    reader.page.locator(".dpx-scrubber").first.press("ArrowRight")
    return records_at_an_age(reader)


def person_three_at_eight(reader):
    person_three(reader)
    reader.click(reader.page.locator(".dpx-claim-cell").last)
    return said(reader.page)


def possible_ranks(reader):
    return said(reader.page, ".dpx-terms")


def least_certain_rating(reader):
    reader.term("rating of the marriage")
    reader.count += 1
    reader.page.get_by_label("Categories", exact=True).select_option(label="by uncertainty")
    settle(reader.page)
    rows = reader.page.locator(".dpx-shape .dpx-plot text").evaluate_all(
        "texts => texts.map((text) => [text.getBoundingClientRect().y, text.textContent])"
    )
    ratings = ("very poor", "poor", "fair", "good", "very good")
    return min((y, text) for y, text in rows if text in ratings)[1]


def share_of_the_budget(reader):
    reader.click(reader.page.get_by_text("Each model alone", exact=True))
    return said(reader.page, ".dpx-ledger")


def order_without_privacy(reader):
    reader.click(reader.page.get_by_text("Guarantee and noise", exact=True))
    return said(reader.page, ".dpx-overview")


def change_with_epsilon(reader):
    reader.click(reader.page.get_by_role("button", name="Pin"))
    reader.click(reader.page.get_by_role("tab", name="Disagreement"))
    reader.count += 1
    reader.page.get_by_label("Compare with", exact=True).select_option(label="ε = 4")
    settle(reader.page)
    return said(reader.page, ".dpx-tab-panel")


def other_noise(reader):
    reader.click(reader.page.get_by_role("button", name="Replay the noise"))
    return said(reader.page, ".dpx-shape .dpx-legend")


TASKS = {
    "A": (where_it_is_highest, 4.0), "B": (highest_between_two_ages, 4.0),
    "C": (lowest_occupation, 4.0), "D": (youngest_without_children, 4.0),
    "E": (youngest_and_oldest, 4.0), "F": (least_certain, 1.0), "G": (most_fickle, 1.0),
    "H": (person_three, 1.0), "I": (patients, 1.0), "J": (credit, 1.0),
    "K": (pictures_of_two_classes, 2.0), "L": (two_regions, 4.0),
    "M": (twenty_years_older, 1.0), "N": (happy_and_unhappy, 4.0), "O": (first_age_above, 1.0),
    "P": (where_the_pair_is, 4.0), "Q": (ratings_in_the_noise, 0.5),
    "R": (age_of_person_three, 0.5), "S": (noise_in_curves, 2.0),
    "T": (patients_at_a_lower_threshold, 1.0), "U": (largest_cell, 4.0),
    "V": (rank_of_education, 4.0), "W": (ages_compared, 4.0),
    "X": (furthest_from_the_reference, 0.5), "Y": (records_at_an_age, 1.0),
    "Z": (change_from_one_to_two, 1.0), "AA": (person_three_at_eight, 0.5),
    "AB": (possible_ranks, 1.0), "AC": (least_certain_rating, 0.5),
    "AD": (share_of_the_budget, 1.0), "AE": (order_without_privacy, 0.5),
    "AF": (change_with_epsilon, 4.0), "AG": (other_noise, 0.5),
    "AH": (two_age_groups, 4.0),
}  # fmt: skip
WITH_PEOPLE = {*"FGHIMRT", "AA"}


def test_there_are_thirty_four_questions():
    doubled = {f"A{letter}" for letter in "ABCDEFGH"}
    assert set(ANSWERS) == set(TASKS) == {*"ABCDEFGHIJKLMNOPQRSTUVWXYZ", *doubled}


@pytest.mark.parametrize("task", sorted(TASKS))
def test_the_question_is_answered_in_three_interactions(task, open_page, pictures):
    answer, epsilon = TASKS[task]
    source = swept() if task in set("DELPU") else view_examples.comparison(joint=True)
    source = example_filters.picture_comparison(side=8) if task == "K" else source
    people = {"samples": view_examples.survey_people(12), "samples_public": True}
    shown = {} if task == "K" else {"term": "age"}
    view = Explorer(source, **shown, **(people if task in WITH_PEOPLE else {}))
    view.epsilon = epsilon
    page = open_page(view, width=1366)
    reader = Reader(page)
    assert plain(ANSWERS[task]) in answer(reader)
    assert reader.count <= MOST
    page.evaluate("scrollTo(0, 0)")  # below, the bar at the top would be over the rest
    settle(page)
    assert layout_problems(page) == []
    page.screenshot(path=pictures / f"task-{task}.png", full_page=True)
