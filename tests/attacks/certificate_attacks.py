"""Attacks on certificates: does a verified page state more than the ledger paid for?"""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable, Iterator
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
    """Certify a file with another fit's entry: a cheaper one, or for another target."""

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
    """Charge a fraction of what a file promises, and release the file with that entry."""
    attempt = f"attempt {next(_ATTEMPTS)}"
    ledger = PrivacyLedger(attempt, path=folder / f"{attempt}.json")
    events = estimator(name, epsilon=share).planned_events(table(name, 20)[0])
    ledger.charge(events, label=f"{name} (epsilon={share:g})", provenance=facts)
    page = folder / "page.html"
    try:
        release(folder / "model.json", ledger).save(page)
    except ValueError:
        return Finding(False, f"refused at {share:g} of the price")
    found = verify(page, ledger.path or "", folder / "model.json")
    return Finding(found.passed, f"verified, where {share:g} was paid for {facts}")


def changed_file(name: str) -> Finding:
    """Certify a file whose guarantee, schema or model was edited by hand."""

    def attempts() -> Iterator[Finding]:
        with TemporaryDirectory() as folder:
            path = Path(folder)
            ledger = PrivacyLedger("changed", path=path / "ledger.json")
            fitted = estimator(name, epsilon=1.0, ledger=ledger).fit(*table(name, 20))
            dpexplain.io.save(fitted.explain_global(), path / "model.json")
            content = json.loads((path / "model.json").read_text())
            for what, change in _CHANGES.items():
                changed = copy.deepcopy(content)
                change(changed["content"])
                (path / "changed.json").write_text(json.dumps(changed) + "\n")
                yield _released(path, ledger, what)

    return first_find(attempts())


def _released(folder: Path, ledger: PrivacyLedger, what: str) -> Finding:
    page = folder / "page.html"
    try:
        release(folder / "changed.json", ledger).save(page)
    except ValueError:
        return Finding(False, f"refused: {what}")
    found = verify(page, ledger.path or "", folder / "changed.json")
    return Finding(found.passed, f"verified with another {what}")


def _guarantees(content: dict[str, Any]) -> list[dict[str, Any]]:
    return [content["guarantee"], *(term["guarantee"] for term in content["terms"])]


def _stating(**fields: Any) -> Callable[[dict[str, Any]], None]:
    """Change fields in the guarantee of a file and in the guarantees of its terms."""

    def change(content: dict[str, Any]) -> None:
        for guarantee in _guarantees(content):
            guarantee.update(fields)

    return change


_CHANGES: dict[str, Callable[[dict[str, Any]], None]] = {
    "mu": _stating(mu=1e-4),
    "epsilon for replacing": _stating(epsilon_replace=1.0),
    "source of noise": _stating(sampler="noise of quantum computers"),
    "scope": _stating(covers="everything that was ever computed"),
    "note": _stating(notes=["Certified by the ministry"]),
    "epsilon of a term": lambda content: content["terms"][0]["guarantee"].update(epsilon=0.01),
    "model": lambda content: content.update(model_name="Medical device"),
    "schema": lambda content: content.pop("schema"),
}


def any_entry_fits(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(releasing, "_NO_LESS_THAN", 0.5)


def targets_are_not_compared(patch: pytest.MonkeyPatch) -> None:
    honest = releasing.fits_file

    def fits_file(entry: Any, *others: Any) -> bool:
        return honest(type(entry)(entry.label, entry.events, entry.unit), *others)

    patch.setattr(releasing, "fits_file", fits_file)
    patch.setattr("dpexplain.certificate.verifying.fits_file", fits_file)


def only_epsilon_is_compared(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(releasing, "_no_less", lambda *_: True)


def words_are_not_compared(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(releasing, "changed_words", lambda _: "")


def missing_schemas_fit(patch: pytest.MonkeyPatch) -> None:
    honest = releasing._same_schema
    patch.setattr(
        releasing,
        "_same_schema",
        lambda shown, known: getattr(shown, "schema", None) is None or honest(shown, known),
    )


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
    Attack(
        "a file is certified whose numbers were changed by hand",
        changed_file,
        only_epsilon_is_compared,
        "only the epsilon is compared",
        every_model=False,
    ),
    Attack(
        "a file is certified whose guarantee was reworded by hand",
        changed_file,
        words_are_not_compared,
        "words are not compared",
        every_model=False,
    ),
    Attack(
        "a file is certified without the schema of its fit",
        changed_file,
        missing_schemas_fit,
        "a file without a schema fits any",
        every_model=False,
    ),
]
