"""Ledger summary as plain data for views, files and reports."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpexplain._utils.guarantee_words import upper_number
from dpexplain._utils.validation import Adjacency, check_adjacency, check_delta, shown
from dpexplain.accounting._ledger.serialize import (
    check_fields,
    list_field,
    not_negative,
    number_from_json,
    number_to_json,
    text_field,
)
from dpexplain.accounting._units.totals import UnitTotal, total_for
from dpexplain.accounting.accountant import epsilon_of
from dpexplain.accounting.events import event_from_dict, event_to_dict
from dpexplain.accounting.ledger_state import LedgerState
from dpexplain.accounting.unit import RECORD

__all__ = [
    "EntrySummary",
    "LedgerSummary",
    "ReleaseSet",
    "counted_entries",
    "number_from_json",
    "number_to_json",
    "summary_of",
]

_ADJACENCY_WORDS = {
    "add_remove": "{unit} added or removed",
    "replace": "{unit} replaced by another",
}


NOT_INCLUDED = (
    "Entries that are not private make the total infinite; the figure above holds only if they, "
    "and everything derived from them, are not shared."
)


@dataclass(frozen=True)
class EntrySummary:
    """One charge of a ledger.

    Parameters
    ----------
    label : str
        Name of what was charged, such as an estimator.
    epsilon : float
        Epsilon of this charge alone, at the ledger's delta; infinite if an event is not private.
    mu : float or None
        Gaussian-DP parameter of all private events combined; None if one of them is not Gaussian.
    private : bool
        Whether all events of the charge are private.
    events : tuple of dict
        The events as plain data; see `event_to_dict`.
    unit : str, default="one record"
        Unit of privacy that the noise of the events protects.

    Examples
    --------
    >>> from dpexplain.accounting import LaplaceEvent, PrivacyLedger
    >>> ledger = PrivacyLedger("wages", cap_epsilon=1)
    >>> entry = ledger.charge([LaplaceEvent("sums", noise_multiplier=2)], label="means")
    >>> (charge,) = ledger.summary().entries
    >>> charge.label, round(charge.epsilon, 2), charge.private
    ('means', 0.5, True)
    """

    label: str
    epsilon: float
    mu: float | None
    private: bool
    events: tuple[dict[str, Any], ...]
    unit: str = RECORD.words

    def to_dict(self) -> dict[str, Any]:
        """Convert the entry to plain data for JSON.

        Returns
        -------
        dict
            Fields of the object; infinity is written as the string ``"inf"``.
        """
        return {
            "label": self.label,
            "epsilon": number_to_json(self.epsilon),
            "mu": None if self.mu is None else number_to_json(self.mu),
            "private": self.private,
            "events": [dict(event) for event in self.events],
            "unit": self.unit,
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> EntrySummary:
        """Strictly parse an entry from plain data.

        Parameters
        ----------
        content : mapping
            Output of `to_dict`.

        Returns
        -------
        EntrySummary
            An entry equal to the original.

        Raises
        ------
        ValueError
            If a field is missing, unknown or out of range.
        """
        check_fields(cls, content)
        if not isinstance(content["private"], bool):
            raise ValueError(f"private={shown(content['private'])} must be true or false.")
        return cls(
            label=text_field("label", content["label"]),
            epsilon=not_negative("epsilon", content["epsilon"]),
            mu=None if content["mu"] is None else not_negative("mu", content["mu"]),
            private=content["private"],
            events=tuple(
                event_to_dict(event_from_dict(event)) for event in list_field("events", content)
            ),
            unit=text_field("unit", content["unit"]),
        )


@dataclass(frozen=True)
class LedgerSummary:
    """State of a ledger at one moment, as plain data that cannot be charged.

    Parameters
    ----------
    dataset : str
        Name of the data set.
    delta : float
        Delta at which every epsilon here is stated.
    adjacency : {"add_remove", "replace"}
        Which data sets count as neighbors.
    cap_epsilon : float
        Limit on the total epsilon of private charges; infinite if there is none.
    total_epsilon : float
        Epsilon of all entries combined; infinite if any entry is not private.
    private_epsilon : float
        Epsilon of all private events combined.
    replace_epsilon : float
        The same epsilon under replace-one adjacency, in which one unit is replaced by another.
    naive_epsilon : float
        Plain sum of the epsilons of the entries' private events, for comparison with the total,
        which is smaller because of composition.
    entries : tuple of EntrySummary
        The charges, oldest first.
    unit : str, default="one record"
        Unit of the total, private, replace-one, naive and adaptive epsilons.
    adaptive_epsilon : float, default=inf
        Epsilon of all private events combined, valid even for adaptive choices (see `UnitTotal`).
        In contrast, `private_epsilon` holds only if the number and the budgets of the fits were
        fixed in advance.
    units : tuple of UnitTotal, default=()
        Totals for `unit`, for one record, and for each other unit in the ledger. Of several unnamed
        kinds of persons, only the first is included.

    Examples
    --------
    >>> from dpexplain.accounting import LaplaceEvent, PrivacyLedger
    >>> ledger = PrivacyLedger("stays", cap_epsilon=2)
    >>> entry = ledger.charge([LaplaceEvent("sums", noise_multiplier=2)], label="means")
    >>> entry = ledger.charge([LaplaceEvent("histograms", noise_multiplier=2)], label="counts")
    >>> summary = ledger.summary()
    >>> [charge.label for charge in summary.entries]
    ['means', 'counts']
    >>> round(summary.private_epsilon, 2)
    1.0
    >>> str(summary).splitlines()[-2:]
    ['- means: epsilon 0.5 alone', '- counts: epsilon 0.5 alone']
    """

    dataset: str
    delta: float
    adjacency: Adjacency
    cap_epsilon: float
    total_epsilon: float
    private_epsilon: float
    replace_epsilon: float
    naive_epsilon: float
    entries: tuple[EntrySummary, ...]
    unit: str = RECORD.words
    adaptive_epsilon: float = math.inf
    units: tuple[UnitTotal, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Convert the summary to plain data for JSON.

        Returns
        -------
        dict
            Fields of the object; infinity is written as the string ``"inf"``.
        """
        return {
            "dataset": self.dataset,
            "delta": self.delta,
            "adjacency": self.adjacency,
            "cap_epsilon": number_to_json(self.cap_epsilon),
            "total_epsilon": number_to_json(self.total_epsilon),
            "private_epsilon": number_to_json(self.private_epsilon),
            "replace_epsilon": number_to_json(self.replace_epsilon),
            "naive_epsilon": number_to_json(self.naive_epsilon),
            "entries": [entry.to_dict() for entry in self.entries],
            "unit": self.unit,
            "adaptive_epsilon": number_to_json(self.adaptive_epsilon),
            "units": [total.to_dict() for total in self.units],
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> LedgerSummary:
        """Strictly parse a summary from plain data.

        Parameters
        ----------
        content : mapping
            Output of `to_dict`.

        Returns
        -------
        LedgerSummary
            A summary equal to the original.

        Raises
        ------
        ValueError
            If a field is missing, unknown or out of range.
        """
        check_fields(cls, content)
        return cls(
            dataset=text_field("dataset", content["dataset"]),
            delta=check_delta(content["delta"]),
            adjacency=check_adjacency(content["adjacency"]),
            cap_epsilon=not_negative("cap_epsilon", content["cap_epsilon"]),
            total_epsilon=not_negative("total_epsilon", content["total_epsilon"]),
            private_epsilon=not_negative("private_epsilon", content["private_epsilon"]),
            replace_epsilon=not_negative("replace_epsilon", content["replace_epsilon"]),
            naive_epsilon=not_negative("naive_epsilon", content["naive_epsilon"]),
            entries=tuple(
                EntrySummary.from_dict(entry) for entry in list_field("entries", content)
            ),
            unit=text_field("unit", content["unit"]),
            adaptive_epsilon=not_negative("adaptive_epsilon", content["adaptive_epsilon"]),
            units=tuple(UnitTotal.from_dict(total) for total in list_field("units", content)),
        )

    def words(self) -> str:
        """Describe the spending in words.

        Returns
        -------
        str
            One or more sentences.
        """
        if not self.entries:
            return f"Nothing has been spent on {self.dataset!r}."
        if not self.n_private:
            text = (
                f"{counted_entries(len(self.entries))} on {self.dataset!r}, no private release; "
                "epsilon is infinite."
            )
        else:
            text = self._private_words()
        if math.isfinite(self.cap_epsilon):
            text += f" The cap is {upper_number(self.cap_epsilon)}."
        if self.n_private and self._has_non_private:
            text += f" {NOT_INCLUDED}"
        return text

    def __str__(self) -> str:
        """Describe the spending, with a line for each charge."""
        lines = (
            f"- {entry.label}: "
            + (f"epsilon {upper_number(entry.epsilon)} alone" if entry.private else "NOT PRIVATE")
            for entry in self.entries
        )
        return "\n".join([self.words(), *lines])

    def total_for(self, unit: str) -> UnitTotal:
        """Find the total for the unit of a model.

        Parameters
        ----------
        unit : str
            Name of the unit, worded as in the guarantee of the model.

        Returns
        -------
        UnitTotal
            The total for this unit; if there is none, a total with infinite epsilons.
        """
        own = UnitTotal(
            self.unit, self.private_epsilon, self.replace_epsilon, self.adaptive_epsilon
        )
        labels = [entry.label for entry in self.entries if entry.private]
        return total_for(unit, self.units or (own,), labels)

    def extends(self, earlier: LedgerSummary) -> bool:
        """Check whether this ledger holds all that another one holds, and perhaps more.

        Parameters
        ----------
        earlier : LedgerSummary
            State of a ledger, usually of the same ledger at an earlier moment.

        Returns
        -------
        bool
            False for a second ledger of the same name, which would hide earlier charges.
        """
        kept = self.entries[: len(earlier.entries)] == earlier.entries
        return kept and self.dataset == earlier.dataset

    @property
    def n_private(self) -> int:
        """Number of entries that contain private releases.

        Returns
        -------
        int
            Number of entries to which `private_epsilon` refers. Entries that also contain
            non-private events are included, because their private releases spend budget.
        """
        return sum(
            entry.private or any(event["type"] != "non_private" for event in entry.events)
            for entry in self.entries
        )

    @property
    def _has_non_private(self) -> bool:
        return not all(entry.private for entry in self.entries)

    def _private_words(self) -> str:
        """State the epsilon of the private releases, and how many entries contain them."""
        count = self.n_private
        which = "with private releases " if self._has_non_private else ""
        who = "One entry" if count == 1 else f"All {count} entries"
        text = (
            f"{who} {which}on {self.dataset!r}"
            f"{'' if count == 1 else ' together, if published together'}: {self._total_words()}"
        )
        if count > 1 and math.isfinite(self.naive_epsilon):
            text += f", where simple addition would give {upper_number(self.naive_epsilon)}"
        others = "".join(f" {_sentence(total.words)}" for total in self.units[1:])
        return f"{text}.{self._use_words()}{others}"

    def _total_words(self) -> str:
        """Describe the total privacy loss for the protected unit of the ledger."""
        if self.units and self.units[0].unbounded:
            return self.units[0].words
        unit = _ADJACENCY_WORDS[self.adjacency].format(unit=self.unit)
        return f"epsilon = {upper_number(self.private_epsilon)} at delta = {self.delta:g} ({unit})"

    def _use_words(self) -> str:
        """State when the total holds, and which total holds otherwise."""
        if not math.isfinite(self.adaptive_epsilon):
            return ""
        cap = " (the cap)" if self.adaptive_epsilon == self.cap_epsilon else ""
        return (
            " That is for fits fixed in advance; if results decided which fits follow or "
            f"when to stop, epsilon = {upper_number(self.adaptive_epsilon)}{cap}."
        )


@dataclass(frozen=True)
class ReleaseSet:
    """Epsilon of the entries that are actually published.

    Parameters
    ----------
    labels : tuple of str
        Labels of the published entries.
    epsilon : float
        Epsilon of all published entries combined; infinite if any entry is not private, or if the
        cost of an entry cannot be bounded for the unit.
    total_epsilon : float
        Epsilon of all private entries of the ledger combined, for the same unit.
    delta : float
        Delta of both epsilons.
    unit : str, default="one record"
        Unit of both epsilons.

    Examples
    --------
    >>> from dpexplain.accounting import LaplaceEvent, PrivacyLedger
    >>> ledger = PrivacyLedger("loans", cap_epsilon=2)
    >>> entry = ledger.charge([LaplaceEvent("sums", noise_multiplier=2)], label="means")
    >>> entry = ledger.charge([LaplaceEvent("histograms", noise_multiplier=2)], label="counts")
    >>> published = ledger.release_set([0])
    >>> published.labels, published.epsilon < published.total_epsilon
    (('means',), True)
    """

    labels: tuple[str, ...]
    epsilon: float
    total_epsilon: float
    delta: float
    unit: str = RECORD.words

    def words(self) -> str:
        """Describe the epsilon of published entries and when it holds.

        Returns
        -------
        str
            Description in two sentences.
        """
        count = len(self.labels)
        which = "One published entry" if count == 1 else f"The {count} published entries"
        return (
            f"{which} alone, for {self.unit}: {_bound_words(self.epsilon)} at delta = "
            f"{self.delta:g}. If they were chosen by looking at the others, that choice also "
            "costs budget, and the total of all private entries applies: "
            f"{_bound_words(self.total_epsilon)}."
        )


def summary_of(state: LedgerState) -> LedgerSummary:
    """Summarize a ledger, with the epsilon of each entry and of all entries combined.

    Parameters
    ----------
    state : LedgerState

    Returns
    -------
    LedgerSummary
    """
    units = state.unit_totals()
    alone = [epsilon_of(entry.spending(state.adjacency), state.delta) for entry in state.entries]
    naive = [epsilon_of(spending, state.delta) for spending in state.spent(state.total_unit)]
    return LedgerSummary(
        dataset=state.dataset,
        delta=state.delta,
        adjacency=state.adjacency,
        cap_epsilon=state.cap_epsilon,
        total_epsilon=state.total_epsilon(state.delta),
        private_epsilon=units[0].epsilon,
        replace_epsilon=units[0].replace_epsilon,
        naive_epsilon=math.fsum(naive),
        entries=tuple(
            EntrySummary(
                label=entry.label,
                epsilon=epsilon if entry.private else math.inf,
                mu=entry.mu,
                private=entry.private,
                events=tuple(event_to_dict(event) for event in entry.events),
                unit=entry.unit.words,
            )
            for entry, epsilon in zip(state.entries, alone, strict=True)
        ),
        unit=state.total_unit.kind_words,
        adaptive_epsilon=units[0].adaptive_epsilon,
        units=units,
    )


def counted_entries(count: int) -> str:
    """Format a number of entries.

    Parameters
    ----------
    count : int
        Number of entries.

    Returns
    -------
    str
        Text such as ``"1 entry"`` or ``"2 entries"``.
    """
    return f"{count} {'entry' if count == 1 else 'entries'}"


def _bound_words(epsilon: float) -> str:
    return f"epsilon = {upper_number(epsilon)}" if math.isfinite(epsilon) else "no bound"


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."
