"""A cap can be set or lowered, but not raised."""

from __future__ import annotations

import pytest

from dpexplain import PrivacyLedger
from dpexplain.accounting import GaussianEvent
from dpexplain.exceptions import BudgetError
from ledger_files import anew, by_hand

EVENT = GaussianEvent("counts", noise_multiplier=4.0)  # epsilon 1.06 at delta 1e-6


def test_ledger_without_a_cap_takes_one_and_keeps_within_it():
    ledger = PrivacyLedger("survey")
    ledger.charge([EVENT], label="first")

    ledger.lower_cap(1.2)

    assert ledger.cap_epsilon == 1.2
    with pytest.raises(BudgetError, match="left in the ledger"):
        ledger.charge([EVENT], label="second")
    ledger.lower_cap(1.1)
    assert ledger.cap_epsilon == 1.1


@pytest.mark.parametrize(
    ("cap", "words"),
    [(3.0, "cannot be raised"), (float("inf"), "cannot be raised"), (0.5, "is already spent")],
)
def test_cap_is_neither_raised_nor_set_below_what_was_spent(cap, words):
    ledger = PrivacyLedger("survey", cap_epsilon=2.0)
    ledger.charge([EVENT], label="first")

    with pytest.raises(BudgetError, match=words):
        ledger.lower_cap(cap)

    assert ledger.cap_epsilon == 2.0
    with pytest.raises(ValueError, match="cap_epsilon"):
        ledger.lower_cap(0.0)


def test_file_holds_a_lowered_cap_and_other_ledgers_of_it_follow(tmp_path):
    path = tmp_path / "ledger.json"
    ledger = PrivacyLedger("survey", cap_epsilon=4.0, path=path)
    other = PrivacyLedger.open(path)
    other.charge([EVENT], label="first")

    ledger.lower_cap(1.2)

    assert PrivacyLedger.open(path).cap_epsilon == other.cap_epsilon == 1.2
    assert not other.affordable([EVENT])
    with pytest.raises(BudgetError, match=r"lower_cap\(\) sets or lowers"):
        PrivacyLedger("survey", cap_epsilon=4.0, path=path)


def test_file_whose_cap_was_raised_by_hand_is_refused(tmp_path):
    path = tmp_path / "ledger.json"
    ledger = PrivacyLedger("survey", cap_epsilon=2.0, path=path)
    before = path.read_text()
    by_hand(path, cap_epsilon=9.0)
    with pytest.raises(BudgetError, match=r"limits .* by hand"):
        ledger.charge([EVENT], label="first")

    path.write_text(before)
    anew(path, cap_epsilon=9.0)
    with pytest.raises(BudgetError, match="cap_epsilon=9"):
        ledger.charge([EVENT], label="first")
