"""Transcript replay of pair terms: one record changes their choice, counts and sums."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.audit import record, replay
from dpexplain.binning.histograms import COUNT_LATTICE
from dpexplain.mechanisms import Mechanism
from dpexplain.models import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor
from dpexplain.models.boosting import estimator as boosting_estimator
from dpexplain.models.boosting import fit as boosting_fit
from dpexplain.models.boosting.budget import Budget
from dpexplain.models.boosting.pair_terms import choice, contrasts, fitting, levels
from dpexplain.models.boosting.records._kernels_sums import LATTICE
from dpexplain.models.boosting.records.binned import Records
from dpexplain.schema import Categorical, Classes, Numeric, Range, Schema
from effort import examples

pytestmark = pytest.mark.full

FEATURES = {
    "age": Numeric(0, 100),
    "dose": Numeric(0, 1),
    "ward": Categorical(["a", "b", "c"]),
    "stay": Numeric(0, 9, step=1),
}
DECLARED = [("age", "dose"), ("ward", "stay")]


def make(kind="classes", **settings_):
    regression = kind == "numbers"
    target = Range(-1, 3) if regression else Classes(["no", "yes"])
    estimator = DPExplainableBoostingRegressor if regression else DPExplainableBoostingClassifier
    schema = Schema(FEATURES, target=target)
    defaults = {"schema": schema, "structure_seed": 3, "max_rounds": 5, "pairs": DECLARED}
    return estimator(**{**defaults, **settings_})


def make_data(n, seed, kind="classes"):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.2, np.nan, rng.uniform(0, 100, n)),
            "dose": rng.uniform(0, 1, n),
            "ward": rng.choice(["a", "b", "c", "x"], n),
            "stay": rng.integers(0, 10, n).astype(float),
        }
    )
    y = rng.choice([-1.0, 3.0], n) if kind == "numbers" else rng.choice(["no", "yes"], n)
    return X, pd.Series(y)


def without(data, i):
    return tuple(part.drop(index=part.index[i]) for part in data)


def crowded(phase, answer):
    """Force counts of many records, for which grids have more cells than blocks."""
    if phase.label == "count":
        return np.full_like(answer, 30_000 * COUNT_LATTICE)
    if phase.label == "histograms":
        return np.full_like(answer, 30_000 // len(answer) * COUNT_LATTICE)
    return answer


def driven(seed, bits=35, *, many=False):
    """Force answers that push curves, counts and scores of cells to any value."""
    rng = np.random.default_rng(seed)

    def forge(phase, answer):
        if phase.label in ("count", "histograms"):
            return crowded(phase, answer) if many else answer
        if not bits:
            return answer
        return rng.choice([-1, 1], answer.shape) * rng.integers(0, 2**bits, answer.shape)

    return forge


@examples(25)
@given(
    n=st.integers(1, 40),
    seed=st.integers(0, 2**32 - 1),
    adjacency=st.sampled_from(["add_remove", "replace"]),
    epsilon=st.sampled_from([0.1, 1.0, 20.0]),
    kind=st.sampled_from(["classes", "numbers"]),
    pairs=st.sampled_from([DECLARED, "auto", 3, 1]),
    bits=st.sampled_from([0, 15, 35, 45]),
    many=st.booleans(),
)
@pytest.mark.filterwarnings("ignore:epsilon")
def test_pairs_stay_within_the_guarantee(n, seed, adjacency, epsilon, kind, pairs, bits, many):
    """With the counts of many records, there are blocks, and "auto" makes a choice."""
    estimator = make(kind, adjacency=adjacency, epsilon=epsilon, pairs=pairs, max_bins=8)
    data = make_data(n, seed, kind)
    model, transcript = record(estimator, *data, answers=driven(seed, bits, many=many))
    if adjacency == "replace":
        neighbor = tuple(part.copy() for part in data)
        neighbor[0].iloc[0] = [100.0, 0.0, "c", 9.0]
    else:
        neighbor = without(data, 0)
    report = replay(estimator, neighbor, model, transcript)
    assert report.holds, report


@pytest.mark.parametrize("pairs", [DECLARED, 3])
def test_pairs_of_a_person_with_several_rows_stay_within_the_guarantee(pairs):
    X, y = make_data(30, 3)
    X, y = (part.iloc[[*range(3, 30), 0, 0, 0]].reset_index(drop=True) for part in (X, y))
    people = [*range(1, 28), 0, 0, 0]
    estimator = make(pairs=pairs, max_rows_per_person=3, epsilon=8.0)
    model, transcript = record(estimator, X, y, people)
    report = replay(estimator, (X[:-3], y[:-3], people[:-3]), model, transcript)
    assert report.holds, report
    assert report.spent_share > 0.8


def is_choice(phase):
    """Contrasts are counted in much smaller units than the sums of leaves and cells."""
    return phase.label == "boosting" and phase.sensitivity_int > contrasts.UNIT * LATTICE


def labels(transcript):
    return [phase.label for phase in transcript.phases]


def test_a_declared_pair_is_not_chosen_and_costs_no_choice():
    _, transcript = record(make(), *make_data(30, 1))
    assert not any(map(is_choice, transcript.phases))
    assert {e.label for e in make().planned_events(make_data(1, 0)[0])} == {
        *labels(transcript),
        "count",
    }


@pytest.mark.parametrize("some", [False, True], ids=["none is chosen", "some are chosen"])
def test_whether_pairs_are_chosen_or_not_the_same_budget_is_spent(some):
    """Further passes over the features spend exactly what grids would have spent."""
    estimator = make(pairs=3, epsilon=8.0)

    def forge(phase, answer):
        if not is_choice(phase):
            return answer
        rng = np.random.default_rng(1)
        return rng.integers(-(2**44), 2**44, answer.shape) if some else np.zeros_like(answer)

    model, transcript = record(estimator, *make_data(300, 1), answers=forge)
    assert bool(model.explain_global(effect=False).pairs) == some
    spent = sum(1 / p.noise_multiplier**2 for p in transcript.phases if p.label == "boosting")
    charged = next(e for e in estimator.planned_events(make_data(1, 0)[0]) if e.label == "boosting")
    assert spent == pytest.approx(charged.mu**2, rel=1e-9)


@pytest.mark.parametrize("pairs", ["auto", 3, DECLARED])
def test_pairs_are_paid_for_by_the_curves(pairs):
    X, _ = make_data(2, 0)
    events = [{e.label: e.mu for e in make(pairs=p).planned_events(X)} for p in (pairs, 0)]
    assert events[0] == pytest.approx(events[1])


def test_a_choice_costs_its_share_of_the_boosting_budget():
    estimator = make(pairs=3, epsilon=8.0)
    _, transcript = record(estimator, *make_data(300, 1))
    paid = next(p for p in transcript.phases if is_choice(p))
    charged = next(e for e in estimator.planned_events(make_data(1, 0)[0]) if e.label == "boosting")
    assert paid.noise_multiplier**-2 == pytest.approx(0.15 * charged.mu**2)


@pytest.mark.parametrize(("n", "chooses"), [(300, False), (30_000, True)])
def test_few_records_make_no_choice_and_spend_its_budget_on_curves(n, chooses):
    """The noisy number of records decides, which the second fit is told."""
    estimator = make(pairs="auto", epsilon=1.0)
    data = make_data(40, 1)

    def forge(phase, answer):
        return np.full_like(answer, n * COUNT_LATTICE) if phase.label == "count" else answer

    _, transcript = record(estimator, *data, answers=forge)
    assert any(map(is_choice, transcript.phases)) == chooses
    spent = sum(1 / p.noise_multiplier**2 for p in transcript.phases if p.label == "boosting")
    charged = next(e for e in estimator.planned_events(data[0]) if e.label == "boosting")
    if not chooses:
        assert spent == pytest.approx(charged.mu**2, rel=1e-9)


def test_one_record_moves_the_choice_and_the_grids_as_far_as_is_stated():
    """The bounds are close, so an audit would notice noise that is too small."""
    data = make_data(40, 1, "numbers")
    data[1].iloc[:] = 1.0
    data[1].iloc[0] = 3.0
    estimator = make("numbers", pairs=3, clip=0.3)

    def quiet(phase, answer):
        if phase.label in ("count", "histograms") or is_choice(phase):
            return answer
        return np.zeros_like(answer)

    model, transcript = record(estimator, *data, answers=quiet)
    neighbor = without(data, 0)
    assert replay(estimator, neighbor, model, transcript).holds
    _, second = record(estimator, *neighbor, answers=transcript.answers)
    place = [is_choice(phase) for phase in transcript.phases].index(True)
    apart = transcript.queries[place] - second.queries[place]
    stated = transcript.phases[place].sensitivity_int
    # Weights of contrasts are rounded toward zero, and differ a little between cells.
    assert 0.8 * stated < np.linalg.norm(apart.astype(float)) <= stated


def extreme(n):
    """Make records whose residuals are all at the clip, and an estimator for them."""
    X, y = make_data(n, 1, "numbers")
    X["age"] = X["age"].fillna(50.0)
    y[:] = 3.0
    return make("numbers", pairs=[("age", "dose")], clip=0.3, max_bins=12), (X, y)


def test_one_record_moves_the_sums_of_cells_and_of_blocks_as_far_as_is_stated():
    estimator, data = extreme(40)
    model, transcript = record(estimator, *data, answers=crowded)
    neighbor = without(data, 0)
    assert replay(estimator, neighbor, model, transcript).holds
    _, second = record(estimator, *neighbor, answers=transcript.answers)
    sizes, moved = [], []
    for phase, *both in zip(transcript.phases, transcript.queries, second.queries, strict=True):
        if phase.label == "boosting":
            sizes.append(len(both[0]))
            moved.append(np.linalg.norm((both[0] - both[1]).astype(float)) / phase.sensitivity_int)
    n_cells, n_blocks = sizes[-4:-2]
    assert sizes[-4:] == [n_cells, n_blocks, n_cells, n_blocks]
    assert n_blocks < n_cells / 2
    assert moved[-4:] == pytest.approx([1.0] * 4)


@pytest.mark.parametrize("pairs", [DECLARED, 3])
def test_bands_and_effects_of_pairs_follow_from_releases_alone(pairs):
    """Other records with the same answers give the same numbers: nothing new is released."""
    estimator = make(pairs=pairs, epsilon=8.0)

    def forge(phase, answer):
        if not is_choice(phase):
            return answer
        return np.random.default_rng(1).integers(-(2**44), 2**44, answer.shape)

    model, transcript = record(estimator, *make_data(300, 1), answers=forge)
    again, _ = record(estimator, *make_data(300, 2), answers=transcript.answers)
    own, others = (m.explain_global(effect=False).pairs for m in (model, again))
    assert len(own) > 0
    assert own == others


# Planted mistakes. An audit that misses one of them proves nothing.


def choice_without_noise(monkeypatch):
    """Draw and charge the noise of the choice, but let the exact sums decide."""
    honest = choice.choose_pairs
    candidates = list(combinations(range(len(FEATURES)), 2))

    class Exact:
        def __init__(self, mechanism):
            self._mechanism = mechanism
            self.seen = 0

        def phase(self, phase):
            return self._mechanism.phase(phase)

        def release(self, query):
            self.seen = int(query @ np.arange(len(query))) >> 10
            return self._mechanism.release(query)

    def choose(*parts, mechanism, **settings_):
        exact = Exact(mechanism)
        honest(*parts, mechanism=exact, **settings_)
        return [candidates[exact.seen % len(candidates)]]

    monkeypatch.setattr("dpexplain.models.boosting.pair_terms.stage.choose_pairs", choose)


def choice_that_nobody_pays_for(monkeypatch):
    """State the sensitivity of the choice as a hundred times smaller."""
    honest = choice.choice_phase
    monkeypatch.setattr(
        choice, "choice_phase", lambda *parts: honest(*parts).with_sensitivity(0.01)
    )


def choice_from_what_the_passes_spend(monkeypatch):
    """Make the choice, and also spend its budget on passes and grids."""
    monkeypatch.setattr(Mechanism, "limit_to", lambda self, charged: None)
    monkeypatch.setattr(
        Budget, "leaf_share", property(lambda self: 1.0 - self.pair_share - self.line_share)
    )


def test_a_choice_from_what_the_passes_spend_is_refused(monkeypatch):
    honest = Mechanism.limit_to
    choice_from_what_the_passes_spend(monkeypatch)
    monkeypatch.setattr(Mechanism, "limit_to", honest)
    with pytest.raises(RuntimeError, match="after its budget was charged"):
        make(pairs=3).fit(*make_data(30, 1))


def choice_skipped_by_the_exact_number(monkeypatch):
    """Skip the choice if there are fewer than 30 records, instead of asking their noisy number."""
    honest = boosting_estimator.fit_private

    def fit_private(binned, records, *parts, **settings_):
        n_records = sum(map(len, records.local()))
        monkeypatch.setattr(boosting_fit, "skips_choice", lambda *public: n_records < 30)
        return honest(binned, records, *parts, **settings_)

    monkeypatch.setattr(boosting_estimator, "fit_private", fit_private)


def counts_of_one_grid(monkeypatch):
    """Release the counts of all grids as if a record were in only one of them."""
    honest = fitting.GridBudget.count_phase

    def of_one(self, n_cells):
        return honest(self, n_cells).with_sensitivity(1 / np.sqrt(len(n_cells)))

    monkeypatch.setattr(fitting.GridBudget, "count_phase", of_one)


def cells_with_half_the_noise(monkeypatch):
    monkeypatch.setattr(Mechanism, "limit_to", lambda self, charged: None)
    honest = fitting.GridBudget.sum_phase
    monkeypatch.setattr(
        fitting.GridBudget, "sum_phase", lambda self, n: honest(self, n).with_noise(0.5)
    )


def test_grids_with_less_noise_than_was_charged_are_refused(monkeypatch):
    honest = fitting.GridBudget.sum_phase
    monkeypatch.setattr(
        fitting.GridBudget, "sum_phase", lambda self, n: honest(self, n).with_noise(0.9)
    )
    with pytest.raises(RuntimeError, match="after its budget was charged"):
        make().fit(*make_data(30, 1))


def rounds_that_are_not_counted(monkeypatch):
    """Calibrate the noise of every visit of a pair as if there were no other visit."""
    monkeypatch.setattr(Mechanism, "limit_to", lambda self, charged: None)
    honest = fitting.GridBudget.sum_phase
    monkeypatch.setattr(
        fitting.GridBudget,
        "sum_phase",
        lambda self, n: honest(self, n).with_noise(1 / np.sqrt(fitting.N_ROUNDS * len(n))),
    )


def residuals_of_cells_unclipped(monkeypatch):
    honest = Records.leaf_sums

    def unclipped(self, feature, leaf_of_bin, n_leaves, clip):
        wide = 3 if feature >= len(FEATURES) else 1
        return wide * honest(self, feature, leaf_of_bin, n_leaves, clip)

    monkeypatch.setattr(Records, "leaf_sums", unclipped)


def records_counted_twice_in_cells(monkeypatch):
    honest = Records.cell_counts
    monkeypatch.setattr(Records, "cell_counts", lambda self, *where: 2 * honest(self, *where))


def leaf_sums_of_blocks(monkeypatch, mistake):
    """Release ``mistake(sums)`` instead of the sums of blocks."""
    honest = Records.leaf_sums

    def leaf_sums(self, feature, leaf_of_bin, n_leaves, clip):
        sums = honest(self, feature, leaf_of_bin, n_leaves, clip)
        of_blocks = feature >= len(FEATURES) and n_leaves < len(leaf_of_bin)
        return mistake(sums) if of_blocks else sums

    monkeypatch.setattr(Records, "leaf_sums", leaf_sums)


def records_in_two_blocks(monkeypatch):
    """Count each record in the next block as well."""
    leaf_sums_of_blocks(monkeypatch, lambda sums: sums + np.roll(sums, 1))


def blocks_with_half_the_noise(monkeypatch):
    """Release twice the sums of blocks with the noise of cells, and halve the answers."""
    leaf_sums_of_blocks(monkeypatch, lambda sums: 2 * sums)
    honest = levels.Levels.add

    def add(self, sums, expected, *, of_blocks):
        honest(self, sums / 2 if of_blocks else sums, expected, of_blocks=of_blocks)

    monkeypatch.setattr(levels.Levels, "add", add)


def cells_at_the_exact_median(monkeypatch):
    """Let the ends of groups of bins depend on the records."""
    honest = Records.cross

    def cross(self, crossing):
        honest(self, crossing)
        first = self._bins[crossing.features[0]]
        above = first > np.median(first) if len(first) else first
        self._bins[crossing.column] = np.asarray(above, dtype=np.uint8)

    monkeypatch.setattr(Records, "cross", cross)


MUTANTS = {
    choice_without_noise: 3,
    choice_that_nobody_pays_for: 3,
    choice_from_what_the_passes_spend: 3,
    choice_skipped_by_the_exact_number: "auto",
    counts_of_one_grid: DECLARED,
    cells_with_half_the_noise: DECLARED,
    rounds_that_are_not_counted: DECLARED,
    residuals_of_cells_unclipped: DECLARED,
    records_counted_twice_in_cells: DECLARED,
    cells_at_the_exact_median: DECLARED,
}


@pytest.mark.parametrize(
    ("mutant", "pairs"), MUTANTS.items(), ids=lambda m: getattr(m, "__name__", "")
)
def test_replay_catches_a_planted_mistake_about_pairs(mutant, pairs, monkeypatch):
    X, y = make_data(30, 5)
    X["age"], X["ward"] = [10.0, 90.0] * 15, ["a", "c"] * 15  # the middle moves with any record
    X["dose"] = X["age"] / 100
    y[:] = np.where(np.arange(30) % 4 < 2, "no", "yes")
    estimator = make(pairs=pairs, epsilon=8.0)
    model, transcript = record(estimator, X, y)
    assert replay(estimator, without((X, y), 0), model, transcript).holds
    mutant(monkeypatch)
    model, transcript = record(estimator, X, y)
    found = (replay(estimator, without((X, y), i), model, transcript) for i in range(30))
    assert not all(report.holds for report in found)


@pytest.mark.parametrize(
    "mutant", [records_in_two_blocks, blocks_with_half_the_noise], ids=lambda m: m.__name__
)
def test_replay_catches_a_planted_mistake_about_blocks(mutant, monkeypatch):
    estimator, data = extreme(30)
    model, transcript = record(estimator, *data, answers=crowded)
    assert replay(estimator, without(data, 0), model, transcript).holds
    mutant(monkeypatch)
    model, transcript = record(estimator, *data, answers=crowded)
    assert not replay(estimator, without(data, 0), model, transcript).holds
