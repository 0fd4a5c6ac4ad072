"""Read and write schemas as TOML and JSON, rejecting unknown or missing fields."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from datetime import date
from pathlib import Path
from typing import Any, Final, TypeAlias

import tomli_w

from dpexplain._utils.json import cut
from dpexplain._utils.validation import shown
from dpexplain.exceptions import SchemaError
from dpexplain.schema._html import Described
from dpexplain.schema.features import Categorical, Classes, Date, Numeric, Range

DRAFT_MARK: Final = "# DRAFT, read from the data"
_MAX_BYTES: Final = 16 * 2**20
_LONG_KEY: Final = re.compile(r"""(?<![\w-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){32}""")
Fields: TypeAlias = dict[str, Any]

_FORMAT: Final = "dpexplain/schema"
_VERSION: Final = 1

_FEATURE_KINDS: Final[dict[str, Callable[..., Any]]] = {
    "numeric": Numeric,
    "categorical": Categorical,
    "date": Date,
}
_TARGET_KINDS: Final[dict[str, Callable[..., Any]]] = {"range": Range, "classes": Classes}
_NAME_OF_KIND: Final = {kind: name for name, kind in {**_FEATURE_KINDS, **_TARGET_KINDS}.items()}


def schema_text(schema: Described) -> str:
    """Write a schema as TOML, leaving out fields with default values.

    Parameters
    ----------
    schema : Schema
        Schema to write.

    Returns
    -------
    str
        TOML with one table per feature, in order.
    """
    return tomli_w.dumps(_document(schema))


def schema_to_plain(schema: Described) -> dict[str, Any]:
    """Convert a schema to plain values for JSON, with dates as strings.

    Parameters
    ----------
    schema : Schema
        Schema to convert.

    Returns
    -------
    dict
        JSON document.
    """
    document = _document(schema)
    for part in document["features"].values():
        part.update({key: day.isoformat() for key, day in part.items() if isinstance(day, date)})
    return document


def _document(schema: Described) -> dict[str, Any]:
    document: dict[str, Any] = {"format": _FORMAT, "version": _VERSION}
    if schema.id:
        document["id"] = list(schema.id)
    if schema.person is not None:
        document["person"] = schema.person
    if schema.read_from_records:
        document["read_from_records"] = True
    if schema.target is not None:
        document["target"] = _table(schema.target)
    document["features"] = {name: _table(part) for name, part in schema.features.items()}
    return document


def read_fields(text: str) -> Fields:
    """Read the arguments for a schema from TOML.

    Parameters
    ----------
    text : str
        Output of `schema_text`, or TOML written by hand.

    Returns
    -------
    dict
        Arguments for a schema.

    Raises
    ------
    SchemaError
        If the text is not TOML, or has unknown or missing fields.
    """
    try:
        return _from_document(_parsed(text))
    except SchemaError as error:
        raise SchemaError(cut(str(error))) from None


def fields_from_plain(document: Any) -> Fields:
    """Convert the output of `schema_to_plain` to the arguments for a schema.

    Parameters
    ----------
    document : object
        Parsed JSON document.

    Returns
    -------
    dict
        Arguments for a schema.

    Raises
    ------
    SchemaError
        If `document` does not have the form that `schema_to_plain` produces.
    """
    if not isinstance(document, dict):
        raise SchemaError("the schema must be a JSON object.")
    try:
        return _from_document(document)
    except SchemaError as error:
        raise SchemaError(cut(str(error))) from None


def is_draft(text: str) -> bool:
    """Return whether a schema still begins as `SchemaDraft.to_toml` writes it."""
    return text.lstrip().startswith(DRAFT_MARK)


def read_text(path: str | os.PathLike[str]) -> str:
    """Read the text of a schema from a file."""
    with Path(path).open("rb") as file:
        raw = file.read(_MAX_BYTES + 1)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise SchemaError("the schema is not UTF-8 text, so it is not TOML.") from None


def _parsed(text: str) -> dict[str, Any]:
    if len(text) > _MAX_BYTES:
        raise SchemaError(f"the schema has more than {_MAX_BYTES} bytes.")
    # The parser takes quadratic time in the number of parts of a dotted key.
    if _LONG_KEY.search(text):
        raise SchemaError(
            "the schema has a dotted key with too many parts; keys have at most three."
        )
    try:
        parsed = tomllib.loads(text)
    except RecursionError:
        raise SchemaError("the schema is not valid TOML: it is nested too deeply.") from None
    except ValueError as error:  # invalid TOML, or a number with thousands of digits
        raise SchemaError(f"the schema is not valid TOML: {str(error).rstrip('.')}.") from None
    if _has_endless_number(parsed):
        raise SchemaError(
            "the schema has an integer of more than 1,024 bits; write smaller bounds."
        )
    return parsed


def _has_endless_number(value: object) -> bool:
    """Return whether a value contains an integer that is too large to print."""
    if isinstance(value, dict):
        return any(map(_has_endless_number, value.values()))
    if isinstance(value, list):
        return any(map(_has_endless_number, value))
    return isinstance(value, int) and value.bit_length() > 1024


def _from_document(document: dict[str, Any]) -> Fields:
    further = {"target", "id", "person", "read_from_records"}
    _check_keys("the schema", document, {"format", "version", "features"}, further)
    if document["format"] != _FORMAT or document["version"] != _VERSION:
        raise SchemaError(
            f"format={shown(document['format'])}, version={shown(document['version'])} is not a "
            f"schema that this release can read; expected {_FORMAT!r}, version {_VERSION}."
        )
    features = document["features"]
    if not isinstance(features, dict):
        raise SchemaError("'features' must be a table with one table per feature.")
    target = document.get("target")
    parts = {
        name: _part(f"feature {name!r}", table, _FEATURE_KINDS) for name, table in features.items()
    }
    return {
        "features": parts,
        "target": None if target is None else _part("the target", target, _TARGET_KINDS),
        **{name: document[name] for name in sorted(further - {"target"}) if name in document},
    }


def _table(part: Numeric | Categorical | Range | Classes) -> dict[str, Any]:
    table: dict[str, Any] = {"kind": _NAME_OF_KIND[type(part)]}
    if isinstance(part, Date):
        table["low"], table["high"] = part.days
    for field in _fields(type(part)):
        if field.name in table:
            continue
        value = getattr(part, field.name)
        if field.default is MISSING or value != field.default:
            table[field.name] = dict(value) if field.name == "aliases" else _value(value)
    if len(table.get("format", ())) == 1:
        table["format"] = table["format"][0]
    return table


def _fields(kind: Any) -> list[Field[Any]]:
    """Return the stored fields of a schema class.

    The unit, the step and the rules for numbers are the same for every `Date`, so they are not
    stored.
    """
    implied = ("unit", "step", "decimal", "thousands", "affixes") if kind is Date else ()
    return [f for f in fields(kind) if f.name not in implied]


def _value(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    # 17 reads better than 17.0; larger whole numbers are not exact as floats anyway.
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    return value


def _part(where: str, table: Any, kinds: Mapping[str, Callable[..., Any]]) -> Any:
    name = table.get("kind") if isinstance(table, dict) else None
    if not isinstance(name, str) or name not in kinds:
        raise SchemaError(f"{where}: kind={shown(name)} must be one of {sorted(kinds)}.")
    kind = kinds[name]
    known = _fields(kind)
    required = {field.name for field in known if field.default is MISSING}
    _check_keys(where, table, {"kind", *required}, {field.name for field in known} - required)
    options = {key: value for key, value in table.items() if key != "kind"}
    try:
        return kind(**options)
    except SchemaError as error:
        raise SchemaError(f"{where}: {error}") from None


def _check_keys(
    where: str, table: Mapping[str, Any], required: set[str], optional: set[str]
) -> None:
    lacking, unknown = required - table.keys(), table.keys() - required - optional
    if lacking:
        raise SchemaError(f"{where} lacks {sorted(lacking)}.")
    if unknown:
        raise SchemaError(
            f"{where} has the unknown fields {sorted(unknown)}; it may have "
            f"{sorted(required | optional)}."
        )
