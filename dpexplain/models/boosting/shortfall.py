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
from dpexplain.models.boosting.repair import late_paths

FloatArray = NDArray[np.float64]

_FIRST = 0.05
"""Part of the visits that is left out: a reaction is linear near the final curve only."""

_USUAL_SPREAD = 0.3
"""Standard deviation of the share that curves fall short by, before anything was seen."""

_LIMITS = (0.5, 3.0)
"""Estimates outside are not believed."""


def stretches(fit: PrivateFit, curvature: Curvature) -> FloatArray:
    """Factor on the curve of each term that undoes how far it falls short.

    Parameters
    ----------
    fit : PrivateFit
        With the leaf sums that were released.
    curvature : Curvature
        Of the people that the sums are over.

    Returns
    -------
    ndarray of shape (n_features,)
        One plus the posterior mean of the share that is missing, from a normal prior around 0.
    """
    masses = curvature.mass
    shares = [m / max(float(m.sum()), 1e-12) for m in masses]
    tables, paths = late_paths(fit, shares, first=_FIRST)
    means = np.array([s @ t for s, t in zip(shares, tables, strict=True)])
    noise_std = float(fit.leaf_noise_std[-1])
    factors = np.ones(len(masses))
    for k, path in enumerate(paths):
        if not path:
            continue
        members = np.stack([row for row, _, _, _ in path]) * masses[k]
        gone = np.stack([table - tables[k] for _, table, _, _ in path])
        elsewhere = np.array([mean for _, _, mean, _ in path])
        others = means.sum() - means[k]
        # What each sum would have been at the final scores, and what a longer curve would leave.
        left = np.array([value for _, _, _, value in path])
        left += (members * gone).sum(axis=1) + members.sum(axis=1) * (elsewhere - others)
        along = members @ (tables[k] - means[k])
        precision = along @ along / noise_std**2 + 1.0 / _USUAL_SPREAD**2
        factors[k] += along @ left / noise_std**2 / precision
    return np.asarray(np.clip(factors, *_LIMITS))
