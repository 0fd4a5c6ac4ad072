"""Ledgers on a real PostgreSQL server and in sqlite: races, kills, restarts and rights."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import traceback

import pytest

from dpexplain.accounting import GaussianEvent, PrivacyLedger
from dpexplain.exceptions import BudgetError
from postgres_server import running_server

pytestmark = pytest.mark.full
pytest.importorskip("sqlalchemy")

EVENT = GaussianEvent("counts", 20.0)
CAP = 0.7  # room for about eight such events, as the workers have it
N_WORKERS = 8

# Forks workers, since a new interpreter takes longer than all of their charges. Each charges again
# after a failure of the server, and writes what was acknowledged, a line at once.
WORKERS = """
    import os, sys, time
    from dpexplain.accounting import GaussianEvent, PrivacyLedger
    from dpexplain.exceptions import BudgetError
    address, n_workers, noise, pause = sys.argv[1], int(sys.argv[2]), *map(float, sys.argv[3:])
    __import__("psycopg" if address.startswith("postgresql") else "sqlite3")
    def charge_until_refused(name):
        for i in range(10_000):
            try:
                ledger = PrivacyLedger("survey", 0.7, path=address)
                ledger.charge([GaussianEvent("counts", noise)], label=f"{name} {i}")
            except BudgetError as error:
                if "is left in the ledger" in str(error):
                    os._exit(0)
                assert "in database" in str(error), error
                time.sleep(0.02)
            else:
                os.write(1, f"{name} {i}\\n".encode())
                time.sleep(pause)
    begin, go = os.pipe()
    workers = []
    for name in range(n_workers):
        workers.append(os.fork())
        if workers[-1] == 0:
            os.close(go)
            os.read(begin, 1)  # nothing comes: the pipe is closed for all at once
            try:
                charge_until_refused(name)
            finally:
                os._exit(1)
    print(*workers, flush=True)
    os.close(go)
    print(*(os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]) for worker in workers))
"""


@pytest.fixture(scope="module")
def server():
    with running_server() as started:
        started.sql("CREATE ROLE anna LOGIN PASSWORD 'hunter2'")
        yield started


@pytest.fixture
def address(server):
    server.sql("DROP TABLE IF EXISTS dpexplain_ledgers")
    return server.url()


def start(
    address: str, noise: float, pause: float = 0.0
) -> tuple[subprocess.Popen[str], list[int]]:
    """Start eight workers at once; return their parent and their numbers."""
    given = [address, str(N_WORKERS), str(noise), str(pause)]
    command = [sys.executable, "-c", textwrap.dedent(WORKERS), *given]
    parent = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    )
    first = parent.stdout.readline()
    assert first, parent.communicate()[1]
    return parent, [int(word) for word in first.split()]


def finished(parent: subprocess.Popen[str], n_killed: int = 0) -> list[str]:
    """Wait for the workers; return the labels that they saw acknowledged."""
    out, err = parent.communicate(timeout=120)
    *acknowledged, statuses = out.splitlines()
    ended = statuses.split()
    assert ended.count(str(-signal.SIGKILL)) <= n_killed, err
    assert set(ended) <= {"0", str(-signal.SIGKILL)}, err
    return acknowledged


def check_spent(address: str, noise: float, acknowledged: list[str], n_unknown: int) -> None:
    """Check that the cap holds and is used up, and that acknowledged charges are stored."""
    ledger = PrivacyLedger.open(address)
    labels = [entry.label for entry in ledger.entries]
    assert len(set(labels)) == len(labels)
    known = set(acknowledged)
    assert known <= set(labels)
    assert len(labels) - len(known) <= n_unknown
    assert ledger.total_epsilon() <= CAP
    assert not ledger.affordable([GaussianEvent("counts", noise)])


def test_eight_processes_spend_what_the_cap_allows_and_no_more(address):
    parent, _ = start(
        address, noise=20.0
    )  # they also race to make the table and to create the ledger
    check_spent(address, 20.0, finished(parent), n_unknown=0)


def test_eight_processes_on_sqlite_spend_what_the_cap_allows_and_no_more(tmp_path):
    address = f"sqlite:///{tmp_path}/ledgers.db"
    parent, workers = start(address, noise=20.0)
    os.kill(workers[0], signal.SIGKILL)
    check_spent(address, 20.0, finished(parent, n_killed=1), n_unknown=1)


def test_killed_processes_and_a_restarted_server_lose_nothing(server, address):
    parent, workers = start(address, noise=60.0, pause=0.03)  # about 70 charges
    doomed = workers[:4]
    for milliseconds, worker in zip((1, 7, 15, 30), doomed, strict=True):
        threading.Event().wait(milliseconds / 1000)
        with contextlib.suppress(ProcessLookupError):  # it was ready before
            os.kill(worker, signal.SIGKILL)
        if worker == doomed[1]:
            server.stop("immediate")  # as if the power failed
            server.start()
    # Of each killed process, and of each that lost its connection, one charge may be unknown.
    check_spent(address, 60.0, finished(parent, n_killed=len(doomed)), n_unknown=N_WORKERS)


def test_pickle_is_charged_from_another_process(tmp_path):
    ledger = PrivacyLedger("survey", path=f"sqlite:///{tmp_path}/ledgers.db")
    code = """
        import pickle, sys
        from dpexplain.accounting import GaussianEvent
        ledger = pickle.load(sys.stdin.buffer)
        ledger.charge([GaussianEvent("counts", 20.0)], label="elsewhere")
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, input=pickle.dumps(ledger), capture_output=True)

    assert done.returncode == 0, done.stderr
    assert [entry.label for entry in ledger.entries] == ["elsewhere"]


def test_process_killed_while_it_holds_the_row_holds_it_no_longer(address):
    ledger = PrivacyLedger("survey", path=address)
    held = """
        import os, signal, sys
        from dpexplain.accounting import PrivacyLedger
        from dpexplain.accounting._ledger.database import LedgerRow
        def die(self, connection):
            os.kill(os.getpid(), signal.SIGKILL)
        LedgerRow._commit = die
        PrivacyLedger.open(sys.argv[1]).add_release(0, "0" * 64)
    """
    ledger.charge([EVENT], label="before")
    command = [sys.executable, "-c", textwrap.dedent(held), address]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    ledger.charge([EVENT], label="after the kill")

    assert ledger.releases == ()
    assert [entry.label for entry in ledger.entries] == ["before", "after the kill"]


def test_server_that_breaks_off_at_the_commit_is_told_as_unknown(server, address, monkeypatch):
    ledger = PrivacyLedger("survey", path=address)
    place = ledger._store.place
    honest = type(place)._commit

    def cut(self, connection):
        server.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE xact_start < now()"
        )
        honest(self, connection)

    with monkeypatch.context() as patch:
        patch.setattr(type(place), "_commit", cut)
        with pytest.raises(BudgetError, match="stopped responding during a charge"):
            ledger.charge([EVENT], label="cut off")
    assert ledger.entries == ()
    ledger.charge([EVENT], label="fit")
    assert len(ledger.entries) == 1


@pytest.mark.parametrize(
    ("user", "rights", "words"),
    [
        ("anna:wrong-one", "", "PGPASSWORD"),
        ("anna", "", "PGPASSWORD"),
        ("anna:hunter2", "", "ask the owner of the database for SELECT, INSERT and UPDATE"),
        ("anna:hunter2", "SELECT", "ask the owner of the database for SELECT, INSERT and UPDATE"),
        ("nobody:hunter2", "", "PGPASSWORD"),
    ],
)
def test_user_without_rights_is_told_what_to_do_and_no_password(
    server, address, user, rights, words
):
    PrivacyLedger("survey", path=address)
    if rights:
        server.sql(f"GRANT {rights} ON dpexplain_ledgers TO anna")
    with pytest.raises(BudgetError, match=words) as caught:
        PrivacyLedger("survey", path=address.replace("owner", user)).charge([EVENT], label="fit")

    told = "".join(traceback.format_exception(caught.value))
    assert "hunter2" not in told
    assert "wrong-one" not in told
    assert "Nothing was charged" in str(caught.value)


def test_user_who_may_read_only_can_audit_and_neither_repr_nor_pickle_has_the_password(
    server, address
):
    PrivacyLedger("survey", path=address).charge([EVENT], label="fit")
    server.sql("GRANT SELECT ON dpexplain_ledgers TO anna")
    ledger = PrivacyLedger.open(address.replace("owner", "anna:hunter2"))

    assert len(ledger.entries) == 1
    assert ledger.total_epsilon() > 0
    place = ledger._store.place
    shown = [repr(ledger), ledger.path, place.words, repr(vars(place)), ledger.to_json()]
    assert "hunter2" not in " ".join(shown)
    assert b"hunter2" not in pickle.dumps(ledger)


def test_users_with_schemas_of_their_own_share_one_ledger(server, address):
    server.sql("DROP SCHEMA IF EXISTS anna; CREATE SCHEMA anna AUTHORIZATION anna")
    PrivacyLedger("survey", 1.0, path=address).charge([GaussianEvent("counts", 6.0)], label="first")
    server.sql("GRANT SELECT, INSERT, UPDATE ON dpexplain_ledgers TO anna")
    hers = PrivacyLedger("survey", 1.0, path=server.url("anna:hunter2"))
    assert [entry.label for entry in hers.entries] == ["first"]


def test_commits_are_waited_for_where_the_server_does_not_by_default(server, address):
    server.sql("ALTER ROLE owner SET synchronous_commit = off")
    try:
        ledger = PrivacyLedger("survey", path=address)
        with ledger._store.place.exclusive():
            connection = ledger._store.place._here.connection
            (found,) = connection.exec_driver_sql("SHOW synchronous_commit").one()
    finally:
        server.sql("ALTER ROLE owner RESET synchronous_commit")
    assert found == "on"


def test_server_that_is_down_is_named_and_the_ledger_goes_on_after_it_is_back(server, address):
    ledger = PrivacyLedger("survey", path=address)
    server.stop()
    try:
        with pytest.raises(BudgetError, match=r"check that the server is running .* Nothing was"):
            ledger.charge([EVENT], label="while it is down")
    finally:
        server.start()
    ledger.charge([EVENT], label="fit")
    assert [entry.label for entry in ledger.entries] == ["fit"]
