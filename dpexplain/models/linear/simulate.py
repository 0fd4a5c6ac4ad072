"""Uncertainty of linear models due to noise and sampling.

To first order, the errors in the weights are linear in the errors in the released sums. For a
regression, the linear map is the inverse of the second moments. For a classifier, it is the
recursion of the gradient steps, with the Hessian approximated by the second moments times the mean
of ``p (1 - p)``. Only released numbers are used.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.additive.term_noise import NoiseDraws
from dpexplain.models.additive.terms import AdditiveTerms
from dpexplain.models.boosting.uncertainty.curvature import logistic_curvature
from dpexplain.models.linear.fit import LinearFit, hessian_bound

FloatArray = NDArray[np.float64]

N_SIMULATIONS = 200
_SEED = 20210718  # fixed: the same model always has the same errors


def regression_noise(fit: LinearFit, terms: AdditiveTerms, scale: float) -> NoiseDraws:
    """Simulate the errors of a fitted linear regression.

    Parameters
    ----------
    fit : LinearFit
    terms : AdditiveTerms
        Centered terms of the fitted model.
    scale : float
        Half the range of the target.

    Returns
    -------
    NoiseDraws
    """
    rng = np.random.default_rng(_SEED)
    weights, inverse = fit.weights[:, 0], fit.inverse
    shape = (N_SIMULATIONS, len(weights))
    upper = fit.moment_std * rng.standard_normal((N_SIMULATIONS, *fit.moments.shape))
    upper *= fit.design.together
    lower = np.triu(np.ones(fit.moments.shape), 1) * upper
    of_moments = upper @ weights + np.swapaxes(lower, 1, 2) @ weights
    privacy = (fit.target_std * rng.standard_normal(shape) - of_moments) @ inverse
    variance = fit.residual_variance or 0.0
    sampling = np.sqrt(variance) * rng.standard_normal(shape) @ _root(fit.moments) @ inverse
    return _as_draws(fit, terms, scale * privacy, scale * sampling)


def classification_noise(fit: LinearFit, terms: AdditiveTerms) -> NoiseDraws:
    """Simulate the errors of a fitted binary classifier.

    Parameters
    ----------
    fit : LinearFit
    terms : AdditiveTerms
        Centered terms of the fitted model.

    Returns
    -------
    NoiseDraws
    """
    rng = np.random.default_rng(_SEED)
    curvature = logistic_curvature(terms, fit.clip, None)
    n_records = sum(float(np.maximum(c, 0.0).sum()) for c in terms.counts)
    mass, variance = (
        sum(float(part.sum()) for part in parts) / max(n_records, 1.0)
        for parts in (curvature.mass, curvature.variance)
    )
    step = fit.learning_rate * fit.inverse / hessian_bound(1)
    kept = np.eye(len(step)) - mass * (fit.moments @ step)
    shape = (N_SIMULATIONS, len(step))
    sample = np.sqrt(variance) * rng.standard_normal(shape) @ _root(fit.moments)
    privacy, sampling = np.zeros(shape), np.zeros(shape)
    for _ in range(fit.n_steps):
        privacy = privacy @ kept + fit.target_std * rng.standard_normal(shape) @ step
        sampling = sampling @ kept + sample @ step
    return _as_draws(fit, terms, privacy, sampling)


def _root(moments: FloatArray) -> FloatArray:
    values, vectors = np.linalg.eigh(moments)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def _as_draws(
    fit: LinearFit, terms: AdditiveTerms, privacy: FloatArray, sampling: FloatArray
) -> NoiseDraws:
    return NoiseDraws(
        privacy=_of_bins(fit, terms, privacy),
        structure=np.zeros((1, len(fit.design.coordinate) + 1)),
        sampling=_of_bins(fit, terms, sampling),
    )


def _of_bins(fit: LinearFit, terms: AdditiveTerms, errors: FloatArray) -> FloatArray:
    """Return the errors of all bins and the intercept, one row per draw.

    Within each feature, the errors of the bins are centered.
    """
    intercept = errors[:, 0].copy()
    parts = []
    tables = fit.design.by_feature(fit.design.tables(errors.T))
    for table, counts, released in zip(tables, terms.counts, fit.counts, strict=True):
        shown = ~released.perhaps_nobody
        weights = np.where(shown, np.maximum(counts, 0.0), 0.0)
        shares = weights / weights.sum() if weights.sum() > 0 else weights
        mean = shares @ table
        intercept += mean
        parts.append(np.where(shown[:, None], table - mean, 0.0))
    return np.vstack([*parts, intercept]).T
