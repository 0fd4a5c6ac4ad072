"""Ledgers whose entries protect records, patients, or patients within hospitals."""

from __future__ import annotations

import itertools

from hypothesis import strategies as st

from dpexplain.accounting import (
    RECORD,
    GaussianEvent,
    Person,
    PrivacyLedger,
    SubsampledGaussianEvent,
)

DELTA = 1e-6
EVENT = GaussianEvent("counts", noise_multiplier=4.0)  # epsilon 1.06 at delta 1e-6
SAMPLED = SubsampledGaussianEvent("steps", 2.0, 0.01, 100)
PATIENT, HOSPITAL = Person("patient_id", 1), Person("hospital", 1)

units = st.one_of(
    st.just(RECORD),
    st.builds(Person, st.sampled_from(["patient_id", "hospital"]), st.integers(1, 9)),
    st.builds(Person, st.sampled_from(["patient_id", "entry 0"]), st.none(), st.booleans()),
)


_NAMES = (f"survey {number}" for number in itertools.count())


def charged(*charges, **settings):
    """Make a ledger with an entry for each unit and its events."""
    ledger = PrivacyLedger(next(_NAMES), **settings)
    for place, (unit, events) in enumerate(charges):
        ledger.charge(events, label=f"entry {place}", unit=unit, adjacency=ledger.adjacency)
    return ledger
