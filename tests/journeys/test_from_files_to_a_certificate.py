"""Six messy tables, each from two files to a verified certificate by six commands."""

from __future__ import annotations

import re
import shlex

import pandas as pd
import pytest

from dpexplain.cli import main
from dpexplain.tables.encoding import encode_classes, encode_range
from messy_tables import HOSPITAL, TABLES, hospital
from messy_tables_of_persons import TABLES_OF_PERSONS

MISTAKES = ("no number", "no date", "not in the list", "above", "below", "before", "after")
DOUBTS = (
    "looks like",
    "the same value",
    "wrong unit",
    "several",
    "gives the target away",
    "the same",
)

ALL_TABLES = TABLES | TABLES_OF_PERSONS

pytestmark = pytest.mark.full


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.named_entropy
@pytest.mark.parametrize("name", sorted(ALL_TABLES))
def test_six_commands_lead_from_the_files_to_a_verified_certificate(name, here, capsys):
    table = ALL_TABLES[name]()
    table.write(here)
    printed = {}
    for command in table.commands():
        assert main(command) == 0, capsys.readouterr().err
        printed[command[0], command[1]] = capsys.readouterr()
    check = printed["schema", "check"].out
    assert "marked as missing" in check
    assert [words for words in MISTAKES + DOUBTS if words in check] == []
    fit = printed["fit", table.file]
    assert "health: no alarm" in fit.out
    assert "warning" not in fit.err
    assert printed["verify", "certificate.html"].out.endswith("verified\n")
    assert "A. Curie" in (here / "certificate.html").read_text(encoding="utf-8")
    assert "dpexplain" in (here / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(ALL_TABLES))
def test_every_cell_is_read_as_it_was_meant(name, here):
    table = ALL_TABLES[name]()
    schema, read = table.read(here)
    cleaned = schema.clean(read)
    n = len(table.meant)
    assert cleaned.iloc[n:].isna().all(axis=None)
    for feature in schema.features:
        assert _cells(cleaned[feature][:n]) == _cells(table.meant[feature])
    meant = table.meant[table.target]
    if hasattr(schema.target, "names"):
        codes = encode_classes(read[table.target], schema.target)[:n]
        names = [None if code < 0 else schema.target.names[code] for code in codes]
        assert names == _cells(meant)
    else:
        assert _cells(encode_range(read[table.target], schema.target)[:n]) == _cells(meant)


def _cells(column):
    return [None if pd.isna(cell) else cell for cell in column]


def test_commands_and_dictionary_of_the_how_to_are_those_of_the_hospital(repository):
    page = (repository / "docs" / "howto" / "messy_tables.md").read_text(encoding="utf-8")
    dictionary, commands = re.search(
        r"## From a data dictionary.*?```\n(.*?)```.*?```sh\n(.*?)```", page, flags=re.DOTALL
    ).groups()
    assert dictionary == HOSPITAL
    lines = commands.replace("\\\n", "").splitlines()
    assert [shlex.split(line)[1:] for line in lines] == hospital().commands()
