"""Schemas from data dictionaries, with one line for each column of a table."""

from __future__ import annotations

from dpexplain.schema.dictionary.fields import dictionary_fields

__all__ = ["dictionary_fields"]
