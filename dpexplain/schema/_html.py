"""Schemas as escaped HTML tables for notebooks."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from html import escape
from typing import Protocol

from dpexplain.schema._checks import Label, short
from dpexplain.schema.features import (
    Categorical,
    Classes,
    Date,
    Feature,
    Numeric,
    Range,
    Target,
)
from dpexplain.tables.cells import day_text

_N_CATEGORIES_SHOWN = 12
_N_CHARACTERS_SHOWN = 300
_HEADINGS = ("feature", "kind", "public values", "unit", "description")


class Described(Protocol):
    """Protocol for schemas that can be displayed or written to a file."""

    @property
    def features(self) -> Mapping[str, Feature]:
        """Features, keyed by column name."""

    @property
    def target(self) -> Target | None:
        """Target to predict, or None if the schema has no target."""

    @property
    def id(self) -> str | Sequence[str]:
        """Columns that identify a record."""

    @property
    def person(self) -> str | None:
        """Column that identifies the person each row belongs to, or None."""

    @property
    def read_from_records(self) -> bool:
        """Whether bounds and categories were read from records that are not public."""


def schema_table(schema: Described) -> str:
    """Return a schema as an HTML table.

    Parameters
    ----------
    schema : Schema
        Schema to display.

    Returns
    -------
    str
        HTML in which names, categories, units and descriptions are escaped.
    """
    rows = [_row(name, feature) for name, feature in schema.features.items()]
    if schema.target is not None:
        rows.append(_row(f"{schema.target.name or 'target'} (target)", schema.target))
    rows += [_cells(name, "id", "never a feature", "", "") for name in schema.id]
    if schema.person is not None:
        rows.append(_cells(schema.person, "person", "never a feature", "", ""))
    head = "".join(f"<th scope='col' style='text-align:left'>{title}</th>" for title in _HEADINGS)
    mark = ""
    if schema.read_from_records:
        mark = "<caption>NOT PRIVATE: these values were read from records</caption>"
    return (
        f"<table class='dpexplain-schema'>{mark}"
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _row(name: str, part: Numeric | Categorical | Range | Classes) -> str:
    kind, values = _kind_and_values(part)
    unit = "" if isinstance(part, Date) else getattr(part, "unit", "")
    source = f"Source: {part.source}" if part.source else ""
    notes = ". ".join(filter(None, (part.description.rstrip(". "), source)))
    return _cells(name, kind, "; ".join([values, *_rules(part)]), unit, notes)


def _cells(name: str, *texts: str) -> str:
    cells = "".join(f"<td style='text-align:left'>{_text(text)}</td>" for text in texts)
    return f"<tr><th scope='row' style='text-align:left'>{_text(name)}</th>{cells}</tr>"


def _kind_and_values(part: Numeric | Categorical | Range | Classes) -> tuple[str, str]:
    if isinstance(part, Categorical):
        return (
            ("ordered categories", _joined(part.categories, " < "))
            if part.ordered
            else ("categories", _joined(part.categories, ", "))
        )
    if isinstance(part, Classes):
        return "classes", _joined(part.labels, ", ")
    if isinstance(part, Date):
        return "date", f"{day_text(part.low)} to {day_text(part.high)}"
    step = f", step {short(part.step)}" if isinstance(part, Numeric) and part.step else ""
    kind = "numeric" if isinstance(part, Numeric) else "range"
    return kind, f"{short(part.low)} to {short(part.high)}{step}"


def _rules(part: Numeric | Categorical | Range | Classes) -> list[str]:
    """Describe the cleaning rules of a column, with one string for each kind of rule."""
    pairs = dict(getattr(part, "aliases", ()))
    aliases = [f"{each} = {name}" for each, name in pairs.items() if not _repeats(each, pairs)]
    listed = {
        "decimal comma": [""] if getattr(part, "decimal", ".") == "," else [],
        "thousands ": [repr(t)] if (t := getattr(part, "thousands", "")) else [],
        "written with ": list(getattr(part, "affixes", ())),
        "format ": list(getattr(part, "format", ())),
        "alias ": aliases,
        "missing ": list(part.missing),
    }
    return [words + _joined(tuple(found), ", ") for words, found in listed.items() if found]


def _repeats(spelling: str, pairs: dict[str, str]) -> bool:
    """Return whether a spelling is a listed code with its name, as in "1 = male"."""
    code, _, name = spelling.partition("=")
    return name.strip() == pairs[spelling] and pairs.get(code.strip()) == pairs[spelling]


def _joined(values: tuple[Label, ...], separator: str) -> str:
    shown = [str(value) for value in values[:_N_CATEGORIES_SHOWN]]
    if len(values) > _N_CATEGORIES_SHOWN:
        shown.append(f"… {len(values) - _N_CATEGORIES_SHOWN} more")
    return separator.join(shown)


def _text(text: str) -> str:
    """Escape a string and isolate its text direction."""
    if len(text) > _N_CHARACTERS_SHOWN:
        text = text[:_N_CHARACTERS_SHOWN] + "…"
    visible = "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(character) == "Cc" else character
        for character in text
    )
    return f"<bdi>{escape(visible, quote=True)}</bdi>" if visible else ""
