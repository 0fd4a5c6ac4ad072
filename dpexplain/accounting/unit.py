"""Whom a charge protects: the unit of privacy, in words that guarantees and entries share."""

from __future__ import annotations

__all__ = ["ONE_RECORD", "privacy_unit"]

ONE_RECORD = "one record"
"""Unit of privacy where nobody bounds how many rows a person has."""


def privacy_unit(max_rows_per_person: int | None) -> str:
    """Name whom a guarantee protects.

    Parameters
    ----------
    max_rows_per_person : int or None
        Rows of a person that are used at most; None where rows are not counted by person.

    Returns
    -------
    str
        For guarantees, entries of ledgers and statements.
    """
    if max_rows_per_person is None:
        return ONE_RECORD
    return f"one person, of whom at most {max_rows_per_person} rows are used"
