"""Recognise in this process that the same data come under two names.

The fingerprint is a hash keyed with random bytes of this process. It is kept in memory only: a
hash without a key, once published, would confirm a guess of the whole table.
"""

from __future__ import annotations

import hmac
import os
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from dpexplain._tables import kind_in_parts
from dpexplain.exceptions import PrivacyWarning

__all__ = ["recognise"]

_KEY = os.urandom(32)
_NAME_OF_DIGEST: dict[bytes, str] = {}


def recognise(X: Any, y: Any, dataset: str) -> None:
    """Warn if these records were seen under another name; remember them otherwise.

    Tables that are read part by part are not looked at: it would take a pass of its own, and
    their rows stand in no certain order.

    Parameters
    ----------
    X : DataFrame or array-like of shape (n_samples, n_features)
        Records; whatever their values are, nothing is raised and
        no warning speaks of them.
    y : array-like of shape (n_samples,)
        Their targets.
    dataset : str
        Name of the data set they are said to belong to.

    Warns
    -----
    PrivacyWarning
        If the same records came under another name.
    """
    if kind_in_parts(X):
        return
    try:
        # A warning that some values cause and others do not would tell as much as an error.
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            digest = _digest(X, y)
    except Exception:  # an error here would tell something about a value
        return
    known = _NAME_OF_DIGEST.setdefault(digest, dataset)
    if known != dataset:
        warnings.warn(
            f"the data of {dataset!r} were seen before as {known!r}, so two ledgers count the "
            "spending of one data set; use one PrivacyLedger for both.",
            PrivacyWarning,
            stacklevel=3,
        )


def _digest(X: Any, y: Any) -> bytes:
    state = hmac.new(_KEY, digestmod="blake2b")
    for column in (*_columns(X), y):
        values = np.asarray(column)
        if values.dtype.kind in "biuf":
            content = np.ascontiguousarray(values, dtype=np.float64).data.cast("B")
        elif values.dtype.kind in "mM":
            content = np.ascontiguousarray(values.astype(np.int64)).data.cast("B")
        else:
            content = memoryview("\x1f".join(map(repr, values.ravel().tolist())).encode())
        state.update(f"{values.shape}".encode())
        state.update(content)
    return state.digest()


def _columns(X: Any) -> Iterable[Any]:
    """Yield columns by name for a table, which may hold them in any order."""
    if hasattr(X, "columns"):
        return [X[name] for name in sorted(X.columns, key=str)]
    return list(np.asarray(X).T)
