"""Claims of the papers, each held against the tables that were measured here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd


class NotMeasuredError(LookupError):
    """A claim needs a table, or rows of one, that no run has written yet."""


class Tables(dict[str, pd.DataFrame]):
    """The tables of a folder by the names of their studies."""

    def __missing__(self, name: str) -> pd.DataFrame:
        """Say which study is missing; a claim that needs it is not decided."""
        raise NotMeasuredError(f"table of {name}")


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, and how the measured tables decide it.

    Attributes
    ----------
    paper : str
        As in `Study.paper`.
    claim : str
        What the paper says, in a sentence.
    evidence : callable
        Takes the tables by name of study; returns the measured numbers in a sentence.
    holds : callable
        Takes the tables; whether they agree with the claim.
    """

    paper: str
    claim: str
    evidence: Callable[[Tables], str]
    holds: Callable[[Tables], bool]


def read_tables(folder: Path) -> Tables:
    """All tables of studies in a folder."""
    paths = sorted(folder.glob("*.csv"))
    others = {"claims", "studies"}
    return Tables({path.stem: pd.read_csv(path) for path in paths if path.stem not in others})


def decided(claims: Iterable[Claim], tables: Tables) -> pd.DataFrame:
    """One row per claim: paper, claim, whether it holds here, and the evidence.

    Parameters
    ----------
    claims : iterable of Claim
    tables : Tables

    Returns
    -------
    DataFrame
        ``holds`` is "yes", "no", or "not measured" where a table or a row of it is missing.
    """
    rows = []
    for claim in claims:
        try:
            verdict = "yes" if claim.holds(tables) else "no"
            evidence = claim.evidence(tables)
        except LookupError as missing:
            verdict, evidence = "not measured", f"no {missing.args[0]}"
        row = {"paper": claim.paper, "claim": claim.claim, "holds": verdict, "evidence": evidence}
        rows.append(row)
    return pd.DataFrame(rows, columns=["paper", "claim", "holds", "evidence"])
