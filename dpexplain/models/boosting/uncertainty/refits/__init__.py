"""Simulated fits on bins, without records: with the released trees or with fresh ones."""
