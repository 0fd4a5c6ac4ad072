"""People at an edit view: one uses only the mouse, the other only the keyboard.

No script sets a value, focuses an element or sends an event here: the browser gets what
the person does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from dpexplain.edit import Composed, Operation
from page_checks import settle

TYPED = 0.25
"""Number that the keyboard types."""


@dataclass(frozen=True)
class Try:
    """A menu entry, its operation in Python with its number, and the bins it concerns."""

    name: str
    operation: Operation | Composed
    number: str = ""
    about: str = "all"

    def made(self, number: float, edges: np.ndarray, points: list[int]) -> Operation | Composed:
        """Make the operation with the page's number, on the chosen bins."""
        changes = {self.number: number} if self.number else {}
        if self.about != "all":
            changes["within"] = (edges[points[0]], edges[points[-1] + 1])
        if self.about == "points":
            changes["keep"] = tuple(points[1:-1])
        return replace(self.operation, **changes) if changes else self.operation


class Hands:
    """One view of a notebook, and what every person reads from it."""

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
        """Carry out an operation; return its number, the previewed and the applied curve."""
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


def box_of(target: Any) -> Any:
    """Return the box of an element that may be drawn anew while it is looked for."""
    while (box := target.bounding_box()) is None:
        pass
    return box


class Mouse(Hands):
    """Moves, presses and releases the mouse on the screen; keeps suggested numbers."""

    def click(self, target: Any) -> None:
        box = box_of(target)
        self.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    def place(self, column: int) -> tuple[float, float]:
        """Return the position below the curve in the middle of a bin."""
        box = box_of(self.plot.locator(".dpx-count").nth(column))
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
        """Do nothing, because a mouse cannot type numbers."""

    def apply(self) -> None:
        self.click(self.button("Apply"))

    def undo(self) -> None:
        self.click(self.button("Undo"))


class Keyboard(Hands):
    """Uses only keys: Tab to go to a control; arrows, Space and Enter there."""

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


def assert_line(values: np.ndarray, heights: np.ndarray, case: str, digits: int = 9) -> None:
    """Check that heights on the screen are affine in the values: the axis is linear.

    Values known to `digits` digits of the largest are off by half a step at most,
    and so is the line fitted to them.
    """
    assert heights.shape == values.shape, case
    if np.ptp(values) < 1e-9:
        assert np.ptp(heights) < 0.02, case
        return
    slope, level = np.polyfit(values, heights, 1)
    assert slope < 0, case  # pixels count downwards
    step = 10.0 ** (1 - digits) * np.abs(values).max()
    np.testing.assert_allclose(
        heights, slope * values + level, atol=0.02 - slope * step, err_msg=case
    )
