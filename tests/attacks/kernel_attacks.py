"""Attacks on kernels: compiling one leaves a file and is shown by a progress bar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partialmethod
from typing import Any

import joblib
import numpy as np
import pytest

import dpexplain.models.locally_linear.gradients as gradients
from attack_kit import Attack, Finding, estimator, first_find, table
from dpexplain._utils.compiling import Kernel
from dpexplain.audit import record
from dpexplain.binning import FeatureBins
from dpexplain.models.boosting.records import binned, threads
from dpexplain.models.boosting.records._kernels_sums import visit_in_turn
from dpexplain.models.boosting.records.binned import Records
from dpexplain.models.boosting.records.threads import Team

_LIMITS = (
    "the size up to which all visits are made in one loop",
    "the size from which threads share the records",
    "one record",
)


def kernels_of_a_fit(name: str) -> Finding:
    """Fit neighbors on both sides of a limit, with the same answers: are other kernels called?"""

    def attempts() -> Iterator[Finding]:
        for limit in _LIMITS:
            n = 1 if limit == _LIMITS[2] else 30
            data = table(name, n)
            _, transcript = record(estimator(name), *data)
            some, fewer = (
                _kernels_called(
                    estimator(name), [part.iloc[:k] for part in data], limit, transcript.answers
                )
                for k in (n, n - 1)
            )
            only = sorted(some ^ fewer)
            yield Finding(bool(only), f"{limit} decides about {only}")

    return first_find(attempts())


def _kernels_called(
    model: Any, data: Sequence[Any], limit: str, answers: Sequence[Any]
) -> set[str]:
    """Return the names of the kernels that a fit with given answers calls."""
    called: set[str] = set()
    honest = Kernel.__call__

    def call(self: Kernel, *arguments: Any, **named: Any) -> Any:
        called.add(self.__wrapped__.__name__)
        return honest(self, *arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernel, "__call__", call)
        patch.setattr(visit_in_turn, "pays", lambda n_steps: True)
        patch.setattr(joblib, "cpu_count", lambda: 2)
        if limit == _LIMITS[0]:
            patch.setattr(binned, "_MOST_STACKED", 29 * data[0].shape[1])
        elif limit == _LIMITS[1]:
            patch.setattr(threads, "LEAST_SHARE", 15)
        record(model, *data, answers=answers)
    return called


def exact_numbers_decide(patch: pytest.MonkeyPatch) -> None:
    """Choose passes by the exact number of records, and skip what has none."""

    def stacked(self: Records, n_records: float, _honest: Any, **options: Any) -> Any:
        return _honest(self, len(self), **options)

    def sharing(self: Team, records: Any, n_records: float, _honest: Any) -> Any:
        return _honest(self, records, sum(map(len, records.local())))

    def index(self: FeatureBins, encoded: Any, _honest: Any) -> Any:
        return _honest(self, encoded) if len(encoded) else np.empty(0, np.uint8)

    def sums(self: Any, weights: Any, rows: Any, _honest: Any) -> Any:
        return _honest(self, weights, rows) if len(rows) else np.zeros(weights.shape, np.int64)

    for owner, method, made in (
        (Records, "stacked", stacked),
        (Team, "sharing", sharing),
        (FeatureBins, "index", index),
        (gradients.GradientSums, "_exact", sums),
    ):
        patch.setattr(owner, method, partialmethod(made, _honest=getattr(owner, method)))


ATTACKS = [
    Attack(
        "one record decides which kernels are compiled, as files and a bar show",
        kernels_of_a_fit,
        exact_numbers_decide,
        "the exact number of records decides how they are passed over",
    ),
]
