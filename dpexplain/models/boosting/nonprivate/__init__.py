"""Explainable boosting machines without privacy."""
