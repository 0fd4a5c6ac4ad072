"""Explanations, comparisons and ledger summaries as JSON: exact, versioned, checked strictly.

A file holds released numbers only, so it can be opened by someone who has neither model nor
data. Reading runs no code from the file and refuses whatever it does not know.
"""

from __future__ import annotations

from dpexplain.io.files import load, save
from dpexplain.io.kinds import from_json, to_json

__all__ = ["from_json", "load", "save", "to_json"]
