"""Queries computed one after another are released as if each were requested alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.accounting import GaussianEvent
from dpexplain.audit.recording import RecordingMechanism
from dpexplain.mechanisms import Mechanism, NoiseSource, Phase
from dpexplain.mechanisms import mechanism as mechanism_module
from effort import examples


class Chain:
    """Query k is a function of all answers before it; remembers which calls were made."""

    def __init__(self, sizes):
        self.start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.calls = []

    def query(self, k, answers):
        before = int(answers[: self.start[k]].sum()) % 1001
        return np.arange(self.start[k + 1] - self.start[k]) * 2**20 + before

    def add(self, first, last, answers):
        self.calls.append((first, last))
        for k in range(first, last):
            answers[self.start[k] : self.start[k + 1]] += self.query(k, answers)


def phase_of(n_values):
    return Phase("sums", 2.0**20, 2.0**22, n_values)


@examples(30)
@given(
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=40),
    at_once=st.sampled_from([1, 2, 7, 128]),
    seed=st.integers(0, 99),
)
def test_answers_are_those_of_single_releases(sizes, at_once, seed):
    alone, together = (Mechanism(NoiseSource(reproducible_seed=seed)) for _ in range(2))
    chain, expected = Chain(sizes), np.zeros(sum(sizes), dtype=np.int64)
    with alone.phase(phase_of(sum(sizes))):
        for k in range(len(sizes)):
            own = slice(chain.start[k], chain.start[k + 1])
            expected[own] = alone.release(chain.query(k, expected))
    with pytest.MonkeyPatch.context() as patch, together.phase(phase_of(sum(sizes))):
        patch.setattr(mechanism_module, "_IN_ONE_CALL", at_once)
        answers = together.release_in_turn(chain)
    np.testing.assert_array_equal(answers, expected)


def test_each_query_costs_one_release_and_none_is_made_that_was_not_charged():
    charged = [GaussianEvent("sums", 4.0, 5)]
    mechanism, chain = Mechanism(NoiseSource(), charged), Chain([1] * 5)
    with mechanism.phase(phase_of(5)):
        mechanism.release_in_turn(chain)
    with pytest.raises(RuntimeError, match="do not cover another release"):
        mechanism.begin(phase_of(1))

    mechanism, chain = Mechanism(NoiseSource(), charged), Chain([1] * 6)
    with (
        pytest.raises(RuntimeError, match="do not cover another release"),
        mechanism.phase(phase_of(6)),
    ):
        mechanism.release_in_turn(chain)
    assert chain.calls == []


def test_noise_is_used_once_and_only_as_much_as_was_drawn():
    mechanism = Mechanism(NoiseSource())
    with pytest.raises(RuntimeError, match="no phase was begun"):
        mechanism.release_in_turn(Chain([1]))
    mechanism.begin(phase_of(4))
    mechanism.release_in_turn(Chain([2, 1]))
    assert not mechanism._noise[:3].any()
    with pytest.raises(RuntimeError, match="1 draws left but 2 are requested"):
        mechanism.release_in_turn(Chain([1, 1]))


def test_whoever_replaces_release_sees_every_query(monkeypatch):
    sizes = [2, 1, 3]
    recorder = RecordingMechanism(NoiseSource(), lambda phase, drawn: np.full_like(drawn, 7))
    with recorder.phase(phase_of(6)):
        assert recorder.release_in_turn(Chain(sizes)).tolist() == [7] * 6
    queries = recorder.transcript.queries
    assert [q.tolist() for q in queries] == [
        [0, 2**20],
        [14],
        [21, 21 + 2**20, 21 + 2 * 2**20],
    ]

    seen, honest = [], Mechanism.release

    def watched(self, query):
        seen.append(len(query))
        return honest(self, query)

    one = Mechanism(NoiseSource())
    one.release = lambda query: watched(one, query)
    with one.phase(phase_of(6)):
        one.release_in_turn(Chain(sizes))
    monkeypatch.setattr(Mechanism, "release", watched)
    two = Mechanism(NoiseSource())
    with two.phase(phase_of(6)):
        two.release_in_turn(Chain(sizes))
    assert seen == 2 * sizes
