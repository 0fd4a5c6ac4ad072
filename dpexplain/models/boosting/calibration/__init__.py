"""Calibration of the scores of two classes: one paid release, and the line computed from it."""
