"""Checks for cleaning rules: aliases, markers, decimal separators and formats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from dpexplain._utils.names import closest_name
from dpexplain.exceptions import SchemaError
from dpexplain.schema._checks import Label, as_plain, category_text, check_encodable, kind_of
from dpexplain.tables.cells import cell_number, cell_text
from dpexplain.tables.spellings import DECIMALS, SERIALS, THOUSANDS, day_format, shape_of

Aliases: TypeAlias = Mapping[Any, Label] | Iterable[tuple[Label, Label]]
_ISO: Final = "%Y-%m-%d"


def as_markers(kind: str, values: object) -> tuple[str, ...]:
    """Check the missing-value markers, and return them as strings.

    Parameters
    ----------
    kind : str
        Kind of schema entry, for error messages.
    values : str, number or iterable of them
        Public missing-value markers; a single marker need not be in a list.

    Returns
    -------
    tuple of str
        Markers without duplicates.

    Raises
    ------
    SchemaError
        If `values` is a collection without a fixed order, or a marker is not a string or a number.
    """
    return tuple(dict.fromkeys(_text(kind, "missing", value) for value in _several(kind, values)))


def _several(kind: str, values: Any) -> list[Any]:
    if isinstance(values, str | int | float):
        return [values]
    if isinstance(values, bytes | set | frozenset | Mapping) or not isinstance(values, Iterable):
        raise SchemaError(
            f"{kind}: missing must be a list such as ['-99', 'unknown'], not {kind_of(values)}."
        )
    return list(values)


def _text(kind: str, name: str, value: object) -> str:
    item = as_plain(value)
    if not isinstance(item, str):
        return cell_text(item) or ""
    check_encodable(kind, name, item)
    return item.strip()


def as_decimal(kind: str, decimal: object) -> str:
    """Check that the decimal separator is a period or a comma, and return it."""
    if decimal not in DECIMALS:
        raise SchemaError(f"{kind}: decimal={decimal!r} must be '.' or ','.")
    return str(decimal)


def as_thousands(kind: str, thousands: object, decimal: str) -> str:
    """Check the thousands separator, and return it."""
    if thousands not in THOUSANDS or thousands == decimal:
        raise SchemaError(
            f"{kind}: thousands={thousands!r} must be '.', ',', \"'\" or a space, and not the "
            "decimal separator; omit it if there is none."
        )
    return str(thousands)


def as_affixes(kind: str, affixes: object) -> tuple[str, ...]:
    """Check the texts that may surround numbers, and return them without duplicates.

    Raises
    ------
    SchemaError
        If `affixes` is not a list of strings, or one of them could be part of a number.
    """
    listed = [affixes] if isinstance(affixes, str) else affixes
    if not isinstance(listed, Sequence) or not all(isinstance(text, str) for text in listed):
        raise SchemaError(
            f"{kind}: affixes must be a string such as 'kg', or a list of strings, not "
            f"{kind_of(affixes)}."
        )
    texts = tuple(dict.fromkeys(text.strip() for text in listed))
    for text in texts:
        check_encodable(kind, "affixes", text)
        allowed = text.replace(".", "") if any(map(str.isalpha, text)) else text  # such as "Mio."
        if (
            not text
            or set(allowed) & set("0123456789+-.,'")
            or not np.isnan(cell_number(f"1{text}1"))
        ):
            raise SchemaError(
                f"{kind}: the affix {text!r} must be a text such as 'kg' or '%', without digits, "
                "signs or separators."
            )
    return texts


def as_formats(formats: object) -> tuple[str, ...]:
    """Return the date formats after checking that no two of them match the same cells.

    Parameters
    ----------
    formats : str or iterable of str
        Date formats; a single format need not be in a list.

    Returns
    -------
    tuple of str
        The formats in the same order.

    Raises
    ------
    SchemaError
        If a format is not a date format, or if it matches the same cells as another format or the
        ISO format. For example, ``%d/%m/%Y`` and ``%m/%d/%Y`` match the same cells.
    """
    listed = [formats] if isinstance(formats, str) else formats
    if not isinstance(listed, Sequence) or not all(isinstance(text, str) for text in listed):
        raise SchemaError(
            "Date: format must be a string such as '%d.%m.%Y', or a list of such, not "
            f"{kind_of(formats)}."
        )
    serials = [text for text in listed if text in SERIALS]
    digits = [t for t in listed if t not in SERIALS and _has_digits_only(t)]
    if len(serials) > 1 or (serials and digits):
        raise SchemaError(
            f"Date: the formats {serials[0]!r} and {[*serials[1:], *digits][0]!r} match the same "
            "cells; keep one of them."
        )
    shapes = {shape_of(_ISO): _ISO}  # this format is always read, and written by `Schema.clean`
    for text in listed:
        if text in SERIALS:
            continue
        try:
            shape = shape_of(text)
        except ValueError as error:
            raise SchemaError(f"Date: format {text!r}: {error}") from None
        if shape in shapes and text != _ISO:
            raise SchemaError(
                f"Date: the formats {shapes[shape]!r} and {text!r} match the same cells, so nobody "
                "can tell which number is the day; keep one of them."
            )
        shapes[shape] = text
        check_encodable("Date", "format", text)
        assert day_format(text)
    return tuple(listed)


def _has_digits_only(text: str) -> bool:
    try:
        return bool(day_format(text).n_digits)
    except ValueError:  # reported by the caller
        return False


def as_aliases(kind: str, aliases: Any, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Check the aliases of categories or classes, and return them as pairs.

    Parameters
    ----------
    kind : str
        Kind of schema entry, for error messages.
    aliases : mapping, or iterable of pairs
        Other spellings, each with the category or class that it stands for.
    names : sequence of str
        The categories or classes.

    Returns
    -------
    tuple of (str, str)
        Pairs, each consisting of a spelling and the category or class that it stands for.

    Raises
    ------
    SchemaError
        If a spelling is read as a missing value, or stands for a category or class that is not
        listed.
    """
    try:
        pairs = list(aliases.items() if isinstance(aliases, Mapping) else aliases)
        pairs = [(spelling, name) for spelling, name in pairs]
    except (TypeError, ValueError):
        raise SchemaError(
            f"{kind}: aliases must map spellings to entries of the list, such as "
            f"{{'m': 'male'}}, not {kind_of(aliases)}."
        ) from None
    listed = {cell_text(name): name for name in names}
    found = []
    for spelling, name in pairs:
        known = listed.get(cell_text(as_plain(name)))
        if known is None:
            meant = closest_name(str(name), list(names))
            hint = f"; did you mean {meant!r}?" if meant else "."
            raise SchemaError(
                f"{kind}: the alias {spelling!r} stands for {name!r}, which is not listed{hint}"
            )
        category_text(spelling)  # raises SchemaError if the spelling counts as missing
        found.append((_text(kind, "alias", spelling), known))
    return tuple(found)


def check_told_apart(
    kind: str, names: Sequence[str], aliases: Sequence[tuple[str, str]], markers: Sequence[str]
) -> None:
    """Check that no cell can match two of the categories, aliases and markers.

    Raises
    ------
    SchemaError
        If a cell can match two of them.
    """
    found: dict[str | None, str] = {}
    for role, texts in (
        ("listed", names),
        ("an alias", [spelling for spelling, _ in aliases]),
        ("a marker of missing values", markers),
    ):
        for text in texts:
            key = cell_text(text)
            if key is not None and key in found:
                also = "twice" if found[key] == role else f"and also {role}"
                raise SchemaError(f"{kind}: {text!r} is {found[key]} {also}; keep one of the two.")
            found[key] = role
