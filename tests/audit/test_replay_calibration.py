"""Transcript replay of the sums that calibrate scores."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpexplain.audit import record, replay
from dpexplain.audit.records import without
from dpexplain.models import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor
from dpexplain.models.boosting import fit
from dpexplain.models.boosting.budget import Budget
from dpexplain.models.boosting.calibration import line
from dpexplain.models.boosting.calibration.line import N_SUMS
from dpexplain.models.boosting.records import class_sums
from dpexplain.models.boosting.records.binned import Records, count_levels
from dpexplain.models.boosting.records.class_sums import ClassSums
from dpexplain.schema import Categorical, Classes, Numeric, Range, Schema
from effort import examples
from replays import driven, neighbor_of

pytestmark = pytest.mark.full

FEATURES = {"age": Numeric(0, 100), "dose": Numeric(0, 1), "ward": Categorical(["a", "b", "c"])}
TARGETS = {
    "classes": Classes(["no", "yes"]),
    "numbers": Range(-1, 9),
    "counts": Range(0, 9),
    "several": Classes(["no", "yes", "maybe"]),
}
MODELS = {
    "classes": DPExplainableBoostingClassifier,
    "numbers": DPExplainableBoostingRegressor,
    "counts": partial(DPExplainableBoostingRegressor, objective="poisson"),
    "several": DPExplainableBoostingClassifier,
}

ENDS = {
    "classes": ["no", "yes"],
    "numbers": [-1.0, 9.0],
    "counts": [0.0, 9.0],
    "several": ["no", "yes"],
}

each_kind = pytest.mark.parametrize("kind", list(MODELS))


def make(kind="classes", **settings):
    schema = Schema(FEATURES, target=TARGETS[kind])
    defaults = {"schema": schema, "structure_seed": 3, "max_rounds": 5}
    return MODELS[kind](**{**defaults, **settings})


def make_data(n, seed, kind="classes"):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.uniform(0, 100, n),
            "dose": rng.uniform(0, 1, n),
            "ward": rng.choice(["a", "b", "c"], n),
        }
    )
    return X, pd.Series(rng.choice(ENDS[kind], n))


@each_kind
@examples(25)
@given(
    n=st.integers(1, 40),
    seed=st.integers(0, 2**32 - 1),
    adjacency=st.sampled_from(["add_remove", "replace"]),
    epsilon=st.sampled_from([0.1, 1.0, 20.0]),
    settings_=st.sampled_from([{}, {"outer_bags": 3}, {"pairs": [("age", "ward")]}, {"pairs": 3}]),
)
@pytest.mark.filterwarnings("ignore:epsilon")
def test_calibration_stays_within_the_guarantee(kind, n, seed, adjacency, epsilon, settings_):
    assume(kind in ("classes", "numbers") or "pairs" not in settings_)
    estimator = make(kind, adjacency=adjacency, epsilon=epsilon, **settings_)
    data = make_data(n, seed, kind)
    model, transcript = record(estimator, *data, answers=driven(seed, bits=21 + seed % 14))
    assert transcript.phases[-1].label == "calibration"
    # The last record: the others keep the coins that put them into bags.
    neighbor = neighbor_of(data, adjacency, [100.0, 0.0, "c"], ENDS[kind][0], absent=n - 1)
    report = replay(estimator, neighbor, model, transcript)
    assert report.holds, report


@each_kind
@pytest.mark.parametrize(("adjacency", "most"), [("add_remove", 1.0), ("replace", 2.0)])
def test_sums_have_the_sensitivity_of_one_leaf(adjacency, most, kind):
    _, transcript = record(make(kind, adjacency=adjacency), *make_data(30, 1, kind))
    phase, answer = transcript.phases[-1], transcript.answers[-1]
    assert phase.sensitivity_int == most * 2**20
    # A sum for each of three classes, one for the scores, and six groups for each class.
    assert answer.shape == (22 if kind == "several" else N_SUMS,)


# Planted mistakes.


def contributions_without_bound(monkeypatch):
    """Sum residuals times scores, without dividing by their norm."""

    honest = line.Contributions.steps.fget

    def times_the_score(self):
        z = self.directions[:, 1] / self.directions[:, 0]
        return (honest(self) * np.hypot(1.0, z)[None, :, None]).astype(np.int64)

    monkeypatch.setattr(line.Contributions, "steps", property(times_the_score))


def residuals_without_bound(monkeypatch):
    """Let residuals of numbers reach three times their bound."""
    honest = line.numbers

    def beyond(bound, inside):
        response = honest(bound, inside)
        return replace(response, residuals=lambda z: 3.0 * response.residuals(z))

    monkeypatch.setattr(line, "numbers", beyond)


def counts_without_bound(monkeypatch):
    """Let residuals of counts reach as far as the public range."""
    honest = line.event_counts

    def unbounded(bound, high, clip, inside):
        response = honest(bound, high, clip, inside)
        levels = count_levels(high)[:, None] / bound
        return replace(response, residuals=lambda expected: levels - expected)

    monkeypatch.setattr(line, "event_counts", unbounded)


def residuals_bounded_by_their_median(monkeypatch):
    """Bound residuals of numbers by the median of their sizes."""

    def of_records(self, low, width, n_cells, bound):
        self._settle()
        sizes = np.abs(self._target - self._score)
        return honest(self, low, width, n_cells, float(np.median(sizes)) if len(self) else bound)

    honest = Records.score_counts
    monkeypatch.setattr(Records, "score_counts", of_records)


def counts_bounded_by_their_mean(monkeypatch):
    """Bound residuals of counts by a number that every record changes."""
    honest = fit.release_line

    def of_records(records, *others, **settings):
        mean = settings["high"] * float(records._target.mean()) if len(records) else 0.0
        monkeypatch.setattr(line, "bound_of_counts", lambda *_: 1.0 + mean)
        return honest(records, *others, **settings)

    monkeypatch.setattr(fit, "release_line", of_records)


def exact_number_of_records(monkeypatch):
    """Fit the line with the exact number of records instead of the released one."""
    for name in ("release_line", "release_class_line"):
        honest = getattr(fit, name)

        def of_records(records, counts, curves, _, *others, honest=honest, **settings):
            return honest(records, counts, curves, float(len(records)), *others, **settings)

        monkeypatch.setattr(fit, name, of_records)


def records_counted_three_times(monkeypatch):
    honest = Records.score_counts
    monkeypatch.setattr(Records, "score_counts", lambda self, *cells: 3 * honest(self, *cells))


def noise_of_a_tenth(monkeypatch):
    honest = Budget.line_multiplier.fget
    monkeypatch.setattr(Budget, "line_multiplier", property(lambda self: honest(self) / 10))


def cells_around_the_median_of_the_records(monkeypatch):
    """Let the edges of the cells depend on the records."""

    def of_records(self, low, width, n_cells, largest):
        self._settle()
        half = width * n_cells / 2
        middle = float(np.median(self._score)) if len(self) else low + half
        if self._odds and len(self):
            middle = float(np.log(middle))
        return honest(self, middle - half, width, n_cells, largest)

    honest = Records.score_counts
    monkeypatch.setattr(Records, "score_counts", of_records)


def vectors_without_bound(monkeypatch):
    """Sum residuals of classes times scores, without dividing by their norm."""
    honest = ClassSums.parts

    def parts(self, score):
        p, z, weight = honest(self, score)
        return p, z, np.ones_like(weight)

    monkeypatch.setattr(ClassSums, "parts", parts)


def vectors_bounded_without_their_direction(monkeypatch):
    """Divide by a norm that forgets the direction of the scores."""
    honest = ClassSums.parts

    def parts(self, score):
        p, z, weight = honest(self, score)
        return p, z, np.maximum(weight, np.sqrt(0.5))

    monkeypatch.setattr(ClassSums, "parts", parts)


def groups_that_count_four_times(monkeypatch):
    monkeypatch.setattr(class_sums, "GROUP_WEIGHT", 4 * class_sums.GROUP_WEIGHT)


def classes_counted_three_times(monkeypatch):
    honest = Records.class_sums
    monkeypatch.setattr(Records, "class_sums", lambda self, each: 3 * honest(self, each))


def centered_by_the_records(monkeypatch):
    """Let the center of the scores of classes depend on the records."""
    honest = Records.class_sums

    def of_records(self, each):
        self._settle()
        middle = np.median(self._score, axis=1) if len(self) else each.center
        return honest(self, ClassSums(middle - middle.mean(), each.spread))

    monkeypatch.setattr(Records, "class_sums", of_records)


PLANTED = [
    *product(
        ["classes", "numbers", "counts"],
        [
            contributions_without_bound,
            records_counted_three_times,
            noise_of_a_tenth,
            cells_around_the_median_of_the_records,
        ],
    ),
    ("numbers", residuals_without_bound),
    ("numbers", residuals_bounded_by_their_median),
    ("counts", counts_without_bound),
    ("counts", counts_bounded_by_their_mean),
    ("counts", exact_number_of_records),
    *product(
        ["several"],
        [
            vectors_without_bound,
            vectors_bounded_without_their_direction,
            groups_that_count_four_times,
            classes_counted_three_times,
            noise_of_a_tenth,
            centered_by_the_records,
            exact_number_of_records,
        ],
    ),
]
OF_PAIRS = [case for case in PLANTED if case[0] in ("classes", "numbers")]


@pytest.mark.parametrize(
    ("kind", "mutant", "pairs"),
    [*((*case, 0) for case in PLANTED), *((*case, [("age", "dose")]) for case in OF_PAIRS)],
    ids=lambda part: {int: "curves", list: "pairs", str: part}.get(type(part)) or part.__name__,
)
def test_replay_catches_a_planted_mistake_about_calibration(kind, mutant, pairs, monkeypatch):
    data = make_data(31, 5, kind)
    for name, both in (("age", [5.0, 95.0]), ("dose", [0.1, 0.9]), ("ward", ["a", "c"])):
        data[0][name] = [*both * 15, both[0]]  # two crowds; the median moves with any record
    estimator = make(kind, pairs=pairs)

    def holds(seed):
        model, transcript = record(estimator, *data, answers=driven(seed, bits=21 + seed % 14))
        reports = [replay(estimator, without(data, i), model, transcript) for i in range(2)]
        return all(report.holds for report in reports)

    assert all(holds(seed) for seed in range(5))
    mutant(monkeypatch)
    # Noise is fresh. The mistake about cells shows in about one record of three, so 40 of them miss
    # it with a probability below 1e-6; most runs end at the first or second.
    assert not all(holds(seed) for seed in range(40))
