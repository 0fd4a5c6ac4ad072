from __future__ import annotations

import json
import math
import os
import pickle
import subprocess
import sys
import textwrap
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexplain.accounting import (
    DiscreteLaplaceEvent,
    GaussianEvent,
    LaplaceEvent,
    LedgerSummary,
    NonPrivateEvent,
    PrivacyLedger,
    PureEvent,
    SubsampledGaussianEvent,
)
from dpexplain.accounting._ledger.place import LedgerPlace
from dpexplain.exceptions import BudgetError, PrivacyWarning

EVENT = GaussianEvent("counts", 50.0)

labels = st.text(min_size=1, max_size=20).filter(str.strip)
events = (
    st.builds(GaussianEvent, labels, st.floats(1e-3, 1e9), st.integers(1, 10**6))
    | st.builds(NonPrivateEvent, labels, labels)
    | st.builds(PureEvent, labels, st.floats(1e-3, 10))
    | st.builds(LaplaceEvent, labels, st.floats(0.1, 1e3), st.integers(1, 100))
    | st.builds(DiscreteLaplaceEvent, labels, st.integers(1, 2**50), st.integers(1, 2**20))
    | st.just(SubsampledGaussianEvent("steps", 2.0, 0.01, 100))
)
charges = st.lists(st.tuples(labels, st.lists(events, min_size=1, max_size=3)), max_size=4)


def start_python(code: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def output_of(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.strip()


@pytest.mark.full
@given(labels, charges, st.just(math.inf) | st.floats(1, 1e3), st.floats(1e-15, 0.1))
def test_ledger_and_summary_survive_json(dataset, list_of_charges, cap, delta):
    ledger = PrivacyLedger(dataset, cap, delta, adjacency="replace")
    for label, charged in list_of_charges:
        if ledger.affordable(charged):
            ledger.charge(charged, label=label, adjacency="replace")
    twin = PrivacyLedger.from_json(ledger.to_json())
    content = json.loads(json.dumps(ledger.summary().to_dict(), allow_nan=False))

    assert twin.entries == ledger.entries
    assert twin.to_json() == ledger.to_json()
    assert twin.summary() == ledger.summary() == LedgerSummary.from_dict(content)


def test_file_is_created_and_goes_on(tmp_path):
    path = tmp_path / "ledger.json"
    first = PrivacyLedger("survey", 2.0, path=path)
    first.charge([EVENT], label="first")
    second = PrivacyLedger("survey", 2.0, path=path)
    second.charge([EVENT], label="second")

    assert [entry.label for entry in first.entries] == ["first", "second"]
    assert first.total_epsilon() == second.total_epsilon()
    assert PrivacyLedger.open(path).entries == first.entries
    assert PrivacyLedger.open(path).cap_epsilon == 2.0


def test_cap_counts_the_charges_of_others(tmp_path):
    first = PrivacyLedger("survey", 0.5, path=tmp_path / "ledger.json")
    second = PrivacyLedger("survey", 0.5, path=tmp_path / "ledger.json")
    event = GaussianEvent("counts", 9.0)
    first.charge([event], label="first")

    with pytest.raises(BudgetError, match="left in the ledger"):
        second.charge([event], label="second")
    assert not second.affordable([event])


def test_two_processes_that_charge_at_once_lose_nothing(tmp_path):
    code = """
        import sys
        from dpexplain.accounting import GaussianEvent, PrivacyLedger
        ledger = PrivacyLedger("survey", path=sys.argv[1])
        print("ready", flush=True)
        sys.stdin.readline()
        for i in range(40):
            ledger.charge([GaussianEvent("counts", 50.0)], label=f"{sys.argv[2]} {i}")
    """
    path = tmp_path / "ledger.json"
    processes = [start_python(code, path, name) for name in ("a", "b")]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        output_of(process)

    charged = [entry.label for entry in PrivacyLedger.open(path).entries]
    for name in ("a", "b"):
        own = [label for label in charged if label.startswith(name)]
        assert own == [f"{name} {i}" for i in range(40)]
    assert len(charged) == 80


def test_pickle_in_the_same_process_is_the_ledger_itself():
    ledger = PrivacyLedger("survey")

    assert pickle.loads(pickle.dumps(ledger)) is ledger


LOAD_AND_CHARGE = """
    import pickle, sys
    from dpexplain.accounting import GaussianEvent
    from dpexplain.exceptions import BudgetError, PrivacyWarning
    with open(sys.argv[1], "rb") as file:
        ledger = pickle.load(file)
    assert len(ledger.entries) == 1 and ledger.total_epsilon() > 0
    try:
        ledger.charge([GaussianEvent("counts", 50.0)], label="elsewhere")
    except BudgetError as error:
        print("refused:", error)
    print(len(ledger.entries), "entries")
"""


def test_pickle_without_file_can_be_read_but_not_charged_in_another_process(tmp_path):
    ledger = PrivacyLedger("survey")
    ledger.charge([EVENT], label="here")
    (tmp_path / "ledger.pickle").write_bytes(pickle.dumps(ledger))
    out = output_of(start_python(LOAD_AND_CHARGE, tmp_path / "ledger.pickle"))

    assert "refused: this ledger of 'survey' was created in another process" in out
    assert "pass path=" in out
    assert out.endswith("1 entries")


def test_pickle_with_file_is_charged_from_another_process(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ledger = PrivacyLedger("survey", path="ledger.json")  # relative: the other one starts elsewhere
    ledger.charge([EVENT], label="here")
    (tmp_path / "ledger.pickle").write_bytes(pickle.dumps(ledger))
    monkeypatch.chdir("/")
    out = output_of(start_python(LOAD_AND_CHARGE, tmp_path / "ledger.pickle"))

    assert out == "2 entries"
    assert [entry.label for entry in ledger.entries] == ["here", "elsewhere"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.parametrize("with_file", [False, True])
def test_fork_charges_through_a_file_only(tmp_path, with_file):
    path = tmp_path / "ledger.json" if with_file else None
    ledger = PrivacyLedger("survey", path=path)
    with ledger._store._lock:  # as if another thread were charging while the fork is made
        child = os.fork()
        if child == 0:
            try:
                ledger.charge([EVENT], label="child")
                os._exit(0)
            except BudgetError:
                os._exit(3)
            finally:
                os._exit(4)
    _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == (0 if with_file else 3)
    assert len(ledger.entries) == int(with_file)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dataset": "other"}, "dataset='survey'"),
        ({"cap_epsilon": 3.0}, "cap_epsilon=2"),
        ({"delta": 1e-5}, "delta=1e-06"),
        ({"adjacency": "replace"}, "adjacency='add_remove'"),
    ],
)
def test_file_about_something_else_is_refused(tmp_path, change, words):
    path = tmp_path / "ledger.json"
    PrivacyLedger("survey", 2.0, path=path)
    before = path.read_bytes()

    with pytest.raises(BudgetError, match=words) as caught:
        PrivacyLedger(**{"dataset": "survey", "cap_epsilon": 2.0, "path": path, **change})
    assert "PrivacyLedger.open(path)" in str(caught.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: "[" * 100_000,
        lambda text: text.replace("dpexplain/ledger", "other/format"),
        lambda text: text.replace('"version": 5', '"version": 6'),
        lambda text: text.replace('"count": 1', '"count": 0'),
        lambda text: text.replace("50.0", "NaN"),
        lambda text: text.replace('"delta"', '"alpha"'),
        lambda text: text.replace('"entries": [', '"entries": [7,'),
        lambda text: json.dumps({**json.loads(text), "entries": {}}),
        lambda text: json.dumps({**json.loads(text), "unknown": 1}),
    ],
)
def test_damaged_file_is_named_and_spends_nothing(tmp_path, damage):
    path = tmp_path / "ledger.json"
    ledger = PrivacyLedger("survey", path=path)
    ledger.charge([EVENT], label="first")
    damaged = damage(path.read_text())
    path.write_text(damaged)

    with pytest.raises(BudgetError, match=r"ledger\.json.* is damaged: .*Nothing was charged"):
        ledger.charge([EVENT], label="second")
    with pytest.raises(BudgetError, match="is damaged"):
        ledger.total_epsilon()
    with pytest.raises(BudgetError, match="is damaged"):
        PrivacyLedger.open(path)
    assert path.read_text() == damaged
    assert "is damaged" in repr(ledger)


def test_file_of_bytes_that_are_no_text_is_named(tmp_path):
    path = tmp_path / "ledger.json"
    path.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(BudgetError, match=r"ledger\.json' cannot be read"):
        PrivacyLedger("survey", path=path)


def test_huge_file_is_not_read(tmp_path, monkeypatch):
    path = tmp_path / "ledger.json"
    PrivacyLedger("survey", path=path)
    monkeypatch.setattr(LedgerPlace, "largest_bytes", 10)

    with pytest.raises(BudgetError, match="is not a ledger"):
        PrivacyLedger.open(path)


def test_missing_file_is_not_made_again(tmp_path):
    path = tmp_path / "ledger.json"
    ledger = PrivacyLedger("survey", path=path)
    ledger.charge([EVENT], label="first")
    path.unlink()

    with pytest.raises(BudgetError, match=r"cannot be read .* restore it"):
        ledger.charge([EVENT], label="second")
    with pytest.raises(BudgetError, match=r"check the path.* never had a ledger"):
        PrivacyLedger.open(path)
    assert not path.exists()


def test_older_copy_put_back_is_noticed(tmp_path):
    path = tmp_path / "ledger.json"
    ledger = PrivacyLedger("survey", path=path)
    before = path.read_text()
    ledger.charge([EVENT], label="first")
    path.write_text(before)

    with pytest.raises(BudgetError, match="is missing earlier charges"):
        ledger.charge([EVENT], label="second")


@pytest.mark.parametrize("place", ["no/such/folder/ledger.json", "."])
def test_place_that_cannot_hold_a_file_is_named(tmp_path, place):
    with pytest.raises(BudgetError, match=r"ledger file .* cannot be"):
        PrivacyLedger("survey", path=tmp_path / place)


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_write_that_fails_spends_nothing(tmp_path, monkeypatch, failing):
    path = tmp_path / "ledger.json"
    ledger = PrivacyLedger("survey", path=path)
    ledger.charge([EVENT], label="first")
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, failing, full)
        with pytest.raises(BudgetError, match=r"cannot be written \(No space left on device\)"):
            ledger.charge([EVENT], label="second")

    assert path.read_bytes() == before
    assert len(ledger.entries) == 1
    assert sorted(file.name for file in tmp_path.iterdir()) in (
        ["ledger.json"],
        ["ledger.json", "ledger.json.lock"],
    )
    ledger.charge([EVENT], label="third")
    assert len(ledger.entries) == 2


def test_lock_that_is_held_for_too_long_is_named(tmp_path, monkeypatch):
    ledger = PrivacyLedger("survey", path=tmp_path / "ledger.json")
    monkeypatch.setattr(LedgerPlace, "lock_seconds", 0.05)

    with (
        PrivacyLedger.open(ledger.path)._store.place.exclusive(),
        pytest.raises(BudgetError, match="another process has held the lock"),
    ):
        ledger.charge([EVENT], label="blocked")
    assert ledger.entries == ()


def test_rights_of_the_file_are_kept(tmp_path):
    path = tmp_path / "ledger.json"
    ledger = PrivacyLedger("survey", path=path)
    path.chmod(0o640)
    ledger.charge([EVENT], label="first")

    assert path.stat().st_mode & 0o777 == 0o640


def test_written_ledger_can_move_to_a_new_file(tmp_path):
    ledger = PrivacyLedger("survey", 2.0)
    ledger.charge([EVENT], label="first")
    path = tmp_path / "ledger.json"
    moved = PrivacyLedger.from_json(ledger.to_json(), path=path)
    with pytest.warns(PrivacyWarning, match="use one ledger"):
        moved.charge([EVENT], label="second")

    assert [entry.label for entry in PrivacyLedger.open(path).entries] == ["first", "second"]
    with pytest.raises(BudgetError, match="exists; open it"):
        PrivacyLedger.from_json(ledger.to_json(), path=path)


@pytest.mark.parametrize("text", ["", "{}", "null", '{"format": "dpexplain/comparison"}'])
def test_text_that_is_no_ledger_is_refused(text):
    with pytest.raises(ValueError, match="this text is not a ledger"):
        PrivacyLedger.from_json(text)


def test_deleted_lock_file_lets_one_of_two_charges_through_and_the_other_is_refused(tmp_path):
    path = tmp_path / "ledger.json"
    PrivacyLedger("survey", path=path)
    one, other = PrivacyLedger.open(path), PrivacyLedger.open(path)
    write = one._store.place.write

    def late(text):
        (tmp_path / "ledger.json.lock").unlink()
        thread = threading.Thread(target=other.charge, args=([EVENT],), kwargs={"label": "B"})
        thread.start()
        thread.join(60.0)
        return write(text)

    one._store.place.write = late
    with pytest.raises(BudgetError, match=r"replaced while .* Nothing was charged"):
        one.charge([EVENT], label="A")
    one._store.place.write = write
    assert [entry.label for entry in one.entries] == ["B"]
    assert not list(tmp_path.glob(".*.tmp"))
    one.charge([EVENT], label="C")
    assert [entry.label for entry in PrivacyLedger.open(path).entries] == ["B", "C"]


def test_file_replaced_under_the_lock_is_not_overwritten(tmp_path):
    path = tmp_path / "ledger.json"
    ledger = PrivacyLedger("survey", path=path)
    newer = PrivacyLedger("another", path=tmp_path / "another.json")
    newer.charge([EVENT], label="newer")

    with ledger._store.exclusive() as state:
        os.replace(tmp_path / "another.json", path)
        with pytest.raises(BudgetError, match="Nothing was charged"):
            ledger._store.write(state)
    assert PrivacyLedger.open(path).dataset == "another"
