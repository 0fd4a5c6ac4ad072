"""How a ledger is kept, read and recognized."""
