"""Calibration of scores by a line fitted to one private release."""
