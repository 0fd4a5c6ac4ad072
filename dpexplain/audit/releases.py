"""Audit functions that depend on the type of the mechanism.

To support a new mechanism, register its phase type here and its event types in `charges`.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from dpexplain.mechanisms import ChoicePhase, LaplacePhase, Phase, SampledPhase

Integers = NDArray[np.int64]


@singledispatch
def distance(phase: Any, first: Integers, second: Integers) -> float:
    """Return the distance between two exact queries, in units of the sensitivity.

    Parameters
    ----------
    phase : Phase
        Phase of the release.
    first, second : ndarray of shape (n,), dtype int64
        Queries on two neighboring data sets.

    Returns
    -------
    float
        The distance, which is at most 1 if the sensitivity is correct.
    """
    raise _unknown(phase)


@singledispatch
def log_likelihood_ratio(phase: Any, answer: Integers, first: Integers, second: Integers) -> float:
    """Return the log-likelihood ratio of two data sets, given one release.

    Parameters
    ----------
    phase : Phase
        Phase of the release.
    answer : ndarray of shape (n,), dtype int64
        The released answer.
    first, second : ndarray of shape (n,), dtype int64
        Queries on the two data sets.

    Returns
    -------
    float
        Logarithm of the ratio of two densities of the answer, computed for the noise that the phase
        declares: the density given the query `first`, divided by the density given `second`.
    """
    raise _unknown(phase)


@singledispatch
def standard_noise(phase: Any, query: Integers, answer: Integers) -> NDArray[np.float64]:
    """Transform the noise of one release to a standard normal scale.

    Parameters
    ----------
    phase : Phase
        Phase of the release.
    query, answer : ndarray of shape (n,), dtype int64
        The exact query and the released answer.

    Returns
    -------
    ndarray of shape (n,)
        Transformed noise, which is standard normal if the phase states the noise correctly.
    """
    raise _unknown(phase)


@distance.register
def _(phase: Phase, first: Integers, second: Integers) -> float:
    return float(np.linalg.norm((first - second).astype(np.float64)) / phase.sensitivity_int)


@log_likelihood_ratio.register
def _(phase: Phase, answer: Integers, first: Integers, second: Integers) -> float:
    apart = (first - second) / phase.sigma_int
    beyond = (answer - first) / phase.sigma_int
    return float(apart @ beyond + 0.5 * apart @ apart)


@log_likelihood_ratio.register
def _(phase: SampledPhase, answer: Integers, first: Integers, second: Integers) -> float:
    """Return the log-likelihood ratio for a release computed from a random sample.

    `first` is the sum if the record is in the sample. If the record is in the data set, it may or
    may not be in the sample, so the distribution of the answer is a mixture.
    """
    apart = (first - second) / phase.sigma_int
    beyond = (answer - first) / phase.sigma_int
    ratio = float(apart @ beyond + 0.5 * apart @ apart)
    q = phase.sampling_probability
    return float(np.logaddexp(np.log(q) + ratio, np.log1p(-q) if q < 1.0 else -np.inf))


@standard_noise.register
def _(phase: Phase, query: Integers, answer: Integers) -> NDArray[np.float64]:
    return (answer - query) / phase.sigma_int


@distance.register
def _(phase: LaplacePhase, first: Integers, second: Integers) -> float:
    return float(np.abs(first - second).astype(np.float64).sum() / phase.sensitivity_int)


@log_likelihood_ratio.register
def _(phase: LaplacePhase, answer: Integers, first: Integers, second: Integers) -> float:
    beyond = np.abs(answer - second) - np.abs(answer - first)
    return float(beyond.astype(np.float64).sum() / phase.scale_int)


@standard_noise.register
def _(phase: LaplacePhase, query: Integers, answer: Integers) -> NDArray[np.float64]:
    noise = (answer - query) / phase.scale_int
    # The quantile is computed from the smaller tail, which avoids cancellation.
    return np.asarray(-np.sign(noise) * special.ndtri(0.5 * np.exp(-np.abs(noise))))


@distance.register
def _(phase: ChoicePhase, first: Integers, second: Integers) -> float:
    moved = (first - second).reshape(-1, phase.n_candidates)
    return float((moved.max(axis=1) - moved.min(axis=1)).sum() / phase.spread_int)


@log_likelihood_ratio.register
def _(phase: ChoicePhase, answer: Integers, first: Integers, second: Integers) -> float:
    rows = np.arange(len(answer))
    chances = [_log_chances(phase, utilities)[rows, answer] for utilities in (first, second)]
    return float((chances[0] - chances[1]).sum())


@standard_noise.register
def _(phase: ChoicePhase, query: Integers, answer: Integers) -> NDArray[np.float64]:
    """Return a randomized normal score for each choice.

    The quantile of the choice, which is uniform on [0, 1] if the mechanism is correct, is mapped to
    the normal scale.
    """
    chances = np.exp(_log_chances(phase, query))
    rows = np.arange(len(answer))
    below = np.where(np.arange(phase.n_candidates) < answer[:, None], chances, 0.0).sum(axis=1)
    place = below + np.random.default_rng().random(len(answer)) * chances[rows, answer]
    return np.asarray(special.ndtri(np.clip(place, 1e-300, 1.0 - 1e-16)))


def _log_chances(phase: ChoicePhase, utilities: Integers) -> NDArray[np.float64]:
    rows = utilities.reshape(-1, phase.n_candidates)
    below = (rows - rows.max(axis=1, keepdims=True)) * (phase.epsilon / phase.spread_int)
    return np.asarray(below - np.log(np.exp(below).sum(axis=1, keepdims=True)))


def _unknown(phase: object) -> TypeError:
    return TypeError(
        f"audits know no phase of type {type(phase).__name__}; register its functions in "
        "dpexplain.audit.releases."
    )
