"""What a ledger tells a reader: plain data that views, files and reports can hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from dpexplain._validation import Adjacency, check_adjacency, check_delta, check_in_range, shown
from dpexplain.accounting.events import event_from_dict, event_to_dict
from dpexplain.accounting.unit import ONE_RECORD

__all__ = [
    "EntrySummary",
    "LedgerSummary",
    "ReleaseSet",
    "counted_entries",
    "number_from_json",
    "number_to_json",
]

_ADJACENCY_WORDS = {
    "add_remove": "one record added or removed",
    "replace": "one record replaced by another",
}


@dataclass(frozen=True)
class EntrySummary:
    """One charge of a ledger.

    Parameters
    ----------
    label : str
        What was charged, for example the name of an estimator.
    epsilon : float
        Its epsilon alone at the ledger's delta; infinite if an event is not private.
    mu : float or None
        Gaussian-DP parameter of its private events together; None if one of them is not
        Gaussian.
    private : bool
        Whether all its events are private.
    events : tuple of dict
        The events as plain data, see `event_to_dict`.
    unit : str, default="one record"
        Whom their noise protects.
    """

    label: str
    epsilon: float
    mu: float | None
    private: bool
    events: tuple[dict[str, Any], ...]
    unit: str = ONE_RECORD

    def to_dict(self) -> dict[str, Any]:
        """Write the entry as plain data.

        Returns
        -------
        dict
            Ready for JSON; infinity as the string ``"inf"``.
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
        """Read an entry from plain data, strictly.

        Parameters
        ----------
        content : mapping
            What `to_dict` wrote.

        Returns
        -------
        EntrySummary
            An entry equal to the one that was written.

        Raises
        ------
        ValueError
            If a field is missing, unknown or out of range.
        """
        _check_fields(cls, content)
        if not isinstance(content["private"], bool):
            raise ValueError(f"private={shown(content['private'])} must be true or false.")
        return cls(
            label=_text("label", content["label"]),
            epsilon=_not_negative("epsilon", content["epsilon"]),
            mu=None if content["mu"] is None else _not_negative("mu", content["mu"]),
            private=content["private"],
            events=tuple(
                event_to_dict(event_from_dict(event)) for event in _list("events", content)
            ),
            unit=_text("unit", content["unit"]),
        )


@dataclass(frozen=True)
class LedgerSummary:
    """State of a ledger at one moment, without the ledger.

    Parameters
    ----------
    dataset : str
        Name of the data set that was spent on.
    delta : float
        Delta at which every epsilon here is stated.
    adjacency : {"add_remove", "replace"}
        Which data sets count as neighbours.
    cap_epsilon : float
        Limit of the private total; infinite if there is none.
    total_epsilon : float
        Epsilon of everything together; infinite if any entry is not private.
    private_epsilon : float
        Epsilon of all private events together.
    replace_epsilon : float
        The same under replace-one adjacency, where one record is exchanged for another.
    naive_epsilon : float
        Plain sum of the epsilons of the entries' private events, for comparison: composition
        gives less.
    entries : tuple of EntrySummary
        The charges, oldest first.
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

    def to_dict(self) -> dict[str, Any]:
        """Write the summary as plain data.

        Returns
        -------
        dict
            Ready for JSON; infinity as the string ``"inf"``.
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
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> LedgerSummary:
        """Read a summary from plain data, strictly.

        Parameters
        ----------
        content : mapping
            What `to_dict` wrote.

        Returns
        -------
        LedgerSummary
            A summary equal to the one that was written.

        Raises
        ------
        ValueError
            If a field is missing, unknown or out of range.
        """
        _check_fields(cls, content)
        return cls(
            dataset=_text("dataset", content["dataset"]),
            delta=check_delta(content["delta"]),
            adjacency=check_adjacency(content["adjacency"]),
            cap_epsilon=_not_negative("cap_epsilon", content["cap_epsilon"]),
            total_epsilon=_not_negative("total_epsilon", content["total_epsilon"]),
            private_epsilon=_not_negative("private_epsilon", content["private_epsilon"]),
            replace_epsilon=_not_negative("replace_epsilon", content["replace_epsilon"]),
            naive_epsilon=_not_negative("naive_epsilon", content["naive_epsilon"]),
            entries=tuple(EntrySummary.from_dict(entry) for entry in _list("entries", content)),
        )

    def words(self) -> str:
        """Say in words what was spent.

        Returns
        -------
        str
            One to three sentences.
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
            text += f" The cap is {self.cap_epsilon:.4g}."
        if self.n_private and self._has_non_private:
            text += (
                " Entries that are not private make the total infinite; the figure above holds "
                "only if they and everything derived from them stay inside."
            )
        return text

    @property
    def n_private(self) -> int:
        """Number of entries with private releases, which the private epsilon is about.

        Returns
        -------
        int
            An entry that also holds something not private counts: its private releases spend.
        """
        return sum(
            entry.private or any(event["type"] != "non_private" for event in entry.events)
            for entry in self.entries
        )

    @property
    def _has_non_private(self) -> bool:
        return not all(entry.private for entry in self.entries)

    def _private_words(self) -> str:
        """Say what the private releases spend, and of how many entries they are."""
        count = self.n_private
        which = "with private releases " if self._has_non_private else ""
        who = "One entry" if count == 1 else f"All {count} entries"
        text = (
            f"{who} {which}on {self.dataset!r}"
            f"{'' if count == 1 else ' together, if published together'}: "
            f"epsilon = {self.private_epsilon:.4g} at delta = {self.delta:g} "
            f"({_ADJACENCY_WORDS[self.adjacency]})"
        )
        if count == 1:
            return f"{text}."
        return f"{text}, where plain adding would give {self.naive_epsilon:.4g}."


@dataclass(frozen=True)
class ReleaseSet:
    """Spend of the entries that are actually published.

    Parameters
    ----------
    labels : tuple of str
        Labels of the published entries.
    epsilon : float
        Epsilon of the published entries together; infinite if one is not private.
    total_epsilon : float
        Epsilon of all private entries of the ledger together.
    delta : float
        Delta of both.
    """

    labels: tuple[str, ...]
    epsilon: float
    total_epsilon: float
    delta: float

    def words(self) -> str:
        """Say in words what the published entries spend, and when that figure holds.

        Returns
        -------
        str
            Two sentences.
        """
        count = len(self.labels)
        which = "One published entry" if count == 1 else f"The {count} published entries"
        return (
            f"{which} alone: epsilon = {self.epsilon:.4g} at "
            f"delta = {self.delta:g}. If they were chosen by looking at the others, that choice "
            f"spends too, and the total of all private entries stands: "
            f"epsilon = {self.total_epsilon:.4g}."
        )


def number_to_json(value: float) -> float | str:
    """Write a number that may be infinite, which JSON has no sign for.

    Parameters
    ----------
    value : float
        Finite or positive infinity.

    Returns
    -------
    float or str
        The number, or ``"inf"``.
    """
    return "inf" if value == math.inf else value


def number_from_json(value: object) -> object:
    """Read what `number_to_json` wrote; the caller checks the range.

    Parameters
    ----------
    value : object
        A number or ``"inf"``.

    Returns
    -------
    object
        Infinity for ``"inf"``, everything else as it is.
    """
    return math.inf if isinstance(value, str) and value == "inf" else value


def counted_entries(count: int) -> str:
    """Write a number of entries.

    Parameters
    ----------
    count : int
        How many.

    Returns
    -------
    str
        ``"1 entry"``, ``"2 entries"``.
    """
    return f"{count} {'entry' if count == 1 else 'entries'}"


def _not_negative(name: str, value: object) -> float:
    return check_in_range(name, number_from_json(value), 0.0, math.inf)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} is {shown(value)}; expected a text.")
    return value


def _list(name: str, content: Mapping[str, Any]) -> list[Any]:
    if not isinstance(content[name], list | tuple):
        raise ValueError(f"{name} is {shown(content[name])}; expected a list.")
    return list(content[name])


def _check_fields(cls: type[Any], content: object) -> None:
    names = {field.name for field in fields(cls)}
    if not isinstance(content, Mapping) or set(content) != names:
        raise ValueError(
            f"a {cls.__name__} needs exactly these fields: {', '.join(sorted(names))}."
        )
