"""Exported pages contain what may be released, and no byte that depends on the rest."""

from __future__ import annotations

import dataclasses
import json
import os
import re

import numpy as np
import pandas as pd
import pytest
import traitlets

import dpexplain_widgets
import view_examples
from dpexplain.compare import Comparison
from dpexplain.edit import EditLog, Shift
from dpexplain.explain import GlobalExplanation
from dpexplain_widgets import Explorer, LedgerView, write_page
from dpexplain_widgets.export import export
from dpexplain_widgets.export.export import check_releasable
from dpexplain_widgets.export.page import state_of
from dpexplain_widgets.payload.digits import LETTERS, LOWEST
from dpexplain_widgets.payload.packing import inflated
from dpexplain_widgets.payload.payload import build_payload
from dpexplain_widgets.state.state import TABS
from example_filters import filter_comparison

VIEWS = [getattr(dpexplain_widgets, name) for name in view_examples.view_names()]


@pytest.fixture(scope="module")
def comparison():
    return view_examples.comparison(n_repeats=2)


def all_text(page: str) -> str:
    """Return the text of a page, including its collapsed sections."""
    folded = re.findall(r"data-dpx-folded hidden>([^<]*)</div>", page)
    assert len(folded) >= 3
    return "\n".join([page, *map(inflated, folded)])


def with_reference(comparison: Comparison, scale: float) -> Comparison:
    """Return the same private fits next to another reference and other test records."""
    terms = [
        dataclasses.replace(
            term,
            contribution=np.asarray(term.contribution)[::-1] * scale + 0.123456789,
            count=np.asarray(term.count) * scale,
        )
        for term in comparison.reference.terms
    ]
    reference = dataclasses.replace(comparison.reference, terms=terms, intercept=scale)
    metrics = comparison.metrics.assign(value=comparison.metrics["value"] / scale)
    return dataclasses.replace(comparison, reference=reference, metrics=metrics)


@pytest.mark.full
@pytest.mark.parametrize(
    ("view", "choices"),
    [
        *((view, {}) for view in VIEWS),
        (Explorer, {"epsilon_index": 6}),
        *((Explorer, {"tab": tab}) for tab in TABS[1:]),
    ],
)
def test_no_byte_depends_on_the_reference_or_on_held_out_records(
    view, choices, comparison, tmp_path
):
    pages = [
        view(with_reference(comparison, scale), **choices)
        .export_html(tmp_path / "page.html")
        .read_text(encoding="utf-8")
        for scale in (0.01, 1000.0)
    ]

    assert len(set(pages)) == 1


MARKS = (7777.75, 31415.5, 0.98765, 2718.25)
WORDS = ("met in the reference only", "AUROC")


def planted(comparison: Comparison) -> Comparison:
    """Make a reference and a metric with numbers and words found nowhere else."""
    reference = comparison.reference
    terms = []
    for term in reference.terms:
        contribution, count = np.array(term.contribution), np.array(term.count)
        contribution[1], contribution[2], count[1] = MARKS[0], -MARKS[3], MARKS[1]
        changed = {"contribution": contribution, "count": count}
        if term.kind == "categorical":
            changed["categories"] = (WORDS[0], *term.categories[1:])
        terms.append(dataclasses.replace(term, **changed))
    metrics = comparison.metrics.assign(value=MARKS[2])
    planted = dataclasses.replace(reference, terms=terms)
    return dataclasses.replace(comparison, reference=planted, metrics=metrics)


@pytest.mark.parametrize("name", ["page.pdf", "page"])
def test_a_page_is_not_written_under_the_name_of_another_kind_of_file(comparison, tmp_path, name):
    with pytest.raises(ValueError, match=r"must end in .html or .htm; export_svg, export_png"):
        Explorer(comparison).export_html(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("release_safe", [True, False])
def test_a_page_has_the_title_of_its_author_in_every_place(comparison, tmp_path, release_safe):
    view = Explorer({"one": comparison, "other": comparison})
    title = "Readmission <b>2026</b>"
    written = view.export_html(tmp_path / "page.html", release_safe, title=title)
    page = written.read_text(encoding="utf-8")
    prefix = "" if release_safe else "NOT PRIVATE: "
    assert f"<title>{prefix}Readmission &lt;b&gt;2026&lt;/b&gt;</title>" in page
    assert comparison.title not in all_text(page)
    assert title not in page
    assert view.payload["title"] == comparison.title


@pytest.mark.parametrize("title", ["", " \n", "\ud800", 7])
def test_a_title_that_cannot_be_read_is_refused(comparison, tmp_path, title):
    with pytest.raises(ValueError, match="title"):
        Explorer(comparison).export_html(tmp_path / "page.html", title=title)
    assert not list(tmp_path.iterdir())


def unpacked(value, table, places, streams):
    """Unpack steps as unpack.js does."""
    if isinstance(value, list):
        return [unpacked(each, table, places, streams) for each in value]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("$n"), list):
        k, count, digits = value["$n"]
        return [step / 10.0**k for step in np.cumsum(steps_from(streams, places, count, digits))]
    if isinstance(value.get("$r"), int):
        return table[value["$r"]]
    return {name: unpacked(each, table, places, streams) for name, each in value.items()}


def steps_from(streams, places, count, digits):
    numbers = [0] * count
    unit = LOWEST
    for k in range(digits):
        letters = streams[k][places[k] : places[k] + count]
        places[k] += count
        values = [LETTERS.index(letter) for letter in letters]
        if k == 0:
            signs = [-1 if value % 2 else 1 for value in values]
            numbers = [value // 2 for value in values]
        else:
            numbers = [n + unit * value for n, value in zip(numbers, values, strict=True)]
            unit *= len(LETTERS)
    return [sign * number for sign, number in zip(signs, numbers, strict=True)]


def numbers_in(value) -> list[float]:
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return [number for part in parts for number in numbers_in(part)]
    return [value] if isinstance(value, float) else []


def state_in(page: str):
    text = inflated(re.search(r'id="state-0" data-dpx-folded hidden>([^<]*)<', page)[1])
    packed = json.loads(text)
    streams = packed["streams"]["$n"]
    places = [0] * len(streams)
    table = [unpacked(each, (), places, streams) for each in packed["table"]]
    return unpacked(packed["value"], table, places, streams)


def met(page: str) -> set[object]:
    """Return the planted numbers and words found in a page, including collapsed sections."""
    state = state_in(page)
    numbers = np.abs(numbers_in(state))
    text = page + json.dumps(state)
    digits = {mark for mark in MARKS if f"{mark}" in text}
    close = {mark for mark in MARKS if np.isclose(numbers, mark, rtol=1e-4, atol=0).any()}
    return digits | close | {word for word in WORDS if word in text}


def test_a_search_meets_nothing_planted_in_a_safe_page_and_all_of_it_in_another(
    comparison, tmp_path
):
    view = Explorer(planted(comparison))
    open_page = view.export_html(tmp_path / "a.html", release_safe=False).read_text()
    safe_page = view.export_html(tmp_path / "b.html").read_text()

    assert met(open_page) == {*MARKS, *WORDS}
    assert met(safe_page) == set()


def test_a_page_that_is_not_safe_says_so_and_holds_the_reference(comparison, tmp_path):
    page = Explorer(comparison).export_html(tmp_path / "a.html", release_safe=False).read_text()

    assert "<title>NOT PRIVATE: " in page
    assert '<p class="warning">NOT PRIVATE' in page
    state = inflated(re.search(r'id="state-0" data-dpx-folded hidden>([^<]*)<', page)[1])
    assert '"reference":null' not in state


@pytest.mark.parametrize("view", VIEWS)
def test_a_mutant_that_keeps_what_is_not_private_is_stopped(
    view, comparison, tmp_path, monkeypatch
):
    monkeypatch.setattr(export, "releasable", lambda source: source)

    with pytest.raises(ValueError, match="non-private reference"):
        view(comparison).export_html(tmp_path / "a.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full
def test_a_mutant_that_checks_nothing_either_is_seen_by_the_bytes(
    comparison, tmp_path, monkeypatch
):
    monkeypatch.setattr(export, "releasable", lambda source: source)
    monkeypatch.setattr(export, "check_releasable", lambda *_, **__: None)
    one, other = (
        Explorer(with_reference(comparison, scale)).export_html(tmp_path / "a.html").read_bytes()
        for scale in (0.01, 1.0)
    )

    assert one != other


@pytest.mark.full
def test_choices_are_kept_where_they_may_leave(comparison, tmp_path):
    view = Explorer(comparison, term="occupation", epsilon_index=3, pinned_epsilon=0.5)
    page = view.export_html(tmp_path / "a.html").read_text(encoding="utf-8")
    state = inflated(re.search(r'id="state-0" data-dpx-folded hidden>([^<]*)<', page)[1])

    for part in ('"term":"occupation"', '"epsilon_index":3', '"pinned_epsilon":0.5'):
        assert part in state
    assert "Shape of occupation" in page


def edited(kind, source, *samples):
    view = kind(source, *samples)
    view.edit_log = EditLog().edit(Shift("age", by=0.5), note="as the study of 1999 has it")
    return view


@pytest.mark.parametrize("kind", [Explorer, dpexplain_widgets.EditView])
def test_edits_leave_where_all_that_was_seen_may_leave(kind, comparison, tmp_path):
    view = edited(kind, next(iter(comparison.fits()))[2])

    page = all_text(view.export_html(tmp_path / "p.html").read_text(encoding="utf-8"))

    assert "as the study of 1999 has it" in page


@pytest.mark.full
@pytest.mark.parametrize("beside", ["reference", "records"])
def test_edits_that_a_reference_or_records_may_have_led_stay_and_their_maker_is_told(
    beside, comparison, tmp_path
):
    records = pd.DataFrame({term.name: [None] for term in comparison.reference.terms})
    given = (comparison,) if beside == "reference" else (next(iter(comparison.fits()))[2], records)
    view = edited(Explorer, *given)

    with pytest.warns(UserWarning, match=r"drops them.*`view\.edited`"):
        page = all_text(view.export_html(tmp_path / "p.html").read_text(encoding="utf-8"))

    assert "as the study of 1999 has it" not in page
    assert len(view.edit_log.operations) == 1, "the view itself keeps them"


@pytest.mark.full
def test_the_picture_for_viewers_without_scripts_is_of_the_chosen_private_fit(comparison, tmp_path):
    view = Explorer(comparison, term="age", epsilon_index=1)
    page = view.export_html(tmp_path / "a.html").read_text(encoding="utf-8")

    assert "Importances, and the shape of age: (0.5, 1e-06)-DP" in page
    largest = max(term["importance"] for term in view.payload["fits"][1][0]["terms"])
    assert f">{largest:.3g}</text>" in page


@pytest.mark.parametrize("private", [None, "yes", 0])
def test_a_fit_without_a_private_flag_is_refused(private, comparison, tmp_path):
    payload = build_payload(dataclasses.replace(comparison, reference=None, metrics=None))
    fit = payload["fits"][2][0]
    fit["guarantee"] = {**fit["guarantee"], "private": private}
    if private is None:
        del fit["guarantee"]["private"]

    with pytest.raises(ValueError, match="does not state whether it is private"):
        Explorer(payload).export_html(tmp_path / "a.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full
def test_a_payload_leaves_if_nothing_in_it_is_open(comparison, tmp_path):
    closed = build_payload(dataclasses.replace(comparison, reference=None, metrics=None))
    Explorer(closed).export_html(tmp_path / "a.html")

    measured = build_payload(dataclasses.replace(comparison, reference=None))
    with pytest.raises(ValueError, match="metrics in a payload do not state"):
        Explorer(measured).export_html(tmp_path / "b.html")
    with pytest.raises(ValueError, match="non-private reference"):
        Explorer(build_payload(comparison)).export_html(tmp_path / "b.html")


def test_a_payload_set_later_counts_and_not_the_source_before(comparison, tmp_path):
    view = Explorer(dataclasses.replace(comparison, reference=None, metrics=None))
    view.payload = build_payload(comparison)

    with pytest.raises(ValueError, match="non-private reference"):
        view.export_html(tmp_path / "a.html")


@pytest.mark.parametrize("flag", ["private", "releasable", "samples_public"])
def test_any_part_with_a_flag_of_its_own_is_looked_at(flag, comparison):
    payload = build_payload(dataclasses.replace(comparison, reference=None, metrics=None))
    payload["terms"][0]["samples"] = [{flag: False}]

    with pytest.raises(ValueError, match=r"payload\['terms'\] contains a part that is not private"):
        check_releasable(payload)


SAMPLES = pd.DataFrame(
    {term.name: ["planted"] if term.kind == "categorical" else [31.41592] for term in
     view_examples.comparison().reference.terms}, index=["Ada"],
)  # fmt: skip


@pytest.mark.parametrize("public", [True, False])
def test_samples_leave_only_if_they_are_public(public, comparison, tmp_path):
    view = Explorer(comparison, SAMPLES, samples_public=public, sample=0)
    page = view.export_html(tmp_path / "a.html").read_text(encoding="utf-8")
    text = json.dumps(state_in(page))

    assert ("planted" in text, "31.41592" in text, "Ada" in text) == (public,) * 3


@pytest.mark.full
def test_what_was_tried_on_a_sample_does_not_leave(comparison, tmp_path):
    view = Explorer(comparison, SAMPLES, sample=0, what_if={"age": 27.1828})
    page = view.export_html(tmp_path / "a.html").read_text(encoding="utf-8")

    assert "27.1828" in json.dumps(state_of(view, ["what_if"]))
    assert "27.1828" not in json.dumps(state_in(page))


@pytest.mark.full
def test_models_of_which_nothing_may_leave_are_absent(comparison, tmp_path):
    seeded = view_examples.comparison(private=False, title="seeded")
    models = {"one": comparison, "open": seeded, "bare": comparison.reference}
    page = Explorer(models).export_html(tmp_path / "a.html").read_text(encoding="utf-8")

    state = state_in(page)
    assert state["payload"]["name"] == "one"
    assert state["payload"]["others"] == []
    with pytest.raises(ValueError, match="none of them is private"):
        Explorer({"open": seeded}).export_html(tmp_path / "b.html")


@pytest.mark.full
def test_a_view_made_from_another_view_leaves_as_it(comparison, tmp_path):
    follower = Explorer(LedgerView(comparison))
    page = follower.export_html(tmp_path / "a.html").read_text(encoding="utf-8")

    assert state_in(page)["payload"]["reference"] is None


def test_nothing_may_leave_of_models_with_seeded_noise(tmp_path):
    with pytest.raises(ValueError, match="none of its models is private"):
        write_page(view_examples.comparison(private=False), tmp_path / "a.html")


@pytest.mark.full
def test_an_existing_file_stays_whole_when_writing_fails(comparison, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("before")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))

    with pytest.raises(OSError, match=re.escape(str(path))):
        write_page(comparison, path)
    assert path.read_text() == "before"
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.full
def test_statement_of_the_ledger_is_printed_or_the_one_given(comparison, tmp_path):
    page = write_page(comparison, tmp_path / "a.html").read_text(encoding="utf-8")
    assert "Promised for everything fitted" in page
    assert "survey-1974" in page

    statement = dataclasses.replace(
        export.statement_of(comparison.ledger), dataset="<b>another</b>"
    )
    page = write_page(comparison, tmp_path / "a.html", statement=statement).read_text()
    assert "&lt;b&gt;another&lt;/b&gt;" in page
    assert "<b>" not in page


def test_an_explanation_and_a_ledger_have_pages_too(comparison, tmp_path):
    explanation: GlobalExplanation = comparison.explanations[1.0][0]
    page = write_page(explanation, tmp_path / "a.html").read_text(encoding="utf-8")
    assert "(1, 1e-06)-differential privacy for one record" in page

    page = LedgerView(comparison.ledger).export_html(tmp_path / "b.html").read_text()
    assert "survey-1974" in page
    with pytest.raises(ValueError, match="not private"):
        write_page(comparison.reference, tmp_path / "c.html")


@pytest.mark.full
def test_page_says_how_numbers_are_rounded(comparison, tmp_path):
    page = write_page(comparison, tmp_path / "a.html").read_text(encoding="utf-8")

    assert export.PRECISION_WORDS in page


def test_choices_of_write_page_are_checked(comparison, tmp_path):
    with pytest.raises(traitlets.TraitError, match="no term 'agee'"):
        write_page(comparison, tmp_path / "a.html", term="agee")


@pytest.mark.full
def test_the_same_page_comes_out_twice(comparison, tmp_path):
    one, other = (
        write_page(comparison, tmp_path / name).read_bytes() for name in ("a.html", "b.html")
    )

    assert one == other


VIEWS = sorted(set(dpexplain_widgets.__all__) - {"write_page"})


@pytest.mark.full
@pytest.mark.parametrize("edited", [False, True])
@pytest.mark.parametrize("kind", VIEWS)
def test_a_page_edits_exactly_if_its_script_reads_what_sums_say(kind, edited):
    make = filter_comparison if kind == "FilterView" else view_examples.comparison
    view = getattr(dpexplain_widgets, kind)(make())
    if edited and kind != "FilterView":
        view.edit_log = EditLog().edit(Shift("age", by=0.5))
    assert view.page_edits == ("recovered" in view.page_module())


@pytest.mark.full
@pytest.mark.parametrize("kind", [Explorer, dpexplain_widgets.EditView])
def test_a_page_has_the_styles_of_edits_exactly_if_it_edits(kind):
    page = all_text(export.page_of(kind(view_examples.comparison())))
    assert (".dpx-edit-history" in page) == (kind is not Explorer)
    assert ".dpx-heat-row" in page


def test_the_page_of_an_explorer_of_filters_edits_nothing():
    explorer = Explorer(filter_comparison())
    assert not explorer.page_edits
    assert "recovered" not in explorer.page_module()


def test_a_page_without_edits_leaves_out_what_only_edits_read(monkeypatch):
    states: list[dict] = []
    monkeypatch.setattr(export, "offline_page", lambda given, **_: states.extend(given) or "page")
    source = view_examples.comparison()
    for view in (Explorer(source), dpexplain_widgets.EditView(source)):
        for repeats in view.payload["fits"]:
            for fit in repeats:
                for term in fit["terms"]:
                    term["recovered"] = list(term["contribution"])
        export.page_of(view, release_safe=False)

    of_explorer, of_editor = (state["payload"]["fits"][0][0]["terms"][0] for state in states)
    assert of_explorer["recovered"] is None
    assert of_editor["recovered"] == of_editor["contribution"]
