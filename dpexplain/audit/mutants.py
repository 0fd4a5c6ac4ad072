"""Planted mistakes that audits must detect.

Each mutant turns a private estimator into one that states the same guarantee but violates it. Never
use mutants outside tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dpexplain.audit.mutant_mixins import (
    CategoriesSeen,
    ClassesSeen,
    CountedTwice,
    EverybodySampled,
    FirstSilent,
    FirstUnused,
    ForgottenClip,
    HalvedSource,
    NoiseOfTheMean,
    NoMargin,
    RangeSeen,
    RealizedBatchSize,
    RecordsForPersons,
    SameEachTime,
    ShuffledBatches,
    SizeKept,
    SmallerScale,
    WrongSensitivity,
    with_mechanism,
    with_source,
)
from dpexplain.schema import Categorical, Classes, Range


@dataclass(frozen=True)
class Mutant:
    """Mistake to plant in an estimator, and the audit tiers that must detect it.

    Parameters
    ----------
    name : str
        Description of the mistake.
    seen_by : frozenset of int
        Tiers that must detect the mistake in every run.
    mixin : type
        Class that makes the mistake; the faulty estimator inherits from it before the estimator
        class.
    applies : callable
        Function that returns whether an estimator can make this mistake.
    lone_class : bool, default=False
        Whether the mistake can be detected only if no other record has the canary's class.
    settings : mapping, default={}
        Parameters under which the mistake can be detected, for the estimators that have them.

    Examples
    --------
    >>> from dpexplain.audit import MUTANTS, Mutant
    >>> all(isinstance(mutant, Mutant) and mutant.seen_by for mutant in MUTANTS)
    True
    """

    name: str
    seen_by: frozenset[int]
    mixin: type
    applies: Callable[[Any], bool]
    lone_class: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)

    def plant(self, estimator: Any) -> Any:
        """Create a version of an estimator that makes this mutant's mistake.

        Parameters
        ----------
        estimator : private estimator
            Unfitted estimator, which is not modified.

        Returns
        -------
        private estimator
            Instance of a faulty subclass, with the same parameters.
        """
        honest = type(estimator)
        return type(honest.__name__, (self.mixin, honest), {})(**estimator.get_params(deep=False))


def _samples(estimator: Any) -> bool:
    return hasattr(estimator, "_sampler")


_SAMPLED: Mapping[str, Any] = {"sampling_probability": 0.4, "n_steps": 6}


def _always(estimator: Any) -> bool:
    return True


def _has_clip(estimator: Any) -> bool:
    return isinstance(estimator.get_params(deep=False).get("clip"), float)


def _has_categories(estimator: Any) -> bool:
    return any(isinstance(f, Categorical) for f in estimator.schema.features.values())


def _classifies(estimator: Any) -> bool:
    return estimator._target_kind is Classes


def _predicts_numbers(estimator: Any) -> bool:
    return estimator._target_kind is Range


def _add_remove(estimator: Any) -> bool:
    return bool(estimator.adjacency == "add_remove")


_SEEN_IN_NOISE = frozenset({2, 3, 4})
_SEEN_IN_SUMS = frozenset({1, 3, 4})
_SEEN_IN_MODEL = frozenset({1, 4})

MUTANTS: tuple[Mutant, ...] = (
    Mutant("noise halved in the sampler", _SEEN_IN_NOISE, with_source(HalvedSource), _always),
    Mutant("noise halved in the plan", _SEEN_IN_NOISE | {1}, with_mechanism(SmallerScale), _always),
    Mutant("wrong sensitivity", _SEEN_IN_SUMS, with_mechanism(WrongSensitivity), _always),
    Mutant("records counted twice", _SEEN_IN_SUMS, CountedTwice, _always),
    Mutant("clip forgotten", _SEEN_IN_SUMS, ForgottenClip, _has_clip),
    Mutant("histogram noise forgotten", _SEEN_IN_NOISE, with_mechanism(FirstSilent), _always),
    Mutant("histogram noise unused", _SEEN_IN_MODEL, with_mechanism(FirstUnused), _always),
    Mutant("category list from data", _SEEN_IN_MODEL, CategoriesSeen, _has_categories),
    Mutant("class list from data", _SEEN_IN_MODEL, ClassesSeen, _classifies, lone_class=True),
    Mutant("target range from data", _SEEN_IN_MODEL, RangeSeen, _predicts_numbers),
    Mutant("exact number of records kept", _SEEN_IN_MODEL, SizeKept, _add_remove),
    Mutant("noise of persons charged for records", frozenset({1}), RecordsForPersons, _always),
    Mutant("seed reused between fits", frozenset({2, 4}), with_source(SameEachTime), _always),
    Mutant(
        "shuffled batches instead of Poisson samples",
        frozenset({1}),
        ShuffledBatches,
        _samples,
        settings=_SAMPLED,
    ),
    Mutant("everybody sampled", frozenset({3}), EverybodySampled, _samples, settings=_SAMPLED),
    Mutant(
        "division by the realized batch size",
        frozenset({1}),
        RealizedBatchSize,
        _samples,
        settings=_SAMPLED,
    ),
    Mutant("clip margin removed", frozenset({1}), NoMargin, _samples),
    Mutant(
        "noise of the mean added to the sum",
        _SEEN_IN_NOISE | {1},
        with_mechanism(NoiseOfTheMean),
        _samples,
    ),
)
"""Every mistake, with the tiers that must detect it."""
