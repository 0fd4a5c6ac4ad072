"""Runs repeat because of patches from outside; tests of secrecy are excluded."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.random import bit_generator

from dpexplain.mechanisms import NoiseSource, noise_source, secret_bits, secret_coins
from effort import profiles
from entropy import VARIABLE, NamedEntropy, repeats


def drawn() -> np.ndarray:
    sources = [NoiseSource("exact"), NoiseSource("rounded")]
    parts = [source.draw_int(2.0**40, 20) for source in sources]
    parts.append(np.int64(2.0**53 * secret_coins().random(20)))
    return np.concatenate([*parts, np.random.default_rng(None).integers(2**40, size=20)])


@pytest.fixture
def named():
    plugin = NamedEntropy(repeats=True)
    yield plugin
    plugin.pytest_unconfigure()


def test_a_name_repeats_noise_and_coins_and_another_does_not(named):
    runs = []
    for name in ("one test", "one test", "another", None, None):
        named.begin(name)
        runs.append(drawn())
    assert np.array_equal(runs[0], runs[1])
    assert len(np.unique(np.concatenate([runs[0], *runs[2:]]))) == 4 * len(runs[0])


def test_draws_go_on_within_a_test(named):
    named.begin("one test")
    assert not (drawn() == drawn()).any()


@pytest.mark.parametrize(
    ("marks", "repeats", "same"),
    [
        ([], True, True),
        ([], False, False),
        (["system_entropy"], True, False),
        (["named_entropy"], False, True),
    ],
)
def test_a_mark_goes_before_what_the_run_does(marks, repeats, same):
    plugin = NamedEntropy(repeats)
    item = SimpleNamespace(nodeid="test", get_closest_marker=lambda name: name in marks)
    runs = []
    for _ in range(2):
        plugin.pytest_runtest_setup(item)
        runs.append(drawn())
    plugin.pytest_unconfigure()
    assert (runs[0] == runs[1]).all() == same


def test_only_a_full_run_whose_noise_is_fresh_searches_fresh_examples():
    fresh, same = profiles(repeated=False), profiles(repeated=True)
    assert not fresh["full"].derandomize
    assert same["full"].derandomize
    assert fresh["daily"].derandomize
    assert fresh["full"].max_examples == same["full"].max_examples > fresh["daily"].max_examples


@pytest.mark.system_entropy
def test_in_a_marked_test_the_system_is_asked():
    assert not (drawn() == drawn()).any()


def test_the_plugin_leaves_the_library_as_it_was():
    def patched():
        return noise_source.os, secret_bits.ssl, bit_generator.randbits

    before = patched()
    NamedEntropy(repeats=True).pytest_unconfigure()
    assert patched() == before


@pytest.mark.parametrize(("chosen", "expected"), [(None, True), ("named", True), ("system", False)])
def test_noise_repeats_unless_the_system_is_asked(chosen, expected, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    if chosen is not None:
        monkeypatch.setenv(VARIABLE, chosen)
    assert repeats() is expected


def test_another_word_is_refused(monkeypatch):
    monkeypatch.setenv(VARIABLE, "random")
    with pytest.raises(pytest.UsageError, match="neither"):
        repeats()


@pytest.mark.parametrize("scope", ["module", "session"])
def test_what_several_tests_share_has_a_stream_of_its_own(named, scope):
    """Which test comes first, and so sets it up, varies between runs."""
    runs = []
    for test in ("first", "second"):
        named.begin(test)
        one = drawn()
        shared = SimpleNamespace(scope=scope, baseid="tests/package", argname="fitted")
        setup = named.pytest_fixture_setup(shared, SimpleNamespace(param_index=0))
        next(setup)
        runs.append(drawn())
        with pytest.raises(StopIteration):
            setup.send(None)
        after = drawn()
        named.begin(test)
        assert np.array_equal(np.concatenate([one, after]), np.concatenate([drawn(), drawn()]))
    assert np.array_equal(*runs)


def test_what_one_test_sets_up_is_part_of_its_stream(named):
    setup = named.pytest_fixture_setup(SimpleNamespace(scope="function"), SimpleNamespace())
    named.begin("test")
    first = drawn()
    named.begin("test")
    next(setup)
    assert np.array_equal(drawn(), first)
