"""Costs and totals for each unit of privacy."""
