"""Explanations of additive models: curves, pairs and local contributions."""
