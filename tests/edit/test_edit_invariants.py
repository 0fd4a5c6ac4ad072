"""What edits never do, whatever the curve or the operation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.isotonic import isotonic_regression

from dpexplain import io
from dpexplain.edit import EditLog, Monotone, Revert, Shift
from dpexplain.edit.kernels import convex, monotone, positive_weights, smooth, weighted_mean
from dpexplain.explain import GlobalExplanation
from edit_examples import explanations, multiclass_explanations, operations, terms

pytestmark = pytest.mark.full


def touched_bins(operation, term):
    if operation.kind in ("remove", "revert"):
        return np.arange(term.n_bins)
    return operation.selection.of(term)


@given(st.data())
def test_shaping_keeps_the_weighted_mean_and_the_intercept(data):
    explanation = data.draw(explanations())
    term = explanation["age"]
    operation = data.draw(operations(term, shaping_only=True))

    edited = operation.apply(explanation)

    mean = term.weights @ term.contribution
    assert edited["age"].weights @ edited["age"].contribution == pytest.approx(mean, abs=1e-9)
    assert edited.intercept == explanation.intercept


@given(st.data())
def test_bins_that_are_not_chosen_are_identical_to_the_last_bit(data):
    explanation = data.draw(explanations())
    term = explanation["age"]
    operation = data.draw(operations(term))

    edited = operation.apply(explanation)

    left_alone = np.ones(term.n_bins, dtype=bool)
    left_alone[touched_bins(operation, term)] = False
    before, after = term.contribution[left_alone], edited["age"].contribution[left_alone]
    assert before.tobytes() == after.tobytes()
    assert edited["job"].contribution.tobytes() == explanation["job"].contribution.tobytes()
    assert edited["age"].count.tobytes() == term.count.tobytes()


@given(st.data())
def test_special_bins_stay_unless_they_are_named(data):
    explanation = data.draw(explanations())
    term = explanation["age"]
    operation = data.draw(operations(term))
    assume(operation.kind != "remove")

    edited = operation.apply(explanation)

    before, after = (t.contribution[term.n_value_bins :] for t in (term, edited["age"]))
    assert before.tobytes() == after.tobytes()


@given(explanations(), st.floats(-3, 3))
def test_missing_bin_that_is_named_is_edited(explanation, by):
    edited = Shift("age", by=by, names=["missing"]).apply(explanation)

    before, after = explanation["age"].contribution, edited["age"].contribution
    assert after[-1] == before[-1] + by
    assert after[:-1].tobytes() == before[:-1].tobytes()


@given(st.data())
def test_reverting_brings_everything_back(data):
    explanation = data.draw(explanations())
    log = EditLog()
    for _ in range(data.draw(st.integers(1, 3))):
        log = log.edit(data.draw(operations(explanation["age"])))

    reverted = log.edit(Revert("age")).apply(explanation)

    assert reverted["age"].contribution.tobytes() == explanation["age"].contribution.tobytes()
    assert reverted.intercept == explanation.intercept


@given(st.data())
def test_undoing_everything_is_the_identity(data):
    explanation = data.draw(explanations())
    log = EditLog()
    edits = data.draw(st.integers(1, 4))
    for _ in range(edits):
        log = log.edit(data.draw(operations(explanation["age"])))
    for _ in range(edits):
        log = log.undo()

    assert log.apply(explanation) is explanation


@given(st.data())
def test_one_after_the_other_is_the_same_as_all_at_once(data):
    explanation = data.draw(explanations())
    first, second = (data.draw(operations(explanation["age"])) for _ in range(2))

    apart = second.apply(first.apply(explanation))
    together = EditLog().edit(first).edit(second).apply(explanation)

    assert apart["age"].contribution.tobytes() == together["age"].contribution.tobytes()
    assert apart.intercept == pytest.approx(together.intercept, abs=1e-12)
    assert [edit.words for edit in apart.edits] == [edit.words for edit in together.edits]


@given(terms(least=2, numeric=True), st.sampled_from([1, -1]))
def test_monotone_is_the_projection_that_scikit_learn_finds(term, sign):
    n = term.n_value_bins
    curve, weights = term.contribution[:n], term.weights[:n]

    ours = monotone(curve, weights, sign)

    theirs = isotonic_regression(
        curve, sample_weight=positive_weights(weights), increasing=sign > 0
    )
    np.testing.assert_allclose(ours, theirs, atol=1e-9)


@given(terms(least=2, numeric=True))
def test_monotone_edit_is_the_projection_in_noisy_counts(term):
    explanation = GlobalExplanation((term,), 0.0, "identity", guarantee=term.guarantee)
    n = term.n_value_bins
    assume(term.weights[:n].sum() > 0.01)

    edited = Monotone("age", direction="increasing").apply(explanation)["age"].contribution[:n]

    weights = positive_weights(term.weights[:n])
    theirs = isotonic_regression(term.contribution[:n], sample_weight=weights)
    # The mean is kept in plain counts; bins of nobody weigh next to nothing in the projection.
    np.testing.assert_allclose(edited, theirs, atol=1e-5)
    assert (np.diff(edited) >= 0).all()


@given(terms(least=3, numeric=True), st.sampled_from([1, -1]))
def test_convex_curve_bends_one_way_and_no_nearer_one_is_known(term, sign):
    n = term.n_value_bins
    places = (term.bin_edges[1:] + term.bin_edges[:-1]) / 2
    curve, weights = term.contribution[:n], positive_weights(term.weights[:n])

    fitted = convex(places, curve, term.weights[:n], sign)

    slopes = np.diff(fitted) / np.diff(places)
    assert (sign * np.diff(slopes) >= -1e-7 * (1 + np.abs(slopes).max())).all()
    # The projection on a cone: the residual is at a right angle to the curve, and at an obtuse
    # angle to every hinge of the cone.
    residual = weights * (curve - fitted)
    scale = np.abs(curve).max() + 1e-12
    assert abs(residual @ fitted) <= 1e-7 * scale**2
    hinges = np.maximum(places[:, None] - places[None, :], 0.0) / (places[-1] - places[0])
    assert (sign * (residual @ hinges)[1:-1] <= 1e-7 * scale).all()
    assert abs(residual.sum()) <= 1e-7 * scale
    assert abs(residual @ places) <= 1e-7 * scale * np.abs(places).max()


def test_convex_agrees_with_a_general_solver():
    rng = np.random.default_rng(3)
    x = np.cumsum(rng.uniform(0.5, 2.0, 9))
    curve, weights = rng.standard_normal(9), rng.uniform(0.2, 1.0, 9)

    def bends(f):
        return np.diff(np.diff(f) / np.diff(x))

    solved = minimize(
        lambda f: weights @ (curve - f) ** 2,
        np.zeros(9),
        constraints={"type": "ineq", "fun": bends},
        options={"ftol": 1e-14, "maxiter": 1000},
    )

    np.testing.assert_allclose(convex(x, curve, weights, 1), solved.x, atol=1e-4)


@given(terms(least=2, numeric=True), st.floats(0.02, 0.5), st.floats(-2, 2), st.floats(-2, 2))
def test_smoothing_leaves_straight_lines_alone(term, reach, level, slope):
    n = term.n_value_bins
    weights = positive_weights(term.weights[:n])
    middle = np.cumsum(weights) - weights / 2
    assume(np.diff(middle).min() > 0.03)
    line = level + slope * middle

    smoothed = smooth(line, term.weights[:n], term.noise_std[:n], reach)

    np.testing.assert_allclose(smoothed, line, atol=1e-2 * (abs(slope) + 1e-6))


@given(st.data())
def test_log_survives_json(data):
    explanation = data.draw(explanations())
    log = EditLog.of(explanation)
    for _ in range(data.draw(st.integers(0, 4))):
        log = log.edit(
            data.draw(operations(explanation["age"])), note=data.draw(st.text(max_size=9))
        )
        log = data.draw(st.sampled_from([log, log.undo(), log.checkpoint("named")]))

    assert io.from_json(io.to_json(log)) == log


@given(st.data())
def test_edited_explanation_survives_json_and_gives_its_log_back(data):
    explanation = data.draw(explanations())
    log = EditLog().edit(
        data.draw(operations(explanation["age"])), note="why", who="me", when="now"
    )

    edited = log.apply(explanation)

    assert io.from_json(io.to_json(edited)) == edited
    again = EditLog.from_records(edited.edits).apply(explanation)
    assert again == edited


@given(st.data())
def test_every_edit_costs_nothing_and_is_on_record(data):
    explanation = data.draw(explanations())
    operation = data.draw(operations(explanation["age"]))

    edited = operation.apply(explanation)

    (record,) = edited.edits
    change = edited["age"].contribution - explanation["age"].contribution
    weights = explanation["age"].weights
    half = explanation["age"].band_factor * explanation["age"].total_std
    assert record.epsilon == 0
    assert record.effects[0].n_bins == (change != 0).sum()
    assert record.rms == pytest.approx(np.sqrt(weights @ change**2), abs=1e-12)
    assert record.people_share == pytest.approx(weights[change != 0].sum(), abs=1e-12)
    if operation.kind == "recover":  # up to 1.5 deviations, and what keeping the mean adds
        assert (
            record.n_outside
            == (
                np.abs(edited["age"].contribution - _said(explanation["age"], operation)) > half
            ).sum()
        )
    else:
        moved = change if operation.kind != "stretch" else 0 * change
        assert record.n_outside == (np.abs(moved) > half).sum()
    assert edited.guarantee.epsilon == explanation.guarantee.epsilon
    assert "Edited by hand" in edited.guarantee.statement()
    assert "edited" in repr(edited)
    assert "edited" in repr(edited["age"])


def _said(term, operation):
    """Return the released curve, stretched in the bins of an operation."""
    bins = operation.selection.of(term)
    said, weights = term.contribution.copy(), term.weights[bins]
    level = weighted_mean(said[bins], weights)
    said[bins] = level + term.stretch * (said[bins] - level)
    return said


@given(multiclass_explanations(), st.floats(-2, 2))
def test_editing_one_class_leaves_the_others_to_the_last_bit(explanation, by):
    edited = Shift("age", by=by, of_class="b").apply(explanation)

    for label in ("a", "c"):
        before, after = explanation.for_class(label)["age"], edited.for_class(label)["age"]
        assert before.contribution.tobytes() == after.contribution.tobytes()
    n = explanation.for_class("b")["age"].n_value_bins
    before, after = (e.for_class("b")["age"].contribution for e in (explanation, edited))
    np.testing.assert_array_equal(after[:n], before[:n] + by)
    assert [edit.of_class for edit in edited.edits[0].effects] == ["b"]


@given(multiclass_explanations())
def test_operation_without_a_class_edits_all_of_them(explanation):
    edited = Shift("age", by=1.0).apply(explanation)

    assert [effect.of_class for effect in edited.edits[0].effects] == ["a", "b", "c"]
    assert io.from_json(io.to_json(edited)) == edited
