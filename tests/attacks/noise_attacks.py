"""Attacks on noise and coins: reused, predicted, removed, or likelier than stated."""

from __future__ import annotations

import itertools
import os
import pickle
import random
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from attack_kit import Attack, Finding, drawn_noise, estimator, first_find, table
from dpexplain import PrivacyLedger, io
from dpexplain.audit import record, recording
from dpexplain.mechanisms import Mechanism, NoiseSource, Phase, SecretCoins, coins
from dpexplain.mechanisms import mechanism as mechanism_module
from dpexplain.models import private_hooks
from dpexplain.models.locally_linear.sampling import representable
from dpexplain.models.private import PrivateEstimator

_SIGMA = 2.0**40  # two draws out of some hundred agree with chance < 1e-7
_BACKENDS = ("exact", "opendp", "rounded")


def _in_a_fork(work: Callable[[], bytes]) -> bytes:
    """Run a function in a fork of this process, and return its result."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, work())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        said = answer.read()
    os.waitpid(child, 0)
    return said


def _repeated(draws: list[np.ndarray]) -> int:
    everything = np.concatenate(draws)
    return len(everything) - len(np.unique(everything))


def forked_generators(_: str) -> Finding:
    """Draw, fork the process twice, and draw in all three: is any noise the same?"""

    def attempts() -> Iterator[Finding]:
        for backend in _BACKENDS:
            source = NoiseSource(backend)
            draws = [source.draw_int(_SIGMA, 50)]
            for _ in range(2):
                said = _in_a_fork(lambda: source.draw_int(_SIGMA, 50).tobytes())  # noqa: B023
                draws.append(np.frombuffer(said, dtype=np.int64))
            draws.append(source.draw_int(_SIGMA, 50))
            twice = _repeated(draws)
            yield Finding(twice > 0, f"{backend}: {twice} draws came twice")

    return first_find(attempts())


def one_generator_for_all(patch: pytest.MonkeyPatch) -> None:
    """Use one generator for the whole process, well seeded, but only once."""
    generator = np.random.default_rng()
    patch.setattr(
        NoiseSource,
        "draw_int",
        lambda self, sigma, size: np.rint(sigma * generator.standard_normal(size)).astype(int),
    )


def forked_phase(_: str) -> Finding:
    """Fork the process after the noise of a phase was drawn, and release in both.

    The answers would then differ by exactly as much as the sums.
    """
    mechanism = Mechanism(NoiseSource())
    mechanism.begin(Phase("sums", 2.0**20, _SIGMA, n_values=20))

    def other_sums() -> bytes:
        try:
            return mechanism.release(np.full(20, 17, dtype=np.int64)).tobytes()
        except RuntimeError:
            return b""

    said = _in_a_fork(other_sums)
    own = mechanism.release(np.zeros(20, dtype=np.int64))
    if not said:
        return Finding(False, "the copy refused to release")
    same = bool((np.frombuffer(said, dtype=np.int64) - own == 17).all())
    return Finding(same, "the same noise in both processes" if same else "other noise")


def process_not_checked(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(mechanism_module, "this_process", lambda: 1)


def racing_threads(_: str) -> Finding:
    """Draw in eight threads at the same time."""

    def attempts() -> Iterator[Finding]:
        for backend in _BACKENDS:
            source, draws, start = NoiseSource(backend), [], threading.Barrier(8)

            def draw() -> None:
                start.wait()  # noqa: B023
                draws.append(source.draw_int(_SIGMA, 50))  # noqa: B023

            threads = [threading.Thread(target=draw) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            twice = _repeated(draws)
            yield Finding(twice > 0, f"{backend}: {twice} draws came twice")

    return first_find(attempts())


def seeded_by_the_clock(patch: pytest.MonkeyPatch) -> None:
    def draw(self: NoiseSource, sigma: float, size: int) -> Any:
        generator = np.random.default_rng(int(time.time()))
        return np.rint(sigma * generator.standard_normal(size)).astype(np.int64)

    patch.setattr(NoiseSource, "draw_int", draw)


def known_seeds(name: str) -> Finding:
    """Set every seed an attacker can know, and fit twice: is the noise the same?"""

    def noise() -> np.ndarray:
        np.random.seed(0)  # noqa: NPY002 - the generator that everybody shares
        random.seed(0)
        _, transcript = record(estimator(name, structure_seed=3), *table(name, 30))
        return np.concatenate(drawn_noise(transcript))

    first, second = noise(), noise()
    same = int((first[: len(second)] == second[: len(first)]).sum())
    return Finding(same > 5, f"{same} of {len(first)} draws are the same")


def noise_from_the_structure_seed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        PrivateEstimator,
        "_noise_source",
        lambda self: NoiseSource(reproducible_seed=self.structure_seed),
    )
    for method in ("draw_int", "draw_laplace"):
        patch.setattr(NoiseSource, method, _draw_of_shared_generator)


def _draw_of_shared_generator(self: NoiseSource, sigma: float, size: int) -> Any:
    drawn = np.random.standard_normal(size)  # noqa: NPY002
    return np.rint(sigma * drawn).astype(np.int64)


def known_coins(name: str) -> Finding:
    """Set every seed an attacker can know, and draw twice: are the coins the same?

    Sixty-four coins, or choices between two rows, agree with probability 2**-64.
    """
    people = np.repeat(np.arange(64), 2)

    def thrown() -> dict[str, bytes]:
        np.random.seed(0)  # noqa: NPY002 - the generator that everybody shares
        random.seed(0)
        fitted = estimator(name, structure_seed=3)
        return {
            "samples": fitted._coins().heads(64, 0.5).tobytes(),
            "bags": (fitted._coins().random(64) < 0.5).tobytes(),
            "rows of a person": fitted._kept_rows(people).tobytes(),
        }

    def attempts() -> Iterator[Finding]:
        first, second = thrown(), thrown()
        for what, fell in first.items():
            yield Finding(fell == second[what], f"{what} repeat with the seeds")
        own = estimator(name)._coins()
        said = _in_a_fork(lambda: own.heads(64, 0.5).tobytes())
        same = said == own.heads(64, 0.5).tobytes()
        yield Finding(same, "coins repeat in a copy of the process")

    return first_find(attempts())


class _CoinsOfEverybody:
    """Coins drawn from NumPy's shared generator."""

    def heads(self, n: int, probability: float) -> Any:
        return np.random.random(n) < probability  # noqa: NPY002

    def random(self, n: int) -> Any:
        return np.random.random(n)  # noqa: NPY002

    def permutation(self, n: int) -> Any:
        return np.random.permutation(n)  # noqa: NPY002


def coins_of_everybody(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(private_hooks, "secret_coins", _CoinsOfEverybody)


_CHANCES = (1e-9, 0.0153557, 0.1, 1 / 3, 0.5, 0.85, 0.999, 1.0)


def likelier_coins(_: str) -> Finding:
    """Feed coins every pair of bytes: is a record sampled more often than charged?

    The proportion of heads among all 65,536 pairs must not exceed the stated probability.
    """

    def attempts() -> Iterator[Finding]:
        for wanted in _CHANCES:
            charged = representable(wanted)
            shown = n_pairs = 0
            for second in range(256):
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(coins, "secret_bytes", _bytes_that_end_with(second))
                    heads = SecretCoins().heads(256, charged)
                shown, n_pairs = shown + int(heads.sum()), n_pairs + 256
            # What follows the two bytes is 255: a number just below the next pair of bytes.
            yield Finding(shown > charged * n_pairs, f"{shown} of {n_pairs} for {charged:.6g}")

    return first_find(attempts())


def _bytes_that_end_with(second: int) -> Callable[[int], bytes]:
    """Make a source of bytes: each value once, then `second` for ties, then the largest."""
    answers = iter([bytes(range(256))])
    tied = itertools.chain([second], itertools.repeat(255))
    return lambda n: next(answers, None) or bytes([next(tied)]) * n


def coins_of_one_byte(patch: pytest.MonkeyPatch) -> None:
    """Toss a coin of eight bits, with the nearest probability that it can have."""

    def heads(self: SecretCoins, n: int, probability: float) -> Any:
        drawn = np.frombuffer(coins.secret_bytes(n), dtype=np.uint8)
        return drawn < max(1, round(256 * probability))

    patch.setattr(SecretCoins, "heads", heads)


def seeded_as_private(name: str) -> Finding:
    """Fit with a known seed in every possible way, then ask for the guarantee."""

    def attempts() -> Iterator[Finding]:
        for seed in (0, 1, np.int64(0)):
            fitted = estimator(name, reproducible_seed=seed).fit(*table(name, 20))
            fitted.set_params(reproducible_seed=None)
            for way, model in (
                ("set to None after the fit", fitted),
                ("pickled", pickle.loads(pickle.dumps(fitted))),
            ):
                private = model.explain_global().guarantee.private or model.guarantee_.private
                yield Finding(private, f"seed {seed!r}, {way}: private is {private}")
        ledger = PrivacyLedger("patients")
        try:
            clone(estimator(name, reproducible_seed=0, ledger=ledger)).fit(*table(name, 20))
        except ValueError:
            yield Finding(False, "a shared ledger refuses it")
        else:
            yield Finding(True, "a shared ledger takes it")

    return first_find(attempts())


def zero_is_no_seed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(NoiseSource, "private", property(lambda self: True))


def recorded_as_private(name: str) -> Finding:
    """Force every answer of a recorded fit, and save its explanation as a private file."""
    model, _ = record(estimator(name), *table(name, 20), answers=lambda _, drawn: 0 * drawn)
    explanation = model.explain_global()
    kept = io.from_json(io.to_json(explanation))
    private = model.guarantee_.private or explanation.releasable or kept.guarantee.private
    return Finding(private, f"private is {private}: {explanation!r}"[:200])


def recorded_fits_promise(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(recording, "_without_promise", lambda stated: stated)


ATTACKS = [
    Attack(
        "noise repeats in copies of the process",
        forked_generators,
        one_generator_for_all,
        "one generator for the life of the process",
        every_model=False,
    ),
    Attack(
        "noise drawn before a fork is used in both processes",
        forked_phase,
        process_not_checked,
        "the process is not checked",
        every_model=False,
    ),
    Attack(
        "noise repeats in threads that draw at the same moment",
        racing_threads,
        seeded_by_the_clock,
        "a generator seeded by the clock",
        every_model=False,
    ),
    Attack(
        "noise follows from seeds that are known",
        known_seeds,
        noise_from_the_structure_seed,
        "noise from the generator that everybody shares",
    ),
    Attack(
        "who is sampled, or whose row is used, follows from seeds that are known",
        known_coins,
        coins_of_everybody,
        "coins from the generator that everybody shares",
    ),
    Attack(
        "a record is sampled more often than is charged",
        likelier_coins,
        coins_of_one_byte,
        "coins of eight bits",
        every_model=False,
    ),
    Attack(
        "a model with seeded noise is taken for a private one",
        seeded_as_private,
        zero_is_no_seed,
        "a source with a seed says that it is secret",
    ),
    Attack(
        "a model whose answers an audit forced is taken for a private one",
        recorded_as_private,
        recorded_fits_promise,
        "a recorded fit keeps the guarantee of an ordinary one",
    ),
]
