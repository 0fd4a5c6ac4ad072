"""Effect estimates for the population, with bands that include shrinkage.

A private fit stops early and leaves its curves short. Everything that it released says more: each
noisy leaf sum was asked for at known curves, so its expectation follows from the curves that are
true of the population and from how features are distributed together. `effect.py` finds the curves
that explain all sums at once, and how sure they are.
"""
