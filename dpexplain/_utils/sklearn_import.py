"""Import scikit-learn's base classes without SciPy's statistics.

`sklearn.base` imports `scipy.stats` for a function that it does not call. This takes a third of the
time that an estimator takes to import. SciPy imports its parts on first use anyway, so nobody
notices that this one is missing.
"""

from __future__ import annotations

import sys
import threading
from importlib import import_module
from types import ModuleType
from typing import Any

_SLOW = "scipy.stats"
_LOCK = threading.Lock()


class _Placeholder(ModuleType):
    """Stand-in for a module, imported when one of its attributes is used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__path__":
            raise AttributeError(name)
        _remove(self)
        return getattr(import_module(_SLOW), name)


def _remove(placeholder: ModuleType) -> None:
    if sys.modules.get(_SLOW) is placeholder:
        del sys.modules[_SLOW]


def import_sklearn_base() -> None:
    """Import `sklearn.base` without `scipy.stats`, unless one is imported already."""
    with _LOCK:
        if "sklearn.base" in sys.modules or _SLOW in sys.modules:
            return
        placeholder = sys.modules[_SLOW] = _Placeholder(_SLOW)
        try:
            import_module("sklearn.base")
        finally:
            _remove(placeholder)
