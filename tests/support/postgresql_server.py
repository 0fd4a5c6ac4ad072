"""A PostgreSQL server of its own for a test, where one is installed."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest


@contextlib.contextmanager
def postgresql_server() -> Iterator[Path]:
    """Start a server that only a socket in a new folder reaches, and stop it at the end.

    Yields
    ------
    Path
        The folder of the socket.
    """
    found = shutil.which("initdb") or next(
        map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)), None
    )
    if found is None or shutil.which("psql") is None:
        pytest.skip("PostgreSQL is not installed")
    programs = Path(found).parent
    # The server refuses to run as root; Debian's package has a user for it.
    user = "postgres" if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    try:
        if user:
            shutil.chown(folder, user)
        options = f"-c listen_addresses='' -c fsync=off -k {folder}"
        for command in (
            ["initdb", "-A", "trust", "-U", "test", "-E", "UTF8", "--locale=C"],
            ["pg_ctl", "-o", options, "-l", str(folder / "log"), "-w", "start"],
        ):
            name, *rest = command
            subprocess.run(
                [str(programs / name), "-D", str(folder / "data"), *rest],
                user=user,
                cwd=folder,
                check=True,
                stdout=subprocess.DEVNULL,
            )
        try:
            yield folder
        finally:
            stop = [str(programs / "pg_ctl"), "-D", str(folder / "data"), "-m", "fast", "stop"]
            subprocess.run(stop, user=user, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def queried(folder: Path, sql: str, rows: str = "") -> str:
    """Run SQL on the server of a folder, with rows for a COPY, and return the answer as CSV."""
    command = ["psql", "-h", str(folder), "-U", "test", "-d", "postgres", "-q", "--csv"]
    answer = subprocess.run(
        [*command, "-v", "ON_ERROR_STOP=1", "-c", sql], input=rows, capture_output=True, text=True
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def frame_of_query(folder: Path, frame: pd.DataFrame, name: str, query: str) -> pd.DataFrame:
    """Store a frame as a table of doubles and texts, and return the answer to a query."""
    names = ['"' + column.replace('"', '""') + '"' for column in frame]
    kinds = ["double precision" if frame[c].dtype.kind == "f" else "text" for c in frame]
    columns = ", ".join(f"{n} {kind}" for n, kind in zip(names, kinds, strict=True))
    queried(folder, f'DROP TABLE IF EXISTS "{name}"; CREATE TABLE "{name}" ({columns})')
    empty = "no cell"
    cells = frame.astype(object).where(frame.notna(), empty)
    copy = f"COPY \"{name}\" FROM STDIN WITH (FORMAT csv, NULL '{empty}', HEADER)"
    queried(folder, copy, cells.to_csv(index=False))
    return pd.read_csv(io.StringIO(queried(folder, query)), keep_default_na=False)
