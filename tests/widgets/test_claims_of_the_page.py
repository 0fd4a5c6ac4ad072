"""A page states the same claims as Python: equal numbers, states and sentences."""

from __future__ import annotations

import dataclasses
import json
import math
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import traitlets
from hypothesis import example, given, settings
from hypothesis import strategies as st

import view_examples
from dpexplain.explain import NoiseModel, ShapeFunction
from dpexplain.explain.claims.claim_strip import claim_strip
from dpexplain.explain.claims.claiming import claim
from dpexplain_widgets import Explorer
from dpexplain_widgets.payload.claim_payload import MOST_BINS
from dpexplain_widgets.payload.payload import build_payload
from example_explanations import at, classifier, private_guarantee
from fitted_models import fitted_binary, fitted_counts, fitted_regression
from node import NODE
from page_checks import plain
from pair_examples import swept

pytestmark = pytest.mark.full

SCRIPT = Path(__file__).parent / "modules" / "claim_cases.mjs"


def on_the_page(payload, cases):
    """Return what a page states about a payload; a case is a term, a stop and a question."""
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
    ("age", ((4, 9), (12, 18))),
    ("age", ((20, 22), (0, 3))),
    ("age", ((4, 9), 11)),
    ("age", (1, (3, 20))),
    ("occupation", (0, (1, 2))),
    ("age", (3,)),
    ("children", (1,)),
    ("age", ()),
    ("education", ()),
    ("age", ("highest", (8, 16))),
    ("age", ("lowest", (0, 3))),
    ("age", ("highest", 3)),
    ("age", ("highest", None)),
    ("occupation", ("lowest", None)),
    ("occupation", ("highest", 2)),
    ("rating of the marriage", ("highest", (1, 3))),
]


def asked_of_python(bins):
    """Return the input for Python: bins, and whether they are about an extreme."""
    if bins and bins[0] in ("highest", "lowest"):
        return (bins[1],), {"extreme": bins[0]}
    return bins, {}


def asked_in_the_page(bins, term=None):
    """Return the page's question for the bins given to Python."""
    if not bins:
        return {"kind": "rank", "bins": []}
    if bins[0] in ("highest", "lowest"):
        where = bins[1]
        if where is None:  # the page asks about the bin that seems to be the extreme
            values = term.contribution[: term.n_value_bins]
            where = int(values.argmax() if bins[0] == "highest" else values.argmin())
        return {"kind": bins[0], "bins": list(where) if isinstance(where, tuple) else [where]}
    if any(isinstance(each, tuple) for each in bins):
        spans = [each if isinstance(each, tuple) else (each, each) for each in bins]
        if len(spans) == 2 and all(low == high for low, high in spans):
            return {"kind": "difference", "bins": [low for low, _ in spans]}
        return {"kind": "range" if len(bins) == 1 else "ranges", "bins": sum(spans, ())}
    return {"kind": "difference" if len(bins) == 2 else "sign", "bins": bins}


def numbers_of(each):
    return [getattr(each, name) for name in ("estimate", "std", "low", "high")]


def shown_numbers(each):
    shown = [each["claim"][name] for name in ("estimate", "std", "low", "high")]
    return [math.nan if number is None else number for number in shown]


def check_same(found, strip):
    """Check that page and Python give the same words, and equal numbers to 1e-9."""
    assert [each["state"] for each in found["strip"]] == list(strip.states)
    for each, python in zip(found["strip"], strip.claims, strict=True):
        if python is None:
            assert each["claim"] is None
            continue
        wanted = pytest.approx(numbers_of(python), rel=1e-9, abs=1e-12, nan_ok=True)
        assert shown_numbers(each) == wanted
        assert each["claim"]["holds"] == python.holds
        assert len(each["claim"].get("candidates", ())) == len(python.candidates)
    assert found["holds"] == strip.strip_words
    assert plain(found["words"]) == strip.asked.words
    assert plain(found["often"]) == strip.asked.frequencies
    shares = strip.asked.shares
    assert found["shares"] == (None if shares is None else pytest.approx(shares, rel=1e-9))


@pytest.mark.parametrize(("joint", "private"), [(True, True), (False, True), (True, False)])
def test_numbers_states_and_sentences_are_those_of_python(joint, private):
    comparison = view_examples.comparison(epsilons=(0.5, 2.0, 8.0), joint=joint, private=private)
    payload = build_payload(comparison)
    names = [term["name"] for term in payload["terms"]]
    cases, wanted = [], []
    for stop, epsilon in enumerate(payload["epsilons"]):
        for term, bins in QUESTIONS:
            if joint or bins:  # ranks need the errors of all terms together
                given, about = asked_of_python(bins)
                fit = comparison.explanations[epsilon][0]
                question = asked_in_the_page(bins, fit[term])
                place = names.index(term)
                cases.append({"termIndex": place, "stop": stop, "question": question})
                wanted.append(claim_strip(comparison, term, *at(*given), epsilon=epsilon, **about))
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
        ranges = [((0, last // 2),), ((1, last),), ("highest", (1, last)), ("lowest", last)]
        two = [((0, 0), (1, last)), ((last - 1, last), 0)] if last > 1 else []
        for bins in [(0, 1), (1, 0), *ranges, *two, (last,), ()]:
            given, about = asked_of_python(bins)
            question = asked_in_the_page(bins, term)
            cases.append({"termIndex": place, "stop": 0, "question": question})
            wanted.append(claim(explanation, term.name, *at(*given), **about))
    for found, said in zip(on_the_page(payload, cases), wanted, strict=True):
        numbers = pytest.approx(numbers_of(said), rel=1e-9, abs=1e-12, nan_ok=True)
        assert shown_numbers(found["strip"][0]) == numbers
        assert found["strip"][0]["claim"]["basis"] == said.basis
        assert plain(found["often"]) == said.frequencies


PAIR_QUESTIONS = [(0, 17), (0,), ((0, 5),), ((0, 5), 14), (17, 1), (19,)]


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_claims_about_pairs_are_those_of_python(epsilon):
    comparison = swept()
    payload = build_payload(comparison)
    place = [term["name"] for term in payload["terms"]].index("age & children")
    stop = payload["epsilons"].index(epsilon)
    n_cells = comparison.explanations[epsilon][0].pair("age & children").contribution.size
    cases, wanted = [], []
    for asked in PAIR_QUESTIONS:
        corners = [each if isinstance(each, tuple) else (each, each) for each in asked]
        if max(cell for corner in corners for cell in corner) >= n_cells:
            continue
        kind = "sign" if len(asked) == 1 else "difference"
        question = {"kind": kind, "bins": [cell for corner in corners for cell in corner]}
        cases.append({"termIndex": place, "stop": stop, "question": question})
        wanted.append(claim_strip(comparison, "age & children", *asked, epsilon=epsilon))
    assert len(wanted) > 2
    for found, strip in zip(on_the_page(payload, cases), wanted, strict=True):
        check_same(found, strip)


def drawn_explanation(n_bins, effect, seed):
    """Draw an explanation of one curve with any joint errors, and of another term."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(n_bins + 1, rng.integers(1, 6))) + rng.normal()
    noise = NoiseModel((n_bins,), factor, rng.uniform(0, 1, n_bins + 1))
    curve, std = rng.normal(scale=3.0, size=n_bins), noise.std[:n_bins]
    estimate = {"effect": 1.3 * curve, "effect_std": 1.2 * std, "effect_factor": 3.0}
    term = ShapeFunction(
        "x", "numeric", curve, rng.uniform(0, 100, n_bins), bin_edges=np.arange(n_bins + 1.0),
        guarantee=private_guarantee(), noise_std=std, simultaneous_factor=3.0,
        **(estimate if effect else {}),
    )  # fmt: skip
    return classifier(terms=(term,), noise=noise, effect_scatter=noise if effect else None)


@given(
    n_bins=st.one_of(st.integers(3, 40), st.integers(41, 300)),
    effect=st.booleans(),
    seed=st.integers(0, 2**31),
    where=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=6),
)
@example(n_bins=3, effect=False, seed=0, where=[(0.5, 0.5)])  # two ranges of one bin
@settings(max_examples=25, deadline=None)
def test_numbers_are_those_of_python_for_any_curve_and_joint_errors(n_bins, effect, seed, where):
    explanation = drawn_explanation(n_bins, effect, seed)
    cases, wanted = [], []
    for low, high in where:
        one, other = sorted(int(share * (n_bins - 1)) for share in (low, high))
        whole = (one, other) == (0, n_bins - 1)
        ranges = [] if whole else [((one, other),), ("highest", (one, other)), ("lowest", one)]
        ranges += [((one, other), (other + 1, n_bins - 1))] if other < n_bins - 1 else []
        ranges += [((one, other), 0), (0, (one, other))] if 0 < one < other else []
        for bins in [(one,), *([(one, other)] if one < other else []), *ranges]:
            given_bins, about = asked_of_python(bins)
            cases.append({"termIndex": 0, "stop": 0, "question": asked_in_the_page(bins)})
            wanted.append(claim(explanation, "x", *at(*given_bins), **about))
    for found, said in zip(on_the_page(build_payload(explanation), cases), wanted, strict=True):
        shown = found["strip"][0]["claim"]
        numbers = pytest.approx(numbers_of(said), rel=1e-9, abs=1e-12, nan_ok=True)
        assert shown_numbers(found["strip"][0]) == numbers
        assert (shown["holds"], shown["basis"]) == (said.holds, said.basis)
        labels = explanation["x"].bin_labels
        assert [labels[k] for k in shown.get("candidates", ())] == list(said.candidates)


def test_a_rounding_error_reads_as_zero():
    comparison = view_examples.comparison(epsilons=(2.0,), joint=True)
    explanation = comparison.explanations[2.0][0]
    age = dataclasses.replace(
        explanation["age"], contribution=np.full(explanation["age"].n_bins, 4.41e-16)
    )
    terms = tuple(age if term.name == "age" else term for term in explanation.terms)
    flat = dataclasses.replace(explanation, terms=terms)
    place = [term.name for term in flat.terms].index("age")
    asked = [(3,), (3, 5), ((0, 4), (8, 9))]
    cases = [{"termIndex": place, "stop": 0, "question": asked_in_the_page(bins)} for bins in asked]
    for found, bins in zip(on_the_page(build_payload(flat), cases), asked, strict=True):
        assert plain(found["words"]) == claim(flat, "age", *at(*bins)).words
        assert "higher or lower" in found["words"]


def test_a_second_bin_must_exist_and_is_left_with_its_term():
    view = Explorer(view_examples.comparison(), term="age", bin_index=2, second_bin=7)

    with pytest.raises(traitlets.TraitError, match=r"second_bin=99 must be a bin of the term"):
        view.second_bin = 99
    view.term = "occupation"
    assert view.second_bin is None


def test_terms_with_many_bins_are_claimed_in_the_page_too():
    comparison = view_examples.comparison(view_examples.wide_terms(2, 300), (1.0, 4.0), joint=True)
    payload = build_payload(comparison)
    name = payload["terms"][1]["name"]
    assert len(payload["fits"][0][0]["terms"][1]["labels"]) > 256
    asked = [(3, 120), ((0, 99),), ((0, 99), (150, 299)), ("highest", None), (7,)]
    cases, wanted = [], []
    for bins in asked:
        given_bins, about = asked_of_python(bins)
        question = asked_in_the_page(bins, comparison.explanations[4.0][0][name])
        cases.append({"termIndex": 1, "stop": 1, "question": question})
        wanted.append(claim_strip(comparison, name, *at(*given_bins), epsilon=4.0, **about))
    for found, strip in zip(on_the_page(payload, cases), wanted, strict=True):
        check_same(found, strip)


@pytest.mark.parametrize(("n_terms", "n_categories"), [(280, 40), (2, MOST_BINS + 1)])
def test_models_too_large_for_a_page_are_claimed_in_python_only(n_terms, n_categories):
    terms = view_examples.wide_terms(n_terms, n_categories)
    payload = build_payload(view_examples.comparison(terms, (1.0,), joint=True))
    unclaimed = [part["claims"] is None for part in payload["fits"][0][0]["terms"]]
    assert unclaimed == ([False, True] if n_terms == 2 else [True] * n_terms)


def test_ranges_that_are_one_bin_each_in_another_fit_are_two_bins_there():
    fits = {}
    for epsilon, n_bins in ((1.0, 3), (4.0, 12)):
        fit = drawn_explanation(n_bins, effect=False, seed=n_bins)
        term = dataclasses.replace(
            fit["x"],
            bin_edges=np.linspace(0, 12, n_bins + 1),
            guarantee=view_examples.guarantee(epsilon),
        )
        fits[epsilon] = (
            dataclasses.replace(fit, terms=(term,), guarantee=view_examples.guarantee(epsilon)),
        )
    drawn = view_examples.comparison(epsilons=(1.0, 4.0))
    comparison = dataclasses.replace(drawn, explanations=fits, reference=None)
    asked = [((0, 3), (8, 11)), ((8, 10), 0), ((4, 5), (6, 7)), ((0, 5), (7, 11)), ((0, 5),)]
    cases = [{"termIndex": 0, "stop": 1, "question": asked_in_the_page(bins)} for bins in asked]
    for found, bins in zip(on_the_page(build_payload(comparison), cases), asked, strict=True):
        check_same(found, claim_strip(comparison, "x", *at(*bins), epsilon=4.0))
