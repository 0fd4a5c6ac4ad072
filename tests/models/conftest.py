"""Fixtures of the tests of models."""

from __future__ import annotations

import pytest

from private_contract import FEATURES, Untouchable


@pytest.fixture
def untouched():
    """Make a table and a target that fail the test if one of their values is read."""
    secrets = Untouchable(FEATURES)
    yield secrets.frame, secrets.target
    assert secrets.looks == []
