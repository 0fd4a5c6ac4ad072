"""Convert effect estimates to fields of an explanation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpexplain.explain import NoiseModel

if TYPE_CHECKING:
    from dpexplain.models.boosting.uncertainty.effects.estimate import EffectDraws

FloatArray = NDArray[np.float64]

_STEPS = 1.15
"""Factor that widens simultaneous bands computed for normal errors: a smooth estimate rounds off
steps of the true curve, and the largest errors occur there."""


@dataclass(frozen=True, eq=False)
class TermEffect:
    """Estimated curves and their joint errors.

    Attributes
    ----------
    curves : tuple of ndarray of shape (n_bins,), one per term
        Estimated curve of each term.
    intercept : float
        Estimated intercept.
    joint : NoiseModel
        Joint posterior errors of all bins and of the intercept.
    factors : ndarray of shape (n_terms,)
        Half-width of each term's simultaneous band, in standard deviations.
    count_std : tuple of ndarray of shape (n_bins,), one per term
        Standard deviation of the noise in the counts.
    unclear : tuple of (int or None), one per term
        For each feature, the index of another one with which it may depend in another form than
        assumed.
    """

    curves: tuple[FloatArray, ...]
    intercept: float
    joint: NoiseModel
    factors: FloatArray
    count_std: tuple[FloatArray, ...]
    unclear: tuple[int | None, ...]

    def of_term(self, place: int, names: Sequence[str]) -> dict[str, Any]:
        """Return the effect fields of a `ShapeFunction` for the term at index `place`.

        Parameters
        ----------
        place : int
        names : sequence of str
            Names of all terms.

        Returns
        -------
        dict
        """
        other = self.unclear[place]
        return {
            "effect": self.curves[place],
            "effect_std": self.joint.std[self.joint.term(place)],
            "effect_factor": float(self.factors[place]),
            "count_std": self.count_std[place],
            "unclear_with": "" if other is None else names[other],
        }


def term_effect(draws: EffectDraws, sizes: Sequence[int]) -> TermEffect:
    """Summarize an effect estimate as curves, joint errors and bands.

    Parameters
    ----------
    draws : EffectDraws
    sizes : sequence of int
        Number of bins of each term.

    Returns
    -------
    TermEffect
    """
    joint = NoiseModel.from_draws(sizes, [draws.errors])
    factors = _STEPS * joint.simultaneous_factors()
    return TermEffect(draws.curves, draws.intercept, joint, factors, draws.count_std, draws.unclear)
