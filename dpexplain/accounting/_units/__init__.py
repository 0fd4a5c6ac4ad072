"""Totals for the unit that a ledger protects."""
