"""Privacy statements: guarantees for a release, and for all fits on a data set.

They are created from ledger summaries and guarantees, without models or data.
"""

from __future__ import annotations

from dpexplain.statement.promise import Promise
from dpexplain.statement.statement import PrivacyStatement, statement_of

__all__ = ["PrivacyStatement", "Promise", "statement_of"]
