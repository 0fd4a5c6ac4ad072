"""Forced answers and neighboring tables, for the replay of fits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from dpexplain.audit.records import without
from dpexplain.mechanisms import Mechanism


def driven(seed: int, *labels: str, bits: int = 35) -> Any:
    """Force answers that push curves and scores to any value.

    Without labels, they are those of all phases but the noisy counts.
    """
    rng = np.random.default_rng(seed)

    def forge(phase: Any, answer: Any) -> Any:
        if phase.label in ("count", "histograms") or (labels and phase.label not in labels):
            return answer
        return rng.choice([-1, 1], answer.shape) * rng.integers(0, 2**bits, answer.shape)

    return forge


def quiet(phase: Any, answer: Any) -> Any:
    """Force boosting answers of zero, which move no score."""
    return np.zeros_like(answer) if phase.label == "boosting" else answer


def neighbor_of(data: Any, adjacency: str, row: Any, label: Any = None, absent: int = 0) -> Any:
    """Give the first record these values, or drop the record at position `absent`."""
    if adjacency == "add_remove":
        return without(data, absent)
    X, y = (part.copy() for part in data)
    X.iloc[0] = row
    if label is not None:
        y.iloc[0] = label
    return X, y


@contextmanager
def same_answers(answers: list[Any]) -> Iterator[pytest.MonkeyPatch]:
    """Give two worlds the same noisy answers: the first world fills an empty list with them."""
    given = iter(tuple(answers))

    def forced(honest: Any) -> Any:
        def answer(self: Any, query: Any) -> Any:
            drawn, kept = honest(self, query), next(given, None)
            if kept is None:
                answers.append(drawn)
            return (drawn if kept is None else kept).copy()

        return answer

    with pytest.MonkeyPatch.context() as patch:
        for method in ("release", "choose"):
            patch.setattr(Mechanism, method, forced(getattr(Mechanism, method)))
        yield patch
