"""The ``dpexplain`` command."""

from __future__ import annotations

from dpexplain.cli.main import main

__all__ = ["main"]
