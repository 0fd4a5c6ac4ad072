"""Discrete Laplace noise and exact choices, compared with high-precision twins."""

from __future__ import annotations

import random
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpexplain.mechanisms import (
    ChoicePhase,
    LaplacePhase,
    Mechanism,
    NoiseSource,
    exponential,
    laplace,
)
from dpexplain.mechanisms._exact import Words
from dpexplain.mechanisms._kernels_pure import LAST, PART
from effort import examples

ALPHA = 1e-9  # a right sampler fails a test once in a thousand million runs
WORD = 2**64


class Stream:
    """Random bytes from a fixed seed."""

    def __init__(self, seed):
        self._random = random.Random(seed)

    def __call__(self, n_bytes):
        return self._random.randbytes(n_bytes)


class Twin:
    """Reads words as the samplers do, and decides with 40 decimals."""

    def __init__(self, stream):
        self._stream = stream

    def word(self):
        return int.from_bytes(self._stream(8), "little")

    def place(self, width):
        product = self.word() * width
        return None if product % WORD < WORD % width else product // WORD

    def flip(self, exponent):
        with localcontext(prec=40):
            chance = (-Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()
            return Decimal(self.word()) / Decimal(WORD) < chance

    def laplace(self, scale):
        while True:
            negative, value = self.word() >= WORD // 2, self.place(scale)
            if value is None or not self.flip(Fraction(value, scale)):
                continue
            while self.flip(Fraction(1)):
                value += scale
            if value or not negative:
                return -value if negative else value

    def choice(self, utilities, ratio):
        while True:
            candidate = self.place(len(utilities))
            if candidate is None:
                continue
            below = max(utilities) - utilities[candidate]
            parts = 0
            while float(below) * float(ratio) - PART * parts > LAST:
                parts += 1
                if not self.flip(Fraction(2)):
                    break
            else:
                if self.flip(ratio * below - 2 * parts):
                    return candidate


@examples(40)
@given(seed=st.integers(0, 2**32), scale=st.sampled_from([1, 2, 3, 1000, 2**20 + 7, 2**50]))
def test_laplace_draws_equal_those_of_the_twin_bit_by_bit(seed, scale):
    twin = Twin(Stream(seed))
    assert laplace.draw(scale, 60, Stream(seed)).tolist() == [
        twin.laplace(scale) for _ in range(60)
    ]


@examples(40)
@given(
    seed=st.integers(0, 2**32),
    utilities=st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=9),
    epsilon=st.floats(1e-3, 10),
    spread=st.floats(1, 2.0**40),
)
def test_choices_equal_those_of_the_twin_bit_by_bit(seed, utilities, epsilon, spread):
    twin, ratio = Twin(Stream(seed)), Fraction(epsilon) / Fraction(spread)
    groups = np.tile(np.array(utilities, dtype=np.int64), (20, 1))
    found = exponential.choose(groups, epsilon, spread, Stream(seed)).tolist()
    assert found == [twin.choice(utilities, ratio) for _ in range(20)]


@pytest.mark.parametrize("seed", range(5))
def test_exact_arithmetic_and_compiled_code_read_the_same_words_alike(seed):
    """Undecided trials go through `settle`, as all trials do here."""
    words = Words(np.empty(0, dtype=np.uint64), Stream(seed))
    settled = []
    while len(settled) < 40:
        value = laplace.settle(words, 1000)
        settled += [] if value is None else [value]
    assert settled == laplace.draw(1000, 40, Stream(seed)).tolist()
    utilities, chosen = np.array([0, 40, 35, -500], dtype=np.int64), []
    words = Words(np.empty(0, dtype=np.uint64), Stream(seed))
    while len(chosen) < 40:
        candidate = exponential.settle(words, utilities, Fraction(1, 7))
        chosen += [] if candidate is None else [candidate]
    many = np.tile(utilities, (40, 1))
    assert chosen == exponential.choose(many, 1.0, 7.0, Stream(seed)).tolist()


def test_trials_for_which_the_words_do_not_reach_are_run_again_and_not_left_out(monkeypatch):
    """Most trials need more words than a block of three has."""
    from dpexplain.mechanisms import _exact

    usual = laplace.draw(50, 300, Stream(3))
    chosen = exponential.choose(np.tile(np.arange(5), (300, 1)), 1.0, 0.2, Stream(3))
    monkeypatch.setattr(_exact, "_FEWEST_WORDS", 3)
    monkeypatch.setattr(_exact, "_MOST_WORDS", 3)
    assert laplace.draw(50, 300, Stream(3)).tolist() == usual.tolist()
    again = exponential.choose(np.tile(np.arange(5), (300, 1)), 1.0, 0.2, Stream(3))
    assert again.tolist() == chosen.tolist()


def laplace_p_value(drawn, scale):
    """Return the p-value of a chi-square test over the middle and both tails."""
    decay, reach = np.exp(-1 / scale), int(4 * scale)
    inner = np.arange(-reach, reach + 1)
    chance = (1 - decay) / (1 + decay) * decay ** np.abs(inner)
    tail = (1 - chance.sum()) / 2
    seen = [np.sum(drawn < -reach), *(np.sum(drawn == v) for v in inner), np.sum(drawn > reach)]
    return stats.chisquare(seen, len(drawn) * np.array([tail, *chance, tail])).pvalue


@pytest.mark.parametrize("scale", [1, 2, 5])
def test_small_scales_have_the_discrete_distribution(scale):
    assert laplace_p_value(laplace.draw(scale, 50_000), scale) > ALPHA


def test_another_scale_would_be_noticed():
    """The scale is 6 instead of 5; 50,000 draws estimate it to 1 / sqrt(50,000) = 0.45%."""
    assert laplace_p_value(laplace.draw(6, 50_000), 5) < ALPHA


def test_wide_scales_have_the_continuous_distribution():
    drawn = laplace.draw(2.0**30, 50_000)
    assert stats.kstest(drawn / 2.0**30, "laplace").pvalue > ALPHA


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 20.0])
def test_choices_have_the_exponential_distribution(epsilon):
    utilities = np.array([0, 10, 17, 18, -40], dtype=np.int64)
    weights = np.exp(epsilon * (utilities - 18) / 10)
    seen = np.bincount(
        exponential.choose(np.tile(utilities, (50_000, 1)), epsilon, 10.0), minlength=5
    )
    expected = 50_000 * weights / weights.sum()
    likely = expected > 5
    assert seen[~likely].sum() <= 60  # five expected at most of four kinds, far below 60
    assert (
        stats.chisquare(
            [*seen[likely], seen[~likely].sum() + 1],
            [*expected[likely], expected[~likely].sum() + 1],
        ).pvalue
        > ALPHA
    )


def test_neighboring_utilities_stay_within_epsilon():
    """Compare the mechanism's probabilities for utilities that change within their range."""
    rng = np.random.default_rng(0)
    for _ in range(2000):
        utilities = rng.uniform(-5, 5, 6)
        low = rng.uniform(-3, 0)
        changed = utilities + rng.uniform(low, low + 3, 6)
        first, second = (np.exp(u / 3) / np.exp(u / 3).sum() for u in (utilities, changed))
        assert np.abs(np.log(first / second)).max() <= 1 + 1e-9


def test_a_mechanism_adds_each_draw_once_and_counts_choices():
    mechanism = Mechanism(NoiseSource())
    with mechanism.phase(LaplacePhase("leaves", 1.0, 8.0, n_values=3)):
        assert mechanism.release(np.zeros(3, dtype=np.int64)).shape == (3,)
        with pytest.raises(RuntimeError, match="0 draws left"):
            mechanism.release(np.zeros(1, dtype=np.int64))
    phase = ChoicePhase("splits", 1.0, 1.0, n_candidates=4, n_values=2)
    with mechanism.phase(phase):
        assert mechanism.choose(np.zeros((2, 4), dtype=np.int64)).max() < 4
        with pytest.raises(RuntimeError, match="0 choices left"):
            mechanism.choose(np.zeros((1, 4), dtype=np.int64))
        with pytest.raises(ValueError, match="4 candidates"):
            mechanism.choose(np.zeros((1, 3), dtype=np.int64))
    with pytest.raises(RuntimeError, match="no choices"):
        mechanism.choose(np.zeros((1, 4), dtype=np.int64))
    with pytest.raises(RuntimeError, match="1 draws left"), mechanism.phase(phase):
        mechanism.choose(np.zeros((1, 4), dtype=np.int64))


@pytest.mark.parametrize(
    "bad",
    [
        lambda: LaplacePhase("leaves", 1.0, 0.5, 1),
        lambda: LaplacePhase("leaves", 1.0, 2.0**51, 1),
        lambda: LaplacePhase("leaves", 0.0, 2.0, 1),
        lambda: ChoicePhase("splits", 0.0, 1.0, 2, 1),
        lambda: ChoicePhase("splits", 1.0, np.inf, 2, 1),
        lambda: ChoicePhase("splits", 1.0, 1.0, 0, 1),
    ],
)
def test_phases_out_of_range_are_refused(bad):
    with pytest.raises(ValueError, match=r"scale|sensitivity|spread|epsilon|candidates"):
        bad()


def test_seeded_noise_repeats():
    first, second = (NoiseSource(reproducible_seed=4) for _ in range(2))
    assert first.draw_laplace(100.0, 5).tolist() == second.draw_laplace(100.0, 5).tolist()
    utilities = np.tile(np.arange(9), (20, 1))
    assert first.choose(utilities, 1.0, 3.0).tolist() == second.choose(utilities, 1.0, 3.0).tolist()
