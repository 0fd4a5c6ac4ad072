from __future__ import annotations

import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import dpexplain
from dpexplain import io
from dpexplain.accounting import (
    GaussianEvent,
    LaplaceEvent,
    NonPrivateEvent,
    PrivacyLedger,
    PureEvent,
    SubsampledGaussianEvent,
)
from dpexplain.statement import PrivacyStatement, statement_of
from dpexplain.statement.render import _escaped
from effort import examples

EVIL = "<img src=x onerror=alert(1)> [a](javascript:x) `q` | **b** \u202e $x$ \x00 http://x.y"
names = st.text(min_size=1, max_size=30).filter(str.strip)


@pytest.fixture
def ledger():
    ledger = PrivacyLedger("survey-2024", delta=1e-6)
    ledger.charge([GaussianEvent("sums", 5.0, 3)], label="first")
    ledger.charge([SubsampledGaussianEvent("gradients", 2.0, 0.01, 200)], label="second")
    ledger.charge([LaplaceEvent("counts", 4.0), PureEvent("choice", 0.1)], label="third")
    return ledger


def test_statement_says_everything_that_was_asked_for(ledger):
    text = ledger.statement().text()

    for words in (
        "one record",
        "add/remove: two data sets differ by the presence of one record",
        "sums: 3 × Gaussian, noise multiplier 5",
        "gradients: 200 × Gaussian, noise multiplier 2, on a random sample of 1%",
        "counts: 1 × Laplace, noise multiplier 4",
        "choice: 1 × pure mechanism, epsilon 0.1",
        "privacy loss distributions",
        "the schema",
        "side channels",
        "dpexplain " + dpexplain.__version__,
    ):
        assert words in text


def test_figures_are_those_of_the_ledger_rounded_up(ledger):
    statement = ledger.statement()

    assert statement.release.epsilon == statement.everything.epsilon == ledger.private_epsilon()
    assert statement.release.replace_epsilon > statement.release.epsilon
    shown = float(statement.text().split("epsilon = ")[1].split(",")[0])
    assert ledger.private_epsilon() <= shown <= ledger.private_epsilon() * 1.001


def test_published_part_is_told_beside_everything(ledger):
    statement = ledger.statement([0])

    assert statement.release.epsilon == ledger.entries[0].epsilon(1e-6)
    assert statement.release.epsilon < statement.everything.epsilon
    assert "the published entries: first" in statement.text()
    assert "the same as for the release" not in statement.text()
    assert statement.mechanisms == ("sums: 3 × Gaussian, noise multiplier 5",)
    with pytest.raises(ValueError, match="entry_indices"):
        ledger.statement([7])


def test_a_promise_that_covers_all_fits_is_not_said_twice(ledger):
    text = ledger.statement().text()

    _, everything = text.split("Promised for everything fitted")
    assert everything.startswith("\n  - the same as for the release\n")
    assert text.count("if published together") == 1


def test_what_is_not_private_is_named_once_and_must_stay_inside(ledger):
    for _ in range(2):
        ledger.charge([NonPrivateEvent("reference", "fitted without noise")], label="reference")
    statement = ledger.statement()

    assert statement.not_private == ("reference: fitted without noise",)
    assert statement.text().count("fitted without noise") == 1
    assert "are not shared" in statement.text()
    assert math.isfinite(statement.release.epsilon)
    published = ledger.statement([0, 3]).release
    assert published.epsilon == math.inf
    assert "NOT PRIVATE, nothing is promised" in ledger.statement([0, 3]).text()


def test_releases_that_differ_only_in_their_noise_share_a_line():
    ledger = PrivacyLedger("survey-2024", delta=1e-6)
    for k, noises in enumerate(((5.0, 5.0), (2.5,))):
        charged = [GaussianEvent("sums", noise, 3) for noise in noises]
        ledger.charge([*charged, PureEvent("choice", 0.1)], label=f"fit {k}")
    assert ledger.statement().mechanisms == (
        "sums: 3 × Gaussian, noise multipliers 5 (2 times), 2.5",
        "choice: 1 × pure mechanism, epsilon 0.1 (2 times)",
    )

    many = PrivacyLedger("survey-2025", delta=1e-6)
    many.charge([LaplaceEvent("counts", 40.0 + k) for k in range(41)], label="fit")
    lines = many.statement().mechanisms
    assert [line.count(",") for line in lines] == [20, 20, 1]
    assert lines[2] == "counts: 1 × Laplace, noise multiplier 80"


def test_empty_ledger_has_a_statement_too():
    statement = PrivacyLedger("survey-2024").statement()

    assert statement.release.epsilon == 0.0
    assert statement.mechanisms == ()


@examples(30)
@given(names, st.lists(st.tuples(names, st.floats(0.5, 1e6)), max_size=4))
def test_statement_survives_json(dataset, charges):
    ledger = PrivacyLedger(dataset, adjacency="replace")
    for label, noise in charges:
        ledger.charge([GaussianEvent(label, noise)], label=label, adjacency="replace")
        ledger.charge([NonPrivateEvent(label, label)], label=label, adjacency="replace")
    statement = ledger.statement()

    assert PrivacyStatement.from_json(statement.to_json()) == statement
    assert io.from_json(io.to_json(statement)) == statement
    assert json.loads(statement.to_json())["format"] == "dpexplain/statement"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("dataset", ""),
        ("unit", 3),
        ("adjacency", "label"),
        ("release", {}),
        ("release", None),
        ("mechanisms", "text"),
        ("public", [3]),
        ("more", 1),
    ],
)
def test_damaged_statement_is_refused(ledger, field, value):
    document = json.loads(ledger.statement().to_json())
    document["content"][field] = value

    with pytest.raises(ValueError, match=r"must be|needs exactly|not a valid choice|malformed"):
        PrivacyStatement.from_json(json.dumps(document))


@pytest.mark.parametrize("name", ["epsilon", "delta", "replace_epsilon"])
@pytest.mark.parametrize("value", [-1.0, "nan", None, True])
def test_numbers_out_of_range_are_refused(ledger, name, value):
    document = json.loads(ledger.statement().to_json())
    document["content"]["release"][name] = value

    with pytest.raises(ValueError, match=f"{name}="):
        PrivacyStatement.from_json(json.dumps(document))


def test_other_documents_are_no_statement(ledger):
    with pytest.raises(ValueError, match="expected one of 'dpexplain/statement'"):
        PrivacyStatement.from_json(io.to_json(ledger.summary()))


def test_names_cannot_make_markup_in_any_form():
    ledger = PrivacyLedger(EVIL)
    ledger.charge([GaussianEvent(EVIL, 2.0), NonPrivateEvent(EVIL, EVIL)], label=EVIL)
    statement = ledger.statement([0])

    assert "<img" not in statement._repr_html_()
    assert "&lt;img" in statement._repr_html_()
    markdown = statement.markdown()
    for opening in ("<img", "[a]", "`q`", "**b**", "$x$", "http://"):
        assert opening not in markdown
    assert re.search(r"(?<!\\)\]\(", markdown) is None
    for text in (markdown, statement.text(), statement._repr_html_()):
        assert "\u202e" not in text
        assert "\x00" not in text


@pytest.mark.parametrize(
    "name", ["# big", "- item", "+ item", "1. item", "12) item", "=== rule", "--- rule"]
)
def test_a_name_opens_no_list_heading_or_rule(name):
    line = _escaped(name)
    assert "\\" in line[: len(name.split()[0]) + 1]
    assert line.replace("\\", "") == name


def test_plain_words_of_a_statement_stay_readable_as_markdown():
    markdown = statement_of(PrivacyLedger("ward 7 (2024)").summary()).markdown()
    assert "# Privacy statement for ward 7 (2024)" in markdown
    assert "delta = 1e-06" in markdown
    assert "add/remove: two data sets" in markdown


def test_model_states_its_own_guarantee_and_that_of_its_ledger():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.random(60)})
    y = rng.integers(0, 2, 60)
    schema = dpexplain.Schema({"a": dpexplain.Numeric(0, 1)}, target=dpexplain.Classes([0, 1]))
    ledger = PrivacyLedger("made up", 4.0)
    model = dpexplain.DPExplainableBoostingClassifier(
        epsilon=1.0, schema=schema, ledger=ledger, preset="paper"
    )
    model.fit(X, y)
    ledger.charge([GaussianEvent("more", 5.0)], label="more")
    statement = model.statement()

    assert statement.release.epsilon == 1.0
    assert statement.release.replace_epsilon == model.guarantee_.epsilon_replace
    assert statement.everything.epsilon == ledger.private_epsilon() > 1.0
    assert statement.sampler == model.guarantee_.sampler
    assert statement.dataset == "made up"


def test_the_model_of_a_sweep_names_the_statement_of_the_ledger():
    schema = dpexplain.Schema({"age": dpexplain.Numeric(0, 100)}, target=dpexplain.Range(0, 1))
    model = dpexplain.DPLinearRegression(schema=schema)
    X = pd.DataFrame({"age": np.linspace(1.0, 99.0, 30)})
    found = dpexplain.sweep(
        model, X, X["age"] / 100, epsilons=(1, 2), ledger=PrivacyLedger("swept"), progress=False
    )
    with pytest.raises(NotFittedError, match=r"DPLinearRegression is not fitted.*ledger.statement"):
        model.statement()
    assert found.explanations[2][0].guarantee.epsilon == 2
