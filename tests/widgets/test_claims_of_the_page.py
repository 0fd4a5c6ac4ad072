"""A page states the claims of Python: the same numbers, states and sentences."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

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

SCRIPT = Path(__file__).parent / "modules" / "claim_cases.mjs"


def on_the_page(cases):
    result = subprocess.run(
        [NODE, SCRIPT], input=json.dumps(cases), capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def cases_of(comparison, pairs):
    """What the page gets, and what Python says."""
    payload = build_payload(comparison)
    names = [term["name"] for term in payload["terms"]]
    cases, wanted = [], []
    for stop, epsilon in enumerate(payload["epsilons"]):
        for term, one, other in pairs:
            place = names.index(term)
            asked = {"payload": payload, "termIndex": place, "stop": stop}
            cases.append({**asked, "one": one, "other": other})
            wanted.append(claim_strip(comparison, term, one, other, epsilon=epsilon))
    return cases, wanted


@pytest.mark.parametrize(("joint", "private"), [(True, True), (False, True), (True, False)])
def test_numbers_states_and_sentences_are_those_of_python(joint, private):
    comparison = view_examples.comparison(joint=joint, private=private)
    pairs = [
        ("age", 1, 12),
        ("age", 5, 6),
        ("age", 24, 0),
        ("occupation", 0, 1),
        ("children", 1, 0),
    ]
    cases, wanted = cases_of(comparison, pairs)
    for found, strip in zip(on_the_page(cases), wanted, strict=True):
        assert [each["state"] for each in found["strip"]] == list(strip.states)
        for each, python in zip(found["strip"], strip.claims, strict=True):
            numbers = [getattr(python, name) for name in ("estimate", "std", "low", "high")]
            said = [each["claim"][name] for name in ("estimate", "std", "low", "high")]
            assert said == pytest.approx(numbers, rel=1e-9, abs=1e-12)
        assert found["holds"] == strip.strip_words
        plain = found["words"].replace("\u2068", "").replace("\u2069", "").replace("−", "-")
        assert plain == strip.asked.words
        assert plain.startswith("NOT PRIVATE") is not private


@pytest.mark.full
@pytest.mark.parametrize("make", [fitted_binary, fitted_regression, fitted_counts])
def test_claims_about_fitted_models_are_those_of_python(make):
    explanation = make().explain_global()
    payload = build_payload(explanation)
    cases, wanted = [], []
    for place, term in enumerate(explanation.terms):
        for one, other in ((0, 1), (1, 0), (0, term.n_bins - 1), (term.n_bins - 2, 1)):
            if one == other:
                continue
            asked = {"payload": payload, "termIndex": place, "stop": 0}
            cases.append({**asked, "one": one, "other": other})
            wanted.append(claim(explanation, term.name, one, other))
    for found, said in zip(on_the_page(cases), wanted, strict=True):
        numbers = [getattr(said, name) for name in ("estimate", "std", "low", "high")]
        shown = [found["strip"][0]["claim"][name] for name in ("estimate", "std", "low", "high")]
        assert shown == pytest.approx(numbers, rel=1e-9, abs=1e-12)
        assert found["strip"][0]["claim"]["basis"] == said.basis


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
