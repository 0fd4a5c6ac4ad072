"""``dpexplain explain``, ``claim`` and ``ledger``: print saved results."""

from __future__ import annotations

import argparse
import io
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import dpexplain.io
from dpexplain.cli.errors import CommandError
from dpexplain.cli.options import LEDGER_SUFFIX, add_command, check_place, file_or_address
from dpexplain.cli.text import (
    described,
    described_parts,
    entries_text,
    table_text,
    without_rounding_errors,
)
from dpexplain.exceptions import BudgetError
from dpexplain.explain._by_class import ByClass
from dpexplain.explain._text import listing, shorten
from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.display import ONE_OF_A_SWEEP, Display

if TYPE_CHECKING:
    import pandas as pd

    from dpexplain.accounting import PrivacyLedger
    from dpexplain.explain import Claim

_FIGURES = (".png", ".svg", ".pdf")


def add_commands(commands: Any) -> None:
    """Add the ``explain``, ``claim`` and ``ledger`` commands."""
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

    _add_claim(commands)

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


def _add_claim(commands: Any) -> None:
    claim = add_command(
        commands,
        "claim",
        summary="State one claim about a term, with its confidence interval, and the epsilons of a "
        "comparison at which it holds. Spends nothing.",
        examples="dpexplain claim sweep.json --term age\n"
        "dpexplain claim sweep.json --term sex --bin female --against male\n"
        "dpexplain claim sweep.json --term age --bin 20 30 --against 80 90\n"
        "dpexplain claim sweep.json --term age --extreme highest --bin 40 60\n"
        "dpexplain claim model.json --term age --bin 75 --csv\n"
        "dpexplain claim 2024.json --since 2023.json --term sex --bin female --against male",
    )
    claim.add_argument("file", type=Path, help="JSON file that fit or sweep wrote")
    add_class(claim)
    claim.add_argument("--term", required=True, help="term; without --bin, the claim is its rank")
    claim.add_argument(
        "--bin",
        nargs="+",
        metavar="BIN",
        help="category or its alias, bin (as --term of explain prints it) or number in it; two are "
        "the ends of a range, and so is a month (2024-03). For a pair of features, a cell "
        "('30, nurse') or two opposite corners",
    )
    claim.add_argument(
        "--against",
        nargs="+",
        metavar="BIN",
        help="bin, range or cells to compare with --bin; without it, a range is compared with "
        "the rest",
    )
    claim.add_argument(
        "--extreme", choices=("highest", "lowest"), help="claim that this bin lies in --bin"
    )
    claim.add_argument(
        "--epsilon", type=float, help="fit of a comparison that makes the claim; default: largest"
    )
    claim.add_argument(
        "--since",
        type=Path,
        metavar="EARLIER",
        help="file of an earlier fit: claim that the difference changed from it to FILE",
    )
    claim.add_argument("--csv", action="store_true", help="print every number, as CSV")
    claim.set_defaults(run=run_claim)


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
        table = _with_guarantee(table.apply(without_rounding_errors), shown)
        table.to_csv(sys.stdout, index=False, lineterminator="\n")
    elif table is not None:
        words = described_parts(shown.term_words(asked.term))
        print("\n\n".join([*words, table_text(table, rows=None)]))
    else:
        print(described(shown))


def run_claim(asked: argparse.Namespace) -> None:
    """Print a claim, and at which epsilons of a comparison it holds."""
    from dpexplain.explain.claims.claim_strip import ClaimStrip, claim_strip
    from dpexplain.explain.claims.claiming import claim
    from dpexplain.explain.claims.fits import private_fits

    if asked.against is not None and asked.extreme is not None:
        raise CommandError(
            "--extreme compares --bin with all other bins, and --against with those that it names; "
            "pass only one of them."
        )
    if asked.against is not None and asked.bin is None:
        raise CommandError("--against is compared with --bin; pass a bin or a range with --bin.")
    shown = of_class(_display(dpexplain.io.load(asked.file), asked.file), asked)
    if isinstance(shown, ByClass):
        classes = listing(shown.classes)
        raise CommandError(f"a claim is about one class; pass --class with {classes}.")
    if asked.epsilon is not None:
        _fit_of(shown, asked.epsilon, asked.file)
    if asked.since is not None:
        _print_change(asked, shown)
        return
    swept = bool(shown.fits_by_epsilon())
    if not swept and not isinstance(shown, GlobalExplanation):
        raise CommandError(
            f"{asked.file} contains a {type(shown).__name__}; claims need the curves of an "
            "additive model. For filters, use dpexplain.explain.filter_claim() in Python."
        )
    stated: Claim | ClaimStrip
    try:
        _, fit = private_fits(shown, asked.epsilon, 0)
        assert isinstance(fit, GlobalExplanation)
        is_pair = any(pair.name == asked.term for pair in fit.pairs)
        if is_pair and (asked.bin is None or asked.extreme is not None):
            raise CommandError(
                f"claims about the pair {shorten(asked.term)!r} are about its cells, not about its "
                "rank or an extreme; pass a cell or two opposite corners of a region with --bin."
            )
        first = _bins(asked.bin, "--bin")
        second = _bins(asked.against, "--against")
        if swept:
            about = {"extreme": asked.extreme, "epsilon": asked.epsilon}
            stated = claim_strip(shown, asked.term, first, second, **about)
        else:
            stated = claim(fit, asked.term, first, second, extreme=asked.extreme)
    except KeyError as error:  # a term, a bin or a private fit that does not exist
        raise CommandError(str(error.args[0])) from None
    if asked.csv:
        stated.frame().to_csv(sys.stdout, index=False, lineterminator="\n")
        return
    print(stated)
    frequencies = (stated.asked if isinstance(stated, ClaimStrip) else stated).frequencies
    if frequencies:
        print(frequencies)
    if isinstance(stated, ClaimStrip):
        table = stated.frame()[["state", "estimate", "low", "high"]]
        table.index = [f"ε = {epsilon:g}" for epsilon in stated.epsilons]
        print(f"\n{table_text(table, rows=None)}")


def _print_change(asked: argparse.Namespace, shown: Any) -> None:
    """Print how a difference changed from an earlier file to this one."""
    from dpexplain.compare import claim_change

    earlier = of_class(_display(dpexplain.io.load(asked.since), asked.since), asked)
    for file, each in ((asked.since, earlier), (asked.file, shown)):
        if isinstance(each, ByClass):
            raise CommandError(
                f"--since compares fits of one target; {file} has a score for each class, and "
                f"{asked.file} has one score: name an earlier fit of its target."
            )
        if not isinstance(each, GlobalExplanation):
            kind = type(each).__name__
            raise CommandError(f"--since compares two fits; {file} has a {kind}; {ONE_OF_A_SWEEP}")
    if asked.bin is None or asked.extreme is not None:
        raise CommandError("--since compares bins or ranges; pass --bin, without --extreme.")
    names = [file.stem for file in (asked.since, asked.file)]
    if names[0] == names[1]:
        names = ["the earlier fit", "the later fit"]
    fits = dict(zip(names, (earlier, shown), strict=True))
    first, second = _bins(asked.bin, "--bin"), _bins(asked.against, "--against")
    try:
        change = claim_change(fits, asked.term, first, second)
    except KeyError as error:
        raise CommandError(str(error.args[0])) from None
    if asked.csv:
        change.frame().to_csv(sys.stdout, index=False, lineterminator="\n")
    else:
        print(change)


def _bins(given: list[str] | None, option: str) -> Any:
    """Return a bin, or the ends of a range, as claims name them."""
    if given is None:
        return None
    if len(given) > 2:
        raise CommandError(f"{option} takes one bin, or the two ends of a range; got {len(given)}.")
    return given[0] if len(given) == 1 else tuple(given)


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
        there_are = f"it has {', '.join(frames)}." if frames else "omit --term: it has filters."
        hint = f"did you mean {meant!r}?" if meant else there_are
        raise CommandError(f"--term {term}: {file} has no such term; {hint}")
    return frames[term]


def _with_guarantee(table: pd.DataFrame, shown: Display) -> pd.DataFrame:
    """Add columns that state the guarantee of the fit in each row."""
    import pandas as pd

    fits: Any = shown.fits_by_epsilon()
    if not fits:
        guarantee = getattr(shown, "shown_guarantee", None)
        return table if guarantee is None else table.assign(**guarantee.columns)
    places = zip(table["epsilon"], table["repeat"], strict=True)
    stated = [fits[epsilon][repeat].guarantee.columns for epsilon, repeat in places]
    columns = pd.DataFrame(stated, index=table.index)
    return table.assign(**columns.drop(columns=["epsilon", "private"]))


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


def opened_ledger_to_read(place: Path | str) -> PrivacyLedger:
    """Open a ledger that a command shows and does not charge.

    Parameters
    ----------
    place : Path or str
        File, or address of a database.

    Returns
    -------
    PrivacyLedger

    Raises
    ------
    CommandError
        If there is no such file, or it is not an intact ledger.
    """
    from dpexplain.accounting import PrivacyLedger

    if isinstance(place, Path) and not place.is_file():
        raise CommandError(
            f"{place}: no such file; fit creates TABLE.ledger.json next to the table."
        )
    try:
        return PrivacyLedger.open(place)
    except BudgetError as error:  # nothing was charged: this is not a ledger, or it is damaged
        reason = _why_no_ledger(place, error) if isinstance(place, Path) else str(error)
        raise CommandError(reason) from None


def run_ledger(asked: argparse.Namespace) -> None:
    """Print a ledger's privacy statement."""
    ledger = opened_ledger_to_read(asked.file)
    if asked.format == "entries":
        print(entries_text(ledger.frame()))
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
