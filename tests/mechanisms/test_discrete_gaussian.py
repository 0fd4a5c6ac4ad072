"""The exact sampler, compared with a high-precision twin and with the distribution."""

from __future__ import annotations

import inspect
import itertools
import math
import random
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpexplain.mechanisms import _kernels_gaussian as _kernels
from dpexplain.mechanisms import discrete_gaussian
from dpexplain.mechanisms._kernels_gaussian import INDEX_BITS
from dpexplain.mechanisms.discrete_gaussian import Scale, draw, exponential, settle
from effort import examples

# A correct sampler fails one of these tests once in a thousand million runs.
ALPHA = 1e-9
SCALES = [0.3, 1.0, 1.5, 2.0, 3.0, 17.0, 20.25, 2.0**14, 2.0**20 + 0.3, 2.0**40, 2.0**56]
WORD = 2**64
DIGITS = 60  # of the twin: 180 bits, where comparisons need 32 and rarely 96


# --- a twin that shares nothing with the sampler but its reading of the random words ---------


def decimal_of(fraction: Fraction) -> Decimal:
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)


def strip_weights() -> list[Decimal]:
    with localcontext(prec=DIGITS):
        return [(-Decimal(i * i) / 512).exp() for i in range(300)]  # the next is below 1e-76


WEIGHTS = strip_weights()


class Stream:
    """Random bytes from a fixed seed; remembers how many were taken."""

    def __init__(self, seed: int) -> None:
        self._random, self.taken = random.Random(seed), 0

    def __call__(self, n_bytes: int) -> bytes:
        self.taken += n_bytes
        return self._random.randbytes(n_bytes)


class TwinUniform:
    """Bits of a uniform number; more are drawn if those at hand do not decide."""

    def __init__(self, bits: int, n_bits: int, stream: Stream) -> None:
        self.low, self.width = Fraction(bits, 2**n_bits), Fraction(1, 2**n_bits)
        self.stream = stream

    def below(self, number: Decimal) -> bool:
        while self.low < Fraction(number) < self.low + self.width:
            self.width /= WORD
            self.low += int.from_bytes(self.stream(8), "little") * self.width
        return Fraction(number) >= self.low + self.width


def twin_trial(word: int, place_word: int, scale: Scale, stream: Stream) -> int | None:
    sigma = Fraction(16 * scale.numerator, scale.step)
    width = math.ceil(sigma / 16)
    with localcontext(prec=DIGITS):
        index = TwinUniform((word >> 32) % 2**31, 31, stream)
        cumulated = (total / sum(WEIGHTS) for total in itertools.accumulate(WEIGHTS))
        strip = next(i for i, chance in enumerate(cumulated) if index.below(chance))
        if place_word * width % WORD < WORD % width:
            return None
        value = strip * width + place_word * width // WORD
        if value == 0 and word >= WORD // 2:
            return None
        exponent = Fraction(value) ** 2 / (2 * sigma**2) - Fraction(strip**2, 512)
        coin = TwinUniform(word % 2**32, 32, stream)
        if not coin.below((-decimal_of(exponent)).exp()):
            return None
    return -value if word >= WORD // 2 else value


def one_trial(word: int, place_word: int, scale: Scale, stream: Stream) -> int | None:
    """Run one trial as `draw` does: compiled, and in exact arithmetic if needed."""
    words = np.array([word, place_word], dtype=np.uint64)
    drawn = np.zeros(1, dtype=np.int64)
    table = discrete_gaussian._strip_table()
    shape = (scale.numerator, scale.step, scale.width)
    n_drawn, _, undecided = discrete_gaussian.run_trials(words, 0, *shape, *table, drawn, 0)
    if undecided:
        return settle(word, place_word, scale, stream)
    return int(drawn[0]) if n_drawn else None


def edge_words(scale: Scale, rng: random.Random) -> list[tuple[int, int]]:
    """Return words next to thresholds of a strip, a coin or a position."""
    thresholds = discrete_gaussian._strip_table()[0]
    pairs = []
    for strip in [0, 1, 5, 16, 40, 80, len(thresholds) - 1]:
        for step in (-1, 0, 1):
            bits = min(max(int(thresholds[strip]) + step, 0), 2**INDEX_BITS - 1)
            pairs.append((rng.getrandbits(1) << 63 | bits << 32 | rng.getrandbits(30), 0))
    for _ in range(20):
        word, place_word = rng.getrandbits(64), rng.getrandbits(64)
        strip = int(np.searchsorted(thresholds, (word >> 32) % 2**31))
        value = strip * scale.width + place_word * scale.width // WORD
        beyond = scale.step * value - strip * scale.numerator
        numerator = beyond * (2 * strip * scale.numerator + beyond)
        coin = exponential(numerator, 512 * scale.numerator**2, 32)[0]
        coins = [min(max(coin + step, 0), 2**32 - 1) for step in (-1, 0, 1)]
        pairs += [((word >> 32 << 32) | coin, place_word) for coin in coins]
    # A place begins where its product with the width has just passed a multiple of 2**64.
    for place in {0, scale.width // 2, scale.width - 1}:
        first = -(-place * WORD // scale.width)
        pairs += [(1 << 40, (first + step) % WORD) for step in (-1, 0, 1)]
    return pairs


@pytest.mark.full
@pytest.mark.parametrize("sigma", SCALES)
def test_each_trial_is_that_of_the_twin_bit_by_bit(sigma):
    scale, rng = Scale(sigma), random.Random(1)
    pairs = [(rng.getrandbits(64), rng.getrandbits(64)) for _ in range(60)]
    more_were_needed = 0
    for seed, (word, place_word) in enumerate(pairs + edge_words(scale, rng)):
        streams = [Stream(seed) for _ in range(3)]
        trials = (twin_trial, one_trial, settle)
        values = [t(word, place_word, scale, s) for t, s in zip(trials, streams, strict=True)]

        assert values[0] == values[1] == values[2]
        assert streams[0].taken == streams[1].taken == streams[2].taken
        more_were_needed += streams[0].taken > 0
    assert more_were_needed >= 5  # each threshold of a strip asks for more bits than its own


@pytest.mark.full
@given(word=st.integers(0, WORD - 1), place_word=st.integers(0, WORD - 1))
@examples(50)
@pytest.mark.parametrize("sigma", [3.0, 2.0**20 + 0.3])
def test_any_trial_is_that_of_the_twin(sigma, word, place_word):
    scale = Scale(sigma)

    assert one_trial(word, place_word, scale, Stream(0)) == twin_trial(
        word, place_word, scale, Stream(0)
    )


@pytest.mark.full
@pytest.mark.parametrize("sigma", [1.5, 17.0, 2.0**20 + 0.3, 2.0**56])
def test_draws_are_the_accepted_trials_in_their_order(sigma):
    class Recorder(Stream):
        blocks: list[bytes] = []  # noqa: RUF012

        def __call__(self, n_bytes: int) -> bytes:
            found = super().__call__(n_bytes)
            if n_bytes > 8:
                self.blocks = [*self.blocks, found]
            return found

    recorder = Recorder(5)
    drawn = draw(sigma, 100, recorder)
    words = np.frombuffer(b"".join(recorder.blocks), dtype=np.uint64).tolist()
    pairs = zip(words[::2], words[1::2], strict=True)
    # Bits that follow are needed in none of these trials.
    trials = (twin_trial(*pair, Scale(sigma), Stream(0)) for pair in pairs)

    assert drawn.tolist() == [v for v in trials if v is not None][:100]


# --- the distribution, without chance --------------------------------------------------------


def accepting_coins(word: int, place_word: int, scale: Scale) -> int:
    """Count by bisection how many of 2**32 coins accept; later bits are zeros."""
    low, high = 0, 2**32  # all below `low` accept, none from `high` on
    while low < high:
        coin = (low + high) // 2
        if one_trial(word | coin, place_word, scale, bytes) is None:
            high = coin
        else:
            low = coin + 1
    return low


def distance_to_the_discrete_gaussian(sigma: float) -> float:
    """Return the total difference in probabilities, from counts of words for each value."""
    scale, thresholds = Scale(sigma), discrete_gaussian._strip_table()[0].tolist()
    words_of_strip = np.diff([0, *thresholds]).tolist()
    reach = math.ceil(8 * sigma)
    found = np.zeros(2 * reach + 1)
    for sign, strip, place in itertools.product(
        (0, 1), range(min(reach // scale.width, len(thresholds))), range(scale.width)
    ):
        inside = thresholds[strip] - (words_of_strip[strip] + 1) // 2
        word = sign << 63 | inside << 32
        middle_of_place = (2 * place + 1) * WORD // (2 * scale.width)
        coins = accepting_coins(word, middle_of_place, scale)
        if coins:
            value = one_trial(word, middle_of_place, scale, bytes)
            found[reach + value] += words_of_strip[strip] / 2**32 * coins / 2**32 / scale.width
    values = np.arange(-reach, reach + 1)
    expected = np.exp(-(values**2) / (2 * sigma**2))
    return float(np.abs(found / found.sum() - expected / expected.sum()).sum())


def rounding_of_all_words(sigma: float) -> float:
    """Return the distance that rounding allows.

    Rounding a threshold moves at most 2**-31 of all words from one strip to the next, and rounding
    coins as much in total, which makes 102 such proportions. A trial is accepted with a probability
    of about sigma / (16 width), at least 0.9 of that here, and normalizing can double the
    difference. Values beyond eight standard deviations have less than 1e-14 in all.
    """
    return 2 * 102 * 2.0**-31 * 16 * Scale(sigma).width / (0.9 * sigma)


@pytest.mark.parametrize("sigma", [1.0, 1.5, 2.0, 3.0, pytest.param(17.0, marks=pytest.mark.full)])
def test_all_random_words_together_give_the_discrete_gaussian(sigma):
    """Nothing is random here: the words that lead to each value are counted."""
    assert distance_to_the_discrete_gaussian(sigma) < rounding_of_all_words(sigma)


@given(
    numerator=st.integers(0, 10**30),
    denominator=st.integers(1, 10**27),
    bits=st.integers(1, 150),
)
@examples(300)
def test_bounds_of_the_exponential_hold_it_tightly(numerator, denominator, bits):
    low, high = exponential(numerator, denominator, bits)
    with localcontext(prec=120):
        exact = 2**bits * (-Decimal(numerator) / Decimal(denominator)).exp()

        assert low <= exact <= high
    assert high - low <= 2


@given(st.floats(2.0**-20, 2.0**56))
def test_scale_is_never_smaller_than_asked_for_and_hardly_larger(sigma):
    scale = Scale(sigma)
    realized = Fraction(16 * scale.numerator, scale.step)

    assert Fraction(sigma) <= realized <= Fraction(sigma) * (1 + Fraction(1, 2**28))
    if sigma >= 1:
        assert realized <= Fraction(sigma) * (1 + Fraction(1, 2**40))
    assert scale.width - 1 < realized / 16 <= scale.width


# --- the distribution of what is drawn -------------------------------------------------------


def chi_square_level(noise: np.ndarray, sigma: float) -> float:
    """Return the p-value under the discrete Gaussian."""
    values = np.arange(-int(10 * sigma) - 2, int(10 * sigma) + 3)
    mass = np.exp(-(values**2) / (2 * sigma**2))
    expected = len(noise) * mass / mass.sum()
    observed = np.array([np.sum(noise == value) for value in values])
    kept = expected >= 5  # the usual condition of the chi-square approximation
    pooled = [np.append(a[kept], a[~kept].sum()) for a in (observed, expected)]
    statistic = np.sum((pooled[0] - pooled[1]) ** 2 / pooled[1])
    return float(stats.chi2.sf(statistic, df=len(pooled[0]) - 1))


@pytest.mark.full
@pytest.mark.parametrize("sigma", [1.0, 2.0, 3.0, 17.0, 40.25])
def test_frequencies_on_a_coarse_lattice_are_those_of_the_discrete_gaussian(sigma):
    assert chi_square_level(draw(sigma, 50_000), sigma) > ALPHA


@pytest.mark.parametrize("sigma", [2.0**14, 2.0**20 + 0.3, 2.0**40, 2.0**56])
def test_draws_on_a_fine_lattice_are_normal_to_the_tails(sigma):
    scaled = draw(sigma, 400_000) / sigma
    ks_bound = math.sqrt(math.log(2 / ALPHA) / (2 * len(scaled)))

    # A lattice step is at most 1 / 2**14 of the scale, a cumulated chance of 2.5e-5; the bound,
    # by Dvoretzky, Kiefer, Wolfowitz and Massart, is 5.2e-3.
    assert stats.kstest(scaled, stats.norm.cdf).statistic < ks_bound + 2.5e-5
    for tail in (2.0, 3.0, 4.0):
        low, high = stats.binom.ppf(
            [ALPHA / 6, 1 - ALPHA / 6], len(scaled), 2 * stats.norm.sf(tail)
        )
        assert low <= np.sum(np.abs(scaled) > tail) <= high


def test_a_draw_says_nothing_about_the_next():
    """Signs, sizes and parities of consecutive draws pass chi-square tests."""
    noise = draw(2.0**20 + 0.3, 200_000)
    for mark in (noise > 0, np.abs(noise) > 2**20, noise & 1 == 1, noise & 2**16 == 0):
        for lag in (1, 2, 3):
            table = np.histogram2d(mark[:-lag], mark[lag:], bins=2)[0]
            assert stats.chi2_contingency(table, correction=False).pvalue > ALPHA / 12


def test_reads_blocks_of_one_size_however_many_draws_are_asked_for():
    class Sizes(Stream):
        largest = 0

        def __call__(self, n_bytes: int) -> bytes:
            self.largest = max(self.largest, n_bytes)
            return super().__call__(n_bytes)

    draw(2.0**20, 50_000, sizes := Sizes(0))
    draw(2.0**20, 0, nothing := Sizes(0))

    assert sizes.largest == 16 * discrete_gaussian._TRIALS_AT_ONCE
    assert nothing.taken == 0


# --- planted mistakes ------------------------------------------------------------------------

MISTAKES = {
    "accept without a coin": ("if coin + _COIN_STEP + _SLACK < total:", "if True:"),
    "never accept what is unlikely": (
        "_REJECT if coin > _CHANCE_OF_LONG else _UNDECIDED",
        "_REJECT",
    ),
    "half of the exponent": ("(2.0 * strip + beyond) /", "(strip + beyond) /"),
    "zero counts twice": ("if value == 0 and negative:", "if False:"),
    "first place of each strip": ("strip * width + np.int64(place)", "strip * width"),
    "no sign": ("-value if negative else value", "value"),
    "search from the next strip": ("GUIDE_BITS)]\n", "GUIDE_BITS)] + 1\n"),
}


def uncompiled(old: str = "", new: str = "") -> object:
    """Return the kernel uncompiled, with one piece of its source replaced."""
    source = inspect.getsource(_kernels)
    assert not old or source.count(old) == 1
    plain = "def njit(**options):\n    return lambda function: function"
    source = source.replace("from dpexplain._utils.compiling import njit", plain)
    if old:
        source = source.replace(old, new)
    parts: dict[str, Any] = {}
    exec(compile(source, "kernels", "exec", dont_inherit=True), parts)
    return parts["run_trials"]


@pytest.mark.parametrize("sigma", [1.0, 40.25])
def test_the_kernel_gives_the_same_uncompiled(sigma, monkeypatch):
    compiled = draw(sigma, 1_000, Stream(2))
    monkeypatch.setattr(discrete_gaussian, "run_trials", uncompiled())
    with np.errstate(over="ignore"):
        assert np.array_equal(draw(sigma, 1_000, Stream(2)), compiled)


@pytest.mark.full
@pytest.mark.parametrize("mistake", MISTAKES)
def test_counted_words_show_a_planted_mistake(mistake, monkeypatch):
    monkeypatch.setattr(discrete_gaussian, "run_trials", uncompiled(*MISTAKES[mistake]))
    with np.errstate(over="ignore"):
        found = {sigma: distance_to_the_discrete_gaussian(sigma) for sigma in (3.0, 17.0)}

    # A planted mistake is no matter of rounding.
    assert any(distance > 1000 * rounding_of_all_words(sigma) for sigma, distance in found.items())


@pytest.mark.full
@pytest.mark.parametrize(
    ("mistake", "sigma"), [("accept without a coin", 3.0), ("first place of each strip", 40.25)]
)
def test_frequencies_show_a_planted_mistake(mistake, sigma, monkeypatch):
    monkeypatch.setattr(discrete_gaussian, "run_trials", uncompiled(*MISTAKES[mistake]))
    with np.errstate(over="ignore"):  # words wrap around
        assert chi_square_level(draw(sigma, 3_000), sigma) < ALPHA


def test_the_twin_shows_a_tie_that_is_taken_for_a_decision(monkeypatch):
    """No frequency could show it, as it happens once in ten million trials."""

    class Hasty(discrete_gaussian._Uniform):
        def below(self, bounds):
            return self._leading <= bounds(self._n_bits)[0]

    scale, rng = Scale(17.0), random.Random(1)
    pairs = edge_words(scale, rng)

    def differing() -> int:
        return sum(
            settle(*pair, scale, Stream(i)) != twin_trial(*pair, scale, Stream(i))
            for i, pair in enumerate(pairs)
        )

    assert differing() == 0
    monkeypatch.setattr(discrete_gaussian, "_Uniform", Hasty)
    assert differing() > 0
