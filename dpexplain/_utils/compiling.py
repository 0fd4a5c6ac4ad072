"""Compile kernels at first use, keep them on disk, and say so to users who wait.

Kernels take `njit` from here, so the notice appears whichever kernel is needed first.
"""

from __future__ import annotations

import sys
from typing import Any

from numba import njit
from numba.core import event

__all__ = ["SAID", "njit"]

SAID = (
    "dpexplain: compiling numeric kernels, once after an installation, for up to a minute "
    "(`dpexplain warm` does it beforehand)."
)


class Word(event.Listener):
    """Notice, shown once per process, that kernels are being compiled.

    Which of them a fit needs follows from its settings and its schema, so the notice reveals
    nothing about records. It is for people who wait, at a terminal or in a notebook: logs stay
    unchanged.
    """

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Any) -> None:
        """Show the notice before our first kernel; kernels found on disk do not count."""
        ours = event.data["dispatcher"].py_func.__module__.startswith("dpexplain.")
        if ours and not self.said and _somebody_waits():
            self.said = True
            print(SAID, file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """Do nothing."""


def _somebody_waits() -> bool:
    return "ipykernel.zmqshell" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


WORD = Word()
event.register("numba:compile", WORD)  # type: ignore[no-untyped-call]
