"""Payloads of views, as plain values."""
