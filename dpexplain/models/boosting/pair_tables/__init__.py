"""Private tables of joint counts of the pairs of features that depend most."""
