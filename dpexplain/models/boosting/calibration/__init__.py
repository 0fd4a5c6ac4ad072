"""Calibration of two-class scores: one paid release, and a line fitted to it."""
