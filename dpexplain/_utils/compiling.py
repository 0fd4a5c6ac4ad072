"""Compile kernels on first use, cache them on disk, and notify users.

All kernels use `njit` from this module, so the notice is shown no matter which kernel is compiled
first.

A kernel compiles quickly if it loops over scalars, leaves allocation to its caller, and calls few
functions, because each function is optimized once on its own and again in its caller. Code that few
fits need is made conditional on an optional argument; if the argument is None, the compiler skips
that code.
"""

from __future__ import annotations

import gc
import sys
from typing import Any

import numba
from numba.core import event

__all__ = ["SAID", "njit"]

SAID = (
    "dpexplain: compiling numeric kernels; this takes a few seconds, once after installation "
    "(`dpexplain warm` does it in advance)."
)


def njit(*functions: Any, **options: Any) -> Any:
    """Compile like ``numba.njit``, but without the unused entry point for C callers."""
    return numba.njit(*functions, no_cfunc_wrapper=True, **options)  # type: ignore[call-overload]


def _ours(given: Any) -> bool:
    return bool(given.data["dispatcher"].py_func.__module__.startswith("dpexplain."))


class Word(event.Listener):
    """Event listener that prints, once per process, that kernels are being compiled.

    The kernels that a fit needs depend only on its settings and schema, so the notice reveals
    nothing about records. The notice is printed only in a terminal or a notebook, and is never
    logged.
    """

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Any) -> None:
        """Print the notice before the first kernel of dpexplain is compiled."""
        if _ours(event) and not self.said and _somebody_waits():
            self.said = True
            print(SAID, file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """Do nothing."""


class Pause(event.Listener):
    """Event listener that pauses garbage collection while a kernel is compiled.

    Otherwise, the collector would run hundreds of times and take about a tenth of the compile time.
    """

    def __init__(self) -> None:
        self._depth, self._on = 0, False

    def on_start(self, event: Any) -> None:
        """Stop the garbage collector before the outermost kernel is compiled."""
        if _ours(event):
            if self._depth == 0:
                self._on = gc.isenabled()
                gc.disable()
            self._depth += 1

    def on_end(self, event: Any) -> None:
        """Restart the garbage collector after compilation, even if it failed."""
        if _ours(event):
            self._depth -= 1
            if self._depth == 0 and self._on:
                gc.enable()


def _somebody_waits() -> bool:
    return "ipykernel.zmqshell" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


WORD = Word()
event.register("numba:compile", WORD)  # type: ignore[no-untyped-call]
event.register("numba:compile", Pause())  # type: ignore[no-untyped-call]
