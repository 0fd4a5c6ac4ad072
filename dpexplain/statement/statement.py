"""Privacy statements, and their conversion to text and JSON."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from dpexplain._utils.json import read_document, write_document
from dpexplain._utils.validation import check_adjacency
from dpexplain._utils.version import __version__
from dpexplain.accounting._ledger.serialize import check_fields, list_field
from dpexplain.accounting._units.totals import UnitTotal
from dpexplain.accounting.events import (
    DiscreteLaplaceEvent,
    GaussianEvent,
    LaplaceEvent,
    NonPrivateEvent,
    event_from_dict,
    event_words,
)
from dpexplain.accounting.pld import pld_available
from dpexplain.accounting.summary import (
    EntrySummary,
    LedgerSummary,
)
from dpexplain.explain.guarantee import Guarantee
from dpexplain.statement.promise import (
    LONGEST_TEXT,
    Promise,
    check_text,
    promise_from_dict,
    promise_to_dict,
)
from dpexplain.statement.render import as_html, as_markdown, as_text

__all__ = ["PrivacyStatement", "Promise", "statement_of"]

_NOISES_PER_LINE = 20
_PUBLIC = (
    "the schema: names of columns, bounds, categories, target range or classes",
    "every hyperparameter, epsilon and delta, and the number of fits",
    "n_public, sampling rates and structure seeds, if given",
)
_NOT_COVERED = (
    "facts about people that follow from what the data show about everybody",
    "several records of one person, unless the unit of privacy is one person",
    "timing, memory and other side channels of the computer that fits",
    "curators and analysts who hold the data: they are trusted",
    "figures measured on private records without noise, such as accuracy on a private hold-out set",
    "fits and looks at the same data that were not charged to this ledger",
)


@dataclass(frozen=True)
class PrivacyStatement:
    """Guarantees for a release, and for all fits on a data set.

    Parameters
    ----------
    dataset : str
        Name of the data set.
    unit : str
        Unit of privacy, such as "one record".
    adjacency : {"add_remove", "replace"}
        Which data sets count as neighbors.
    release : Promise
        Guarantee for the published results.
    everything : Promise
        Guarantee for all charged private releases combined.
    mechanisms : tuple of str
        Released quantities, with the amount of noise added to each.
    not_private : tuple of str
        Results that were computed from the data without noise and must not be shared.
    sampler : str
        Source of the noise.
    accountant : str
        Method by which the guarantees of several releases were composed.
    public : tuple of str
        Inputs that had to be public.
    not_covered : tuple of str
        Limits of the guarantee.
    library : str
        Name and version of the library.
    others : tuple of Promise, default=()
        Guarantees for all private releases combined, one for each other unit of privacy in the
        ledger.

    See Also
    --------
    dpexplain.PrivacyLedger.statement : Create a statement.

    Examples
    --------
    >>> from dpexplain.accounting import GaussianEvent, PrivacyLedger
    >>> ledger = PrivacyLedger("survey-2024")
    >>> entry = ledger.charge([GaussianEvent("counts", 4.0)], label="counts")
    >>> ledger.statement().release.epsilon
    1.06...
    """

    dataset: str
    unit: str
    adjacency: str
    release: Promise
    everything: Promise
    mechanisms: tuple[str, ...]
    not_private: tuple[str, ...]
    sampler: str
    accountant: str
    public: tuple[str, ...]
    not_covered: tuple[str, ...]
    library: str
    others: tuple[Promise, ...] = ()

    def __post_init__(self) -> None:
        check_adjacency(self.adjacency)
        for name in ("dataset", "unit", "sampler", "accountant", "library"):
            check_text(name, getattr(self, name))
        for name in ("mechanisms", "not_private", "public", "not_covered"):
            value = getattr(self, name)
            if not isinstance(value, tuple | list):
                raise ValueError(f"{name} must be a list of strings.")
            for text in value:
                check_text(name, text)
            object.__setattr__(self, name, tuple(value))
        for name in ("release", "everything"):
            if not isinstance(getattr(self, name), Promise):
                raise ValueError(f"{name} must be a Promise.")
        if not all(isinstance(promise, Promise) for promise in self.others):
            raise ValueError("others must be a list of guarantees.")
        object.__setattr__(self, "others", tuple(self.others))

    def text(self) -> str:
        """Return the statement as plain text.

        Returns
        -------
        str
            Text with one block per heading.
        """
        return as_text(self)

    def markdown(self) -> str:
        """Return the statement as Markdown.

        Returns
        -------
        str
            Markdown in which names are escaped, so that they cannot create links, images or HTML.
        """
        return as_markdown(self)

    def to_json(self) -> str:
        """Return the statement as JSON; see `dpexplain.io.to_json`.

        Returns
        -------
        str
            JSON document with format and version, in which numbers round-trip exactly.
        """
        return write_document("statement", self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> PrivacyStatement:
        """Create a statement from the output of `to_json`, with strict checks.

        Parameters
        ----------
        text : str
            The whole document.

        Returns
        -------
        PrivacyStatement
            Statement equal to the original.

        Raises
        ------
        ValueError
            If the document is not a statement.
        """
        statement: PrivacyStatement = read_document(
            text, ("statement",), lambda _, content: cls.from_dict(content)
        )
        return statement

    def to_dict(self) -> dict[str, Any]:
        """Convert the statement to a dictionary.

        Returns
        -------
        dict
            JSON values, with infinity as the string ``"inf"``.
        """
        content = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in ("release", "everything"):
            content[name] = promise_to_dict(getattr(self, name))
        content["others"] = [promise_to_dict(promise) for promise in self.others]
        return {name: list(v) if isinstance(v, tuple) else v for name, v in content.items()}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> PrivacyStatement:
        """Create a statement from the output of `to_dict`, with strict checks.

        Parameters
        ----------
        content : mapping
            Output of `to_dict`.

        Returns
        -------
        PrivacyStatement
            Statement equal to the original.

        Raises
        ------
        ValueError
            If a field is missing, unknown or out of range.
        """
        check_fields(cls, content)
        values = dict(content)
        for name in ("release", "everything"):
            values[name] = promise_from_dict(values[name])
        values["others"] = tuple(map(promise_from_dict, list_field("others", content)))
        return cls(**values)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return as_html(self)


def statement_of(
    summary: LedgerSummary,
    published: Sequence[int] | None = None,
    guarantee: Guarantee | None = None,
    epsilons: tuple[float, float] | None = None,
    unit: str | None = None,
) -> PrivacyStatement:
    """Create a privacy statement from a ledger summary.

    Parameters
    ----------
    summary : LedgerSummary
        State of the ledger.
    published : sequence of int or None, default=None
        Indices of the published entries; None for all private entries.
    guarantee : Guarantee or None, default=None
        Guarantee of the published model, which also names the unit and the sampler.
    epsilons : tuple of (float, float) or None, default=None
        Joint epsilon of the published entries under the ledger's adjacency and under replace-one
        adjacency; None if all private entries are published.
    unit : str or None, default=None
        Unit of privacy for the statement. None means the unit of `guarantee` or, if that is None,
        the unit of the ledger.

    Returns
    -------
    PrivacyStatement
        Statement about the published model if `guarantee` is given, otherwise about the published
        entries.

    Examples
    --------
    >>> from dpexplain import PrivacyLedger
    >>> from dpexplain.accounting import LaplaceEvent
    >>> from dpexplain.statement import statement_of
    >>> ledger = PrivacyLedger("crops", cap_epsilon=1)
    >>> entry = ledger.charge([LaplaceEvent("sums", noise_multiplier=2)], label="means")
    >>> statement = statement_of(ledger.summary())
    >>> "0.5" in str(statement)
    True
    """
    chosen = range(len(summary.entries)) if published is None else published
    entries = [summary.entries[place] for place in chosen]
    named = unit or (summary.unit if guarantee is None else guarantee.unit)
    total = summary.total_for(named)
    return PrivacyStatement(
        dataset=summary.dataset,
        unit=named,
        adjacency=summary.adjacency,
        release=_release(summary, entries, guarantee, epsilons, total),
        everything=_everything(total, summary.delta),
        mechanisms=mechanism_words(entries),
        not_private=open_words(summary.entries),
        sampler=(
            "named in the guarantee of each model"
            if guarantee is None or not guarantee.sampler
            else guarantee.sampler
        ),
        accountant=_accountant(summary.entries),
        public=_PUBLIC,
        not_covered=_NOT_COVERED,
        library=f"dpexplain {__version__}",
        others=tuple(
            _everything(other, summary.delta) for other in summary.units if other != total
        ),
    )


def _everything(total: UnitTotal, delta: float) -> Promise:
    """Return the total guarantee for one unit of privacy; epsilon may be infinite."""
    covers = f"all private releases charged to the ledger, if published together, for {total.unit}"
    if total.unbounded:
        covers = f"all private releases charged to the ledger together: {total.words}"
    return Promise(
        covers[:LONGEST_TEXT],
        total.epsilon,
        delta,
        total.replace_epsilon,
        total.adaptive_epsilon,
    )


def _release(
    summary: LedgerSummary,
    entries: Sequence[EntrySummary],
    guarantee: Guarantee | None,
    epsilons: tuple[float, float] | None,
    total: UnitTotal,
) -> Promise:
    if guarantee is not None:
        replaced = guarantee.epsilon_replace
        return Promise(
            f"what is released of {guarantee.covers}, and everything computed from it",
            guarantee.epsilon,
            guarantee.delta or summary.delta,
            math.inf if replaced is None else replaced,
        )
    if epsilons is None:
        return _everything(total, summary.delta)
    covers = "the published entries: " + ", ".join(entry.label for entry in entries)
    if math.isinf(epsilons[0]) and all(entry.private for entry in entries):
        covers = f"no bound for {total.unit} by {covers}"
    one, replaced = epsilons
    return Promise(covers[:LONGEST_TEXT] or "nothing", one, summary.delta, replaced)


def mechanism_words(entries: Sequence[EntrySummary]) -> tuple[str, ...]:
    """Describe the private events; those that differ only in noise share a line."""
    found: dict[str, Counter[str]] = {}
    for entry in entries:
        for content in entry.events:
            event = event_from_dict(content)
            if not isinstance(event, NonPrivateEvent):
                words, noise = f"{event.label}: {event_words(event)}", ""
                if isinstance(event, GaussianEvent | LaplaceEvent | DiscreteLaplaceEvent):
                    words, _, noise = words.rpartition(" ")
                found.setdefault(words, Counter())[noise] += 1
    return tuple(line for words, noises in found.items() for line in _noise_lines(words, noises))


def _noise_lines(words: str, noises: Counter[str]) -> Iterator[str]:
    texts = [f"{each} ({n} times)".strip() if n > 1 else each for each, n in noises.items()]
    for start in range(0, len(texts), _NOISES_PER_LINE):
        line = texts[start : start + _NOISES_PER_LINE]
        yield f"{words}{'s' if len(line) > 1 else ''} {', '.join(line)}".rstrip()


def open_words(entries: Sequence[EntrySummary]) -> tuple[str, ...]:
    """List the non-private uses of the data, without duplicates."""
    events = (event_from_dict(content) for entry in entries for content in entry.events)
    texts = (f"{e.label}: {e.reason}" for e in events if isinstance(e, NonPrivateEvent))
    return tuple(dict.fromkeys(texts))


def _accountant(entries: Sequence[EntrySummary]) -> str:
    kinds = {content["type"] for entry in entries for content in entry.events} - {"non_private"}
    if kinds <= {"gaussian"}:
        return "Gaussian differential privacy in closed form, exact, rounded up"
    if not pld_available():
        return "Rényi differential privacy and Gaussian closed forms, the lesser, rounded up"
    return (
        "privacy loss distributions (dp-accounting), Rényi differential privacy and Gaussian "
        "closed forms, the smallest bound, each rounded up"
    )
