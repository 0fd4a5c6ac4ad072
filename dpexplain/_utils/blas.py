"""One thread for the linear algebra of numpy, where more would wait for each other."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["one_blas_thread"]


def one_blas_thread() -> AbstractContextManager[Any]:
    """Hold BLAS to one thread inside a ``with`` block.

    Matrices here are small: several threads would wait for each other ten times as long as they
    work. One thread also gives the same result on any number of processors.

    Returns
    -------
    context manager
    """
    return _libraries().limit(limits=1, user_api="blas")


@cache
def _libraries() -> ThreadpoolController:
    """Find the libraries once: it reads all that is loaded, and numpy's is loaded by then."""
    return ThreadpoolController()
