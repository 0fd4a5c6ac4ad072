"""Eight workers on one ledger, and processes that are killed while they charge."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

from dpexplain.accounting import (
    GaussianEvent,
    PrivacyLedger,
    PureEvent,
    SubsampledGaussianEvent,
    epsilon_from_events,
)
from dpexplain.accounting._ledger.place import LedgerPlace
from dpexplain.exceptions import BudgetError

pytestmark = pytest.mark.full

N_WORKERS = 8
EVENT = GaussianEvent("counts", 20.0)
CAP = 0.7  # room for about eight such events

CHARGE_UNTIL_REFUSED = """
    import sys
    from dpexplain.accounting import GaussianEvent, PrivacyLedger
    from dpexplain.exceptions import BudgetError
    ledger = PrivacyLedger.open(sys.argv[1])
    print("ready", flush=True)
    sys.stdin.readline()
    paid = 0
    for i in range(6):
        try:
            ledger.charge([GaussianEvent("counts", 20.0)], label=f"{sys.argv[2]} {i}")
            paid += 1
        except BudgetError as error:
            assert "is left in the ledger" in str(error), error
    print(paid)
"""

# Prints each charge after it is made; the parent kills it at a point of its choice.
CHARGE_FOR_EVER = """
    import os, signal, sys
    from dpexplain.accounting import GaussianEvent, PrivacyLedger
    ledger = PrivacyLedger.open(sys.argv[1])
    point, countdown = sys.argv[2], int(sys.argv[3])
    def dying(name):
        function = getattr(os, name)
        def call(*arguments, **options):
            global countdown
            if point == f"before {name}":
                countdown -= 1
                if countdown == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
            result = function(*arguments, **options)
            if point == f"after {name}":
                countdown -= 1
                if countdown == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
            return result
        setattr(os, name, call)
    dying("replace")
    dying("fsync")
    print("ready", flush=True)
    i = 0
    while True:
        ledger.charge([GaussianEvent("counts", 20.0)], label=f"charge {i}")
        print(i, flush=True)
        i += 1
"""


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n", process.communicate()[1]
    return process


def test_eight_processes_on_one_file_spend_what_the_cap_allows_and_no_more(tmp_path):
    path = tmp_path / "ledger.json"
    ledger = PrivacyLedger("survey", CAP, path=path)
    workers = [start(CHARGE_UNTIL_REFUSED, path, name) for name in range(N_WORKERS)]
    for worker in workers:
        worker.stdin.write("go\n")
        worker.stdin.flush()
    outcomes = [worker.communicate(timeout=120) for worker in workers]

    assert [worker.returncode for worker in workers] == [0] * N_WORKERS, outcomes
    paid = sum(int(out) for out, _ in outcomes)
    assert paid == len(ledger.entries) < 6 * N_WORKERS
    assert ledger.total_epsilon() <= CAP
    assert not ledger.affordable([EVENT])


@pytest.mark.parametrize("with_file", [False, True])
def test_eight_threads_on_one_ledger_spend_what_the_cap_allows_and_no_more(tmp_path, with_file):
    path = tmp_path / "ledger.json" if with_file else None
    ledger = PrivacyLedger("survey", CAP, path=path)
    barrier = threading.Barrier(N_WORKERS)
    paid = []

    def spend():
        # With a file each thread has a ledger of its own, as processes have.
        own = PrivacyLedger.open(path) if with_file else ledger
        barrier.wait()
        for _ in range(6):
            with contextlib.suppress(BudgetError):
                paid.append(own.charge([EVENT], label="fit"))

    threads = [threading.Thread(target=spend) for _ in range(N_WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(paid) == len(ledger.entries) < 6 * N_WORKERS
    assert ledger.total_epsilon() <= CAP
    assert not ledger.affordable([EVENT])


def test_threads_with_releases_of_all_kinds_stay_below_the_cap():
    events = [EVENT, PureEvent("choice", 0.05), SubsampledGaussianEvent("steps", 2.0, 0.01, 50)]
    ledger = PrivacyLedger("survey", CAP)
    barrier = threading.Barrier(N_WORKERS)

    def spend(first):
        barrier.wait()
        for i in range(4):
            with contextlib.suppress(BudgetError):
                ledger.charge([events[(first + i) % 3]], label="fit")

    threads = [threading.Thread(target=spend, args=(i,)) for i in range(N_WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    charged = [event for entry in ledger.entries for event in entry.events]
    assert len(charged) > 3
    assert epsilon_from_events(charged, ledger.delta) <= CAP


@pytest.mark.parametrize("countdown", [1, 2, 5])
@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("side", ["before", "after"])
def test_process_killed_at_a_step_of_a_charge_forgets_nothing(tmp_path, side, step, countdown):
    path = tmp_path / "ledger.json"
    ledger = PrivacyLedger("survey", path=path)
    worker = start(CHARGE_FOR_EVER, path, f"{side} {step}", countdown)
    out, err = worker.communicate(timeout=120)
    assert worker.returncode == -signal.SIGKILL, err
    check_after_kill(path, ledger, n_reported=len(out.split()))


@pytest.mark.parametrize("milliseconds", [1, 4, 9, 17, 30])
def test_process_that_is_killed_at_any_time_forgets_nothing(tmp_path, milliseconds):
    path = tmp_path / "ledger.json"
    ledger = PrivacyLedger("survey", path=path)
    worker = start(CHARGE_FOR_EVER, path, "nowhere", 0)
    threading.Event().wait(milliseconds / 1000)
    os.kill(worker.pid, signal.SIGKILL)
    out, _ = worker.communicate(timeout=120)
    # A line that was cut off in the middle was not reported.
    check_after_kill(path, ledger, n_reported=out.count("\n"))


def check_after_kill(path, ledger, n_reported):
    """Check that reported charges and at most one more are stored, and that charging works."""
    assert json.loads(path.read_text())["dataset"] == "survey"
    labels = [entry.label for entry in PrivacyLedger.open(path).entries]
    assert labels == [f"charge {i}" for i in range(len(labels))]
    assert n_reported <= len(labels) <= n_reported + 1
    ledger.charge([EVENT], label="after the kill")
    assert [entry.label for entry in ledger.entries] == [*labels, "after the kill"]
    assert not path.with_name(f".{path.name}.tmp").exists()


def test_ledger_that_would_outgrow_what_can_be_read_refuses_the_charge(tmp_path, monkeypatch):
    ledger = PrivacyLedger("survey", path=tmp_path / "ledger.json")
    ledger.charge([EVENT], label="fit")
    monkeypatch.setattr(LedgerPlace, "largest_bytes", os.path.getsize(ledger.path) + 10)
    with pytest.raises(BudgetError, match=r"would grow beyond .* Nothing was charged"):
        ledger.charge([EVENT], label="fit")

    assert len(ledger.entries) == len(PrivacyLedger.open(ledger.path).entries) == 1
