"""Lower bounds on mu and epsilon from an attacker's errors.

An attacker who sees a release and guesses which of two neighboring data sets it came from is wrong
at least as often as the guarantee implies. Exact binomial intervals [1]_ turn error counts into
bounds that hold at a stated confidence level, for any attack.

References
----------
.. [1] Clopper and Pearson, "The Use of Confidence or Fiducial Limits Illustrated in the Case
   of the Binomial", Biometrika 26, 1934.
.. [2] Jagielski, Ullman and Oprea, "Auditing Differentially Private Machine Learning",
   NeurIPS 2020, arXiv:2006.07709.
.. [3] Nasr et al., "Tight Auditing of Differentially Private Machine Learning", USENIX
   Security 2023, arXiv:2302.07956.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import special


@dataclass(frozen=True)
class Guesses:
    """Counts of an attacker's guesses on fits with and without the canary.

    Parameters
    ----------
    n_absent : int
        Number of fits without the canary.
    false_alarms : int
        Number of these fits mistaken for fits with the canary.
    n_present : int
        Number of fits with the canary.
    misses : int
        Number of these fits mistaken for fits without the canary.

    Examples
    --------
    >>> from dpexplain.audit import Guesses
    >>> guesses = Guesses(n_absent=100, false_alarms=10, n_present=100, misses=20)
    >>> guesses.mu_bound(confidence=0.95) > 0
    True
    """

    n_absent: int
    false_alarms: int
    n_present: int
    misses: int

    def error_rates(self, confidence: float) -> tuple[float, float]:
        """Bound the false-alarm and miss rates from above, jointly.

        Parameters
        ----------
        confidence : float
            Confidence level at which both bounds hold together.

        Returns
        -------
        false_alarm_rate, miss_rate : float
            Clopper-Pearson upper limits, each with half of the error probability.
        """
        doubt = (1.0 - confidence) / 2.0
        return (
            largest_rate(self.false_alarms, self.n_absent, doubt),
            largest_rate(self.misses, self.n_present, doubt),
        )

    def mu_bound(self, confidence: float) -> float:
        """Return a lower bound on the Gaussian-DP parameter of the release.

        Parameters
        ----------
        confidence : float
            Confidence level of the bound.

        Returns
        -------
        float
            Lower bound, at least 0. Under mu-GDP, no attacker has error rates a and b with
            ``Phi^-1(1 - a) - Phi^-1(b) > mu``; this is the form of Nasr et al. (2023).
        """
        false_alarm_rate, miss_rate = self.error_rates(confidence)
        if 1.0 in (false_alarm_rate, miss_rate):
            return 0.0
        return max(0.0, -float(special.ndtri(false_alarm_rate) + special.ndtri(miss_rate)))

    def epsilon_bound(self, delta: float, confidence: float) -> float:
        """Return a lower bound on epsilon at `delta` that is valid for any mechanism.

        Parameters
        ----------
        delta : float
            Delta of the guarantee.
        confidence : float
            Confidence level of the bound.

        Returns
        -------
        float
            Lower bound; at least 0, and at most about the logarithm of the number of fits.
        """
        a, b = self.error_rates(confidence)
        ratios = [(1.0 - delta - b) / a, (1.0 - delta - a) / b]
        return max(0.0, *(math.log(ratio) for ratio in ratios if ratio > 0.0), 0.0)


def largest_rate(errors: int, trials: int, doubt: float) -> float:
    """Return the Clopper-Pearson upper limit of an error rate.

    Parameters
    ----------
    errors, trials : int
        Number of errors and number of independent trials.
    doubt : float
        Maximum probability that the true rate is larger: 1 minus the confidence level.

    Returns
    -------
    float
        Upper limit, in (0, 1].
    """
    if errors >= trials:
        return 1.0
    # This complement of a beta quantile is accurate even if `doubt` is far below the spacing of
    # floats at 1.
    return 1.0 - float(special.betaincinv(trials - errors, errors + 1, doubt))
