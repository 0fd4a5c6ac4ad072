"""A page states the same claims as Python about regions of filters."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
import traitlets

from dpexplain import PrivacyLedger
from dpexplain.compare import FilterComparison
from dpexplain.explain import FilterNoise, Guarantee, filter_claim_strip
from dpexplain_widgets import FilterView
from dpexplain_widgets.payload import filter_payload
from dpexplain_widgets.payload.filter_payload import filters_payload
from example_explanations import private_guarantee
from example_filters import filter_bank, filter_comparison, image_bank
from node import NODE
from page_checks import plain

pytestmark = pytest.mark.full

SCRIPT = Path(__file__).parent / "modules" / "filter_claim_cases.mjs"


def on_the_page(comparison, cases):
    payload, arrays = filters_payload(comparison)
    text = base64.b64encode(arrays).decode("ascii")
    asked = json.dumps({"payload": payload, "arrays": text, "cases": cases})
    result = subprocess.run(
        [NODE, SCRIPT], input=asked, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def banks(rows):
    """Make banks of pictures whose pixels have independent or correlated errors."""

    def make(guarantee=None, *, seed=0, **changes):
        if "noise" in changes:  # the reference has none
            return image_bank(guarantee, seed=seed, **changes)
        basis = None if rows is None else np.random.default_rng(9).standard_normal(rows)
        size = 20 if rows is None else rows[-2]
        variance = np.random.default_rng(seed).uniform(0.001, 0.02, (3, 4, size))
        return image_bank(guarantee, seed=seed, noise=FilterNoise(variance, [[0.1] * 4] * 3, basis))

    return make


def check(found, strip):
    states = [each["state"] for each in found["strip"]]
    assert states == list(strip.states)
    for each, python in zip(found["strip"], strip.claims, strict=True):
        for name in ("estimate", "std", "low", "high"):
            exact = getattr(python, name)
            assert each["claim"][name] == pytest.approx(exact, rel=1e-9, abs=1e-12)
        assert each["claim"]["holds"] == python.holds
    assert plain(found["words"]) == strip.asked.words
    assert found["holds"] == strip.strip_words


@pytest.mark.parametrize("rows", [None, (6, 20), (4, 6, 20)])
def test_regions_have_the_claims_of_python(rows):
    comparison = filter_comparison(banks(rows)).matched()
    regions = {(0, 19): ((0, 3), (0, 4)), (6, 12): ((1, 2), (1, 2)), (13, 9): ((1, 2), (3, 4))}
    cases, wanted = [], []
    for stop, epsilon in enumerate((0.5, 2.0)):
        for corners, region in regions.items():
            for label, against in (("high", None), ("low", "high")):
                kind = "mean" if against is None else "contrast"
                asked = {"input_range": corners, "filter_class": label, "against_class": against}
                cases.append({**asked, "epsilon_index": stop, "shown_map": kind})
                strip = filter_claim_strip(
                    comparison, label, region, against=against, epsilon=epsilon
                )
                wanted.append(strip)
    said = on_the_page(comparison, cases)
    for found, strip in zip(said, wanted, strict=True):
        check(found, strip)
    assert {each["claim"]["holds"] for each in said} == {True, False}


@pytest.mark.parametrize("rows", [None, (6, 20), (4, 6, 20)])
@pytest.mark.parametrize("swept", [True, False])
def test_regions_of_single_filters_have_the_claims_of_python(rows, swept):
    if swept:
        comparison = filter_comparison(banks(rows)).matched()
    else:  # filters of one fit keep their order
        bank = banks(rows)(private_guarantee(2.0))
        comparison = FilterComparison((2.0,), {2.0: (bank,)}, ledger=PrivacyLedger("one").summary())
    source = comparison if swept else bank
    stop = len(comparison.epsilons) - 1
    places = {"filter_class": "high", "filter_index": 2, "epsilon_index": stop}
    cases, wanted = [], []
    for corners, region in {(0, 19): ((0, 3), (0, 4)), (13, 9): ((1, 2), (3, 4))}.items():
        for against, minus in ((None, None), ("low", 2), ("high", 3), ("high", 2)):
            asked = {**places, "input_range": corners, "shown_map": "filter"}
            cases.append({**asked, "against_class": against or "", "against_filter": minus})
            about = {"place": 2, "epsilon": comparison.epsilons[stop]}
            if minus is not None and (against, minus) != ("high", 2):  # not the filter itself
                about |= {"against": against, "against_place": minus}
            wanted.append(filter_claim_strip(comparison, "high", region, **about))
    for found, strip in zip(on_the_page(source, cases), wanted, strict=True):
        check(found, strip)


def test_inputs_of_a_table_have_the_claims_of_python():
    comparison = filter_comparison(filter_bank).matched()
    shared = {"input_index": 2, "filter_class": "middle", "epsilon_index": 1}
    mean, contrast, single, two = on_the_page(
        comparison,
        [
            {**shared, "shown_map": "mean"},
            {**shared, "shown_map": "contrast", "against_class": "low"},
            {**shared, "shown_map": "filter"},
            {**shared, "shown_map": "filter", "against_class": "low", "against_filter": 1},
        ],
    )
    check(mean, filter_claim_strip(comparison, "middle", 2, epsilon=2.0))
    check(contrast, filter_claim_strip(comparison, "middle", 2, against="low", epsilon=2.0))
    asked = {"place": 0, "epsilon": 2.0}
    check(single, filter_claim_strip(comparison, "middle", 2, **asked))
    asked |= {"against": "low", "against_place": 1}
    check(two, filter_claim_strip(comparison, "middle", 2, **asked))


def test_claims_of_fits_with_seeded_noise_say_that_they_are_not_private():
    def seeded(guarantee=None, **changes):
        return banks(None)(Guarantee.not_private("the noise follows from a seed"), **changes)

    comparison = filter_comparison(seeded).matched()
    shared = {"input_range": [0, 19], "filter_class": "high", "shown_map": "mean"}
    (found,) = on_the_page(comparison, [{**shared, "epsilon_index": 1}])
    check(found, filter_claim_strip(comparison, "high", ((0, 3), (0, 4)), epsilon=2.0))
    assert [each["private"] for each in found["strip"]] == [False, False]
    for words in (found["words"], found["holds"]):
        assert words.startswith("NOT PRIVATE: ")


def test_a_basis_that_is_too_large_for_a_page_leaves_out_claims(monkeypatch):
    monkeypatch.setattr(filter_payload, "_MOST_ROWS", 100)
    comparison = filter_comparison(banks((6, 20))).matched()
    assert on_the_page(comparison, [{"input_index": 3}]) == [None]


def test_fits_with_the_same_basis_store_it_once():
    outline = filters_payload(filter_comparison(banks((6, 20))))[0]["filters"]
    places = {fit["arrays"]["noise_rows"]["at"] for row in outline["fits"] for fit in row}
    assert len(places) == 1
    assert outline["reference"]["claim_factor"] is None


def test_a_region_of_a_view_is_two_inputs_of_a_grid():
    view = FilterView(filter_comparison(image_bank), input_range=[3, 12])
    view.input_range = None
    with pytest.raises(traitlets.TraitError, match=r"input_range=\[3, 20\] must be None or two"):
        view.input_range = [3, 20]
    with pytest.raises(traitlets.TraitError, match="two inputs of a grid"):
        FilterView(filter_comparison(filter_bank), input_range=[0, 1])
