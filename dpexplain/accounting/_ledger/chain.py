"""The chain of hashes of a ledger, which shows that a file was changed by hand.

Each entry holds the hash of the one before, and so does each released file. The head covers the
last of both and the limits: data set, cap, delta, adjacency and unit. Whoever changes, removes or
reorders something without writing all later hashes anew is found out when the file is read.

The hashes are no secret. Whoever writes the whole chain anew, or puts back an older copy of the
file, is found out only by a head that was kept elsewhere: on a certificate, which may be signed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["BEFORE", "chained", "check_links", "digest", "first_link", "head_of"]

BEFORE = "previous"  # the field that holds the hash of the one before


def digest(content: object) -> str:
    """Hash plain data.

    Parameters
    ----------
    content : object
        Ready for JSON.

    Returns
    -------
    str
        SHA-256 of its only JSON form: sorted fields, no spaces.
    """
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def first_link(limits: Mapping[str, Any], kind: str) -> str:
    """Return the hash that a chain starts with: limits that never change.

    Parameters
    ----------
    limits : mapping
        Fields of the file above the entries.
    kind : str
        ``"entries"`` or ``"releases"``.

    Returns
    -------
    str
    """
    fixed = {name: limits[name] for name in ("dataset", "delta", "adjacency")}
    return digest({"dpexplain/ledger": kind, **fixed})


def chained(links: Iterable[dict[str, Any]], first: str) -> tuple[list[dict[str, Any]], str]:
    """Add the hash of the one before to each link.

    Parameters
    ----------
    links : iterable of dict
        Plain data of entries or released files, oldest first.
    first : str
        The hash before the first.

    Returns
    -------
    links : list of dict
        Copies with the field ``previous``.
    last : str
        The hash of the last one.
    """
    written, last = [], first
    for link in links:
        written.append({**link, BEFORE: last})
        last = digest(written[-1])
    return written, last


def head_of(limits: Mapping[str, Any], lasts: Sequence[str], counts: Sequence[int]) -> str:
    """Hash the limits and the ends of both chains.

    Parameters
    ----------
    limits : mapping
        Fields of the file above the entries.
    lasts : sequence of str
        Hash of the last entry, and of the last released file.
    counts : sequence of int
        Numbers of both.

    Returns
    -------
    str
    """
    return digest({"limits": dict(limits), "lasts": list(lasts), "counts": list(counts)})


def check_links(
    found: Sequence[Mapping[str, Any]], expected: Sequence[Mapping[str, Any]], what: str
) -> None:
    """Compare the hashes in a file with those that its content has.

    Parameters
    ----------
    found, expected : sequence of dict
        Links as read, and as the content requires.
    what : str
        ``"entry"`` or ``"released file"``.

    Raises
    ------
    ValueError
        If they differ, with the index of the first that does.
    """
    for place, (one, other) in enumerate(zip(found, expected, strict=True)):
        if one[BEFORE] != other[BEFORE]:
            before = "the limits" if place == 0 else f"{what} {place - 1} or one before it"
            raise ValueError(
                f"the chain of hashes breaks at {what} {place}: {before} was changed, removed or "
                "reordered by hand."
            )
