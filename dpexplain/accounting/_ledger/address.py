"""Addresses of ledgers in databases; error messages never show a password."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from dpexplain._utils.extras import needed

if TYPE_CHECKING:
    from sqlalchemy import URL

__all__ = ["DatabaseAddress", "check_not_an_address"]

_SCHEMES = {
    "postgresql": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
    "sqlite": "sqlite",
}
# user:password@host:port. Anything else may be a password with unescaped characters.
_AUTHORITY = re.compile(r"([^@:]*(:[^@:]*)?@)?([\w.-]*|\[[0-9A-Fa-f:.%]+\])(:\d{1,5})?")
# Options that contain no secret and do not lead to another database or table.
_OPTIONS = {
    "application_name", "connect_timeout", "host", "passfile", "port",
    "sslcert", "sslkey", "sslmode", "sslrootcert",
}  # fmt: skip
_BEGINNING = re.compile(r"\s*(postgres(ql)?|sqlite)(\+\w+)?:", re.IGNORECASE)
_FORMS = (
    "expected postgresql://user@host/database or sqlite:////folder/file.db, with #name for one of "
    "several ledgers"
)
_ESCAPES = (
    f"cannot parse the address of the database; {_FORMS}. In user, password and names, write "
    "@ : / ? # as %40 %3A %2F %3F %23. The address is not shown because it may contain a password."
)


def check_not_an_address(path: str | os.PathLike[str]) -> None:
    """Reject a file name that looks like a mistyped database address.

    The error message does not quote the name, because it may contain a password.

    Parameters
    ----------
    path : path-like
        Name of the file.

    Raises
    ------
    ValueError
        If the name looks like a database address.
    """
    if _BEGINNING.match(os.fsdecode(path)):
        raise ValueError(_ESCAPES)


@dataclass(frozen=True)
class DatabaseAddress:
    """Address of a database, with the name of a data set if one follows ``#``.

    Parameters
    ----------
    url : sqlalchemy.URL
        URL that may contain a password, which is hidden when the URL is printed.
    dataset : str or None
        Name of the data set; None if the address does not name one.
    """

    url: URL
    dataset: str | None

    @classmethod
    def of(cls, address: str) -> DatabaseAddress:
        """Parse an address.

        Parameters
        ----------
        address : str
            Address such as ``postgresql://user@host/database#readmissions`` or
            ``sqlite:///file.db``.

        Returns
        -------
        DatabaseAddress

        Raises
        ------
        ValueError
            If the address cannot be parsed; the message never quotes it.
        ImportError
            If SQLAlchemy is not installed.
        """
        try:
            from sqlalchemy import make_url
        except ImportError:
            raise ImportError(
                needed("a ledger in a database", "sqlalchemy and psycopg", "database") + "."
            ) from None

        whole, _, name = address.partition("#")
        scheme, _, rest = whole.partition("://")
        if scheme not in _SCHEMES:
            raise ValueError(_ESCAPES)
        if _SCHEMES[scheme] != "sqlite":
            authority, slash, _ = rest.partition("/")
            clear = _AUTHORITY.fullmatch(authority) is not None
            if not (clear and slash and f"{rest}{name}".count("@") == authority.count("@")):
                raise ValueError(_ESCAPES)
        try:
            url = make_url(f"{_SCHEMES[scheme]}://{rest}")
        except Exception:  # its message may quote a password
            raise ValueError(_ESCAPES) from None
        if url.drivername != "sqlite" and not set(url.query) <= _OPTIONS:
            raise ValueError(
                f"the address of the database has options other than {', '.join(sorted(_OPTIONS))} "
                "after '?', which could hold a password or lead to another ledger. For a password "
                "use user:password@host, the environment variable PGPASSWORD or a password file."
            )
        if not url.database:
            raise ValueError(_ESCAPES)
        if _several_hosts(url):
            raise ValueError(
                "the address of the database names several hosts, each of which could hold another "
                "budget; name one host, and one port."
            )
        if url.drivername != "sqlite" and (leading := _leads_elsewhere(url)):
            raise ValueError(
                f"the environment variable {leading} could lead this address to another server and "
                "thus to another budget; unset it, and name one host in the address."
            )
        if url.drivername == "sqlite":
            url = _on_disk(url)
        return cls(url, unquote(name) or None)

    @property
    def backend(self) -> str:
        """Name of the database system, ``"postgresql"`` or ``"sqlite"``."""
        return self.url.get_backend_name()

    @property
    def files(self) -> tuple[Path, ...]:
        """Tuple containing the file of a sqlite database; empty for PostgreSQL."""
        return (Path(self.url.database or ""),) if self.backend == "sqlite" else ()

    @property
    def password(self) -> str:
        """Password in the address; an empty string if there is none."""
        return str(self.url.password or "")

    @property
    def shown(self) -> str:
        """Address without its password and options, for use in messages."""
        return self._without_password().set(query={}).render_as_string()

    def of_dataset(self, dataset: str) -> str:
        """Return the address of one ledger, without the password.

        Parameters
        ----------
        dataset : str
            Name of the data set to which this ledger belongs.

        Returns
        -------
        str
        """
        return f"{self._without_password().render_as_string()}#{quote(dataset, safe='')}"

    def _without_password(self) -> URL:
        from sqlalchemy import URL

        u = self.url  # `set` cannot remove a password
        return URL.create(self.backend, u.username, None, u.host, u.port, u.database, u.query)


def _several_hosts(url: URL) -> bool:
    """Return whether a connection would have several hosts or ports to choose from.

    They can be given in the address or, if it names no host or no port, in libpq's environment
    variables (``PGHOST``, ``PGHOSTADDR`` and ``PGPORT``).
    """
    given = [url.query.get(name, "") for name in ("host", "port")]
    if url.drivername == "sqlite":
        return False
    if not (url.host or given[0]):
        given += [os.environ.get("PGHOST", ""), os.environ.get("PGHOSTADDR", "")]
    if not (url.port or given[1]):
        given.append(os.environ.get("PGPORT", ""))
    twice = (url.host and given[0]) or (url.port and given[1])
    return bool(twice) or any(not isinstance(each, str) or "," in each for each in given)


def _leads_elsewhere(url: URL) -> str | None:
    """Return a libpq environment variable that could override the host, if one is set.

    There are two: ``PGSERVICE`` names a file that can specify other hosts, and ``PGHOSTADDR``, if
    set, takes precedence over the host in the address.
    """
    if os.environ.get("PGSERVICE"):
        return "PGSERVICE"
    named = url.host or url.query.get("host")
    return "PGHOSTADDR" if named and os.environ.get("PGHOSTADDR") else None


def _on_disk(url: URL) -> URL:
    """Return a sqlite URL whose path does not depend on the working directory."""
    if url.host or url.query or not url.database or url.database.startswith((":", "file:")):
        raise ValueError(
            "a ledger in sqlite needs a file, because a database in memory ends with its "
            "connection; write sqlite:////folder/file.db, or omit path for a ledger in memory."
        )
    return url.set(database=str(Path(url.database).expanduser().resolve()))
