"""Private pair terms of DP-EBM: a grid of cells over two features, with one score per cell."""
