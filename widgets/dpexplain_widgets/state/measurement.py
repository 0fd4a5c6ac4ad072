"""How the metrics of an edited model are measured, and what the measurement costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dpexplain._utils.guarantee_words import upper_number
from dpexplain.accounting import Event, PrivacyLedger

Measure = Callable[[Any], Mapping[str, float]]


@dataclass(frozen=True)
class Measurement:
    """How the metrics of an edited explanation are measured.

    Parameters
    ----------
    measure : callable
        Function that returns the metrics of an edited explanation, keyed by name.
    ledger : PrivacyLedger or None
        Ledger of the private data; None for public data.
    price : tuple of Event
        Privacy events of one measurement; empty for public data.

    Raises
    ------
    ValueError
        If only one of `ledger` and `price` is given.
    """

    measure: Measure
    ledger: PrivacyLedger | None
    price: tuple[Event, ...]

    def __post_init__(self) -> None:
        """Check that ledger and price are given together."""
        if (self.ledger is None) != (not self.price):
            raise ValueError(
                "pass ledger= and price= together for private data, and neither for public data."
            )

    @property
    def cost_words(self) -> str:
        """Cost of one measurement in words; empty for public data."""
        if self.ledger is None:
            return ""
        limits: dict[str, Any] = {"adjacency": self.ledger.adjacency}
        alone = PrivacyLedger("one measurement", delta=self.ledger.delta, **limits)
        alone.charge(self.price, label="measurement", **limits)
        cost = alone.summary().private_epsilon
        return f"epsilon {upper_number(cost, 3)} of the ledger {self.ledger.dataset!r}"

    def pending(self) -> dict[str, Any]:
        """Return the data that the page shows before a measurement."""
        return {"cost": self.cost_words, "metrics": None, "problem": ""}

    def of(self, edited: Callable[[], Any]) -> dict[str, Any]:
        """Charge the ledger, measure, and return the data for the page.

        Parameters
        ----------
        edited : callable
            Function that returns the edited explanation; called before the ledger is charged.

        Returns
        -------
        dict
        """
        shown = self.pending()
        try:
            explanation = edited()
            if self.ledger is not None:
                label = "metrics of an edited model"
                self.ledger.charge(self.price, label=label, adjacency=self.ledger.adjacency)
            metrics = {str(k): float(v) for k, v in self.measure(explanation).items()}
            return {**shown, "metrics": metrics}
        except Exception as error:  # only the type is shown: the message could quote a record
            return {**shown, "problem": f"not measured: {type(error).__name__}"}
