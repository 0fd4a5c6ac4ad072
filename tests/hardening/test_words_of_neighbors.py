"""A process's messages are the same, word for word, with and without one odd record.

The tests compare all warnings, log messages and both output streams of fits, sweeps, measurements
and the command line. Both worlds get the same noisy answers, so that every other number has to be
the same as well.
"""

from __future__ import annotations

import json
import logging
import warnings

import numpy as np
import pandas as pd
import pytest

from canary_channels import Listener
from dpexplain import PrivacyLedger, sweep
from dpexplain.cli import main
from dpexplain.models.private import PrivateEstimator
from hostile_tables import Bomb
from private_models import PRIVATE, is_regression, known, make, records_for
from replays import same_answers

pytestmark = pytest.mark.full

RECORDS = {
    "an outlier": (117, "clerk", None),
    "an unknown category": (30, "astronaut", None),
    "no cell at all": (np.nan, None, None),
    "a text for a number": ("Zorblax", "clerk", None),
    "a number beyond floats": (10**400, "clerk", None),
    "a label of its own": (30, "nurse", "perhaps"),
    "a huge target": (30, "nurse", 1e308),
    "an object that raises": (Bomb(), Bomb(), Bomb()),
}


def spoken(work, answers):
    """Record every message while `work` runs; the first world fills the list of answers."""
    with same_answers(answers), Listener() as listener:
        work()
    lines = (line.strip() for line in listener.text.replace("\r", "\n").split("\n"))
    # A bar is drawn as often as it has time for.
    return sorted(line for line in lines if line and "sweep:" not in line)


def said_in(name, worlds):
    """Return a session's messages in each world, with the same answers."""
    answers = []
    return [spoken(session(name, *world), answers) for world in worlds]


def worlds(name, record):
    """Make a table, and the same table with one more, odd record."""
    X, y = records_for(name, 60)
    X, y = X.astype(object), pd.Series(y, dtype=object)
    age, job, label = record
    row = pd.DataFrame({"age": [None], "job": [None]}, dtype=object)
    row.iat[0, 0], row.iat[0, 1] = age, job
    last = pd.Series([y.iloc[0] if label is None else label], dtype=object)
    more = pd.concat([X, row], ignore_index=True), pd.concat([y, last], ignore_index=True)
    return (X, y), more


def session(name, X, y):
    """Run a notebook with fits and sweeps under two ledgers, for records and for persons."""
    settings = {"structure_seed": 3, **known(name, max_rounds=2, n_trees=3)}

    def work():
        people = pd.Series([*range(len(X) - 1), 0])
        for title in ("all", "again"):
            ledger = PrivacyLedger(title)
            make(name, ledger=ledger, **settings).fit(X, y).statement()
        persons = make(name, ledger=ledger, max_rows_per_person=1, **settings)
        persons.fit(X, y, groups=people)
        sweep(
            make(name, **settings), X, y, (0.5,), reference=False, ledger=ledger,
            evaluate=(X, y), n_jobs=1,
        )  # fmt: skip
        print(ledger, ledger.summary().words(), ledger.frame().shape)

    return work


@pytest.mark.parametrize("record", RECORDS)
@pytest.mark.parametrize("name", PRIVATE)
def test_words_of_a_session_do_not_tell_whether_an_odd_record_is_there(name, record):
    absent, present = said_in(name, worlds(name, RECORDS[record]))
    assert absent == present


def an_odd_cell(X):
    if any(isinstance(cell, str) for cell in X["age"]):
        warnings.warn("an age is no number", FutureWarning, stacklevel=2)


def the_number_of_records(X):
    logging.getLogger("dpexplain").debug("fitting %d records", len(X))


@pytest.mark.parametrize("leak", [an_odd_cell, the_number_of_records], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", PRIVATE)
def test_a_planted_word_about_a_record_is_heard(name, leak, monkeypatch):
    honest = PrivateEstimator._failure_of_fit

    def careless(self, X, y, groups):
        leak(X)
        return honest(self, X, y, groups)

    monkeypatch.setattr(PrivateEstimator, "_failure_of_fit", careless)
    absent, present = said_in(name, worlds(name, RECORDS["a text for a number"]))
    assert absent != present


MODELS = ["boosting", "random-forest", "dpboost", "boosted-trees"]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("age", ["117", "", "Zorblax", "1e400", '"a ""quoted"" cell"'])
def test_words_of_the_command_line_do_not_tell_whether_an_odd_record_is_there(
    model, age, tmp_path, monkeypatch, capsys
):
    name = "DPExplainableBoostingClassifier"
    assert not is_regression(name)
    X, y = records_for(name, 60)
    schema = make(name).schema
    said = []
    for world in ("absent", "present"):
        folder = tmp_path / world
        folder.mkdir()
        monkeypatch.chdir(folder)
        lines = [
            "age,job,sick",
            *(f"{a},{j},{s}" for a, j, s in zip(X["age"], X["job"], y, strict=True)),
        ]
        lines += [f"{age},clerk,yes"] if world == "present" else []
        (folder / "data.csv").write_text("\n".join(lines) + "\n")
        schema.to_toml("schema.toml")
        status = main(
            ["fit", "data.csv", "--target", "sick", "--schema", "schema.toml", "--epsilon", "1",
             "--model", model, "--out", "model.json"]
        )  # fmt: skip
        heard = capsys.readouterr()
        paragraphs = heard.out.replace(str(folder), "").split("\n\n")
        # The others follow from released numbers, which are drawn anew.
        kept = [text for text in paragraphs[1:] if text.startswith(("ledger", "saved"))]
        assert len(kept) == 2
        said.append((status, heard.err, paragraphs[0], kept))
        assert json.loads((folder / "data.ledger.json").read_text())["version"] == 5

    assert said[0] == said[1]
