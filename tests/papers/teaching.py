"""A simplified DP-EBM for teaching. NOT PRIVATE: it shows what the full algorithm adds.

It lacks what makes DP-EBM private: bins come from quantiles of the data, categories from the
data, means are divided by exact counts, and each release has noise as if it were the only one.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpexplain.accounting import compose_mu, epsilon_from_mu, gdp_noise_multiplier

Values = NDArray[np.float64]


class NotPrivateTeachingEBM:
    """Additive logistic model fitted by noisy mean residuals. NOT PRIVATE at any epsilon.

    Parameters
    ----------
    epsilon, delta : float
        What the noise would promise if a fit were one release with sensitivity 1.
    max_bins : int, default=32
        Bins of a numeric feature, at quantiles of the data.
    learning_rate : float, default=0.01
    max_rounds : int, default=300
    composed : bool, default=False
        Whether the noise counts all releases, so that it would keep `epsilon` if bins and
        categories were public.
    rng : numpy.random.Generator or None, default=None
        Of the noise; an ordinary generator is enough where nothing is protected.

    Attributes
    ----------
    noise_std_ : float
        Added to each mean residual: ``sqrt(2 ln(1.25 / delta)) / epsilon`` unless `composed`.
    n_releases_ : int
        Noisy answers that one record is part of.
    """

    is_private = False

    def __init__(
        self,
        epsilon: float,
        delta: float,
        *,
        max_bins: int = 32,
        learning_rate: float = 0.01,
        max_rounds: int = 300,
        composed: bool = False,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.epsilon, self.delta = epsilon, delta
        self.max_bins, self.learning_rate, self.max_rounds = max_bins, learning_rate, max_rounds
        self.composed, self.rng = composed, rng or np.random.default_rng()

    def fit(self, X: pd.DataFrame, y: NDArray[np.bool_]) -> NotPrivateTeachingEBM:
        """Visit the features in turn; move each bin by its noisy mean residual.

        Parameters
        ----------
        X : DataFrame of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,), dtype bool
        """
        self.n_releases_ = self.max_rounds * X.shape[1]
        self.noise_std_ = math.sqrt(2.0 * math.log(1.25 / self.delta)) / self.epsilon
        if self.composed:
            self.noise_std_ = gdp_noise_multiplier(self.n_releases_, self.epsilon, self.delta)
        self._cuts = {name: _cuts(X[name], self.max_bins) for name in X}
        index = {name: _index(X[name], self._cuts[name]) for name in X}
        counts = {n: np.bincount(i, minlength=len(self._cuts[n]) + 2) for n, i in index.items()}
        self.curves_: dict[str, Values] = {n: np.zeros(len(c)) for n, c in counts.items()}
        score = np.zeros(len(X))
        for _ in range(self.max_rounds):
            for name, i in index.items():
                residual = y - 1.0 / (1.0 + np.exp(-score))
                sums = np.bincount(i, weights=residual, minlength=len(counts[name]))
                mean = sums / np.maximum(counts[name], 1)
                noise = self.rng.normal(0.0, self.noise_std_, len(mean))
                step = self.learning_rate * (mean + noise)
                self.curves_[name] += step
                score += step[i]
        return self

    def decision_function(self, X: pd.DataFrame) -> Values:
        """Return the log-odds of rows, of shape (n_samples,)."""
        parts = (curve[_index(X[n], self._cuts[n])] for n, curve in self.curves_.items())
        return np.sum(list(parts), axis=0)

    def composed_epsilon(self) -> float:
        """Return the total epsilon of all releases if bins and categories were public.

        A bin may hold a single record, whose residual is then the mean: the sensitivity is 1.
        With bins and categories from the data, there is no guarantee at all.
        """
        mus = np.full(self.n_releases_, 1.0 / self.noise_std_)
        return epsilon_from_mu(compose_mu(mus), self.delta)


def _cuts(column: pd.Series, max_bins: int) -> list[float] | list[str]:
    """Return quantiles of numbers, or the categories that occur. NOT PRIVATE."""
    if pd.api.types.is_numeric_dtype(column):
        shares = np.linspace(0.0, 1.0, max_bins + 1)[1:-1]
        return np.unique(np.nanquantile(column, shares)).tolist()
    return sorted(column.dropna().unique())


def _index(column: pd.Series, cuts: list[float] | list[str]) -> NDArray[np.intp]:
    """Return the bin of each value; the last is for missing and unknown values."""
    if pd.api.types.is_numeric_dtype(column):
        found = np.searchsorted(cuts, column.fillna(0.0), side="right")
        return np.where(column.isna(), len(cuts) + 1, found)
    codes = pd.Categorical(column, categories=cuts).codes.astype(np.intp)
    return np.where(codes < 0, len(cuts) + 1, codes)
