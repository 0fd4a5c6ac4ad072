"""How features depend on each other, estimated from released sums, distances and tables."""
