"""What a fit with another epsilon would show, from what one fit released."""

from __future__ import annotations

import math

import numpy as np

from dpexplain.accounting.gdp import mu_from_epsilon
from dpexplain.explain import GlobalExplanation
from dpexplain.explain._record import FloatArray

_LARGEST = 50.0
_HALVINGS = 60


def epsilon_to_stand_out(explanation: GlobalExplanation, term: str) -> float:
    """Smallest epsilon at which a term would stand out of the noise, if its curve is right.

    The privacy part of the noise is taken as proportional to one over the Gaussian-DP
    parameter, the other parts as they are. The curve is shrunk for the noise that it has, so a
    term that is noise alone gets infinity. All of it is post-processing of released numbers; a
    fit with the epsilon found still has to be paid for.

    Parameters
    ----------
    explanation : GlobalExplanation
        Private, with noise that is known jointly.
    term : str
        Name of the term.

    Returns
    -------
    float
        Epsilon at the delta of the explanation; infinity if none up to 50 is enough.

    Raises
    ------
    KeyError
        If there is no such term.
    ValueError
        If the explanation is not private, or its noise is not known.
    """
    shape, guarantee, noise = explanation[term], explanation.guarantee, explanation.noise
    if not guarantee.private or guarantee.mu is None or noise is None or shape.noise_std is None:
        raise ValueError(
            "planning needs a private explanation whose noise is known; explain_global() of a "
            "private boosting model gives one."
        )
    factor = noise.overall_factor()
    curve = shape.kept_share * np.abs(shape.contribution)
    rest = [p for p in (shape.structure_std, shape.sampling_std) if p is not None]
    left: FloatArray = np.sum(np.square(rest), axis=0) if rest else np.zeros(shape.n_bins)
    privacy, mu_now, delta = shape.noise_std, guarantee.mu, guarantee.delta

    def stands_out(epsilon: float) -> bool:
        shrunk = privacy * mu_now / mu_from_epsilon(epsilon, delta)
        return bool((curve > factor * np.sqrt(shrunk**2 + left)).any())

    if not stands_out(_LARGEST):
        return math.inf
    low, high = math.log(1e-3), math.log(_LARGEST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if stands_out(math.exp(middle)) else (middle, high)
    return math.exp(high)
