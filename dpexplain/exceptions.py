"""Warnings and errors of dpexplain."""

from __future__ import annotations

__all__ = ["BudgetError", "PrivacyWarning", "SchemaError"]


class PrivacyWarning(UserWarning):
    """Warning that something is outside the guarantee, or that the guarantee is weak.

    Examples are bounds computed from the data, an epsilon above 10, and a delta of at least 1
    divided by the number of records.
    """


class BudgetError(ValueError):
    """Error raised if a ledger refuses a charge or cannot record it.

    A refused charge touches no data and leaves the ledger unchanged. If a database stopped
    responding, the charge may have been recorded; the message then says so.
    """


class SchemaError(ValueError):
    """Error raised if a schema is invalid or does not match the columns of a table.

    The message may contain names, bounds and shapes, which are public, but never values from
    records.
    """
