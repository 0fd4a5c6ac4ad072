"""Explanations of locally linear models: filters, and what they say of one sample."""
