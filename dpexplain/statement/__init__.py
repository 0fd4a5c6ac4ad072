"""Privacy statement for a release and for everything fitted.

It is built from summaries and guarantees, so it needs neither models nor data.
"""

from __future__ import annotations

from dpexplain.statement.promise import Promise
from dpexplain.statement.statement import PrivacyStatement, statement_of

__all__ = ["PrivacyStatement", "Promise", "statement_of"]
