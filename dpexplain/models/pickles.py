"""Version check of pickled models."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

from sklearn.base import BaseEstimator

from dpexplain._utils.version import __version__

_VERSION = "_dpexplain_version"


class VersionedEstimator(BaseEstimator):
    """Base class for estimators whose pickles contain the version of this library.

    Loading a pickle written by a different version causes a warning, because the attributes of a
    fitted model may change between versions.
    """

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """Return the names once per class; scikit-learn reads the signature each time."""
        return super()._get_param_names()

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), _VERSION: __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        written = state.get(_VERSION, "an earlier version")
        if written != __version__:
            warnings.warn(_advice(type(self).__name__, str(written)[:40]), UserWarning, 2)
        super().__setstate__({name: each for name, each in state.items() if name != _VERSION})


def _advice(name: str, written: str) -> str:
    earlier = f"dpexplain=={written}" if written[:1].isdigit() else written
    return (
        f"this {name} was pickled by {earlier} and loaded by dpexplain=={__version__}, so it may "
        f"fail or predict differently. Load it with {earlier} instead, and use that version to "
        "save model.explain_global() with dpexplain.io.save: later versions can read that file. "
        "Refitting would spend privacy budget again."
    )
