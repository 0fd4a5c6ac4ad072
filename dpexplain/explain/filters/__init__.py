"""Explanations of locally linear models: filters and local contributions."""
