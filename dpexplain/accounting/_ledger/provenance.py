"""Public facts about charges and released files: who, when and why."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from dpexplain._utils.validation import check_count, shown

if TYPE_CHECKING:
    from dpexplain.schema import Schema

__all__ = ["Provenance", "ReleasedFile", "check_hash", "provenance_of", "schema_hash", "utc_day"]

_LONGEST = 500
_HASH = re.compile(r"[0-9a-f]{64}")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class Provenance:
    """Public facts about a charge or a release, all of them optional.

    The facts must not be computed from records. The time of day is omitted from the date,
    because it could reveal how long a computation on the records took.

    Parameters
    ----------
    date : str, default=""
        Day in UTC, such as ``"2026-03-31"``.
    person : str, default=""
        Person responsible.
    purpose : str, default=""
        Purpose of the release.
    target : str, default=""
        Name of what the model predicts.
    schema : str, default=""
        SHA-256 hash of the public schema; see `dpexplain.certificate.schema_hash`.

    Raises
    ------
    ValueError
        If a fact is not one line of at most 500 printable characters, the date is not a valid day,
        or the hash is not 64 hexadecimal digits.

    Examples
    --------
    >>> Provenance(date="2026-03-31", person="A. Curie", purpose="annual report").person
    'A. Curie'
    """

    date: str = ""
    person: str = ""
    purpose: str = ""
    target: str = ""
    schema: str = ""

    def __post_init__(self) -> None:
        for name in _FACTS:
            value = getattr(self, name)
            if not isinstance(value, str) or len(value) > _LONGEST or not value.isprintable():
                raise ValueError(
                    f"{name}={shown(value)} must be one line of at most {_LONGEST} printable "
                    "characters."
                )
        if self.date and not _is_day(self.date):
            raise ValueError(f"date={self.date!r} must be a day in UTC such as '2026-03-31'.")
        if self.schema:
            check_hash("schema", self.schema)

    def filled(self, other: Provenance) -> Provenance:
        """Fill in missing facts from another provenance.

        Parameters
        ----------
        other : Provenance
            Provenance that supplies the missing facts.

        Returns
        -------
        Provenance
        """
        missing = {name: getattr(other, name) for name in _FACTS if not getattr(self, name)}
        return replace(self, **missing)

    def to_dict(self) -> dict[str, str]:
        """Return the known facts as plain data.

        Returns
        -------
        dict of str
        """
        return {name: getattr(self, name) for name in _FACTS if getattr(self, name)}

    @classmethod
    def from_dict(cls, content: object) -> Provenance:
        """Strictly parse the output of `to_dict`.

        Parameters
        ----------
        content : mapping
            Output of `to_dict`.

        Returns
        -------
        Provenance

        Raises
        ------
        ValueError
            If a field is unknown, empty or out of range.
        """
        if not isinstance(content, Mapping) or not set(content) <= set(_FACTS):
            raise ValueError(f"provenance has only these fields: {', '.join(_FACTS)}.")
        if not all(content.values()):
            raise ValueError("provenance must omit unknown facts.")
        return cls(**content)


_FACTS = tuple(each.name for each in fields(Provenance))


@dataclass(frozen=True)
class ReleasedFile:
    """A released file that belongs to an entry of a ledger.

    Parameters
    ----------
    entry : int
        Index of the entry, counting from 0.
    sha256 : str
        SHA-256 hash of the file's bytes, as printed by `sha256sum`.
    provenance : Provenance, optional
        Public facts about the release, such as who made it, when and why.

    Examples
    --------
    >>> from dpexplain.accounting import ReleasedFile
    >>> ReleasedFile(entry=0, sha256="0" * 64).entry
    0
    """

    entry: int
    sha256: str
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        check_count("entry", self.entry, 0)
        check_hash("sha256", self.sha256)
        if not isinstance(self.provenance, Provenance):
            raise ValueError(f"provenance={shown(self.provenance)} must be a Provenance.")

    def to_dict(self) -> dict[str, Any]:
        """Convert the released file to plain data for JSON.

        Returns
        -------
        dict
        """
        return {
            "entry": self.entry,
            "sha256": self.sha256,
            "provenance": self.provenance.to_dict(),
        }


def check_hash(name: str, value: object) -> str:
    """Check that a value is a SHA-256 hash written in hexadecimal digits.

    Parameters
    ----------
    name : str
        Name of the value in the error message.
    value : object
        The value to check.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If the value is not a SHA-256 hash written in hexadecimal digits.
    """
    if not isinstance(value, str) or not _HASH.fullmatch(value):
        raise ValueError(f"{name}={shown(value)} must be a SHA-256: 64 hexadecimal digits.")
    return value


def schema_hash(schema: Schema) -> str:
    """Compute the SHA-256 hash of a public schema.

    Parameters
    ----------
    schema : Schema
        Schema passed to a fit or read from a TOML file, never one inferred from private data.

    Returns
    -------
    str
        SHA-256 hash of the TOML that `Schema.to_toml` writes. It depends on the order of the
        features, but not on comments in a file or on the order of the fields of one feature.

    Examples
    --------
    >>> from dpexplain import Numeric, Schema
    >>> from dpexplain.certificate import schema_hash
    >>> len(schema_hash(Schema({"age": Numeric(17, 90)})))
    64
    """
    return hashlib.sha256(schema.to_toml().encode("utf-8", "surrogatepass")).hexdigest()


def provenance_of(schema: Schema | None) -> Provenance:
    """Create a provenance from the target and the hash of a public schema.

    If the schema is None, or was read from records, the provenance is empty.
    """
    if schema is None or schema.read_from_records:
        return Provenance()
    name = "" if schema.target is None else schema.target.name
    known = name if name.isprintable() and len(name) <= _LONGEST else ""
    return Provenance(target=known, schema=schema_hash(schema))


def utc_day() -> str:
    """Return today's date in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%d")


def _is_day(text: str) -> bool:
    if not _DAY.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
