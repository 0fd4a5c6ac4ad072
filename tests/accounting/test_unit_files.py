"""Statements and summaries of ledgers with several units."""

from __future__ import annotations

import json

import pytest

from dpexplain.accounting import (
    RECORD,
    LedgerSummary,
    Person,
    Record,
)
from dpexplain.statement import PrivacyStatement, statement_of
from unit_examples import EVENT, PATIENT, charged


def test_statement_is_read_from_its_own_content_alone():
    statement = charged((RECORD, [EVENT]), (PATIENT, [EVENT])).statement()
    content = statement.to_dict()
    assert PrivacyStatement.from_dict(json.loads(json.dumps(content))) == statement

    with pytest.raises(ValueError, match="a PrivacyStatement needs exactly these fields"):
        PrivacyStatement.from_dict({n: v for n, v in content.items() if n != "others"})
    del content["release"]["adaptive_epsilon"]
    with pytest.raises(ValueError, match="a Promise needs exactly these fields"):
        PrivacyStatement.from_dict(content)


def test_summary_made_without_units_has_a_statement():
    content = charged((RECORD, [EVENT])).summary()
    bare = LedgerSummary(
        **{
            name: getattr(content, name)
            for name in (
                "dataset", "delta", "adjacency", "cap_epsilon", "total_epsilon",
                "private_epsilon", "replace_epsilon", "naive_epsilon", "entries",
            )
        }
    )  # fmt: skip
    assert statement_of(bare).everything.epsilon == content.private_epsilon


def test_units_have_words_and_equal_values():
    assert Record() == RECORD
    assert Person("patient_id").words == "one person (patient_id)"
    assert "<b>" not in charged((Person("<b>x</b>", 1), [EVENT]))._repr_html_()
