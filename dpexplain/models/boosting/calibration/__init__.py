"""Calibration of two-class scores by a line fitted to one private release."""
