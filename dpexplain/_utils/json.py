"""Strict JSON: limited in size, with no NaN, repeated fields or huge integers.

A dpexplain document is a JSON object with the fields format, version and content.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

MAX_BYTES: Final = 64 * 2**20
VERSION: Final = 1
_PREFIX: Final = "dpexplain/"
_BYTES_PER_VALUE = 16  # less than a number with full precision takes
_FEW_VALUES = 100_000
_PERHAPS_HALF = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")
_LONGEST_INTEGER = 20
_LONGEST_MESSAGE = 1_000


def parse(text: str, max_bytes: int = MAX_BYTES) -> Any:
    """Parse JSON text of limited size.

    Parameters
    ----------
    text : str
        The whole document.
    max_bytes : int, default=64 MiB
        Size limit; longer input is rejected before parsing.

    Returns
    -------
    object
        Plain Python values. A decimal number beyond the range of floats, such as ``1e999``, becomes
        infinite.

    Raises
    ------
    ValueError
        If the text is too long, not JSON, nested too deeply, or contains too many values, NaN, a
        repeated field, an integer of more than 20 digits, or a lone surrogate.
    """
    if not isinstance(text, str):
        raise ValueError(f"expected JSON text, got {type(text).__name__}.")
    check_size(len(text), max_bytes)
    _check_values(text, max_bytes)
    try:
        content = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer
        )
    except RecursionError:
        raise ValueError("the JSON is nested too deeply.") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at line {error.lineno}.") from None
    _check_characters(text, content)
    return content


def check_size(size: int, max_bytes: int) -> None:
    """Raise ValueError if the text exceeds the size limit."""
    if size > max_bytes:
        raise ValueError(
            f"the JSON has {size} bytes, more than the limit of {max_bytes}; pass max_bytes= to "
            "read a larger one that you trust."
        )


def _check_values(text: str, max_bytes: int) -> None:
    """Reject JSON text with too many values.

    The parsed values can need about 30 times as much memory as the text.
    """
    most = max(_FEW_VALUES, max_bytes // _BYTES_PER_VALUE)
    if text.count(",") + text.count("[") + text.count("{") > most:
        raise ValueError(
            f"the JSON has more than {most} values; pass max_bytes= to read a larger one that you "
            "trust."
        )


def _check_characters(text: str, content: Any) -> None:
    """Reject lone surrogates, which cannot be written to a page or a file."""
    if not _PERHAPS_HALF.search(text):
        return
    try:
        json.dumps(content, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("a string in the JSON contains a lone surrogate.") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise ValueError("a JSON object repeats a field.")
    return result


def _constant(name: str) -> NoReturn:
    raise ValueError(
        f"{name} is not valid JSON; write infinite and missing numbers as the strings 'inf' and "
        "'nan'."
    )


def _integer(digits: str) -> int:
    if len(digits) > _LONGEST_INTEGER:
        raise ValueError(f"an integer of {len(digits)} digits is too large.")
    return int(digits)


def cut(message: str) -> str:
    """Omit the middle of a long message, such as one that quotes a file."""
    if len(message) <= _LONGEST_MESSAGE:
        return message
    return f"{message[: _LONGEST_MESSAGE - 300]} … {message[-280:]}"


def write_document(kind: str, content: Mapping[str, Any]) -> str:
    """Return a dpexplain document as JSON text.

    Parameters
    ----------
    kind : str
        Format of the document, without the prefix ``dpexplain/``.
    content : mapping
        Plain Python values; numbers must be finite.

    Returns
    -------
    str
    """
    document = {"format": _PREFIX + kind, "version": VERSION, "content": content}
    return json.dumps(document, allow_nan=False, ensure_ascii=True)


def read_document(
    text: str,
    kinds: tuple[str, ...],
    read: Callable[[str, Any], Any],
    max_bytes: int = MAX_BYTES,
) -> Any:
    """Parse a dpexplain document.

    Parameters
    ----------
    text : str
        The whole document.
    kinds : tuple of str
        Accepted formats, without the prefix ``dpexplain/``.
    read : callable
        Function called with the format and the content.
    max_bytes : int, default=64 MiB
        Size limit; longer input is rejected before parsing.

    Returns
    -------
    object
        The result of `read`.

    Raises
    ------
    ValueError
        If the text is not a document of an accepted format, or its content is malformed.
    """
    document = parse(text, max_bytes)
    kind = _kind_of(document, kinds)
    try:
        return read(kind, document["content"])
    except (TypeError, KeyError, AttributeError, OverflowError):
        name = document["format"]
        raise ValueError(f"the content of this {name} document is malformed.") from None
    except ValueError as error:
        raise ValueError(cut(str(error))) from None


def _kind_of(document: Any, kinds: tuple[str, ...]) -> str:
    if not isinstance(document, dict) or not isinstance(document.get("format"), str):
        raise ValueError("not a dpexplain document: it has no 'format'.")
    name = document["format"].removeprefix(_PREFIX)
    if not document["format"].startswith(_PREFIX) or name not in kinds:
        known = ", ".join(repr(_PREFIX + kind) for kind in kinds)
        raise ValueError(f"unknown format {document['format'][:60]!r}; expected one of {known}.")
    if name == "ledger" and "content" not in document:
        raise ValueError(
            "this is a privacy ledger, which PrivacyLedger.open(path) opens and `dpexplain ledger` "
            "prints."
        )
    version = document.get("version")
    if type(version) is not int or version != VERSION:
        raise ValueError(
            f"version {repr(version)[:20]} of {_PREFIX + name} cannot be read, only version "
            f"{VERSION}; a newer dpexplain may have written it."
        )
    if set(document) != {"format", "version", "content"}:
        raise ValueError("a dpexplain document has the fields format, version and content only.")
    return name
