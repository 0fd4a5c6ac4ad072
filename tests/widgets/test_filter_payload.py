"""The payload of a view of filters: arrays that describe the filters, and no more."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpexplain.explain import FilterBank
from dpexplain_widgets import Explorer, FilterView, ImportanceView, LedgerView, ShapeView
from dpexplain_widgets.payload.filter_arrays import RATIO_STEP, ArrayWriter
from dpexplain_widgets.payload.filter_payload import filters_payload
from dpexplain_widgets.payload.packing import packed
from dpexplain_widgets.payload.payload import build_payload, check_payload
from example_filters import (
    filter_bank,
    filter_comparison,
    picture_comparison,
    reference_bank,
    some_pictures,
)

RECORDS = [[30, "clerk"], [80, "cook"]]


def array_at(arrays_, index):
    """Read an array as the front end does."""
    whole = np.frombuffer(arrays_, f"<{index['type']}", index["size"], index["at"])
    return whole.astype(float) * index["step"]


@given(arrays(float, st.integers(0, 30), elements=st.floats(-1e30, 1e30)))
def test_arrays_come_back_up_to_half_a_step(values):
    for kind in ("i1", "i2", "f4"):
        writer = ArrayWriter()
        writer.add(np.ones(3), "u1")  # leaves the place of the next array where it may start
        index = writer.add(values, kind)
        assert index["at"] % 4 == 0
        found = array_at(writer.taken(), index)
        room = np.abs(values) * 1e-7 + 1e-38 if kind == "f4" else 0.5001 * index["step"]
        assert np.all(np.abs(found - values) <= room)


@given(
    arrays(float, 20, elements=st.floats(-1e6, 1e6)),
    arrays(float, 20, elements=st.just(0.0) | st.floats(1e-22, 1e6)),
)
def test_marks_of_noise_are_never_rounded(weights, std):
    writer = ArrayWriter()
    index = writer.add_ratios(weights, std)
    ratios = array_at(writer.taken(), index)
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = np.where(weights == 0, 0.0, np.abs(weights) / std)
    np.testing.assert_array_equal(ratios > 2, exact > 2)
    small = exact < 7
    assert np.all(np.abs(ratios - exact)[small] <= RATIO_STEP)


@pytest.mark.parametrize(
    "source", [filter_comparison(), picture_comparison()], ids=["table", "pictures"]
)
def test_arrays_say_what_the_filters_say(source):
    payload, data = filters_payload(source)
    outline, matched = payload["filters"], source.matched()
    pairs = [
        (index, bank)
        for row, epsilon in zip(outline["fits"], source.epsilons, strict=True)
        for index, bank in zip(row, matched.explanations[epsilon], strict=True)
    ]
    for index, bank in [*pairs, (outline["reference"], matched.reference)]:
        found = {name: array_at(data, each) for name, each in index["arrays"].items()}
        np.testing.assert_allclose(found["mean"], bank.class_means().ravel(), rtol=1e-6)
        largest = np.abs(bank.filters).max()
        np.testing.assert_allclose(found["filter"], bank.filters.ravel(), atol=largest / 250)
        if bank.noise is None:
            assert set(found) == {"mean", "filter"}
            continue
        np.testing.assert_allclose(found["mean_std"], bank.class_mean_std.ravel(), rtol=1e-6)
        k = len(bank.input_names)
        own = found["own_std"].reshape(-1, k)
        contrast = bank.contrast(bank.classes[0], bank.classes[1])
        np.testing.assert_allclose(np.hypot(own[0], own[1]), contrast.noise_std, rtol=1e-5)
        if bank.grid_shape is not None:
            outside = np.abs(bank.filters) > 2 * bank.filter_std
            np.testing.assert_array_equal(found["filter_ratio"] > 2, outside.ravel())
        above = found["filter_std"] / bank.filter_std.ravel()
        assert above.min() > 1 - 1e-6
        assert np.all(found["filter_std"] - bank.filter_std.ravel() <= bank.filter_std.max() / 254)


@pytest.mark.parametrize(
    ("source", "samples"),
    [(filter_comparison(), RECORDS), (picture_comparison(), some_pictures())],
    ids=["table", "pictures"],
)
def test_arrays_of_samples_are_those_of_explanations(source, samples):
    payload, data = filters_payload(source, samples, samples_public=True)
    bank = source.matched().explanations[2.0][0]
    explanation = bank.explain(bank.inputs(samples))
    index = payload["filters"]["fits"][-1][0]["arrays"]
    found = {name: array_at(data, each) for name, each in index.items()}
    for name, values in (
        ("scores", explanation.scores),
        ("shares", explanation.weightings),
        ("bias_part", explanation.bias_part),
        ("weighted", explanation.effective),
        ("weighted_std", explanation.effective_std),
        ("own_weighted_std", explanation.own_std),
        ("lead_certainty", explanation.lead_certainty),
    ):
        np.testing.assert_allclose(found[name], values.ravel(), atol=np.abs(values).max() * 2e-5)
    inputs = array_at(data, payload["filters"]["inputs"])
    np.testing.assert_allclose(inputs, bank.inputs(samples).ravel(), rtol=1e-6)
    assert payload["samples"]["public"] is True
    assert len(payload["samples"]["rows"]) == len(samples)


@pytest.mark.parametrize("source", [filter_comparison(), filter_bank(), reference_bank()])
def test_payload_is_complete_and_json(source):
    payload, _ = filters_payload(source)
    assert check_payload(json.loads(json.dumps(payload, allow_nan=False)))


def test_outline_of_other_fits_is_refused():
    payload, _ = filters_payload(filter_comparison())
    for changed in (
        {**payload["filters"], "fits": payload["filters"]["fits"][:1]},
        {**payload["filters"], "reference": None},
    ):
        with pytest.raises(ValueError, match="the filters of every fit"):
            check_payload({**payload, "filters": changed})


def test_views_of_terms_refuse_filters_and_views_of_filters_refuse_terms():
    import view_examples

    for view in (ShapeView, ImportanceView):
        with pytest.raises(TypeError, match="FilterView and Explorer show"):
            view(filter_comparison())
    with pytest.raises(TypeError, match="pass a FilterComparison or a FilterBank"):
        FilterView(view_examples.comparison())
    with pytest.raises(TypeError, match="cannot be combined"):
        build_payload({"one": filter_comparison(), "two": filter_comparison()})
    assert LedgerView(filter_comparison()).payload["ledger"]


def test_choices_of_filters_are_checked():
    view = FilterView(filter_comparison(), epsilon_index=0)
    view.filter_class = "high"
    view.filter_index = 2
    view.input_index = 3
    for name, value, words in (
        ("filter_class", "tall", "one of the classes: 'low'"),
        ("against_class", "tall", "one of the classes"),
        ("filter_index", 3, "0 to 2"),
        ("input_index", 4, "0 to 3"),
        ("shown_map", "median", "shown_map"),
        ("sample", 0, "no samples"),
    ):
        with pytest.raises(traitlets.TraitError, match=words):
            setattr(view, name, value)
    assert (view.filter_class, view.filter_index, view.input_index) == ("high", 2, 3)


def test_opacity_of_contributions_is_a_share():
    view = FilterView(filter_bank(), contribution_opacity=0.25)
    with pytest.raises(traitlets.TraitError):
        view.contribution_opacity = 1.5
    with pytest.raises(traitlets.TraitError):
        view.contribution_opacity = -0.1
    assert view.contribution_opacity == 0.25


def test_inputs_of_a_table_are_read_back_as_its_columns_have_them():
    payload, arrays_ = filters_payload(filter_bank(), [[30, "clerk"], [None, "nobody"]])
    outline = payload["filters"]
    inputs = array_at(arrays_, outline["inputs"]).reshape(2, 4)
    kinds = [each["kind"] for each in outline["readings"]]
    assert kinds == ["number", "category", "category", "category"]
    age = outline["readings"][0]
    assert age["centre"] + age["step"] * inputs[0, 0] == pytest.approx(30, rel=1e-6)
    assert age["centre"] + age["step"] * inputs[1, 0] == pytest.approx(53.5)
    assert inputs[0, 1:].tolist() == [0, 1, 0]
    assert filters_payload(filter_bank())[0]["filters"]["readings"] is None
    pictures, _ = filters_payload(picture_comparison(), some_pictures())
    assert pictures["filters"]["readings"] is None  # a pixel of a normalized image depends on all


def test_selection_is_the_map_that_is_read():
    comparison = filter_comparison()
    view = FilterView(comparison, filter_class="high", epsilon_index=0, repeat=1)
    bank = comparison.matched().explanations[0.5][1]
    np.testing.assert_array_equal(view.selection["weight"], bank.class_means()[2])
    view.shown_map, view.against_class = "contrast", "low"
    np.testing.assert_array_equal(view.selection["weight"], bank.contrast("high", "low").weights)
    view.shown_map, view.filter_index, view.input_index = "filter", 1, 2
    assert view.selection["weight"].tolist() == [bank.filters[2, 1, 2]]
    view.against_filter = 0
    compared = bank.contrast("high", "low", place=1, against_place=0)
    assert view.selection["weight"].tolist() == [compared.weights[2]]
    view.against_class = ""
    assert view.selection["map"].tolist() == ["filter 1 of high against filter 0 of high"]
    view.against_filter = 1
    assert view.selection["map"].tolist() == ["filter 1 of high"]
    with pytest.raises(traitlets.TraitError, match="against_filter=3 must be one of 0 to 2"):
        view.against_filter = 3
    view.epsilon = math.inf
    assert view.selection["private"].tolist() == [False]
    assert FilterView(filter_bank()).selection["map"].unique() == ["mean filter of low"]


@pytest.mark.parametrize("what", ["shape", "importance"])
def test_tables_of_curves_are_refused_in_words_that_lead_on(what, tmp_path):
    view = FilterView(filter_bank())
    with pytest.raises(ValueError, match=r"use view\.selection for the weights"):
        view.export_csv(tmp_path / "a.csv", what)
    assert not (tmp_path / "a.csv").exists()


def test_linked_view_has_the_same_arrays_and_choices():
    first = Explorer(filter_comparison(), RECORDS, samples_public=True, filter_class="middle")
    second = FilterView(first)
    assert second.filter_arrays == first.filter_arrays
    assert second.filter_class == "middle"
    first.filter_class = "high"
    assert second.filter_class == "high"
    third = FilterView(first, RECORDS[:1])
    assert len(third.payload["samples"]["names"]) == 1


@pytest.mark.full
def test_what_may_leave_holds_neither_reference_nor_samples(tmp_path):
    comparison = picture_comparison()
    secret = some_pictures(2)
    view = Explorer(comparison, secret)
    page = view.export_html(tmp_path / "safe.html")
    from dpexplain_widgets.export.export import releasable_view

    smaller = releasable_view(view)
    alone = FilterView(dataclasses.replace(comparison, reference=None, metrics=None))
    assert smaller.payload["reference"] is None
    assert smaller.payload["filters"]["reference"] is None
    assert smaller.payload["samples"] is None
    assert smaller.filter_arrays == alone.filter_arrays  # to the last bit: no trace of either
    assert "NOT PRIVATE" not in page.read_text()
    open_page = view.export_html(tmp_path / "open.html", release_safe=False).read_text()
    assert "NOT PRIVATE" in open_page
    public = releasable_view(Explorer(comparison, secret, samples_public=True))
    assert public.payload["samples"]["public"] is True


def test_reference_alone_may_not_leave(tmp_path):
    with pytest.raises(ValueError, match=r"may be released.* release_safe=False"):
        FilterView(reference_bank()).export_html(tmp_path / "page.html")


def test_saved_notebook_keeps_a_table_of_one_private_fit():
    view = FilterView(filter_comparison(), epsilon_index=2)
    text = view._repr_mimebundle_()[0]["text/html"]
    assert "weights above noise" in text
    assert "left out here" in text
    assert repr(view).startswith("FilterView('Filters: risk'")
    assert "0.97" not in Explorer(picture_comparison())._repr_mimebundle_()[0]["text/html"]


@pytest.mark.full
def test_arrays_that_no_page_could_hold_are_refused():
    bank = picture_comparison(side=28, n_filters=2, epsilons=(1.0,)).first
    with pytest.raises(ValueError, match="pass fewer samples"):
        filters_payload(bank, some_pictures(2_000, 28))


def test_samples_need_an_explanation_that_can_read_them():
    with pytest.raises(ValueError, match="no preparation"):
        FilterView(filter_bank(preparation=None), RECORDS)


def test_bytes_travel_in_a_page_as_they_are():
    bytes_ = bytes(range(256))
    text = json.dumps(packed({"filter_arrays": bytes_, "x": 1}))
    import base64

    assert base64.b64encode(bytes_).decode() in text
    assert isinstance(FilterView(filter_bank()).origin.source, FilterBank)
