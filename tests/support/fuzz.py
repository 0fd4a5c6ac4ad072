"""Damaged and hostile documents for everything that reads files, and expected results.

As a command: ``python tests/support/fuzz.py [--inputs N] [--seed S] [--atheris SECONDS]`` reads
N mutated and random documents, and then lets atheris search for the given time.
"""

from __future__ import annotations

import argparse
import copy
import faulthandler
import json
import random
import sys
import tomllib
import types
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import tomli_w

import dpexplain.datasets
from dpexplain import Comparison, PrivacyLedger, Schema
from dpexplain.accounting.events import GaussianEvent, NonPrivateEvent
from dpexplain.accounting.ledger_state import LedgerState
from dpexplain.accounting.summary import summary_of
from dpexplain.io import from_json, to_json
from dpexplain_widgets.payload.payload import build_payload
from example_explanations import (
    age,
    age_and_job,
    classifier,
    job,
    private_guarantee,
    reference,
    samples,
)
from example_filters import filter_comparison, filter_samples

LONGEST_MESSAGE = 2_000
HANGS_AFTER_SECONDS = 120

NASTY: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**53, 2**53 + 1, 10**19, -0.0, 0.5, 1e308, -1e308, 5e-324,
    "", "inf", "-inf", "nan", "NaN", "x" * 10_000, "<script>", "\ud800", "\x00", "\u202e", "1",
    [], {}, [[]], [0.0], [0.0, 1.0], ["a", "a"], [None], {"": 0}, {"epsilon": 1}, [1e308, -1e308],
    "private", "numeric", "categorical", "logit", "identity", "add_remove", [0.0] * 300,
    list(range(3)), ["a"] * 300, {str(i): i for i in range(50)},
)  # fmt: skip
TOKENS = (
    b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", b"1" * 400, b"0." + b"1" * 400, b"null",
    b"\\ud800", b"\\u0000", b'"private": true,', b'"epsilon": 1e-300,', b"\xff", b"\xef\xbb\xbf",
    b"[" * 3000, b'{"a":' * 3000, b"a." * 500, b"[[features]]\n", b"'''", b'"""', b"1979-05-27",
    b"0x" + b"f" * 5000, b"inf", b"nan", b"\r\n", b"\x00", b",", b"[", b"{", b"}", b"]", b'"',
)  # fmt: skip


class Target(NamedTuple):
    """A reader: what it reads, what it may raise, and what must work with its result."""

    read: Callable[[str], Any]
    write: Callable[[Any], str]
    show: Callable[[Any], Any]
    examples: tuple[str, ...]
    parse: Callable[[str], Any]
    dump: Callable[[Any], str]


def _comparison() -> Comparison:
    ledger = PrivacyLedger("fuzzed", cap_epsilon=3.0)
    ledger.charge([GaussianEvent("boosting", 300.0, 4200)], label="one fit")
    rows = [(0.5, 0, "AUROC", 0.75, False), (float("inf"), 0, "AUROC", 0.9, False)]
    return Comparison(
        (0.5, 2.0),
        {0.5: (classifier(), classifier(intercept=1.0)), 2.0: (classifier(),)},
        reference(),
        pd.DataFrame(rows, columns=["epsilon", "repeat", "metric", "value", "private"]),
        ledger=ledger.summary(),
        title="fuzzed",
    )


def _ledger() -> LedgerState:
    ledger = PrivacyLedger("fuzzed", cap_epsilon=3.0)
    ledger.charge([GaussianEvent("boosting", 300.0, 4200)], label="one fit")
    ledger.charge([NonPrivateEvent("reference", "no noise")], label="reference")
    return ledger._store.known


def _show_explanation(shown: Any) -> None:
    """Do what a notebook does with a loaded object."""
    repr(shown)
    for method in ("_repr_html_", "frame", "importances", "words", "statement"):
        if hasattr(shown, method):
            getattr(shown, method)()
    if hasattr(shown, "importances") or hasattr(shown, "naive_epsilon"):
        json.dumps(build_payload(shown), allow_nan=False)


def _show_schema(schema: Schema) -> None:
    repr(schema)
    hash(schema)
    schema._repr_html_()


def _show_ledger(state: LedgerState) -> None:
    repr(state)
    _show_explanation(summary_of(state))


SCHEMAS = Path(dpexplain.datasets.__file__).parent / "schemas"
TARGETS = {
    "explanations": Target(
        from_json,
        to_json,
        _show_explanation,
        tuple(
            to_json(each)
            for each in (
                private_guarantee(), age(), job(), classifier(), samples(), reference(),
                age_and_job(), classifier(pairs=(age_and_job(),)),
                _comparison(), _comparison().ledger, filter_comparison(), filter_samples(),
                filter_comparison().first.class_mean("low"),
            )
        ),
        json.loads,
        json.dumps,
    ),
    "schemas": Target(
        lambda text: Schema.from_toml(text + "\n"),
        Schema.to_toml,
        _show_schema,
        tuple(path.read_text(encoding="utf-8") for path in sorted(SCHEMAS.glob("*.toml"))),
        tomllib.loads,
        tomli_w.dumps,
    ),
    "ledgers": Target(
        LedgerState.from_json,
        LedgerState.to_json,
        _show_ledger,
        (_ledger().to_json(),),
        json.loads,
        json.dumps,
    ),
}  # fmt: skip


def check(target: Target, text: str) -> str:
    """Read a document: it is refused clearly, or the result can be shown and saved.

    Returns
    -------
    str
        "read" or "refused".

    Raises
    ------
    AssertionError
        If anything else comes of it.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a weak epsilon in a file is worth a warning
        try:
            read = target.read(text)
        except ValueError as error:
            _check_refusal(error)
            return "refused"
        target.show(read)
        again = target.read(target.write(read))
    assert again == read
    assert target.write(again) == target.write(read)
    return "read"


def _check_refusal(error: ValueError) -> None:
    message = str(error)
    assert len(message) <= LONGEST_MESSAGE, f"{len(message)} characters: {message[:200]}"
    assert message.endswith((".", ")")), message
    assert message.isprintable(), repr(message)
    assert error.__cause__ is None
    assert type(error) is not UnicodeEncodeError, message


def mutated(text: str, target: Target, chance: random.Random) -> str:
    """Damage a document: one of its values, or its bytes."""
    if chance.random() < 0.6:
        try:
            content = target.parse(text)
            for _ in range(chance.choice([1, 1, 2, 5])):
                _damage_tree(content, chance)
            return target.dump(content)
        except (TypeError, ValueError, AttributeError):  # TOML has no null, among others
            pass
    raw = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(chance.choice([1, 1, 3, 20])):
        _damage_bytes(raw, chance)
    return raw.decode("utf-8", "replace")


def _damage_tree(content: Any, chance: random.Random) -> None:
    place: Any = content
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = chance.choice(keys)
        inner = place[key]
        if isinstance(inner, dict | list) and inner and chance.random() < 0.8:
            place = inner
            continue
        break
    how = chance.random()
    if how < 0.7:
        place[key] = _nasty(chance)
    elif how < 0.8:
        del place[key]
    elif how < 0.9 and isinstance(place, dict):
        place[str(chance.choice(NASTY))[:50]] = inner
    elif isinstance(inner, str | list):
        place[key] = inner * 2
    elif isinstance(inner, int | float):
        place[key] = inner * chance.choice([-1, 0.5, 1e300, 1e-300])


def _nasty(chance: random.Random) -> Any:
    return copy.deepcopy(chance.choice(NASTY))  # later damage must not reach the original


def _damage_bytes(raw: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(raw) + 1)
    how = chance.randrange(5)
    if how == 0 and at < len(raw):
        raw[at] = chance.randrange(256)
    elif how == 1:
        raw[at:at] = chance.choice(TOKENS)
    elif how == 2:
        del raw[at : at + chance.choice([1, 2, 10, 200])]
    elif how == 3:
        other = chance.randrange(len(raw) + 1)
        raw[at:at] = raw[other : other + chance.choice([1, 10, 300])]
    else:
        raw[at : at + 1] = chance.choice(TOKENS)


def random_document(chance: random.Random, depth: int = 0) -> Any:
    """Make any JSON value."""
    if depth > 4 or chance.random() < 0.4:
        return _nasty(chance)
    if chance.random() < 0.5:
        return [random_document(chance, depth + 1) for _ in range(chance.randrange(4))]
    names = ("format", "version", "content", "features", "entries", "kind", "label", "epsilon")
    keys = chance.sample(names, chance.randrange(4))
    return {key: random_document(chance, depth + 1) for key in keys}


def one_input(name: str, chance: random.Random) -> str:
    """Make one hostile document for a reader."""
    target = TARGETS[name]
    if chance.random() < 0.15:
        document = random_document(chance)
        if name == "explanations" and chance.random() < 0.7:
            kind = chance.choice(["global", "comparison", "local", "ledger", "guarantee"])
            document = {"format": f"dpexplain/{kind}", "version": 1, "content": document}
        try:
            return target.dump(document)
        except (TypeError, ValueError, AttributeError):
            return json.dumps(document)
    return mutated(chance.choice(target.examples), target, chance)


def run(n_inputs: int, seed: int) -> Counter[str]:
    """Read documents made from a seed, in turn for each reader; count the outcomes."""
    outcomes: Counter[str] = Counter()
    for i in range(n_inputs):
        name = list(TARGETS)[i % len(TARGETS)]
        chance = random.Random(f"{seed} {i}")
        text = one_input(name, chance)
        faulthandler.dump_traceback_later(HANGS_AFTER_SECONDS, exit=True)
        try:
            outcomes[f"{name} {check(TARGETS[name], text)}"] += 1
        except Exception as error:
            shown = repr(text[:3000])
            raise AssertionError(f"seed {seed}, input {i}, {name}: {error!r}\n{shown}") from error
        finally:
            faulthandler.cancel_dump_traceback_later()
    return outcomes


def search(seconds: int) -> None:
    """Let atheris search for documents that reach new code."""
    import atheris

    names = list(TARGETS)

    def one(raw: bytes) -> None:
        if raw:
            text = raw[1:].decode("utf-8", "replace")
            check(TARGETS[names[raw[0] % len(names)]], text)

    for module in [each for name, each in sys.modules.items() if name.startswith("dpexplain")]:
        for each in vars(module).values():
            if isinstance(each, types.FunctionType):
                atheris.instrument_func(each)  # in place; all code there is would take minutes
    corpus = Path(".hypothesis") / "fuzz"
    corpus.mkdir(parents=True, exist_ok=True)
    for place, name in enumerate(names):
        for i, text in enumerate(TARGETS[name].examples):
            (corpus / f"{name}-{i}").write_bytes(bytes([place]) + text.encode())
    options = [f"-max_total_time={seconds}", "-timeout=60", "-rss_limit_mb=2048", "-verbosity=1"]
    atheris.Setup([sys.argv[0], *options, str(corpus)], one)
    atheris.Fuzz()


def main(arguments: list[str]) -> int:
    """Read hostile documents until one is mishandled."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=50_000, help="documents to read")
    parser.add_argument("--seed", type=int, default=0, help="which documents")
    parser.add_argument("--atheris", type=int, default=0, help="seconds to search afterward")
    chosen = parser.parse_args(arguments)
    np.seterr(all="ignore")
    for outcome, count in sorted(run(chosen.inputs, chosen.seed).items()):
        print(f"{count:8,} {outcome}")
    if chosen.atheris:
        search(chosen.atheris)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
