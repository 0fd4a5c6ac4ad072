"""Modules that are imported when they are first used.

An estimator needs neither pandas nor SciPy's statistics before it sees a table, and they take half
of the time of its import. Models, explanations, schemas and tables take `pd` from here, and
`sklearn.base`, which imports both for functions that it does not call, is imported without them.
"""

from __future__ import annotations

import sys
import threading
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["LazyModule", "import_sklearn_base", "pd"]

_SLOW = ("pandas", "scipy.stats")
_LOCK = threading.Lock()


class LazyModule(ModuleType):
    """Stand-in for a module, which is imported when an attribute is first used."""

    def __getattr__(self, name: str) -> Any:
        # Python looks for special attributes of modules that nobody uses; packages have a path.
        if name.startswith("__") and name != "__path__":
            raise AttributeError(name)
        self.step_aside()
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)  # found without this method from now on
        return value

    def step_aside(self) -> None:
        """Let the next import of this name find the module itself."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]


if TYPE_CHECKING:
    import pandas as pd
else:
    pd = LazyModule("pandas")


def import_sklearn_base() -> None:
    """Import `sklearn.base` without what takes long to import and is not used."""
    with _LOCK:
        if "sklearn.base" in sys.modules:
            return
        lazy = {name: LazyModule(name) for name in _SLOW if name not in sys.modules}
        sys.modules.update(lazy)
        try:
            import_module("sklearn.base")
        finally:
            for module in lazy.values():
                module.step_aside()
