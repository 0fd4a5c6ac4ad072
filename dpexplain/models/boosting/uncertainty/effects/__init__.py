"""Effect estimates for the population, with bands that account for shrinkage.

A private fit stops early, so its curves are shrunk. Its releases contain more information than the
final curves: the curves at the time of each noisy leaf sum are known, so the expected value of the
sum follows from the population's true curves and the joint distribution of features. `effect.py`
finds the curves that explain all sums jointly, and their uncertainty. It uses `estimate.py` for one
score and `class_estimate.py` for several classes.
"""
