"""Denoised curves with their own noise bands, computed by post-processing.

Each curve is modeled as the sum of a smooth function and noise. The covariance of the noise is part
of the explanation. The scale and the length scale of the function are chosen by marginal likelihood
(empirical Bayes), so a curve that consists only of noise becomes flat. Denoising uses only released
numbers, so it costs no privacy.

Whether denoising helps depends on the fit: if a fit at a small epsilon stops early, its curves are
already shrunk toward zero. Models therefore do not denoise their curves automatically.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from dpexplain.explain._record import FloatArray
from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.additive.shape_function import ShapeFunction
from dpexplain.explain.noise_model import LEVEL, NoiseModel

_REACHES = (0.075, 0.15, 0.3)
"""Candidate correlation lengths. The distance between two values is measured by the proportion of
records that lie between them."""

_SIZES = np.geomspace(0.03, 3.0, 12)
"""Candidate standard deviations of the smooth function, relative to the root mean square of the
released curve."""

_ROUGHNESS = 0.15
_ROUGH_REACH = 0.05
_JITTER = 1e-9
_DRAWS = 4_000


def denoised(explanation: GlobalExplanation) -> GlobalExplanation:
    """Return an explanation whose curves are estimates of the noiseless curves.

    Parameters
    ----------
    explanation : GlobalExplanation
        An explanation with known joint noise.

    Returns
    -------
    GlobalExplanation
        The same terms with smoother curves, centered as before. `noise_std` contains the posterior
        standard deviations of the estimates, for all sources of error combined. The predictions of
        the model do not change.

    Raises
    ------
    ValueError
        If the joint noise is unknown.

    References
    ----------
    .. [1] Rasmussen, Williams, "Gaussian Processes for Machine Learning", MIT Press 2006,
       equations 2.25, 2.26 and 5.8.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema)
    >>> model = model.fit(stays.X, stays.y)
    >>> explanation = model.explain_global()
    >>> from dpexplain.explain import denoised
    >>> smoother = denoised(explanation)
    >>> list(smoother) == list(explanation)
    True
    """
    noise = _known(explanation.noise)
    terms = []
    for place, term in enumerate(explanation.terms):
        curve, covariance = _posterior(term, _covariance(noise, place))
        std = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        terms.append(
            dataclasses.replace(
                term,
                contribution=curve,
                noise_std=std,
                structure_std=None,
                sampling_std=None,
                simultaneous_factor=_simultaneous(_roots(covariance), std),
                monotone=None,
            )
        )
    return dataclasses.replace(explanation, terms=tuple(terms), noise=None)


def denoised_curve(explanation: GlobalExplanation, name: str) -> FloatArray:
    """Estimate the noiseless curve of one term.

    Parameters
    ----------
    explanation : GlobalExplanation
        An explanation with known joint noise.
    name : str
        Name of the term.

    Returns
    -------
    ndarray of shape (n_bins,)
        Estimated contributions, as in :func:`denoised`.

    Raises
    ------
    ValueError
        If the joint noise is unknown.
    """
    noise = _known(explanation.noise)
    place = list(explanation).index(name)
    return _posterior(explanation.terms[place], _covariance(noise, place))[0]


def _known(noise: NoiseModel | None) -> NoiseModel:
    if noise is None:
        raise ValueError(
            "denoising needs a joint noise model; use explain_global() of a private boosting model."
        )
    return noise


def _covariance(noise: NoiseModel, place: int) -> FloatArray:
    bins = noise.term(place)
    factor = noise.factor[bins]
    return factor @ factor.T + np.diag(noise.remainder_std[bins] ** 2)


def _posterior(term: ShapeFunction, noise: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the posterior mean and covariance of a curve.

    The prior is the one that maximizes the marginal likelihood.
    """
    seen, n = term.contribution, term.n_bins
    size = float(np.sqrt(term.weights @ seen**2))
    noise = noise + np.eye(n) * (_JITTER + 0.01 * float(np.trace(noise)) / n)
    if not size > 0:
        return seen.copy(), noise
    best, chosen = -np.inf, noise
    for reach in _REACHES if term.kind == "numeric" or term.ordered else _REACHES[:1]:
        prior = _prior(term, reach)
        for share in _SIZES:
            scaled = (share * size) ** 2 * prior
            root = np.linalg.cholesky(scaled + noise)
            white = np.linalg.solve(root, seen)
            likelihood = -0.5 * float(white @ white) - float(np.log(np.diag(root)).sum())
            if likelihood > best:
                best, chosen = likelihood, scaled
    gain = np.linalg.solve(chosen + noise, chosen).T
    curve = gain @ seen
    # Bins that the model leaves at exactly zero because they may be empty stay at zero.
    curve = np.where(seen == 0, 0.0, curve - float(term.weights @ curve))
    return curve, chosen - gain @ chosen


def _prior(term: ShapeFunction, reach: float) -> FloatArray:
    """Return the prior covariance matrix of a centered curve of scale 1.

    `reach` is the length scale, measured as a proportion of the records.
    """
    n, n_values = term.n_bins, term.n_value_bins
    prior = np.eye(n)
    if term.kind == "numeric" or term.ordered:
        middle = (np.cumsum(term.weights) - term.weights / 2.0)[:n_values]
        apart = np.abs(middle[:, None] - middle)
        smooth = np.exp(-0.5 * (apart / reach) ** 2)
        prior[:n_values, :n_values] = smooth + _ROUGHNESS * np.exp(-apart / _ROUGH_REACH)
    centering = np.eye(n) - term.weights
    centered: FloatArray = centering @ prior @ centering.T
    return centered


def _roots(covariance: FloatArray) -> FloatArray:
    values, vectors = np.linalg.eigh(covariance)
    roots: FloatArray = vectors * np.sqrt(np.maximum(values, 0.0))
    return roots


def _simultaneous(roots: FloatArray, std: FloatArray) -> float:
    """Return the half-width of the simultaneous band, in standard deviations."""
    rng = np.random.default_rng(0)  # post-processing: the same curve always has the same band
    draws = rng.standard_normal((_DRAWS, len(std))) @ roots.T
    return float(np.quantile(np.max(np.abs(draws) / np.maximum(std, 1e-300), axis=1), LEVEL))
