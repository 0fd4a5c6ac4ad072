"""Simulated fits on bins, without records, with released or fresh trees."""
