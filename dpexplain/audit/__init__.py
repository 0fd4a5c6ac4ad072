"""Audits of private estimators, for the tests of this library and for its users."""

from __future__ import annotations

from dpexplain.audit.replay import ReplayReport, Transcript, record, replay

__all__ = ["ReplayReport", "Transcript", "record", "replay"]
