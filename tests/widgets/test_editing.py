"""Edits in a view: the trait, edited explanations and models, and the cost of measuring."""

from __future__ import annotations

import dataclasses
import html

import numpy as np
import pytest
import traitlets

import view_examples
from dpexplain import PrivacyLedger
from dpexplain.accounting import GaussianEvent
from dpexplain.edit import EditLog, Monotone, Shift
from dpexplain.exceptions import PrivacyWarning
from dpexplain_widgets import EditView, Explorer, ShapeView
from dpexplain_widgets.payload.payload import build_payload
from example_explanations import classifier

LOG = EditLog().edit(Shift("age", by=0.5), note="why")


@pytest.fixture
def view():
    return EditView(classifier(), term="age")


def test_log_is_kept_as_plain_values(view):
    view.edit_log = LOG

    assert view.edits["entries"][0]["operation"] == {
        "operation": "shift", "term": "age", "by": 0.5
    }  # fmt: skip
    assert view.edit_log == LOG


def test_view_starts_without_edits(view):
    assert view.edits == {}
    assert view.edit_log == EditLog()


@pytest.mark.parametrize(
    "edits",
    [
        {"entries": []},
        {"entries": [{}], "head": 0, "undone": [], "checkpoints": [], "layout": None},
        {"entries": [], "head": 3, "undone": [], "checkpoints": [], "layout": None},
    ],
)
def test_malformed_log_is_refused_and_leaves_the_old_one(view, edits):
    view.edit_log = LOG

    with pytest.raises(traitlets.TraitError, match="edits"):
        view.edits = edits
    assert view.edit_log == LOG


def test_edited_is_the_explanation_with_the_current_edits(view):
    view.edit_log = LOG

    assert view.edited == LOG.apply(classifier())


def test_edited_follows_the_chosen_epsilon():
    comparison = view_examples.comparison()
    explorer = Explorer(comparison, epsilon_index=3)
    explorer.edit_log = LOG

    expected = LOG.apply(comparison.explanations[comparison.epsilons[3]][0])
    assert explorer.edited == expected
    explorer.epsilon_index = len(comparison.epsilons)
    assert not explorer.edited.guarantee.private


def test_view_of_a_payload_has_no_explanation_to_edit():
    view = EditView(build_payload(classifier()))
    view.edit_log = LOG

    with pytest.raises(ValueError, match="holds no explanation"):
        view.edited  # noqa: B018


def test_edits_are_shared_by_linked_views():
    explorer = Explorer(view_examples.comparison())
    shape = ShapeView(explorer)
    explorer.edit_log = LOG

    assert shape.edit_log == LOG


def test_to_model_gives_the_edited_model(view):
    class Model:
        def explain_global(self):
            return classifier()

        def with_curves(self, explanation):
            return explanation

    view.edit_log = LOG

    np.testing.assert_array_equal(
        view.to_model(Model())["age"].contribution, LOG.apply(classifier())["age"].contribution
    )


def test_measuring_on_public_data_is_free(view):
    seen = []
    view.edit_log = LOG
    view.measure_edits(lambda explanation: seen.append(explanation) or {"AUROC": 0.75})
    view.evaluation_request += 1

    assert view.evaluation == {"cost": "", "metrics": {"AUROC": 0.75}, "problem": ""}
    assert seen == [LOG.apply(classifier())]


@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_measuring_on_private_data_is_charged_each_time_before_it_happens(view, adjacency):
    ledger = PrivacyLedger("held out", cap_epsilon=1.0, delta=1e-6, adjacency=adjacency)
    entries = []

    def measure(explanation):
        entries.append(len(ledger.summary().entries))
        return {"AUROC": 0.7}

    view.measure_edits(measure, ledger=ledger, price=[GaussianEvent("AUROC", 20.0)])
    assert len(ledger.summary().entries) == 0
    assert "of the ledger 'held out'" in view.evaluation["cost"]
    view.evaluation_request += 1
    view.evaluation_request += 1

    assert entries == [1, 2]
    assert len(ledger.summary().entries) == 2


def test_the_ledger_on_screen_holds_what_a_measurement_was_charged():
    ledger = PrivacyLedger("stays")
    ledger.charge([GaussianEvent("fits", 4.0)], label="fits")
    source = dataclasses.replace(view_examples.comparison(), ledger=ledger.summary())
    view = Explorer(source)
    price = [GaussianEvent("AUROC", 2.0)]
    view.measure_edits(lambda _: {"AUROC": 1 / 0}, ledger=ledger, price=price)
    view.evaluation_request += 1

    assert view.evaluation["problem"] == "not measured: ZeroDivisionError"
    assert view.payload["ledger"] == ledger.summary().to_dict()
    assert view.origin.source.ledger == ledger.summary()

    with pytest.warns(PrivacyWarning, match="another ledger"):
        second = PrivacyLedger("stays")
    view.measure_edits(lambda _: {}, ledger=second, price=price)
    view.evaluation_request += 1
    assert view.origin.source.ledger == ledger.summary()


def test_measuring_stops_where_the_ledger_cannot_pay(view):
    ledger = PrivacyLedger("held out", cap_epsilon=0.01, delta=1e-6)
    called = []
    view.measure_edits(called.append, ledger=ledger, price=[GaussianEvent("AUROC", 1.0)])
    view.evaluation_request += 1

    assert called == []
    assert view.evaluation["problem"] == "not measured: BudgetError"


def test_error_of_a_measurement_shows_no_value(view):
    def measure(explanation):
        raise ValueError("record 17 has age 41")

    view.measure_edits(measure)
    view.evaluation_request += 1

    assert view.evaluation["problem"] == "not measured: ValueError"
    assert "record 17" not in str(view.get_state())


def test_price_and_ledger_belong_together(view):
    with pytest.raises(ValueError, match="pass ledger= and price= together"):
        view.measure_edits(dict, ledger=PrivacyLedger("held out"))


def test_denoised_curve_comes_when_the_page_asks(view):
    view.denoise_request = ["/0/0/age"]

    assert "needs a joint noise model" in view.denoised["/0/0/age"]


def test_edited_explanation_says_so_in_its_payload():
    edited = Monotone("age", direction="decreasing").apply(classifier())
    payload = build_payload(edited)

    assert "edited by hand" in payload["terms"][0]["description"]
    assert "Edited by hand" in payload["fits"][0][0]["guarantee"]["statement"]


def test_report_of_an_edited_explanation_lists_its_edits(tmp_path):
    edited = LOG.edit(Monotone("age", direction="increasing"), note="<b>", who="Ada").apply(
        classifier()
    )
    page = EditView(edited).export_html(tmp_path / "report.html").read_text(encoding="utf-8")

    for record in edited.edits:
        assert f"<li>{html.escape(str(record))}</li>" in page
    plain = EditView(classifier()).export_html(tmp_path / "plain.html").read_text(encoding="utf-8")
    assert "Edited by hand" not in plain
