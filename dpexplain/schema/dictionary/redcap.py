"""Lines of a REDCap data dictionary, rewritten as lines of a general one.

REDCap exports a dictionary of each project as CSV. A field becomes one line, a field of checkboxes
one line per choice, because each of them is a column of the exported data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

_STARTS: Final = {
    "name": ("variable / field name", "field_name"),
    "type": ("field type", "field_type"),
    "description": ("field label", "field_label"),
    "categories": ("choices", "select_choices_or_calculations"),
    "validation": ("text validation type", "text_validation_type"),
    "min": ("text validation min", "text_validation_min"),
    "max": ("text validation max", "text_validation_max"),
    "identifier": ("identifier",),
}
"""Beginnings of the headings in exports of the web page and of the API."""

_ADDED: Final = ("aliases", "missing", "unit", "source")
"""Columns of a general dictionary that may be added to that of REDCap."""

_TAG: Final = re.compile(r"<[^<>]*>")
_DATES: Final = {"dmy": "%d-%m-%Y|%d/%m/%Y|%d.%m.%Y", "mdy": "%m-%d-%Y|%m/%d/%Y", "ymd": "%Y/%m/%d"}
_KINDS: Final = {
    **{"yesno": "yes/no", "truefalse": "boolean", "radio": "category", "dropdown": "category"},
    **dict.fromkeys(("notes", "file", "descriptive", "signature", "sql"), "ignore"),
}


def redcap_places(headings: Sequence[str]) -> dict[str, int]:
    """Return the place of each known column of a REDCap dictionary.

    Parameters
    ----------
    headings : sequence of str
        First line of the file.

    Returns
    -------
    dict
        Places, keyed by "name", "type" and others; empty if this is not a REDCap dictionary.
    """
    folded = [heading.strip().casefold() for heading in headings]
    if not any(heading in _STARTS["name"] for heading in folded):
        return {}
    places = {name: place for place, name in enumerate(folded) if name in _ADDED}
    for name, starts in _STARTS.items():
        if found := [place for place, text in enumerate(folded) if text.startswith(starts)]:
            places[name] = found[0]
    return places


def redcap_lines(cells: Mapping[str, str], *, first: bool) -> Iterator[dict[str, str]]:
    """Rewrite one field.

    Parameters
    ----------
    cells : mapping of str to str
        Cells of the field, keyed as in `redcap_places`.
    first : bool
        Whether this is the first field, which identifies the records of a REDCap project.

    Yields
    ------
    dict
        Cells of a line of a general dictionary, keyed by its columns.
    """
    kind, name = cells.get("type", "").casefold(), cells["name"]
    label = _TAG.sub("", cells.get("description", "")).strip()
    choices = [_choice(text) for text in cells.get("categories", "").split("|") if text.strip()]
    line = {"name": name, "type": _KINDS.get(kind, kind), "description": label}
    line |= {column: cells.get(column, "") for column in ("min", "max", *_ADDED)}
    if kind == "text":
        line |= _text(cells.get("validation", "").casefold())
    if kind in ("radio", "dropdown"):
        # The last separator shows that a semicolon in a single choice separates nothing.
        pairs = [f"{code}={text}" if text != code else code for code, text in choices]
        line["categories"] = "|".join([*pairs, ""])
    if kind == "calc":
        line["type"] = "number" if line["min"] and line["max"] else "ignore"
    if kind == "slider":
        line |= {"type": "integer", "min": line["min"] or "0", "max": line["max"] or "100"}
    if first and kind == "text":
        line["type"] = "id"
    elif cells.get("identifier", "").casefold() in ("y", "yes", "1"):
        line["type"] = "ignore"
    if kind != "checkbox":
        yield line
        return
    for code, text in choices:
        column = f"{name}___{code.casefold().replace('-', '_')}"
        kind = line["type"] if line["type"] == "ignore" else "boolean"
        yield line | {
            "name": column,
            "type": kind,
            "categories": "0=Unchecked|1=Checked",
            "description": f"{label}: {text}",
        }


def _choice(text: str) -> tuple[str, str]:
    """Return the code and the label of a choice, such as ``1, male``."""
    code, _, label = text.partition(",")
    code, label = code.strip(), _TAG.sub("", label).strip()
    return code, label or code


def _text(validation: str) -> dict[str, str]:
    """Return the type of a text field by its validation; free text is ignored."""
    if validation in ("integer", "int"):
        return {"type": "integer"}
    if validation.startswith(("number", "float")):
        return {"type": "number", "decimal": "comma" * validation.endswith("comma_decimal")}
    what, _, order = validation.partition("_")
    order = order.rpartition("_")[2]  # after the seconds
    if what in ("date", "datetime") and order in _DATES:
        return {"type": "date", "format": _DATES[order]}
    return {"type": "ignore"}
