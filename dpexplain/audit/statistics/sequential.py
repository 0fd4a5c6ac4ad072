"""Wald's sequential test of an attacker's errors.

A fixed number of guesses is too small for some estimators and too large for most. The sequential
probability ratio test [1]_ continues until the errors counted so far suffice for a decision, with
error probabilities fixed in advance.

**Why it is valid.** Let the attacker be wrong with probability b on a fit with the canary, and with
probability a on a fit without it. Under mu-GDP, ``a + b >= 2 Phi(-mu / 2)`` for any attack. A guess
about one fit of each kind multiplies the likelihood ratio of two error rates, ``q`` and ``p > q``,
by a number whose expectation is ``E(a) E(b)`` with ``E(x) = x q / p + (1 - x) (1 - q) / (1 - p)``.
E is linear and decreasing, and ``E(p) = 1``; so ``E(a) E(b) <= E((a + b) / 2)**2 <= 1`` if
``p <= (a + b) / 2``. The ratio is then a supermartingale, and the probability that it ever exceeds
``1 / doubt`` is at most `doubt` (Ville). The same argument with ``p`` and ``q`` exchanged covers
the opposite error: if the mean error rate ``(a + b) / 2`` is at most ``q``, the probability that
the attacker is mistaken for one with error rate ``p`` is at most `doubt`.

References
----------
.. [1] Wald, "Sequential Tests of Statistical Hypotheses", Annals of Mathematical Statistics
   16, 1945.
"""

from __future__ import annotations

import math

from scipy import special


class ErrorTest:
    """Sequential test of whether the Gaussian-DP parameter is `mu` or `larger`.

    Parameters
    ----------
    mu : float
        The stated parameter.
    larger : float
        The alternative, greater than `mu`. If the true parameter is between the two, either
        decision is possible, and more guesses are needed.
    doubt : float
        Maximum probability of a wrong decision.

    Attributes
    ----------
    evidence : float
        Log-likelihood ratio of `larger` to `mu`.
    """

    def __init__(self, mu: float, larger: float, doubt: float) -> None:
        if not 0.0 <= mu < larger:
            raise ValueError(f"mu={mu:g} must be at least 0 and below larger={larger:g}.")
        if not 0.0 < doubt < 1.0:
            raise ValueError(f"doubt={doubt:g} must be between 0 and 1.")
        self._of_error = float(special.log_ndtr(-larger / 2) - special.log_ndtr(-mu / 2))
        self._of_right_guess = float(special.log_ndtr(larger / 2) - special.log_ndtr(mu / 2))
        self._decides = -math.log(doubt)
        self.evidence = 0.0

    def count(self, errors: int) -> None:
        """Count one guess on a fit with the canary and one on a fit without it.

        Parameters
        ----------
        errors : {0, 1, 2}
            Number of wrong guesses: 0, 1 or 2.
        """
        if not self.decided:
            self.evidence += errors * self._of_error + (2 - errors) * self._of_right_guess

    @property
    def decided(self) -> bool:
        """Whether the test has reached a decision."""
        return abs(self.evidence) >= self._decides

    @property
    def refutes(self) -> bool:
        """Whether `mu` is refuted."""
        return self.evidence >= self._decides
