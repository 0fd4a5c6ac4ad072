"""Repeatable entropy: a named stream in place of what the operating system provides.

Noise and coins are secret, but the verdict of a test should depend on the code alone. So each
test draws from its own stream, seeded with its name. With ``DPEXPLAIN_TEST_ENTROPY=system``,
as ``make test-all`` sets it outside continuous integration, numbers differ in each run;
those marked ``named_entropy`` repeat even then, since they look at one fit and have no exact
probability of failing. Tests of secrecy itself are marked ``system_entropy``.

Nothing of this can be reached from the library: its modules are patched from here. What cannot be
patched stays secret: other processes, and the sampler of OpenDP.
"""

from __future__ import annotations

import hashlib
import os
import ssl
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.random import bit_generator

from dpexplain.mechanisms import noise_source, secret_bits

VARIABLE = "DPEXPLAIN_TEST_ENTROPY"
MARKERS = {
    "system_entropy": "draws from the operating system in every run",
    "named_entropy": "draws the same noise in every run",
}


def repeats() -> bool:
    """Whether this run draws from named streams, which is the default."""
    chosen = os.environ.get(VARIABLE, "named")
    if chosen not in ("named", "system"):
        raise pytest.UsageError(f'{VARIABLE}={chosen!r} is neither "named" nor "system".')
    return chosen == "named"


class NamedEntropy:
    """Plugin that replaces the system's random bytes where noise, coins and seeds are drawn.

    Parameters
    ----------
    repeats : bool
        Whether tests without a mark draw from a stream of their name.
    """

    def __init__(self, repeats: bool) -> None:
        self._repeats = repeats
        self._system = self._draw = os.urandom
        self._patch = pytest.MonkeyPatch()
        system = SimpleNamespace(urandom=self._bytes)
        self._patch.setattr(noise_source, "os", system)
        stream = SimpleNamespace(RAND_bytes=self._bytes_of_openssl, RAND_add=ssl.RAND_add)
        self._patch.setattr(secret_bits, "ssl", stream)
        # What numpy seeds a generator with that was given no seed, as for public structure.
        self._patch.setattr(bit_generator, "randbits", self._bits)

    def _bits(self, n_bits: int) -> int:
        n_bytes = -(-n_bits // 8)
        return int.from_bytes(self._bytes(n_bytes), "little") >> (8 * n_bytes - n_bits)

    def _bytes(self, n_bytes: int) -> bytes:
        return self._draw(n_bytes)

    def _bytes_of_openssl(self, n_bytes: int) -> bytes:
        return ssl.RAND_bytes(n_bytes) if self._draw is self._system else self._draw(n_bytes)

    def begin(self, name: str | None) -> None:
        """Draw from the stream with this name from now on; None means the operating system."""
        self._draw = self._system  # asked below for a seed that the key replaces
        if name is not None:
            words = np.frombuffer(hashlib.sha256(name.encode()).digest(), dtype=np.uint64)
            self._draw = np.random.Generator(np.random.Philox(key=words[:2])).bytes

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Seed with the name of the test, as its mark or the run requires."""
        named = self._repeats or item.get_closest_marker("named_entropy")
        self.begin(None if item.get_closest_marker("system_entropy") or not named else item.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Iterator[None]:
        """Give shared fixtures streams of their own, as any test may run first."""
        if fixturedef.scope == "function":
            return (yield)
        outside = self._draw
        index = getattr(request, "param_index", 0)
        name = f"{fixturedef.baseid}::{fixturedef.argname}[{index}]"
        self.begin(name if self._repeats else None)
        try:
            return (yield)
        finally:
            self._draw = outside

    def pytest_unconfigure(self) -> None:
        """Leave the library as it was."""
        self._patch.undo()
