"""Secret bits and noise are fresh in every copy of a process, also if OpenSSL takes it for one."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

from dpexplain.mechanisms import NOISE_BACKENDS, NoiseSource, opendp_sampler, secret_bits
from dpexplain.mechanisms.secret_bits import secret_bytes

_NEW_PROCESS_NUMBERS = 0x20000000  # CLONE_NEWPID of Linux


def test_each_call_seeds_the_generator_before_it_draws(monkeypatch):
    calls = []
    stream = SimpleNamespace(
        RAND_add=lambda seed, entropy: calls.append((seed, entropy)),
        RAND_bytes=lambda n: calls.append(n) or bytes(n),
    )
    monkeypatch.setattr(secret_bits, "ssl", stream)
    secret_bytes(8)
    secret_bytes(2**20 + 1)
    (first, of_first), eight, (second, of_second), *parts = calls
    assert (eight, *parts) == (8, 2**20, 1)
    assert len(first) == len(second) == of_first == of_second == 64
    assert first != second


def _said_in_forks(draw: Callable[[], bytes]) -> list[str]:
    """Fork twice into new namespaces, and return process numbers and draws of all three."""
    system = ctypes.CDLL(None, use_errno=True)
    if system.unshare(_NEW_PROCESS_NUMBERS):
        return []
    reader, writer = os.pipe()
    if os.fork() == 0:  # it has the number 1, and so have the forks of its forks
        draw()
        for _ in range(2):
            if os.fork() == 0:
                system.unshare(_NEW_PROCESS_NUMBERS)
                if os.fork() == 0:
                    os.write(writer, f"{os.getpid()} {draw().hex()}\n".encode())
                    os._exit(0)
                os.wait()
                os._exit(0)
            os.wait()
        os.write(writer, f"{os.getpid()} {draw().hex()}\n".encode())
        os._exit(0)
    os.close(writer)
    os.wait()
    with os.fdopen(reader) as answer:
        return answer.read().split("\n")[:-1]


def _drawn_in_forks(draw: Callable[[], bytes]) -> list[str]:
    """Return what a process and two copies with its process number draw."""
    reader, writer = os.pipe()
    child = os.fork()  # the namespace of the test's own process stays as it is
    if child == 0:
        status = 1
        try:
            os.write(writer, "\n".join(_said_in_forks(draw)).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader) as answer:
        said = [line.split() for line in answer.read().split("\n") if line]
    assert os.waitpid(child, 0)[1] == 0
    if not said:
        pytest.skip("the system allows no new namespace of process numbers")
    numbers, drawn = zip(*said, strict=True)
    assert numbers == ("1", "1", "1")
    return list(drawn)


def _noise(backend: str) -> bytes:
    return NoiseSource(backend).draw_int(2.0**40, 4).tobytes()


_FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")


@pytest.mark.system_entropy
@_FORKS
def test_forks_with_the_number_of_their_parent_draw_other_bits():
    assert len(set(_drawn_in_forks(lambda: secret_bytes(8)))) == 3


@pytest.mark.system_entropy
@_FORKS
@pytest.mark.parametrize("backend", NOISE_BACKENDS)
def test_forks_with_the_number_of_their_parent_draw_other_noise(backend):
    assert len(set(_drawn_in_forks(lambda: _noise(backend)))) == 3


@pytest.mark.system_entropy
@_FORKS
def test_opendp_would_repeat_its_noise_in_such_forks_if_it_drew_in_the_process(monkeypatch):
    monkeypatch.setattr(opendp_sampler, "draw", opendp_sampler._drawn)
    assert len(set(_drawn_in_forks(lambda: _noise("opendp")))) < 3


def test_opendp_draws_in_another_process(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp.measurements", None)  # cannot be imported here
    source = NoiseSource("opendp")
    first, second = source.draw_int(2.0**40, 3), source.draw_int(2.0**40, 3)
    assert not np.array_equal(first, second)


def test_an_answer_of_another_length_is_no_noise(monkeypatch):
    monkeypatch.setattr(opendp_sampler, "_BYTES", 9)
    with pytest.raises(RuntimeError, match="can import opendp"):
        NoiseSource("opendp").draw_int(2.0**40, 3)
