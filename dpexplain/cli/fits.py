"""``dpexplain fit`` and ``sweep``: fit models to a table and save explanations."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import dpexplain.io
from dpexplain.accounting._ledger.provenance import provenance_of
from dpexplain.certificate import file_hash
from dpexplain.cli.accounts import ledger_of_command, ledger_place
from dpexplain.cli.errors import CommandError, after_the_charge
from dpexplain.cli.options import (
    add_command,
    add_model,
    add_table,
    check_place,
    count,
    privacy_loss,
    private_estimator,
)
from dpexplain.cli.persons import save_schema, schema_to_fit
from dpexplain.cli.tables import Records, private_records
from dpexplain.cli.text import fit_text, sweep_text
from dpexplain.exceptions import HealthWarning
from dpexplain.explain.health import Health
from dpexplain.schema import Schema

if TYPE_CHECKING:
    from dpexplain.accounting import PrivacyLedger

_JSON = (".json",)


def add_commands(commands: Any) -> None:
    """Add the ``fit`` and ``sweep`` commands."""
    fit = add_command(
        commands,
        "fit",
        summary="Fit one private model and save what it explains.",
        examples="dpexplain fit data.csv --target income --schema schema.toml --epsilon 1 "
        "--out model.json\n"
        "dpexplain fit visits.parquet --target visits --schema visits.toml --epsilon 0.5 \\\n"
        "    --set objective=poisson --cap-epsilon 2 --out visits.json\n"
        "dpexplain fit stays.csv --sep ';' --target died --schema stays.toml --epsilon 1 \\\n"
        "    --groups patient_id --max-rows-per-person 3 --out stays.json",
    )
    add_table(fit)
    fit.add_argument("--epsilon", type=privacy_loss, required=True, help="privacy loss of this fit")
    add_model(fit)
    fit.add_argument("--out", type=Path, required=True, help="explanation, as JSON")
    fit.set_defaults(run=run_fit)

    sweep = add_command(
        commands,
        "sweep",
        summary="Fit private models at several epsilons and save the comparison.",
        examples="dpexplain sweep data.csv --target income --schema schema.toml "
        "--epsilon 0.5 1 4 --out sweep.json\n"
        "dpexplain open sweep.json",
    )
    add_sweep(sweep)
    sweep.add_argument("--out", type=Path, required=True, help="comparison, as JSON")
    sweep.set_defaults(run=run_sweep)


def add_sweep(command: argparse.ArgumentParser) -> None:
    """Add the options shared by the ``sweep`` and ``report`` commands."""
    add_table(command)
    command.add_argument(
        "--epsilon",
        type=privacy_loss,
        nargs="+",
        required=True,
        dest="epsilons",
        metavar="EPSILON",
        help="privacy loss of each fit; all of them are charged together",
    )
    command.add_argument(
        "--repeats", type=count, default=1, help="fits at each epsilon; each is charged"
    )
    command.add_argument(
        "--reference",
        action="store_true",
        help="also fit the non-private reference model; do not share it, and the ledger records it",
    )
    add_model(command)


def run_fit(asked: argparse.Namespace) -> None:
    """Fit one model and save its explanation.

    Invalid input is rejected before the ledger is charged.
    """
    kept = ledger_place(asked).files
    check_place(asked.out, suffixes=_JSON, kept=kept, replace=asked.replace)
    schema, place = schema_to_fit(asked, kept)
    fitted = fit_and_save(asked, schema)
    with after_the_charge():
        _tell(asked, fit_text(fitted.explanation, fitted.health, fitted.ledger, asked.out))
        _tell(asked, save_schema(schema, place))


class Fitted(NamedTuple):
    """Result of `fit_and_save`.

    Attributes
    ----------
    explanation : Display
        The saved explanation.
    health : Health
        Health check of the fit.
    ledger : PrivacyLedger
        The ledger that was charged.
    """

    explanation: Any
    health: Health
    ledger: PrivacyLedger


def fit_and_save(asked: argparse.Namespace, schema: Schema) -> Fitted:
    """Fit one model, save its explanation, and record the file in the ledger.

    Parameters
    ----------
    asked : argparse.Namespace
        Parsed arguments of the ``fit`` command.
    schema : Schema
        Schema of the fit, including its target.

    Returns
    -------
    Fitted

    Raises
    ------
    CommandError, ValueError, BudgetError
        If the input is invalid or the ledger cannot cover the fit; nothing has been spent.
    RuntimeError
        If something failed after the charge.
    """
    ledger_place(asked).exists()  # an unreachable database fails here, before data are read
    records = _checked_records(asked, schema, [asked.epsilon])
    with ledger_of_command(asked) as ledger:
        estimator = private_estimator(
            asked, schema, epsilon=asked.epsilon, delta=ledger.delta, ledger=ledger
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HealthWarning)  # the summary shows the health check
            estimator.fit(records.X, records.y)
    with after_the_charge():
        explanation = estimator.explain_global()
        dpexplain.io.save(explanation, asked.out)
        record_file(estimator, asked.out)
        return Fitted(explanation, estimator.health(), ledger)


def record_file(estimator: Any, path: Path) -> None:
    """Record the hash of a saved file in the ledger, if the fit was private."""
    if not estimator.guarantee_.private:
        return
    ledger = estimator.ledger_
    label = f"{type(estimator).__name__} (epsilon={estimator.epsilon:g})"
    recorded = {file.entry for file in ledger.releases}
    known = provenance_of(estimator.schema).schema
    places = [
        place
        for place, entry in enumerate(ledger.entries)
        if entry.label == label and entry.provenance.schema == known
    ]
    # Concurrent processes may add entries; entries with the same label have the same guarantee.
    open_places = [place for place in places if place not in recorded]
    ledger.add_release((open_places or places)[-1], file_hash(path))


def run_sweep(asked: argparse.Namespace) -> None:
    """Fit models at several epsilons and save the comparison."""
    kept = ledger_place(asked).files
    check_place(asked.out, suffixes=_JSON, kept=kept, replace=asked.replace)
    comparison, ledger = swept(asked)
    with after_the_charge():
        dpexplain.io.save(comparison, asked.out)
        _tell(asked, sweep_text(comparison, ledger, asked.out))


def swept(asked: argparse.Namespace) -> tuple[Any, Any]:
    """Fit models at the epsilons given on the command line.

    Parameters
    ----------
    asked : argparse.Namespace
        Parsed arguments, with the options of :func:`add_sweep`.

    Returns
    -------
    tuple of Comparison and PrivacyLedger
        The comparison of the fits, and the ledger that was charged.
    """
    from dpexplain.compare.sweep import sweep

    schema, place = schema_to_fit(asked, ledger_place(asked).files)
    ledger_place(asked).exists()  # an unreachable database fails here, before data are read
    records = _checked_records(asked, schema, asked.epsilons)
    with ledger_of_command(asked) as ledger:
        comparison = sweep(
            private_estimator(asked, schema, delta=ledger.delta, ledger=ledger),
            records.X,
            records.y,
            epsilons=asked.epsilons,
            n_repeats=asked.repeats,
            reference=asked.reference,
            progress=not asked.quiet and sys.stderr.isatty(),
        )
    with after_the_charge():
        _tell(asked, save_schema(schema, place))
    return comparison, ledger


def _checked_records(asked: argparse.Namespace, schema: Schema, epsilons: list[float]) -> Records:
    """Read the records after checking all public inputs."""
    if len(set(epsilons)) < len(epsilons):
        raise CommandError("--epsilon has a duplicate value; use --repeats to fit several times.")
    estimators = [private_estimator(asked, schema, epsilon=epsilon) for epsilon in epsilons]
    records = private_records(asked, schema)
    for estimator in estimators:
        estimator.planned_events(records.X)
    return records


def _tell(asked: argparse.Namespace, text: str) -> None:
    if text and not asked.quiet:
        print(text)
