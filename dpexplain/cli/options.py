"""Options shared by several commands."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from dpexplain.cli.errors import CommandError
from dpexplain.models.registry import commands

LEDGER_SUFFIX = ".ledger.json"


class Parser(argparse.ArgumentParser):
    """Parser that answers a wrong call with the first example of its help."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments; a command itself rejects those that it does not know."""
        known, unknown = super().parse_known_args(args, namespace)
        if unknown and self._subparsers is None:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return known, unknown

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and what to do next, and exit with status 2."""
        first = (self.epilog or "").split("examples:\n")[-1].replace("\\\n", " ").split("\n")[0]
        example = f"for example: {' '.join(first.split())}\n" if first else ""
        self.exit(2, f"{self.prog}: {message}\n{example}all options: {self.prog} --help\n")


def add_command(
    commands: Any, name: str, *, summary: str, examples: str
) -> argparse.ArgumentParser:
    """Add a command whose help ends with examples.

    Parameters
    ----------
    commands : argparse subparsers
        The commands to which this one is added.
    name : str
        Name of the command, such as ``"fit"``; for a subcommand, its last word, such as
        ``"draft"`` for ``dpexplain schema draft``.
    summary : str
        Description of the command, shown in its help and in the list of commands.
    examples : str
        Examples for the help, one command per line.

    Returns
    -------
    argparse.ArgumentParser
        Parser for the new command.
    """
    lines = "\n".join(f"  {line}" for line in examples.strip().splitlines())
    command: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=summary,
        epilog=f"examples:\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(command=name)
    return command


def add_file(command: argparse.ArgumentParser) -> None:
    """Add the table argument and the options for the format of text files."""
    command.add_argument(
        "table", type=Path, help="CSV, TSV, TXT or Parquet file with one record per row"
    )
    command.add_argument(
        "--sep",
        metavar="CHARACTER",
        help="separator between cells; default: a comma in .csv, a tab in .tsv and .txt",
    )
    command.add_argument(
        "--encoding",
        metavar="NAME",
        help="encoding of a text file: utf-8 (default), utf-16 or a one-byte code page",
    )
    command.add_argument(
        "--header",
        metavar="LINES",
        help="line with the column names, such as 3 below a title, or 1-2 for names in two lines; "
        "default: 1",
    )


def add_replace(command: argparse.ArgumentParser) -> None:
    """Add the option that lets a command replace a file."""
    command.add_argument("--replace", action="store_true", help="replace an existing file")


def add_table(command: argparse.ArgumentParser, *, private: bool = True) -> None:
    """Add the options for the table, its target and its schema."""
    add_file(command)
    command.add_argument("--target", required=True, metavar="COLUMN", help="column to predict")
    if private:
        command.add_argument(
            "--schema",
            required=True,
            type=Path,
            metavar="TOML",
            help="public bounds and categories (dpexplain schema draft writes a first version)",
        )
        command.add_argument(
            "--groups",
            metavar="COLUMN",
            help="column that identifies persons, if the schema does not name it",
        )


def add_model(command: argparse.ArgumentParser) -> None:
    """Add the options for the model and the ledger."""
    command.add_argument(
        "--model",
        choices=tuple(commands()),
        default="boosting",
        help="default: boosting; random-forest, dpboost and boosted-trees have pure differential "
        "privacy (delta 0)",
    )
    command.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="settings",
        help="parameter of the model: a word, or a value in TOML: --set preset=paper",
    )
    add_rows_per_person(command)
    command.add_argument(
        "--delta",
        type=float,
        default=None,
        help="delta of the guarantee, if the model uses one, and of the totals in the ledger; "
        "default: the ledger's, or 1e-6 for a new one",
    )
    command.add_argument(
        "--ledger",
        type=file_or_address,
        metavar="JSON",
        help="ledger of the table, a file or postgresql://user@host/database or "
        "sqlite:////folder/file.db; default: TABLE.ledger.json in the same folder",
    )
    command.add_argument("--dataset", help="name of the table in a new ledger; default: its file")
    command.add_argument(
        "--cap-epsilon", type=float, help="cap of a new ledger; charges beyond it are refused"
    )
    add_responsible(command)
    command.add_argument(
        "--quiet", action="store_true", help="print no progress and no summary, only errors"
    )
    add_replace(command)


def add_rows_per_person(command: argparse.ArgumentParser) -> None:
    """Add the option that limits the number of rows per person."""
    command.add_argument(
        "--max-rows-per-person",
        type=count,
        metavar="N",
        help="protect persons rather than rows, and use at most N rows of each",
    )


def add_responsible(command: argparse.ArgumentParser) -> None:
    """Add the options for the responsible person and the purpose."""
    command.add_argument("--person", default="", help="person responsible, for the ledger")
    command.add_argument("--purpose", default="", help="what the release is for, for the ledger")


def private_estimator(asked: argparse.Namespace, schema: Any, **parameters: Any) -> Any:
    """Create the estimator named by the options.

    Parameters
    ----------
    asked : argparse.Namespace
        Parsed arguments, with the attribute ``model`` and those of `settings_of`.
    schema : Schema
        Schema whose target determines whether a classifier or a regressor is created.
    **parameters
        Parameters of the estimator that the command itself sets.

    Returns
    -------
    private estimator
        The unfitted estimator.

    Raises
    ------
    CommandError
        If the model does not support the target, or a parameter in ``settings`` does not exist or
        must be set with its own option.
    """
    from dpexplain import models
    from dpexplain.models.interpret_names import unknown_parameter
    from dpexplain.schema import Classes

    target = "classes" if isinstance(schema.target, Classes) else "range"
    name = commands()[asked.model].get(target)
    if name is None:
        fitting = ", ".join(kind for kind, by_target in commands().items() if target in by_target)
        raise CommandError(
            f"--model {asked.model} is for classes, and the schema's target is a range; choose "
            f"one of {fitting}."
        )
    kind = getattr(models, name)
    if "delta" not in kind().get_params(deep=False):
        parameters.pop("delta", None)  # pure differential privacy has none
    estimator = kind(schema=schema, **parameters)
    settings = settings_of(asked)
    if taken := sorted(set(settings) & {"schema", "epsilon", "delta", "ledger"}):
        raise CommandError(f"--set {taken[0]}=...: use the option --{taken[0]} instead.")
    known = sorted(estimator.get_params(deep=False))
    if unknown := sorted(set(settings) - set(known)):
        answer = unknown_parameter(name, unknown[0], known)
        raise CommandError(f"--set {unknown[0]}=...: {answer}")
    return estimator.set_params(**settings)


def settings_of(asked: argparse.Namespace) -> dict[str, Any]:
    """Return the model parameters that are set by options.

    Parameters
    ----------
    asked : argparse.Namespace
        Parsed arguments, with the attributes ``settings`` and ``max_rows_per_person``.

    Returns
    -------
    dict
        Values of parameters, keyed by name.

    Raises
    ------
    CommandError
        If a parameter is set twice.
    """
    given = [setting(text) for text in asked.settings]
    if asked.max_rows_per_person is not None:
        given.append(("max_rows_per_person", asked.max_rows_per_person))
    names = [name for name, _ in given]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise CommandError(f"--set {twice}=...: the parameter is set twice; set it once.")
    return dict(given)


_NO_STRINGS = frozenset({"true", "false", "yes", "no", "on", "off", "none", "null", "inf", "nan"})


def setting(text: str) -> tuple[str, Any]:
    """Parse ``name=value``, with a word or a value in TOML syntax.

    Parameters
    ----------
    text : str
        Argument of the ``--set`` option.

    Returns
    -------
    tuple of str and object
        Name and value of the parameter.

    Raises
    ------
    CommandError
        If `text` does not have this form.

    Examples
    --------
    >>> setting("n_filters=5"), setting('monotone_constraints={age = "increasing"}')
    (('n_filters', 5), ('monotone_constraints', {'age': 'increasing'}))
    >>> setting("objective=poisson")
    ('objective', 'poisson')
    """
    name, sign, value = text.partition("=")
    if not sign or not name.strip().isidentifier():
        raise CommandError(f"--set {text}: expected NAME=VALUE, for example --set outer_bags=4.")
    if (word := value.strip()).isidentifier() and word.lower() not in _NO_STRINGS:
        return name.strip(), word  # without quotes, because shells remove them
    try:
        return name.strip(), tomllib.loads(f"value = {value}")["value"]
    except (tomllib.TOMLDecodeError, KeyError):
        raise CommandError(
            f"--set {text}: the value is not TOML; write true or false, a number, a word, a list "
            'such as ["age & sex"], or a table such as {age = "increasing"}, in quotes of the '
            "shell."
        ) from None


def file_or_address(text: str) -> Path | str:
    """Parse the location of a ledger, for argparse.

    Parameters
    ----------
    text : str
        Path of a file, or address of a database, which contains ``://``.

    Returns
    -------
    Path or str
        The path as a Path, or the address unchanged.
    """
    return text if "://" in text else Path(text)


def count(text: str) -> int:
    """Parse a positive integer, for argparse.

    Parameters
    ----------
    text : str

    Returns
    -------
    int

    Raises
    ------
    argparse.ArgumentTypeError
        If `text` is not a positive integer.
    """
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} must be an integer of at least 1")
    return int(text)


def privacy_loss(text: str) -> float:
    """Parse an epsilon, for argparse.

    Parameters
    ----------
    text : str

    Returns
    -------
    float

    Raises
    ------
    argparse.ArgumentTypeError
        If `text` is not a number.
    """
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text} is not a number; write 0.5 with a point. `dpexplain sweep` and `dpexplain "
            "report` take several, with spaces between them: --epsilon 0.5 1 2"
        ) from None


def lists_commands(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Return a function that prints the commands there are, for status 2."""

    def answer(_: argparse.Namespace) -> int:
        parser.print_help(sys.stderr)
        return 2

    return answer


def check_place(
    path: Path,
    *,
    suffixes: tuple[str, ...],
    kept: tuple[Path, ...] = (),
    option: str = "--out",
    replace: bool = True,
) -> None:
    """Check that a result can be written, before any privacy budget is spent.

    Parameters
    ----------
    path : Path
        Destination of the result. A ledger is never replaced.
    suffixes : tuple of str
        Allowed file name suffixes.
    kept : tuple of Path
        Files that the command reads or updates, which the result must not replace.
    option : str, default="--out"
        Option that gave the path, for error messages.
    replace : bool, default=True
        Whether an existing file may be replaced.

    Raises
    ------
    CommandError
        If the suffix is not allowed, the file is a ledger or in `kept`, the folder is missing or
        not writable, the path is a folder, or the file exists and may not be replaced.
    """
    if path.suffix.lower() not in suffixes:
        raise CommandError(f"{option} {path}: the name must end in {' or '.join(suffixes)}.")
    if not path.absolute().parent.is_dir():
        raise CommandError(f"{option} {path}: the folder does not exist; create it first.")
    if path.is_dir():
        raise CommandError(f"{option} {path} is a folder; give the name of a file.")
    if path.name.lower().endswith(LEDGER_SUFFIX) or _holds_ledger(path):
        raise CommandError(f"{option} {path} is a ledger; give the result another name.")
    if path.resolve() in [each.resolve() for each in kept]:
        raise CommandError(
            f"{option} {path}: the command reads or updates this file; give another name."
        )
    if path.exists() and not replace:
        raise CommandError(
            f"{option} {path} exists; give another name, or pass --replace to overwrite it."
        )
    try:
        with tempfile.TemporaryFile(dir=path.absolute().parent):
            pass
    except OSError:
        raise CommandError(f"{option} {path}: the folder is not writable.") from None


def _holds_ledger(path: Path) -> bool:
    """Return whether an existing file is a ledger, regardless of its name."""
    try:
        held = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(held, dict) and held.get("format") == "dpexplain/ledger"
