"""Privacy statements: guarantees for a release, and for all fits on a data set.

A statement is created from the summary of a ledger and, for a statement about one model, the
guarantee of that model. The model and the data are not needed.
"""

from __future__ import annotations

from dpexplain.statement.promise import Promise
from dpexplain.statement.statement import PrivacyStatement, statement_of

__all__ = ["PrivacyStatement", "Promise", "statement_of"]
