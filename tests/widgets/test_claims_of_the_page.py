"""A page states the claims of Python: the same numbers, states and sentences."""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path

import pandas as pd
import pytest
import traitlets

import view_examples
from dpexplain.explain.claim_strip import claim_strip
from dpexplain.explain.claims import claim
from dpexplain_widgets import Explorer
from dpexplain_widgets.payload.claim_payload import MOST_BINS
from dpexplain_widgets.payload.payload import build_payload
from fitted_models import fitted_binary, fitted_counts, fitted_regression
from node import NODE

pytestmark = pytest.mark.full

SCRIPT = Path(__file__).parent / "modules" / "claim_cases.mjs"


def on_the_page(payload, cases):
    """What a page says about a payload: each case is a term, a stop and a question."""
    asked = json.dumps({"payload": payload, "cases": cases})
    result = subprocess.run(
        [NODE, SCRIPT], input=asked, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


RECORD = {
    "age": 41.0, "years married": 12.5, "capital gain": 900.0, "rating of the marriage": "fair",
    "occupation": "student", "children": "yes", "education": 11.0,
}  # fmt: skip
QUESTIONS = [
    ("age", (1, 12)),
    ("age", (24, 0)),
    ("occupation", (1, 0)),
    ("age", ((4, 9),)),
    ("age", ((0, 23),)),
    ("occupation", ((1, 2),)),
    ("age", (3,)),
    ("children", (1,)),
    ("age", ()),
    ("education", ()),
]


def asked_in_the_page(bins):
    """The question of the page for the bins that Python is given."""
    if not bins:
        return {"kind": "rank", "bins": []}
    if isinstance(bins[0], tuple):
        return {"kind": "range", "bins": bins[0]}
    return {"kind": "difference" if len(bins) == 2 else "sign", "bins": bins}


def numbers_of(each):
    return [getattr(each, name) for name in ("estimate", "std", "low", "high")]


def shown_numbers(each):
    shown = [each["claim"][name] for name in ("estimate", "std", "low", "high")]
    return [math.nan if number is None else number for number in shown]


def check_same(found, strip):
    """The page and Python say the same to the last letter, and compute the same to 1e-9."""
    assert [each["state"] for each in found["strip"]] == list(strip.states)
    for each, python in zip(found["strip"], strip.claims, strict=True):
        if python is None:
            assert each["claim"] is None
            continue
        wanted = pytest.approx(numbers_of(python), rel=1e-9, abs=1e-12, nan_ok=True)
        assert shown_numbers(each) == wanted
        assert each["claim"]["holds"] == python.holds
    assert found["holds"] == strip.strip_words
    assert plain(found["words"]) == strip.asked.words
    assert plain(found["often"]) == strip.asked.frequencies
    shares = strip.asked.shares
    assert found["shares"] == (None if shares is None else pytest.approx(shares, rel=1e-9))


def plain(words):
    return words.replace("\u2068", "").replace("\u2069", "").replace("−", "-")


@pytest.mark.parametrize(("joint", "private"), [(True, True), (False, True), (True, False)])
def test_numbers_states_and_sentences_are_those_of_python(joint, private):
    comparison = view_examples.comparison(epsilons=(0.5, 2.0, 8.0), joint=joint, private=private)
    payload = build_payload(comparison)
    names = [term["name"] for term in payload["terms"]]
    cases, wanted = [], []
    for stop, epsilon in enumerate(payload["epsilons"]):
        for term, bins in QUESTIONS:
            if joint or bins:  # ranks need the errors of all terms together
                question = asked_in_the_page(bins)
                place = names.index(term)
                cases.append({"termIndex": place, "stop": stop, "question": question})
                wanted.append(claim_strip(comparison, term, *bins, epsilon=epsilon))
    for found, strip in zip(on_the_page(payload, cases), wanted, strict=True):
        check_same(found, strip)
        assert found["words"].startswith("NOT PRIVATE") is not private


@pytest.mark.parametrize("threshold", [None, 0.2])
def test_decisions_are_those_of_python(threshold):
    comparison = view_examples.comparison(epsilons=(0.5, 8.0), joint=True)
    payload = build_payload(comparison)
    question = {"kind": "decision", "bins": [], "values": list(RECORD.values())}
    question["threshold"] = threshold
    epsilons = payload["epsilons"]
    cases = [{"termIndex": 0, "stop": k, "question": question} for k in range(len(epsilons))]
    asked = {"record": pd.DataFrame([RECORD]), "threshold": threshold, "samples_public": True}
    for epsilon, found in zip(epsilons, on_the_page(payload, cases), strict=True):
        check_same(found, claim_strip(comparison, **asked, epsilon=epsilon))


@pytest.mark.parametrize("make", [fitted_binary, fitted_regression, fitted_counts])
def test_claims_about_fitted_models_are_those_of_python(make):
    explanation = make().explain_global()
    payload = build_payload(explanation)
    cases, wanted = [], []
    for place, term in enumerate(explanation.terms):
        last = term.n_value_bins - 1
        for bins in ((0, 1), (1, 0), ((0, last // 2),), ((1, last),), (last,), ()):
            question = asked_in_the_page(bins)
            cases.append({"termIndex": place, "stop": 0, "question": question})
            wanted.append(claim(explanation, term.name, *bins))
    for found, said in zip(on_the_page(payload, cases), wanted, strict=True):
        numbers = pytest.approx(numbers_of(said), rel=1e-9, abs=1e-12, nan_ok=True)
        assert shown_numbers(found["strip"][0]) == numbers
        assert found["strip"][0]["claim"]["basis"] == said.basis
        assert plain(found["often"]) == said.frequencies


def test_a_second_bin_must_exist_and_is_left_with_its_term():
    view = Explorer(view_examples.comparison(), term="age", bin_index=2, second_bin=7)

    with pytest.raises(traitlets.TraitError, match=r"second_bin=99 must be a bin of the term"):
        view.second_bin = 99
    view.term = "occupation"
    assert view.second_bin is None


def test_terms_with_many_bins_are_claimed_in_python_only():
    terms = view_examples.wide_terms(2, MOST_BINS + 1)
    payload = build_payload(view_examples.comparison(terms, (1.0,)))

    parts = payload["fits"][0][0]["terms"]
    assert [part["claims"] is None for part in parts] == [False, True]
    assert len(parts[1]["labels"]) > MOST_BINS
