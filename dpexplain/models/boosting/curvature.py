"""What the loss says about the people of a bin: how they react, and how they scatter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from dpexplain.explain import inverse_link
from dpexplain.models.boosting.terms import AdditiveTerms

FloatArray = NDArray[np.float64]

INSIDE_CLIP = 0.8
"""Share of the residuals of a regression that is taken to lie inside a clip that was given.

Where it is wider the sampling part comes out too wide. A clip that the recipe chose follows a
quantile, and then the share is known.
"""

_N_NODES = 15
"""Points of the quadrature over the scores of the other terms."""


@dataclass(frozen=True, eq=False)
class Curvature:
    """What the loss says about the people of each bin.

    Attributes
    ----------
    mass : tuple of ndarray of shape (n_bins,), one per feature
        Second derivative of the loss, summed over the (noisily counted) people of each bin.
    variance : tuple of ndarray of shape (n_bins,), one per feature
        Variance of the sum of residuals over the people of each bin, in squared score units.
    """

    mass: tuple[FloatArray, ...]
    variance: tuple[FloatArray, ...]

    def times(self, shares: Sequence[float] | FloatArray) -> Curvature:
        """Scale the mass of each feature; the variance stays."""
        return replace(self, mass=tuple(m * s for m, s in zip(self.mass, shares, strict=True)))

    def of_part(self, share: float) -> Curvature:
        """Take a random part of the people; what is common to all bags scatters as before."""
        return Curvature(
            tuple(share * m for m in self.mass), tuple(share**2 * v for v in self.variance)
        )


def squared_curvature(terms: AdditiveTerms, clip: float, inside: float | None) -> Curvature:
    """Curvature of the squared loss with clipped residuals.

    Only residuals inside the clip follow the score.

    Parameters
    ----------
    terms : AdditiveTerms
        Released model.
    clip : float
        Bound on a residual, in score units.
    inside : float or None
        Share of the residuals that the clip leaves alone; None for `INSIDE_CLIP`.

    Returns
    -------
    Curvature
    """
    share = INSIDE_CLIP if inside is None else inside
    people = [np.maximum(c, 0.0) for c in terms.counts]
    variance = clip**2 * _clipped_variance(share)
    return Curvature(tuple(share * c for c in people), tuple(variance * c for c in people))


def _clipped_variance(inside: float) -> float:
    """Variance, in squared clips, of clipped normal residuals of which a share lies inside."""
    normal = NormalDist()
    z = normal.inv_cdf((1.0 + inside) / 2.0)
    return (inside - 2.0 * z * normal.pdf(z)) / z**2 + 1.0 - inside


def logistic_curvature(terms: AdditiveTerms, clip: float, inside: float | None) -> Curvature:
    """Curvature of the logistic loss per bin, and variance of its clipped residuals.

    A residual ``y - p`` reacts by ``p (1 - p)`` where it lies inside the clip, and not at all
    outside. The scores of the other terms are taken as normal with the variance that the
    released model gives them, as if features were independent.

    Parameters
    ----------
    terms : AdditiveTerms
        Released model.
    clip : float
        Bound on a residual, in units of probability.
    inside : float or None
        Not used: it follows from the probabilities.

    Returns
    -------
    Curvature
    """
    weights = [np.maximum(c, 0.0) for c in terms.counts]
    variances = np.array(
        [
            float(w @ s**2 / w.sum()) if w.sum() > 0 else 0.0
            for w, s in zip(weights, terms.scores, strict=True)
        ]
    )
    nodes, node_weights = np.polynomial.hermite_e.hermegauss(_N_NODES)
    node_weights = node_weights / node_weights.sum()
    mass, variance = [], []
    for k, (w, s) in enumerate(zip(weights, terms.scores, strict=True)):
        spread = np.sqrt(max(variances.sum() - variances[k], 0.0))
        p = inverse_link(terms.intercept + s[:, None] + spread * nodes[None, :], "logit")
        followed = p * (1.0 - p <= clip) + (1.0 - p) * (p <= clip)
        mass.append(w * ((p * (1.0 - p) * followed) @ node_weights))
        apart = np.minimum(1.0 - p, clip) + np.minimum(p, clip)
        variance.append(w * ((p * (1.0 - p) * apart**2) @ node_weights))
    return Curvature(tuple(mass), tuple(variance))
