"""What the tests of audits run over: every private estimator with each of its targets."""

from __future__ import annotations

import pytest

from dpexplain.audit import subjects

SUBJECTS = subjects()
every_subject = pytest.mark.parametrize("subject", [pytest.param(s, id=s.name) for s in SUBJECTS])
