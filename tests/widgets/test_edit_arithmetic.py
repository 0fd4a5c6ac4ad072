"""The page previews edits with the same arithmetic as Python: curves are equal."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import playwright
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.edit import (
    Convex,
    EditLog,
    Interpolate,
    Monotone,
    Smooth,
    operation_to_plain,
    repair,
)
from dpexplain.explain import GlobalExplanation, ShapeFunction
from dpexplain_widgets.payload.payload import build_payload
from edit_examples import operations, terms
from effort import examples
from example_explanations import private_guarantee

pytestmark = pytest.mark.full

NODE = next((Path(playwright.__file__).parent / "driver").glob("node*"))
SCRIPT = Path(__file__).parent / "modules" / "edit_cases.mjs"


def on_the_page(cases):
    plain = []
    for explanation, made in cases:
        payload = build_payload(explanation)
        fit = payload["fits"][0][0]
        plain.append(
            {
                "term": payload["terms"][0],
                "termFit": fit["terms"][0],
                "operations": [operation_to_plain(operation) for operation in made],
            }
        )
    result = subprocess.run(
        [NODE, SCRIPT], input=json.dumps(plain), capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def in_python(explanation, made):
    log = EditLog()
    for operation in made:
        log = log.edit(operation)
    return log.apply(explanation)


def assert_same(cases):
    for (explanation, made), found in zip(cases, on_the_page(cases), strict=True):
        edited = in_python(explanation, made)
        scale = 1.0 + np.abs(edited["age"].contribution).max()
        np.testing.assert_allclose(
            found["values"], edited["age"].contribution, atol=1e-6 * scale, err_msg=str(made)
        )
        assert explanation.intercept + found["shift"] == pytest.approx(
            edited.intercept, abs=1e-6 * scale
        )


@st.composite
def cases(draw):
    drawn = []
    for _ in range(12):
        term = draw(terms())
        explanation = GlobalExplanation((term,), 0.5, "identity", guarantee=term.guarantee)
        drawn.append((explanation, draw(st.lists(operations(term), min_size=1, max_size=3))))
    return drawn


@examples(12)
@given(cases())
def test_page_and_python_make_the_same_curve(drawn):
    assert_same(drawn)


def large(seed, n=256):
    rng = np.random.default_rng(seed)
    term = ShapeFunction(
        "age", "numeric", np.cumsum(rng.normal(0, 0.1, n + 1)), rng.gamma(0.7, 60, n + 1) - 5,
        guarantee=private_guarantee(), bin_edges=np.cumsum(rng.uniform(0.2, 3, n + 1)),
        noise_std=rng.uniform(0.05, 0.4, n + 1), special=("missing",), stretch=1.3,
        recovered=np.cumsum(rng.normal(0, 0.1, n + 1)),
    )  # fmt: skip
    return GlobalExplanation((term,), 0.0, "identity", guarantee=term.guarantee)


MADE = [
    Monotone("age", direction="decreasing"),
    Convex("age", bend="convex"),
    Convex("age", bend="concave", bins=range(20, 200)),
    Smooth("age"),
    Smooth("age", reach=0.02),
    Interpolate("age", keep=[10, 50]),
    repair("age", "increasing"),
]


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.words[:40])
def test_page_and_python_agree_on_curves_of_many_bins(made):
    assert_same([(large(seed), [made]) for seed in range(4)])
