"""How closely a fit follows the sampling noise of its own records.

Calibration sums are taken over the records of the fit, to whose outcomes the curves have adapted.
Among new people, residuals in the direction of the scores are therefore smaller by a sum of
covariances: of each record's outcome with what it is multiplied by [1]_. A step moves the score of
a record by a known fraction of its residual, so these covariances follow from the trees, the
learning rate and the noisy counts, which are public or released.

References
----------
.. [1] Efron, "The Estimation of Prediction Error: Covariance Penalties and Cross-Validation",
   Journal of the American Statistical Association 99, 2004.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.blas import one_blas_thread
from dpexplain.binning.counts import BinCounts
from dpexplain.binning.groups import shares
from dpexplain.models.additive.terms import Direction
from dpexplain.models.boosting.pairs import PairSums
from dpexplain.models.boosting.released import LeafSteps
from dpexplain.models.boosting.structure import Visits

FloatArray = NDArray[np.float64]

_LEAST_VARIANCE = 0.05
"""Lower bound on the product of the variances of two halves: noise must not be divided by zero."""


def fitted_parameters(
    visits: Visits,
    steps: LeafSteps,
    counts: Sequence[BinCounts],
    curves: Sequence[FloatArray],
    monotone: Sequence[Direction | None],
    curvature: float,
) -> float:
    """Return how many free parameters would follow sampling noise as curves do.

    This is the trace of the matrix that maps the sampling errors of the residual sums in all bins
    to the changes in these sums that the fit makes in response. Features are assumed to be
    independent, each tree to be the average one of its feature, and the curvature to be the same in
    all bins, which is accurate enough for counts.

    Parameters
    ----------
    visits : Visits
    steps : LeafSteps
        Releases of the visits.
    counts : sequence of BinCounts
        Noisy number of records of the fit in each bin of each feature.
    curves : sequence of ndarray of shape (n_bins,)
        Final curves.
    monotone : sequence of {"increasing", "decreasing", None}
        Required direction of each curve. A constrained curve follows noise only where it changes.
    curvature : float
        Mean change in the residual of a record per unit of its score.

    Returns
    -------
    float
        At most the total number of bins, minus one per feature: together, the curves follow the
        error in the mean residual as one parameter does, which is ignored.
    """
    total = 0.0
    with one_blas_thread():  # however many there are, the model is the same
        for k, (feature, curve, direction) in enumerate(zip(counts, curves, monotone, strict=True)):
            own = np.flatnonzero(visits.feature == k)
            leaves = visits.leaf_of_bin[own, : len(feature.counts)]
            mass = curvature * np.maximum(feature.counts, 0.0)
            # A step that all leaves take together changes the mean only.
            gain = steps.gain[steps.start[own, None] + leaves] * ~steps.together[own, None]
            found = _followed(leaves, gain, mass)
            total += found if direction is None else min(found, len(np.unique(curve)) - 1.0)
    return total


def share_of_parameters(
    pairs: PairSums | None, counts: Sequence[BinCounts], n_samples: float
) -> float:
    """Return the share of the parameters if correlated features are counted once.

    Curves of features that determine each other follow the same sampling noise together, as closely
    as one curve does. So the number of features is replaced by an effective one: its square,
    divided by the sum of all squared correlations [1]_. These are between halves of the features,
    and what noise adds to them is subtracted.

    Parameters
    ----------
    pairs : PairSums or None
        Released sums of pairs of features; None if there are none.
    counts : sequence of BinCounts
        Noisy number of records in each bin of each feature.
    n_samples : float
        Noisy number of records.

    Returns
    -------
    float
        1 for independent features, and if nothing is known about pairs.

    References
    ----------
    .. [1] Bretherton et al., "The Effective Number of Spatial Degrees of Freedom of a Time-Varying
       Field", Journal of Climate 12, 1999.
    """
    if pairs is None:
        return 1.0
    n, n_features = max(n_samples, 1.0), len(counts)
    mean = np.array([2.0 * (shares(c) @ u) - 1.0 for c, u in zip(counts, pairs.upper, strict=True)])
    first, second = np.triu_indices(n_features, 1)
    of_both = (1.0 - mean[first] ** 2) * (1.0 - mean[second] ** 2)
    covariance = pairs.sums / n - mean[first] * mean[second]
    chance = (pairs.noise_std / n) ** 2 + 1.0 / n
    squared = (covariance**2 - chance) / np.maximum(of_both, _LEAST_VARIANCE)
    return float(1.0 / (1.0 + 2.0 * max(float(squared.sum()), 0.0) / n_features))


def _followed(leaves: NDArray[np.uint8], gain: FloatArray, mass: FloatArray) -> float:
    """Return the number of parameters of one feature.

    Parameters
    ----------
    leaves : ndarray of shape (n_visits, n_bins)
        Leaf of each bin.
    gain : ndarray of shape (n_visits, n_bins)
        Change in the score of each bin per unit of its leaf's sum.
    mass : ndarray of shape (n_bins,)
        Change in the residual sum of each bin per unit of its score.
    """
    root = np.sqrt(mass / max(float(mass.sum()), 1e-12))
    weights = np.sqrt(gain * mass)
    response = np.zeros((len(mass), len(mass)))
    for leaf in range(int(leaves.max(initial=0)) + 1):
        member = weights * (leaves == leaf)
        member -= np.outer(member @ root, root)  # without the error in the mean residual
        response += member.T @ member
    # The part of the sampling error that a visit takes away, along each eigenvector.
    part = np.linalg.eigvalsh(response / max(len(leaves), 1))
    return float((1.0 - (1.0 - np.clip(part, 0.0, 1.0)) ** len(leaves)).sum())
