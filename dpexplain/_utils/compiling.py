"""Compile kernels on first use, with a progress bar, and cache them on disk.

All kernels use `njit` from this module, so numba is imported only when one of them is first called,
and the bar is shown no matter which kernel is compiled first.

A kernel compiles quickly if it loops over scalars, leaves allocation to its caller, and calls few
functions, because each function is optimized once on its own and again in its caller. Code that few
fits need is made conditional on an optional argument; if the argument is None, the compiler skips
that code. A kernel that takes long to compile may have a version in numpy, which does the first
steps of a process if the kernel is not on disk; see `Kernel.pays`.
"""

from __future__ import annotations

import atexit
import gc
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

__all__ = ["PATIENCE", "SAID", "Kernel", "finish_bar", "njit"]

SAID: Final = "Compiling numeric kernels (once; see `dpexplain warm`)"

USUAL_KERNELS: Final = 8
"""Number of kernels that the default fit and its explanation compile if none is on disk."""

PATIENCE: Final = 1e8
"""Steps that numpy does in a process before a kernel that is not on disk is compiled for them.

numpy takes about as long for these steps as the compiler for the kernel, so the total is at most
about twice that of the better choice.
"""

_LOCK = threading.RLock()
_waiting: list[Kernel] = []


def njit(*functions: Callable[..., Any], **options: Any) -> Any:
    """Compile a function as ``numba.njit`` does, but import numba at the first call.

    No entry point for C callers is created, because none is needed.
    """
    if functions:
        return Kernel(functions[0], options)
    return lambda function: Kernel(function, options)


class Kernel:
    """Function that numba compiles when it is first called.

    Parameters
    ----------
    function : callable
        Function to compile.
    options : dict
        Options for ``numba.njit``.

    Attributes
    ----------
    dispatcher : numba dispatcher or None
        The compiled function; None before the first call to any kernel.
    patience : float
        Steps that `pays` still leaves to numpy.
    """

    eager = False
    """Whether kernels are compiled even for few steps, as by ``dpexplain warm``."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self.__wrapped__ = function
        self.__doc__ = function.__doc__
        self._options = options
        self.dispatcher: Any = None
        self.patience = PATIENCE
        with _LOCK:
            _waiting.append(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the compiled function."""
        if _waiting:
            _make_all()
        return self.dispatcher(*args, **kwargs)

    def pays(self, n_steps: float) -> bool:
        """Return whether to call this kernel for some steps instead of a version in numpy.

        The kernel is called if it is on disk or compiled, or if numpy has done enough steps.

        Parameters
        ----------
        n_steps : float
            Number of steps. It must not depend on records other than through releases, because a
            progress bar shows that a kernel is compiled.
        """
        if self.eager or self.patience <= n_steps or self._is_at_hand():
            self.patience = 0.0
            return True
        self.patience -= n_steps
        return False

    def _is_at_hand(self) -> bool:
        """Return whether the kernel is compiled, in this process or on disk."""
        if _waiting:
            _make_all()
        if self.dispatcher.signatures:
            return True
        folder, code = self.dispatcher.stats.cache_path, self.__wrapped__.__code__
        return folder is not None and any(
            Path(folder).glob(f"*.{code.co_name}-{code.co_firstlineno}.*.nbi")
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by name, so that each worker compiles its own kernel."""
        function = self.__wrapped__
        return _named, (function.__module__, function.__name__)


def _named(module: str, name: str) -> Any:
    from importlib import import_module

    return getattr(import_module(module), name)


def _make_all() -> None:
    """Create the dispatchers of all kernels, and connect kernels that call each other.

    numba looks up a called function in the globals of its caller, so each `Kernel` among those
    globals is replaced by its dispatcher.
    """
    with _LOCK:
        import numba

        _listen()
        made = list(_waiting)
        for kernel in made:
            kernel.dispatcher = numba.njit(no_cfunc_wrapper=True, **kernel._options)(  # type: ignore[call-overload]
                kernel.__wrapped__
            )
        for kernel in made:
            names = kernel.__wrapped__.__globals__
            for name in kernel.__wrapped__.__code__.co_names:
                if isinstance(names.get(name), Kernel):
                    names[name] = names[name].dispatcher
        # This comes last, because other threads may call a kernel as soon as none is waiting.
        del _waiting[: len(made)]


class CompilingProgress:
    """Progress bar for compiling the kernels that fits usually need.

    The settings, the schema and released numbers decide which kernels a private fit calls, so the
    bar and the compiled files reveal nothing about records. The bar is shown only in a terminal or
    a notebook, and is never logged.

    Attributes
    ----------
    silent : bool
        Whether nothing is shown.
    n_done : int
        Number of kernels compiled so far, not counting functions that they call.
    """

    def __init__(self) -> None:
        self.silent = False
        self.n_done = self._depth = 0
        self._bar: Any = None

    def on_start(self, event: Any) -> None:
        """Show the bar before the outermost kernel is compiled."""
        if not _ours(event):
            return
        self._depth += 1
        if self._depth > 1 or self.silent or not _somebody_waits():
            return
        if self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(
                desc=SAID, total=USUAL_KERNELS, initial=self.n_done, file=_stream(),
                bar_format="{desc} |{bar:12}| {n_fmt}/{total_fmt}", leave=True,
            )  # fmt: skip
        self._bar.total = max(self._bar.total, self.n_done + 1)

    def on_end(self, event: Any) -> None:
        """Advance the bar after the outermost kernel has been compiled."""
        if not _ours(event):
            return
        self._depth -= 1
        if self._depth == 0:
            self.n_done += 1
            if self._bar is not None:
                self._bar.n = self.n_done
                self._bar.refresh()

    def finish(self) -> None:
        """End the line of the bar, if the bar is shown."""
        bar, self._bar = self._bar, None
        if bar is not None:
            bar.total = bar.n
            bar.close()


class Pause:
    """Listener that pauses garbage collection while a kernel is compiled.

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
        """Restart the garbage collector after compilation, even if compilation failed."""
        if _ours(event):
            self._depth -= 1
            if self._depth == 0 and self._on:
                gc.enable()


def _ours(given: Any) -> bool:
    return bool(given.data["dispatcher"].py_func.__module__.startswith("dpexplain."))


def _in_notebook() -> bool:
    return "ipykernel.zmqshell" in sys.modules


def _somebody_waits() -> bool:
    return _in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def _stream() -> Any:
    """Return the stream of the bar; notebooks show stderr in red, like an error."""
    return sys.stdout if _in_notebook() else sys.stderr


PROGRESS = CompilingProgress()
_PAUSE = Pause()
_listening: list[Any] = []


def _listen() -> None:
    """Register the listeners with numba, once per process."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            PROGRESS.on_start(event)
            _PAUSE.on_start(event)

        def on_end(self, event: Any) -> None:
            _PAUSE.on_end(event)
            PROGRESS.on_end(event)

    if not _listening:
        _listening.append(Listener())
        event.register("numba:compile", _listening[0])  # type: ignore[no-untyped-call]


def finish_bar() -> None:
    """End the line of the progress bar; called when a fit or an explanation ends."""
    PROGRESS.finish()


atexit.register(finish_bar)
