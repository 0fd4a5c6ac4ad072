"""Warnings and errors that a caller may want to tell apart."""

from __future__ import annotations

__all__ = ["BudgetError", "PrivacyWarning", "SchemaError"]


class PrivacyWarning(UserWarning):
    """Something is outside the stated guarantee, or the guarantee promises little.

    Examples are bounds that were read from the data, an epsilon above 10, or a delta that is
    not small against the number of records.
    """


class BudgetError(ValueError):
    """A ledger refuses a charge, or cannot record it.

    It is raised before any data are touched and leaves the ledger as it was.
    """


class SchemaError(ValueError):
    """A schema, or the columns of a table, do not say what the library needs to know.

    The text speaks of names, bounds and shapes, which are public, and never of a value of a
    record.
    """
