"""Private pair terms of DP-EBM: a grid over two features, with one score per cell."""
