"""Tables as they come: files of text, read line by line."""

from __future__ import annotations

from dpexplain.tables.lines import LineFormat, read_guessed, read_texts

__all__ = ["LineFormat", "read_guessed", "read_texts"]
