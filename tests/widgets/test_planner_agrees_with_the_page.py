"""One page never says that a term rises above the noise at an epsilon, and needs more."""

from __future__ import annotations

import re

import pytest

import view_examples
from dpexplain.compare import stand_out_words
from dpexplain.explain._text import number_above
from dpexplain_widgets import Explorer

EPSILONS = (0.5, 1.0, 4.0)


def pages(n_repeats):
    """Pages of a sweep, of its smaller epsilons, and of each fit alone, with what they show."""
    sweep = view_examples.comparison(epsilons=EPSILONS, n_repeats=n_repeats, joint=True)
    first = view_examples.comparison(epsilons=EPSILONS[:2], n_repeats=n_repeats, joint=True)
    fits = [fit for *_, fit in sweep.fits()] if n_repeats == 1 else []
    return [(source, Explorer(source)) for source in (sweep, first, *fits)]


def marks(view, name):
    """Share of the repeats in which a term is marked, by epsilon, as the page shows it."""
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
