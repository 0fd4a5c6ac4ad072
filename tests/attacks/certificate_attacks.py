"""Attacks on certificates: does a page that is verified say more than the ledger paid for?"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import dpexplain.io
from attack_kit import Attack, Finding, estimator, first_find, table
from dpexplain import PrivacyLedger
from dpexplain.accounting import Provenance
from dpexplain.certificate import release, releasing, verify

_ATTEMPTS = itertools.count()
_OTHER_SCHEMA = "0" * 64


def fit_of_another_ledger(name: str) -> Finding:
    """Certify a file with the entry of another fit: cheaper, or about another target."""

    def attempts() -> Iterator[Finding]:
        with TemporaryDirectory() as folder:
            model = Path(folder) / "model.json"
            fitted = estimator(name, epsilon=1.0).fit(*table(name, 20))
            dpexplain.io.save(fitted.explain_global(), model)
            for share in (0.51, 0.6, 0.75, 0.9, 0.98):
                yield _certified(Path(folder), name, share, Provenance())
            yield _certified(Path(folder), name, 1.0, Provenance(target="something else"))
            yield _certified(Path(folder), name, 1.0, Provenance(schema=_OTHER_SCHEMA))

    return first_find(attempts())


def _certified(folder: Path, name: str, share: float, facts: Provenance) -> Finding:
    """Charge a share of what the file promises, and release it with that entry."""
    attempt = f"attempt {next(_ATTEMPTS)}"
    ledger = PrivacyLedger(attempt, path=folder / f"{attempt}.json")
    events = estimator(name, epsilon=share).planned_events(table(name, 20)[0])
    ledger.charge(events, label="another fit", provenance=facts)
    page = folder / "page.html"
    try:
        release(folder / "model.json", ledger).save(page)
    except ValueError:
        return Finding(False, f"refused at {share:g} of the price")
    found = verify(page, ledger.path or "", folder / "model.json")
    return Finding(found.passed, f"verified, where {share:g} was paid for {facts}")


def any_entry_fits(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(releasing, "_NO_LESS_THAN", 0.5)


def targets_are_not_compared(patch: pytest.MonkeyPatch) -> None:
    honest = releasing.fits_file

    def fits_file(entry: Any, *others: Any) -> bool:
        return honest(type(entry)(entry.label, entry.events, entry.unit), *others)

    patch.setattr(releasing, "fits_file", fits_file)
    patch.setattr("dpexplain.certificate.verifying.fits_file", fits_file)


def schemas_are_not_compared(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(releasing, "schema_hash", lambda schema: _OTHER_SCHEMA)


ATTACKS = [
    Attack(
        "a file is certified with the entry of a cheaper fit",
        fit_of_another_ledger,
        any_entry_fits,
        "an entry fits if it paid half of what a file promises",
        every_model=False,
    ),
    Attack(
        "a file is certified with the entry of a fit about another target",
        fit_of_another_ledger,
        targets_are_not_compared,
        "targets are not compared",
        every_model=False,
    ),
    Attack(
        "a file is certified with a schema that the fit did not have",
        fit_of_another_ledger,
        schemas_are_not_compared,
        "schemas are not compared",
        every_model=False,
    ),
]
