"""Claims that are not private say so, in every sentence that can be copied."""

from __future__ import annotations

import pandas as pd
import pytest

import view_examples
from dpexplain.explain import Guarantee, claim, claim_strip

RECORD = pd.DataFrame(
    [{
        "age": 41.0, "years married": 12.5, "capital gain": 900.0, "occupation": "student",
        "rating of the marriage": "fair", "children": "yes", "education": 11.0,
    }]
)  # fmt: skip


@pytest.fixture(scope="module")
def private():
    return view_examples.comparison(epsilons=(0.5, 8.0), joint=True)


@pytest.fixture(scope="module")
def seeded():
    return view_examples.comparison(epsilons=(0.5, 8.0), joint=True, private=False)


def sentences(strip):
    return [*(each.words for each in strip.claims), strip.strip_words, strip.words]


@pytest.mark.parametrize("asked", [("age", 20, 60), ("age", (25, 40)), ("age", 30), ("age",)])
def test_every_sentence_about_seeded_fits_is_marked(private, seeded, asked):
    marked, plain = claim_strip(seeded, *asked), claim_strip(private, *asked)

    assert all(words.startswith("NOT PRIVATE: ") for words in sentences(marked))
    assert "NOT PRIVATE" not in " ".join(sentences(plain))
    assert marked.asked.frequencies.startswith("NOT PRIVATE: of 1") is bool(plain.asked.frequencies)
    assert not marked.frame()["private"].any()


def test_a_decision_about_a_record_is_private_only_if_the_record_is_public(private):
    hidden = claim(private.explanations[8.0][0], record=RECORD)
    public = claim(private.explanations[8.0][0], record=RECORD, samples_public=True)

    assert hidden.words == f"NOT PRIVATE: a{public.words[1:]}"
    assert public.words.startswith("At ε = 8, ")
    assert not hidden.guarantee.private
    assert hidden.frame()["private"].tolist() == [False]
    assert hidden.guarantee.notes == ("computed from samples that are not marked public",)
    assert public.guarantee == private.explanations[8.0][0].guarantee
    assert (hidden.estimate, hidden.low, hidden.high) == (public.estimate, public.low, public.high)


def test_a_strip_of_decisions_about_a_private_record_is_marked(private, seeded):
    assert all("NOT PRIVATE: " in words for words in sentences(claim_strip(private, record=RECORD)))
    public = claim_strip(private, record=RECORD, samples_public=True)
    assert not any("NOT PRIVATE" in words for words in sentences(public))
    reasons = [each.guarantee.notes for each in claim_strip(seeded, record=RECORD).claims]
    assert reasons == [fit.guarantee.notes for (fit,) in seeded.explanations.values()]


def test_a_mark_does_not_replace_the_reason_why_a_model_is_not_private():
    seeded = Guarantee.not_private("seeded noise")

    assert seeded.for_samples(public=False) is seeded
    assert seeded.marked("It holds.") == "NOT PRIVATE: it holds."
