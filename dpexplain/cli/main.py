"""Parse the command line, run one command, and convert errors to an exit status."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Sequence

from dpexplain._utils.version import __version__
from dpexplain.cli import certificates, drafts, fits, hosts, predictions, reports, show, warm
from dpexplain.cli.errors import CommandError
from dpexplain.cli.options import Parser, lists_commands
from dpexplain.exceptions import BudgetError, PrivacyWarning

DONE, FAILED, WRONG, UNPAID, STOPPED = 0, 1, 2, 3, 130
_STATUS = f"""exit status:
  {DONE}  done
  {FAILED}  failed; earlier charges remain
  {WRONG}  invalid input, rejected before any budget was spent
  {UNPAID}  rejected by the ledger, or it cannot be used; no data were read
  {STOPPED}  interrupted by Ctrl-C
"""
_EXAMPLES = """examples:
  dpexplain schema draft public_sample.csv --target income --out schema.toml
  dpexplain report data.csv --target income --schema schema.toml --epsilon 0.5 1 4 \\
      --out report.html
  dpexplain ledger data.ledger.json
  dpexplain open report.html
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the ``dpexplain`` command.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        Command-line arguments; None means the arguments of the process.

    Returns
    -------
    int
        Exit status: 0 for success, 1 for failure, 2 for invalid input, 3 if the ledger rejected the
        command, and 130 if it was interrupted.
    """
    asked = parser().parse_args(arguments)
    try:
        with warnings.catch_warnings():
            # Shown even with `python -W ignore`: users must see these warnings, each once.
            warnings.simplefilter("always", PrivacyWarning)
            warnings.showwarning = _says_warnings_once()
            return _ran(asked.run, asked)
    except KeyboardInterrupt:
        _say("dpexplain: interrupted. Charges recorded in the ledger remain.")
        return STOPPED


def parser() -> argparse.ArgumentParser:
    """Create the parser for all commands.

    Returns
    -------
    argparse.ArgumentParser
        Parser for the command line. The parsed arguments have an attribute ``run``, which is the
        function that runs the selected command with these arguments.
    """
    top = Parser(
        prog="dpexplain",
        description="Interpretable models under differential privacy, with noise bands for their "
        "explanations.",
        epilog=f"{_EXAMPLES}\n{_STATUS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"dpexplain {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND")
    top.set_defaults(run=lists_commands(top))
    for part in (fits, reports, show, hosts, predictions, certificates, drafts, warm):
        part.add_commands(commands)
    return top


def _ran(run: Callable[[argparse.Namespace], int | None], asked: argparse.Namespace) -> int:
    try:
        status = run(asked) or DONE
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader of the pipe has exited, as in `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except BudgetError as error:
        return _refused(asked, error, UNPAID)
    except (CommandError, ValueError, TypeError, OSError, ImportError) as error:
        return _refused(asked, error, WRONG)
    except RuntimeError as error:
        return _refused(asked, error, FAILED)


def _refused(asked: argparse.Namespace, error: Exception, status: int) -> int:
    words = str(error)
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        words = f"{error.filename}: no such file."
    _say(f"dpexplain {asked.command}: {words}")
    return status


def _says_warnings_once() -> Callable[..., None]:
    said: set[str] = set()

    def say(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in said:
            said.add(str(message))
            _say(f"warning: {message}")

    return say


def _say(text: str) -> None:
    print(text, file=sys.stderr)
