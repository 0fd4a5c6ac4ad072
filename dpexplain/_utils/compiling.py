"""Compile kernels at first use, keep them on disk, and say so to users who wait.

<<<<<<< HEAD
Kernels take `njit` from here, so the word is said whichever is needed first.

What makes a kernel compile fast: it loops over scalars; its caller allocates; it calls little, as a
function is optimized once by itself and again wherever it is called; and parts that few fits need
depend on an argument that is None, for which they are not compiled.
=======
Kernels take `njit` from here, so the notice appears whichever kernel is needed first.
>>>>>>> main
"""

from __future__ import annotations

import gc
import sys
from typing import Any

import numba
from numba.core import event

__all__ = ["SAID", "njit"]

SAID = (
    "dpexplain: compiling numeric kernels, once after an installation, for up to a minute "
    "(`dpexplain warm` does it beforehand)."
)


def njit(*functions: Any, **options: Any) -> Any:
    """Compile as ``numba.njit`` does, without the entry for callers in C, which has none here."""
    return numba.njit(*functions, no_cfunc_wrapper=True, **options)


def _ours(given: Any) -> bool:
    return bool(given.data["dispatcher"].py_func.__module__.startswith("dpexplain."))


class Word(event.Listener):
    """Notice, shown once per process, that kernels are being compiled.

    Which of them a fit needs follows from its settings and its schema, so the notice reveals
    nothing about records. It is for people who wait, at a terminal or in a notebook: logs stay
    unchanged.
    """

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Any) -> None:
<<<<<<< HEAD
        """Say the word before the first kernel of ours; kernels found on disk do not come here."""
        if _ours(event) and not self.said and _somebody_waits():
=======
        """Show the notice before our first kernel; kernels found on disk do not count."""
        ours = event.data["dispatcher"].py_func.__module__.startswith("dpexplain.")
        if ours and not self.said and _somebody_waits():
>>>>>>> main
            self.said = True
            print(SAID, file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """Do nothing."""


class Pause(event.Listener):
    """Keeps Python from looking for cyclic garbage while a kernel of ours is compiled.

    It would look through all that is alive hundreds of times: a tenth of the time of compiling.
    """

    def __init__(self) -> None:
        self._depth, self._on = 0, False

    def on_start(self, event: Any) -> None:
        """Pause with the first kernel; those that it calls are compiled within."""
        if _ours(event):
            if self._depth == 0:
                self._on = gc.isenabled()
                gc.disable()
            self._depth += 1

    def on_end(self, event: Any) -> None:
        """Go on after the first kernel, also where compiling failed."""
        if _ours(event):
            self._depth -= 1
            if self._depth == 0 and self._on:
                gc.enable()


def _somebody_waits() -> bool:
    return "ipykernel.zmqshell" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


WORD = Word()
event.register("numba:compile", WORD)  # type: ignore[no-untyped-call]
event.register("numba:compile", Pause())  # type: ignore[no-untyped-call]
