"""Warnings and errors of dpexplain."""

from __future__ import annotations

__all__ = ["BudgetError", "HealthWarning", "PrivacyWarning", "SchemaError"]


class PrivacyWarning(UserWarning):
    """Warning that something is outside the guarantee, or that the guarantee is weak.

    Examples are bounds computed from the data, an epsilon above 10, and a delta of at least 1/n
    for n records.

    Examples
    --------
    >>> import warnings
    >>> from dpexplain import PrivacyWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", PrivacyWarning)    # stop rather than warn
    """


class HealthWarning(UserWarning):
    """Warning that the numbers released by a fit point to a mistake in the table.

    The warning lists the alarms of the model's health check. Like that check, it depends on
    released numbers alone, so it costs no privacy. If the fit is not private, the warning says so.

    Examples
    --------
    >>> import warnings
    >>> from dpexplain import HealthWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", HealthWarning)    # call model.health() instead
    """


class BudgetError(ValueError):
    """Error raised if a ledger refuses a charge or cannot record it.

    A refused charge touches no data and leaves the ledger unchanged. If a database stopped
    responding, the charge may have been recorded; the message then says so.

    Examples
    --------
    >>> from dpexplain import BudgetError, PrivacyLedger
    >>> from dpexplain.accounting import PureEvent
    >>> ledger = PrivacyLedger("polls", cap_epsilon=0.2)
    >>> try:
    ...     ledger.charge([PureEvent("pairs", epsilon=0.25)], label="choice")
    ... except BudgetError:
    ...     print("refused, and nothing was spent")
    refused, and nothing was spent
    >>> ledger.total_epsilon()
    0.0
    """


class SchemaError(ValueError):
    """Error raised if a schema is invalid or does not match the columns of a table.

    The message may contain names, bounds and shapes, which are public, but never values from
    records.

    Examples
    --------
    >>> from dpexplain import Numeric, SchemaError
    >>> try:
    ...     Numeric(90, 17)
    ... except SchemaError as error:
    ...     print(str(error)[:38])
    Numeric: low=90 must be below high=17;
    """
