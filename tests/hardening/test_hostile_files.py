"""Whatever a file contains, reading it ends soon, with an object or a clear refusal."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpexplain.io
from dpexplain import PrivacyLedger, Schema
from dpexplain.exceptions import BudgetError, SchemaError
from effort import examples
from example_explanations import age, classifier
from fuzz import TARGETS, check, one_input, run

pytestmark = pytest.mark.full


@pytest.mark.parametrize("name", TARGETS)
def test_every_example_is_read_and_written_bit_by_bit(name):
    for text in TARGETS[name].examples:
        assert check(TARGETS[name], text) == "read"


@pytest.mark.parametrize("name", TARGETS)
@examples(200)
@given(chance=st.randoms(use_true_random=False))
def test_a_damaged_file_is_read_or_refused_in_clear_words(name, chance):
    check(TARGETS[name], one_input(name, chance))


def test_thousands_of_damaged_files_are_read_or_refused():
    seed = random.SystemRandom().randrange(2**32)
    outcomes = run(3_000, seed)
    for name in TARGETS:
        assert outcomes[f"{name} refused"] > 100
        # About 13 of 1,000 damaged ledgers are read, so none at all has a chance of 2e-6.
        assert outcomes[f"{name} read"] > 0


def test_a_reader_without_checks_would_be_noticed():
    loose = TARGETS["explanations"]._replace(
        read=json.loads, write=json.dumps, show=lambda content: content["content"]["name"].upper()
    )
    caught = 0
    for i in range(100):
        try:
            check(loose, one_input("explanations", random.Random(i)))
        except (AssertionError, KeyError, TypeError, AttributeError):
            caught += 1
    assert caught > 10


def json_with(value: str) -> str:
    """Write a shape function with the given JSON in place of its first contribution."""
    return dpexplain.io.to_json(age()).replace("-0.5", value, 1)


ENORMOUS = {
    "digits": lambda: (json_with("1" * 30_000_000), "30000000 digits"),
    "decimals": lambda: (json_with("1" * 30_000_000 + ".5"), "too large for a float"),
    "exponent": lambda: (json_with("1e" + "9" * 30_000_000), "too large for a float"),
    "small exponent": lambda: (json_with("1e-" + "9" * 30_000_000), None),
    "depth": lambda: (json_with("[" * 1_000_000), "nested too deeply"),
    "nested objects": lambda: (json_with('{"a":' * 1_000_000), "nested too deeply"),
    "empty lists": lambda: (json_with("[" + "[]," * 15_000_000 + "0]"), "values"),
    "empty objects": lambda: (json_with("[" + "{}," * 15_000_000 + "0]"), "values"),
    "numbers": lambda: (json_with("[" + "0," * 15_000_000 + "0]"), "values"),
    "name": lambda: (
        json_with("0").replace('"age"', '"' + "x" * 60_000_000 + '"'),
        "60000000 characters",
    ),
    "half characters": lambda: (
        json_with("0").replace('"age"', '"' + r"\ud800" * 60_000 + '"'),
        "lone surrogate",
    ),
    "whole file": lambda: (json_with("0") + " " * 100_000_000, "more than the limit"),
    "repeated field": lambda: (
        json_with("0").replace('"unit"', '"name": 1, "unit"'),
        "repeats a field",
    ),
    "no number": lambda: (json_with("NaN"), "NaN is not valid JSON"),
    "infinity": lambda: (json_with("-Infinity"), "Infinity is not valid JSON"),
}


@pytest.mark.parametrize("case", ENORMOUS)
def test_an_enormous_file_is_refused_or_read_at_once(case):
    text, words = ENORMOUS[case]()
    if words is None:
        assert dpexplain.io.from_json(text).kind == "numeric"
        return
    with pytest.raises(ValueError, match=words) as refused:
        dpexplain.io.from_json(text)
    assert len(str(refused.value)) < 1_000


TOML = {
    "nested lists": ("a = " + "[" * 1_000_000, "nested too deeply"),
    "nested tables": ("a = " + "{a = " * 100_000, "nested too deeply"),
    "digits": ("a = " + "1" * 1_000_000, "not valid TOML"),
    "parts of a key": ("a" + ".a" * 4_000_000 + " = 1", "dotted key"),
    "parts of an inner key": ("a = {a" + " . 'a'" * 1_000_000 + " = 1}", "dotted key"),
    "parts of a heading": ("[a" + ".a" * 4_000_000 + "]", "dotted key"),
    "whole file": ("#" * 20_000_000, "more than 16777216 bytes"),
    "half character": (r'a = "\ud800"', "not valid TOML"),
    "control character": ('a = "\x1b[2J"', "not valid TOML"),
    "kind": ("kind = 1", "lacks"),
    "long kind": (
        f'format = "dpexplain/schema"\nversion = 1\n[features.a]\nkind = "{"x" * 90_000}"',
        "<a long str>",
    ),
    "long name": (
        f'format = "dpexplain/schema"\nversion = 1\n[features.{"x" * 90_000}]\nkind = "x"',
        "xxx … xxx",
    ),
}


@pytest.mark.parametrize("case", TOML)
def test_an_enormous_schema_is_refused_at_once(case):
    text, words = TOML[case]
    with pytest.raises(SchemaError, match=words) as refused:
        Schema.from_toml(text + "\n")
    assert len(str(refused.value)) < 1_100
    assert str(refused.value).isprintable()


def test_a_schema_file_is_read_up_to_its_limit_and_as_utf8_only(tmp_path):
    path = tmp_path / "schema.toml"
    path.write_bytes(b"#" * 20_000_000)
    with pytest.raises(SchemaError, match="bytes"):
        Schema.from_toml(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(SchemaError, match="UTF-8"):
        Schema.from_toml(path)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"entries": [', '"entries": [], "entries": [', "repeats a field"),
        ('"delta": 1e-06', '"delta": NaN', "NaN"),
        ('"version": 5', '"version": true', "version"),
        ('"version": 5', '"version": 5.0', "version"),
        ('"entries": [', '"entries": [' + "[" * 100_000, "nested too deeply"),
        ('"cap_epsilon": 3.0', '"cap_epsilon": ' + "9" * 5_000, "5000 digits"),
    ],
)
def test_a_ledger_file_that_could_hide_a_spend_is_refused(tmp_path, old, new, words):
    path = tmp_path / "ledger.json"
    PrivacyLedger("spent", cap_epsilon=3.0, path=path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(BudgetError, match=words):
        PrivacyLedger.open(path)


HUNGRY = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]), int(sys.argv[2])))
import dpexplain.io
try:
    dpexplain.io.load(sys.argv[1])
except ValueError as error:
    print("refused:", error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are those of Linux")
@pytest.mark.parametrize("unit", ["[],", "{},", '"",', '{"a":0.5},'])
def test_the_largest_file_that_is_parsed_takes_less_than_a_gigabyte(tmp_path, unit):
    path = tmp_path / "large.json"
    values = unit.count(",") + unit.count("[") + unit.count("{")
    path.write_text(json_with("[" + unit * (4_190_000 // values) + "0]"))
    limit = str(2**30 + 2**29)  # half a gigabyte for numpy and pandas themselves
    run = subprocess.run(
        [sys.executable, "-c", HUNGRY, str(path), limit], capture_output=True, text=True, check=True
    )
    assert "must be a finite number" in run.stdout


def test_no_file_of_ours_is_a_pickle_or_runs_code(tmp_path):
    path = dpexplain.io.save(classifier(), tmp_path / "model.json")
    assert json.loads(path.read_text())["format"] == "dpexplain/global"
    for raw in (b"\x80\x04\x95", b"cos\nsystem\n(S'true'\ntR.", b"PK\x03\x04"):
        path.write_bytes(raw)
        with pytest.raises(ValueError, match=r"not UTF-8|not JSON"):
            dpexplain.io.load(path)
