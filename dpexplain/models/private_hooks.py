"""Methods of private estimators that subclasses implement or audits override."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from dpexplain.accounting import Event, PrivacyLedger, epsilon_from_mu
from dpexplain.explain.health import Finding
from dpexplain.mechanisms import (
    Coins,
    Mechanism,
    NoiseBackend,
    NoiseSource,
    Releases,
    SeededCoins,
    secret_coins,
)
from dpexplain.models.alarms import note_of_unchecked
from dpexplain.schema import Classes, Range, Schema


class PrivateHooks:
    """Base class of `PrivateEstimator`: methods that subclasses and audits override.

    A concrete estimator implements the abstract methods. Its `_fit_released` does everything that
    touches records, and releases results only through the mechanism passed to it.
    """

    epsilon: float
    delta: float
    schema: Schema | None
    ledger: PrivacyLedger | str | None
    adjacency: str
    structure_seed: int | None
    noise_backend: NoiseBackend
    reproducible_seed: int | None
    allow_weak: bool
    n_public: int | None
    max_rows_per_person: int | None
    ledger_: PrivacyLedger
    _has_delta: ClassVar[bool] = True
    _target_kind: type[Range] | type[Classes]

    def _mechanism(self) -> Mechanism:
        """Create the mechanism of the fit; audits override this method."""
        return Mechanism(self._noise_source())

    def _noise_source(self) -> NoiseSource:
        return NoiseSource(self.noise_backend, reproducible_seed=self.reproducible_seed)

    def _alarms(self) -> tuple[str, ...]:
        """Return the alarms of the health check, as text."""
        return tuple(finding.words for finding in self._found_alarms())

    def _found_alarms(self) -> tuple[Finding, ...]:
        """Return the alarms of the health check; empty if the fit releases no counts."""
        return ()

    def _health_notes(self) -> tuple[Finding, ...]:
        """Return the notes of the health check, including what was not checked."""
        return (note_of_unchecked(),)

    def _public_rows(self) -> int | None:
        """Return the public number of rows; None if `n_public` counts people."""
        return self.n_public if self.max_rows_per_person is None else None

    def _coins(self) -> Coins:
        """Create the source of random assignments and samples.

        The draws are secret unless `reproducible_seed` is set.
        """
        if self.reproducible_seed is None:
            return secret_coins()
        return SeededCoins(self.reproducible_seed)

    def _structure_rng(self) -> np.random.Generator:
        """Create the random generator for the public structure.

        Its seed is `structure_seed`; by default, it is derived from `reproducible_seed`, or drawn
        afresh if both are None.
        """
        if self.structure_seed is None and self.reproducible_seed is not None:
            return np.random.default_rng((self.reproducible_seed, 1))
        return np.random.default_rng(self.structure_seed)

    def _fit_people(
        self, X: Any, y: Any, groups: Any, schema: Schema, mechanism: Mechanism
    ) -> None:
        """Fit on the rows kept for each person; override if a model needs person IDs."""
        self._fit_released(X, y, schema, mechanism)

    @abstractmethod
    def _fit_released(self, X: Any, y: Any, schema: Schema, mechanism: Mechanism) -> None:
        """Fit on records; store only what passed through `mechanism`."""

    def _fit_noiseless(self, X: Any, y: Any, schema: Schema, mechanism: Mechanism) -> None:
        """Fit the noiseless version, with a mechanism that adds no noise.

        Models that sample or filter records for privacy override this method to omit these steps.
        """
        self._fit_released(X, y, schema, mechanism)

    @abstractmethod
    def _check_settings(self) -> None:
        """Raise ValueError if a parameter of the concrete estimator is wrong."""

    @abstractmethod
    def _check_plan(self, n_features: int) -> None:
        """Raise ValueError if the fit cannot be planned from public quantities."""

    @abstractmethod
    def _releases(self, n_features: int) -> tuple[Releases, ...]:
        """Return the planned releases of a fit on a given number of features."""

    def _events(self, n_features: int) -> tuple[Event, ...]:
        """Return the events to charge for a fit on a given number of features."""
        return tuple(planned.event for planned in self._releases(n_features))

    @abstractmethod
    def _mu(self) -> float | None:
        """Return the Gaussian-DP parameter of the fit, or None if there is none."""

    def _epsilon_replaced(self) -> float:
        """Return the epsilon of the fit under replace-one adjacency."""
        mu = self._mu()
        assert mu is not None
        return epsilon_from_mu(mu if self.adjacency == "replace" else 2.0 * mu, self.delta)

    def _notes(self) -> tuple[str, ...]:
        """Return notes for the guarantee of the fit."""
        return ()
