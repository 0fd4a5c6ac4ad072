"""Claims: statements about curves, pairs, filters and predictions, each with its uncertainty."""
