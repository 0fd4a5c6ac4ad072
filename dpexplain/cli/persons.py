"""Schemas whose person column is named by the option ``--groups``."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpexplain.cli.errors import CommandError
from dpexplain.cli.options import check_place, settings_of
from dpexplain.cli.tables import read_schema

if TYPE_CHECKING:
    from dpexplain.schema import Schema


def with_groups(asked: argparse.Namespace, schema: Schema) -> Schema:
    """Return a command's schema, with the person column named by ``--groups``.

    The ledger and the certificate contain the hash of this schema.

    Parameters
    ----------
    asked : argparse.Namespace
        Parsed arguments, with the attributes ``groups``, ``schema`` and ``target``.
    schema : Schema
        Schema in the file given by ``--schema``.

    Returns
    -------
    Schema
        `schema` itself if the option is not given or if it names the person column of `schema`;
        otherwise, a copy of `schema` with the named person column.

    Raises
    ------
    CommandError
        If `schema` has another person column, or uses the column as a feature or target.
    """
    name = asked.groups
    if name is None or name == schema.person:
        return schema
    if schema.person is not None:
        raise CommandError(
            f"--groups {name}: {asked.schema} names {schema.person!r} as the person column; omit "
            "the option, or correct the schema."
        )
    if name in schema.features or name == _target_name(asked, schema):
        raise CommandError(
            f"--groups {name}: {asked.schema} has it as a feature or as the target, so it cannot "
            "be the person column; name another column, or correct the schema."
        )
    return replace(schema, person=name, id=tuple(each for each in schema.id if each != name))


def _target_name(asked: argparse.Namespace, schema: Schema) -> str:
    known = "" if schema.target is None else schema.target.name
    return known or str(asked.target)


def schema_to_fit(asked: argparse.Namespace, kept: tuple[Path, ...]) -> tuple[Schema, Path | None]:
    """Read the schema of a fit, and choose a file for it if no file contains it yet.

    Parameters
    ----------
    asked : argparse.Namespace
        Parsed arguments, with the attribute ``out`` and those that `with_groups` and `settings_of`
        need.
    kept : tuple of Path
        Files that the command must not replace.

    Returns
    -------
    tuple of Schema and (Path or None)
        The schema, as returned by `with_groups`; and, if it differs from the one given by
        ``--schema``, the file to save it to, such as ``model.schema.toml`` for
        ``--out model.json``.

    Raises
    ------
    CommandError
        If a file is missing or cannot be written, the options contradict the schema, or only
        one of the person column and the row limit is given.
    """
    in_file = read_schema(asked.schema)
    schema = with_groups(asked, in_file)
    limited = settings_of(asked).get("max_rows_per_person") is not None
    if asked.groups is not None and not limited:
        raise CommandError(
            f"--groups {asked.groups}: pass --max-rows-per-person N as well, the maximum number of "
            "rows to use per person."
        )
    if limited and schema.person is None:
        raise CommandError(
            f"--max-rows-per-person: {asked.schema} names no person column; name it with --groups."
        )
    if schema == in_file:
        return schema, None
    place = Path(asked.out).with_suffix(".schema.toml")
    check_place(place, suffixes=(".toml",), kept=(*kept, asked.schema))
    return schema, place


def save_schema(schema: Schema, place: Path | None) -> str:
    """Save the schema of a fit if `place` is not None, and return a line that says so."""
    if place is None:
        return ""
    import dpexplain.io

    dpexplain.io.write_file(place, schema.to_toml())
    return f"schema with the person column saved to {place}; pass it to `release` and `verify`"
