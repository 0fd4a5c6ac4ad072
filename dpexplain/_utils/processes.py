"""Recognize copies of this process.

A process number does not identify a process: a fork can have the number of its parent, in a
namespace of its own or after the parent has ended.
"""

from __future__ import annotations

import os

__all__ = ["this_process"]

_IDENTITY = os.urandom(16)


def this_process() -> tuple[int, bytes]:
    """Return a value that no other process has, forks of this one included.

    Returns
    -------
    tuple of int and bytes
        The process number, which also differs in forks that bypass Python, and an identity that is
        drawn when the module is loaded and again in every fork.
    """
    return os.getpid(), _IDENTITY


def _renew() -> None:
    global _IDENTITY
    _IDENTITY = os.urandom(16)


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_renew)
