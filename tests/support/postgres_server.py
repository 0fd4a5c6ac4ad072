"""A PostgreSQL server for a single test: in a temporary folder, without a network."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

_UNPRIVILEGED = "postgres"  # the server refuses to run as root


class Server:
    """Server on a socket in a folder; everybody but its owner needs a password.

    Parameters
    ----------
    folder : Path
        Writable for the owner, and short: names of sockets have at most 107 characters.
    programs : Path
        Folder of ``initdb`` and ``pg_ctl``.
    """

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder, self.programs = folder, programs
        root = os.geteuid() == 0
        self._owner = {"user": _UNPRIVILEGED, "group": _UNPRIVILEGED} if root else {}
        if root:
            shutil.chown(folder, _UNPRIVILEGED, _UNPRIVILEGED)
        self._run("initdb", "-U", "owner", "-A", "trust", "-N", "-E", "UTF8", "--locale=C")
        rules = "local all owner trust\nlocal all all scram-sha-256\n"
        (self.data / "pg_hba.conf").write_text(rules)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def start(self) -> None:
        options = f"-k {self.folder} -c listen_addresses='' -c fsync=off -c max_connections=50"
        self._run("pg_ctl", "start", "-w", "-l", str(self.folder / "log"), "-o", options)

    def stop(self, how: str = "fast") -> None:
        self._run("pg_ctl", "stop", "-w", "-m", how)

    def url(self, user: str = "owner", database: str = "postgres") -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def sql(self, statement: str) -> list[tuple[object, ...]]:
        import psycopg

        with psycopg.connect(f"host={self.folder} user=owner dbname=postgres") as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def _run(self, program: str, *arguments: str) -> None:
        # A server keeps the pipes of whoever starts it, so its words go to a file.
        said = self.folder / "said"
        with said.open("w") as words:
            done = subprocess.run(
                [self.programs / program, "-D", self.data, *arguments],
                stdout=words, stderr=words, cwd="/", timeout=120, **self._owner,
            )  # fmt: skip
        assert done.returncode == 0, said.read_text()


@contextmanager
def running_server() -> Iterator[Server]:
    """Start a server; skip the test if none is installed."""
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="dpx"))
    try:
        server = Server(folder, programs)
        server.start()
        try:
            yield server
        finally:
            server.stop("immediate")
    finally:
        shutil.rmtree(folder)


def _programs() -> Path:
    pytest.importorskip("psycopg", reason="the driver psycopg of the extra database is missing")
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    usable = [place for place in places if (place / "initdb").exists()]
    if not usable:
        pytest.skip("PostgreSQL (initdb, pg_ctl) is not installed")
    if os.geteuid() == 0:
        pwd = pytest.importorskip("pwd")
        if _UNPRIVILEGED not in {each.pw_name for each in pwd.getpwall()}:
            pytest.skip(f"the user {_UNPRIVILEGED} is missing, and root cannot run PostgreSQL")
    return usable[0]


def queried(folder: Path, sql: str, rows: str = "") -> str:
    """Run SQL on a folder's server, with rows for a COPY, and return the result as CSV."""
    command = ["psql", "-h", str(folder), "-U", "owner", "-d", "postgres", "-q", "--csv"]
    answer = subprocess.run(
        [*command, "-v", "ON_ERROR_STOP=1", "-c", sql], input=rows, capture_output=True, text=True,
        timeout=120,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def frame_of_query(folder: Path, frame: pd.DataFrame, name: str, query: str) -> pd.DataFrame:
    """Store a frame as a table of doubles and strings, and return the result of a query."""
    names = ['"' + column.replace('"', '""') + '"' for column in frame]
    kinds = ["double precision" if frame[c].dtype.kind == "f" else "text" for c in frame]
    columns = ", ".join(f"{n} {kind}" for n, kind in zip(names, kinds, strict=True))
    queried(folder, f'DROP TABLE IF EXISTS "{name}"; CREATE TABLE "{name}" ({columns})')
    empty = "no cell"
    cells = frame.astype(object).where(frame.notna(), empty)
    copy = f"COPY \"{name}\" FROM STDIN WITH (FORMAT csv, NULL '{empty}', HEADER)"
    queried(folder, copy, cells.to_csv(index=False))
    return pd.read_csv(io.StringIO(queried(folder, query)), keep_default_na=False)
