"""``dpexplain schema``: ``draft``, ``from-dictionary`` and ``check``."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpexplain.cli.options import (
    add_command,
    add_replace,
    add_rows_per_person,
    add_table,
    check_place,
    lists_commands,
)
from dpexplain.cli.persons import with_groups
from dpexplain.cli.tables import (
    TEXT_SUFFIXES,
    check_names,
    lines_lost,
    private_records,
    read_schema,
    table_suffix,
    whole_table,
)
from dpexplain.cli.text import table_text

if TYPE_CHECKING:
    from dpexplain.schema import Schema


def add_commands(commands: Any) -> None:
    """Add the ``schema`` command with its subcommands."""
    group = commands.add_parser("schema", help="Write or check the public schema of a table.")
    parts = group.add_subparsers(title="commands", metavar="COMMAND")
    group.set_defaults(run=lists_commands(group))

    draft = add_command(
        parts,
        "draft",
        summary="Write a first schema from PUBLIC data with the same columns. Bounds and "
        "categories are read from the file: with private data they would leak, and reading them "
        "would cost privacy. Check every line against the documentation of the data.",
        examples="dpexplain schema draft public_sample.csv --target income --out schema.toml",
    )
    add_table(draft, private=False)
    draft.add_argument("--task", choices=("auto", "classification", "regression"), default="auto")
    _add_exclude(draft)
    draft.add_argument("--out", type=Path, required=True, help="schema, as TOML")
    add_replace(draft)
    draft.set_defaults(run=run_draft, command="schema draft")

    read = add_command(
        parts,
        "from-dictionary",
        summary="Write the schema that a data dictionary describes: a CSV file with the columns "
        "name and type, and as needed min, max, step, categories, aliases, missing, unit, decimal, "
        "thousands, affixes, format, description and source; or the dictionary of a REDCap "
        "project, as exported. No data are read.",
        examples="dpexplain schema from-dictionary dictionary.csv --target income "
        "--out schema.toml",
    )
    read.add_argument("dictionary", type=Path, help="CSV file with one line per column")
    read.add_argument("--target", metavar="COLUMN", help="column to predict", required=True)
    _add_exclude(read)
    read.add_argument(
        "--encoding", metavar="NAME", default="utf-8", help="encoding, if not UTF-8 or UTF-16"
    )
    read.add_argument("--out", type=Path, required=True, help="schema, as TOML")
    add_replace(read)
    read.set_defaults(run=run_from_dictionary, command="schema from-dictionary")

    check = add_command(
        parts,
        "check",
        summary="Count the cells of a table that do not fit a schema, and question columns that "
        "look like a mistake. Only for the data holder. NOT PRIVATE: do not share the output.",
        examples="dpexplain schema check data.csv --target income --schema schema.toml",
    )
    add_table(check)
    # A Parquet file is read as for a model that reads the whole table.
    add_rows_per_person(check)
    check.set_defaults(run=run_check, command="schema check", model="", settings=[])


def _add_exclude(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--exclude", metavar="COLUMN", action="extend", nargs="+", default=[], help="leave out"
    )


def run_draft(asked: argparse.Namespace) -> None:
    """Write a first draft of a schema from a table of public data."""
    draft = write_draft(asked)
    print(
        f"saved to {asked.out}: {draft.schema.n_features} features. Now check every bound and list "
        "in it against the documentation of the data."
    )
    if draft.decisions:
        print("To decide (NOT PRIVATE: read from the data):")
        print("\n".join(f"- {text}" for text in draft.decisions))


def write_draft(asked: argparse.Namespace) -> Any:
    """Write a first draft of a schema from a table of public data, and return it."""
    import dpexplain.io
    from dpexplain.schema import Schema

    check_place(asked.out, suffixes=(".toml",), replace=asked.replace)
    X, y = whole_table(asked)
    draft = Schema.draft(X, y, task=asked.task, exclude=asked.exclude)
    lost = [f"{each.n_lines:,} × {each.reason} ({each.examples})" for each in lines_lost(asked)]
    draft = replace(draft, decisions=(*lost, *draft.decisions))
    dpexplain.io.write_file(asked.out, draft.to_toml())
    return draft


def run_from_dictionary(asked: argparse.Namespace) -> None:
    """Write the schema that a data dictionary describes."""
    import dpexplain.io
    from dpexplain.schema import Schema
    from dpexplain.schema.dictionary.entries import dictionary_entries

    check_place(asked.out, suffixes=(".toml",), replace=asked.replace)
    schema = Schema.from_dictionary(
        asked.dictionary, target=asked.target, encoding=asked.encoding, exclude=asked.exclude
    )
    dpexplain.io.write_file(asked.out, schema.to_toml())
    print(f"saved to {asked.out}: {schema.n_features} features.")
    entries = dictionary_entries(asked.dictionary, asked.encoding)
    used = {*schema.features, *schema.id, schema.person, asked.target, *asked.exclude}
    if rest := [entry["name"] for entry in entries if entry["name"] not in used]:
        print(f"ignored, because of their types or as identifiers: {', '.join(rest)}")


def run_check(asked: argparse.Namespace) -> None:
    """Print a summary of the cells that do not fit the schema; NOT PRIVATE."""
    schema = with_groups(asked, read_schema(asked.schema))
    ignored, found = checked(asked, schema)
    if ignored:
        print(ignored, file=sys.stderr)
    if schema.person is not None and asked.max_rows_per_person is None:
        print(
            f"{schema.person!r} names persons: a fit protects them only with --max-rows-per-person "
            "N, and single rows without it.",
            file=sys.stderr,
        )
    print(found)


def checked(asked: argparse.Namespace, schema: Schema) -> tuple[str, str]:
    """Compare a table with a schema; NOT PRIVATE.

    Parameters
    ----------
    asked : argparse.Namespace
        Parsed arguments of the ``schema check`` command.
    schema : Schema
        Schema with a target.

    Returns
    -------
    tuple of str and str
        A message that lists the ignored columns ("" if there are none), and a report on the cells
        that do not fit the schema.
    """
    present = [name for name in check_names(asked, schema) if name != asked.target]
    if table_suffix(asked.table) in TEXT_SUFFIXES:
        X, y = whole_table(asked, as_text=True)
        lost = [
            ("all columns", each.reason, "no information", n, n / len(X), each.examples)
            for each in lines_lost(asked)
            if (n := each.n_lines)
        ]
    else:  # pandas cannot read every cell that a fit reads
        X, y = private_records(asked, schema)
        lost = []
    report = schema.check(X, y, max_rows_per_person=asked.max_rows_per_person)
    report = replace(report, rows=(*lost, *report.rows))
    known = {*schema.features, *schema.id, schema.person}
    names = [name for name in present if name not in known]
    ignored = f"columns not in the schema are ignored: {', '.join(names)}" if names else ""
    found = "The schema fits every cell." if report.fits else table_text(report.frame(), rows=None)
    return ignored, f"NOT PRIVATE: only for the data holder.\n\n{found}"
