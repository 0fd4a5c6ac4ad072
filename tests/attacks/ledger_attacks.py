"""Attacks on what a ledger states: for whom, and for which data."""

from __future__ import annotations

import argparse
import hashlib
import itertools
import math
import os
import sqlite3
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pytest

import dpexplain.accounting.ledger_state as ledger_state
import dpexplain.models as models
from attack_kit import Attack, Finding, estimator, first_find, is_pure, table
from dpexplain import PrivacyLedger, sweep
from dpexplain.accounting import RECORD, GaussianEvent, Person, delta_from_mu
from dpexplain.accounting._ledger import address as database_address
from dpexplain.accounting._ledger.file import LedgerFile
from dpexplain.accounting._ledger.place import LedgerPlace
from dpexplain.accounting.ledger_state import LedgerState
from dpexplain.accounting.spending import Spending
from dpexplain.audit import record, subjects
from dpexplain.audit.cases import canary_case, row_exchange
from dpexplain.audit.releases import distance
from dpexplain.cli import accounts
from dpexplain.exceptions import BudgetError
from dpexplain.models.private import PrivateEstimator
from leak_attacks import words_of

_DELTA = 1e-6
_ATTEMPTS = itertools.count()


def _ledger(**settings: Any) -> PrivacyLedger:
    """Make a ledger with a unique name, because ledgers that share a name cause a warning."""
    return PrivacyLedger(f"patients, attempt {next(_ATTEMPTS)}", **settings)


# --- names of a file ----------------------------------------------------------------------------


def second_name_of_a_file(_: str) -> Finding:
    """Spend through links to a ledger file: does the file record every charge?"""
    event = GaussianEvent("counts", noise_multiplier=20.0)

    def attempts() -> Iterator[Finding]:
        for how, link in (("symbolic", os.symlink), ("hard", os.link)):
            with TemporaryDirectory() as folder:
                path, other = Path(folder) / "ledger.json", Path(folder) / "other.json"
                _ledger(path=path)
                link(path, other)
                spent = sum(_charged(name, event) for name in (path, other) * 2)
                known = len(PrivacyLedger.open(path).entries)
                evidence = f"{how} link: {spent} releases, {known} of them known"
                yield Finding(known < spent, evidence)

    return first_find(attempts())


def _charged(path: Path | str, event: GaussianEvent) -> bool:
    try:
        PrivacyLedger.open(path).charge([event], label="through a link")
    except BudgetError:
        return False
    return True


def second_names_are_not_refused(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LedgerFile, "_refuse_second_name", lambda self: None)


def deleted_lock_file(_: str) -> Finding:
    """Delete the lock file between reading and writing: are both charges recorded?"""
    event = GaussianEvent("counts", noise_multiplier=20.0)
    with TemporaryDirectory() as folder:
        ledger = _ledger(path=Path(folder) / "ledger.json")
        place, other = ledger._store.place, PrivacyLedger.open(ledger.path or "")
        write, acknowledged = place.write, []  # type: ignore[union-attr]

        def late(text: str) -> Any:
            Path(f"{ledger.path}.lock").unlink()
            with ThreadPoolExecutor(1) as pool:
                acknowledged.append(pool.submit(other.charge, [event], label="B").result())
            return write(text)

        place.write = late  # type: ignore[union-attr,method-assign]
        with suppress(BudgetError):
            acknowledged.append(ledger.charge([event], label="A"))
        found = [entry.label for entry in PrivacyLedger.open(ledger.path or "").entries]
        return Finding(len(found) < len(acknowledged), f"{len(acknowledged)} charged, held {found}")


def lock_files_are_trusted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LedgerFile, "_check_held", lambda self: None)


def table_by_a_link(_: str) -> Finding:
    """Refer to one table by several links: does each link get its own budget?"""
    with TemporaryDirectory() as folder:
        table_file, link = Path(folder) / "data.csv", Path(folder) / "link.csv"
        table_file.touch()
        link.symlink_to(table_file)
        asked = [argparse.Namespace(table=each, ledger=None) for each in (table_file, link)]
        places = {accounts.ledger_place(each).address for each in asked}
        return Finding(len(places) > 1, f"{len(places)} ledgers of one table")


def links_are_not_followed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(accounts, "_real", lambda path: path)


def address_of_two_servers(_: str) -> Finding:
    """Name two servers in one address: does the second provide a second budget?"""

    def attempts() -> Iterator[Finding]:
        asked = {"PGHOSTADDR": "127.0.0.1", "PGPORT": "1"}
        for hosts, environment in (
            ("host=/nowhere/a&host=/nowhere/b", {}),
            ("host=/nowhere/a,/nowhere/b", {}),
            ("host=/nowhere/a", {"PGSERVICE": "elsewhere"}),
            ("host=/nowhere/a", asked),  # libpq does not ask the host that is named
        ):
            try:
                with mock.patch.dict(os.environ, environment):
                    PrivacyLedger("survey", path=f"postgresql://anna@/database?{hosts}")
            except BudgetError as error:  # another server was asked
                yield Finding(True, str(error)[:80])
            except ValueError:
                yield Finding(False, f"refused: {hosts} {environment or ''}")

    return first_find(attempts())


def lists_of_hosts_are_accepted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(database_address, "_several_hosts", lambda url: False)
    patch.setattr(database_address, "_leads_elsewhere", lambda url: None)


def second_row_of_a_ledger(_: str) -> Finding:
    """Copy a ledger's database row to another name: can it pay a second time?"""
    event = GaussianEvent("counts", noise_multiplier=20.0)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "ledgers.db"
        ledger = _ledger(path=f"sqlite:///{file}")
        with sqlite3.connect(file) as connection:
            copied = "INSERT INTO dpexplain_ledgers SELECT 'other', version, document"
            connection.execute(f"{copied} FROM dpexplain_ledgers")
        names = (str(ledger.path), f"sqlite:///{file}#other") * 2
        spent = sum(_charged(name, event) for name in names)
        known = len(ledger.entries)
        return Finding(known < spent, f"{spent} releases, {known} of them known")


def rows_of_other_names_are_not_refused(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LedgerPlace, "check_name", lambda self, dataset: None)


# --- units --------------------------------------------------------------------------------------


def record_in_a_ledger_of_both(name: str) -> Finding:
    """Fit once for records and once for persons: is the total for one record correct?

    Neighbors: a table, and the same table with a second row of one person. With probability 1/2,
    the coins exchange the row in use; the exact distance between the two fits gives the exact
    delta.
    """
    subject = next(s for s in subjects([getattr(models, name)]) if len(s.settings) == 0)
    fitted, data, kept, instead = row_exchange(canary_case(subject, epsilon=8.0))
    apart = _exchange(fitted, data, kept, instead)
    ledger = _ledger(delta=_DELTA)
    tiny = type(fitted)(**{**fitted.get_params(), "max_rows_per_person": None})
    tiny.set_params(epsilon=0.01, ledger=ledger).fit(*data[:2])
    fitted.set_params(ledger=ledger).fit(*data[:2], groups=("patient", data[2]))
    statement = ledger.statement()
    epsilon = statement.everything.epsilon
    said = f"{statement.unit}: epsilon {epsilon:.4g}"
    if statement.unit != "one record" or math.isinf(epsilon):
        return Finding(False, said)
    # Of half an exchange at epsilon: half of the exchange at log(2 exp(epsilon) - 1).
    shifted = epsilon + math.log(2.0 - math.exp(-epsilon))
    delta = 0.5 * delta_from_mu(apart, shifted)
    return Finding(delta > _DELTA, f"{said}, where delta is {delta:.2g}")


def _exchange(fitted: Any, data: tuple[Any, ...], kept: list[int], instead: list[int]) -> float:
    """Return the distance between two fits, in standard deviations of their noise."""
    _, first = record(fitted, *data, kept=kept)
    _, second = record(fitted, *data, kept=instead, answers=first.answers)
    return math.sqrt(
        math.fsum(
            (distance(phase, q, p) / phase.noise_multiplier) ** 2
            for phase, q, p in zip(first.phases, first.queries, second.queries, strict=True)
        )
    )


def persons_are_charged_as_records(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PrivateEstimator, "_privacy_unit", lambda self: RECORD)


def two_groupings(name: str) -> Finding:
    """Bound patients in one fit and hospitals in the next: is a total for persons stated?"""
    X, y = table(name, 60)
    patients = pd.Series(np.arange(60) // 2, name="id")
    hospitals = patients // 10  # pandas keeps the name

    def attempts() -> Any:
        for groups in (
            (patients.to_numpy(), hospitals.to_numpy()),
            (patients, hospitals),
            (("patient", patients), ("hospital", hospitals)),
            (("patient", patients), hospitals),
        ):
            ledger = _ledger()
            for persons in groups:
                fitted = estimator(name, ledger=ledger, max_rows_per_person=1)
                model = fitted.fit(X, y, groups=persons)
            for statement in (ledger.statement(), model.statement()):
                promises = (statement.everything, *statement.others)
                yield Finding(
                    any(p.private and "one person" in p.covers for p in promises),
                    "; ".join(promise.covers for promise in promises),
                )

    return first_find(attempts())


def groupings_are_taken_for_one(patch: pytest.MonkeyPatch) -> None:
    """Describe every grouping as "one person, of whom at most 1 rows are used"."""
    patch.setattr(Person, "unnamed", classmethod(lambda cls, rows: cls("person", rows)))


def rows_under_a_cap_for_persons(name: str) -> Finding:
    """Begin a capped ledger with persons: does it pay for a fit that uses all their rows?"""
    (X, y), ledger = table(name, 30), _ledger(cap_epsilon=3.0)
    persons = estimator(name, ledger=ledger, epsilon=0.5, max_rows_per_person=1)
    persons.fit(X, y, groups=("patient", np.arange(30) // 3))
    try:
        estimator(name, ledger=ledger, epsilon=0.5).fit(X, y)
    except BudgetError as error:
        return Finding(False, str(error))
    return Finding(True, f"{len(ledger.entries)} entries, {ledger.summary().words()}")


def units_do_not_matter_to_a_cap(patch: pytest.MonkeyPatch) -> None:
    def spent(self: LedgerState, unit: Any, entries: Any = None) -> list[Spending]:
        return [e.spending(self.adjacency) for e in (self.entries if entries is None else entries)]

    patch.setattr(LedgerState, "spent", spent)


_SEEN: dict[bytes, str] = {}
"""Tables that a process has seen, where the mistake is planted that remembers them."""


# --- warnings without noise ---------------------------------------------------------------------


def words_of_two_ledgers(name: str) -> Finding:
    """Fit a table and a part of it under two names: do messages reveal one record?

    The part leaves out, by a public rule, what may be a single record: the two tables are
    equal if and only if there was no such record.
    """
    X, y = table(name, 40)
    old = pd.concat([X, X.iloc[:1].assign(age=99.0)], ignore_index=True)
    labels = pd.concat([y, y.iloc[:1]], ignore_index=True)

    def work(X: pd.DataFrame, y: pd.Series) -> Callable[[], None]:
        def run() -> None:
            _SEEN.clear()  # each world is a process of its own
            below = (X["age"] < 99).to_numpy()
            for ages, chosen in (("all", below | True), ("below 99", below)):
                ledger = PrivacyLedger(ages)
                estimator(name, ledger=ledger).fit(X[chosen], y[chosen])
                sweep(
                    estimator(name), X[chosen], y[chosen], (0.5,), ledger=ledger, reference=False,
                    evaluate=(X[chosen], y[chosen]), progress=False,
                )  # fmt: skip

        return run

    X = X.assign(age=X["age"].clip(upper=98))
    old = old.assign(age=old["age"].where(old.index == 40, old["age"].clip(upper=98)))
    without, with_one = words_of(work(X, y)), words_of(work(old, labels))
    return Finding(without != with_one, f"without: {without}, with: {with_one}"[:300])


def tables_are_recognized(patch: pytest.MonkeyPatch) -> None:
    """Warn if the same data come under another name, as the library once did."""
    honest = PrivateEstimator._failure_of_fit

    def recognizing(self: Any, X: Any, y: Any, groups: Any) -> str:
        digest = hashlib.sha256(repr(X.to_numpy().tolist()).encode()).digest()
        known_as = _SEEN.setdefault(digest, self.ledger_.dataset)
        if known_as != self.ledger_.dataset and self.ledger is not None:
            warnings.warn(f"seen before as {known_as}", UserWarning, stacklevel=2)
        return honest(self, X, y, groups)

    patch.setattr(PrivateEstimator, "_failure_of_fit", recognizing)


# --- uses ---------------------------------------------------------------------------------------


def stopping_by_results(_: str) -> Finding:
    """Refit until results reveal much, then stop: is the printed guarantee still true?

    The test statistic is the sum over stopping times of P(S) - exp(epsilon) Q(S), a mean over runs
    of values between 0 and 1. Exceeding delta by chance has a probability below 1e-6 (Bernstein).
    """
    mu, delta, n_fits, n_runs = 0.05, 1e-2, 400, 20_000
    ledger = _ledger(delta=delta)
    rng = np.random.default_rng(0)
    loss, alive, surplus = np.zeros(n_runs), np.ones(n_runs, bool), np.zeros(n_runs)
    for t in range(1, n_fits + 1):
        ledger.charge([GaussianEvent("fit", 1 / mu)], label="fit")
        epsilon = ledger.adaptive_epsilon
        loss[alive] += mu * mu / 2 + mu * rng.standard_normal(alive.sum())
        stop = alive & (loss > epsilon + 0.25 * mu * math.sqrt(t))
        surplus[stop] = -np.expm1(epsilon - loss[stop])
        alive &= ~stop
    mean, log = surplus.mean(), math.log(1e6)
    least = mean - math.sqrt(2 * mean * log / n_runs) - log / n_runs
    return Finding(least > delta, f"{mean / delta:.2f} times delta")


def totals_are_read_as_odometers(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ledger_state, "odometer_epsilon", lambda entries, delta: 0.0)


ATTACKS = [
    Attack(
        "a lock file that is deleted during a charge loses another charge",
        deleted_lock_file,
        lock_files_are_trusted,
        "the lock file is not looked at again",
        every_model=False,
    ),
    Attack(
        "a table has a second default ledger under a symbolic link",
        table_by_a_link,
        links_are_not_followed,
        "links are not followed",
        every_model=False,
    ),
    Attack(
        "an address that names two servers is two budgets",
        address_of_two_servers,
        lists_of_hosts_are_accepted,
        "lists of hosts are accepted",
        every_model=False,
    ),
    Attack(
        "the total for one record is false where a fit protects persons",
        record_in_a_ledger_of_both,
        persons_are_charged_as_records,
        "noise of persons is charged as if it protected records",
        leaves_out=is_pure,  # it adds up Gaussian parameters
    ),
    Attack(
        "fits grouped by patient and by hospital have a total for persons",
        two_groupings,
        groupings_are_taken_for_one,
        "groupings without a name are one kind",
    ),
    Attack(
        "a cap for persons pays for fits in which they have any number of rows",
        rows_under_a_cap_for_persons,
        units_do_not_matter_to_a_cap,
        "the cap adds up whatever is charged",
    ),
    Attack(
        "a warning without noise tells whether one record is there",
        words_of_two_ledgers,
        tables_are_recognized,
        "the same data under another name are noticed",
    ),
    Attack(
        "results decide when to stop, and the printed epsilon is false then",
        stopping_by_results,
        totals_are_read_as_odometers,
        "the total of the moment is printed for adaptive use",
        every_model=False,
    ),
    Attack(
        "a budget is spent again through a second name of the ledger file",
        second_name_of_a_file,
        second_names_are_not_refused,
        "a file with two names is replaced under one of them",
        every_model=False,
    ),
    Attack(
        "a budget is spent again through a copy of a ledger's row in its database",
        second_row_of_a_ledger,
        rows_of_other_names_are_not_refused,
        "a row is not compared with the data set that it holds",
        every_model=False,
    ),
]
