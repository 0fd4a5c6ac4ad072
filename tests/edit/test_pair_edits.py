"""Edits of pairs: what they change, what they keep, replay, and what is refused."""

from __future__ import annotations

import dataclasses
import itertools
import json
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import isotonic_regression

from dpexplain import io
from dpexplain.edit import (
    Align,
    Convex,
    Denoise,
    EditLog,
    Flatten,
    Interpolate,
    Merge,
    Monotone,
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
)
from dpexplain.edit.grids import smooth_plane
from dpexplain.edit.kernels import positive_weights
from dpexplain.edit.splines import smooth_surface
from dpexplain.explain import GlobalExplanation, PairAxis, PairCurve, ShapeFunction
from example_explanations import age, age_and_job, classifier, private_guarantee

NAME = "age & dose"
NURSES = {"age": (17, 45), "job": "nurse"}


def with_jobs(**changes):
    """Make an explanation of age, job and their pair, of 3 x 3 cells."""
    return classifier(pairs=(age_and_job(**changes),))


def table(n_rows, n_columns, values, counts, slope=0.0):
    """Make an explanation of age, dose and their pair, with distinct contributions."""
    guarantee = private_guarantee()
    edges = [np.linspace(0, 10, n + 1) for n in (n_rows, n_columns)]
    curves = [
        ShapeFunction(
            name, "numeric", [*(slope * np.arange(2.0 * n)), 0.0], [1.0] * (2 * n + 1),
            guarantee=guarantee, bin_edges=np.linspace(0, 10, 2 * n + 1), special=("missing",),
        )
        for name, n in (("age", n_rows), ("dose", n_columns))
    ]  # fmt: skip
    axes = tuple(
        PairAxis(name, "numeric", bin_edges=e, special=("missing",))
        for name, e in zip(("age", "dose"), edges, strict=True)
    )
    shape = (n_rows + 1, n_columns + 1)
    pair = PairCurve(
        NAME, axes, np.reshape(values, shape), np.reshape(counts, shape), guarantee=guarantee,
        noise_std=np.full(shape, 0.2),
    )  # fmt: skip
    return GlobalExplanation(tuple(curves), 0.5, "identity", guarantee=guarantee, pairs=(pair,))


@st.composite
def tables(draw):
    n_rows, n_columns = draw(st.integers(2, 5)), draw(st.integers(2, 5))
    size = (n_rows + 1) * (n_columns + 1)
    values = st.lists(st.integers(-50, 50), min_size=size, max_size=size)
    counts = st.lists(st.integers(-3, 90), min_size=size, max_size=size)
    slope = draw(st.sampled_from([0.0, 0.5]))
    return table(n_rows, n_columns, np.array(draw(values)) / 10, draw(counts), slope)


wheres = st.sampled_from([None, {"age": (0, 10)}, {"dose": ["missing"]}])
shaping = st.one_of(
    st.builds(Scale, st.just(NAME), factor=st.floats(-2, 2), where=wheres),
    st.builds(Flatten, st.just(NAME), where=wheres),
    st.builds(Smooth, st.just(NAME), reach=st.sampled_from([None, 0.2])),
    st.builds(Smooth, st.just(NAME), along=st.sampled_from(["age", "dose"])),
    st.builds(
        Monotone,
        st.just(NAME),
        direction=st.sampled_from(["increasing", "decreasing"]),
        along=st.sampled_from(["age", "dose"]),
    ),
)
setting = st.one_of(
    st.builds(
        Set,
        st.just(NAME),
        value=st.floats(-2, 2),
        where=wheres,
        mean=st.sampled_from([None, "keep", "intercept"]),
    ),
    st.builds(Shift, st.just(NAME), by=st.floats(-2, 2), where=wheres),
    st.just(Remove(NAME, mean="intercept")),
    st.just(Revert(NAME)),
)


def test_a_region_is_set_and_all_other_cells_stay():
    explanation = with_jobs()
    edited = Set("age & job", value=0.7, where=NURSES).apply(explanation)
    expected = explanation.pair("age & job").contribution.copy()
    expected[0, 0] = 0.7
    np.testing.assert_array_equal(edited.pair("age & job").contribution, expected)
    np.testing.assert_array_equal(
        edited.pair("age & job").released, explanation.pair("age & job").contribution
    )
    assert edited["age"].contribution.tobytes() == explanation["age"].contribution.tobytes()
    assert edited.pair("age & job").noise_std.tobytes() == age_and_job().noise_std.tobytes()


def test_special_cells_change_only_if_they_are_named():
    shifted = Shift("age & job", by=1.0).apply(with_jobs()).pair("age & job")
    change = shifted.contribution - shifted.released
    np.testing.assert_allclose(change, [[1, 1, 0], [1, 1, 0], [0, 0, 0]])
    where = {"age": "missing", "job": ["missing", "clerk"]}
    shifted = Shift("age & job", by=1.0, where=where).apply(with_jobs()).pair("age & job")
    change = shifted.contribution - shifted.released
    np.testing.assert_allclose(change, [[0, 0, 0], [0, 0, 0], [0, 1, 1]])


def test_a_record_counts_cells_and_tells_whether_they_leave_the_noise_band():
    edited = Set("age & job", value=0.9, where=NURSES).apply(with_jobs())
    (effect,) = edited.edits[0].effects
    assert (effect.term, effect.n_bins, effect.n_outside) == ("age & job", 1, 1)
    share = 20.0 / 61.0
    assert effect.people_share == pytest.approx(share)
    assert effect.rms == pytest.approx(0.4 * share**0.5)
    assert effect.mean_change == pytest.approx(0.4 * share)
    row, column = (0.4 * 20 / size * (size / 61) ** 0.5 for size in (31.0, 36.0))
    assert effect.side_change == pytest.approx(max(row, column))
    assert "changes 1 cell by" in edited.edits[0].__str__()
    assert "leaves the noise band in 1 cell" in effect.words
    assert "moves means of rows or columns by" in effect.words
    assert edited.edits[0].epsilon == 0.0
    assert edited.pair("age & job").edits == (edited.edits[0].words,)
    assert "for age between 17 and 45 and job 'nurse' to 0.9" in edited.edits[0].words
    assert "edited by hand" in edited.pair("age & job")._repr_html_()


def test_edits_of_a_pair_are_listed_cell_by_cell():
    log = EditLog().edit(Set("age & job", value=0.9, where=NURSES, mean="intercept"))
    changes = log.diff(with_jobs())
    assert changes["bin"].tolist() == ["17 – 45, nurse", ""]
    assert changes["change"].tolist() == pytest.approx([0.4, -0.4 * 20 / 61])
    history = log.history(with_jobs())
    assert history["bins_outside_band"].tolist() == [1]


@pytest.mark.full
@given(tables(), shaping)
def test_shaping_a_pair_keeps_its_mean_and_the_intercept(explanation, operation):
    edited, pair = operation.apply(explanation), explanation.pair(NAME)
    before, after = (
        np.vdot(pair.weights, e.pair(NAME).contribution) for e in (explanation, edited)
    )
    assert after == pytest.approx(before, abs=1e-9)
    assert edited.intercept == explanation.intercept


@pytest.mark.full
@given(tables(), st.sampled_from(["age", "dose"]), st.sampled_from(["increasing", "decreasing"]))
def test_a_monotone_pair_makes_its_sum_with_the_curve_the_closest_monotone_one(
    explanation, along, direction
):
    edited = Monotone(NAME, direction=direction, along=along).apply(explanation)
    axis = ["age", "dose"].index(along)
    pair, means = (
        explanation.pair(NAME),
        explanation[along].contribution[:-1].reshape(-1, 2).mean(1),
    )
    curve = means[:, None] if axis == 0 else means
    released, found, weights = (
        np.moveaxis(each, axis, -1)
        for each in (
            curve + pair.contribution[:-1, :-1],
            curve + edited.pair(NAME).contribution[:-1, :-1],
            pair.weights[:-1, :-1],
        )
    )
    sign = 1 if direction == "increasing" else -1
    assert (sign * np.diff(found) >= -1e-12).all()
    for line, fitted, weight in zip(released, found, weights, strict=True):
        if (weight > 0).all():
            closest = isotonic_regression(
                line, sample_weight=weight, increasing=direction == "increasing"
            )
            np.testing.assert_allclose(fitted, closest, atol=1e-6)
        if (sign * np.diff(line) >= 0).all():
            np.testing.assert_array_equal(fitted, line)


def test_a_monotone_pair_follows_the_curve_as_edited_before():
    explanation = table(2, 2, [[0.0, 0, 0], [-0.3, 0.3, 0], [0, 0, 0]], np.ones(9))
    flat = Monotone(NAME, direction="increasing", along="age").apply(explanation)
    np.testing.assert_allclose(flat.pair(NAME).contribution[:2, 0], -0.15)
    log = EditLog().edit(Set("age", value=(-0.2, -0.2, 0.2, 0.2)))
    log = log.edit(Monotone(NAME, direction="increasing", along="age"))
    edited = log.apply(explanation)
    assert edited.pair(NAME).contribution.tobytes() == explanation.pair(NAME).contribution.tobytes()
    assert "along age" in log.operations[-1].words


def test_smoothing_leaves_a_plane_and_keeps_within_the_noise():
    x, y = np.meshgrid(np.arange(5.0), np.arange(4.0), indexing="ij")
    plane, ones = 0.3 * x - 0.2 * y, np.ones((5, 4))
    np.testing.assert_allclose(smooth_plane(plane, ones, ones, 0.3), plane, atol=1e-6)
    found = smooth_surface((np.arange(5.0), np.arange(4.0)), plane, ones, 0.1 * ones)
    np.testing.assert_allclose(found, plane, atol=0.01)
    bumpy = plane + np.random.default_rng(0).normal(0, 0.1, plane.shape)
    smoothed = smooth_surface((np.arange(5.0), np.arange(4.0)), bumpy, ones, 0.1 * ones)
    assert np.abs(smoothed - bumpy).max() <= 0.15 + 1e-12
    assert np.square(smoothed - plane).mean() < np.square(bumpy - plane).mean()


def test_a_smooth_plane_is_a_weighted_fit_around_each_cell():
    rng = np.random.default_rng(3)
    values, weights, std = (rng.uniform(0.1, 1, (3, 4)) for _ in range(3))
    found = smooth_plane(values, weights, std, 0.4)
    share = positive_weights(weights.ravel()).reshape(3, 4)
    x, y = (np.cumsum(s) - s / 2 for s in (share.sum(1), share.sum(0)))
    for row, column in itertools.product(range(3), range(4)):
        dx, dy = (each.ravel() for each in np.meshgrid(x - x[row], y - y[column], indexing="ij"))
        near = np.exp(-(dx**2 + dy**2) / (2 * 0.4**2)) / std.ravel() ** 2
        root = np.sqrt(near)
        design = np.column_stack([np.ones(12), dx, dy])
        plane = np.linalg.lstsq(root[:, None] * design, root * values.ravel(), rcond=None)[0]
        assert found[row, column] == pytest.approx(plane[0], abs=1e-6)


def test_smoothing_a_large_table_takes_memory_for_its_cells_only():
    values = np.add.outer(np.linspace(0, 1, 66), np.linspace(0, 2, 66))
    tracemalloc.start()
    try:
        smooth_plane(values, np.ones_like(values), np.ones_like(values), 0.1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100 * values.nbytes


@pytest.mark.full
@given(tables(), st.lists(st.one_of(shaping, setting), min_size=1, max_size=4))
def test_undo_and_replay_of_pair_edits_give_the_same_bits(explanation, operations):
    log, states = EditLog.of(explanation), [explanation]
    for operation in operations:
        log = log.edit(operation)
        states.append(operation.apply(states[-1]))
    shown = [log.apply(explanation, place) for place in range(-1, len(operations))]
    for one_by_one, replayed in zip(states, shown, strict=True):
        assert (
            one_by_one.pair(NAME).contribution.tobytes()
            == replayed.pair(NAME).contribution.tobytes()
        )
        assert one_by_one.intercept == pytest.approx(replayed.intercept, abs=1e-12)
    undone = log
    for _ in operations:
        undone = undone.undo()
    assert undone.apply(explanation) is explanation
    reverted = log.edit(Revert(NAME)).apply(explanation)
    assert (
        reverted.pair(NAME).contribution.tobytes() == explanation.pair(NAME).contribution.tobytes()
    )
    assert reverted.intercept == explanation.intercept


@given(st.one_of(shaping, setting))
def test_operations_on_pairs_survive_json(operation):
    plain = json.loads(json.dumps(operation_to_plain(operation)))
    assert operation_from_plain(plain) == operation


def test_a_saved_log_keeps_the_grid_and_the_cells(tmp_path):
    explanation = with_jobs()
    where = {"age": (17, 45), "job": ["nurse", "missing"]}
    log = EditLog.of(explanation).edit(Shift("age & job", by=0.1, where=where), note="too low")
    io.save(log, tmp_path / "log.json")
    loaded = io.load(tmp_path / "log.json")
    assert loaded == log
    edited = loaded.apply(explanation)
    io.save(edited, tmp_path / "edited.json")
    assert io.load(tmp_path / "edited.json") == edited
    assert EditLog.from_records(edited.edits).apply(explanation) == edited


def test_cells_do_not_carry_over_to_another_grid():
    axes = age_and_job().axes
    finer = dataclasses.replace(axes[0], bin_edges=[17.0, 50.0, 90.0])
    other = with_jobs(axes=(finer, axes[1]))
    log = EditLog.of(with_jobs()).edit(Flatten("age & job"))
    assert log.apply(with_jobs(contribution=np.zeros((3, 3)))).edits
    with pytest.raises(ValueError, match="Cells of one grid do not carry over to another"):
        log.apply(other)
    with pytest.raises(ValueError, match="there is no such pair here; the pairs are none"):
        log.apply(classifier())
    removed = EditLog.of(with_jobs()).edit(Remove("age & job")).apply(other)
    assert not removed.pair("age & job").contribution.any()


@pytest.mark.parametrize(
    "operation",
    [
        Denoise(NAME), Stretch(NAME), Recover(NAME), Convex(NAME, bend="convex"), Interpolate(NAME),
        Align(NAME, to="left"), Merge(NAME, names=["a", "b"]),
    ],
)  # fmt: skip
def test_operations_on_curves_are_refused_for_a_pair(operation):
    explanation = table(2, 2, np.zeros(9), np.ones(9))
    with pytest.raises(ValueError, match="applies to a curve of one feature, and 'age & dose' is"):
        operation.apply(explanation)


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        (Smooth("age & job"), "the categories of 'job' are unordered; pass along="),
        (Smooth("age & job", along="job"), "the categories of 'job' are unordered"),
        (Smooth("age & job", along="town"), "along='town': the features of 'age & job' are 'age'"),
        (Smooth("age", along="age"), "along= is for a pair of features"),
        (Smooth("age & job", along="age", where={"age": (17, 45)}), "at least 2 bins"),
        (Smooth("age & job", along="age", where={"age": "missing"}), "a special bin of 'age'"),
        (Monotone("age & job", direction="increasing"), "needs along='age' or along='job'"),
        (Set("age & job", value=0.0, bins=[1]), "choose its cells with where="),
        (Set("age & job", value=0.0, where={"town": "A"}), "where= names 'town'; the features"),
        (Set("age & job", value=0.0, where={"job": "nurs"}), "Did you mean 'nurse'"),
        (Set("age & job", value=0.0, where={"age": (18, 19)}), "no bin of 'age' lies between"),
        (Set("age & job", value=(1.0, 2.0)), "2 values for 4 bins"),
        (Set("age", value=0.0, where={"age": (17, 45)}), "where= chooses cells of a pair"),
        (Remove("age & jobs"), "no pair 'age & jobs'.*Did you mean 'age & job'"),
    ],
)  # fmt: skip
def test_wrong_edits_of_pairs_say_what_to_do_instead(operation, words):
    with pytest.raises(ValueError, match=words):
        operation.apply(with_jobs())


@pytest.mark.parametrize("where", [3, {}, {1: "a"}, {"age": 3}, {"age": (3, 2)}, {"age": (1, "a")}])
def test_malformed_choices_of_cells_are_refused(where):
    with pytest.raises(ValueError, match="where="):
        Set(NAME, value=0.0, where=where)
    with pytest.raises(ValueError, match="where= chooses cells of a pair; omit bins="):
        Set(NAME, value=0.0, where={"age": (1, 2)}, bins=[1])


def test_smoothing_without_known_noise_needs_a_reach():
    unknown = with_jobs(noise_std=None)
    with pytest.raises(ValueError, match="smooth needs reach= here"):
        Smooth("age & job", along="age").apply(unknown)
    edited = Smooth("age & job", along="age", reach=0.5).apply(unknown)
    assert edited.edits[0].effects[0].n_outside is None


def test_a_curve_and_a_pair_are_edited_in_one_log():
    log = EditLog().edit(Shift("age", by=0.1)).edit(Remove("age & job")).edit(Revert("age"))
    edited = log.apply(with_jobs())
    assert edited["age"].contribution.tolist() == age().contribution.tolist()
    assert not edited.pair("age & job").contribution.any()
    assert [edit.terms for edit in edited.edits] == [("age",), ("age & job",), ("age",)]
    assert len(log.undo().undo().apply(with_jobs()).edits) == 1
