"""Helpers independent of privacy, tables and models."""
