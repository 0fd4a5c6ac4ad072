"""Base of pure-DP estimators: Laplace noise and exponential mechanism."""

from __future__ import annotations

import dataclasses

from dpexplain.explain import Guarantee
from dpexplain.mechanisms import NoiseSource
from dpexplain.models.private import PrivateEstimator

_SAMPLER = (
    "exact discrete Laplace and exponential mechanism (rejection sampling, every comparison "
    "settled without rounding), randomness of the operating system"
)


class PureEstimator(PrivateEstimator):
    """Mixin of private fits with pure differential privacy."""

    # At which a ledger of this fit alone states its total; the fit has none.
    delta = 1e-6
    noise_backend = "exact"
    n_public: int | None = None

    @property
    def _unit(self) -> float:
        """Return the number of record changes per unit of privacy."""
        return (2.0 if self.adjacency == "replace" else 1.0) * (self.max_rows_per_person or 1)

    @property
    def _epsilon_of_record(self) -> float:
        """Return the epsilon of a fit for adding or removing one record."""
        return self.epsilon / self._unit

    def _mu(self) -> None:
        return None

    def _epsilon_replaced(self) -> float:
        return self.epsilon if self.adjacency == "replace" else 2.0 * self.epsilon

    def _guarantee(self, source: NoiseSource) -> Guarantee:
        guarantee = super()._guarantee(source)
        if not guarantee.private:
            return dataclasses.replace(guarantee, delta=0.0)
        return dataclasses.replace(guarantee, delta=0.0, sampler=_SAMPLER)
