"""Simulated fits that use bins instead of records, with released or new trees."""
