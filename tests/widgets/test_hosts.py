"""Hosts that run notebooks but no widgets get the exported page."""

from __future__ import annotations

import dataclasses
import html.parser
import sys

import nbformat
import pytest
from nbconvert import HTMLExporter
from nbconvert.preprocessors import ExecutePreprocessor

import dpexplain.io
import dpexplain_widgets
import view_examples
from dpexplain_widgets import Explorer
from dpexplain_widgets.export import hosts
from dpexplain_widgets.export.export import page_of
from dpexplain_widgets.export.hosts import shown_as
from dpexplain_widgets.views import base
from example_filters import picture_comparison

VIEWS = [name for name in dpexplain_widgets.__all__ if name != "write_page"]
WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.fixture(autouse=True)
def no_host(monkeypatch):
    for name in (*hosts._WITHOUT_WIDGETS, hosts.VARIABLE):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def comparison():
    return view_examples.comparison(epsilons=(0.5, 1.0))


class Frame(html.parser.HTMLParser):
    """Collects the elements of a text, and the attributes of its frames."""

    def __init__(self, text):
        super().__init__()
        self.names, self.frames = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        if tag == "iframe":
            self.frames.append(dict(attrs))


def test_a_view_is_a_widget_where_no_host_is_known():
    assert shown_as() == "widget"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABRICKS_RUNTIME_VERSION", "15.4"),
        ("KAGGLE_KERNEL_RUN_TYPE", "Interactive"),
        ("HEX_PROJECT_ID", "1f"),
    ],
)
def test_hosts_without_widgets_are_known_by_their_environment(name, value, monkeypatch):
    monkeypatch.setenv(name, value)
    assert shown_as() == "page"
    monkeypatch.setenv("DPEXPLAIN_VIEWS", "widget")
    assert shown_as() == "widget"


def test_hex_is_known_by_a_variable_of_the_notebook(monkeypatch):
    monkeypatch.setattr(sys.modules["__main__"], "hex_project_id", "1f", raising=False)
    assert shown_as() == "page"


def test_an_unknown_request_says_what_is_possible(monkeypatch):
    monkeypatch.setenv("DPEXPLAIN_VIEWS", "pages")
    with pytest.raises(ValueError, match="'pages' must be 'widget' or 'page'; unset it"):
        shown_as()


def test_a_host_without_widgets_gets_the_release_safe_page_and_the_picture(comparison, monkeypatch):
    view = Explorer(comparison, term="age")
    still = view._repr_mimebundle_()[0]["image/png"]
    monkeypatch.setenv("DPEXPLAIN_VIEWS", "page")
    data, metadata = view._repr_mimebundle_()

    assert set(data) == {"text/plain", "text/html", "image/png"}
    assert set(metadata) == {"image/png"}
    assert data["image/png"] == still
    (frame,) = Frame(data["text/html"]).frames
    assert frame["srcdoc"] == page_of(view, release_safe=True)
    assert set(frame["sandbox"].split()) == {"allow-scripts", "allow-downloads"}
    assert still in data["text/html"]


def test_the_page_of_a_host_does_not_depend_on_the_reference(comparison, monkeypatch):
    monkeypatch.setenv("DPEXPLAIN_VIEWS", "page")
    terms = tuple(
        dataclasses.replace(term, contribution=[-3.0 * each for each in term.contribution[::-1]])
        for term in comparison.reference.terms
    )
    metrics = comparison.metrics.assign(value=comparison.metrics["value"] / 2)
    other = dataclasses.replace(
        comparison,
        reference=dataclasses.replace(comparison.reference, terms=terms),
        metrics=metrics,
    )
    texts = [Explorer(each, epsilon_index=2)._repr_mimebundle_()[0] for each in (comparison, other)]
    assert texts[0] == texts[1]


def test_one_output_is_displayed_in_a_host_without_widgets(comparison, monkeypatch):
    sent = []
    monkeypatch.setattr(base, "publish_display_data", lambda data, _: sent.append(data))
    monkeypatch.setenv("KAGGLE_KERNEL_RUN_TYPE", "Batch")
    Explorer(comparison)._ipython_display_()

    (data,) = sent
    assert WIDGET not in data
    assert len(Frame(data["text/html"]).frames) == 1


def test_a_view_of_nothing_private_says_how_to_see_it(comparison, monkeypatch):
    monkeypatch.setenv("DPEXPLAIN_VIEWS", "page")
    data, _ = Explorer(comparison.reference)._repr_mimebundle_()

    assert Frame(data["text/html"]).frames == []
    assert "For your own use, release_safe=False writes everything" in data["text/html"]
    assert "NOT PRIVATE" in data["text/html"]


def test_a_payload_with_a_reference_is_not_framed_and_says_what_to_pass(comparison, monkeypatch):
    monkeypatch.setenv("DPEXPLAIN_VIEWS", "page")
    data, _ = Explorer(Explorer(comparison).payload)._repr_mimebundle_()

    assert Frame(data["text/html"]).frames == []
    assert (
        "a page cannot be shown: the payload contains a non-private reference" in data["text/html"]
    )


@pytest.mark.full
@pytest.mark.parametrize("name", VIEWS)
def test_every_view_has_a_page_for_hosts_without_widgets(name, comparison, monkeypatch):
    monkeypatch.setenv("DPEXPLAIN_VIEWS", "page")
    source = picture_comparison() if name == "FilterView" else comparison
    data, _ = getattr(dpexplain_widgets, name)(source)._repr_mimebundle_()
    assert len(Frame(data["text/html"]).frames) == 1


@pytest.mark.full
def test_a_notebook_run_by_nbconvert_keeps_the_page_on_request(tmp_path, monkeypatch):
    monkeypatch.setenv("DPEXPLAIN_VIEWS", "page")
    path = dpexplain.io.save(
        view_examples.comparison(epsilons=(1.0,)), tmp_path / "comparison.json"
    )
    source = (
        "import dpexplain.io\nfrom dpexplain_widgets import Explorer\n"
        f"Explorer(dpexplain.io.load({str(path)!r}))"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    text, _ = HTMLExporter().from_notebook_node(
        *ExecutePreprocessor(kernel_name="python3").preprocess(notebook, {})
    )
    frames = [each for each in Frame(text).frames if "srcdoc" in each]
    assert [each["title"] for each in frames] == ["Interactive page"]
    assert 'id="dpx-static"' in frames[0]["srcdoc"]


def test_names_from_data_add_no_element_around_the_frame(monkeypatch):
    monkeypatch.setenv("DPEXPLAIN_VIEWS", "page")
    hostile = view_examples.comparison(
        view_examples.hostile_terms(), (1.0,), title='"><script>parent.stolen=1</script>'
    )
    names = Frame(Explorer(hostile)._repr_mimebundle_()[0]["text/html"]).names
    plain = {"bdi", "div", "strong", "style", "table", "tbody", "td", "th", "thead", "tr"}

    assert set(names) == plain | {"iframe", "img"}
    assert (names.count("iframe"), names.count("img"), names.count("style")) == (1, 1, 1)
