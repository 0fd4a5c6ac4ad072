"""Uncertainty of released curves: noise bands (`simulate.py`) and effect estimates (`effects`)."""
