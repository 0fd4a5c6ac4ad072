"""Every operation applied in JupyterLab, once by the mouse alone and once by the keyboard alone.

Nothing here sets a value, focuses an element or sends an event from a script: what a hand does is
what the browser gets. The applied curve is compared with that of the same operation in Python.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import dpexplain.edit
import dpexplain.io
from dpexplain.edit import (
    Align,
    Composed,
    Convex,
    Denoise,
    Flatten,
    Interpolate,
    Merge,
    Monotone,
    Operation,
    Recover,
    Remove,
    Revert,
    Scale,
    Set,
    Shift,
    Smooth,
    Stretch,
    operation_from_plain,
    repair,
)
from jupyter_lab import evaluate_in_kernel, open_notebook, run_all_cells, wait_for_kernel
from page_checks import settle

pytestmark = pytest.mark.browser

TYPED = 0.25


@dataclass(frozen=True)
class Try:
    """An entry of the menu, what it is in Python, its number there, and which bins it is about."""

    name: str
    operation: Operation | Composed
    number: str = ""
    about: str = "all"

    def made(self, number: float, edges: np.ndarray, points: list[int]) -> Operation | Composed:
        """The operation with the number of the page, on the bins that hands chose."""
        changes = {self.number: number} if self.number else {}
        if self.about != "all":
            changes["within"] = (edges[points[0]], edges[points[-1] + 1])
        if self.about == "points":
            changes["keep"] = tuple(points[1:-1])
        return replace(self.operation, **changes) if changes else self.operation


TRIES = [
    Try("set", Set("age", value=0.5), "value"),
    Try("shift", Shift("age", by=0.5), "by"),
    Try("scale", Scale("age", factor=0.5), "factor"),
    Try("interpolate", Interpolate("age")),
    Try("left", Align("age", to="left")),
    Try("right", Align("age", to="right")),
    Try("average", Align("age", to="average")),
    Try("increasing", Monotone("age", direction="increasing")),
    Try("decreasing", Monotone("age", direction="decreasing")),
    Try("convex", Convex("age", bend="convex")),
    Try("concave", Convex("age", bend="concave")),
    Try("smooth", Smooth("age")),
    Try("lines", Smooth("age", reach=0.5), "reach"),
    Try("flatten", Flatten("age")),
    Try("denoise", Denoise("age")),
    Try("stretch", Stretch("age")),
    Try("recover", Recover("age")),
    Try("repair-up", repair("age", "increasing")),
    Try("repair-down", repair("age", "decreasing")),
    Try("remove", Remove("age")),
    Try("revert", Revert("age")),
    Try("increasing", Monotone("age", direction="increasing"), about="range"),
    Try("decreasing", Monotone("age", direction="decreasing"), about="range"),
    Try("merge", Merge("age", within=(0, 1)), about="range"),
    Try("through", Interpolate("age", keep=(1,)), about="points"),
]


class Hands:
    """One view of a notebook, and what all hands read from it."""

    def __init__(self, view: Any, points: list[int]) -> None:
        self.view, self.page, self.points = view, view.page, points
        self.plot = view.locator(".dpx-edit-plot")
        self.box = view.get_by_label("Operation", exact=True)
        self.number = view.get_by_label("Number of the operation")

    def button(self, name: str) -> Any:
        return self.view.get_by_role("button", name=name, exact=True)

    def heights(self, kind: str) -> np.ndarray:
        settle(self.page)
        path = str(self.plot.locator(f".{kind}").get_attribute("d"))
        return np.array([float(y) for y in re.findall(r"[ML][-\d.]+ ([-\d.]+)H", path)])

    def do(self, chosen: Try, offered: list[str]) -> tuple[float, np.ndarray, np.ndarray]:
        """Carry an operation out; its number, the curve previewed, and the one applied."""
        getattr(self, f"choose_{chosen.about}")()
        self.choose(chosen.name, offered)
        assert self.box.input_value() == chosen.name
        self.plot.locator(".dpx-edit-preview").wait_for(state="attached")
        self.enter()
        number = float(self.number.input_value()) if self.number.is_visible() else np.nan
        shown = self.heights("dpx-edit-preview")
        self.apply()
        applied = self.heights("dpx-curve-main")
        self.undo()
        return number, shown, applied


class Mouse(Hands):
    """Moves, presses and releases at places of the screen; numbers stay as they are offered."""

    def click(self, target: Any) -> None:
        box = target.bounding_box()
        self.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    def place(self, column: int) -> tuple[float, float]:
        """Below the curve, in the middle of a bin."""
        box = self.plot.locator(".dpx-count").nth(column).bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] - 1

    def choose_all(self) -> None:
        self.click(self.button("Whole curve"))

    def choose_range(self) -> None:
        self.page.mouse.move(*self.place(self.points[0]))
        self.page.mouse.down()
        self.page.mouse.move(*self.place(self.points[-1]), steps=3)
        self.page.mouse.up()

    def choose_points(self) -> None:
        self.page.mouse.click(*self.place(self.points[0]))
        for point in self.points[1:]:
            self.page.keyboard.down("Control")
            self.page.mouse.click(*self.place(point))
            self.page.keyboard.up("Control")

    def choose(self, name: str, offered: list[str]) -> None:
        self.click(self.box)
        option = self.box.locator(f"option[value='{name}']")
        option.scroll_into_view_if_needed()
        self.click(option)

    def enter(self) -> None:
        """A mouse types no numbers."""

    def apply(self) -> None:
        self.click(self.button("Apply"))

    def undo(self) -> None:
        self.click(self.button("Undo"))


class Keyboard(Hands):
    """Keys alone: Tab to go to a control, arrows, Space and Enter there."""

    def go(self, target: Any, key: str) -> None:
        for _ in range(200):
            if target.evaluate("element => element === document.activeElement"):
                return
            self.page.keyboard.press(key)
        raise AssertionError(f"{target} is not reached with {key}")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def choose_all(self) -> None:
        self.go(self.plot, "Tab")
        self.go(self.button("Whole curve"), "Shift+Tab")
        self.press("Enter")

    def choose_range(self) -> None:
        self.go(self.plot, "Tab")
        self.press("Home", *["ArrowRight"] * self.points[0])
        self.press(*["Shift+ArrowRight"] * (self.points[-1] - self.points[0]))

    def choose_points(self) -> None:
        self.go(self.plot, "Tab")
        self.press("Home", *["ArrowRight"] * self.points[0])
        for here, there in pairwise(self.points):
            self.press(*([" "] if here == self.points[0] else []))
            self.press(*["ArrowRight"] * (there - here), " ")

    def choose(self, name: str, offered: list[str]) -> None:
        self.go(self.box, "Shift+Tab")
        self.press("Enter", "Home", *["ArrowDown"] * offered.index(name), "Enter")

    def enter(self) -> None:
        if self.number.is_visible():
            self.go(self.number, "Tab")
            self.press("Control+a", *str(TYPED))

    def apply(self) -> None:
        self.go(self.plot, "Tab")
        self.press("Enter")

    def undo(self) -> None:
        self.press("Control+z")


@pytest.fixture
def notebook(lab, new_page):
    page = new_page(width=1500, height=2600)
    open_notebook(page, lab, "edits.ipynb")
    run_all_cells(page)
    page.locator(".dpx-edit-plot svg").nth(1).wait_for()
    return page


def test_every_operation_is_applied_by_mouse_and_by_keyboard_as_python_applies_it(notebook, lab):
    view = notebook.locator(".dpx").first
    options = view.get_by_label("Operation", exact=True).locator("option")
    offered = options.evaluate_all("all => all.map((option) => option.value)")
    public = [getattr(dpexplain.edit, name) for name in dpexplain.edit.__all__]
    operations = {each for each in public if isinstance(each, type) and issubclass(each, Operation)}
    made = {type(step) for each in TRIES for step in each.operation.steps}
    assert made == operations - {Operation}
    assert {each.name for each in TRIES} == set(offered) - {""}

    explanation = dpexplain.io.load(lab.notebooks / "fitted.json")
    edges = explanation["age"].bin_edges
    wide = np.flatnonzero(np.diff(edges) > 0.01 * np.ptp(edges)).tolist()  # what a mouse can hit
    points = [wide[1], wide[3], wide[-2]]
    hands = [(hand(view, points), each) for hand in (Mouse, Keyboard) for each in TRIES]
    done = [hand.do(each, offered) for hand, each in hands]

    wait_for_kernel(notebook, "len(public.edit_log.entries)", str(len(done)))
    log = ast.literal_eval(evaluate_in_kernel(notebook, "public.edits"))
    for (hand, each), (number, shown, applied), entry in zip(
        hands, done, log["entries"], strict=True
    ):
        case = f"{each.name} of {each.about} by {type(hand).__name__}"
        operation = each.made(number, edges, points)
        assert operation_from_plain(entry["operation"]) == operation, case
        assert entry["after"] == -1, case
        assert number == TYPED or isinstance(hand, Mouse) or np.isnan(number), case
        values = operation.apply(explanation)["age"].contribution
        for heights in (shown, applied):  # the axis is linear: pixels are affine in contributions
            assert_line(values, heights, case)


def assert_line(values: np.ndarray, heights: np.ndarray, case: str) -> None:
    assert heights.shape == values.shape, case
    if np.ptp(values) < 1e-9:
        assert np.ptp(heights) < 0.02, case
        return
    slope, level = np.polyfit(values, heights, 1)
    assert slope < 0, case  # pixels count downwards
    np.testing.assert_allclose(heights, slope * values + level, atol=0.02, err_msg=case)
