"""Claims of the papers, each compared with the tables measured here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

HOLDS, IN_PART, FAILS = "holds", "holds in part", "does not hold"
NOT_TESTABLE, NOT_TESTED = "not testable", "not tested"
VERDICTS = (HOLDS, IN_PART, FAILS, NOT_TESTABLE, NOT_TESTED)
COLUMNS = ("paper", "place", "row", "claim", "verdict", "evidence", "files", "differs")


class NotMeasuredError(LookupError):
    """A claim needs a table, or rows of a table, that no run has written yet."""


class Tables(dict[str, pd.DataFrame]):
    """Tables in a folder, keyed by study; remembers which ones were read."""

    def __init__(self, *given: object) -> None:
        super().__init__(*given)
        self.read: list[str] = []

    def __getitem__(self, name: str) -> pd.DataFrame:
        """Return a table; if it is missing, the claim is not decided."""
        if name not in self:
            raise NotMeasuredError(f"table of {name}")
        if name not in self.read:
            self.read.append(name)
        return super().__getitem__(name)


@dataclass(frozen=True)
class Claim:
    """A statement in a paper, and how measured tables decide it.

    Attributes
    ----------
    paper : str
        As in `Study.paper`.
    place : str
        One of the places of the source.
    claim : str
        What the paper says, in a sentence.
    evidence : callable
        Takes the tables by name of study; returns the measured numbers in a sentence.
    verdict : callable
        Takes the tables; returns one of `VERDICTS`, or whether they agree with the claim.
    differs : str or callable
        How the measured setting differs from the paper's, beyond the differences that its study
        lists; or a function that takes the tables and returns this description.
    row : str
        The row of the printed table that the claim is about: one of `Source.rows` of its place.
        Empty for a claim about something else.
    """

    paper: str
    place: str
    claim: str
    evidence: Callable[[Tables], str]
    verdict: Callable[[Tables], bool | str]
    differs: str | Callable[[Tables], str] = ""
    row: str = ""


def untested(
    paper: str, place: str, claim: str, why: str, verdict: str = NOT_TESTED, row: str = ""
) -> Claim:
    """Return a claim that no table can decide, with the reason."""
    return Claim(paper, place, claim, lambda tables: why, lambda tables: verdict, row=row)


def of_all(right: Iterable[bool]) -> str:
    """Return the verdict on cases that agree or not: all, at least half, or fewer."""
    found = list(right)
    return HOLDS if all(found) else IN_PART if 2 * sum(found) >= len(found) else FAILS


def counted(better: pd.Series, what: str) -> str:
    """State how often a condition holds, and on which data sets it does not."""
    worse = better[~better]
    text = f"{what} in {int(better.sum())} of {len(better)} pairs of data and epsilon"
    if worse.empty:
        return text
    cases = "; ".join(f"{name} at {epsilon:g}" for name, epsilon in worse.index)
    return f"{text}, not: {cases}"


Gaps = list[tuple[float, float]]
"""Differences that a claim says are positive, each with its standard error."""


def clearly(gaps: Gaps) -> str:
    """Return the verdict on differences: in part if at least half have this sign."""
    if all(gap > 2 * error for gap, error in gaps):
        return HOLDS
    return IN_PART if 2 * sum(gap > 0 for gap, _ in gaps) >= len(gaps) else FAILS


CLEARLY = (
    "holds if every difference is above two standard errors, in part if at least half have this "
    "sign"
)


def read_tables(folder: Path) -> Tables:
    """Read all tables of studies in a folder."""
    paths = sorted(folder.glob("*.csv"))
    others = {"claims", "studies"}
    return Tables({path.stem: pd.read_csv(path) for path in paths if path.stem not in others})


def decided(claims: Iterable[Claim], tables: Tables) -> pd.DataFrame:
    """Return a row per claim: source, place, claim, verdict, evidence and files read.

    Parameters
    ----------
    claims : iterable of Claim
    tables : Tables

    Returns
    -------
    DataFrame
        ``verdict`` is one of `VERDICTS`; "not tested" also if a table or a row of it is missing.
        ``files`` are the names of the tables, separated by spaces.
    """
    rows = []
    for claim in claims:
        tables.read.clear()
        try:
            found = claim.verdict(tables)
            evidence = claim.evidence(tables)
            said = claim.differs if isinstance(claim.differs, str) else claim.differs(tables)
        except LookupError as missing:
            found, evidence = NOT_TESTED, f"no {missing.args[0]}"
            said = claim.differs if isinstance(claim.differs, str) else ""
        verdict = found if isinstance(found, str) else HOLDS if found else FAILS
        files = " ".join(f"{name}.csv" for name in tables.read if name in tables)
        place = (claim.paper, claim.place, claim.row)
        rows.append((*place, claim.claim, verdict, evidence, files, said))
    return pd.DataFrame(rows, columns=list(COLUMNS))
