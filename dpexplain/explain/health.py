"""Findings of a health check: mistakes in a table, and excessive noise."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dpexplain._utils.lazy import pd
from dpexplain.exceptions import HealthWarning
from dpexplain.explain import _html
from dpexplain.explain.guarantee import Guarantee

__all__ = ["Finding", "Health", "alarm_words", "warn_of_alarms"]


def alarm_words(words: str) -> str:
    """Return an alarm with a prefix that names the health check."""
    return f"health check: {words}"


def warn_of_alarms(alarms: Sequence[str], guarantee: Guarantee, stacklevel: int) -> None:
    """Issue a warning that lists the alarms of a fit, if it has any.

    Parameters
    ----------
    alarms : sequence of str
        Alarms, as text.
    guarantee : Guarantee
        Guarantee of the fit. If the fit is not private, the warning begins by saying so.
    stacklevel : int
        Stack level of the call to which the warning is attributed, as in `warnings.warn`.
    """
    if alarms:
        listed = "; ".join(alarms)
        end = "" if listed.endswith("?") else "."
        warnings.warn(
            guarantee.marked(
                f"the released numbers point to a mistake in the table: {listed}{end} "
                "schema.check(X, y), or dpexplain schema check in a shell, says more, and only the "
                "data holder may see it."
            ),
            HealthWarning,
            stacklevel=stacklevel,
        )


@dataclass(frozen=True)
class Finding:
    """One finding of a health check.

    Parameters
    ----------
    kind : str
        Kind of finding. Alarms are "missing", "other", "first bin", "last bin", "class", "records"
        and "target"; notes are "noise", "bins", "range", "unchecked" and "no
        check".
    feature : str
        Feature that the finding concerns; empty if it concerns the table as a whole.
    words : str
        The finding, as a sentence without the final period.
    certainty : float or None
        Confidence level at which noise can be ruled out as the cause of the alarm, jointly for all
        tests of the fit; None for a note.

    Examples
    --------
    >>> from dpexplain.explain import Finding
    >>> finding = Finding("last bin", "age", "about 99% of age is in the last bin", 0.999)
    >>> finding.words
    'about 99% of age is in the last bin'
    """

    kind: str
    feature: str
    words: str
    certainty: float | None = None

    @property
    def is_alarm(self) -> bool:
        """Whether the finding points to a mistake in the table or the schema."""
        return self.certainty is not None


@dataclass(frozen=True, repr=False)
class Health:
    """Findings of a health check, alarms first.

    Parameters
    ----------
    findings : tuple of Finding
        Alarms, then notes.
    private : bool, default=True
        Whether the findings were computed from a private fit; otherwise, its text says that it is
        not private.

    Examples
    --------
    >>> from dpexplain.explain import Finding, Health
    >>> Health((Finding("missing", "age", "about 70% of age is missing or unreadable", 0.999),))
    1 alarm
    - about 70% of age is missing or unreadable
    """

    findings: tuple[Finding, ...]
    private: bool = True

    @property
    def alarms(self) -> tuple[Finding, ...]:
        """Findings that point to a mistake in the table or the schema."""
        return tuple(finding for finding in self.findings if finding.is_alarm)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def frame(self) -> pd.DataFrame:
        """Return a table with one row per finding.

        Returns
        -------
        DataFrame
            Columns kind, feature, words, certainty and private.
        """
        rows = [
            (each.kind, each.feature, each.words, each.certainty, self.private)
            for each in self.findings
        ]
        return pd.DataFrame(rows, columns=["kind", "feature", "words", "certainty", "private"])

    def __repr__(self) -> str:
        return "\n".join([self._title, *(f"- {each.words}" for each in self.findings)])

    def _repr_html_(self) -> str:
        lines = [
            _html.warning(each.words) if each.is_alarm else _html.note(each.words)
            for each in self.findings
        ]
        return _html.box(_html.heading(self._title), *lines)

    @property
    def _title(self) -> str:
        n = len(self.alarms)
        title = "no alarm" if not n else "1 alarm" if n == 1 else f"{n} alarms"
        if any(finding.kind == "no check" for finding in self.findings):
            title = "no check"
        return title if self.private else f"NOT PRIVATE: {title}"
