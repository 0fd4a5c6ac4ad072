"""Form answers, converted to arguments for the commands that do the work."""

from __future__ import annotations

import argparse
import contextlib
import math
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from dpexplain.cli.errors import CommandError
from dpexplain.cli.main import parser
from dpexplain.cli.tables import TEXT_SUFFIXES
from dpexplain.exceptions import BudgetError, PrivacyWarning

LABELS = {
    "table": "Table with the records: CSV, TSV, TXT or Parquet file",
    "separator": "Separator between cells, if not a comma (or a tab in .tsv and .txt)",
    "encoding": "Encoding of a text file, if not UTF-8",
    "header": "Line with the column names, if not the first (1-2 for names in two lines)",
    "sample": "Public sample: a table with the same columns that anyone may see",
    "schema": "Data dictionary (CSV) or schema (TOML)",
    "target": "Column to predict",
    "groups": "Column that identifies persons, if the dictionary or schema names none",
    "model": "Model",
    "epsilon": "Privacy loss ε of this fit",
    "delta": "δ, if not that of the ledger (1e-6 for a new one)",
    "rows": "Most rows used per person (0 protects single rows)",
    "cap": "Cap: the largest total ε of all fits on this table",
    "ledger": "Ledger: file or address of a database, if not next to the table",
    "person": "Person responsible",
    "purpose": "Purpose of the release",
    "out": "File for the model, which ends in .json",
    "key": "Private key (PEM) that signs the certificate, if it is signed digitally",
}
"""Label of each control, by the name of the answer."""

_OPTIONS = {
    "--sep": "separator",
    "--encoding": "encoding",
    "--header": "header",
    "--schema": "schema",
    "--target": "target",
    "--groups": "groups",
    "--model": "model",
    "--epsilon": "epsilon",
    "--delta": "delta",
    "--max-rows-per-person": "rows",
    "--cap-epsilon": "cap",
    "--ledger": "ledger",
    "--person": "person",
    "--purpose": "purpose",
    "--out": "out",
}
_NAMES = {
    "separator": "separator",
    "encoding": "encoding",
    "header": "line with the column names",
    "schema": "data dictionary or schema",
    "target": "column to predict",
    "groups": "column that identifies persons",
    "model": "model",
    "epsilon": "ε",
    "delta": "δ",
    "rows": "most rows used per person",
    "cap": "cap",
    "ledger": "ledger",
    "person": "person responsible",
    "purpose": "purpose",
    "out": "file",
}
_OPTION = re.compile("|".join(map(re.escape, sorted(_OPTIONS, key=len, reverse=True))))
# The command line prints the messages of these errors, too; they contain no value of a record.
_EXPECTED = (CommandError, BudgetError, ValueError, TypeError, OSError, ImportError, RuntimeError)


class AnswerError(Exception):
    """Error in an answer; nothing was charged unless `sentence` says so.

    Parameters
    ----------
    field : str
        Name of the answer.
    sentence : str
        What is wrong, and what to do.
    """

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field
        self.sentence = sentence


@contextlib.contextmanager
def at(field: str) -> Iterator[None]:
    """Turn errors raised in a ``with`` block into errors about one field of the form.

    A message that begins with a command-line option is reported for the field of that option. The
    message and the type of an unexpected error are hidden: the message could contain a value from a
    record, and the type could depend on one.

    Raises
    ------
    AnswerError
        If the block raises an error.
    """
    try:
        yield
    except AnswerError:
        raise
    except _EXPECTED as error:
        found = _OPTION.match(str(error))
        named = _OPTION.sub(lambda option: _NAMES[_OPTIONS[option[0]]], str(error))
        raise AnswerError(_OPTIONS[found[0]] if found else field, capital(named)) from None
    except Exception:
        raise AnswerError(
            field,
            "This failed with an unexpected error, which is not shown because it could depend on a "
            "record.",
        ) from None


@contextlib.contextmanager
def heard() -> Iterator[list[str]]:
    """Collect privacy warnings; drop all others, because some of them quote values."""
    words: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", PrivacyWarning)
        yield words
    words += dict.fromkeys(str(each.message) for each in caught)


PASSWORD = (
    "This holds a password, and notebooks are saved with what they show. Leave it out; put the "
    "password of a database in the environment variable PGPASSWORD or the file ~/.pgpass."
)
_ADDRESS = re.compile(r"\s*([\w+.-]+://|(postgres|sqlite)[\w+]*:/*)", re.IGNORECASE)
_DRIVE = re.compile(r"\s*[A-Za-z]:[\\/]")
_SECRET = re.compile(r"(password|passwd|passphrase|pwd|secret|token)\w*\s*=|:\S*@", re.IGNORECASE)
_NO_PORT = re.compile(r"[^/@\[]*:(?!\d{1,5}([/?#]|$))")


def has_password(text: str) -> bool:
    """Return whether a string seems to contain a password, as in a database address."""
    plain = unquote(text)
    address = _ADDRESS.match(plain)
    rest = plain[address.end() :] if address else _DRIVE.sub("", plain, count=1)
    if _SECRET.search(rest):
        return True
    return address is not None and (":" in rest.rpartition("@")[0] or bool(_NO_PORT.match(rest)))


def capital(sentence: str) -> str:
    """Capitalize the first letter of a sentence, unless it begins with a file name."""
    first = sentence.split(" ", 1)[0]
    return sentence if re.search(r"[./:]", first) else sentence[:1].upper() + sentence[1:]


@dataclass(frozen=True)
class Answers:
    """Answers as entered, without surrounding spaces.

    Parameters
    ----------
    table, separator, encoding, header, sample, schema, target, groups, model, epsilon, delta, \
    rows, cap, ledger, person, purpose, out, key : str
        Text of each control; see `LABELS`.
    """

    table: str = ""
    separator: str = ""
    encoding: str = ""
    header: str = ""
    sample: str = ""
    schema: str = ""
    target: str = ""
    groups: str = ""
    model: str = "boosting"
    epsilon: str = ""
    delta: str = ""
    rows: str = ""
    cap: str = ""
    ledger: str = ""
    person: str = ""
    purpose: str = ""
    out: str = ""
    key: str = ""

    def needed(self, field: str, words: str) -> str:
        """Return the answer to a field, or raise an error if it is empty.

        Raises
        ------
        AnswerError
            If the answer is empty.
        """
        if not (answer := getattr(self, field)):
            raise AnswerError(field, words)
        return str(answer)

    def path(self, field: str, words: str) -> Path:
        """Return an answer as a path; ``~`` is the home folder."""
        with at(field):
            return Path(self.needed(field, words)).expanduser()

    def number(self, field: str) -> str:
        """Return a numeric answer as a command-line argument; "" if it is empty.

        Raises
        ------
        AnswerError
            If the answer is not a finite number.
        """
        if not (text := getattr(self, field)):
            return ""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise AnswerError(field, f"Expected a number such as 0.5, not {text!r}.")
        return repr(value)

    def fit_command(self, target: str) -> argparse.Namespace:
        """Return the parsed arguments for ``dpexplain fit``."""
        self.needed("epsilon", "Enter the privacy loss of this fit, such as 1.")
        optional = {
            "--delta": self.number("delta"),
            "--cap-epsilon": self.number("cap"),
            "--ledger": self.ledger,
            "--person": self.person,
            "--purpose": self.purpose,
            "--max-rows-per-person": self._rows(),
        }
        return parser().parse_args(
            [
                "fit",
                _operand(self.table_path()),
                f"--target={target}",
                f"--schema={self.schema_path()}",
                f"--model={self.model}",
                f"--epsilon={self.number('epsilon')}",
                f"--out={self.out_path()}",
                "--quiet",
                *self._line_format(),
                *(f"{option}={value}" for option, value in optional.items() if value),
            ]
        )

    def check_command(self, target: str) -> argparse.Namespace:
        """Return the parsed arguments for ``dpexplain schema check``."""
        return parser().parse_args(
            [
                *("schema", "check", _operand(self.table_path())),
                *(f"--target={target}", f"--schema={self.schema_path()}"),
                *self._line_format(),
            ]
        )

    def draft_command(self) -> argparse.Namespace:
        """Return the parsed arguments for drafting a schema from the public sample."""
        sample = self.path("sample", "Enter the file of a public sample.")
        target = self.needed("target", "Enter the column to predict.")
        out = sample.with_name(f"{sample.stem}.schema.toml")
        in_lines = sample.suffix.lower() in TEXT_SUFFIXES
        return parser().parse_args(
            [
                *("schema", "draft", _operand(sample), f"--target={target}", f"--out={out}"),
                *(self._line_format() if in_lines else ()),
            ]
        )

    def table_path(self) -> Path:
        """Return the path of the table."""
        return self.path("table", "Enter the file with the records, such as data.csv.")

    def schema_path(self) -> Path:
        """Return the path of the data dictionary or schema."""
        return self.path(
            "schema", "Enter a data dictionary (.csv) or a schema (.toml), such as dictionary.csv."
        )

    def out_path(self) -> Path:
        """Return the path of the model; by default, ``model.json`` next to the table."""
        given = Path(self.out).expanduser() if self.out else None
        return self.table_path().with_name("model.json") if given is None else given

    def _line_format(self) -> list[str]:
        given = {
            "--sep": self.separator,
            "--encoding": self.encoding,
            "--header": self.header,
        }
        return [f"{option}={value}" for option, value in given.items() if value]

    def _rows(self) -> str:
        if self.rows in ("", "0"):
            return ""
        if not (self.rows.isascii() and self.rows.isdigit()):
            raise AnswerError("rows", f"Expected a whole number such as 3, not {self.rows!r}.")
        return str(int(self.rows))


def _operand(path: Path) -> str:
    """Format a path so that the command-line parser cannot mistake it for an option."""
    return f"./{path}" if str(path).startswith("-") else str(path)
