"""Attacks on what DP-EBM releases about pairs: sums, tables, and the grids of pair terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import numpy as np
import pandas as pd
import pytest

from attack_kit import Attack, Finding, estimator, first_find, replayed, schema_for
from dpexplain import Categorical, Numeric, models
from dpexplain.audit.records import without
from dpexplain.models.boosting import estimator as boosting_estimator
from dpexplain.models.boosting import fit as boosting_fit
from dpexplain.models.boosting import pairs as boosting_pairs
from dpexplain.models.boosting.pair_tables.joint_counts import by_pair
from dpexplain.models.boosting.pair_terms import choice
from dpexplain.models.boosting.pair_terms.choice import skips_choice
from dpexplain.models.boosting.records.binned import Records

_FEATURES = {
    "age": Numeric(0, 100),
    "dose": Numeric(0, 1),
    "ward": Categorical(["a", "b", "c"]),
    "stay": Numeric(0, 9, step=1),
}
_LOW, _HIGH = (20.0, 0.1, "a", 1.0), (80.0, 0.9, "c", 8.0)


def _has_no_pairs(name: str) -> bool:
    return "pair_budget_frac" not in getattr(models, name)().get_params()


def _has_no_pair_terms(name: str) -> bool:
    return "pairs" not in getattr(models, name)().get_params()


def one_record_of_pairs(name: str) -> Finding:
    """Put one record where features are cut in two: how far does it move the sums?

    It tips the balance of two equal groups at opposite ends of all features.
    """
    return first_find(_tipped_scales(name))


def one_record_of_tables(name: str) -> Finding:
    """Remove one of a few records whose features agree by chance: do other pairs get a table?

    In so small a table, one record often decides which pairs of features depend most.
    """
    return first_find(_by_chance(name))


def one_record_of_grids(name: str) -> Finding:
    """Put one record where the cells of a pair term are cut: what does it move?"""
    declared = [("age", "dose"), ("ward", "stay")]
    return first_find(
        finding for pairs in (declared, 3) for finding in _tipped_scales(name, pairs=pairs)
    )


def one_record_too_few_for_a_choice(name: str) -> Finding:
    """Remove the record without which there are too few for a choice: are pairs still chosen?

    Whether the fit makes its choice of pairs shows in the number of its releases. So if the exact
    number of records decided this, the fits of these two tables would differ with certainty.
    """
    fitted = estimator(name, features=_FEATURES, pairs="auto", epsilon=8.0)
    plan, budget = fitted._pair_plan(), fitted._budget(len(_FEATURES), fitted.schema)
    enough = next(n for n in count(1) if not skips_choice(plan, n, budget))
    return first_find(_tipped_scales(name, (enough, enough + 1), pairs="auto", epsilon=8.0))


def one_record_in_a_first_look(name: str) -> Finding:
    """Put one record where pairs are looked at: is there still a second look?

    A second look shows in the number of releases. So if the exact sums decided whether there is
    one, the fits with and without the record would differ with certainty.
    """
    return first_find(_tipped_scales(name, (1, 2, 21), pairs=3))


def _tipped_scales(
    name: str, sizes: Sequence[int] = (1, 3, 21, 601), **settings: Any
) -> Iterator[Finding]:
    """Replay fits without a record of the larger of two groups, or of two equal ones."""
    labels = list(schema_for(name).target.labels) if _is_class(name) else [-1.0, 3.0]
    for size in sizes:
        rows = [*[_LOW] * (size // 2), *[_HIGH] * (size - size // 2)]
        X = pd.DataFrame(rows, columns=list(_FEATURES))
        y = pd.Series([labels[k % 2] for k in range(len(rows))])
        for seed in (None, 1, 2):
            fitted = estimator(name, features=_FEATURES, **settings)
            data = X, y
            yield replayed(fitted, data, without(data, len(X) - 1), extreme_seed=seed)


def _by_chance(name: str) -> Iterator[Finding]:
    """Replay fits without the last of nine records with features drawn at random."""
    labels = list(schema_for(name).target.labels) if _is_class(name) else [-1.0, 3.0]
    for seed in range(12):
        high = np.random.default_rng(seed).random((9, len(_FEATURES))) < 0.5
        rows = [np.where(row, np.array(_HIGH, object), np.array(_LOW, object)) for row in high]
        data = pd.DataFrame(rows, columns=list(_FEATURES)), pd.Series([labels[0], *labels[:2] * 4])
        yield replayed(estimator(name, features=_FEATURES), data, without(data, 8))


def _is_class(name: str) -> bool:
    return hasattr(schema_for(name).target, "labels")


def cut_by_the_records(patch: pytest.MonkeyPatch) -> None:
    """Cut each feature at the median of the records instead of the noisy counts."""
    honest = boosting_pairs.pair_sums

    def pair_sums(records: Records, upper: Sequence[Any]) -> Any:
        middles = [np.median(bins) if len(bins) else 0.0 for bins in records._bins]
        cut = [np.arange(len(u)) > m for u, m in zip(upper, middles, strict=True)]
        return honest(records, cut)

    patch.setattr(boosting_pairs, "pair_sums", pair_sums)


def tables_by_exact_counts(patch: pytest.MonkeyPatch) -> None:
    """Let exact joint counts decide which pairs get a table, instead of noisy distances."""
    honest, exact = Records.joint_counts, []

    def joint_counts(self: Records, groups: Any, pairs: Any) -> Any:
        counts = honest(self, groups, pairs)
        exact[:] = by_pair(counts, groups, pairs)
        return counts

    def strengths(*released: Any) -> Any:
        return np.array([(t**2).sum() / max(t.sum() ** 2, 1) for t in exact], dtype=np.float64)

    patch.setattr(Records, "joint_counts", joint_counts)
    patch.setattr(boosting_pairs, "strengths", strengths)


def cells_by_the_records(patch: pytest.MonkeyPatch) -> None:
    """Cut each pair at the medians of the records instead of the noisy counts."""
    honest = Records.cross

    def cross(self: Records, crossing: Any) -> None:
        honest(self, crossing)
        own = [self._bins[k] for k in crossing.features]
        upper = [bins > (np.median(bins) if len(bins) else 0.0) for bins in own]
        self._bins[crossing.column] = (2 * upper[0] + upper[1]).astype(np.uint8)

    patch.setattr(Records, "cross", cross)


def skipped_by_the_records(patch: pytest.MonkeyPatch) -> None:
    """Compare the exact number of records with what a choice needs, instead of the noisy one."""
    honest = boosting_estimator.fit_private

    def fit_private(binned: Any, records: Any, *parts: Any, **settings: Any) -> Any:
        exact = sum(map(len, records.local()))
        patch.setattr(
            boosting_fit, "skips_choice", lambda plan, _, budget: skips_choice(plan, exact, budget)
        )
        return honest(binned, records, *parts, **settings)

    patch.setattr(boosting_estimator, "fit_private", fit_private)


def second_look_by_the_records(patch: pytest.MonkeyPatch) -> None:
    """Take a second look if the exact contrasts show an interaction, instead of the noisy ones."""
    honest, exact = choice.exact_contrasts, []

    def exact_contrasts(*parts: Any) -> Any:
        exact[:] = honest(*parts)
        return list(exact)

    def could_gain(self: Any, found: Any) -> float:
        return np.inf if any(each.any() for each in exact) else -np.inf

    patch.setattr(choice, "exact_contrasts", exact_contrasts)
    patch.setattr(choice._Tests, "could_gain", could_gain)


ATTACKS = [
    Attack(
        "one record decides where features are cut in two for the sums of pairs",
        one_record_of_pairs,
        cut_by_the_records,
        "features are cut at the median of the records",
        leaves_out=_has_no_pairs,
    ),
    Attack(
        "one record decides which pairs of features get a table",
        one_record_of_tables,
        tables_by_exact_counts,
        "exact joint counts decide",
        leaves_out=_has_no_pairs,
    ),
    Attack(
        "one record decides where the cells of a pair term are cut",
        one_record_of_grids,
        cells_by_the_records,
        "pairs are cut at the medians of the records",
        leaves_out=_has_no_pair_terms,
    ),
    Attack(
        "one record decides whether there are enough for a choice of pairs",
        one_record_too_few_for_a_choice,
        skipped_by_the_records,
        "the exact number of records decides",
        leaves_out=_has_no_pair_terms,
    ),
    Attack(
        "one record decides whether there is a second look at pairs",
        one_record_in_a_first_look,
        second_look_by_the_records,
        "the exact contrasts decide",
        leaves_out=_has_no_pair_terms,
    ),
]
