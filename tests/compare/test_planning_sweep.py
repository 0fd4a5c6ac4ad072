"""The epsilon that a term needs is read from a sweep, and extrapolated only outside of it."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import view_examples
from dpexplain.compare import (
    Comparison,
    epsilon_to_stand_out,
    epsilons_to_stand_out,
    stand_out_words,
)

SWEEP = view_examples.comparison(epsilons=(0.5, 1.0, 4.0), n_repeats=3, joint=True)
TERM = SWEEP.term_names[0]


def with_sizes(sizes: dict[float, float], source: Comparison = SWEEP) -> Comparison:
    """Return the sweep with a first curve of the given height in noise deviations."""
    fits = {}
    for epsilon, repeats in source.explanations.items():
        changed = []
        for fit in repeats:
            shape = fit[TERM]
            curve = sizes[epsilon] * shape.total_std * np.sign(shape.contribution + 1e-300)
            other = dataclasses.replace(shape, contribution=curve)
            terms = tuple(other if t.name == TERM else t for t in fit.terms)
            changed.append(dataclasses.replace(fit, terms=terms))
        fits[epsilon] = tuple(changed)
    return dataclasses.replace(source, explanations=fits)


def test_the_smallest_measured_epsilon_from_which_a_term_keeps_rising_is_the_answer():
    source = with_sizes({0.5: 0.1, 1.0: 50.0, 4.0: 50.0})
    assert epsilon_to_stand_out(source, TERM) == 1.0
    assert stand_out_words(source, TERM).endswith("from epsilon 1 on, as measured.")


def test_a_term_that_sinks_again_at_a_larger_epsilon_needs_the_larger_one():
    source = with_sizes({0.5: 50.0, 1.0: 0.1, 4.0: 50.0})
    assert epsilon_to_stand_out(source, TERM) == 4.0


def test_nothing_is_said_about_smaller_epsilons_than_those_that_were_fitted():
    for size in (8.0, 1e6):
        source = with_sizes({0.5: size, 1.0: size, 4.0: size})
        assert epsilon_to_stand_out(source, TERM) == 0.5
        assert stand_out_words(source, TERM).endswith("epsilon 0.5, the smallest that was fitted.")


def test_one_fit_is_read_as_a_sweep_of_one_epsilon():
    for size in (0.0, 1.0, 2.0, 8.0):
        fit = with_sizes(dict.fromkeys((0.5, 1.0, 4.0), size)).explanations[1.0][0]
        needed = epsilon_to_stand_out(fit, TERM)
        if TERM in fit.terms_above_noise:
            assert needed == fit.guarantee.epsilon
        else:
            assert math.isnan(needed) or needed > fit.guarantee.epsilon


def test_an_epsilon_beyond_the_sweep_is_worded_as_a_lower_bound():
    answers = {
        stand_out_words(source, TERM)
        for size in (1.0, 1.5, 2.0)
        for source in [with_sizes(dict.fromkeys((0.5, 1.0, 4.0), size))]
        if 4.0 < epsilon_to_stand_out(source, TERM) < math.inf
    }
    assert answers
    assert all(words.endswith("and may need more.") for words in answers)


def test_beyond_the_sweep_the_answer_never_contradicts_what_was_measured():
    for size in (0.0, 0.5, 1.0, 2.0, 3.0):
        source = with_sizes({0.5: size, 1.0: size, 4.0: size})
        if all(TERM not in fit.terms_above_noise for fit in source.explanations[4.0]):
            found = epsilon_to_stand_out(source, TERM)
            assert math.isnan(found) or found > 4.0
    assert epsilon_to_stand_out(with_sizes(dict.fromkeys((0.5, 1.0, 4.0), 0.0)), TERM) == math.inf


def test_every_measured_answer_is_what_at_least_half_of_the_repeats_show():
    for name, epsilon in epsilons_to_stand_out(SWEEP).items():
        if epsilon in SWEEP.epsilons:
            for each in SWEEP.epsilons:
                if each >= epsilon:
                    shown = [name in fit.terms_above_noise for fit in SWEEP.explanations[each]]
                    assert 2 * sum(shown) >= len(shown)


def test_a_sweep_without_known_noise_or_such_a_term_is_refused():
    with pytest.raises(ValueError, match="planning needs a private explanation"):
        epsilon_to_stand_out(view_examples.comparison(epsilons=(0.5, 1.0)), TERM)
    with pytest.raises(KeyError):
        epsilon_to_stand_out(SWEEP, "shoe size")
