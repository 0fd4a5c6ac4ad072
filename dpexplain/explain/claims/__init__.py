"""Claims about curves, pairs, filters and predictions, with their uncertainty."""
