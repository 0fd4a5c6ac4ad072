"""Storage, reading and identification of a ledger."""
