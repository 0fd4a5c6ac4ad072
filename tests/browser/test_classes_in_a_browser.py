"""One Explorer of a model with three classes: the switch, the axis, probabilities and the cost."""

from __future__ import annotations

import functools
import re

import numpy as np
import pandas as pd
import pytest

from dpexplain.compare import MulticlassComparison, sweep
from dpexplain.explain import claim, decisions
from dpexplain.models import DPExplainableBoostingClassifier
from dpexplain.schema import Categorical, Classes, Numeric, Schema
from dpexplain_widgets import EditView, Explorer
from page_checks import words_of

pytestmark = [pytest.mark.browser, pytest.mark.full]

CLASSES = ("home", "bed", "theatre")
ROWS = pd.DataFrame({"age": [30, 80], "ward": ["A", "B"]})
TABS = ("Shape", "All terms", "Disagreement", "Ranks", "One sample", "Edit")


@functools.cache
def comparison() -> MulticlassComparison:
    """A sweep over two epsilons."""
    features = {"age": Numeric(0, 100, step=1), "ward": Categorical(["A", "B"])}
    schema = Schema(features, target=Classes(list(CLASSES), name="triage"))
    rng = np.random.default_rng(8)
    X = pd.DataFrame({"age": rng.integers(0, 100, 600), "ward": rng.choice(["A", "B"], 600)})
    y = np.array(CLASSES)[np.clip(X["age"] // 40 + (rng.random(600) > 0.7), 0, 2)]
    model = DPExplainableBoostingClassifier(schema=schema, max_rounds=20)
    return sweep(model, X, y, epsilons=(1, 4), evaluate=(X, y), progress=False)


def choose_class(page, name: str) -> None:
    page.get_by_label("Class", exact=True).select_option(label=name)


def test_the_switch_changes_axis_curve_and_planner_but_not_the_cost(open_page, pictures):
    page = open_page(Explorer(comparison(), term="age"))
    cost = page.locator(".dpx-ledger").inner_text()
    curves = set()
    for name in CLASSES:
        choose_class(page, name)
        assert f"log-odds of “{name}” against the average class" in words_of(
            page.locator(".dpx-shape")
        )
        curves.add(page.locator(".dpx-plot .dpx-curve-main").first.get_attribute("d"))
        assert page.locator(".dpx-ledger").inner_text() == cost
    assert len(curves) == 3
    page.get_by_label("Compare with class").select_option(label="home")
    assert "class home, ε = 1" in words_of(page.locator(".dpx-shape .dpx-legend").first)
    page.screenshot(path=pictures / "classes-light.png", full_page=True)


def test_every_tab_draws_every_class_by_keyboard_in_the_dark_and_on_a_phone(open_page, pictures):
    page = open_page(Explorer(comparison(), term="age"), width=380, color_scheme="dark")
    box = page.get_by_label("Class", exact=True)
    for tab in TABS:
        page.get_by_role("tab", name=tab, exact=True).click()
        for _ in CLASSES[1:]:
            box.focus()
            page.keyboard.press("ArrowDown")
        assert box.input_value() == "theatre"
        assert page.evaluate("document.documentElement.scrollWidth") <= 380
        choose_class(page, "home")
    page.screenshot(path=pictures / "classes-narrow-dark.png", full_page=True)


def test_the_editor_alone_shows_every_class_and_edits_all_of_them(open_one):
    page = open_one(EditView(comparison(), term="age"), width=380)
    for name in CLASSES:
        choose_class(page, name)
        assert f"“{name}”" in words_of(page.locator(".dpx-edit-plot"))
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    page.get_by_label("Operation", exact=True).select_option(label="Remove term")
    page.get_by_role("button", name="Apply").click()
    for name in CLASSES:
        choose_class(page, name)
        assert "edited" in words_of(page.locator(".dpx-legend").first)


def test_probabilities_of_the_page_are_those_of_python(open_page, pictures):
    view = Explorer(comparison(), ROWS, samples_public=True, sample=1, tab="local")
    page = open_page(view, width=1366)
    explanation = comparison().explanations[1.0][0]
    wanted = explanation.explain_local(ROWS, samples_public=True)
    for place, name in enumerate(CLASSES):
        choose_class(page, name)
        chance = wanted.predictions[1, place]
        said = words_of(page.locator(".dpx-local-sum"))
        assert said.startswith(f"Probability of “{name}”: ")
        assert float(said.split(": ")[1].split(" ")[0]) == pytest.approx(chance, abs=6e-4)
    likeliest = CLASSES[int(wanted.predictions[1].argmax())]
    predicted = words_of(page.locator(".dpx-local-classes"))
    assert predicted.startswith(f"Predicted “{likeliest}” (0.")
    page.screenshot(path=pictures / "classes-local.png", full_page=True)


@pytest.mark.parametrize("stop", [0, 1])
def test_the_claim_about_the_predicted_class_is_that_of_python(open_page, pictures, stop):
    view = Explorer(comparison(), ROWS, samples_public=True, sample=0, tab="local")
    view.epsilon_index = stop
    page = open_page(view, width=1366)
    fits = [comparison().explanations[epsilon][0] for epsilon in (1.0, 4.0)]
    wanted = [claim(fit, record=ROWS.iloc[[0]], samples_public=True) for fit in fits]
    for name in CLASSES:  # whichever class is shown
        choose_class(page, name)
        said = words_of(page.locator(".dpx-claim-words").first)
        start, end = wanted[stop].words.split(": ")[0], wanted[stop].words.split(";")[1:]
        assert said.startswith(f"{start}: ")  # numbers are rounded in an exported page
        assert f"log-odds against {wanted[stop].second}, 95% between" in said
        assert said.split(";")[1:] == end
    cells = page.locator(".dpx-claim-cell")
    for cell, each in zip(cells.all(), wanted, strict=True):
        same = each.first == wanted[stop].first
        state = ("holds" if same else "reversed") if each.holds else "may-be-noise"
        assert cell.get_attribute("data-state").startswith(state)
    page.screenshot(path=pictures / "classes-claim.png", full_page=True)


def test_all_samples_and_every_epsilon_show_the_predicted_classes_of_python(open_page, pictures):
    view = Explorer(comparison(), ROWS, samples_public=True, sample=0, tab="local")
    page = open_page(view, width=1366)
    page.get_by_text("All samples: which decisions are certain?").click()
    table = decisions(comparison(), ROWS, epsilon=view.epsilon, samples_public=True)
    rows = page.locator(".dpx-people tbody tr")
    rows.nth(len(table) - 1).wait_for()
    for shown, row in zip(rows.all(), table.itertuples(), strict=True):
        cells = [words_of(cell) for cell in shown.locator("td").all()]
        assert float(cells[0]) == pytest.approx(row.prediction, abs=6e-4)
        assert cells[2].removesuffix(", uncertain") == row.decision
        assert cells[2].endswith("uncertain") == (not row.holds)
        assert cells[5] == f"{row.same_fits} of {row.fits}"
    for name in CLASSES:
        choose_class(page, name)
        assert f"Probability of “{name}” at every ε" in words_of(page.locator("body"))
        described = page.locator(".dpx-prediction").get_attribute("aria-label")
        place = list(comparison().classes).index(name)
        for epsilon in (1.0, 4.0):
            fit = comparison().explanations[epsilon][0]
            said = float(re.search(rf"ε = {epsilon:g}: ([0-9.e-]+)", described)[1])
            chance = fit.predict_proba(ROWS.iloc[[0]])[0, place]
            assert said == pytest.approx(chance, abs=6e-4)
    page.screenshot(path=pictures / "classes-people.png", full_page=True)


def test_edits_change_the_probabilities_of_all_classes(open_page):
    choices = {"sample": 1, "samples_public": True, "term": "age", "tab": "edit"}
    page = open_page(Explorer(comparison(), ROWS, **choices), wait=".dpx-edit-plot svg")
    page.get_by_label("Operation", exact=True).select_option("average")
    page.get_by_role("button", name="Apply").click()
    page.get_by_role("tab", name="One sample").click()
    released = words_of(page.locator(".dpx-local-classes"))
    page.get_by_label("Edited", exact=True).check()
    edited = words_of(page.locator(".dpx-local-classes"))

    chances = {name: float(share) for name, share in re.findall(r"“(\w+)” \(?(0\.\d+)", edited)}
    assert edited != released
    assert sum(chances.values()) == pytest.approx(1, abs=2e-3)
    for name in CLASSES:
        choose_class(page, name)
        said = words_of(page.locator(".dpx-local-sum")).split(": ")[1]
        assert float(said.split(" ")[0]) == pytest.approx(chances[name], abs=1e-9)
