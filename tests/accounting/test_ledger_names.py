"""Names and labels of ledgers: look-alikes are equal, and what is written can be read."""

from __future__ import annotations

import os
import threading
import unicodedata

import pytest

from dpexplain.accounting import GaussianEvent, PrivacyLedger, process_ledger

EVENT = GaussianEvent("counts", 50.0)
COMPOSED = "caf\u00e9"
DECOMPOSED = unicodedata.normalize("NFD", COMPOSED)


@pytest.fixture(params=["file", "sqlite"])
def place(request, tmp_path):
    if request.param == "file":
        return tmp_path / "ledger.json"
    pytest.importorskip("sqlalchemy")
    return f"sqlite:///{tmp_path}/ledgers.db"


@pytest.mark.parametrize(
    ("label", "event"), [("\ud800", EVENT), ("fit", GaussianEvent("\udfff", 50.0))]
)
def test_label_with_half_a_character_is_refused_before_the_charge(place, label, event):
    ledger = PrivacyLedger("survey", path=place)
    with pytest.raises(ValueError, match=r"lone surrogate.*Nothing was charged"):
        ledger.charge([event], label=label)
    assert PrivacyLedger.open(place).entries == ()


def test_data_set_with_half_a_character_is_refused_and_leaves_no_ledger(tmp_path):
    with pytest.raises(ValueError, match="lone surrogate"):
        PrivacyLedger("sur\ud800vey", path=tmp_path / "ledger.json")
    assert list(tmp_path.iterdir()) == []


def test_two_spellings_of_one_name_are_one_budget(tmp_path):
    pytest.importorskip("sqlalchemy")
    for name in (COMPOSED, DECOMPOSED):
        PrivacyLedger(name, path=f"sqlite:///{tmp_path}/ledgers.db").charge([EVENT], label="fit")
    address = f"sqlite:///{tmp_path}/ledgers.db#{DECOMPOSED}"
    assert len(PrivacyLedger.open(address).entries) == 2
    assert process_ledger(f"a {COMPOSED}") is process_ledger(f"a {DECOMPOSED}")


@pytest.mark.parametrize("name", ["survey ", " survey", "survey\u2003"])
def test_name_with_blanks_at_its_ends_is_no_second_budget(tmp_path, name):
    pytest.importorskip("sqlalchemy")
    with pytest.raises(ValueError, match="without blanks at its ends"):
        process_ledger(name)
    with pytest.raises(ValueError, match=r"without blanks at its ends|must be printable"):
        PrivacyLedger(name, path=f"sqlite:///{tmp_path}/ledgers.db")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_ledger_can_be_read_in_a_fork_made_while_a_thread_held_its_lock(tmp_path):
    ledger = PrivacyLedger("survey", path=tmp_path / "ledger.json")
    held, done = threading.Event(), threading.Event()

    def hold():
        with ledger._store._own_lock():
            held.set()
            done.wait(60.0)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(60.0)
    PrivacyLedger.open(ledger.path).charge([EVENT], label="by another")
    child = os.fork()
    if not child:
        reader = threading.Thread(target=lambda: os._exit(len(ledger.entries)), daemon=True)
        reader.start()
        reader.join(30.0)
        os._exit(99)
    done.set()
    thread.join(60.0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
