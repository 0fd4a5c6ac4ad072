"""``dpexplain explain``, ``ledger`` and ``open``: show saved results."""

from __future__ import annotations

import argparse
import io
import math
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import dpexplain.io
from dpexplain.cli.errors import CommandError
from dpexplain.cli.hosts import notebook_text, run_program
from dpexplain.cli.options import LEDGER_SUFFIX, add_command, check_place, file_or_address
from dpexplain.cli.text import described, described_parts, table_text
from dpexplain.exceptions import BudgetError
from dpexplain.explain._by_class import ByClass
from dpexplain.explain._text import listing
from dpexplain.explain.display import Display

if TYPE_CHECKING:
    import pandas as pd

_FIGURES = (".png", ".svg", ".pdf")


def add_commands(commands: Any) -> None:
    """Add the ``explain``, ``ledger`` and ``open`` commands."""
    explain = add_command(
        commands,
        "explain",
        summary="Print what a saved explanation or comparison says, or write a figure of it.",
        examples="dpexplain explain model.json\n"
        "dpexplain explain model.json --term age\n"
        "dpexplain explain sweep.json --epsilon 1 --term age --plot age.png\n"
        "dpexplain explain sweep.json --csv > shapes.csv",
    )
    explain.add_argument("file", type=Path, help="JSON file that fit or sweep wrote")
    add_class(explain)
    explain.add_argument(
        "--term", help="one term, bin by bin; for a pair of features, cell by cell"
    )
    explain.add_argument("--epsilon", type=float, help="one fit of a comparison")
    explain.add_argument("--csv", action="store_true", help="print every number, as CSV")
    explain.add_argument("--plot", type=Path, metavar="FILE", help="write a figure (png, svg, pdf)")
    explain.add_argument(
        "--show",
        choices=("both", "released", "effect"),
        help="curves of the figure: as released, the estimated effect in the population, or both",
    )
    explain.set_defaults(run=run_explain)

    ledger = add_command(
        commands,
        "ledger",
        summary="Print the privacy statement of a ledger: what was spent, and what that means.",
        examples="dpexplain ledger data.ledger.json\n"
        "dpexplain ledger data.ledger.json --published 0 2 --format markdown",
    )
    ledger.add_argument("file", type=file_or_address, help="ledger file, or address of a database")
    ledger.add_argument(
        "--published", type=int, nargs="+", help="indices of the published entries, from 0"
    )
    ledger.add_argument("--format", choices=("text", "markdown", "json", "entries"), default="text")
    ledger.set_defaults(run=run_ledger)

    opener = add_command(
        commands,
        "open",
        summary="Open a page in the browser, or a notebook or saved comparison in JupyterLab.",
        examples="dpexplain open report.html\ndpexplain open sweep.json",
    )
    opener.add_argument("file", type=Path, help=".html, .ipynb or .json file")
    opener.add_argument(
        "--print",
        action="store_true",
        dest="only_print",
        help="print what would be opened; a saved file still gets the notebook that shows it",
    )
    opener.set_defaults(run=run_open)


def run_explain(asked: argparse.Namespace) -> None:
    """Print or draw an explanation, one fit of a comparison, or the whole comparison."""
    if asked.plot is not None:
        check_place(asked.plot, suffixes=_FIGURES, option="--plot")
    elif asked.show is not None:
        raise CommandError("--show selects the curves of a figure; name its file with --plot.")
    shown = of_class(_display(dpexplain.io.load(asked.file), asked.file), asked)
    if asked.plot is not None and isinstance(shown, ByClass):
        raise CommandError(f"--plot shows one class; pass --class with {listing(shown.classes)}.")
    if asked.epsilon is not None:
        shown = _fit_of(shown, asked.epsilon, asked.file)
    if shown.release_warning:
        print(f"{asked.file}: {shown.release_warning}", file=sys.stderr)
    if asked.plot is not None:
        _draw(shown, asked.term, asked.plot, asked.show)
        print(f"saved to {asked.plot}")
        return
    table = None if asked.term is None else _term_frame(shown, asked.term, asked.file)
    if asked.csv:
        table = shown.frame() if table is None else table
        table.to_csv(sys.stdout, index=False, lineterminator="\n")
    elif table is not None:
        words = described_parts(shown.term_words(asked.term))
        print("\n\n".join([*words, table_text(table, rows=None)]))
    else:
        print(described(shown))


def add_class(command: argparse.ArgumentParser) -> None:
    """Add the ``--class`` option, which selects one class of a model."""
    command.add_argument(
        "--class", dest="of_class", metavar="LABEL", help="one class of a model of three or more"
    )


def of_class(shown: Any, asked: argparse.Namespace) -> Any:
    """Return the explanation or comparison for the class selected in the options.

    Parameters
    ----------
    shown : object
        The explanation or comparison of the whole model.
    asked : argparse.Namespace
        Parsed arguments, with the attribute ``of_class``.

    Returns
    -------
    object
        The part of `shown` for the class; `shown` itself if no class was selected.

    Raises
    ------
    CommandError
        If there are no classes to choose from, or the class does not exist.
    """
    if asked.of_class is None:
        return shown
    if not isinstance(shown, ByClass):
        raise CommandError(f"--class {asked.of_class}: there is one curve per term; omit it.")
    if asked.of_class not in shown.classes:
        raise CommandError(f"--class {asked.of_class}: expected one of {listing(shown.classes)}.")
    return shown.for_class(asked.of_class)


def _display(shown: Any, file: Path) -> Display:
    if not isinstance(shown, Display):
        raise CommandError(
            f"{file} contains a {type(shown).__name__}, which is not an explanation."
        )
    return shown


def _fit_of(shown: Display, epsilon: float, file: Path) -> Display:
    fits = shown.fits_by_epsilon()
    if not fits:
        raise CommandError(f"--epsilon {epsilon:g}: {file} contains a single explanation; omit it.")
    if epsilon not in fits:
        known = ", ".join(f"{value:g}" for value in fits)
        raise CommandError(f"--epsilon {epsilon:g}: {file} contains fits at {known}.")
    return fits[epsilon][0]


def _term_frame(shown: Display, term: str, file: Path) -> pd.DataFrame:
    from dpexplain._utils.names import closest_name

    frames = shown.term_frames()
    if term not in frames:
        meant = closest_name(term, tuple(frames))
        there_are = f"it has {', '.join(frames)}." if frames else "it has none."
        hint = f"did you mean {meant!r}?" if meant else there_are
        raise CommandError(f"--term {term}: {file} has no such term; {hint}")
    return frames[term]


def _draw(shown: Display, term: str | None, path: Path, show: str | None) -> None:
    import matplotlib

    matplotlib.use("agg")
    options = {} if show is None else {"show": show}
    try:
        axes = shown.plot(**options) if term is None else shown.plot(term, **options)
    except (TypeError, ValueError) as error:
        if show is None:
            raise
        raise CommandError(f"--show {show}: {error}") from None
    first = np.ravel(axes)[0]
    drawn = io.BytesIO()
    first.figure.savefig(drawn, format=path.suffix[1:].lower(), bbox_inches="tight")
    dpexplain.io.write_file(path, drawn.getvalue())


def run_ledger(asked: argparse.Namespace) -> None:
    """Print a ledger's privacy statement."""
    from dpexplain.accounting import PrivacyLedger

    in_file = isinstance(asked.file, Path)
    if in_file and not asked.file.is_file():
        raise CommandError(
            f"{asked.file}: no such file; fit creates TABLE.ledger.json next to the table."
        )
    try:
        ledger = PrivacyLedger.open(asked.file)
    except BudgetError as error:  # nothing was charged: this is not a ledger, or it is damaged
        reason = _why_no_ledger(asked.file, error) if in_file else str(error)
        raise CommandError(reason) from None
    if asked.format == "entries":
        print(table_text(ledger.frame(), rows=None))
        return
    statement = ledger.statement(asked.published)
    print(
        {"text": statement.text, "markdown": statement.markdown, "json": statement.to_json}[
            asked.format
        ]()
    )
    if asked.format == "text":
        print(f"\n{_left_words(ledger)}\n{ledger.chain_words()}")


def _why_no_ledger(file: Path, error: BudgetError) -> str:
    try:
        kind = type(dpexplain.io.load(file)).__name__
    except (ValueError, OSError):
        return f"{file} cannot be read as a ledger: {error}"
    return (
        f"{file} is a {kind}, not a ledger; `dpexplain explain {file}` prints it. The ledger of "
        f"TABLE.csv is TABLE{LEDGER_SUFFIX}, unless --ledger named another file."
    )


def _left_words(ledger: Any) -> str:
    if math.isinf(ledger.cap_epsilon):
        return "No cap is set: this ledger refuses nothing."
    left = math.floor(1000.0 * ledger.remaining_epsilon) / 1000.0
    return f"Left under the cap of epsilon {ledger.cap_epsilon:g}: epsilon {left:g} for one fit."


def run_open(asked: argparse.Namespace) -> int:
    """Open a page in the browser, or a notebook or saved result in JupyterLab."""
    path: Path = asked.file
    if not path.is_file():
        raise CommandError(f"{path}: no such file.")
    suffix = path.suffix.lower()
    if suffix in (".html", ".htm"):
        address = path.resolve().as_uri()
        if asked.only_print:
            print(address)
        elif not webbrowser.open(address):
            raise CommandError(f"no browser was found; open {address} in one.")
        return 0
    if suffix not in (".ipynb", ".json"):
        raise CommandError(f"{path}: expected a name that ends in .html, .ipynb or .json.")
    notebook = path if suffix == ".ipynb" else _notebook_for(path)
    return run_program(["jupyter", "lab", str(notebook)], only_print=asked.only_print)


def _notebook_for(path: Path) -> Path:
    """Return the notebook that shows a saved file; write it if it does not exist."""
    dpexplain.io.load(path)  # an error is clearer here than in the notebook
    notebook = path.with_suffix(".ipynb")
    if not notebook.exists():
        cells = [
            "import dpexplain\nfrom dpexplain_widgets import Explorer",
            f"shown = dpexplain.io.load({path.name!r})\nExplorer(shown)",
        ]
        dpexplain.io.write_file(notebook, notebook_text(cells))
    return notebook
