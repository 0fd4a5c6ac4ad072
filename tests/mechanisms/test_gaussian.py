from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.mechanisms import Mechanism, NoiseSource, Phase
from effort import examples

STEP = 2**20


def phase(n_values: int, label: str = "counts") -> Phase:
    return Phase(label, sensitivity_int=STEP, sigma_int=2.0**44, n_values=n_values)


class Recorded(NoiseSource):
    """Source that remembers what it drew."""

    def __init__(self):
        super().__init__("rounded")
        self.drawn = []

    def draw_int(self, sigma_int, size):
        noise = super().draw_int(sigma_int, size)
        self.drawn.append((sigma_int, noise.copy()))
        return noise


@pytest.fixture
def source():
    return Recorded()


@pytest.fixture
def mechanism(source):
    return Mechanism(source)


@examples(30)
@given(st.lists(st.integers(0, 5), max_size=6), st.integers(-(2**40), 2**40))
def test_releases_are_queries_plus_the_draws_in_order(sizes, start):
    source = Recorded()
    mechanism = Mechanism(source)
    queries = [np.arange(start, start + size, dtype=np.int64) for size in sizes]
    with mechanism.phase(phase(sum(sizes))):
        released = [mechanism.release(query) for query in queries]

    ((sigma, noise),) = source.drawn  # one call for the whole phase
    assert sigma == 2.0**44
    together = np.concatenate([np.empty(0, np.int64), *released])
    assert np.array_equal(together, np.concatenate([np.empty(0, np.int64), *queries]) + noise)


def test_query_is_not_changed(mechanism):
    query = np.arange(3)
    with mechanism.phase(phase(3)):
        released = mechanism.release(query)

    assert np.array_equal(query, [0, 1, 2])
    assert not np.shares_memory(query, released)


def test_no_two_phases_share_noise(mechanism):
    zeros = np.zeros(100, dtype=np.int64)
    released = []
    for label in ("first", "second"):
        with mechanism.phase(phase(100, label)):
            released.append(mechanism.release(zeros))

    assert len(np.unique(np.concatenate(released))) == 200


def test_noise_beyond_the_phase_is_refused(mechanism):
    mechanism.begin(phase(3))
    mechanism.release(np.zeros(2, dtype=np.int64))

    with pytest.raises(RuntimeError, match="'counts' has 1 draws left but 2 are requested"):
        mechanism.release(np.zeros(2, dtype=np.int64))


def test_left_over_noise_is_refused(mechanism):
    mechanism.begin(phase(3))
    mechanism.release(np.zeros(2, dtype=np.int64))

    with pytest.raises(RuntimeError, match="'counts' ends with 1 draws left"):
        mechanism.finish()
    with pytest.raises(RuntimeError, match="ends with 3 draws left"), mechanism.phase(phase(3)):
        pass


def test_release_outside_a_phase_is_refused(mechanism):
    with pytest.raises(RuntimeError, match="no phase was begun"):
        mechanism.release(np.zeros(1, dtype=np.int64))
    with pytest.raises(RuntimeError, match="no phase was begun"):
        mechanism.finish()
    with mechanism.phase(phase(0)):
        pass
    with pytest.raises(RuntimeError, match="no phase was begun"):
        mechanism.release(np.zeros(0, dtype=np.int64))


def test_phase_inside_a_phase_is_refused(mechanism):
    mechanism.begin(phase(1, "histograms"))

    with pytest.raises(RuntimeError, match="'histograms' is not finished"):
        mechanism.begin(phase(1, "boosting"))


@pytest.mark.parametrize(
    "query",
    [np.zeros(2), np.zeros((1, 2), np.int64), np.zeros(2, np.int32), [0, 0], np.zeros(2, bool)],
)
def test_query_that_is_no_integer_vector_is_refused(mechanism, query):
    mechanism.begin(phase(2))

    with pytest.raises(ValueError, match="one-dimensional int64 array"):
        mechanism.release(query)


def noise_inside(mechanism: Mechanism, source: Recorded) -> list[int]:
    """Return the draws that can still be found in an object's attributes."""
    held = [np.atleast_1d(value) for value in vars(mechanism).values() if np.ndim(value) == 1]
    drawn = source.drawn[-1][1]
    return [int(draw) for draw in drawn if any(draw in values for values in held)]


def test_used_noise_is_forgotten_at_once(mechanism, source):
    mechanism.begin(phase(4))
    assert len(noise_inside(mechanism, source)) == 4
    mechanism.release(np.zeros(3, dtype=np.int64))
    assert noise_inside(mechanism, source) == [source.drawn[0][1][3]]
    mechanism.release(np.zeros(1, dtype=np.int64))
    mechanism.finish()
    assert noise_inside(mechanism, source) == []


def test_error_inside_a_phase_forgets_the_noise(mechanism, source):
    with pytest.raises(KeyError), mechanism.phase(phase(4)):
        raise KeyError("anything")

    assert noise_inside(mechanism, source) == []
    mechanism.begin(phase(1))  # and the mechanism is ready for another phase


def test_text_copies_and_pickles_hold_no_noise():
    mechanism = Mechanism(NoiseSource("rounded"))
    empty = pickle.dumps(mechanism)
    mechanism.begin(phase(5))

    assert repr(mechanism) == ("Mechanism(NoiseSource(backend='rounded'), phase='counts', 5 left)")
    assert pickle.dumps(mechanism) == empty
    for twin in (copy.copy(mechanism), copy.deepcopy(mechanism), pickle.loads(empty)):
        with pytest.raises(RuntimeError, match="no phase was begun"):
            twin.release(np.zeros(1, dtype=np.int64))


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"label": ""}, "label"),
        ({"sensitivity_int": 0}, "sensitivity_int"),
        ({"sensitivity_int": np.inf}, "sensitivity_int"),
        ({"sigma_int": 0.0}, "sigma_int"),
        ({"sigma_int": np.nan}, "sigma_int"),
        ({"sigma_int": 2.0**14 - 1}, "sigma_int"),
        ({"n_values": -1}, "n_values"),
        ({"n_values": 1.0}, "n_values"),
    ],
)
def test_wrong_phase_names_the_parameter(change, name):
    good = {"label": "counts", "sensitivity_int": STEP, "sigma_int": 2.0**22, "n_values": 3}

    with pytest.raises(ValueError, match=f"{name}="):
        Phase(**{**good, **change})


def test_multiplier_is_noise_over_sensitivity():
    assert Phase("counts", STEP, 4.0 * STEP, 1).noise_multiplier == 4.0


def test_mechanism_needs_a_source():
    with pytest.raises(TypeError, match=r"pass NoiseSource\(\)"):
        Mechanism("opendp")
