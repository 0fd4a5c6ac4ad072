"""One Explorer of a model with three classes: what it shows, costs and gives back."""

from __future__ import annotations

import functools
import json

import numpy as np
import pandas as pd
import pytest

from dpexplain.compare import MulticlassComparison, sweep
from dpexplain.edit import EditLog, Shift
from dpexplain.explain import MulticlassExplanation
from dpexplain.models import DPExplainableBoostingClassifier
from dpexplain.schema import Categorical, Classes, Numeric, Schema
from dpexplain_widgets import Explorer, LocalView
from dpexplain_widgets.export.page import state_of

pytestmark = pytest.mark.full

CLASSES = ("home", "bed", "theatre")
SCHEMA = Schema(
    {"age": Numeric(0, 100, step=1), "ward": Categorical(["A", "B"])},
    target=Classes(list(CLASSES), name="triage"),
)


@functools.cache
def comparison() -> MulticlassComparison:
    """A sweep over two epsilons."""
    rng = np.random.default_rng(8)
    X = pd.DataFrame({"age": rng.integers(0, 100, 600), "ward": rng.choice(["A", "B"], 600)})
    y = np.array(CLASSES)[np.clip(X["age"] // 40 + (rng.random(600) > 0.7), 0, 2)]
    model = DPExplainableBoostingClassifier(schema=SCHEMA, max_rounds=3)
    return sweep(model, X, y, epsilons=(1, 4), evaluate=(X, y), progress=False)


def test_a_sweep_of_three_classes_shows_one_model_with_a_class_to_choose():
    view = Explorer(comparison())

    assert view.model_names == CLASSES
    for name in CLASSES:
        view.model_name = name
        assert view.shown["target"]["shown_class"] == name
        assert f", class {name}" in repr(view)
        part = comparison().for_class(name)
        chosen = part.frame()[part.frame()["epsilon"] == 1.0]
        chosen = chosen[chosen["term"] == view.term].reset_index(drop=True)
        pd.testing.assert_frame_equal(view.selection, chosen)


def test_a_sweep_of_three_classes_has_the_fits_of_one_of_two_classes():
    found = comparison()
    assert list(found.explanations) == [1.0, 4.0]
    (fit,) = found.explanations[4]
    assert fit.classes == found.reference.classes == CLASSES
    assert fit.guarantee.epsilon == 4.0
    assert found.reference.guarantee.private is False
    assert found.fits_by_epsilon()[np.inf] == (found.reference,)
    with pytest.raises(KeyError, match="no fit with epsilon=2; the epsilons are 1, 4"):
        found.explanations[2]
    page = found._repr_html_()
    assert "non-private reference: NOT PRIVATE" in page
    assert page.count("age") >= 3
    assert "macro AUROC *" in page
    assert found.guarantee_words[1] in page


def test_one_model_of_three_classes_costs_what_one_model_costs():
    alone = Explorer(comparison().for_class("bed")).payload["guarantee_words"]
    named = {name: comparison().for_class(name) for name in CLASSES}

    view = Explorer(comparison())
    for name in CLASSES:
        view.model_name = name
        assert view.shown["guarantee_words"] == alone
    assert len(Explorer(named).payload["guarantee_words"]) == len(alone) + 1


def test_an_explanation_of_three_classes_is_shown_as_one_model():
    explanation = comparison().explanations[1.0][0]
    view = Explorer(explanation, model_name="theatre")

    assert view.shown["epsilons"] == [explanation.guarantee.epsilon]
    assert "class theatre" in view._repr_mimebundle_()[0]["text/html"]


def test_every_export_of_three_classes_follows_the_class(tmp_path):
    view = Explorer(comparison(), term="age", model_name="bed")

    text = view.export_html(tmp_path / "page.html").read_text()
    assert "Shape of age, class bed" in text
    first = view.export_svg(tmp_path / "bed.svg").read_text()
    view.model_name = "home"
    assert view.export_svg(tmp_path / "home.svg").read_text() != first
    table = pd.read_csv(view.export_csv(tmp_path / "home.csv"))
    home = comparison().for_class("home").explanations[1.0][0]["age"]
    np.testing.assert_allclose(table["contribution"], home.contribution)
    assert table.columns[0] == "class"
    assert set(table["class"]) == {"home"}
    saved = json.loads(view.export_json(tmp_path / "all.json").read_text())
    assert str(saved).count("'theatre'") > 0


def test_a_releasable_page_of_three_classes_has_no_reference_of_any_class():
    view = Explorer(comparison())
    from dpexplain_widgets.export.export import releasable_view

    smaller = releasable_view(view)
    assert view.payload["others"][1]["reference"] is not None
    assert [each["reference"] for each in (smaller.payload, *smaller.payload["others"])] == [
        None
    ] * 3


def test_the_planner_answers_for_the_class_shown():
    view = Explorer(comparison())
    needed = {}
    for name in CLASSES:
        view.model_name = name
        needed[name] = view.plan["needed"]
        assert {row[0] for row in needed[name]} == {"age", "ward"}
        assert needed[name] == Explorer(comparison().for_class(name)).plan["needed"]
    with pytest.raises(
        TypeError, match=r"three or more classes, pass comparison.for_class\(label\)"
    ):
        Explorer(comparison(), refit=lambda epsilon: None)


def test_edits_change_all_classes_of_the_explanation():
    view = Explorer(comparison(), model_name="bed")
    view.edit_log = EditLog().edit(Shift(view.term, by=0.5, bins=[0]))

    assert isinstance(view.edited, MulticlassExplanation)
    assert view.edited.edits


def test_several_models_side_by_side_still_ask_for_a_class():
    with pytest.raises(ValueError, match="a view of several models takes one class at a time"):
        Explorer({"one": comparison(), "other": comparison()})


def test_samples_are_read_once_for_all_classes():
    rows = pd.DataFrame({"age": [30, 80], "ward": ["A", "B"]})
    view = LocalView(comparison(), rows, sample=1, samples_public=True)

    values = {}
    for name in CLASSES:
        view.model_name = name
        assert view.selection["value"].tolist() == [80.0, "B"]
        values[name] = tuple(view.selection["contribution"])
    assert len(set(values.values())) == 3
    assert "payload" in state_of(view, view.page_traits)
