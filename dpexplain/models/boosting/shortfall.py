"""How far the curves of a fit fall short, estimated from the released leaf sums.

A private fit stops early, so that noise does not pile up, and its curves are flatter than what
they are after. Later leaf sums keep saying so: they hold what residuals are left in the direction
of the curve. One number per term is enough to ask for, and all sums together answer it well.
Nothing but released numbers is used, so the answer costs no privacy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.curvature import Curvature
from dpexplain.models.boosting.private import PrivateFit
from dpexplain.models.boosting.released import released_path

FloatArray = NDArray[np.float64]

_FIRST = 0.05
"""Part of the visits that is left out: a reaction is linear near the final curve only."""

_USUAL_SPREAD = 0.3
"""Standard deviation of the share that curves fall short by, before anything was seen."""

_LIMITS = (0.5, 3.0)
"""Estimates outside are not believed."""


def stretches(fit: PrivateFit, curvature: Curvature, bound: float) -> list[FloatArray]:
    """Factor on the curve of each term that undoes how far it falls short.

    Parameters
    ----------
    fit : PrivateFit
        With the leaf sums that were released.
    curvature : Curvature
        Of the people that the sums are over.
    bound : float
        Bound on scores per bin, in units of the loop.

    Returns
    -------
    list of ndarray of shape (n_features,)
        One per score: one plus the posterior mean of the share that is missing, from a normal
        prior around 0.
    """
    path, masses = released_path(fit, bound), curvature.per_score
    noise_std, n_scores = float(fit.leaf_noise_std[-1]), masses[0].shape[1]
    shares = [m / max(float(m.sum()), 1e-12) for m in curvature.mean_mass]
    means = [np.einsum("b,tbs->ts", s, t) for s, t in zip(shares, path.tables, strict=True)]
    factors = np.ones((n_scores, len(masses)))
    for k, (mass, members) in enumerate(zip(masses, path.members, strict=True)):
        late = members.visit >= _FIRST * len(fit.visits)
        visit, bins = members.visit[late], members.bins[late]
        before = path.before[visit]
        gone = path.tables[k][before[:, k]] - path.tables[k][-1]
        for j, mean in enumerate(means):
            if j != k:
                gone += (mean[before[:, j]] - mean[-1])[:, None, :]
        curve = path.tables[k][-1] - means[k][-1]
        for c in range(n_scores):
            # What each sum would have been at the final scores, and what a longer curve leaves.
            left = members.sums[late, c] + np.einsum("rb,rbs,bs->r", bins, gone, mass[:, c])
            along = bins @ (mass[:, c] * curve).sum(axis=1)
            precision = along @ along / noise_std**2 + 1.0 / _USUAL_SPREAD**2
            factors[c, k] += along @ left / noise_std**2 / precision
    return list(np.clip(factors, *_LIMITS))
