"""Tables, in memory or in chunks, and their encoding."""

from __future__ import annotations

from dpexplain.tables.line_format import LineFormat
from dpexplain.tables.lines import read_guessed, read_texts

__all__ = ["LineFormat", "read_guessed", "read_texts"]
