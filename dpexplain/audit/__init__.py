"""Audits of private estimators, for this library's tests and for its users.

An audit has four tiers: `replay`, `audit_noise`, `refute_transcripts` and `audit_final_model`. As
an alternative to the third tier, `audit_transcripts` computes lower bounds on the Gaussian-DP
parameter. All tiers run on simulated data; ``python -m dpexplain.audit`` prints the results.
"""

from __future__ import annotations

from dpexplain.audit.black_box import FinalModelAudit, audit_final_model
from dpexplain.audit.cases import CanaryCase, canary_case
from dpexplain.audit.mutants import MUTANTS, Mutant
from dpexplain.audit.noise_scale import NoiseAudit, audit_noise
from dpexplain.audit.recording import Transcript, record
from dpexplain.audit.replay import ReplayReport, replay
from dpexplain.audit.statistics.bounds import Guesses
from dpexplain.audit.statistics.likelihood import (
    TranscriptAudit,
    audit_transcripts,
    refute_transcripts,
)
from dpexplain.audit.subjects import Subject, private_estimators, subjects

__all__ = [
    "MUTANTS",
    "CanaryCase",
    "FinalModelAudit",
    "Guesses",
    "Mutant",
    "NoiseAudit",
    "ReplayReport",
    "Subject",
    "Transcript",
    "TranscriptAudit",
    "audit_final_model",
    "audit_noise",
    "audit_transcripts",
    "canary_case",
    "private_estimators",
    "record",
    "refute_transcripts",
    "replay",
    "subjects",
]
