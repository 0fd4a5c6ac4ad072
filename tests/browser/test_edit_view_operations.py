"""Every operation applied in JupyterLab, once by the mouse alone and once by the keyboard alone.

The applied curve is compared with that of the same operation in Python.
"""

from __future__ import annotations

import ast

import numpy as np
import pytest

import dpexplain.edit
import dpexplain.io
from dpexplain.edit import (
    Align,
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
from edit_hands import TYPED, Keyboard, Mouse, Try, assert_line
from jupyter_lab import evaluate_in_kernel, open_notebook, run_all_cells, wait_for_kernel

pytestmark = [pytest.mark.browser, pytest.mark.full]

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
