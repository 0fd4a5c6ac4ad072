"""Subjects of the audit tests: every private estimator with each of its targets."""

from __future__ import annotations

import pytest

from dpexplain.audit import subjects

SUBJECTS = subjects()


def _marks(name: str) -> tuple[pytest.MarkDecorator, ...]:
    """Leave further targets of an estimator, named after a comma, to the full command."""
    return (pytest.mark.full,) if ", " in name else ()


every_subject = pytest.mark.parametrize(
    "subject", [pytest.param(s, id=s.name, marks=_marks(s.name)) for s in SUBJECTS]
)
