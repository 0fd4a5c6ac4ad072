"""What the loss says about the people of a bin: how they react, and how they scatter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpexplain.explain import inverse_link
from dpexplain.models.boosting.terms import AdditiveTerms

FloatArray = NDArray[np.float64]

INSIDE_CLIP = 0.8
"""Share of the residuals of a regression that is taken to lie inside the clip.

The clip is chosen for about that; where it is wider the sampling part comes out too wide.
"""

_RESIDUAL_SPREAD = 0.62
"""Standard deviation of clipped residuals in clips, if they are normal with 80 % inside."""


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


def squared_curvature(terms: AdditiveTerms, clip: float) -> Curvature:
    """Curvature of the squared loss with clipped residuals.

    Only residuals inside the clip follow the score. What share they are is not released, so it
    is taken as `INSIDE_CLIP`.

    Parameters
    ----------
    terms : AdditiveTerms
        Released model.
    clip : float
        Bound on a residual, in score units.

    Returns
    -------
    Curvature
    """
    people = [np.maximum(c, 0.0) for c in terms.counts]
    spread = _RESIDUAL_SPREAD * clip
    return Curvature(tuple(INSIDE_CLIP * c for c in people), tuple(spread**2 * c for c in people))


def logistic_curvature(terms: AdditiveTerms, clip: float) -> Curvature:
    """Curvature of the logistic loss per bin: people times their mean p (1 - p).

    The scores of the other terms are taken as normal with the variance that the
    released model gives them, as if features were independent.

    Parameters
    ----------
    terms : AdditiveTerms
        Released model.
    clip : float
        Bound on a residual. Not used: residuals beyond it are those of records that the model
        is sure of and wrong about, and what little they change shows in `repaired_shares`.

    Returns
    -------
    Curvature
        The variance of a residual sum is the curvature itself.
    """
    weights = [np.maximum(c, 0.0) for c in terms.counts]
    variances = np.array(
        [
            float(w @ s**2 / w.sum()) if w.sum() > 0 else 0.0
            for w, s in zip(weights, terms.scores, strict=True)
        ]
    )
    nodes, node_weights = np.polynomial.hermite_e.hermegauss(9)
    node_weights = node_weights / node_weights.sum()
    mass = []
    for k, (w, s) in enumerate(zip(weights, terms.scores, strict=True)):
        spread = np.sqrt(max(variances.sum() - variances[k], 0.0))
        p = inverse_link(terms.intercept + s[:, None] + spread * nodes[None, :], "logit")
        mass.append(w * ((p * (1.0 - p)) @ node_weights))
    return Curvature(tuple(mass), tuple(mass))
