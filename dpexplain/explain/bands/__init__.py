"""Uncertainty of curves: noise bands and effect estimates."""
