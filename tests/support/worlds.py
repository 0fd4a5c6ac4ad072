"""Two worlds that differ in one record: the same public call in both, with the same answers.

Everything private reaches the world through the answers of mechanisms. So two worlds whose answers
are forced to be the same have to look the same to whoever sees what a call says, raises, writes,
returns and leaves in the objects it was given, up to the last bit. What differs is a deterministic
trace of a record, whichever way it takes: `differences` names the ways.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from numpy.random import bit_generator

from canary_channels import Listener
from dpexplain.accounting import PrivacyLedger
from dpexplain.accounting._ledger import duplicates
from dpexplain.audit.replay import same_value
from dpexplain.mechanisms import Mechanism, SeededCoins
from dpexplain.models import private

Call = Callable[..., Any]
"""``call(folder, *data)``: what a user does with private data, and what it gives back."""

# Passes per second of a progress bar, addresses of objects, and those of locks in logs.
_VOLATILE = re.compile(
    r"[\d.]+ ?(?:it|fit|s)/(?:s|it|fit)\b|\d\d:\d\d|0x[0-9a-f]{6,}|lock \d{9,}", re.IGNORECASE
)


def differences(call: Call, here: Sequence[Any], there: Sequence[Any]) -> list[str]:
    """Make a call with the data of two worlds, and name what shows in which it was.

    Parameters
    ----------
    call : callable
        ``call(folder, *data)``. It fits, draws, saves into the folder, prints; what it returns is
        looked through as well. It runs in one thread.
    here, there : sequence
        Data of the two worlds, such as X and y. Where coins decide on records, they go by place:
        the worlds differ in their last record then.

    Returns
    -------
    list of str
        Empty where nobody can tell the worlds apart.
    """
    answers: list[Any] = []
    first = _visible(call, here, answers, replay=False)
    second = _visible(call, there, answers, replay=True)
    names = sorted(first.keys() | second.keys())
    return [n for n in names if not _same(first.get(n), second.get(n))]


def _visible(call: Call, data: Sequence[Any], answers: list[Any], *, replay: bool) -> Any:
    """Everything that a call makes visible, by the way it takes."""
    # Its name, which may stand in a message, is the same in both worlds.
    folder = Path(tempfile.gettempdir()) / f"dpexplain-world-{os.getpid()}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shown: dict[str, Any] = {}
    try:
        with _forced(answers, replay=replay) as left, Listener() as listener:
            try:
                returned = call(folder, *data)
            except Exception as error:
                shown["the error"] = f"{type(error).__name__}: {error}"
                returned = None
        shown["what was said"] = _VOLATILE.sub("", listener.text)
        shown["how many answers there are"] = len(answers) if not replay else len(answers) - left()
        shown |= dict(_parts("what is returned", returned))
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        shown |= {f"the file {p.relative_to(folder)}": p.read_bytes() for p in files}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return shown


@contextmanager
def _forced(answers: list[Any], *, replay: bool) -> Iterator[Callable[[], int]]:
    """Force answers, or note them; all other randomness repeats."""
    place = 0

    def answered(honest: Callable[..., Any]) -> Callable[..., Any]:
        def answer(self: Mechanism, query: Any) -> Any:
            nonlocal place
            drawn = honest(self, query)
            place += 1
            if not replay:
                answers.append(drawn.copy())
                return drawn
            kept = answers[place - 1] if place <= len(answers) else drawn
            return kept.copy() if kept.shape == drawn.shape else drawn

        return answer

    stream = np.random.default_rng(0)
    identities = iter(uuid.UUID(int=k) for k in range(10**6))
    with pytest.MonkeyPatch.context() as patch, mpl.rc_context({"svg.hashsalt": "a"}):
        for method in ("release", "choose"):
            patch.setattr(Mechanism, method, answered(getattr(Mechanism, method)))
        patch.setattr(private, "secret_coins", lambda: _Placed(1))
        patch.setattr(private, "SeededCoins", lambda seed: _Placed(1))
        patch.setattr(bit_generator, "randbits", lambda n: int(stream.integers(2**62)))
        patch.setattr(uuid, "uuid4", lambda: next(identities))
        patch.setattr(duplicates, "_CHARGED", {})  # ledgers of the other world are out of sight
        yield lambda: len(answers) - place


class _Placed(SeededCoins):
    """Coins and orders that go by place: those of the first do not depend on how many follow."""

    def permutation(self, n: int) -> Any:
        """Order places by numbers of their own."""
        return np.argsort(self.random(n))


def _parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A returned value in parts, so that a difference has a name."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _parts(f"{name}: {key}", part)
    elif isinstance(value, PrivacyLedger):
        yield name, value.to_json()  # what else it has is the state of its file and locks
    elif hasattr(value, "get_params"):
        for key, part in vars(value).items():
            yield from _parts(f"{name}.{key}", part)
    else:
        yield name, value


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, pd.DataFrame | pd.Series | pd.Index):
        return type(first) is type(second) and bool(first.equals(second))
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(_same(first[k], second[k]) for k in first)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(_same, first, second))
    if is_dataclass(first) and not isinstance(first, type):
        return type(first) is type(second) and _same(vars(first), vars(second))
    return same_value(first, second)


__all__ = ["Call", "differences"]
