"""Read the tables and schemas that commands need."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from dpexplain._utils.extras import needed
from dpexplain.cli.errors import CommandError
from dpexplain.cli.options import settings_of

if TYPE_CHECKING:
    import pandas as pd

    from dpexplain.schema import Schema
    from dpexplain.schema.unread import UnreadLines
    from dpexplain.tables import LineFormat
    from dpexplain.tables.chunked_arrow import ArrowTable

_Read = TypeVar("_Read")
_SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
TEXT_SUFFIXES = tuple(_SEPARATORS)


class Records(NamedTuple):
    """Input for a private fit: a table and a target, or a path and a column name."""

    X: Any
    y: Any

    def __repr__(self) -> str:
        """Show no record: a traceback or a log may contain this text."""
        return "Records(not shown)"


def private_records(asked: argparse.Namespace, schema: Schema) -> Records:
    """Read the records for a private fit from the table named on the command line.

    If private boosting or a linear model protects rows, a Parquet file is not read here, because
    the model reads it in chunks. If it protects persons, the file is read as a whole, because the
    rows of a person may be in several chunks. The non-private reference also needs the whole file.

    Parameters
    ----------
    asked : argparse.Namespace
        Parsed arguments, with the attributes ``table``, ``target``, ``sep``, ``encoding`` and
        ``header``.
    schema : Schema
        Schema of the private fit.

    Returns
    -------
    Records
        For models that read a Parquet file in chunks, its path and the target's name; otherwise,
        the features and the target.

    Raises
    ------
    CommandError
        If the file or a column is missing, the file cannot be read as a table, or the schema has a
        different target. The message contains nothing from any line of the file.
    """
    names = check_names(asked, schema)
    if schema.person is not None and _protects_persons(asked, schema):
        _check_column(names, schema.person, asked.table, "the person column")
    if not _in_lines(asked):
        return _parquet_records(asked, schema)
    frame = read_texts(asked)
    known = [name for name in names if name in schema.features or name == schema.person]
    rest = [name for name in names if name not in (*known, *schema.id, asked.target)]
    if rest and not getattr(asked, "quiet", False):
        print(f"columns not in the schema are ignored: {', '.join(rest)}", file=sys.stderr)
    return Records(frame[known], frame[asked.target])


def _protects_persons(asked: argparse.Namespace, schema: Schema) -> bool:
    return schema.person is not None and settings_of(asked).get("max_rows_per_person") is not None


def check_names(asked: argparse.Namespace, schema: Schema) -> list[str]:
    """Check the target and the column names of a table without reading any record.

    Parameters
    ----------
    asked : argparse.Namespace
        Parsed arguments, as in `private_records`.
    schema : Schema
        Schema of the private fit.

    Returns
    -------
    list of str
        Names of the table's columns.

    Raises
    ------
    CommandError
        As in `private_records`.
    SchemaError
        If the table lacks features of the schema.
    """
    from dpexplain.tables.columns import check_names as check_features

    _check_target(asked, schema)
    if _in_lines(asked):
        names = column_names(asked)
        _check_column(names, asked.target, asked.table)
        _check_meant(asked, schema, names)
        check_features(names, schema)
    else:
        table = _arrow_table(asked)
        table.check_target(asked.target, schema)
        names = table.column_names()
        _check_meant(asked, schema, names)
        table.check_columns(schema)
    return names


def _check_target(asked: argparse.Namespace, schema: Schema) -> None:
    if asked.target in schema.features:
        raise CommandError(
            f"--target {asked.target}: {asked.schema} has it as a feature, and "
            f"{_described(schema)} as what is predicted; name that column, or correct the schema."
        )
    if asked.target in (*schema.id, schema.person):
        raise CommandError(
            f"--target {asked.target}: {asked.schema} says that it identifies records or persons; "
            "name the column to predict."
        )


def _arrow_table(asked: argparse.Namespace) -> ArrowTable:
    from dpexplain.tables.chunked_arrow import ArrowTable

    return ArrowTable.open(str(asked.table))


def _parquet_records(asked: argparse.Namespace, schema: Schema) -> Records:
    persons = _protects_persons(asked, schema)
    whole = persons or getattr(asked, "reference", False)  # the reference needs a table in memory
    if asked.model in ("boosting", "linear") and not whole:
        return Records(str(asked.table), asked.target)
    table = _arrow_table(asked)
    table.check_columns(schema)
    columns = [*schema.feature_names, *([schema.person] if persons and schema.person else [])]
    try:
        return Records(*table.in_memory(asked.target, columns))
    except Exception:  # the message of a library may quote the damaged file
        raise CommandError(f"{asked.table} cannot be read: the file is damaged.") from None


def _check_meant(asked: argparse.Namespace, schema: Schema, names: Sequence[str]) -> None:
    meant = "" if schema.target is None else schema.target.name
    if meant != asked.target and meant in names:
        raise CommandError(
            f"--target {asked.target}: {asked.schema} predicts the column {meant!r} of this table; "
            f"pass --target {meant}, or correct the [target] of the schema."
        )


def whole_table(
    asked: argparse.Namespace, *, as_text: bool = False
) -> tuple[pd.DataFrame, pd.Series]:
    """Read an entire table to draft or check a schema. NOT PRIVATE.

    Parameters
    ----------
    asked : argparse.Namespace
        Parsed arguments, as in `private_records`.
    as_text : bool, default=False
        Whether to keep the cells of a text file as text, as in a private fit; otherwise, pandas
        infers their types.

    Returns
    -------
    tuple of DataFrame and Series
        All columns except the target, and the target.
    """
    from dpexplain.tables import read_guessed

    if as_text or not _in_lines(asked):
        frame = any_table(asked)
    else:
        column_names(asked)
        frame = _read_by(read_guessed, asked)
    _check_column([str(name) for name in frame.columns], asked.target, asked.table)
    return frame.drop(columns=[asked.target]), frame[asked.target]


def any_table(asked: argparse.Namespace) -> pd.DataFrame:
    """Read all columns of a table.

    A text file is parsed line by line, as in a private fit.

    Parameters
    ----------
    asked : argparse.Namespace
        Parsed arguments, as in `private_records`.

    Returns
    -------
    DataFrame
        The whole table. A line of a text file that cannot be parsed becomes a row of empty cells.
    """
    if _in_lines(asked):
        column_names(asked)
        return read_texts(asked)
    return _read_parquet(asked.table)


def read_texts(asked: argparse.Namespace) -> pd.DataFrame:
    """Parse a text file line by line, keeping every cell as text.

    Parameters
    ----------
    asked : argparse.Namespace
        Parsed arguments, as in `private_records`. The default separator is a comma for ``.csv``,
        and a tab for ``.tsv`` and ``.txt``.

    Returns
    -------
    DataFrame of str
        One row for each line after the header. A line that cannot be parsed becomes a row of empty
        cells.

    Raises
    ------
    CommandError
        If the format is not supported, or the header has no column names. The other lines never
        raise an error.
    """
    from dpexplain import tables

    return _read_by(tables.read_texts, asked)


def column_names(asked: argparse.Namespace) -> list[str]:
    """Read the column names of a text file, and print those that had to be changed.

    Parameters
    ----------
    asked : argparse.Namespace
        Parsed arguments, as in `private_records`.

    Returns
    -------
    list of str

    Raises
    ------
    CommandError
        As in `read_texts`.
    """
    from dpexplain.tables.lines import header_of

    notes = header_notes(asked)
    if notes and not getattr(asked, "quiet", False):
        print(f"{asked.table}: {notes}", file=sys.stderr)
    return _read_by(header_of, asked).names


def header_notes(asked: argparse.Namespace) -> str:
    """Describe the text-file columns whose names are missing or repeated.

    Parameters
    ----------
    asked : argparse.Namespace
        Parsed arguments, as in `private_records`.

    Returns
    -------
    str
        "" if there are no such columns, or if the table is not a text file.

    Raises
    ------
    CommandError
        As in `read_texts`.
    """
    from dpexplain.tables.lines import header_of

    return "; ".join(_read_by(header_of, asked).notes) if _in_lines(asked) else ""


def lines_lost(asked: argparse.Namespace) -> list[UnreadLines]:
    """Count the lines of a text file that cannot be read, by reason. NOT PRIVATE.

    Parameters
    ----------
    asked : argparse.Namespace
        Parsed arguments, as in `private_records`.

    Returns
    -------
    list of UnreadLines
        An empty list if the table is not a text file.

    Raises
    ------
    CommandError
        As in `read_texts`.
    """
    from dpexplain.schema.unread import unread_lines

    return _read_by(unread_lines, asked) if _in_lines(asked) else []


def _read_by(read: Callable[[Path, LineFormat], _Read], asked: argparse.Namespace) -> _Read:
    from dpexplain.tables import LineFormat

    given = {"separator": asked.sep, "encoding": asked.encoding, "header": asked.header}
    given = {name: value for name, value in given.items() if value is not None}
    try:
        form = LineFormat(**{"separator": _SEPARATORS[table_suffix(asked.table)], **given})
        return read(asked.table, form)
    except ValueError as error:  # its message names options and columns, which are public
        raise CommandError(f"{asked.table}: {error}") from None


def _read_parquet(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_parquet(path)
    except (ValueError, OSError, RuntimeError):  # the message of a library may quote the file
        raise CommandError(
            f"{path} cannot be read: expected a Parquet file, or a folder of them."
        ) from None
    except ImportError:
        words = needed("reading Parquet", "pyarrow", "dask")
        raise CommandError(f"{path}: {words}.") from None


def read_schema(path: Path) -> Schema:
    """Load the schema of a private fit.

    Parameters
    ----------
    path : Path
        TOML file with a target.

    Returns
    -------
    Schema
        The schema, including its target.

    Raises
    ------
    CommandError
        If the file is missing or has no target.
    """
    from dpexplain.schema import Schema

    if not path.is_file():
        raise CommandError(
            f"--schema {path}: no such file; `dpexplain schema from-dictionary` writes it from a "
            "data dictionary, and `dpexplain schema draft` a first version from PUBLIC data of the "
            "same form."
        )
    if path.suffix.lower() == ".csv":
        raise CommandError(
            f"--schema {path}: expected TOML; `dpexplain schema from-dictionary` writes it from a "
            "data dictionary."
        )
    schema = Schema.from_toml(path)
    if schema.target is None:
        raise CommandError(f"--schema {path}: it has no [target]; add the column to predict.")
    return schema


def _described(schema: Schema) -> str:
    name = "" if schema.target is None else schema.target.name
    return repr(name) if name else "another column"


def _in_lines(asked: argparse.Namespace) -> bool:
    """Return whether the table is a text file; reject text options for other files."""
    in_lines = table_suffix(asked.table) in _SEPARATORS
    for option in ("sep", "encoding", "header"):
        if not in_lines and getattr(asked, option) is not None:
            raise CommandError(f"--{option} is for text files, and {asked.table} is not one.")
    return in_lines


def table_suffix(path: Path) -> str:
    """Check that a table exists and has a supported format, and return its suffix.

    Parameters
    ----------
    path : Path
        CSV, TSV or Parquet file, or a folder of Parquet files.

    Returns
    -------
    str

    Raises
    ------
    CommandError
        If the file does not exist, or its name does not end in a supported suffix.
    """
    suffix = path.suffix.lower()
    if suffix in _SEPARATORS and not path.is_file():
        raise CommandError(f"{path}: no such file.")
    if suffix not in _SEPARATORS and not path.exists():
        raise CommandError(f"{path}: no such file or folder.")
    if suffix not in (*_SEPARATORS, ".parquet") and not path.is_dir():
        sheet = suffix.startswith((".xls", ".ods"))
        saved = "; save the sheet as CSV (UTF-8)." if sheet else "."
        raise CommandError(
            f"{path}: expected a name that ends in .csv, .tsv, .txt or .parquet{saved}"
        )
    return suffix


def _check_column(names: Sequence[str], name: str, path: Path, role: str = "--target") -> None:
    from dpexplain._utils.names import closest_name

    if name not in names:
        meant = closest_name(name, names)
        hint = f"; did you mean {meant!r}?" if meant else "."
        if any(each.startswith("Unnamed: ") for each in names) and not meant:
            hint = (
                "; if its first lines are a title, pass the line number of the names with --header."
            )
        if len(names) == 1:
            hint = f": {only_column(names[0])}"
        raise CommandError(f"{role} {name}: {path} has no such column{hint}")


def only_column(name: str) -> str:
    """Say what to do about a table that was read as a single column."""
    from dpexplain.explain._text import shorten

    return (
        f"its only column is {shorten(name)!r}; pass the separator with --sep, or the line number "
        "of the names with --header."
    )
