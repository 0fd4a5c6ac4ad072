"""Records with values that occur nowhere else, and a search for them in all outputs.

The secrets occur in features, target, index and groups, as numbers within and beyond the public
bounds, strings, dates and bytes. The number of records is a secret as well.
"""

from __future__ import annotations

import gc
import math
import re
import struct
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from private_models import is_regression, records_for

N_RECORDS = 397
WORD = "Quillspoon"
AGE = 73.8190426317
TARGET = 6.37295810429
BEYOND = 738190426317.25
DATE = pd.Timestamp("2087-05-13 03:14:15")

# The records as given, scaled to the unit interval and to [-1, 1], in double and single precision.
_EXACT = [AGE, AGE / 100, AGE / 50 - 1, TARGET, TARGET / 10, TARGET / 5 - 1, BEYOND, DATE.value]
_NUMBERS = np.unique([*_EXACT, *(float(np.float32(value)) for value in _EXACT)])
_LAYOUTS = [struct.pack(f"{order}d", value) for value in _NUMBERS for order in "<>"]
_ENCODED = [WORD.encode(codec) for codec in ("utf-8", "utf-16-le", "utf-32-le")]
# Ten digits do not meet by chance; four do, but not in the few words of a message.
_LONG = re.compile(rf"{WORD}|73\.8190426|\b738190426|7\.38190426|6\.372958104|2087-05-13")
_SHORT = re.compile(rf"{WORD}|\b73\.8|\b73819|\b7\.38|\b6\.37|2087-05-13|\b{N_RECORDS}\b")


def canary_records(name: str) -> tuple[pd.DataFrame, pd.Series, np.ndarray]:
    """Make features, target and groups to fit a model on."""
    X, y = records_for(name, N_RECORDS)
    X, y = X.astype(object), y.astype(object)
    ages = [AGE, BEYOND, -BEYOND, f"{WORD}-age", DATE, WORD.encode(), int(BEYOND), f" {AGE} "]
    for place, cell in enumerate(ages):
        X.iat[place, 0] = cell
    for place, cell in enumerate([f"{WORD}-job", AGE, BEYOND, DATE, f"{WORD}\n"]):
        X.iat[place + 20, 1] = cell
    targets = [f"{WORD}-target", BEYOND, DATE] + ([TARGET] if is_regression(name) else [])
    for place, cell in enumerate(targets):
        y.iat[place + 40] = cell
    X.index = y.index = pd.Index([f"{WORD}-row-{i}" for i in range(N_RECORDS)])
    groups = np.array([f"{WORD}-person-{i // 2}" for i in range(N_RECORDS)], dtype=object)
    return X, y, groups


class Holder:
    """Carries records through frames without showing them."""

    def __init__(self, name: str) -> None:
        self.X, self.y, self.groups = canary_records(name)

    def __repr__(self) -> str:
        """Say nothing."""
        return "<records>"


def in_text(text: str) -> list[str]:
    """List secrets in a long text, such as a file of numbers."""
    return sorted(set(_LONG.findall(text)))


def in_words(text: str) -> list[str]:
    """List secrets in a message, where few digits suffice to reveal them."""
    return sorted(set(_SHORT.findall(text)))


def in_bytes(raw: bytes) -> list[str]:
    """List secrets in a binary file."""
    found = [repr(layout) for layout in (*_LAYOUTS, *_ENCODED) if layout in raw]
    return found + in_text(raw.decode("latin-1"))


def in_object(root: Any) -> list[str]:
    """List secrets in everything that can be reached from an object.

    Follows attributes, containers, closures, and array views to their owners; not modules,
    classes or the globals of functions.
    """
    return [f"{type(each).__name__} {what}" for each in reachable(root) for what in _of(each)]


def reachable(root: Any) -> Iterator[Any]:
    """Yield everything that an object keeps alive, each once."""
    seen: dict[int, Any] = {}  # holds the objects, so that no address is used twice
    waiting = [root]
    while waiting:
        each = waiting.pop()
        if id(each) in seen or isinstance(each, types.ModuleType | type) or _of_numba(each):
            continue
        seen[id(each)] = each
        yield each
        waiting += _parts(each)


def _of_numba(each: Any) -> bool:
    """Whether an object is compiled code, from which the whole compiler can be reached."""
    return type(each).__module__.startswith("numba")


def _parts(each: Any) -> list[Any]:
    if isinstance(each, types.FunctionType):
        return [cell.cell_contents for cell in each.__closure__ or () if cell is not each]
    if isinstance(each, np.ndarray):
        objects = each.ravel().tolist() if each.dtype == object else []
        return [*objects, *([] if each.base is None else [each.base])]
    return gc.get_referents(each)


def _of(each: Any) -> list[str]:
    """Name the secrets that an object holds directly."""
    if isinstance(each, str):
        return in_text(each)
    if isinstance(each, bytes | bytearray):
        return in_bytes(bytes(each))
    if isinstance(each, bool):
        return []
    if isinstance(each, int | float | np.number):
        number = float(each) if abs(each) < 2**63 else math.inf
        return _numbers(np.array([number])) + (_count(each) if isinstance(each, int) else [])
    if isinstance(each, np.ndarray):
        values = each.astype(np.float64).ravel() if each.dtype.kind in "iuf" else np.empty(0)
        return _numbers(values) + [what for size in each.shape for what in _count(size)]
    if isinstance(each, list | tuple | pd.DataFrame | pd.Series | pd.Index):
        return _count(len(each))
    return []


def _numbers(values: np.ndarray) -> list[str]:
    # Noise meets none of them to twelve digits.
    return [
        f"{secret!r}"
        for secret in _NUMBERS
        if (np.abs(values - secret) <= 1e-12 * abs(secret)).any()
    ]


def _count(size: int) -> list[str]:
    return ["number of records"] if size == N_RECORDS else []
