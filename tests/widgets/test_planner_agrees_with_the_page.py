"""One page never says that a term rises above the noise at an epsilon, and needs more."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

import view_examples
from dpexplain.compare import epsilon_for_metric, stand_out_words
from dpexplain.explain._text import number_above
from dpexplain_widgets import Explorer
from dpexplain_widgets.export.bundle import STATIC
from dpexplain_widgets.payload.payload import build_payload
from node import NODE

EPSILONS = (0.5, 1.0, 4.0)


def pages(n_repeats):
    """Make pages of a sweep, of its smaller epsilons, and of each fit alone."""
    sweep = view_examples.comparison(epsilons=EPSILONS, n_repeats=n_repeats, joint=True)
    first = view_examples.comparison(epsilons=EPSILONS[:2], n_repeats=n_repeats, joint=True)
    fits = [fit for *_, fit in sweep.fits()] if n_repeats == 1 else []
    return [(source, Explorer(source)) for source in (sweep, first, *fits)]


def marks(view, name):
    """For each epsilon, return the proportion of repeats in which a term is marked."""
    payload = view.payload
    place = [term["name"] for term in payload["terms"]].index(name)
    shares = {}
    for epsilon, fits in zip(payload["epsilons"], payload["fits"], strict=True):
        marked = [fit["terms"][place]["above_noise"] for fit in fits]
        shares[epsilon] = sum(marked) / len(marked)
    return shares


@pytest.mark.parametrize("n_repeats", [1, 3])
def test_planner_and_marks_of_one_page_agree(n_repeats):
    kinds = set()
    for source, view in pages(n_repeats):
        for name, epsilon, words in view.plan["needed"]:
            shares = marks(view, name)
            last = max(shares)
            if "measured" in words:
                kinds.add("measured")
                assert all(share >= 0.5 for at, share in shares.items() if at >= epsilon)
                below = [at for at in shares if at < epsilon]
                assert not below or shares[max(below)] < 0.5
                assert f"epsilon {epsilon:g}" in stand_out_words(source, name)
            else:
                kinds.add("beyond" if words.startswith("at least") else "unknown")
                assert shares[last] < 0.5
                stated = re.search(r"at least ε = (\S+)", words)
                assert stated is None or float(stated[1]) > last
    assert {"measured", "beyond"} <= kinds


def test_a_lower_bound_is_never_rounded_down_to_what_was_measured():
    assert number_above(4.3, 4.0) == "4.3"
    assert number_above(1.0000001, 1.0) == "1.0000001"


_ASK = """
import { readFileSync } from "node:fs";
import { epsilonForTarget, onlyMetric } from "%s";
const { payload, targets } = JSON.parse(readFileSync(0, "utf8"));
const found = targets.map((target) => epsilonForTarget(payload, onlyMetric(payload), target));
process.stdout.write(JSON.stringify(found.map((each) => (Number.isFinite(each) ? each : null))));
"""


@pytest.mark.parametrize("n_repeats", [1, 3])
@pytest.mark.parametrize("classes", [("no", "yes"), None])
def test_the_page_names_the_epsilon_of_python_for_a_target(n_repeats, classes):
    source = view_examples.comparison(epsilons=EPSILONS, n_repeats=n_repeats, classes=classes)
    targets = [0.5, 0.71, 0.725, 0.7301, 0.739, 0.74, 0.8]
    script = _ASK % (STATIC / "views/planner/sweep_answers.js").as_uri()
    result = subprocess.run(
        [NODE, "--input-type=module", "-e", script],
        input=json.dumps({"payload": build_payload(source), "targets": targets}),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    wanted = [epsilon_for_metric(source, target) for target in targets]
    shown = [float("inf") if each is None else each for each in json.loads(result.stdout)]
    assert shown == pytest.approx(wanted, rel=1e-9)
    assert len(set(wanted)) >= 2
