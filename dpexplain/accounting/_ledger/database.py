"""Ledgers in a database: one row per data set, with the text of a ledger file.

A charge locks the row, reads it, writes it with the next version number and commits. If the process
dies before the commit, the database rolls the charge back. The same SQL runs on PostgreSQL and
sqlite; SQLAlchemy makes the connections.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dpexplain._utils.extras import needed
from dpexplain.accounting._ledger.address import DatabaseAddress
from dpexplain.accounting._ledger.place import LedgerPlace, Version
from dpexplain.accounting._ledger.serialize import one_spelling
from dpexplain.exceptions import BudgetError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, Row

__all__ = ["LedgerRow"]

_TABLE = "dpexplain_ledgers"
# All PostgreSQL users must find the same table, regardless of their search paths.
_SCHEMA = {"postgresql": "public", "sqlite": None}
_CREATE = (
    f"CREATE TABLE {_TABLE} "
    "(dataset TEXT PRIMARY KEY, version BIGINT NOT NULL, document TEXT NOT NULL)"
)
_INSERT = f"INSERT INTO {_TABLE} VALUES (:dataset, 0, '') ON CONFLICT DO NOTHING"
_LOCK = f"UPDATE {_TABLE} SET version = version WHERE dataset = :dataset"
_SELECT = f"SELECT version, document FROM {_TABLE} WHERE dataset = :dataset"
_VERSION = f"SELECT version FROM {_TABLE} WHERE dataset = :dataset"
_UPDATE = (
    f"UPDATE {_TABLE} SET version = version + 1, document = :document WHERE dataset = :dataset"
)
_NAMES = f"SELECT dataset FROM {_TABLE} WHERE document <> '' ORDER BY dataset LIMIT 21"

# An acknowledged commit survives a crash of the server. Waiting for the row times out after a
# minute. A process that hangs during a charge, or whose machine is lost, keeps the row locked for
# at most five minutes.
_BEGIN = {
    "postgresql": "SELECT set_config('synchronous_commit', CASE WHEN "
    "current_setting('synchronous_commit') IN ('off', 'local') THEN 'on' ELSE "
    "current_setting('synchronous_commit') END, true), set_config('lock_timeout', '{wait}s', true),"
    " set_config('idle_in_transaction_session_timeout', '300s', true)",
    "sqlite": "PRAGMA synchronous = EXTRA",
}
_RIGHTS = (
    f"ask the owner of the database for SELECT, INSERT and UPDATE on the table public.{_TABLE}, "
    f"or to create it: {_CREATE.replace(_TABLE, 'public.' + _TABLE)}"
)
_NO_LEDGER = "check the address, or create the ledger with PrivacyLedger(name, path=address)"
_BUSY = "another process has locked the ledger; wait until it ends"
# Keys are SQLSTATE codes, or parts of the message if the driver reports no code.
_ADVICE = {
    "42501": _RIGHTS,
    "42p01": _NO_LEDGER,
    "no such table": _NO_LEDGER,
    "55p03": _BUSY,
    "database is locked": _BUSY,
    "password": "check user and password; the environment variable PGPASSWORD or a password file "
    "(~/.pgpass) passes it to worker processes as well",
    "does not exist": "check the address; the owner of the server creates databases and users",
    "unable to open database": "create the folder, or choose a writable one",
    "readonly": "choose a writable file",
    "not a database": "pass the right file",
}
_UNREACHABLE = "check that the server is running and that the address is correct"


class LedgerRow(LedgerPlace):
    """Ledger stored in a row of the database table ``dpexplain_ledgers``.

    Parameters
    ----------
    address : str
        Address of the database; see `DatabaseAddress`.
    dataset : str or None, default=None
        Data set of the ledger. If it is None and the address does not name one, the only ledger in
        the database is used.
    """

    def __init__(self, address: str, dataset: str | None = None) -> None:
        self._at = DatabaseAddress.of(address)
        self.files = self._at.files
        self.words = f"ledger database {self._at.shown!r}"
        self._engine = _engine(self._at, self.lock_seconds)
        self._here = threading.local()  # the connection of the thread that has locked the row
        named = self._at.dataset
        if named is not None and dataset is not None and one_spelling(named) != dataset:
            raise ValueError(
                f"the part of the address after '#' is not dataset={dataset!r}; remove that part."
            )
        given = one_spelling(named or dataset or "")
        name = given or self._only_name()
        if not name.isprintable() or given != given.strip():
            raise ValueError(
                f"dataset={name!r} must be printable, without blanks at its ends, for a ledger in "
                "a database."
            )
        self.name, self.address = name, self._at.of_dataset(name)
        self.words = f"ledger {name!r} in database {self._at.shown!r}"

    def exists(self) -> bool:
        """Return whether the row contains a ledger."""
        if any(not file.exists() for file in self.files):
            return False
        with self._connected() as connection:
            row = self._row(connection, _SELECT) if _has_table(connection) else None
        return row is not None and row.document != ""

    def prepare(self) -> None:
        """Create the table and an empty row if they do not exist."""
        with self._connected() as connection:
            if not _has_table(connection):
                self._create(connection)
            if self._row(connection, _VERSION) is None:
                self._run(connection, _INSERT)
                connection.commit()

    def _create(self, connection: Connection) -> None:
        from sqlalchemy.exc import DBAPIError

        try:
            self._run(connection, _CREATE)
            connection.commit()
        except DBAPIError:
            connection.rollback()
            if not _has_table(connection):  # otherwise another process has created it
                raise

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Lock the row in a transaction, which `write` or `remove` commits."""
        self._check_files()
        self._refuse_second_name()
        with self._connected() as connection:
            self._run(connection, _LOCK)
            self._here.connection = connection
            try:
                yield
            finally:
                self._here.connection = None

    def version(self) -> Version:
        """Return the version number of the last change; None if the row is missing."""
        self._check_files()
        with self._connected() as connection:
            row = self._row(connection, _VERSION)
        return None if row is None else row.version

    def read(self) -> tuple[str, Version]:
        """Return the document and the version number of its last change."""
        self._check_files()
        with self._connected() as connection:
            row = self._row(connection, _SELECT)
        if row is None or row.document == "":
            raise self.failure("does not exist", "check the address, or restore a copy")
        return row.document, row.version

    def write(self, text: str) -> Version:
        """Replace the document and commit."""
        self.check_size(text)
        with self._connected() as connection:
            changed = self._run(connection, _UPDATE, document=text).rowcount
            if changed != 1:
                raise self.failure("does not exist", "check the address, or restore a copy")
            row = self._row(connection, _VERSION)
            self._commit(connection)
        return None if row is None else row.version

    def remove(self) -> None:
        """Empty the row, but keep it, because another process may be waiting for its lock."""
        with self._connected() as connection:
            self._run(connection, _UPDATE, document="")
            self._commit(connection)

    def _commit(self, connection: Connection) -> None:
        from sqlalchemy.exc import DBAPIError

        try:
            connection.commit()
        except DBAPIError as error:
            raise BudgetError(
                f"{self.words} stopped responding during a charge ({self._reason(error)}); see "
                "ledger.entries for whether it was recorded. No data were read."
            ) from None

    def _only_name(self) -> str:
        self._check_files()
        with self._connected() as connection:
            names = [row.dataset for row in self._rows(connection, _NAMES)]
        if len(names) != 1:
            listed = ", ".join(map(repr, names[:20])) or "none"
            raise self.failure(
                f"holds these ledgers: {listed}", "append '#' and one of their names to the address"
            )
        return str(names[0])

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        """Yield the connection of this thread's open transaction, or else a new one.

        An error of the database driver is raised as a `BudgetError`.
        """
        from sqlalchemy.exc import DBAPIError

        held = getattr(self._here, "connection", None)
        try:
            if held is not None:
                yield held
                return
            with self._engine.connect() as connection:
                begin = _BEGIN[self._at.backend].format(wait=max(1, round(self.lock_seconds)))
                connection.exec_driver_sql(begin)
                yield connection
        except DBAPIError as error:
            raise self._failed(error) from None

    def _failed(self, error: Any) -> BudgetError:
        said = self._reason(error)
        code = str(getattr(error.orig, "sqlstate", None) or "").lower()
        text = f"{code} {said.lower()}"
        advice = next((advice for sign, advice in _ADVICE.items() if sign in text), _UNREACHABLE)
        return self.failure(f"cannot be used ({said})", advice)

    def _reason(self, error: Any) -> str:
        """Return the first line of the driver's message, with the password masked."""
        lines = str(error.orig or "no connection").strip().splitlines() or ["no reason given"]
        password = self._at.password
        return lines[0].replace(password, "***") if password else lines[0]

    def _check_files(self) -> None:
        """Raise an error if a file is missing, because sqlite would create it."""
        for file in self.files:
            if not file.exists():
                raise self.failure("does not exist", "check the address, or restore a copy")

    def _row(self, connection: Connection, statement: str) -> Row[Any] | None:
        return self._run(connection, statement).first()

    def _rows(self, connection: Connection, statement: str) -> list[Row[Any]]:
        return list(self._run(connection, statement))

    def _run(self, connection: Connection, statement: str, **values: str) -> Any:
        from sqlalchemy import text

        given = {"dataset": self.name, **values} if ":dataset" in statement else values
        schema = _SCHEMA[self._at.backend]
        table = _TABLE if schema is None else f"{schema}.{_TABLE}"
        return connection.execute(text(statement.replace(_TABLE, table)), given)


def _has_table(connection: Connection) -> bool:
    from sqlalchemy import inspect

    return inspect(connection).has_table(_TABLE, schema=_SCHEMA[connection.dialect.name])


def _engine(at: DatabaseAddress, lock_seconds: float) -> Engine:
    """Create an engine that opens a new connection for each transaction.

    Forked processes therefore never share a connection.
    """
    try:
        from sqlalchemy import create_engine
        from sqlalchemy.pool import NullPool

        options: dict[str, Any] = {"connect_args": {"timeout": lock_seconds}}
        if at.backend == "postgresql":
            wait = {} if "connect_timeout" in at.url.query else {"connect_timeout": 10}
            options = {"connect_args": wait, "isolation_level": "READ COMMITTED"}
        return create_engine(at.url, poolclass=NullPool, hide_parameters=True, **options)
    except ImportError:
        raise ImportError(
            needed("a ledger in a database", "sqlalchemy and psycopg", "database") + "."
        ) from None
