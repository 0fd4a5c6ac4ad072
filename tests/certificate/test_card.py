"""The certificate as a model card: its metadata, its text, and escaped names."""

from __future__ import annotations

import dataclasses
import math

import pytest
import yaml

from certified import certified
from dpexplain.certificate import load
from dpexplain.certificate.content import sections_of
from example_explanations import HOSTILE_NAMES

markdown = pytest.importorskip("markdown_it")


@pytest.fixture
def made(tmp_path):
    return certified(tmp_path)


def metadata(card):
    """Read the YAML between the first two lines of dashes, as Hugging Face does."""
    assert card.startswith("---\n")
    return yaml.safe_load(card[4:].split("\n---\n")[0])


def html_of(card):
    """Render the text below the metadata, with tables and links as GitHub does."""
    body = card[4:].split("\n---\n", 1)[1]
    return markdown.MarkdownIt("commonmark", {"html": True}).enable("table").render(body)


def words_of(text):
    return " ".join("".join(each for each in text if each not in "\\\u2068\u2069").split())


def test_the_metadata_state_the_guarantee(made):
    stated = made.certificate
    found = metadata(stated.card())

    assert found["library_name"] == "dpexplain"
    assert "differential-privacy" in found["tags"]
    privacy = found["differential_privacy"]
    assert (privacy["epsilon"], privacy["delta"]) == (stated.epsilon, stated.delta)
    assert (privacy["unit"], privacy["adjacency"]) == ("one record", "add_remove")
    assert privacy["epsilon_of_the_data_set"] == stated.adaptive_epsilon
    assert privacy["released_file_sha256"] == stated.release_sha256


@pytest.mark.parametrize("epsilon", [1e-7, 0.25, 1e22, math.inf])
def test_numbers_of_any_size_are_numbers_in_the_metadata(made, epsilon):
    stated = dataclasses.replace(made.certificate, adaptive_epsilon=epsilon)
    assert metadata(stated.card())["differential_privacy"]["epsilon_of_the_data_set"] == epsilon


def test_the_card_says_what_the_page_says(made):
    said = words_of(made.certificate.card())
    for section in sections_of(made.certificate):
        for text in (section.heading, *section.paragraphs, section.warning):
            assert words_of(text) in said
        for name, text in section.rows:
            assert f"| {words_of(name)} | {words_of(text)} |" in said


def test_a_saved_card_reads_back_and_verifies(made):
    card = made.certificate.save(made.folder / "README.md")
    assert load(card) == made.certificate
    assert made.verified(card).passed


def test_a_changed_card_is_refused(made):
    card = made.certificate.save(made.folder / "README.md")
    text = card.read_text(encoding="utf-8")
    for old, new in (("  epsilon: 0.5", "  epsilon: 0.1"), ("one record", "ten records")):
        assert old in text
        card.write_text(text.replace(old, new, 1), encoding="utf-8")
        with pytest.raises(ValueError, match="differs from what"):
            load(card)
    card.write_text("# A model\n", encoding="utf-8")
    with pytest.raises(ValueError, match="the model card contains no certificate"):
        load(card)


HOSTILE = (
    *HOSTILE_NAMES,
    "[click](javascript:alert(1))",
    "![i](https://example.org/i.png)",
    "https://example.org and www.example.org",
    "a | b\n\n---\nlicense: mit",
    "`code` **bold** <!-- dpexplain-certificate",
    "שלום 5",
    '"quoted": \\ yes',
    "\u2028\u0085\u200f\ufeff",
)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_in_a_card_stay_words(made, name):
    def named(name):
        changed = {"dataset": name, "features": (name,), "target": name, "protects": name}
        return dataclasses.replace(made.certificate, **changed)

    stated = named(name)
    card = stated.save(made.folder / "README.md")
    assert load(card) == stated
    text = card.read_text(encoding="utf-8")
    assert set(metadata(text)) == {"library_name", "tags", "differential_privacy"}

    usual, shown = html_of(named("name").card()), html_of(text)
    usual, shown = (each.split("<!-- dpexplain")[0] for each in (usual, shown))
    for element in ("<a", "<img", "<script", "<code", "<em", "<h1", "<h2", "<tr", "<hr", "<p"):
        assert shown.count(element) == usual.count(element), element
    for address in ("https://", "www."):
        assert address not in text.split("\n<!-- dpexplain")[0].split("\n---\n", 1)[1]
