"""Audits of private estimators, for the tests of this library and for its users."""

from __future__ import annotations

from dpexplain.audit.recording import Transcript, record
from dpexplain.audit.replay import ReplayReport, replay

__all__ = ["ReplayReport", "Transcript", "record", "replay"]
