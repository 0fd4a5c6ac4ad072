from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.accounting import (
    DiscreteLaplaceEvent,
    GaussianEvent,
    LaplaceEvent,
    NonPrivateEvent,
    PureEvent,
    SubsampledGaussianEvent,
    compose_mu,
    event_from_dict,
    event_to_dict,
)
from dpexplain.accounting.events import event_words
from dpexplain.accounting.spending import Spending, private_mu

labels = st.text(min_size=1, max_size=20).filter(str.strip)
gaussian_events = st.builds(GaussianEvent, labels, st.floats(1e-3, 1e9), st.integers(1, 1_000_000))
positive = st.floats(1e-300, 1e300)
counts = st.integers(1, 2**53)
probabilities = st.floats(0, 1, exclude_min=True)
events = (
    gaussian_events
    | st.builds(SubsampledGaussianEvent, labels, positive, probabilities, counts)
    | st.builds(LaplaceEvent, labels, positive, counts)
    | st.builds(DiscreteLaplaceEvent, labels, counts, counts, counts)
    | st.builds(PureEvent, labels, positive, counts)
    | st.builds(NonPrivateEvent, labels, labels)
)


@given(events)
def test_event_survives_json(event):
    text = json.dumps(event_to_dict(event))

    assert event_from_dict(json.loads(text)) == event


@given(st.lists(gaussian_events, max_size=10))
def test_events_compose_by_their_mu(list_of_events):
    together = compose_mu(event.mu for event in list_of_events)

    assert private_mu(list_of_events) == pytest.approx(together, rel=1e-14)


@given(st.lists(events, max_size=10), st.randoms(use_true_random=False))
def test_order_of_events_is_irrelevant(list_of_events, rng):
    shuffled = list(list_of_events)
    rng.shuffle(shuffled)

    assert private_mu(shuffled) == private_mu(list_of_events)


@given(st.floats(0.1, 1000), st.integers(1, 100_000))
def test_one_event_of_many_releases_equals_many_of_one(multiplier, count):
    few, rest = count // 2, count - count // 2
    parts = [GaussianEvent("part", multiplier, part) for part in (few, rest) if part]

    whole = GaussianEvent("whole", multiplier, count).mu
    assert whole == pytest.approx(private_mu(parts), rel=1e-14)
    assert whole == pytest.approx(math.sqrt(count) / multiplier, rel=1e-15)


@pytest.mark.parametrize("multiplier", [0, -1, math.nan, math.inf, True, "2"])
def test_noise_multiplier_is_positive_and_finite(multiplier):
    with pytest.raises(ValueError, match="noise_multiplier="):
        GaussianEvent("counts", multiplier)


@pytest.mark.parametrize("count", [0, -1, 1.5, True, 2**53 + 1, pytest.param(10**400, id="huge")])
def test_count_is_a_positive_integer_in_reach(count):
    with pytest.raises(ValueError, match="count="):
        GaussianEvent("counts", 1.0, count)


@pytest.mark.parametrize("label", ["", "  ", None, 3, "x" * 10_001])
def test_label_is_a_text(label):
    with pytest.raises(ValueError, match="label="):
        GaussianEvent(label, 1.0)
    with pytest.raises(ValueError, match="reason="):
        NonPrivateEvent("bounds", label)


@pytest.mark.parametrize(
    "content",
    [
        {},
        None,
        [],
        {"type": "staircase", "label": "x", "scale": 1.0},
        {"type": ["gaussian"]},
        {"type": "gaussian", "label": "x", "noise_multiplier": 1.0},
        {"type": "gaussian", "label": "x", "noise_multiplier": 1.0, "count": 1, "more": 0},
        {"type": "gaussian", "label": "x", "noise_multiplier": -1.0, "count": 1},
        {"type": "gaussian", "label": "x", "noise_multiplier": math.nan, "count": 1},
        {"type": "non_private", "label": "x"},
        {"type": "laplace", "label": "x", "noise_multiplier": 1.0, "count": 1, "scale": 1},
        {"type": "discrete_laplace", "label": "x", "noise_multiplier": 1.0, "count": 1},
        {"type": "discrete_laplace", "label": "x", "scale": 0, "sensitivity": 1, "count": 1},
        {"type": "discrete_laplace", "label": "x", "scale": 1.5, "sensitivity": 1, "count": 1},
        {"type": "discrete_laplace", "label": "x", "scale": 1, "sensitivity": -1, "count": 1},
    ],
)
def test_damaged_event_is_refused(content):
    with pytest.raises(ValueError, match=r"event|must be"):
        event_from_dict(content)


def test_only_events_are_written():
    with pytest.raises(TypeError, match="is not an event"):
        event_to_dict("counts")


def test_events_are_values():
    event = GaussianEvent("counts", 2, 3)

    assert event == GaussianEvent("counts", 2.0, 3)
    assert type(event.noise_multiplier) is float
    assert len({event, GaussianEvent("counts", 2.0, 3)}) == 1
    with pytest.raises(AttributeError):
        event.count = 1


@pytest.mark.parametrize("probability", [0.0, -0.1, 1.1, math.nan, True, None])
def test_sampling_probability_is_a_probability(probability):
    with pytest.raises(ValueError, match="sampling_probability="):
        SubsampledGaussianEvent("steps", 1.0, probability)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.inf, math.nan, True, "1"])
def test_epsilon_of_a_pure_release_is_positive_and_finite(epsilon):
    with pytest.raises(ValueError, match="epsilon="):
        PureEvent("choice", epsilon)


@pytest.mark.parametrize("steps", [0, -1, 1.5, True, 2**53 + 1, math.nan])
def test_scale_and_sensitivity_of_lattice_noise_are_whole_and_positive(steps):
    with pytest.raises(ValueError, match="scale="):
        DiscreteLaplaceEvent("leaves", steps, 1)
    with pytest.raises(ValueError, match="sensitivity="):
        DiscreteLaplaceEvent("leaves", 1, steps)


def test_laplace_event_of_an_old_file_is_read_and_priced_as_a_pure_mechanism():
    old = event_from_dict({"type": "laplace", "label": "x", "noise_multiplier": 4.0, "count": 3})

    assert old == LaplaceEvent("x", 4.0, 3)
    assert Spending.of([old]) == Spending.of([PureEvent("x", 0.25, 3)])


@given(events)
def test_words_of_an_event_say_whether_it_is_private(event):
    words = event_words(event)

    assert words.startswith("not private, ") == isinstance(event, NonPrivateEvent)
