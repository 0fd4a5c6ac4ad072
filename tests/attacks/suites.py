"""All suites of attacks, each with a mutant."""

from __future__ import annotations

import arithmetic_attacks
import budget_attacks
import calibration_attacks
import cell_attacks
import certificate_attacks
import kernel_attacks
import leak_attacks
import ledger_attacks
import limit_attacks
import noise_attacks
import pair_attacks
import people_attacks
import pricing_attacks
import reader_attacks
import rule_attacks
import storage_attacks

SUITES = (
    arithmetic_attacks,
    limit_attacks,
    noise_attacks,
    leak_attacks,
    kernel_attacks,
    pair_attacks,
    calibration_attacks,
    cell_attacks,
    people_attacks,
    budget_attacks,
    reader_attacks,
    rule_attacks,
    storage_attacks,
    ledger_attacks,
    certificate_attacks,
    pricing_attacks,
)
