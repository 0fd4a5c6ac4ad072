"""Division of a fit's privacy budget among its releases."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dpexplain.accounting import BudgetSplit


@dataclass(frozen=True)
class Budget:
    """Division of the budget among the phases of a fit, and the resulting noise.

    Attributes
    ----------
    split : BudgetSplit
        Gaussian-DP parameters of the histograms and of boosting.
    histogram_factor : float
        L2 sensitivity of one histogram, in records.
    leaf_factor : float
        L2 sensitivity of the leaf sums of one tree, in units of the clip.
    sum_factor : float
        Sensitivity of one sum to which each record adds a number between -1 and 1.
    count_share : float
        Share of the histograms' mu squared spent on counting the records first.
    pair_share : float
        Share of the boosting phase's mu squared spent on how pairs of features depend.
    line_share : float
        Share of the boosting phase's mu squared spent on calibrating the scores.
    choice_share : float
        Share of the boosting phase's mu squared spent on the first look at candidate pairs.
    second_share : float
        Share of the boosting phase's mu squared spent on a second look. It is included in
        `leaf_share`, because the look takes the place of trees.
    grid_share : float
        Share of the boosting phase's mu squared spent on the pair terms themselves. It is included
        in `leaf_share`, because grids take the place of trees.
    """

    split: BudgetSplit
    histogram_factor: float
    leaf_factor: float
    sum_factor: float
    count_share: float = 0.0
    pair_share: float = 0.0
    line_share: float = 0.0
    choice_share: float = 0.0
    second_share: float = 0.0
    grid_share: float = 0.0

    @property
    def without_pairs(self) -> Budget:
        """Budget if everything set aside for pair terms is spent on trees."""
        return replace(self, choice_share=0.0, second_share=0.0, grid_share=0.0)

    @property
    def count_multiplier(self) -> float:
        """Ratio of noise standard deviation to sensitivity for the number of records."""
        return float(1.0 / (self.split.mu_bins * np.sqrt(self.count_share)))

    def histogram_multiplier(self, n_features: int) -> float:
        """Return the ratio of noise standard deviation to sensitivity for one histogram."""
        return float(np.sqrt(n_features / (1.0 - self.count_share)) / self.split.mu_bins)

    def leaf_multiplier(self, n_visits: int) -> float:
        """Return the ratio of noise standard deviation to sensitivity for one tree."""
        return float(np.sqrt(n_visits / self.leaf_share) / self.split.mu_train)

    @property
    def leaf_share(self) -> float:
        """Share of the boosting phase's mu squared spent on leaves of trees and grids."""
        return 1.0 - self.pair_share - self.line_share - self.choice_share

    @property
    def pair_multiplier(self) -> float:
        """Ratio of noise to sensitivity if all releases about pairs were one."""
        return float(1.0 / (self.split.mu_train * np.sqrt(self.pair_share)))

    @property
    def line_multiplier(self) -> float:
        """Ratio of noise standard deviation to sensitivity for the calibration sums."""
        return float(1.0 / (self.split.mu_train * np.sqrt(self.line_share)))

    @property
    def choice_squared_mu(self) -> float:
        """Gaussian-DP parameter of the first look at candidate pairs, squared."""
        return self.split.mu_train**2 * self.choice_share

    @property
    def choice_multiplier(self) -> float:
        """Ratio of noise standard deviation to sensitivity for the first look at pairs."""
        return float(1.0 / np.sqrt(self.choice_squared_mu))
