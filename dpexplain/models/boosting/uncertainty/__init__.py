"""Uncertainty of released curves: noise bands and effect estimates."""
