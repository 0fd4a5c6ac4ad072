"""``dpexplain report``: write one HTML file for readers who do not have Python."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path
from typing import Any

import dpexplain.io
from dpexplain.cli.errors import CommandError, after_the_charge
from dpexplain.cli.fits import add_sweep, swept
from dpexplain.cli.options import add_command, check_place
from dpexplain.cli.show import add_class, of_class, opened_ledger_to_read
from dpexplain.cli.tables import read_schema
from dpexplain.cli.text import account_line, described
from dpexplain.explain import FilterBank, MulticlassExplanation
from dpexplain.explain._text import listing
from dpexplain.schema import Classes

_NEEDED = ("target", "schema", "epsilons")
_OF_EVERY_REPORT = (
    "table", "quiet", "out", "title", "replace", "not_for_release", "of_class", "help", "ledger",
)  # fmt: skip


def add_commands(commands: Any) -> None:
    """Add the ``report`` command."""
    report = add_command(
        commands,
        "report",
        summary="Write the dashboard and the privacy statement as one HTML file that opens "
        "anywhere, without network. Anything not private is omitted.",
        examples="dpexplain report data.csv --target income --schema schema.toml "
        "--epsilon 0.5 1 4 --out report.html\n"
        "dpexplain report sweep.json --out report.html\n"
        "dpexplain report model.json --ledger data.ledger.json --out report.html",
    )
    add_sweep(report)
    add_class(report)
    report.add_argument("--out", type=Path, required=True, help="page, as HTML")
    report.add_argument(
        "--title",
        help="heading and browser title of the page (default: the names of the model and target)",
    )
    report.add_argument(
        "--not-for-release",
        action="store_true",
        help='keep the non-private reference in the page; every view then says "do not share"',
    )
    # A saved comparison needs no target and no schema; for a table, `run` checks that they exist.
    for action in report._actions:
        if action.dest in _NEEDED:
            action.required = False
        if action.dest == "table":
            action.help = f"{action.help}, or JSON file that fit or sweep wrote"
    of_fits = [action for action in report._actions if action.dest not in _OF_EVERY_REPORT]
    report.set_defaults(
        run=run_report,
        fit_options=[(each.option_strings[0], each.dest, each.default) for each in of_fits],
    )


def run_report(asked: argparse.Namespace) -> None:
    """Fit models or load a saved comparison, and write the page."""
    saved = asked.table.suffix.lower() == ".json"  # a page of saved fits can be written again
    check_place(asked.out, suffixes=(".html", ".htm"), replace=saved or asked.replace)
    write_page = page_writer()
    if asked.title is not None:
        _check_title(asked.title)
    statement, last, charged = None, "", False
    if saved:
        _refuse_fit_options(asked)
        loaded = dpexplain.io.load(asked.table)
        if asked.ledger is not None:
            loaded = _with_ledger(loaded, asked)
        source = of_class(loaded, asked)
    else:
        _require_fit_options(asked)
        _check_class(asked)
        comparison, ledger = swept(asked)
        source = of_class(comparison, asked)
        statement, last, charged = ledger.statement(), account_line(ledger), True
    with after_the_charge() if charged else contextlib.nullcontext():
        written = write_page(
            source,
            asked.out,
            release_safe=not asked.not_for_release,
            statement=statement,
            title=asked.title,
        )
        if not asked.quiet:
            parts = (described(source), last, f"saved to {written}")
            print("\n\n".join(part for part in parts if part))


def _with_ledger(shown: Any, asked: argparse.Namespace) -> Any:
    """Return a saved fit as a comparison of one epsilon, with its ledger."""
    from dpexplain.accounting.ledger_state import LedgerState
    from dpexplain.certificate.releasing import fits_file
    from dpexplain.certificate.wording import Released
    from dpexplain.compare import Comparison, FilterComparison, MulticlassComparison

    if not isinstance(shown, Released):
        raise CommandError(f"{asked.table} holds the ledger of its fits already; omit --ledger.")
    ledger = opened_ledger_to_read(asked.ledger)
    state = LedgerState.from_json(ledger.to_json())
    if not any(fits_file(entry, shown, state) for entry in state.entries):
        raise CommandError(
            f"no entry of {asked.ledger} promises what {asked.table} does; pass the ledger that "
            "this fit was charged to."
        )
    epsilon = shown.guarantee.epsilon
    title = f"{shown.model_name}: {shown.target_name}"
    shared: dict[str, Any] = {"ledger": ledger.summary(), "title": title}
    if isinstance(shown, MulticlassExplanation):
        return MulticlassComparison.from_fits({epsilon: (shown,)}, reference=None, **shared)
    kind: Any = FilterComparison if isinstance(shown, FilterBank) else Comparison
    return kind((epsilon,), {epsilon: (shown,)}, **shared)


def page_writer() -> Any:
    """Return the function that writes pages.

    Returns
    -------
    function
        ``dpexplain_widgets.write_page``.

    Raises
    ------
    CommandError
        If the packages that dashboards need are not installed.
    """
    try:
        from dpexplain_widgets import write_page
    except ImportError as error:
        raise CommandError(f"pages need the dashboards: {error}") from None
    return write_page


def _check_title(title: str) -> None:
    """Check the title before the ledger is charged."""
    from dpexplain_widgets.export.export import checked_title

    checked_title(title)


def _require_fit_options(asked: argparse.Namespace) -> None:
    missing = [name for name in _NEEDED if getattr(asked, name) is None]
    if missing:
        options = ", ".join("--" + name.removesuffix("s") for name in missing)
        raise CommandError(
            f"{asked.table} is a table, so {options} must be given; or give a comparison that "
            "`dpexplain sweep` saved as .json."
        )


def _check_class(asked: argparse.Namespace) -> None:
    """Check that the class selected in the options exists, if one is selected.

    The check needs only the schema, so it can be done before the ledger is charged.
    """
    if asked.of_class is None:
        return
    target = read_schema(asked.schema).target
    names = tuple(target.names) if isinstance(target, Classes) else ()
    by_class = len(names) > 2 and asked.model != "locally-linear"
    if not (by_class and asked.of_class in names):
        expected = f"expected one of {listing(names)}." if by_class else "omit it."
        raise CommandError(f"--class {asked.of_class}: {expected}")


def _refuse_fit_options(asked: argparse.Namespace) -> None:
    given = [
        option for option, name, default in asked.fit_options if getattr(asked, name) != default
    ]
    if given:
        raise CommandError(f"{asked.table} holds fitted models; omit {', '.join(given)}.")
