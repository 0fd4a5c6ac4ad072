"""Linear regression equations for the released leaf sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.released import Path, PrivateFit

FloatArray = NDArray[np.float64]

SMOOTH_SHARE = 0.97
"""Ratio of the actual curvature to the curvature for independent features; it is below 1 because of
residuals near the clip and unequal probabilities."""

_MISFIT = 0.03
"""Error of the linear model of a sum, as a fraction of the changes that contribute to the sum."""


@dataclass(frozen=True, eq=False)
class Equations:
    """Regression equations for the leaf sums of one feature and class.

    Each equation is divided by the standard deviation of its error.

    Attributes
    ----------
    sums : ndarray of shape (n_leaves,)
        Leaf sums minus their known contributions.
    own : ndarray of shape (n_leaves,)
        Expected contribution of rough errors in the feature's own curve, if the fit corrects them
        fully.
    loads : ndarray of shape (n_leaves, n_functions, n_functions_total)
        Expected contribution per unit of each correlation.
    members : ndarray of shape (n_leaves, n_bins)
        Coefficient of the remaining residual of each bin, which is unknown and measured in units of
        the noise; 0 for bins outside the leaf.
    """

    sums: FloatArray
    own: FloatArray
    loads: FloatArray
    members: FloatArray


@dataclass(frozen=True, eq=False)
class LeafSums:
    """Released leaf sums of a fit, with their regressors.

    Attributes
    ----------
    fit : PrivateFit
    path : Path
        Curves of the fit at every visit.
    mass : sequence of ndarray of shape (n_bins, n_scores, n_scores)
        Curvature of each feature.
    mean_mass : sequence of ndarray of shape (n_bins,)
        Curvature of each feature, averaged over scores.
    functions : sequence of ndarray of shape (n_bins, n_functions)
        Functions of the bins, as in `Correlation`.
    scale : float
        Factor that converts the internal units of the boosting loop to score units.
    """

    fit: PrivateFit
    path: Path
    mass: Sequence[FloatArray]
    mean_mass: Sequence[FloatArray]
    functions: Sequence[FloatArray]
    scale: float

    def equations(self, k: int, c: int) -> Equations:
        """Set up the equations of one feature and class.

        Parameters
        ----------
        k, c : int
            Indices of the feature and the class.

        Returns
        -------
        Equations
        """
        members = self.path.members[k]
        leaves, noise = members.bins, self.scale * self.fit.leaf_noise_std[members.visit]
        means, reach = self._others(k, c, members.visit)
        smooth, rough = self._own(k, c)
        at = self.path.before[members.visit, k]
        of_smooth = -np.einsum("rb,rb->r", leaves, smooth[at])
        of_rough = -np.einsum("rb,rb->r", leaves, rough[at])
        of_means = -(leaves @ self.mean_mass[k]) * means
        loading = leaves @ self.functions[k]
        of_functions = np.sqrt((loading**2).sum(axis=1) * (reach**2).sum(axis=1))
        moved = np.stack([of_smooth, of_rough, of_means, of_functions])
        std = np.sqrt(noise**2 + _MISFIT**2 * (moved**2).sum(axis=0))
        known = SMOOTH_SHARE * of_smooth + of_means
        return Equations(
            (self.scale * members.sums[:, c] - known) / std,
            of_rough / std,
            -loading[:, :, None] * reach[:, None, :] / std[:, None, None],
            leaves * (noise / std)[:, None],
        )

    def _others(self, k: int, c: int, visit: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
        """Return how far the other features' curves are from their final values, per leaf.

        The differences are current minus final values. The first array contains the differences of
        the means, summed over the features. The second array contains the components of the
        differences along the functions.
        """
        means, reach = np.zeros(len(visit)), []
        for j, (history, mass, weights) in enumerate(
            zip(self.path.tables, self.mass, self.mean_mass, strict=True)
        ):
            total = max(float(weights.sum()), 1e-12)
            # An error of another class is weighted by the sensitivity of this class to it.
            errors = self.scale * ((history - history[-1]) @ (mass.sum(axis=0)[c] / total))
            at = self.path.before[visit, j]
            if j == k:
                reach.append(np.zeros((len(visit), self.functions[j].shape[1])))
                continue
            means += (errors @ weights / total)[at]
            reach.append((errors @ self.functions[j])[at])
        return means, np.concatenate(reach, axis=1)

    def _own(self, k: int, c: int) -> tuple[FloatArray, FloatArray]:
        """Split the effect of the feature's own errors into a smooth and a rough part."""
        table, mass, functions = self.path.tables[k], self.mean_mass[k], self.functions[k]
        own = self.scale * np.einsum("tbs,bs->tb", table - table[-1], self.mass[k][:, c])
        within = (own / np.where(mass > 0, mass, 1.0)) @ functions
        mean = own.sum(axis=1) / max(float(mass.sum()), 1e-12)
        smooth = np.asarray(within @ functions.T + mean[:, None] * mass)
        return smooth, own - smooth
