"""Shrinkage of curves, estimated from released leaf sums.

A private fit stops early, so that noise does not accumulate, and its curves are flatter than the
true curves. The leaf sums reveal this, because the residuals that remain are partly in the
direction of the curve. The shrinkage of a term is described by one factor, which can be estimated
well from all sums together. This uses only released numbers, so it costs no privacy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.released import PrivateFit, released_path
from dpexplain.models.boosting.uncertainty.curvature import Curvature

FloatArray = NDArray[np.float64]

_FIRST = 0.05
"""Fraction of the visits that is dropped at the start, because residuals respond linearly only near
the final curve."""

_USUAL_SPREAD = 0.3
"""Prior standard deviation of the missing fraction of a curve."""

_LIMITS = (0.5, 3.0)
"""Estimates are clipped to this range."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Released sums that show how much one curve is shrunk.

    The sums are shifted to the final scores. Apart from noise, each shifted sum is then the
    residual that remains in its leaf at these scores: ``bins @ (mass * missing)``, where `missing`
    is the true curve minus the final curve.

    Attributes
    ----------
    bins : ndarray of shape (n_sums, n_bins)
        1 for bins in the leaf, 0 for others.
    left : ndarray of shape (n_sums, n_scores)
        Noisy leaf sums, shifted to the final scores.
    curve : ndarray of shape (n_bins, n_scores)
        Final scores in internal units of the boosting loop, not centered.
    """

    bins: FloatArray
    left: FloatArray
    curve: FloatArray


def evidence(fit: PrivateFit, curvature: Curvature, bound: float) -> list[Evidence]:
    """Shift the released sums of each feature to the final scores.

    This adds to each sum the expected effect of all later updates. The sums of the first visits are
    dropped.

    Parameters
    ----------
    fit : PrivateFit
        A fit with its released leaf sums.
    curvature : Curvature
        Curvature, summed over the records that the sums include.
    bound : float
        Bound on scores per bin, in internal units of the boosting loop.

    Returns
    -------
    list of Evidence
        Shifted sums and final scores of each feature.
    """
    path = released_path(fit, bound)
    means = [
        np.einsum("b,tbs->ts", s, t) for s, t in zip(_shares(curvature), path.tables, strict=True)
    ]
    found = []
    for k, (mass, members) in enumerate(zip(curvature.per_score, path.members, strict=True)):
        late = members.visit >= _FIRST * len(fit.visits)
        visit, bins = members.visit[late], members.bins[late]
        before = path.before[visit]
        gone = path.tables[k][before[:, k]] - path.tables[k][-1]
        for j, mean in enumerate(means):
            if j != k:
                gone += (mean[before[:, j]] - mean[-1])[:, None, :]
        left = members.sums[late] + np.einsum("rb,rbs,bcs->rc", bins, gone, mass)
        found.append(Evidence(bins, left, path.tables[k][-1]))
    return found


def _shares(curvature: Curvature) -> list[FloatArray]:
    return [m / max(float(m.sum()), 1e-12) for m in curvature.mean_mass]


def stretches(
    evidences: Sequence[Evidence], curvature: Curvature, noise_std: float
) -> list[FloatArray]:
    """Estimate the factor that reverses the shrinkage of each term.

    Parameters
    ----------
    evidences : sequence of Evidence
        One element per feature.
    curvature : Curvature
        Curvature, summed over the records that the sums include.
    noise_std : float
        Standard deviation of the noise in a sum.

    Returns
    -------
    list of ndarray of shape (n_features,)
        Factors of all terms, with one array per score. A factor is 1 plus the posterior mean of the
        fraction of the curve that is missing, and it is clipped to `_LIMITS`. The prior of this
        fraction is normal with mean 0.
    """
    n_scores = evidences[0].curve.shape[1]
    factors = np.ones((n_scores, len(evidences)))
    shares = _shares(curvature)
    for k, (mass, seen) in enumerate(zip(curvature.per_score, evidences, strict=True)):
        centered = seen.curve - shares[k] @ seen.curve
        for c in range(n_scores):
            # Sums that would remain if the missing part were equal to the curve.
            along = seen.bins @ (mass[:, c] * centered).sum(axis=1)
            precision = along @ along / noise_std**2 + 1.0 / _USUAL_SPREAD**2
            factors[c, k] += along @ seen.left[:, c] / noise_std**2 / precision
    return list(np.clip(factors, *_LIMITS))
