"""Limit numpy's linear algebra to one thread, which is faster for small matrices."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

__all__ = ["one_blas_thread"]


def one_blas_thread() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread inside a ``with`` block.

    The matrices in this library are small, so several threads would spend ten times as long waiting
    for each other as they spend computing. One thread also gives the same result on any number of
    processors.

    Returns
    -------
    context manager
        Context manager that restores the number of threads when the block ends.
    """
    return _libraries().limit(limits=1, user_api="blas")


@cache
def _libraries() -> ThreadpoolController:
    """Return a cached controller for the loaded BLAS libraries, including numpy's."""
    # Who only reads a file, such as a notebook in a browser, does not need it.
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
