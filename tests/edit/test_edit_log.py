"""The log of edits: undo, redo, branches, checkpoints, replay and refusals."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpexplain.io
from dpexplain.edit import (
    Align,
    Composed,
    Denoise,
    EditLog,
    Flatten,
    Interpolate,
    Merge,
    Monotone,
    Operation,
    Recover,
    Remove,
    Revert,
    Scale,
    Set,
    Shift,
    Smooth,
    Stretch,
    operation_from_plain,
    operation_to_plain,
    repair,
)
from dpexplain.explain import MulticlassExplanation
from dpexplain.explain.additive.edits import EditRecord
from example_explanations import age, classifier, job, private_guarantee

UP = Shift("age", by=1.0)
DOWN = Shift("age", by=-2.0)


def heights(explanation):
    return explanation["age"].contribution


def test_what_an_edit_needs_may_follow_the_term_without_its_name():
    assert Shift("age", 1.0) == UP
    assert Monotone("age", "decreasing") == Monotone("age", direction="decreasing")
    assert Align("age", "left", within=(30, 50)) == Align("age", to="left", within=(30, 50))
    assert Set("age", 0.0, names=["missing"]) == Set("age", value=0.0, names=["missing"])


def test_a_log_made_for_an_explanation_refuses_a_term_that_it_lacks_at_once():
    log = EditLog.of(classifier())
    both = Composed([Smooth("age"), Remove("jobs")])
    for operation, meant in ((Set("agee", value=0.0), "age"), (both, "job")):
        with pytest.raises(KeyError, match=f"the terms are 'age', 'job'. Did you mean '{meant}'"):
            log.edit(operation)
    assert EditLog().edit(both).operations == (both,)


def test_a_log_made_for_an_explanation_refuses_a_category_that_it_lacks_at_once():
    log = EditLog.of(classifier())
    absent = Merge("job", names=["nurse", "carpet"])
    for operation in (absent, Composed([Smooth("age"), absent])):
        with pytest.raises(ValueError, match="'job' has no bin 'carpet'; its bins are"):
            log.edit(operation)
    assert log.edit(Set("job", value=0.0, names=["nurse", "missing"])).can_undo
    assert EditLog().edit(absent).operations == (absent,)


def test_a_log_made_for_an_explanation_refuses_a_range_without_a_bin_at_once():
    explanation = classifier()
    log, edges = EditLog.of(explanation), explanation["age"].bin_edges
    narrow = Set("age", value=0.0, within=(edges[0], (edges[0] + edges[1]) / 2))
    with pytest.raises(ValueError, match="no bin of 'age' lies between"):
        log.edit(narrow)
    with pytest.raises(ValueError, match="'job' has categories; use names="):
        log.edit(Set("job", value=0.0, within=(0, 1)))
    assert log.edit(Set("age", value=0.0, within=(edges[0], edges[1]))).can_undo
    assert EditLog().edit(narrow).operations == (narrow,)


def loaded(log, folder):
    dpexplain.io.save(log, folder / "log.json")
    return dpexplain.io.load(folder / "log.json")


def test_a_log_made_for_an_explanation_refuses_a_class_that_it_lacks_at_once(tmp_path):
    absent = Shift("age", by=1.0, of_class="bad")
    labels = ("bed", "home", "ward")
    parts = [
        dataclasses.replace(classifier(), link="softmax", classes=labels, of_class=label)
        for label in labels
    ]
    for explanation, words in (
        (classifier(), "no such class; there is one score here. Omit of_class="),
        (MulticlassExplanation(parts), "here are 'bed', 'home', 'ward'. Did you mean 'bed'"),
    ):
        log = EditLog.of(explanation)
        assert loaded(log, tmp_path) == log
        for each in (log, loaded(log, tmp_path)):
            with pytest.raises(ValueError, match=words):
                each.edit(absent)
        assert log.edit(UP).can_undo
    assert EditLog().edit(absent).operations == (absent,)


def test_a_log_made_for_an_explanation_refuses_an_order_that_categories_lack_at_once(tmp_path):
    log, rising = EditLog.of(classifier()), Monotone("job", direction="increasing")
    for each in (log, loaded(log, tmp_path)):
        with pytest.raises(ValueError, match="needs ordered bins, and the categories of 'job'"):
            each.edit(Composed([Smooth("age"), rising]))
    assert log.edit(Monotone("age", direction="increasing")).can_undo
    assert EditLog().edit(rising).operations == (rising,)


def test_undo_and_redo_walk_along_the_edits():
    log = EditLog().edit(UP).edit(DOWN)

    assert log.undo().operations == (UP,)
    assert log.undo().undo().operations == ()
    assert log.undo().undo().undo() == log.undo().undo()
    assert log.undo().undo().redo().operations == (UP,)
    assert log.undo().undo().redo().redo() == log
    assert log.redo() == log
    assert not log.can_redo
    assert log.can_undo


def test_edit_after_undo_starts_a_branch_and_loses_nothing():
    log = EditLog().edit(UP).edit(DOWN).undo().edit(Flatten("age"))

    assert log.operations == (UP, Flatten("age"))
    assert not log.can_redo
    assert log.branches == (1, 2)
    assert log.checkout(1).operations == (UP, DOWN)
    assert "1 other branch" in repr(log)


def test_checkpoints_bring_a_named_state_back():
    log = EditLog().edit(UP).checkpoint("agreed").edit(DOWN)

    assert log.checkout("agreed").operations == (UP,)
    assert log.checkpoint("agreed").checkout("agreed").operations == (UP, DOWN)
    with pytest.raises(ValueError, match=r"no checkpoint 'agred'.*Did you mean 'agreed'"):
        log.checkout("agred")
    with pytest.raises(ValueError, match="no edit 9; the edits are 0 to 1"):
        log.checkout(9)


@given(st.lists(st.sampled_from(["edit", "undo", "redo", "checkout"]), max_size=25))
def test_any_walk_leaves_a_log_that_belongs_together(walk):
    log = EditLog()
    for step in walk:
        if step == "edit":
            log = log.edit(Shift("age", by=float(len(log.entries))))
        elif step == "checkout":
            log = log.checkout(len(log.entries) // 2 - 1)
        else:
            log = getattr(log, step)()
        # The constructor checks that heads, parents and what was undone belong together.
        assert dataclasses.replace(log) == log
        assert log.undo().redo() == log or not log.can_undo


def test_diff_names_every_bin_that_differs():
    log = EditLog.of(classifier()).edit(Shift("age", by=0.5, bins=[1])).edit(Remove("job"))

    table = log.diff(classifier(), before=0)

    assert set(table["term"]) == {"job"}
    assert table["after"].eq(0).all()
    assert len(log.diff(classifier())) == 5
    assert log.diff(classifier(), before=1).empty


def test_diff_shows_an_intercept_that_moved():
    table = EditLog().edit(Shift("age", by=0.5, mean="intercept")).diff(classifier())

    row = table[table["term"] == "(intercept)"].iloc[0]
    assert row["change"] == pytest.approx(-0.5)


def test_history_measures_the_edits_of_the_current_state():
    log = EditLog().edit(UP, note="why", who="Ada").edit(DOWN).undo()

    table = log.history(classifier())

    assert list(table["current"]) == [True, False]
    assert table.loc[0, "rms"] == pytest.approx(1.0)
    assert np.isnan(table.loc[1, "rms"])
    assert (table["epsilon"] == 0).all()
    assert table.loc[0, "note"] == "why"


def test_a_note_stays_with_its_edit():
    log = EditLog().edit(UP, note="agreed in the meeting")

    assert log.apply(classifier()).edits[0].note == "agreed in the meeting"


def other_bins():
    term = age(bin_edges=[17.0, 28.0, 45.0, 90.0])
    return classifier(terms=(term, job()))


def test_places_of_bins_are_not_replayed_on_other_bins():
    log = EditLog.of(classifier()).edit(Shift("age", by=1.0, bins=[1]))

    with pytest.raises(ValueError, match=r"3 bins between 17 and 90.*selects bins by position"):
        log.apply(other_bins())


def test_whole_terms_and_values_are_replayed_on_other_bins():
    log = EditLog.of(classifier()).edit(UP).edit(Shift("age", by=1.0, within=(28, 90)))

    np.testing.assert_allclose(
        heights(log.apply(other_bins())), np.add(heights(other_bins()), [1.0, 2.0, 2.0, 0.0])
    )


def test_log_is_not_replayed_where_the_term_is_missing_or_another():
    log = EditLog.of(classifier()).edit(UP)

    with pytest.raises(ValueError, match=r"no such term here; the terms are 'job'"):
        log.apply(classifier(terms=(job(),)))
    with pytest.raises(ValueError, match="made for a numeric 'age', which is categorical here"):
        log.apply(classifier(terms=(job(name="age"),)))
    with pytest.raises(ValueError, match="no term 'age'"):
        EditLog().edit(UP).apply(classifier(terms=(job(),)))


def test_what_cannot_be_edited_is_refused_by_name():
    with pytest.raises(TypeError, match="got int"):
        EditLog().edit(UP).apply(3)
    with pytest.raises(ValueError, match="got str"):
        EditLog().edit("flatten")


REFUSED = [
    (
        lambda: Monotone("job", direction="increasing"),
        "needs ordered bins, and the categories of 'job'",
    ),
    (lambda: Smooth("age", names=["missing"]), "special bin of 'age'"),
    (lambda: Interpolate("age", bins=[0, 1]), "at least 3 bins"),
    (lambda: Interpolate("age", bins=[0, 1, 2], keep=[3]), "not among the chosen"),
    (lambda: Set("age", value=[1.0, 2.0]), "2 values for 3 bins"),
    (lambda: Shift("age", by=1.0, bins=[9]), "its bins are 0 to 3"),
    (lambda: Shift("age", by=1.0, within=(40, 44)), "40 and 44; .* wider there: .* from 30 to 45"),
    (lambda: Shift("age", by=1.0, within=(20, 40)), "wider there: .* from 17 to 45"),
    (lambda: Shift("age", by=1.0, within=(200, 210)), "210; its bins reach from "),
    (lambda: Shift("job", by=1.0, within=(0, 1)), "has categories; use names="),
    (lambda: Shift("job", by=1.0, names=["nurs"]), "Did you mean 'nurse'"),
    (lambda: Denoise("age"), "denoising needs a joint noise model"),
    (lambda: repair("age", "increasing"), "released sums of .age. are unknown; use smooth"),
    (lambda: Stretch("age"), "shrinkage of .age. is unknown; use scale"),
    (lambda: Shift("age", by=1.0, of_class="b"), "no such class; there is one score"),
]


@pytest.mark.parametrize(("make", "words"), REFUSED)
def test_operation_that_does_not_suit_is_refused_in_words(make, words):
    with pytest.raises(ValueError, match=words):
        make().apply(classifier())


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Shift("age", by=float("nan")), "finite"),
        (lambda: Shift("age", by=1.0, bins=[1], within=(0, 1)), "one of bins="),
        (lambda: Shift("age", by=1.0, bins=[-1]), "bin positions, integers from 0"),
        (lambda: Shift("age", by=1.0, within=(2, 1)), "smaller one first"),
        (lambda: Smooth("age", reach=0.0), r"must be in \(0, 1\]"),
        (lambda: Merge("job"), "which bins to merge"),
        (lambda: Remove("job", bins=[1]), "applies to a whole term; omit bins="),
        (lambda: Remove("job", mean="keep"), 'use mean="intercept"'),
        (lambda: Revert("job", mean="keep"), "omit mean="),
        (lambda: Monotone("age", direction="up"), "must be one of"),
        (lambda: Align("age", to="middle"), "must be one of"),
        (lambda: Composed(()), "one or more operations"),
    ],
)
def test_malformed_operation_is_refused_when_it_is_made(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize(
    "plain",
    [
        {},
        {"operation": "explode", "term": "age"},
        {"operation": "shift", "term": "age"},
        {"operation": "shift", "term": "age", "by": "1"},
        {"operation": "shift", "term": "age", "by": True},
        {"operation": "shift", "term": 3, "by": 1.0},
        {"operation": "shift", "term": "age", "by": 1.0, "bins": "12"},
        {"operation": "shift", "term": "age", "by": 1.0, "epsilon": 1.0},
        {"operation": "composed", "title": "", "steps": []},
        {"operation": "composed", "steps": [{"operation": "flatten", "term": "age"}]},
        {"operation": "monotone", "term": "age", "direction": "sideways"},
    ],
)
def test_malformed_plain_operation_is_refused(plain):
    with pytest.raises(ValueError, match=r"operation|parameter|steps|direction"):
        operation_from_plain(plain)


def test_operation_is_frozen_and_survives_plain_values():
    operation = repair("age", "increasing", within=(17, 45))

    assert operation_from_plain(operation_to_plain(operation)) == operation
    with pytest.raises(dataclasses.FrozenInstanceError):
        operation.title = "other"
    assert isinstance(operation.steps[0], Operation)


def test_record_must_hold_an_operation():
    with pytest.raises(ValueError, match="JSON text of an operation"):
        EditRecord("[1]", "words", ())


def test_constraint_that_an_edit_breaks_is_not_claimed_any_more():
    kept = classifier(terms=(age(monotone="increasing"), job()))

    assert UP.apply(kept)["age"].monotone == "increasing"
    assert Set("age", value=[3.0, 2.0, 1.0]).apply(kept)["age"].monotone is None


def test_edits_of_an_edited_explanation_add_to_its_record():
    once = UP.apply(classifier())
    twice = Shift("job", by=1.0, mean="intercept").apply(once)
    back = Revert("job").apply(twice)

    assert [record.terms for record in twice.edits] == [("age",), ("job",)]
    np.testing.assert_array_equal(twice["age"].released, age().contribution)
    assert twice.released_intercept == classifier().intercept
    assert back.intercept == classifier().intercept
    assert back.guarantee.notes[-1].startswith("Edited by hand after the fit (3 edits")
    assert back.guarantee.covers == "this fit alone, edited by hand afterwards"


def test_record_of_what_asks_feature_by_feature_says_what_to_beware_of():
    term = age(stretch=1.2, recovered=age().contribution)
    explanation = classifier(terms=(term, job()))

    edited = repair("age", "increasing").apply(explanation)

    assert edited.edits[0].caution == Recover.caution == Stretch.caution
    assert "may overcorrect correlated features" in str(edited.edits[0])
    assert UP.apply(explanation).edits[0].caution == ""
    assert "Warning" not in str(UP.apply(explanation).edits[0])


def test_record_of_an_edit_that_breaks_the_constraint_of_the_fit_says_so():
    explanation = classifier(terms=(age(monotone="increasing"), job()))
    broken = "the curve no longer increases everywhere, as the fit constrained it to"
    log = EditLog.of(explanation).edit(Shift("age", by=1.0, bins=[0]))

    mended = Monotone("age", direction="increasing")
    edited = log.edit(Shift("age", by=1.0, bins=[1])).edit(mended).apply(explanation)

    assert [record.caution for record in edited.edits] == [broken, "", ""]
    assert f"Warning: {broken}." in str(edited.edits[0])
    assert edited["age"].monotone == "increasing"  # the last edit restored it
    assert log.apply(explanation)["age"].monotone is None
    kept = Scale("age", factor=0.5).apply(explanation)
    assert kept.edits[0].caution == ""


def test_band_is_that_of_the_released_curve():
    once = Shift("age", by=0.15, bins=[0]).apply(classifier())
    twice = Shift("age", by=0.15, bins=[0]).apply(once)

    assert once.edits[0].words.startswith("shift age in bins 0")
    assert [record.n_outside for record in twice.edits] == [0, 1]
    assert "leaves the noise band in 1 bin" in str(twice.edits[1])
    assert not once.edits[0].leaves_band


def test_explanation_without_noise_says_that_its_band_is_not_known():
    plain = classifier(terms=(age(noise_std=None), job(noise_std=None)))

    assert "noise band unknown" in str(UP.apply(plain).edits[0])
    with pytest.raises(ValueError, match="needs a noise band"):
        Flatten("age").apply(plain)
    with pytest.raises(ValueError, match="needs reach="):
        Smooth("age").apply(plain)
    assert Smooth("age", reach=0.3).apply(plain).edits


def test_removed_term_contributes_nothing_anywhere():
    assert not Remove("age").apply(classifier())["age"].contribution.any()


def test_guarantee_keeps_its_numbers():
    edited = UP.apply(classifier())

    assert edited.guarantee.epsilon == private_guarantee().epsilon
    assert edited.guarantee.short == private_guarantee().short
