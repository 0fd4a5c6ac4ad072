"""Privacy accounting: events, their composition, and the ledger."""

from __future__ import annotations

from dpexplain.accounting._ledger.process import process_ledger
from dpexplain.accounting._ledger.provenance import Provenance, ReleasedFile
from dpexplain.accounting._units.totals import UnitTotal
from dpexplain.accounting.accountant import epsilon_from_events
from dpexplain.accounting.calibrate import BudgetSplit, additive_budget, joint_budget
from dpexplain.accounting.composition import (
    classic_noise_multiplier,
    compose_mu,
    gdp_noise_multiplier,
)
from dpexplain.accounting.events import (
    DiscreteLaplaceEvent,
    Event,
    GaussianEvent,
    LaplaceEvent,
    NonPrivateEvent,
    PrivateEvent,
    PureEvent,
    SubsampledGaussianEvent,
    event_from_dict,
    event_to_dict,
)
from dpexplain.accounting.gdp import delta_from_mu, epsilon_from_mu, mu_from_epsilon
from dpexplain.accounting.ledger import PrivacyLedger
from dpexplain.accounting.ledger_state import LedgerEntry
from dpexplain.accounting.subsampling import subsampled_noise_multiplier
from dpexplain.accounting.summary import EntrySummary, LedgerSummary, ReleaseSet
from dpexplain.accounting.unit import RECORD, Person, Record

__all__ = [
    "RECORD",
    "BudgetSplit",
    "DiscreteLaplaceEvent",
    "EntrySummary",
    "Event",
    "GaussianEvent",
    "LaplaceEvent",
    "LedgerEntry",
    "LedgerSummary",
    "NonPrivateEvent",
    "Person",
    "PrivacyLedger",
    "PrivateEvent",
    "Provenance",
    "PureEvent",
    "Record",
    "ReleaseSet",
    "ReleasedFile",
    "SubsampledGaussianEvent",
    "UnitTotal",
    "additive_budget",
    "classic_noise_multiplier",
    "compose_mu",
    "delta_from_mu",
    "epsilon_from_events",
    "epsilon_from_mu",
    "event_from_dict",
    "event_to_dict",
    "gdp_noise_multiplier",
    "joint_budget",
    "mu_from_epsilon",
    "process_ledger",
    "subsampled_noise_multiplier",
]
