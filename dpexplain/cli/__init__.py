"""The command ``dpexplain``: fit, compare, report and account without writing Python."""

from __future__ import annotations

from dpexplain.cli.main import main

__all__ = ["main"]
