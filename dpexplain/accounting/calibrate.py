"""Split one privacy budget between histograms and training."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from dpexplain._utils.validation import check_choice, check_count, check_in_range
from dpexplain.accounting.composition import classic_noise_multiplier, gdp_noise_multiplier
from dpexplain.accounting.gdp import mu_from_epsilon

__all__ = ["BudgetSplit", "additive_budget", "joint_budget"]

_MULTIPLIERS = {"gdp": gdp_noise_multiplier, "classic": classic_noise_multiplier}


@dataclass(frozen=True)
class BudgetSplit:
    """Gaussian-DP parameters of the two phases of a fit.

    Parameters
    ----------
    mu_bins : float
        Parameter of all histograms combined.
    mu_train : float
        Parameter of all training releases combined.

    Examples
    --------
    >>> from dpexplain.accounting import BudgetSplit
    >>> round(BudgetSplit(mu_bins=0.1, mu_train=0.3).mu, 3)
    0.316
    """

    mu_bins: float
    mu_train: float

    @property
    def mu(self) -> float:
        """Parameter of the whole fit.

        Returns
        -------
        float
            Square root of ``mu_bins**2 + mu_train**2``.
        """
        return math.hypot(self.mu_bins, self.mu_train)


def joint_budget(epsilon: float, delta: float, bin_share: float) -> BudgetSplit:
    """Split the squared mu of a guarantee between the two phases of a fit.

    The two parts compose to exactly the guarantee, so no budget is lost.

    Parameters
    ----------
    epsilon, delta : float
        Guarantee of the whole fit.
    bin_share : float
        Fraction of the squared mu that goes to the histograms, in [0, 1).

    Returns
    -------
    BudgetSplit
        Parameters whose squares add up to the squared mu of the guarantee.

    Raises
    ------
    ValueError
        If `bin_share` is outside [0, 1), or the guarantee is invalid.

    Examples
    --------
    >>> split = joint_budget(1.0, 1e-6, bin_share=0.2)
    >>> split.mu_bins, split.mu_train
    (0.1058..., 0.2117...)
    """
    share = check_in_range("bin_share", bin_share, 0.0, 1.0, include_high=False)
    mu = mu_from_epsilon(epsilon, delta)
    return BudgetSplit(mu_bins=mu * math.sqrt(share), mu_train=mu * math.sqrt(1.0 - share))


def additive_budget(
    epsilon: float,
    delta: float,
    bin_fraction: float,
    n_bin_releases: int,
    n_train_releases: int,
    composition: Literal["gdp", "classic"] = "gdp",
) -> BudgetSplit:
    """Divide epsilon and delta between the phases of a fit, as in the DP-EBM paper.

    The histograms get ``bin_fraction * epsilon``, training gets the rest, and each of the two
    phases gets half of delta, on which the text of [1]_ is silent. This spends less than
    (epsilon, delta); it is provided to reproduce published tables.

    Parameters
    ----------
    epsilon, delta : float
        Guarantee of the whole fit.
    bin_fraction : float
        Fraction of epsilon that goes to the histograms, in (0, 1).
    n_bin_releases : int
        Number of histograms, one per feature.
    n_train_releases : int
        Number of training releases, one per tree.
    composition : {"gdp", "classic"}, default="gdp"
        Composition rule that determines the noise in each phase.

    Returns
    -------
    BudgetSplit
        Parameters equivalent to the noise in each phase.

    Raises
    ------
    ValueError
        If a parameter is outside its range.

    References
    ----------
    .. [1] Nori et al., "Accuracy, Interpretability, and Differential Privacy via Explainable
       Boosting", ICML 2021, Section 4, arXiv:2106.09680.

    Examples
    --------
    >>> split = additive_budget(1.0, 1e-6, 0.1, 14, 4200, composition="gdp")
    >>> round(4200**0.5 / split.mu_train, 2)  # noise multiplier of one tree
    312.1
    """
    fraction = check_in_range(
        "bin_fraction", bin_fraction, 0.0, 1.0, include_low=False, include_high=False
    )
    n_bins = check_count("n_bin_releases", n_bin_releases)
    n_train = check_count("n_train_releases", n_train_releases)
    multiplier = _MULTIPLIERS[check_choice("composition", composition, tuple(_MULTIPLIERS))]
    half = 0.5 * delta
    return BudgetSplit(
        mu_bins=math.sqrt(n_bins) / multiplier(n_bins, fraction * epsilon, half),
        mu_train=math.sqrt(n_train) / multiplier(n_train, (1.0 - fraction) * epsilon, half),
    )
