"""Secret bits are fresh in every copy of a process, also where OpenSSL does not recognize it."""

from __future__ import annotations

import ctypes
import os
from types import SimpleNamespace

import pytest

from dpexplain.mechanisms import secret_bits
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


def _said_in_forks() -> list[str]:
    """Fork twice into new namespaces, and return process numbers and bits of all three."""
    system = ctypes.CDLL(None, use_errno=True)
    if system.unshare(_NEW_PROCESS_NUMBERS):
        return []
    reader, writer = os.pipe()
    if os.fork() == 0:  # it has the number 1, and so have the forks of its forks
        secret_bytes(8)
        for _ in range(2):
            if os.fork() == 0:
                system.unshare(_NEW_PROCESS_NUMBERS)
                if os.fork() == 0:
                    os.write(writer, f"{os.getpid()} {secret_bytes(8).hex()}\n".encode())
                    os._exit(0)
                os.wait()
                os._exit(0)
            os.wait()
        os.write(writer, f"{os.getpid()} {secret_bytes(8).hex()}\n".encode())
        os._exit(0)
    os.close(writer)
    os.wait()
    with os.fdopen(reader) as answer:
        return answer.read().split("\n")[:-1]


@pytest.mark.system_entropy
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_forks_with_the_number_of_their_parent_draw_other_bits():
    reader, writer = os.pipe()
    child = os.fork()  # the namespace of the test's own process stays as it is
    if child == 0:
        status = 1
        try:
            os.write(writer, "\n".join(_said_in_forks()).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader) as answer:
        said = [line.split() for line in answer.read().split("\n") if line]
    assert os.waitpid(child, 0)[1] == 0
    if not said:
        pytest.skip("the system allows no new namespace of process numbers")
    numbers, bits = zip(*said, strict=True)
    assert numbers == ("1", "1", "1")
    assert len(set(bits)) == 3
