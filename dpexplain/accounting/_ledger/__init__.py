"""Storage, entries and read-only view of a privacy ledger."""
