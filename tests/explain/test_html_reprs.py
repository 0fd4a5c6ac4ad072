"""What a notebook shows: short, escaped, and clearly marked if not private."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given

from example_explanations import (
    HOSTILE_NAMES,
    age,
    classifier,
    global_explanations,
    job,
    local_explanations,
    private_guarantee,
    reference,
    samples,
    shapes,
)

ALLOWED_TAGS = {"div", "strong", "span", "bdi", "table", "thead", "tbody", "tr", "th", "td"}


class _Reader(HTMLParser):
    """Collects tags and attributes, and checks that tags are closed in order."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.open = set(), set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def read(page: str) -> _Reader:
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return reader


def assert_harmless(page: str) -> None:
    reader = read(page)
    assert reader.tags <= ALLOWED_TAGS
    assert reader.attributes <= {"style"}
    assert not reader.open


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_names_stay_text(name):
    shape = age(name=name, unit=name, description=name, score_unit=name)
    terms = (shape, job(categories=(name, "clerk" + name)))
    explanation = classifier(terms=terms, model_name=name, classes=(name, "high"), target_name=name)
    local = samples(target_name=name, bin_labels=((name, name),) * 2, classes=("low" + name, name))
    for shown in (*explanation.terms, explanation, local, private_guarantee()):
        assert_harmless(shown._repr_html_())


@given(shapes())
def test_html_of_any_shape_function_is_harmless_and_short(shape):
    page = shape._repr_html_()
    assert_harmless(page)
    assert len(page) < 12_000


@pytest.mark.full
@given(global_explanations())
def test_html_of_any_global_explanation_is_harmless(explanation):
    assert_harmless(explanation._repr_html_())


@given(local_explanations())
def test_html_of_any_local_explanation_is_harmless(explanation):
    assert_harmless(explanation._repr_html_())


def test_long_explanations_are_cut_and_say_so():
    many = classifier(terms=tuple(age(name=f"feature {index}") for index in range(60)))
    page = many._repr_html_()
    assert page.count("<tr") < 15
    assert "50 more terms" in page
    assert len(page) < 7_500


def test_importances_are_shown_beside_what_noise_alone_would_show():
    page = classifier(terms=(age(), job(noise_std=[0.5] * 4)))._repr_html_()
    assert "from noise alone" in page
    assert f">{age().noise_floor:.4f}<" in page
    assert ">0.399<" in page  # 0.5 * sqrt(2 / pi)
    assert "from noise alone" not in reference()._repr_html_()


def test_the_heading_of_the_table_has_the_whole_unit_of_a_count():
    counts = classifier(link="log", classes=None, target_name="readmissions")
    assert "importance [log of the expected readmissions]" in counts._repr_html_()


def test_non_private_objects_say_so_in_every_repr():
    for shown in (reference(), reference()["age"], reference().guarantee):
        assert "NOT PRIVATE" in repr(shown)
        assert "NOT PRIVATE" in shown._repr_html_()


def test_private_objects_show_their_guarantee_and_no_warning():
    for shown in (classifier(), age(), private_guarantee()):
        assert "(0.5, 1e-06)-DP" in repr(shown)
        assert "(0.5, 1e-06)-DP" in shown._repr_html_()
        assert "NOT PRIVATE" not in shown._repr_html_()


def test_reprs_point_to_the_next_step():
    assert ".frame()" in repr(age())
    assert ".plot()" in repr(classifier())
    assert ".plot(sample)" in repr(samples())


def test_one_sample_is_counted_in_the_singular():
    one = classifier().explain_local({"age": [30], "job": ["nurse"]})
    two = classifier().explain_local({"age": [30, 40], "job": ["nurse", "clerk"]})
    assert "(1 sample, " in repr(one)
    assert "(2 samples, " in repr(two)
    assert "1 sample, " in one._repr_html_()
