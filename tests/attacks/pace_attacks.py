"""An attack on the step lengths of DP-EBM, which follow the releases of the first passes."""

from __future__ import annotations

from typing import Any

import pytest

from attack_kit import Attack, Finding, estimator, first_find, replayed, table, without
from dpexplain import models
from dpexplain.models.boosting import estimator as boosting_estimator
from dpexplain.models.boosting import fit as boosting_fit


def _has_no_passes_to_pace(name: str) -> bool:
    return "pairs" not in getattr(models, name)().get_params()


def one_record_of_steps(name: str) -> Finding:
    """Remove a record: are the later steps, and so all later sums, still those of the answers?"""
    return first_find(
        replayed(estimator(name), data, without(data, 0), extreme_seed=seed)
        for n in (1, 2, 31, 400)
        for seed in (None, 1, 2)
        for data in [table(name, n)]
    )


def paced_by_the_records(patch: pytest.MonkeyPatch) -> None:
    """Divide the squared contrasts by the exact number of records instead of the noisy one."""
    honest_fit, honest_paces = boosting_estimator.fit_private, boosting_fit.paces

    def fit_private(binned: Any, records: Any, *parts: Any, **settings: Any) -> Any:
        exact = sum(map(len, records.local()))
        patch.setattr(
            boosting_fit,
            "paces",
            lambda *released: honest_paces(*released) * (exact + 1) / binned.n_samples,
        )
        return honest_fit(binned, records, *parts, **settings)

    patch.setattr(boosting_estimator, "fit_private", fit_private)


ATTACKS = [
    Attack(
        "one record decides how long the later steps are",
        one_record_of_steps,
        paced_by_the_records,
        "the exact number of records decides",
        leaves_out=_has_no_passes_to_pace,
    ),
]
