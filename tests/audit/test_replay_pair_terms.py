"""Transcript replay of pair terms: one record changes their choice, counts and sums."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.audit import record, replay
from dpexplain.audit.records import without
from dpexplain.binning.histograms import COUNT_LATTICE
from dpexplain.models.boosting.pair_terms import choice, contrasts, stage
from dpexplain.models.boosting.records._kernels_sums import LATTICE
from effort import examples
from pair_fits import DECLARED, crowded, extreme, make, make_data
from replays import neighbor_of

pytestmark = pytest.mark.full


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
    neighbor = neighbor_of(data, adjacency, [100.0, 0.0, "c", 9.0])
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


def boosting_mu(estimator):
    events = estimator.planned_events(make_data(1, 0)[0])
    return next(event.mu for event in events if event.label == "boosting")


def spent(transcript, which=lambda phase: phase.label == "boosting"):
    """Return the squared mu of all releases, each with the noise of its phase."""
    return sum(1 / phase.noise_multiplier**2 for phase in transcript.phases if which(phase))


def looks_at(first, second):
    """Force what the two looks show: nothing, or differences far above the noise."""
    shown = iter((first, second))

    def forge(phase, answer):
        if not is_choice(phase):
            return crowded(phase, answer)
        rng = np.random.default_rng(1)
        return rng.integers(-(2**44), 2**44, answer.shape) if next(shown) else 0 * answer

    return forge


def find_none(monkeypatch):
    """Let no pair be significant, however much the first look shows."""
    monkeypatch.setattr(choice._Tests, "significant", lambda *found: [])


@pytest.mark.parametrize("max_rounds", [None, 3, 5])
@pytest.mark.parametrize(
    ("pairs", "looks", "n_looks", "some"),
    [
        ("auto", (False, False), 1, False),
        ("auto", (True, False), 2, False),
        ("auto", (True, True), 2, True),
        (3, (False, False), 2, False),
        (3, (False, True), 2, True),
        (DECLARED, (), 0, True),
    ],
    ids=["stops", "finds none", "finds some", "none of 3", "some of 3", "declared"],
)
def test_whatever_the_looks_show_exactly_the_charged_budget_is_spent(
    max_rounds, pairs, looks, n_looks, some, monkeypatch
):
    """Passes take what a second look and grids leave."""
    monkeypatch.setattr(stage, "fall_of_passes", lambda *released: 1e-300)
    if looks == (True, False):
        find_none(monkeypatch)
    estimator = make(pairs=pairs, epsilon=8.0, max_rounds=max_rounds)
    forge = looks_at(*looks) if looks else crowded
    model, transcript = record(estimator, *make_data(300, 1), answers=forge)
    assert sum(map(is_choice, transcript.phases)) == n_looks
    assert bool(model.explain_global(effect=False).pairs) == some
    assert spent(transcript) == pytest.approx(boosting_mu(estimator) ** 2, rel=1e-9)


def test_a_choice_that_stops_after_its_first_look_makes_more_passes(monkeypatch):
    """After a second look that finds none, there are as many as without pairs."""
    monkeypatch.setattr(stage, "fall_of_passes", lambda *released: 1e-300)
    find_none(monkeypatch)
    n_passes = {}
    for looks in ((False, False), (True, False)):
        estimator = make(pairs="auto", epsilon=8.0, max_rounds=None)
        model, _ = record(estimator, *make_data(300, 1), answers=looks_at(*looks))
        n_passes[looks] = model.n_rounds_
    estimator = make(pairs=0, epsilon=8.0, max_rounds=None)
    without_pairs, _ = record(estimator, *make_data(300, 1), answers=crowded)
    assert n_passes[True, False] == without_pairs.n_rounds_ < n_passes[False, False]


@pytest.mark.parametrize("pairs", ["auto", 3, DECLARED])
def test_pairs_are_paid_for_by_the_curves(pairs):
    X, _ = make_data(2, 0)
    events = [{e.label: e.mu for e in make(pairs=p).planned_events(X)} for p in (pairs, 0)]
    assert events[0] == pytest.approx(events[1])


def test_looks_cost_their_shares_of_the_boosting_budget():
    """That of the second one is rounded to whole passes."""
    estimator = make(pairs=3, epsilon=8.0, max_rounds=200)
    _, transcript = record(estimator, *make_data(300, 1))
    first, second = (p for p in transcript.phases if is_choice(p))
    charged = boosting_mu(estimator) ** 2
    assert first.noise_multiplier**-2 == pytest.approx(0.05 * charged)
    assert second.noise_multiplier**-2 == pytest.approx(0.1 * charged, rel=0.03)
    assert second.sensitivity_int == pytest.approx(first.sensitivity_int * np.sqrt(3 / 6))


@pytest.mark.parametrize(("n", "chooses"), [(300, False), (30_000, True)])
def test_few_records_make_no_choice_and_spend_its_budget_on_curves(n, chooses):
    """The noisy number of records decides, which the second fit is told."""
    estimator = make(pairs="auto", epsilon=1.0)
    data = make_data(40, 1)

    def forge(phase, answer):
        return np.full_like(answer, n * COUNT_LATTICE) if phase.label == "count" else answer

    _, transcript = record(estimator, *data, answers=forge)
    assert any(map(is_choice, transcript.phases)) == chooses
    assert spent(transcript) == pytest.approx(boosting_mu(estimator) ** 2, rel=1e-9)


def test_one_record_moves_both_looks_as_far_as_is_stated():
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
    looks = [place for place, phase in enumerate(transcript.phases) if is_choice(phase)]
    assert len(looks) == 2
    for place in looks:
        apart = transcript.queries[place] - second.queries[place]
        stated = transcript.phases[place].sensitivity_int
        # Weights of contrasts are rounded toward zero, and differ a little between cells.
        assert 0.8 * stated < np.linalg.norm(apart.astype(float)) <= stated


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
