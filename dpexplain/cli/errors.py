"""What a command refuses, in words for the person at the terminal."""

from __future__ import annotations


class CommandError(Exception):
    """The command line asks for what cannot be done; nothing was spent."""
