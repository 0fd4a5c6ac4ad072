"""A fork is another process, also if it has the number of its parent."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
import pytest

from dpexplain._utils.processes import this_process
from dpexplain.accounting import GaussianEvent, PrivacyLedger
from dpexplain.exceptions import BudgetError
from dpexplain.mechanisms import Mechanism, NoiseSource
from dpexplain.mechanisms.phases import Phase

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")


@pytest.fixture(autouse=True)
def _one_number_for_all(monkeypatch):
    monkeypatch.setattr(os, "getpid", lambda: 1)


def _in_a_fork(work: Callable[[], str]) -> str:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, work().encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        said = answer.read()
    os.waitpid(child, 0)
    return said


def test_each_fork_has_its_own_identity_and_the_parent_keeps_its_own():
    before = this_process()
    forks = [_in_a_fork(lambda: repr(this_process())) for _ in range(2)]
    assert len({*forks, repr(before)}) == 3
    assert this_process() == before


def test_a_fork_cannot_release_with_the_noise_of_its_parent():
    mechanism = Mechanism(NoiseSource())
    mechanism.begin(Phase("sums", 2.0**20, 2.0**22, n_values=3))
    query = np.zeros(3, dtype=np.int64)

    def release() -> str:
        try:
            mechanism.release(query)
        except RuntimeError as error:
            return str(error)
        return "released"

    assert "was begun in another process" in _in_a_fork(release)
    assert release() == "released"


def test_a_fork_cannot_charge_its_copy_of_a_ledger_in_memory():
    ledger = PrivacyLedger("survey", cap_epsilon=2.0)

    def charge() -> str:
        try:
            ledger.charge([GaussianEvent("counts", noise_multiplier=4.0)], label="counts")
        except BudgetError as error:
            return str(error)
        return "charged"

    assert "was created in another process" in _in_a_fork(charge)
    assert charge() == "charged"
