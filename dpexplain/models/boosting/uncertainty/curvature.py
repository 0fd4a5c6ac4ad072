"""Curvature of the loss, and variance of the residuals, in each bin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from dpexplain.explain import inverse_link
from dpexplain.models.additive.terms import AdditiveTerms

FloatArray = NDArray[np.float64]

INSIDE_CLIP = 0.8
"""Assumed proportion of regression residuals inside a clip that the user sets.

If the actual proportion is larger, the sampling part of the bands is too wide. A clip that the
recipe chooses follows a quantile of the residuals, so the proportion is known.
"""

_N_NODES = 15
"""Number of quadrature points over the scores of the other terms."""

_N_JOINT_NODES = 32
"""Number of quadrature points over the joint scores of several classes."""

_N_RATES = 64
_LARGEST_COUNT = 500
_LARGEST_RATE = 50.0


@dataclass(frozen=True, eq=False)
class Curvature:
    """Curvature of the loss, and variance of the residuals, in each bin.

    Attributes
    ----------
    mass : tuple of ndarray of shape (n_bins,) or (n_bins, n_classes, n_classes), one per feature
        Second derivative of the loss, summed over the (noisily counted) records in each bin.
    variance : tuple of ndarray of the same shapes
        (Co)variance of the sum of residuals over the records in each bin. The unit of the sum is
        the unit of `mass` times the unit of the score.
    step_weight : tuple of ndarray of shape (n_bins,), one per feature
        Weight of a record in the denominators of the updates.
    """

    mass: tuple[FloatArray, ...]
    variance: tuple[FloatArray, ...]
    step_weight: tuple[FloatArray, ...]

    def of_part(self, share: float) -> Curvature:
        """Scale the curvature to a random subset of the records.

        The residual sums of the subset are assumed to be proportional to the residual sums of all
        records, so their variance is multiplied by the square of `share`.
        """
        return replace(
            self,
            mass=tuple(share * m for m in self.mass),
            variance=tuple(share**2 * v for v in self.variance),
        )

    def of_score(self, c: int) -> Curvature:
        """Return the curvature of one class, for errors relative to the mean over classes.

        Adding the same number to the scores of all classes changes no residual. Boosting therefore
        corrects only errors relative to the mean over the n classes, and it corrects them with
        ``n / (n - 1)`` times the curvature of the class.
        """
        if self.mass[0].ndim == 1:
            return self
        n = self.mass[0].shape[1]
        return replace(
            self,
            mass=tuple(n / (n - 1) * m[:, c, c] for m in self.mass),
            variance=tuple(v[:, c, c] for v in self.variance),
        )

    @property
    def per_score(self) -> tuple[FloatArray, ...]:
        """Curvature of each feature, shape (n_bins, n_scores, n_scores)."""
        return tuple(m[:, None, None] if m.ndim == 1 else m for m in self.mass)

    @property
    def mean_mass(self) -> tuple[FloatArray, ...]:
        """Curvature of each feature, averaged over scores, shape (n_bins,)."""
        return tuple(np.trace(m, axis1=1, axis2=2) / m.shape[1] for m in self.per_score)

    @property
    def mixing(self) -> FloatArray:
        """Sensitivity of each score's residuals to each score; the diagonal has mean 1."""
        total = sum(m.sum(axis=0) for m in self.per_score)
        return np.asarray(total / max(float(np.trace(total)) / len(total), 1e-12))

    @property
    def variance_per_score(self) -> tuple[FloatArray, ...]:
        """Variance of the sum of each score's residuals, shape (n_bins, n_scores).

        There is one array per feature. The sum is over the records in a bin.
        """
        return tuple(
            v[:, None] if v.ndim == 1 else np.diagonal(v, axis1=1, axis2=2) for v in self.variance
        )

    @property
    def between_scores(self) -> FloatArray:
        """Square root of the correlation matrix of the scores' residual sums."""
        if self.variance[0].ndim == 1:
            return np.ones((1, 1))
        total = np.sum([v.sum(axis=0) for v in self.variance], axis=0)
        std = np.sqrt(np.maximum(np.diag(total), 1e-12))
        values, vectors = np.linalg.eigh(total / np.outer(std, std))
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def squared_curvature(terms: AdditiveTerms, clip: float, inside: float | None) -> Curvature:
    """Return the curvature of the squared loss with clipped residuals.

    Only residuals inside the clip change with the score.

    Parameters
    ----------
    terms : AdditiveTerms
        Released model.
    clip : float
        Bound on a residual, in score units.
    inside : float or None
        Proportion of the residuals that the clip leaves unchanged; if None, `INSIDE_CLIP` is used.

    Returns
    -------
    Curvature
    """
    share = INSIDE_CLIP if inside is None else inside
    n_records = [np.maximum(c, 0.0) for c in terms.counts]
    variance = clip**2 * clipped_variance(share)
    mass, scatter = (tuple(factor * c for c in n_records) for factor in (share, variance))
    return Curvature(mass, scatter, _alike(terms))


def clipped_variance(inside: float) -> float:
    """Return the variance of clipped normal residuals, in units of the squared clip.

    `inside` is the proportion of the residuals that the clip leaves unchanged.
    """
    normal = NormalDist()
    z = normal.inv_cdf((1.0 + inside) / 2.0)
    return (inside - 2.0 * z * normal.pdf(z)) / z**2 + 1.0 - inside


def logistic_curvature(terms: AdditiveTerms, clip: float, inside: float | None) -> Curvature:
    """Return the curvature and clipped residual variance of the logistic loss.

    When the score rises, a residual ``y - p`` inside the clip falls at the rate ``p (1 - p)``; a
    residual outside does not change. The sum of the other terms is assumed to be normal, with the
    variance that it would have in the released model if features were independent.

    Parameters
    ----------
    terms : AdditiveTerms
        Released model.
    clip : float
        Bound on a residual, in units of probability.
    inside : float or None
        Unused, because the proportion inside the clip follows from the probabilities.

    Returns
    -------
    Curvature
    """
    mass, variance = [], []
    for w, score, node_weights in _scores(terms):
        p = inverse_link(score, "logit")
        followed = p * (1.0 - p <= clip) + (1.0 - p) * (p <= clip)
        mass.append(w * ((p * (1.0 - p) * followed) @ node_weights))
        apart = np.minimum(1.0 - p, clip) + np.minimum(p, clip)
        variance.append(w * ((p * (1.0 - p) * apart**2) @ node_weights))
    return Curvature(tuple(mass), tuple(variance), _alike(terms))


def poisson_curvature(
    terms: AdditiveTerms, clip: float, inside: float | None, *, high: float
) -> Curvature:
    """Return the curvature and clipped residual variance of the Poisson loss.

    When the score rises, a residual ``y - rate`` inside the clip falls in proportion to the rate.
    Real counts vary more than Poisson counts, but no released number shows how much more. Counts
    are assumed to be geometric here, with variance ``rate + rate ** 2``. The sampling part of the
    bands is therefore too wide for Poisson counts; if counts were assumed to be Poisson, it would
    be too narrow for counts that vary more.

    Parameters
    ----------
    terms : AdditiveTerms
        Released model; its scores are logarithms of expected counts.
    clip : float
        Bound on a residual, in counts.
    inside : float or None
        Unused, because the proportion inside the clip follows from the rates.
    high : float
        Upper end of the public range of counts, used as the unit of residuals.

    Returns
    -------
    Curvature
    """
    rates = np.geomspace(1e-4 * high, high, _N_RATES)
    followed, scatter = clipped_counts(rates, clip, clip, high)
    mass, variance, weight = [], [], []
    for w, score, node_weights in _scores(terms):
        rate = np.clip(np.exp(score), rates[0], high)
        mass.append(w * ((rate * np.interp(rate, rates, followed)) @ node_weights) / high)
        variance.append(w * (np.interp(rate, rates, scatter) @ node_weights) / high**2)
        weight.append(rate @ node_weights / high)
    return Curvature(tuple(mass), tuple(variance), tuple(weight))


def clipped_counts(
    rates: FloatArray, clip: float, bound: float, high: float
) -> tuple[FloatArray, FloatArray]:
    """Return the share of residuals inside a clip, and their clipped covariance.

    Counts have a geometric distribution and are clipped to the public range.

    Parameters
    ----------
    rates : ndarray of shape (n_rates,)
        Expected counts.
    clip, bound : float
        Two bounds on a residual, in counts. If they are the same, the covariance is a variance.
    high : float
        Upper end of the public range of counts.

    Returns
    -------
    inside, covariance : ndarray of shape (n_rates,)
        Proportion of the residuals inside `clip`, and covariance of residuals that are clipped to
        `clip` with the same residuals clipped to `bound`.
    """
    counts = np.arange(int(min(high, _LARGEST_COUNT)) + 1.0)
    # Around a large rate, counts are so spread out that one per group of this size is enough.
    group = np.maximum(1.0, rates / _LARGEST_RATE)[:, None]
    of_group = rates[:, None] / group
    chance = np.exp(counts * np.log(of_group / (1.0 + of_group)) - np.log1p(of_group))
    chance[:, -1] += np.maximum(1.0 - chance.sum(axis=1), 0.0)  # counts end at the public range
    residual = np.minimum(counts * group, high) - rates[:, None]
    narrow, wide = (np.clip(residual, -limit, limit) for limit in (clip, bound))
    means = (chance * narrow).sum(axis=1) * (chance * wide).sum(axis=1)
    inside = (chance * (np.abs(residual) < clip)).sum(axis=1)
    return inside, np.maximum((chance * narrow * wide).sum(axis=1) - means, 0.0)


def softmax_curvature(terms: AdditiveTerms, clip: float, inside: float | None) -> Curvature:
    """Return the curvature and clipped residual covariance of the softmax loss.

    A residual is the vector ``1[y = c] - p_c``, scaled down if ``1 - p_y`` exceeds the clip. The
    sums of the other terms are assumed to be jointly normal, with the covariance that they would
    have in the released model if features were independent.

    Parameters
    ----------
    terms : AdditiveTerms
        Released model.
    clip : float
        Bound on ``1 - p_y``, in units of probability.
    inside : float or None
        Unused, because the proportion inside the clip follows from the probabilities.

    Returns
    -------
    Curvature
    """
    weights = [np.maximum(c, 0.0) for c in terms.counts]
    spreads = [
        (w[:, None] * s).T @ s / max(float(w.sum()), 1e-12)
        for w, s in zip(weights, terms.scores, strict=True)
    ]
    n = len(np.asarray(terms.intercept))
    nodes = np.random.default_rng(0).standard_normal((_N_JOINT_NODES, n))
    mass, variance = [], []
    for k, (w, s) in enumerate(zip(weights, terms.scores, strict=True)):
        values, vectors = np.linalg.eigh(sum(spreads) - spreads[k])
        elsewhere = nodes @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
        score = np.asarray(terms.intercept) + s[:, None, :] + elsewhere
        reaction, scatter = _clipped_classes(score, clip)
        mass.append(w[:, None, None] * reaction)
        variance.append(w[:, None, None] * scatter)
    return Curvature(tuple(mass), tuple(variance), _alike(terms))


def _clipped_classes(score: FloatArray, clip: float) -> tuple[FloatArray, FloatArray]:
    """Return the mean sensitivity and covariance of clipped residuals in each bin.

    For outcome probabilities ``q`` and weights ``w_y = min(1, clip / (1 - p_y))``, the mean
    residual is ``sum_y q_y w_y (e_y - p)``. The sensitivity is minus its derivative with respect to
    the scores for fixed ``q``, evaluated at ``q = p``.
    """
    p = np.exp(score - score.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    n, apart = p.shape[-1], 1.0 - p
    cut = apart > clip
    weight = np.where(cut, clip / np.maximum(apart, 1e-12), 1.0)
    scatter, mean = np.zeros((*p.shape, n)), np.zeros(p.shape)
    hessian = np.einsum("...c,cd->...cd", p, np.eye(n)) - p[..., :, None] * p[..., None, :]
    reaction = (p * weight).sum(axis=-1)[..., None, None] * hessian
    for y in range(n):
        away = np.eye(n)[y] - p
        outer = away[..., :, None] * away[..., None, :]
        own = p[..., y]
        slope = np.where(cut[..., y], own**2 * clip / np.maximum(apart[..., y], 1e-12) ** 2, 0.0)
        reaction -= slope[..., None, None] * outer
        scatter += (own * weight[..., y] ** 2)[..., None, None] * outer
        mean += (own * weight[..., y])[..., None] * away
    scatter -= mean[..., :, None] * mean[..., None, :]
    return reaction.mean(axis=1), scatter.mean(axis=1)


def _alike(terms: AdditiveTerms) -> tuple[FloatArray, ...]:
    """Return a step weight of 1 for every bin."""
    return tuple(np.ones(len(c)) for c in terms.counts)


@cache
def _quadrature() -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights for a standard normal variable."""
    return np.polynomial.hermite_e.hermegauss(_N_NODES)


def _scores(terms: AdditiveTerms) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
    """Yield the counts, the quadrature scores and the quadrature weights of each term.

    The shapes are (n_bins,), (n_bins, n_nodes) and (n_nodes,). The quadrature is over the sum of
    the other terms.
    """
    weights = [np.maximum(c, 0.0) for c in terms.counts]
    variances = np.array(
        [
            float(w @ s**2 / w.sum()) if w.sum() > 0 else 0.0
            for w, s in zip(weights, terms.scores, strict=True)
        ]
    )
    nodes, node_weights = _quadrature()
    for k, (w, s) in enumerate(zip(weights, terms.scores, strict=True)):
        spread = np.sqrt(max(variances.sum() - variances[k], 0.0))
        score = float(terms.intercept) + s[:, None] + spread * nodes[None, :]
        yield w, score, node_weights / node_weights.sum()
