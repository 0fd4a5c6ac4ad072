"""What ``dpexplain explain`` prints about results that are not private begins by saying so."""

from __future__ import annotations

import csv
import io
from copy import copy

import pytest

import dpexplain
from dpexplain.cli import main
from dpexplain.compare.releasable import releasable
from dpexplain.explain import MulticlassLocalExplanation
from example_explanations import classifier, reference, samples
from example_filters import filter_samples
from view_examples import comparison

_MARK = "do not publish"


def of_classes(public):
    names = ("low", "middle", "high")
    parts = [
        samples(
            link="softmax",
            classes=names,
            of_class=name,
            rest_score=[0.0] * 2,
            samples_public=public,
        )
        for name in names
    ]
    return MulticlassLocalExplanation(tuple(parts))


SHOWN = {
    "samples": lambda public: samples(samples_public=public),
    "samples of classes": of_classes,
    "samples of filters": filter_samples,
    "reference": lambda public: classifier() if public else reference(),
    "comparison": lambda public: (releasable if public else copy)(comparison(epsilons=(1.0, 8.0))),
}


def said(shown, tmp_path, capsys, *options):
    dpexplain.io.save(shown, tmp_path / "shown.json")
    assert main(["explain", str(tmp_path / "shown.json"), *options]) == 0
    return capsys.readouterr()


@pytest.mark.parametrize("kind", SHOWN)
def test_text_and_tables_of_what_is_not_private_are_marked(kind, tmp_path, capsys):
    for options in ((), ("--csv",)):
        marked = said(SHOWN[kind](False), tmp_path, capsys, *options)
        assert _MARK in marked.err
        if options:
            rows = list(csv.DictReader(io.StringIO(marked.out)))
            assert all(_MARK in row["guarantee"] for row in rows) or kind == "comparison"
            assert any(row["private"] == "False" for row in rows)
        plain = said(SHOWN[kind](True), tmp_path, capsys, *options)
        assert _MARK not in plain.err + plain.out


@pytest.mark.parametrize("kind", ["samples", "samples of classes", "samples of filters"])
def test_description_of_samples_that_are_not_public_begins_with_the_mark(kind):
    shown = SHOWN[kind](False)
    assert next(iter(shown.describe())) == "Shows samples not marked public — do not publish."
    assert next(iter(SHOWN[kind](True).describe())) == shown.guarantee.statement()


def test_table_of_one_term_is_marked_and_stays_readable_as_csv(tmp_path, capsys):
    marked = said(samples(), tmp_path, capsys, "--term", "age", "--csv")
    assert "samples not marked public" in marked.err.lower()
    assert [row["sample"] for row in csv.DictReader(io.StringIO(marked.out))] == ["0", "1"]
