"""Explanations of additive models: curves, pairs, and what they say of one sample."""
