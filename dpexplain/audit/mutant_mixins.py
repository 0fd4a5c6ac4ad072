"""Mixins that plant mistakes in private estimators.

The mixins change the noise source, the mechanism, the records used, the attributes stored, or the
way samples are drawn. Never use them outside tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpexplain.accounting.unit import RECORD, Unit
from dpexplain.mechanisms import AnyPhase, Coins, Mechanism, NoiseSource, exponential
from dpexplain.schema import Categorical, Range, Schema

Integers = NDArray[np.int64]

_OF_COUNTS = ("count", "histograms")
"""Labels of phases whose sums are not clipped."""


# --- noise ------------------------------------------------------------------------------------


class _Disguised(NoiseSource):
    """Base class for faulty noise sources that pose as the honest source they wrap."""

    def __init__(self, honest: NoiseSource) -> None:
        super().__init__(honest.backend)
        self._honest = honest

    @property
    def private(self) -> bool:
        """Whether the honest source is private."""
        return self._honest.private

    @property
    def description(self) -> str:
        """Description of the honest source."""
        return self._honest.description


class HalvedSource(_Disguised):
    """Mutant: draws half of the noise, and makes choices with twice the epsilon."""

    def draw_int(self, sigma_int: float, size: int) -> Integers:
        """Draw half of the honest noise."""
        return self._honest.draw_int(sigma_int, size) // 2

    def draw_laplace(self, scale_int: float, size: int) -> Integers:
        """Draw half of the honest noise."""
        return self._honest.draw_laplace(scale_int, size) // 2

    def choose(self, utilities: Integers, epsilon: float, spread: float) -> Integers:
        """Choose with twice the epsilon."""
        return self._honest.choose(utilities, 2.0 * epsilon, spread)


class SameEachTime(_Disguised):
    """Mutant: draws the same noise in every fit."""

    def __init__(self, honest: NoiseSource) -> None:
        super().__init__(honest)
        self._rng = np.random.default_rng(1729)

    def draw_int(self, sigma_int: float, size: int) -> Integers:
        """Draw normal noise from a generator with a known seed."""
        return np.rint(sigma_int * self._rng.standard_normal(size)).astype(np.int64)

    def draw_laplace(self, scale_int: float, size: int) -> Integers:
        """Draw Laplace noise from a generator with a known seed."""
        return np.rint(self._rng.laplace(scale=scale_int, size=size)).astype(np.int64)

    def choose(self, utilities: Integers, epsilon: float, spread: float) -> Integers:
        """Choose with random bits from a generator with a known seed."""
        return exponential.choose(utilities, epsilon, spread, self._rng.bytes)


def with_source(disguise: type[_Disguised]) -> type:
    """Create an estimator mixin that replaces the noise source with a faulty one.

    Parameters
    ----------
    disguise : type
        Faulty noise source, which wraps the estimator's own.

    Returns
    -------
    type
    """

    class NoiseMistake:
        def _noise_source(self) -> NoiseSource:
            return disguise(super()._noise_source())  # type: ignore[misc]

    return NoiseMistake


# --- the mechanism of a fit -------------------------------------------------------------------


class _Tampered(Mechanism):
    """Base class for faulty mechanisms that wrap the mechanism of a fit."""

    def __init__(self, honest: Mechanism, *, first: str = "", factor: float = 1.0) -> None:
        super().__init__(honest.source)
        honest.limit_to(None)  # a limit would refuse noise that was not charged
        self._honest = honest
        self._first = first
        self._factor = factor
        self._label = ""

    def begin(self, phase: AnyPhase) -> None:
        """Begin an altered version of the phase."""
        self._label = phase.label
        self._honest.begin(self._tampered(phase))

    def release(self, query: Integers) -> Integers:
        """Delegate to the wrapped mechanism."""
        return self._honest.release(query)

    def choose(self, utilities: Integers) -> Integers:
        """Delegate to the wrapped mechanism."""
        return self._honest.choose(utilities)

    def finish(self) -> None:
        """Delegate to the wrapped mechanism."""
        self._honest.finish()

    def _forget(self) -> None:
        if hasattr(self, "_honest"):
            self._honest._forget()
        super()._forget()

    def _tampered(self, phase: AnyPhase) -> AnyPhase:
        return phase


class SmallerScale(_Tampered):
    """Mutant: states and draws half of the noise that the ledger was charged for."""

    def _tampered(self, phase: AnyPhase) -> AnyPhase:
        return phase.with_noise(0.5)


class WrongSensitivity(_Tampered):
    """Mutant: states half of the correct sensitivity."""

    def _tampered(self, phase: AnyPhase) -> AnyPhase:
        return phase.with_sensitivity(0.5)


class _Unclipped(_Tampered):
    """Mechanism that releases widely clipped sums with noise meant for a narrow clip."""

    def release(self, query: Integers) -> Integers:
        """Release sums with too little noise for their clip; counts are unaffected."""
        if self._label in _OF_COUNTS:
            return self._honest.release(query)
        wide = np.rint(query * self._factor).astype(np.int64)
        return np.rint(self._honest.release(wide) / self._factor).astype(np.int64)


class FirstSilent(_Tampered):
    """Mutant: omits the noise of the first phase."""

    def begin(self, phase: AnyPhase) -> None:
        """Begin a phase, and set its noise to zero if it is the first."""
        super().begin(phase)
        if phase.label == self._first:
            self._honest._noise[:] = 0


class FirstUnused(_Tampered):
    """Mutant: draws noise for the first phase, but releases exact answers."""

    def release(self, query: Integers) -> Integers:
        """Release exact sums in the first phase, and noisy sums later."""
        noisy = self._honest.release(query)
        return query.copy() if self._label == self._first else noisy

    def choose(self, utilities: Integers) -> Integers:
        """Choose the best candidate in the first phase, and at random later."""
        chosen = self._honest.choose(utilities)
        return utilities.argmax(axis=1) if self._label == self._first else chosen


def with_mechanism(tampered: type[_Tampered]) -> type:
    """Create an estimator mixin that replaces the mechanism with a faulty one.

    Parameters
    ----------
    tampered : type
        Faulty mechanism, which wraps the mechanism of a fit.

    Returns
    -------
    type
    """

    class MechanismMistake:
        def _fit_released(self, X: Any, y: Any, schema: Schema, mechanism: Any) -> None:
            labels = [event.label for event in self._events(schema.n_features)]  # type: ignore[attr-defined]
            first = "histograms" if "histograms" in labels else labels[0]
            super()._fit_released(X, y, schema, tampered(mechanism, first=first))  # type: ignore[misc]

    return MechanismMistake


class ForgottenClip:
    """Mutant: clips at 1, but calibrates noise to the stated clip."""

    clip: float

    def _fit_released(self, X: Any, y: Any, schema: Schema, mechanism: Any) -> None:
        stated = self.clip
        self.clip = 1.0
        try:
            super()._fit_released(X, y, schema, _Unclipped(mechanism, factor=1.0 / stated))  # type: ignore[misc]
        finally:
            self.clip = stated


# --- records, schema and stored attributes ----------------------------------------------------


class CountedTwice:
    """Mutant: duplicates every record, as a careless join would."""

    def _fit_released(self, X: Any, y: Any, schema: Schema, mechanism: Any) -> None:
        twice = np.repeat(np.arange(len(X)), 2)
        X, y = (v.iloc[twice] if hasattr(v, "iloc") else np.asarray(v)[twice] for v in (X, y))
        super()._fit_released(X, y, schema, mechanism)  # type: ignore[misc]


class CategoriesSeen:
    """Mutant: keeps only the categories that occur in the records."""

    schema_: Schema

    def _fit_released(self, X: Any, y: Any, schema: Schema, mechanism: Any) -> None:
        features = {
            name: Categorical(
                [c for c in feature.categories if (X[name] == c).any()] or feature.categories[:1]
            )
            if isinstance(feature, Categorical)
            else feature
            for name, feature in schema.features.items()
        }
        self._seen = Schema(features, target=schema.target)
        super()._fit_released(X, y, self._seen, mechanism)  # type: ignore[misc]

    def explain_global(self, **options: Any) -> Any:
        """Return the explanation, which lists only the categories that the fit kept."""
        given, self.schema_ = self.schema_, self._seen
        try:
            return super().explain_global(**options)  # type: ignore[misc]
        finally:
            self.schema_ = given


class ClassesSeen:
    """Mutant: stores which classes occur in the records."""

    def _fit_released(self, X: Any, y: Any, schema: Schema, mechanism: Any) -> None:
        super()._fit_released(X, y, schema, mechanism)  # type: ignore[misc]
        self.seen_classes_ = np.unique(np.array(list(y), dtype=str))


class RangeSeen:
    """Mutant: derives the target range from the records."""

    def _fit_released(self, X: Any, y: Any, schema: Schema, mechanism: Any) -> None:
        seen = pd.to_numeric(pd.Series(list(y)), errors="coerce").dropna()
        target = schema.target
        if len(seen) and seen.min() < seen.max():
            target = Range(float(seen.min()), float(seen.max()))
        super()._fit_released(X, y, Schema(schema.features, target=target), mechanism)  # type: ignore[misc]
        self.range_seen_ = (target.low, target.high) if isinstance(target, Range) else ()


class SizeKept:
    """Mutant: stores the exact number of records."""

    def _fit_released(self, X: Any, y: Any, schema: Schema, mechanism: Any) -> None:
        super()._fit_released(X, y, schema, mechanism)  # type: ignore[misc]
        self.n_samples_ = len(X)


class RecordsForPersons:
    """Mutant: charges a fit that protects people as if it protected records."""

    def _privacy_unit(self) -> Unit:
        return RECORD


# --- samples ----------------------------------------------------------------------------------


class _Shuffled:
    """Sampler that yields batches of a shuffled table instead of Poisson samples."""

    def __init__(self, n: int, probability: float, coins: Coins) -> None:
        self._n, self._size, self._coins = n, max(1, round(probability * n)), coins

    def samples(self, n_steps: int) -> Iterator[Integers]:
        """Yield batches of a shuffled table in turn."""
        order = np.argsort(self._coins.random(self._n))
        for step in range(n_steps):
            yield np.take(order, range(step * self._size, (step + 1) * self._size), mode="wrap")


class ShuffledBatches:
    """Mutant: uses batches of a shuffled table instead of Poisson samples."""

    def _sampler(self, person: Any, probability: float) -> Any:
        return _Shuffled(len(person), probability, self._coins())  # type: ignore[attr-defined]


class EverybodySampled:
    """Mutant: samples every record in every step."""

    def _sampler(self, person: Any, probability: float) -> Any:
        return super()._sampler(person, 1.0)  # type: ignore[misc]


class _Counted:
    """Sampler that stores the row count of the last sample."""

    def __init__(self, honest: Any) -> None:
        self._honest, self.size = honest, 0

    def samples(self, n_steps: int) -> Iterator[Integers]:
        """Yield the honest samples, and store the number of rows in each."""
        for rows in self._honest.samples(n_steps):
            self.size = len(rows)
            yield rows


class _Averaging(_Tampered):
    """Mechanism that divides noisy sums by the realized sample size."""

    def __init__(self, honest: Mechanism, owner: Any) -> None:
        super().__init__(honest)
        self._owner = owner

    def release(self, query: Integers) -> Integers:
        """Divide the noisy sums by the realized sample size."""
        noisy = self._honest.release(query)
        return np.rint(noisy / max(self._owner.counted.size, 1)).astype(np.int64)


class RealizedBatchSize:
    """Mutant: divides the sums of each step by the realized sample size."""

    def _sampler(self, person: Any, probability: float) -> Any:
        self.counted = _Counted(super()._sampler(person, probability))  # type: ignore[misc]
        return self.counted

    def _fit_released(self, X: Any, y: Any, schema: Schema, mechanism: Any) -> None:
        try:
            super()._fit_released(X, y, schema, _Averaging(mechanism, self))  # type: ignore[misc]
        finally:
            del self.counted


class NoMargin:
    """Mutant: lets gradients exceed the clip by a single-precision rounding error."""

    def _gradient_sums(self, *parts: Any) -> Any:
        sums = super()._gradient_sums(*parts)  # type: ignore[misc]
        sums._limit *= 1.0 + 2.0**-12
        return sums


class NoiseOfTheMean(_Tampered):
    """Mutant: adds to a sum only as much noise as its mean would need."""

    def _tampered(self, phase: AnyPhase) -> AnyPhase:
        return phase.with_noise(0.125)
