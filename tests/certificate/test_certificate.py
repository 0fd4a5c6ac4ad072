"""What a certificate says, what it refuses to certify, and that its page is safe."""

from __future__ import annotations

import html.parser
import math
from types import SimpleNamespace

import pytest

import dpexplain
from certified import EPSILON, EVENT, SCHEMA, certifiable, certified, guarantee
from dpexplain import Numeric, PrivacyLedger, Schema
from dpexplain.accounting import GaussianEvent, Provenance, PureEvent
from dpexplain.accounting.composition import gdp_noise_multiplier
from dpexplain.certificate import Certificate, content, file_hash, load, release, schema_hash
from dpexplain.certificate.odds import (
    chance_words,
    guesses_of_hundred,
    guesses_words,
    odds_words,
)
from dpexplain.explain import Guarantee
from example_explanations import HOSTILE_NAMES, age, classifier, samples


@pytest.fixture
def made(tmp_path):
    return certified(tmp_path)


class Text(html.parser.HTMLParser):
    """Collects the text and tags of a page."""

    def __init__(self, page):
        super().__init__()
        self.words, self.tags = "", ["page"]
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        if self.tags[-1] not in ("script", "style"):
            self.words += data


def test_page_and_json_read_back_to_the_same_certificate(made):
    assert load(made.page) == load(made.data) == made.certificate
    assert Certificate.from_dict(made.certificate.to_dict()) == made.certificate


def test_certificate_states_the_file_the_fit_and_the_ledger(made):
    stated = made.certificate
    ledger = PrivacyLedger.open(made.ledger)

    assert (stated.epsilon, stated.delta, stated.protects) == (EPSILON, 1e-6, "one record")
    assert stated.entry == 1
    assert (stated.model, stated.target, stated.features) == ("DPModel", "income", ("age", "job"))
    assert stated.release_sha256 == file_hash(made.release)
    assert stated.fit.schema == stated.release.schema == schema_hash(SCHEMA)
    assert stated.fit.person == "A. Curie"
    assert stated.head == ledger.head
    assert stated.total_epsilon >= ledger.private_epsilon()
    assert stated.adaptive_epsilon >= ledger.adaptive_epsilon
    assert stated.left_epsilon <= ledger.remaining_epsilon
    assert stated.not_private == ("reference: fitted without noise",)


@pytest.mark.parametrize(
    "words",
    [
        "at most 63 are",  # exp(0.5) / (1 + exp(0.5)) is 62.2 of 100
        "1.7 to 1",
        "1 in 1,000,000",
        "A. Curie",
        "report",
        "A model that predicts 'income' from age, job",
        "DPModel",
        "The cap (limit) is ε = 4",
        "at most ε = 4, the cap, if results decided",
        "Not private: the ledger also holds uses of the data without noise",
        "Unit of privacy",
        "Floating-point safety",
        "Side channels",
        "This page is not digitally signed",
    ],
)
def test_page_says_it_in_plain_words(made, words):
    assert words in Text(made.page.read_text()).words


def for_officers(made):
    """Return what the page says before the parts for specialists."""
    body = made.page.read_text().partition("<body>")[2]
    return Text(body).words.partition("For specialists")[0]


def test_officers_read_the_page_in_two_minutes(made):
    words = for_officers(made)
    assert 250 < len(words.split()) <= 400  # people read 200 and more words per minute
    assert words.index("at most 63 of 100") < words.index("Released") < 600


def test_officers_meet_no_term_before_its_meaning(made):
    words = for_officers(made).removeprefix("Privacy certificate: survey")
    for term, meaning in (
        ("ε", "ε (epsilon), the privacy loss"),
        ("δ", "δ (delta)"),
        ("ledger", "ledger, the book of all uses"),
        ("cap ", "cap (limit)"),
    ):
        assert words.index(term) == words.index(meaning)
    for term in ("schema", "adjacency", "Gaussian", "mechanism", "SHA", "hash", "DPModel"):
        assert term not in words


def test_page_is_short_enough_for_one_sheet(made):
    text = Text(made.page.read_text())

    assert len(text.words.split()) < 600
    assert not {"img", "a", "link", "iframe", "form"} & set(text.tags)
    assert text.tags.count("script") == 1
    assert "@page" in made.page.read_text()


@pytest.mark.parametrize("name", [n for n in HOSTILE_NAMES if n.strip()])
def test_names_cannot_become_markup(tmp_path, name):
    terms = (age(guarantee(), name=name),)
    hostile = certifiable(terms=terms, target_name=name, model_name=name, schema=None)
    made = certified(tmp_path, dataset=name, explanation=hostile)
    text = Text(made.page.read_text())

    assert load(made.page) == made.certificate
    assert made.verified().passed
    assert set(text.tags) == set(Text(certified_page(tmp_path)).tags)
    assert text.tags.count("script") == 1


def certified_page(folder):
    plain = folder / "plain"
    plain.mkdir()
    return certified(plain).page.read_text()


def test_numbers_are_rounded_against_the_promise():
    for epsilon in (0.01, 0.5, 1.0, 3.0, 20.0, 800.0):
        right = guesses_of_hundred(epsilon, 1e-6) / 100.0
        assert right >= 1.0 / (1.0 + math.exp(-epsilon))
    assert guesses_of_hundred(math.inf, 1e-6) == 100
    for epsilon in (5.0, 20.0, 800.0, math.inf):  # no bound that looks like a promise
        assert guesses_words(epsilon, 1e-6) == "possibly more than 99"
    assert guesses_words(4.0, 1e-6) == "at most 99"
    assert odds_words(0.1) == "1.2 to 1"
    assert odds_words(5.0) == "149 to 1"
    assert odds_words(math.inf) == "more than a million to 1"
    assert chance_words(3e-7) == "1 in 3,330,000"


def test_release_is_recorded_and_the_entry_found_again_by_its_hash(made):
    ledger = PrivacyLedger.open(made.ledger)
    ledger.charge([EVENT], label="DPModel (epsilon=0.5)")
    again = release(made.release, ledger, person="B. Bohr")

    assert again.entry == 1
    assert [file.entry for file in ledger.releases] == [1, 1]
    assert again.release.person == "B. Bohr"
    assert "Computed by" in again.html()


def refused(ledger, words, path, **options):
    before = ledger.to_json()
    with pytest.raises(ValueError, match=words):
        release(path, ledger, **options)
    assert ledger.to_json() == before


def test_entry_must_be_named_where_two_fit(made, tmp_path):
    ledger = PrivacyLedger("another survey")
    for _ in range(2):
        ledger.charge([EVENT], label="DPModel (epsilon=0.5)")

    refused(ledger, "2 entries that promise .* pass entry= with one of 0, 1", made.release)
    refused(ledger, "In a shell, pass --entry", made.release)
    assert release(made.release, ledger, entry=1).entry == 1


@pytest.mark.parametrize("event", [GaussianEvent("sums", 1.0), GaussianEvent("sums", 500.0)])
def test_ledger_of_another_fit_is_refused(made, event):
    ledger = PrivacyLedger("another survey")
    ledger.charge([event], label="DPModel (epsilon=0.5)")

    refused(ledger, "0 entries that promise", made.release)
    refused(ledger, "entry=0 does not promise what the file does", made.release, entry=0)


def test_entry_that_paid_half_and_one_of_another_target_are_refused(made):
    ledger = PrivacyLedger("another survey")
    half = GaussianEvent("sums", gdp_noise_multiplier(1, 0.6 * EPSILON, 1e-6))
    ledger.charge([half], label="DPModel (epsilon=0.3)")
    refused(ledger, "0 entries that promise", made.release)

    ledger.charge([EVENT], label="DPModel", provenance=Provenance(target="readmitted"))
    refused(ledger, "0 entries that promise", made.release)
    ledger.charge([EVENT], label="DPModel", provenance=Provenance(target="income"))
    assert release(made.release, ledger).entry == 2


def test_verification_counts_other_files_of_the_same_entry(made):
    ledger = PrivacyLedger.open(made.ledger)
    assert "recorded for the same fit" not in made.verified().text()
    ledger.add_release(1, "0" * 64)
    assert "; 1 other file is recorded for the same fit" in made.verified().text()


def test_schema_of_another_fit_is_refused(made):
    other = Schema({"age": Numeric(0, 1)}, target=SCHEMA.target)

    refused(PrivacyLedger.open(made.ledger), "not the one of the fit", made.release, schema=other)


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (classifier(Guarantee.not_private("fitted without noise")), "is NOT PRIVATE"),
        (samples(), "contains a LocalExplanation"),
    ],
)
def test_what_is_not_a_private_model_is_refused(made, shown, words):
    path = made.folder / "other.json"
    dpexplain.io.save(shown, path)

    refused(PrivacyLedger.open(made.ledger), words, path)


@pytest.mark.full
def test_pure_guarantee_is_certified_with_delta_zero(tmp_path):
    pure = Guarantee(1.0, 0.0, "add_remove", True, version="0.1.0")
    dpexplain.io.save(classifier(pure, model_name="DPForest"), tmp_path / "forest.json")
    ledger = PrivacyLedger("forest survey")
    ledger.charge([PureEvent("splits", 0.25, 4)], label="DPForest (epsilon=1)")
    certificate = release(tmp_path / "forest.json", ledger)

    assert (certificate.epsilon, certificate.delta) == (1.0, 0.0)
    assert "δ = 0 for the file" in certificate.html()
    assert "no cap (limit)" in certificate.html()
    assert "chance that this promise fails" not in certificate.html()


def test_explanation_that_is_not_in_a_file_is_answered_with_how_to_save_it(made):
    shown = dpexplain.io.load(made.release)
    with pytest.raises(TypeError, match=r"save it with dpexplain\.io\.save\(explanation, 'model"):
        release(shown, PrivacyLedger("visits"))


def test_file_name_decides_the_form(made):
    with pytest.raises(ValueError, match=r"must end in \.html, \.pdf, \.md or \.json"):
        made.certificate.save(made.folder / "certificate.txt")


def test_notebook_shows_the_page_without_the_data(made):
    assert "<script" not in made.certificate._repr_html_()


@pytest.mark.parametrize(
    ("adjacency", "said", "unsaid"),
    [
        ("add_remove", "whether a certain record is in it", "different values"),
        ("replace", "which of two values a certain record has", "is in it"),
    ],
)
def test_the_page_promises_to_hide_presence_only_where_the_guarantee_does(adjacency, said, unsaid):
    stated = SimpleNamespace(
        **{"adjacency": adjacency, "protects": "one record", "epsilon": 1.0, "delta": 1e-6},
        **{"adaptive_epsilon": 1.0, "total_delta": 1e-6, "cap_epsilon": 2.0},
    )
    words = " ".join(content._meaning(stated))
    assert said in words
    assert unsaid not in words
