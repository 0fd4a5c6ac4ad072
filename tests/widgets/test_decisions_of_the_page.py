"""The page tabulates the same decisions as Python, to 1e-9."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import view_examples
from dpexplain import Classes, DPExplainableBoostingClassifier, Numeric, Schema, sweep
from dpexplain.explain import claim, claim_strip, decisions
from dpexplain_widgets.payload.payload import build_payload
from node import NODE
from pair_examples import swept

pytestmark = pytest.mark.full

SCRIPT = Path(__file__).parent / "modules" / "people_cases.mjs"
NUMBERS = ["prediction", "certainty", "rerun"]


def on_the_page(payload, cases, script=SCRIPT):
    result = subprocess.run(
        [NODE, script], input=json.dumps({"payload": payload, "cases": cases}),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("make", [view_examples.comparison, swept])
def test_decisions_and_their_certainty_are_those_of_python(make):
    given = {} if make is swept else {"epsilons": (0.5, 2.0, 8.0), "joint": True}
    comparison, records = make(**given), view_examples.survey_people(40)
    payload = build_payload(comparison, records, samples_public=True)
    cases = [
        {"stop": stop, "repeat": len(payload["fits"][stop]) - 1, "threshold": threshold}
        for stop in range(len(payload["epsilons"]))
        for threshold in (None, 0.2)
    ]
    for case, found in zip(cases, on_the_page(payload, cases), strict=True):
        epsilon = payload["epsilons"][case["stop"]]
        table = decisions(
            comparison, records, threshold=case["threshold"], samples_public=True,
            epsilon=epsilon, repeat=case["repeat"],
        )  # fmt: skip
        shown = pd.DataFrame(found["rows"])
        for name in NUMBERS:
            assert shown[name].tolist() == pytest.approx(table[name].tolist(), rel=1e-9)
        ends = np.array(shown["ends"].tolist())
        assert ends == pytest.approx(table[["low", "high"]].to_numpy(), rel=1e-9)
        assert shown["decision"].tolist() == table["decision"].tolist()
        assert shown["holds"].tolist() == table["holds"].tolist()
        assert shown["same"].tolist() == table["same_fits"].tolist()
        assert shown["fits"].tolist() == table["fits"].tolist()
        strip = claim_strip(
            comparison, record=records.iloc[[0]], threshold=case["threshold"], repeat=case["repeat"]
        )
        at = np.log(0.25) if case["threshold"] else 0.0
        wanted = [1 / (1 + np.exp(-each.estimate - at)) for each in strip.claims]
        assert [each["prediction"] for each in found["over"]] == pytest.approx(wanted, rel=1e-9)


@pytest.fixture(scope="module")
def flowers():
    """A sweep of a model with three classes, and some records."""
    iris = load_iris(as_frame=True)
    schema = Schema({name: Numeric(0, 10) for name in iris.data}, target=Classes([0, 1, 2]))
    model = DPExplainableBoostingClassifier(schema=schema)
    found = sweep(model, iris.data, iris.target, epsilons=(1, 8), n_repeats=2, progress=False)
    return found, iris.data.iloc[::7]


def test_decisions_among_classes_are_those_of_python(flowers):
    comparison, records = flowers
    payload = build_payload(comparison, records, samples_public=True)
    cases = [{"stop": stop, "repeat": repeat} for stop in range(2) for repeat in range(2)]
    for case, found in zip(cases, on_the_page(payload, cases), strict=True):
        epsilon = payload["epsilons"][case["stop"]]
        table = decisions(
            comparison, records, samples_public=True, epsilon=epsilon, repeat=case["repeat"]
        )
        shown = pd.DataFrame(found["rows"])
        for name in NUMBERS:
            assert shown[name].tolist() == pytest.approx(table[name].tolist(), rel=1e-9, abs=1e-9)
        ends = np.array(shown["ends"].tolist())
        assert ends == pytest.approx(table[["low", "high"]].to_numpy(), rel=1e-9)
        assert shown["decision"].tolist() == table["decision"].tolist()
        assert shown["holds"].tolist() == table["holds"].tolist()
        assert shown["same"].tolist() == table["same_fits"].tolist()
        assert shown["fits"].tolist() == table["fits"].tolist()
        strip = claim_strip(comparison, record=records.iloc[[0]], repeat=case["repeat"])
        fits = [comparison.explanations[each][case["repeat"]] for each in strip.epsilons]
        chances = [fit.predict_proba(records.iloc[[0]])[0, 0] for fit in fits]
        assert [each["prediction"] for each in found["over"]] == pytest.approx(chances, rel=1e-9)
        for epsilon, said, each in zip(strip.epsilons, strip.claims, found["over"], strict=True):
            if said.first == "0":  # the class shown is the predicted one
                asked = {"epsilon": epsilon, "repeat": case["repeat"]}
                one = decisions(comparison, records.iloc[[0]], **asked).iloc[0]
                assert each["ends"] == pytest.approx([one["low"], one["high"]], rel=1e-9)


def test_claims_about_predicted_classes_are_those_of_python(flowers):
    comparison, records = flowers
    payload = build_payload(comparison, records, samples_public=True)
    found = on_the_page(payload, [], SCRIPT.with_name("class_claim_cases.mjs"))
    for epsilon, shown in zip(payload["epsilons"], found, strict=True):
        fit = comparison.explanations[epsilon][0]
        for k, page in enumerate(shown):
            said = claim(fit, record=records.iloc[[k]], samples_public=True)
            names = [fit.by_class[page[side]].of_class for side in ("first", "second")]
            assert names == [said.first, said.second]
            assert page["holds"] == said.holds
            for name in ("estimate", "std", "low", "high"):
                assert page[name] == pytest.approx(getattr(said, name), rel=1e-9)
