"""Ledgers in a database store the same text and follow the same rules as files."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pickle
import sqlite3
import sys
import threading
from pathlib import Path

import pytest

from dpexplain.accounting import GaussianEvent, PrivacyLedger
from dpexplain.accounting._ledger.place import LedgerPlace
from dpexplain.exceptions import BudgetError
from ledger_files import anew, by_hand

INSTALLED = importlib.util.find_spec("sqlalchemy") is not None
pytestmark = pytest.mark.skipif(not INSTALLED, reason="sqlalchemy is not installed")

EVENT = GaussianEvent("counts", 20.0)
SECRET = "hunter2"


@pytest.fixture
def address(tmp_path):
    return f"sqlite:///{tmp_path}/ledgers.db"


class Row:
    """A ledger's document, read and written by somebody with access to the database."""

    def __init__(self, ledger):
        self.file, self.name = ledger._store.place.files[0], ledger.dataset

    def read_text(self):
        with sqlite3.connect(self.file) as connection:
            query = "SELECT document FROM dpexplain_ledgers WHERE dataset = ?"
            return connection.execute(query, (self.name,)).fetchone()[0]

    def write_text(self, text):
        with sqlite3.connect(self.file) as connection:
            change = "UPDATE dpexplain_ledgers SET document = ?, version = version + 1"
            connection.execute(f"{change} WHERE dataset = ?", (text, self.name))


def test_row_is_created_joined_and_opened(address):
    first = PrivacyLedger("survey", 2.0, path=address)
    first.charge([EVENT], label="first")
    PrivacyLedger("survey", 2.0, path=address).charge([EVENT], label="second")
    opened = PrivacyLedger.open(address, person="A. Curie")
    opened.charge([EVENT], label="third")

    assert [entry.label for entry in first.entries] == ["first", "second", "third"]
    assert opened.cap_epsilon == 2.0
    assert opened.head == first.head


def test_row_holds_the_text_that_a_file_would(address, tmp_path):
    ledger = PrivacyLedger("survey", 2.0, path=address)
    ledger.charge([EVENT], label="fit")
    ledger.lower_cap(1.5)
    ledger.add_release(0, "0" * 64)
    PrivacyLedger.from_json(ledger.to_json(), path=tmp_path / "ledger.json")

    assert Row(ledger).read_text() == (tmp_path / "ledger.json").read_text()


def test_database_keeps_one_ledger_per_data_set(address):
    for name in ("survey", "stays/2024 #1"):
        PrivacyLedger(name, path=address).charge([EVENT], label=name)
    with pytest.raises(
        BudgetError, match=r"holds these ledgers: 'stays/2024 #1', 'survey'; append"
    ):
        PrivacyLedger.open(address)

    for name in ("survey", "stays/2024 #1"):
        ledger = PrivacyLedger.open(PrivacyLedger(name, path=address).path)
        assert [entry.label for entry in ledger.entries] == [name]
    with pytest.raises(
        BudgetError, match=r"'other' in database .* does not exist; check the address"
    ):
        PrivacyLedger.open(f"{address}#other")
    with pytest.raises(ValueError, match="the part of the address after '#'"):
        PrivacyLedger("survey", path=f"{address}#other")


def test_cap_holds_and_limits_of_a_row_are_kept(address):
    ledger = PrivacyLedger("survey", 0.2, path=address)
    ledger.charge([EVENT], label="fit")
    with pytest.raises(BudgetError, match="left in the ledger"):
        PrivacyLedger.open(address).charge([EVENT], label="one too many")
    with pytest.raises(BudgetError, match=r"contains dataset='survey' with cap_epsilon=0\.2"):
        PrivacyLedger("survey", 3.0, path=address)
    with pytest.raises(BudgetError, match="exists; open it"):
        PrivacyLedger.from_json(ledger.to_json(), path=address)

    assert len(ledger.entries) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda row: by_hand(row, cap_epsilon=9.0), "is damaged: the hash chain"),
        (lambda row: anew(row, cap_epsilon=9.0), "contains dataset='survey' with cap_epsilon=9"),
        (lambda row: row.write_text(""), "does not exist"),
        (lambda row: row.write_text("{"), "is damaged"),
    ],
)
def test_row_changed_by_hand_is_refused(address, change, words):
    ledger = PrivacyLedger("survey", 2.0, path=address)
    ledger.charge([EVENT], label="fit")
    row = Row(ledger)
    change(row)
    changed = row.read_text()
    with pytest.raises(BudgetError, match=words):
        ledger.charge([EVENT], label="after the change")
    with pytest.raises(BudgetError, match=words):
        ledger.total_epsilon()

    assert row.read_text() == changed


def test_older_copy_of_a_row_put_back_is_noticed(address):
    ledger = PrivacyLedger("survey", path=address)
    row = Row(ledger)
    before = row.read_text()
    ledger.charge([EVENT], label="fit")
    row.write_text(before)
    with pytest.raises(BudgetError, match="is missing earlier charges"):
        ledger.charge([EVENT], label="second")


def test_row_copied_to_another_name_is_no_second_budget(address):
    ledger = PrivacyLedger("survey", path=address)
    twin = PrivacyLedger("twin", path=address)
    Row(twin).write_text(ledger.to_json())
    with pytest.raises(BudgetError, match="is damaged: it is the ledger of 'survey', stored under"):
        PrivacyLedger.open(f"{address}#twin")


def test_missing_database_is_not_made_by_looking(address, tmp_path):
    with pytest.raises(BudgetError, match="does not exist"):
        PrivacyLedger.open(f"{address}#survey")
    assert list(tmp_path.iterdir()) == []
    ledger = PrivacyLedger("survey", path=address)
    (tmp_path / "ledgers.db").unlink()
    with pytest.raises(BudgetError, match="does not exist"):
        ledger.charge([EVENT], label="fit")
    assert list(tmp_path.iterdir()) == []


def test_database_file_with_a_second_name_is_refused(address, tmp_path):
    ledger = PrivacyLedger("survey", path=address)
    os.link(tmp_path / "ledgers.db", tmp_path / "other.db")
    with pytest.raises(BudgetError, match="has a second name"):
        ledger.charge([EVENT], label="fit")


def test_row_that_another_process_holds_is_named(address, monkeypatch):
    ledger = PrivacyLedger("survey", path=address)
    monkeypatch.setattr(LedgerPlace, "lock_seconds", 0.05)
    waiting = PrivacyLedger.open(address)
    with (
        ledger._store.place.exclusive(),
        pytest.raises(BudgetError, match=r"\(database is locked\); another process has"),
    ):
        waiting.charge([EVENT], label="blocked")
    assert ledger.entries == ()


def test_document_too_long_to_be_read_again_is_not_written(address, monkeypatch):
    ledger = PrivacyLedger("survey", path=address)
    monkeypatch.setattr(LedgerPlace, "largest_bytes", len(ledger.to_json()) + 10)
    with pytest.raises(BudgetError, match="would grow beyond"):
        ledger.charge([EVENT], label="fit")
    assert ledger.entries == ()


def test_eight_threads_on_one_row_spend_what_the_cap_allows_and_no_more(address):
    ledger = PrivacyLedger("survey", 0.7, path=address)  # room for about eight
    barrier, paid = threading.Barrier(8), []

    def spend():
        own = PrivacyLedger.open(address)
        barrier.wait()
        for _ in range(2):
            with contextlib.suppress(BudgetError):
                paid.append(own.charge([EVENT], label="fit"))

    threads = [threading.Thread(target=spend) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(paid) == len(ledger.entries) < 16
    assert ledger.total_epsilon() <= 0.7
    assert not ledger.affordable([EVENT])


def test_charge_that_stops_before_the_commit_is_taken_back(address, monkeypatch):
    ledger = PrivacyLedger("survey", path=address)
    place = ledger._store.place

    def stop(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(place, "_commit", stop)
        with pytest.raises(KeyboardInterrupt):
            ledger.charge([EVENT], label="stopped")
    assert ledger.entries == ()
    ledger.charge([EVENT], label="fit")
    assert [entry.label for entry in PrivacyLedger.open(address).entries] == ["fit"]


def test_pickle_of_a_row_comes_back_as_the_ledger(address):
    ledger = PrivacyLedger("survey", path=address)
    held = pickle.dumps(ledger)
    assert pickle.loads(held) is ledger
    del ledger
    pickle.loads(held).charge([EVENT], label="again")
    assert len(PrivacyLedger.open(address).entries) == 1


def test_relative_file_is_found_from_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ledger = PrivacyLedger("survey", path="sqlite:///ledgers.db")
    monkeypatch.chdir("/")
    ledger.charge([EVENT], label="fit")

    assert ledger.path == f"sqlite:///{tmp_path}/ledgers.db#survey"
    assert len(PrivacyLedger.open(ledger.path).entries) == 1


def test_missing_package_is_named_with_its_extra(address, monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(ImportError, match=r'needs sqlalchemy and psycopg; .*"\.\[database\]"'):
        PrivacyLedger("survey", path=address)


@pytest.mark.parametrize(
    "wrong",
    [
        f"postgresql://anna:{SECRET}@x@host/database",  # an @ in the password
        f"postgresql://anna:{SECRET}/x@host/database",
        f"postgresql://anna:12#{SECRET}@host/database",
        f"postgresql://anna:12/{SECRET}#x@host/database",
        f"postgresql://anna:{SECRET}:x@host/database",
        f"postgresql://anna:{SECRET}@host:port/database",
        f"postgresql://anna:{SECRET}@host",
        f"postgresql://anna@host/database?password={SECRET}",
        f"postgresql://anna@host/database?conninfo=password%3D{SECRET}",
        "postgresql://anna@host/database?dbname=another",
        "postgresql://anna@host/database?options=-csearch_path%3Danna",
        f"postgresql:/anna:{SECRET}@host/database",
        Path(f"postgresql://anna:{SECRET}@host/database"),
        f"mysql://anna:{SECRET}@host/database",
        f"postgresql+{SECRET}://anna@host/database",
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///file:x.db?uri=true",
    ],
)
def test_wrong_address_is_answered_without_the_password(wrong):
    for use in (PrivacyLedger.open, lambda path: PrivacyLedger("survey", path=path)):
        with pytest.raises(ValueError, match=r"PGPASSWORD|sqlite:////folder/file\.db") as caught:
            use(wrong)
        assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "environment"),
    [
        ("postgresql://anna@/database?host=/one&host=/other", {}),
        ("postgresql://anna@/database?host=one,other", {}),
        ("postgresql://anna@host/database?host=other", {}),
        ("postgresql://anna@/database?host=/one&port=5432,5433", {}),
        ("postgresql://anna@/database?host=/one&port=5432&port=5433", {}),
        ("postgresql://anna@host:5432/database?port=5433", {}),
        ("postgresql://anna@/database", {"PGHOST": "one,other"}),
        ("postgresql://anna@/database", {"PGHOSTADDR": "10.0.0.1,10.0.0.2"}),
        ("postgresql://anna@host/database", {"PGPORT": "5432,5433"}),
    ],
)
def test_address_of_several_servers_would_be_several_budgets_and_is_refused(
    address, environment, monkeypatch
):
    pytest.importorskip("psycopg")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    for use in (PrivacyLedger.open, lambda path: PrivacyLedger("survey", path=path)):
        with pytest.raises(ValueError, match="names several hosts"):
            use(f"{address}#survey")


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("PGSERVICE", "postgresql://anna@host/database"),
        ("PGSERVICE", "postgresql://anna@/database"),
        ("PGHOSTADDR", "postgresql://anna@host/database"),
        ("PGHOSTADDR", "postgresql://anna@/database?host=/one"),
    ],
)
def test_environment_that_would_lead_to_another_server_is_refused(name, address, monkeypatch):
    pytest.importorskip("psycopg")
    monkeypatch.setenv(name, "10.0.0.1")
    for use in (PrivacyLedger.open, lambda path: PrivacyLedger("survey", path=path)):
        with pytest.raises(ValueError, match=f"variable {name} could lead .*; unset it"):
            use(f"{address}#survey")


def test_host_of_the_address_is_taken_instead_of_those_of_the_environment(monkeypatch):
    pytest.importorskip("psycopg")
    monkeypatch.setenv("PGHOST", "one,other")
    with pytest.raises(BudgetError, match="server is running"):
        PrivacyLedger("survey", path="postgresql://anna@127.0.0.1:1/database")


def test_server_that_does_not_answer_is_named_without_the_password():
    pytest.importorskip("psycopg")
    address = f"postgresql://anna:{SECRET}@127.0.0.1:1/database"
    with pytest.raises(BudgetError, match=r"anna@127\.0\.0\.1:1/database.*server is") as caught:
        PrivacyLedger("survey", path=address)
    assert SECRET not in str(caught.value)
    assert "Nothing was charged" in str(caught.value)


def test_name_that_no_database_can_hold_is_refused(address):
    with pytest.raises(ValueError, match="must be printable"):
        PrivacyLedger("sur\x00vey", path=address)
