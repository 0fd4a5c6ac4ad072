"""Helpers that do not depend on privacy, tables or models."""
