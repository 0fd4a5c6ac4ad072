"""All suites of attacks that come with a mutant."""

from __future__ import annotations

import arithmetic_attacks
import budget_attacks
import people_attacks

SUITES = (arithmetic_attacks, people_attacks, budget_attacks)
