"""Hash chain that reveals manual changes to a ledger file.

Each entry contains the hash of the entry before it, and each released file contains the hash of the
released file before it. The head is a hash of the limits (data set, cap, delta, adjacency and
unit), the length of each chain, and the last hash of each chain. If something is changed, removed
or reordered and the later hashes are not recomputed, reading the file fails.

The hashes are not secret. A recomputed chain or a restored older copy of the file can be detected
only by comparison with a head that was kept elsewhere, such as on a signed certificate.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["BEFORE", "chained", "check_links", "digest", "first_link", "head_of"]

BEFORE = "previous"  # the field that contains the hash of the previous link


def digest(content: object) -> str:
    """Compute the SHA-256 hash of JSON-serializable data.

    Parameters
    ----------
    content : object
        JSON-serializable data.

    Returns
    -------
    str
        SHA-256 hash of the canonical JSON form, which has sorted keys and no spaces.
    """
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def first_link(limits: Mapping[str, Any], kind: str) -> str:
    """Return the first hash of a chain, computed from limits that never change.

    Parameters
    ----------
    limits : mapping
        Fields that precede the entries in the file.
    kind : str
        ``"entries"`` or ``"releases"``.

    Returns
    -------
    str
    """
    fixed = {name: limits[name] for name in ("dataset", "delta", "adjacency")}
    return digest({"dpexplain/ledger": kind, **fixed})


def chained(links: Iterable[dict[str, Any]], first: str) -> tuple[list[dict[str, Any]], str]:
    """Store in each link the hash of the link before it.

    Parameters
    ----------
    links : iterable of dict
        Plain data of entries or released files, oldest first.
    first : str
        The hash that precedes the first link.

    Returns
    -------
    links : list of dict
        Copies of the links with the additional field ``previous``.
    last : str
        The hash of the last link.
    """
    written, last = [], first
    for link in links:
        written.append({**link, BEFORE: last})
        last = digest(written[-1])
    return written, last


def head_of(limits: Mapping[str, Any], lasts: Sequence[str], counts: Sequence[int]) -> str:
    """Hash the limits and the ends of the entry and release chains.

    Parameters
    ----------
    limits : mapping
        Fields that precede the entries in the file.
    lasts : sequence of str
        Hashes of the last entry and of the last released file.
    counts : sequence of int
        Number of entries and number of released files.

    Returns
    -------
    str
    """
    return digest({"limits": dict(limits), "lasts": list(lasts), "counts": list(counts)})


def check_links(
    found: Sequence[Mapping[str, Any]], expected: Sequence[Mapping[str, Any]], what: str
) -> None:
    """Compare the hashes in a file with the hashes computed from its content.

    Parameters
    ----------
    found, expected : sequence of dict
        Links read from the file, and links computed from its content.
    what : str
        ``"entry"`` or ``"released file"``.

    Raises
    ------
    ValueError
        If a hash differs; the message gives the index of the first link that differs.
    """
    for place, (one, other) in enumerate(zip(found, expected, strict=True)):
        if one[BEFORE] != other[BEFORE]:
            before = "the limits" if place == 0 else f"{what} {place - 1} or one before it"
            raise ValueError(
                f"the hash chain breaks at {what} {place}: {before} was changed, removed or "
                "reordered by hand."
            )
