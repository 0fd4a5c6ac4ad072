"""What a view returns: a table of the selection, a line, and HTML without a kernel."""

from __future__ import annotations

import base64
import dataclasses
import html.parser
import io
import math

import pandas as pd
import pytest
from PIL import Image

import dpexplain_widgets
import view_examples
from dpexplain_widgets import Explorer, LedgerView, ShapeView
from dpexplain_widgets.views import base as base_module
from example_explanations import age, classifier, job

VIEWS = [getattr(dpexplain_widgets, name) for name in view_examples.view_names()]


class Elements(html.parser.HTMLParser):
    """Collects the names of the elements of a text, and the text inside them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        assert {name for name, _ in attrs} <= {"src", "width", "alt", "style"}
        assert tag == "img" or not attrs

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def comparison():
    return view_examples.comparison(n_repeats=2)


@pytest.mark.full
@pytest.mark.parametrize("term", ["age", "occupation"])
@pytest.mark.parametrize(("index", "epsilon", "repeat"), [(1, 0.5, 1), (6, math.inf, 0)])
def test_selection_is_the_part_of_the_comparison_that_is_shown(
    comparison, term, index, epsilon, repeat
):
    view = ShapeView(comparison, term=term, epsilon_index=index, repeat=1)
    frame = comparison.frame()
    chosen = (frame["epsilon"] == epsilon) & (frame["repeat"] == repeat) & (frame["term"] == term)

    pd.testing.assert_frame_equal(view.selection, frame[chosen].reset_index(drop=True))


@pytest.mark.parametrize("known", [True, False])
def test_selection_says_what_is_estimated_of_people(known):
    term = age(effect=[-0.4, 0.2, 0.4, 0.0], effect_std=[0.1] * 4, effect_factor=3.0)
    explanation = classifier(terms=(term if known else age(), job()))
    view = ShapeView(explanation, term="age")

    columns = ["effect", "effect_std", "effect_low", "effect_high", "effect_signal"]
    wanted = explanation["age"].frame()[columns]
    pd.testing.assert_frame_equal(view.selection[columns], wanted)
    assert wanted["effect_signal"].tolist() == ([True, False, True, False] if known else [None] * 4)


def test_a_chosen_bin_is_the_only_row(comparison):
    view = Explorer(comparison, term="age", bin_index=24)

    assert view.selection["bin"].tolist() == ["missing"]
    assert view.selection["special"].tolist() == [True]


def test_selection_of_a_ledger_is_empty(comparison):
    assert LedgerView(comparison.ledger).selection.empty


def test_repr_names_view_term_and_guarantee(comparison):
    view = Explorer(comparison, term="age", epsilon_index=1)

    assert repr(view) == (
        "Explorer('Affairs in a survey of 1974', term 'age'; (0.5, 1e-06)-DP, add/remove)"
    )
    view.epsilon_index = 6
    assert "NOT PRIVATE" in repr(view)


def test_a_closed_view_says_so_instead_of_failing(comparison, monkeypatch):
    view = ShapeView(comparison)
    view.close()
    shown = []
    monkeypatch.setattr(base_module, "publish_display_data", shown.append)
    view._ipython_display_()
    assert [each["text/plain"] for each in shown] == [
        f"{view!r} is closed; create it again to show it."
    ]


def test_repr_stays_short_with_long_names():
    long = view_examples.comparison(view_examples.hostile_terms(), title="t" * 10_000)

    assert len(repr(Explorer(long, term="x" * 10_000))) < 250


@pytest.mark.full
@pytest.mark.parametrize("view", VIEWS)
def test_bundle_of_a_view_has_a_widget_a_text_a_static_table_and_a_picture(view, comparison):
    data, _ = view(comparison)._repr_mimebundle_()

    assert set(data) == {
        "text/plain",
        "text/html",
        "image/png",
        "application/vnd.jupyter.widget-view+json",
    }
    elements = Elements(data["text/html"])
    assert "(1, 1e-06)-DP, add/remove" in elements.text
    assert elements.names.count("img") == 1
    assert f'src="data:image/png;base64,{data["image/png"]}"' in data["text/html"]


def sent_outputs(view, monkeypatch):
    """Return what a notebook stores after the view was shown."""
    sent = []
    monkeypatch.setattr(base_module, "publish_display_data", lambda data, _: sent.append(data))
    view._ipython_display_()
    return sent


def test_a_notebook_keeps_the_view_and_next_to_it_the_table_with_the_picture(
    comparison, monkeypatch
):
    view = Explorer(comparison)
    shown, kept = sent_outputs(view, monkeypatch)

    assert set(shown) == {"text/plain", "application/vnd.jupyter.widget-view+json"}
    assert set(kept) == {"text/html", "image/png"}
    assert "data:image/png" in kept["text/html"]
    assert f'data-dpx-still="{view._still}"' in kept["text/html"]
    assert Explorer(comparison)._still != view._still


def test_a_notebook_keeps_nothing_of_the_reference_and_no_metric(comparison, monkeypatch):
    kept = [
        sent_outputs(Explorer(source, epsilon_index=index, **choices), monkeypatch)[1]
        for source, index, choices in (
            (comparison, 6, {"term": "age"}),
            (dataclasses.replace(comparison, reference=None, metrics=None), 5,
             {"term": "age", "repeat": 1}),
        )
    ]  # fmt: skip

    assert kept[0]["image/png"] == kept[1]["image/png"]
    for term in comparison.reference.terms:
        assert f"{term.importance:.3g}</td>" not in kept[0]["text/html"]
    assert "AUROC" not in kept[0]["text/html"]


def with_another_reference(comparison):
    """Return the same private fits next to a steeper reference and other metrics."""
    terms = tuple(
        dataclasses.replace(term, contribution=[-3.0 * each for each in term.contribution[::-1]])
        for term in comparison.reference.terms
    )
    metrics = comparison.metrics.assign(value=comparison.metrics["value"] / 2)
    reference = dataclasses.replace(comparison.reference, terms=terms, intercept=7.0)
    return dataclasses.replace(comparison, reference=reference, metrics=metrics)


@pytest.mark.full
@pytest.mark.parametrize("view", [Explorer, dpexplain_widgets.EditView, LedgerView])
def test_no_view_keeps_anything_that_depends_on_the_reference(view, comparison, monkeypatch):
    kept = []
    for source in (comparison, with_another_reference(comparison)):
        shown = view(source, epsilon_index=len(comparison.epsilons))
        words, still = sent_outputs(shown, monkeypatch)
        parts = {name: part.replace(shown._still, "") for name, part in still.items()}
        kept.append((parts, words["text/plain"], repr(shown)))
    assert kept[0] == kept[1]


def test_static_table_holds_the_shown_fit_and_nothing_of_the_reference(comparison):
    view = Explorer(comparison, epsilon_index=1)
    shown = Elements(view._repr_mimebundle_()[0]["text/html"]).text

    for term in view.payload["fits"][1][0]["terms"]:
        assert f"{term['importance']:.3g}" in shown
    for term in view.payload["reference"]["terms"]:
        assert f"{term['importance']:.3g}" not in shown
    assert "0.748" not in shown


def static_text(view):
    return Elements(view._repr_mimebundle_()[0]["text/html"]).text


@pytest.mark.full
def test_static_table_at_the_reference_holds_the_last_private_fit_instead(comparison):
    view = Explorer(comparison, epsilon_index=6)
    shown = static_text(view)

    assert view.epsilon == math.inf
    assert "The non-private reference is left out here." in shown
    assert "(8, 1e-06)-DP, add/remove" in shown
    cells = view._repr_mimebundle_()[0]["text/html"]
    for term in view.payload["fits"][-1][-1]["terms"]:
        assert f"<td>{term['importance']:.3g}</td>" in cells
    for term in view.payload["reference"]["terms"]:
        assert f"<td>{term['importance']:.3g}</td>" not in cells
    assert "AUROC" not in shown


def test_static_text_of_a_reference_alone_is_a_sentence_without_numbers(comparison):
    view = Explorer(comparison.reference)
    shown = static_text(view)

    assert "NOT PRIVATE" in shown
    assert not any(f"{term['importance']:.3g}" in shown for term in view._fit()["terms"])
    assert "table" not in Elements(view._repr_mimebundle_()[0]["text/html"]).names


def test_static_text_at_the_reference_takes_no_seeded_fit_for_a_private_one():
    seeded = view_examples.comparison(private=False)
    view = Explorer(seeded, epsilon_index=len(seeded.epsilons))

    assert "NOT PRIVATE" in static_text(view)
    assert "table" not in Elements(view._repr_mimebundle_()[0]["text/html"]).names


def test_static_table_says_when_the_shown_fit_is_not_private():
    assert "NOT PRIVATE" in static_text(Explorer(view_examples.comparison(private=False)))


@pytest.mark.full
def test_static_table_of_hostile_names_has_no_element_of_theirs():
    hostile = view_examples.comparison(
        view_examples.hostile_terms(), title=view_examples.HOSTILE_NAMES[1]
    )
    data = Explorer(hostile)._repr_mimebundle_()[0]
    text = data["text/html"].replace(data["image/png"], "")
    elements = Elements(text)

    allowed = {"img", "div", "strong", "bdi", "table", "thead", "tbody", "tr", "th", "td"}
    assert set(elements.names) <= allowed
    assert "$\\input" in elements.text
    assert len(text) < 6_000


def static_picture(view):
    return base64.b64decode(view._repr_mimebundle_()[0]["image/png"])


@pytest.mark.full
def test_static_picture_says_its_guarantee_and_shows_what_is_chosen(comparison):
    pictures = [
        static_picture(Explorer(comparison, term=term, epsilon_index=k))
        for term, k in (("age", 1), ("age", 2), ("occupation", 1))
    ]

    assert len(set(pictures)) == 3
    with Image.open(io.BytesIO(pictures[0])) as image:
        assert "(0.5, 1e-06)-differential privacy" in image.text["Description"]
        assert image.text["Title"].startswith("Importances, and the shape of age")
        assert len(image.convert("RGB").getcolors()) > 10


def test_static_picture_never_shows_what_is_not_private(comparison):
    at_reference = Explorer(comparison, term="age", epsilon_index=6)
    private = dataclasses.replace(comparison, reference=None)
    largest = Explorer(private, term="age", epsilon_index=5, repeat=1)

    assert static_picture(at_reference) == static_picture(largest)
    for source in (comparison.reference, view_examples.comparison(private=False)):
        assert "image/png" not in Explorer(source)._repr_mimebundle_()[0]


@pytest.mark.full
def test_static_picture_stays_small_whatever_the_model():
    terms = [*view_examples.hostile_terms(), *view_examples.wide_terms(60, 40)]
    view = Explorer(view_examples.comparison(terms, (1.0,), title="t" * 10_000), term="group 1")

    assert len(static_picture(view)) < 60_000


def test_static_table_of_a_ledger_is_its_words(comparison):
    text = LedgerView(comparison.ledger)._repr_mimebundle_()[0]["text/html"]

    assert comparison.ledger.words()[:80] in Elements(text).text


def test_a_chosen_range_gives_its_rows(comparison):
    view = Explorer(comparison, term="age", bin_range=[3, 7])
    whole = Explorer(comparison, term="age").selection

    assert view.selection["bin"].tolist() == whole["bin"].tolist()[3:8]
