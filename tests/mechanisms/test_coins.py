"""Secret coins: their probabilities are exact, and all bits are cryptographic."""

from __future__ import annotations

import itertools
import os
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.mechanisms import SecretCoins, SeededCoins, secret_bits, secret_coins


class Given:
    """Replaces the generator: returns given bytes, one request after the other."""

    def __init__(self, *answers):
        self.left = list(answers)

    def RAND_add(self, seed, entropy):  # noqa: N802 - as OpenSSL calls it
        pass

    def RAND_bytes(self, n):  # noqa: N802 - as OpenSSL calls it
        answer = self.left.pop(0)
        assert len(answer) == n
        return answer


def given_by(stream):
    return SimpleNamespace(RAND_bytes=stream, RAND_add=lambda seed, entropy: None)


@pytest.fixture
def generator(monkeypatch):
    def give(*answers):
        monkeypatch.setattr(secret_bits, "ssl", Given(*answers))

    return give


# --- coins ------------------------------------------------------------------------------------


def naive_heads(digits, probability):
    """Return whether a number that begins with these base-256 digits is below a float."""
    number, width = Fraction(0), Fraction(1)
    for digit in digits:
        width /= 256
        number += digit * width
        if number >= Fraction(probability):
            return False
        if number + width <= Fraction(probability):
            return True
    raise AssertionError("these digits do not decide")


@given(st.floats(0.0, 1.0), st.binary(min_size=1, max_size=6), st.integers(0, 5))
def test_a_coin_compares_a_uniform_number_with_the_float_itself(probability, random, n_equal):
    """This also holds if the leading digits are equal, up to the last digit of the float."""
    rest, digits = Fraction(probability), []
    for _ in range(n_equal):
        digit, rest = divmod(256 * rest, 1)
        digits.append(int(min(digit, 255)))
    digits += [*random, 0, 1] + [0] * 140  # a float has at most 1,074 bits
    asked = iter(digits)
    stream = given_by(lambda n: bytes(next(asked) for _ in range(n)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secret_bits, "ssl", stream)
        shown = SecretCoins().heads(1, probability)
    assert shown.tolist() == [naive_heads(digits, probability)]


@pytest.mark.parametrize("numerator", [0, 1, 255, 256, 257, 23_456, 65_535, 65_536])
def test_exactly_as_many_of_all_pairs_of_bytes_show_heads_as_the_probability_says(
    numerator, generator
):
    """Every first byte occurs once; if it decides nothing, every second byte follows once."""
    probability, first = numerator / 2**16, bytes(range(256))
    digit = min(numerator // 256, 256)
    n_heads = 256 * digit
    if numerator % 256:
        assert digit < 256
        for second in range(256):
            generator(first, bytes([second]))
            shown = SecretCoins().heads(256, probability)
            n_heads += int(shown[digit])
            assert shown[:digit].all()
            assert not shown[digit + 1 :].any()
    else:
        generator(first)
        assert 256 * int(SecretCoins().heads(256, probability).sum()) == n_heads
    assert n_heads == numerator


def test_sure_coins_are_sure_and_no_coins_are_none():
    assert SecretCoins().heads(1000, 1.0).all()
    assert not SecretCoins().heads(1000, 0.0).any()
    for shown in (SecretCoins().heads(0, 0.3), SecretCoins().random(0)):
        assert shown.shape == (0,)


@pytest.mark.parametrize("probability", [0.85, 0.0153, 2.0**-9, 1 / 3])
def test_shares_of_heads_are_binomial(probability):
    """A million coins are within 6 standard deviations except once in 500 million runs."""
    n = 1_000_000
    share = SecretCoins().heads(n, probability).mean()
    assert abs(share - probability) < 6 * np.sqrt(probability * (1 - probability) / n)


# --- numbers and orders -----------------------------------------------------------------------


def test_numbers_are_the_leading_53_bits_of_words(generator):
    words = np.array([0, 2**11 - 1, 2**11, 2**63, 2**64 - 1], dtype=np.uint64)
    generator(words.tobytes())
    assert SecretCoins().random(5).tolist() == [0, 0, 2**-53, 0.5, 1 - 2**-53]


def test_words_in_all_orders_give_all_orders_once(generator):
    found = set()
    for words in itertools.permutations([5, 2**63, 2**64 - 1, 0]):
        generator(np.array(words, dtype=np.uint64).tobytes())
        found.add(tuple(SecretCoins().permutation(4).tolist()))
    assert len(found) == 24


def test_equal_words_are_drawn_again_all_of_them(generator):
    equal, other = (np.array(w, dtype=np.uint64).tobytes() for w in ([7, 3, 7], [1, 9, 4]))
    generator(equal, other)
    assert SecretCoins().permutation(3).tolist() == [0, 2, 1]


@pytest.mark.parametrize("n", [0, 1])
def test_few_places_have_one_order(n):
    assert SecretCoins().permutation(n).tolist() == list(range(n))


def test_more_bytes_than_are_asked_for_at_once_are_put_together(monkeypatch):
    monkeypatch.setattr(secret_bits, "_BYTES_AT_ONCE", 3)
    asked = []
    stream = given_by(lambda n: asked.append(n) or bytes(range(n)))
    monkeypatch.setattr(secret_bits, "ssl", stream)
    assert SecretCoins().heads(8, 1.5 / 256).tolist() == [True, True, False] * 2 + [True, True]
    assert asked == [3, 3, 2, 3]


# --- secrecy ----------------------------------------------------------------------------------


def test_all_that_is_shown_follows_from_the_bytes_of_the_generator(monkeypatch):
    """The same bytes give the same results, whatever the state of any other generator."""

    def shown(seed):
        np.random.seed(seed)  # noqa: NPY002
        stream = np.random.default_rng(5)
        monkeypatch.setattr(secret_bits, "ssl", given_by(stream.bytes))
        own = secret_coins()
        (child,) = own.spawn(1)
        return np.concatenate(
            [own.heads(99, 0.3), child.heads(99, 0.7), own.random(9), child.permutation(50)]
        ).tolist()

    assert shown(1) == shown(2)
    assert vars(secret_coins()) == {}


@pytest.mark.system_entropy
def test_copies_of_a_process_throw_other_coins():
    own = secret_coins()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, own.heads(200, 0.5).tobytes())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        said = answer.read()
    os.waitpid(child, 0)
    assert said != own.heads(200, 0.5).tobytes()


def test_seeded_coins_fall_as_those_of_the_generator_did():
    def usual():
        return np.random.default_rng(11)

    drawn = usual().integers(0, 2**32, size=50, dtype=np.uint32) / 2**32
    assert np.array_equal(SeededCoins(11).heads(50, 0.25), drawn < 0.25)
    assert np.array_equal(SeededCoins(11).random(50), usual().random(50))
    ours, theirs = SeededCoins(11).spawn(2), usual().spawn(2)
    assert all(np.array_equal(a.random(9), b.random(9)) for a, b in zip(ours, theirs, strict=True))
    assert "NOT PRIVATE" in repr(SeededCoins(11))
