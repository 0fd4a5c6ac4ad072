"""What scripts rely on: examples that run, exit statuses, complete files, a safe ledger."""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import dpexplain
import view_examples
from dpexplain import Categorical, Classes, Date, Numeric, PrivacyLedger, Range, Schema
from dpexplain.cli import main
from dpexplain.exceptions import PrivacyWarning
from dpexplain.explain import MulticlassExplanation
from pair_examples import paired

pytestmark = pytest.mark.full

PAIR = "age & job"
FEATURES = {
    "age": Numeric(17, 90, unit="years", step=1),
    "job": Categorical(["a", "b"]),
    "visit": Date("2015-01-01", "2024-12-31"),
}
SCHEMA = Schema(FEATURES, target=Classes(["no", "yes"], name="income"))
COMMANDS = ("schema draft", "schema check", "fit", "sweep", "report", "explain", "ledger", "open")
ARGUMENTS = ["data.csv", "--target", "income", "--schema", "schema.toml"]
FIT = ["fit", *ARGUMENTS, "--epsilon", "1", "--out", "model.json"]
REPORT = ["report", *ARGUMENTS, "--epsilon", "0.5", "1", "4", "--out", "report.html"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Make a folder with a private and a public table, with dates, and their schemas."""
    rng = np.random.default_rng(0)
    for name, n in (("data", 400), ("public_sample", 200)):
        age = rng.integers(17, 91, n)
        frame = pd.DataFrame(
            {
                "age": age,
                "job": rng.choice(["a", "b"], n),
                "visit": pd.date_range("2015-01-01", "2024-12-31", periods=n).date,
                "income": np.where(age + rng.normal(0, 10, n) > 50, "yes", "no"),
            }
        )
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    SCHEMA.to_toml(tmp_path / "schema.toml")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_visits():
    """Write the Parquet file that an example reads."""
    pytest.importorskip("pyarrow")
    frame = pd.read_csv("data.csv", parse_dates=["visit"])
    frame.assign(visits=frame.pop("income").eq("yes") * 3).to_parquet("visits.parquet")
    Schema(FEATURES, target=Range(0, 9, name="visits")).to_toml("visits.toml")


def write_stays():
    """Write the table with several rows per person that an example reads."""
    stays = pd.read_csv("data.csv").rename(columns={"income": "died"})
    stays.assign(patient_id=range(len(stays))).to_csv("stays.csv", sep=";", index=False)
    Schema(FEATURES, target=Classes(["no", "yes"], name="died")).to_toml("stays.toml")


def examples(command, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([*command.split(), "--help"])
    assert stopped.value.code == 0
    text = capsys.readouterr().out.split("examples:\n")[1].replace("\\\n", " ")
    return [shlex.split(line)[1:] for line in text.splitlines() if "dpexplain" in line]


def test_every_example_of_the_help_runs(folder, capsys, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    monkeypatch.setattr("subprocess.call", lambda command: opened.append(command[-1]) or 0)
    write_visits()
    write_stays()
    (folder / "schema.toml").unlink()  # the first example writes it
    for command in COMMANDS:
        shown = examples(command, capsys)
        assert shown
        for arguments in shown:
            given = arguments[: arguments.index(">")] if ">" in arguments else arguments
            assert main(given) == 0, arguments
            if command == "schema draft":
                SCHEMA.to_toml("schema.toml")  # as somebody corrects it
    assert set(opened) == {(folder / "report.html").as_uri(), "sweep.ipynb"}


def test_examples_of_the_command_itself_are_among_those_of_its_parts(capsys):
    top = [arguments for arguments in examples("", capsys) if arguments]
    parts = [arguments for command in COMMANDS for arguments in examples(command, capsys)]
    assert len(top) == 4
    assert [arguments for arguments in top if arguments not in parts] == []


def test_report_writes_the_offline_page_with_one_command(folder, capsys):
    assert main(REPORT) == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Privacy statement" in page
    assert "NOT PRIVATE: " not in page
    assert re.search(r"(?:src|href)=\"(?:https?:)?//", page) is None
    assert PrivacyLedger.open("data.ledger.json").private_epsilon() > 4
    assert "ε = 0.5" in capsys.readouterr().out


@pytest.mark.parametrize("paid", [FIT, [*FIT[:-1], "sweep.json"], REPORT], ids=lambda c: c[-1])
def test_a_result_that_was_paid_for_is_replaced_only_on_request(folder, capsys, paid):
    command = ["sweep", *paid[1:]] if paid[-1] == "sweep.json" else paid
    assert main([*command, "--quiet"]) == 0
    before = (folder / paid[-1]).read_bytes()
    charged = PrivacyLedger.open("data.ledger.json").entries

    assert main([*command, "--quiet"]) == 2
    assert f"--out {paid[-1]} exists; give another name, or" in capsys.readouterr().err
    assert (folder / paid[-1]).read_bytes() == before
    assert PrivacyLedger.open("data.ledger.json").entries == charged

    assert main([*command, "--quiet", "--replace"]) == 0
    assert (folder / paid[-1]).read_bytes() != before


def test_dates_go_through_every_command(folder, capsys):
    assert main([*FIT, "--quiet"]) == 0
    for arguments in ("--term visit", "--term visit --plot visit.svg", "--csv"):
        assert main(["explain", "model.json", *arguments.split()]) == 0
    assert "2024-12-31" in capsys.readouterr().out
    assert main(["report", "model.json", "--out", "report.html", "--quiet"]) == 0
    draft = ["schema", "draft", "public_sample.csv", "--target", "income", "--out", "draft.toml"]
    assert main(draft) == 0
    with pytest.warns(PrivacyWarning, match="it is a draft"):
        assert isinstance(Schema.from_toml("draft.toml").features["visit"], Date)
    assert main(["schema", "check", *ARGUMENTS]) == 0
    assert "fits every cell" in capsys.readouterr().out


def test_pairs_of_features_are_listed_and_shown_cell_by_cell(folder, capsys):
    dpexplain.io.save(paired(), "pairs.json")
    assert main(["explain", "pairs.json"]) == 0
    assert "pair of features" in capsys.readouterr().out
    assert main(["explain", "pairs.json", "--term", PAIR, "--csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + paired().pair(PAIR).count.size
    assert main(["explain", "pairs.json", "--term", PAIR, "--plot", "pair.svg"]) == 0
    assert main(["explain", "pairs.json", "--term", PAIR + "s"]) == 2
    assert f"did you mean '{PAIR}'?" in capsys.readouterr().err


def test_explanations_of_several_classes_are_printed_with_their_ranking(folder, capsys):
    binary = view_examples.comparison().explanations[0.5][0]
    classes = ("A", "B", "C")
    parts = [
        dataclasses.replace(binary, link="softmax", classes=classes, of_class=each, noise=None)
        for each in classes
    ]
    dpexplain.io.save(MulticlassExplanation(tuple(parts)), "classes.json")
    assert main(["explain", "classes.json"]) == 0
    printed = capsys.readouterr().out
    assert parts[0].guarantee.statement()[:40] in printed
    assert "importance" in printed


@pytest.mark.parametrize("out", ["data.ledger.json", "other.ledger.json", "account.json"])
def test_a_result_never_takes_the_place_of_a_ledger(folder, capsys, out):
    charged = [*FIT, "--ledger", "account.json", "--quiet"]
    assert main(charged) == 0
    before = (folder / "account.json").read_bytes()
    assert main([*FIT, "--out", out]) == 2
    assert "is a ledger" in capsys.readouterr().err
    assert (folder / "account.json").read_bytes() == before
    assert not (folder / "data.ledger.json").exists()


def test_a_result_never_takes_the_place_of_the_ledger_that_it_begins(folder, capsys):
    assert main([*FIT, "--ledger", "model.json"]) == 2
    assert "the command reads or updates this file" in capsys.readouterr().err
    assert not (folder / "model.json").exists()


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no folder that takes no file")
def test_a_folder_that_takes_no_file_is_refused_before_the_charge(folder, capsys):
    assert main([*FIT, "--out", "/proc/self/model.json"]) == 2
    assert "the folder is not writable" in capsys.readouterr().err
    assert not (folder / "data.ledger.json").exists()


@pytest.mark.parametrize(
    ("arguments", "written"), [(FIT, "dpexplain.io.save"), (REPORT, "dpexplain_widgets.write_page")]
)
def test_what_fails_after_the_charge_has_a_status_that_says_so(
    folder, capsys, monkeypatch, arguments, written
):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(written, full)
    assert main(arguments) == 1
    assert "its charge remains" in capsys.readouterr().err
    assert PrivacyLedger.open("data.ledger.json").entries != ()


@pytest.mark.parametrize(
    "more",
    [["--epsilon", "1", "1"], ["--epsilon", "nan"], ["--set", "max_bins=0"], ["--delta", "7"]],
)
def test_a_wrong_sweep_is_refused_and_charges_nothing(folder, capsys, more):
    assert main(["sweep", *ARGUMENTS, "--epsilon", "1", *more, "--out", "sweep.json"]) == 2
    assert "dpexplain sweep: " in capsys.readouterr().err
    assert not (folder / "data.ledger.json").exists()


def test_repeats_are_a_number_of_fits(folder, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["sweep", *ARGUMENTS, "--epsilon", "1", "--repeats", "0", "--out", "sweep.json"])
    assert stopped.value.code == 2
    assert "integer of at least 1" in capsys.readouterr().err


def test_another_column_than_those_of_a_parquet_file_begins_no_ledger(folder, capsys):
    write_visits()
    fit = ["fit", "visits.parquet", "--target", "visit_count", "--schema", "visits.toml"]
    assert main([*fit, "--epsilon", "1", "--out", "model.json"]) == 2
    assert "is not the name of one column" in capsys.readouterr().err
    assert list(folder.glob("*.ledger.json*")) == []


@pytest.mark.parametrize(
    "option",
    [
        "--epsilon 1",
        "--repeats 2",
        "--reference",
        "--model linear",
        "--set max_bins=8",
        "--delta 1e-5",
        "--dataset mine",
        "--cap-epsilon 3",
    ],
)
def test_a_report_of_fitted_models_takes_no_option_of_a_fit(folder, capsys, option):
    assert main(["report", "model.json", *option.split(), "--out", "report.html"]) == 2
    assert f"omit {option.split()[0]}." in capsys.readouterr().err


# Killed as the result is about to appear, after its content was written beside its place.
KILLED = """
import os, signal, sys
from dpexplain.cli import main
replace = os.replace
def stop(source, target):
    if str(target).endswith("model.json"):
        os.kill(os.getpid(), signal.SIGKILL)
    replace(source, target)
os.replace = stop
main(sys.argv[1:])
"""


def test_a_kill_in_the_middle_leaves_the_old_file_and_a_ledger_with_the_charge(folder):
    (folder / "model.json").write_text("what was there before")
    again = [*FIT, "--replace"]
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, *again], capture_output=True, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert (folder / "model.json").read_text() == "what was there before"
    assert PrivacyLedger.open("data.ledger.json").private_epsilon() > 0.9
    assert main([*again, "--quiet"]) == 0
    assert dpexplain.io.load("model.json").guarantee.private


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_shown_on_a_terminal_and_not_in_a_pipe(folder, capsys, monkeypatch, terminal):
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    assert main(["sweep", *ARGUMENTS, "--epsilon", "0.5", "1", "--out", "sweep.json"]) == 0
    assert ("2/2" in capsys.readouterr().err) == terminal


def test_a_missing_extra_is_wrong_input_with_the_command_that_installs_it(
    folder, capsys, monkeypatch
):
    (folder / "data.parquet").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.dataset", None)
    assert main([*FIT[:1], "data.parquet", *FIT[2:]]) == 2
    assert "pip install" in capsys.readouterr().err
