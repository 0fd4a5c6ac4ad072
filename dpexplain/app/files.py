"""Ensure that the form never replaces a file and never shows one with records."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from dpexplain.app.answers import AnswerError, at
from dpexplain.cli.accounts import ledger_place
from dpexplain.cli.errors import CommandError
from dpexplain.cli.options import check_place


def beside(model: Path) -> dict[str, Path]:
    """Return a model's other files: schema, page and certificate (HTML and PDF)."""
    return {
        "schema": model.with_suffix(".schema.toml"),
        "page": model.with_suffix(".html"),
        "certificate": model.with_suffix(".certificate.html"),
        "pdf": model.with_suffix(".certificate.pdf"),
    }


def check_files(asked: argparse.Namespace) -> None:
    """Check that a fit can write its model and the files that belong to it.

    Parameters
    ----------
    asked : argparse.Namespace
        Parsed arguments of the ``fit`` command.

    Raises
    ------
    AnswerError
        If one of the files exists, is the ledger, or cannot be written.
    """
    with at("ledger"):
        kept = ledger_place(asked).files
    with at("out"):
        check_place(asked.out, suffixes=(".json",), kept=kept)
        for path in (asked.out, *beside(asked.out).values()):
            check_place(path, suffixes=(path.suffix,), kept=kept)
            if os.path.lexists(path):
                raise AnswerError("out", f"{path} exists; enter another name.")


@contextlib.contextmanager
def created(path: Path, *, mode: int = 0o666) -> Iterator[None]:
    """Create a file for a ``with`` block to fill, and delete it if it stays empty.

    Parameters
    ----------
    path : Path
        The file.
    mode : int, default=0o666
        Permissions, which the umask limits further.

    Raises
    ------
    CommandError
        If the file already exists; existing files are never replaced.
    """
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
    except FileExistsError:
        raise CommandError(
            f"{path} exists and is not replaced; rename or delete it, then try again."
        ) from None
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            if not path.stat().st_size:
                path.unlink()


def holds_records(path: Path, table: Path) -> bool:
    """Return whether a file or folder has any file in common with the private table.

    A copy of a file counts as the same file; empty files are ignored.

    Parameters
    ----------
    path : Path
        File or folder that should be public.
    table : Path
        The private table, a file or folder.

    Returns
    -------
    bool
    """
    real, private = path.resolve(), table.resolve()
    if real == private or private in real.parents or real in private.parents:
        return path.exists()
    records = _files(table)
    return any(
        file.stat().st_size == other.stat().st_size
        and (os.path.samefile(file, other) or _hash(file) == _hash(other))
        for file in _files(path)
        for other in records
    )


def _files(path: Path) -> list[Path]:
    """List the nonempty files at a path, which can be a folder or a single file."""
    found = path.rglob("*") if path.is_dir() else [path]
    return [file for file in found if file.is_file() and file.stat().st_size]


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
