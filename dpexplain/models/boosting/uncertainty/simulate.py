"""Simulate the noise in a model's curves from released quantities.

The noise has three parts. Each part is simulated on bins, without using records, so the simulation
is post-processing and costs no privacy.

* Privacy: the distribution of the noise in every leaf sum is known, and so is the response of
  boosting: an error d in the score of a bin lowers the next residual sum in this bin by d times the
  curvature of the loss. Bands that simply added up the injected variances would be too wide,
  because later rounds correct errors from earlier noise.
* Structure: the released curve plus a draw of sampling error is refitted without privacy noise,
  with histograms redrawn around the released ones, new merged bins, new random trees and a new
  feature order.
* Sampling: a different sample of records would have different residual sums, and the difference
  would be the same in every round. The variance of these sums follows from the noisy counts. Per
  record, it is p (1 - p) for classes, reduced by clipping; for regression, it is the variance of
  normal residuals after clipping, computed from the known proportion of the residuals that the clip
  leaves unchanged.

Feature correlations are estimated from the released leaf sums, and redrawn for each group of
simulations (`leaf_correlations.py`). Pair sums are not used here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.counts import BinCounts
from dpexplain.models.additive.term_noise import NoiseDraws
from dpexplain.models.additive.terms import AdditiveTerms
from dpexplain.models.boosting.monotone import SIGNS
from dpexplain.models.boosting.objectives import Objective
from dpexplain.models.boosting.released import PrivateFit, released_path
from dpexplain.models.boosting.structure import Visits
from dpexplain.models.boosting.uncertainty.curvature import Curvature
from dpexplain.models.boosting.uncertainty.leaf_correlations import (
    Correlation,
    estimate_correlation,
    starts_of,
)
from dpexplain.models.boosting.uncertainty.leaf_equations import SMOOTH_SHARE
from dpexplain.models.boosting.uncertainty.other_trees import restructured
from dpexplain.models.boosting.uncertainty.recovery import recovered_curves
from dpexplain.models.boosting.uncertainty.refits.replay import replay_trees
from dpexplain.models.boosting.uncertainty.shrinkage import evidence, stretches

FloatArray = NDArray[np.float64]

_N_SIMULATIONS = 200
"""Number of simulated fits; the relative error of a standard deviation is 1 / sqrt(2 * 200) =
5%."""

_LEAST_SIMULATIONS = 80
"""Minimum number of simulated fits for several classes, for which the number is reduced to save
time; the relative error is 8%."""

N_STRUCTURES = 120
"""Number of simulated structures; the relative error is 6%."""

_SEED = 20210718  # post-processing: the same model always shows the same band


def simulate_noise(
    fit: PrivateFit,
    terms: AdditiveTerms,
    objective: Objective,
    *,
    n_structures: int = N_STRUCTURES,
) -> tuple[NoiseDraws, ...]:
    """Simulate errors due to privacy noise, random structure and sampling.

    Parameters
    ----------
    fit : PrivateFit
        The released fit.
    terms : AdditiveTerms
        Centered terms of the fit, in score units.
    objective : Objective
        The objective of the fit.
    n_structures : int, default=120
        Number of simulated structures.

    Returns
    -------
    tuple of NoiseDraws
        Errors of each score: one element or, for more than two classes, one element per class.
    """
    rng = np.random.default_rng(_SEED)
    clip = float(objective.residual_unit * fit.clips[-1])
    curvature = objective.curvature(terms, clip, fit.schedule.clip_quantile).of_part(fit.share)
    correlation = estimate_correlation(
        fit, curvature.per_score, rng, bound=objective.bound, scale=objective.scale
    )
    n_scores = objective.loss.n_scores
    n_simulations = max(_N_SIMULATIONS // n_scores, _LEAST_SIMULATIONS)
    n_simulations -= n_simulations % len(correlation.draws)
    privacy, sampling = _replayed(fit, curvature, correlation, objective, n_simulations, rng)
    # Errors shared by all classes have no effect, so errors of one class relative to the others
    # are corrected more strongly.
    apart = n_scores / (n_scores - 1) if n_scores > 1 else 1.0
    start = objective.offset + objective.scale * fit.start
    structure = [
        restructured(
            fit,
            terms if n_scores == 1 else terms.of_class(c),
            curvature.of_score(c),
            privacy[c],
            correlation,
            mixing=apart * float(curvature.mixing[c, c]),
            intercept=float(np.ravel(terms.intercept)[c]) - start,
            learning_rate=objective.step_factor * fit.schedule.learning_rate,
            n_structures=n_structures,
            rng=rng,
        )
        for c in range(n_scores)
    ]
    seen, sum_std = evidence(fit, curvature, objective.bound), float(fit.leaf_noise_std[-1])
    stretch = stretches(seen, curvature, sum_std)
    recovered = [
        recovered_curves(
            seen,
            curvature.of_score(c),
            terms if n_scores == 1 else terms.of_class(c),
            sum_std=sum_std,
            scale=objective.scale,
            of_score=c,
        )
        for c in range(n_scores)
    ]
    parts = zip(privacy, structure, sampling, stretch, recovered, strict=True)
    return tuple(NoiseDraws(*part) for part in parts)


def _replayed(
    fit: PrivateFit,
    curvature: Curvature,
    correlation: Correlation,
    objective: Objective,
    n_simulations: int,
    rng: np.random.Generator,
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Propagate leaf noise and sampling errors through the released trees."""
    counts, visits = [c.thinned(fit.share) for c in fit.binned.counts], fit.visits
    start = starts_of([len(c.counts) for c in counts])
    leaf_start = fit.steps.start
    n_scores = objective.loss.n_scores
    # The noise of the bags is independent and averages out; their trees are similar.
    noise_std = np.repeat(
        np.float32(objective.scale * fit.leaf_noise_std / np.sqrt(len(fit.bags))),
        np.diff(leaf_start),
    )
    shape = (leaf_start[-1], n_scores, n_simulations)
    noise = rng.standard_normal(shape, dtype=np.float32)
    noise *= noise_std[:, None, None]
    state = np.zeros((start[-1], n_scores, 2 * n_simulations), np.float32)
    persistent = np.zeros_like(state)
    persistent[..., n_simulations:] = _residual_errors(curvature, correlation, n_simulations, rng)
    mean_mass = curvature.mean_mass
    functions = np.zeros((start[-1], max(1, max(f.shape[1] for f in correlation.functions))))
    for k, own in enumerate(correlation.functions):
        functions[start[k] : start[k + 1], : own.shape[1]] = own
    unbound, unbound_start = _unbound(fit, objective)
    leaf_of_bin, visit_bins = visits.in_sequence
    replay_trees(
        state,
        persistent,
        noise,
        start,
        (SMOOTH_SHARE * np.concatenate(curvature.per_score)).astype(np.float32),
        np.concatenate([m / max(m.sum(), 1e-12) for m in mean_mass]).astype(np.float32),
        visits.feature,
        visit_bins,
        leaf_of_bin,
        leaf_start,
        fit.steps.gain.astype(np.float32),
        fit.steps.together,
        functions.astype(np.float32),
        correlation.start,
        np.tile(correlation.reactions(), (2, 1, 1)).astype(np.float32),
        curvature.mixing.astype(np.float32),
        correlation.own_share.astype(np.float32),
        np.array([SIGNS.get(d or "", 0) for d in fit.monotone], dtype=np.int64),
        np.concatenate([_weights_of_move(c) for c in counts]),
        unbound,
        unbound_start,
    )
    errors = state.transpose(1, 2, 0).astype(np.float64)
    if n_scores > 1:  # adding one number to the scores of all classes has no effect
        errors -= errors.mean(axis=0)
    both = [_centered(e, counts, start) for e in errors]
    privacy = [e[:n_simulations] for e in both]
    for k, feature in enumerate(counts):
        if not _fitted(visits, k):
            std = _std_of_two_halves(fit, k) * objective.scale * objective.step_factor
            for own in privacy:
                bins = (n_simulations, len(feature.counts))
                own[:, start[k] : start[k + 1]] = std * rng.standard_normal(bins)
    return privacy, [e[n_simulations:] for e in both]


def _unbound(fit: PrivateFit, objective: Objective) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return the curves of constrained features before each projection.

    The first array concatenates the curves, visit by visit. The second array contains the index at
    which the curve of each visit starts; it is not used for visits to unconstrained features.
    """
    place = np.zeros(len(fit.visits), dtype=np.int64)
    if not any(fit.monotone):
        return np.zeros(0), place
    path, parts, first = released_path(fit, objective.bound), [], 0
    for v, visit in enumerate(fit.visits):
        if visit.feature in path.unbound:
            place[v] = first
            parts.append(
                objective.scale * path.unbound[visit.feature][path.before[v, visit.feature]]
            )
            first += len(parts[-1])
    return np.concatenate(parts), place


def _weights_of_move(counts: BinCounts) -> FloatArray:
    """Return the weights of the monotone projection; 0 for special bins."""
    weights = np.maximum(counts.counts, 1.0)
    weights[len(weights) - counts.n_special :] = 0.0
    return weights


def _residual_errors(
    curvature: Curvature, correlation: Correlation, n_draws: int, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Draw residual sums per bin and score, consistent across features.

    The totals over the bins agree between features, and the components along the functions have
    the drawn correlations.
    """
    n_scores, n_functions = len(curvature.mixing), correlation.draws.shape[-1]
    between = curvature.between_scores
    common = rng.standard_normal((n_scores, n_draws))
    joint = np.linalg.cholesky(correlation.draws + (1.0 + 1e-6) * np.eye(n_functions))
    drawn = rng.standard_normal((n_scores, len(joint), n_functions, n_draws // len(joint)))
    loads = (joint @ drawn).transpose(0, 2, 1, 3).reshape(n_scores, n_functions, n_draws)
    parts = []
    for k, (mass, variance) in enumerate(
        zip(curvature.mean_mass, curvature.variance_per_score, strict=True)
    ):
        root = np.sqrt(np.maximum(mass, 0.0))
        constant = root / max(float(np.sqrt(mass.sum())), 1e-12)
        others = correlation.functions[k] / np.where(root > 0, root, 1.0)[:, None]
        basis = np.column_stack([constant, others])
        own = rng.standard_normal((n_scores, len(mass), n_draws))
        own -= basis @ (basis.T @ own)
        own += basis[:, :1] * common[:, None]
        own += basis[:, 1:] @ loads[:, correlation.start[k] : correlation.start[k + 1]]
        mixed = np.einsum("cd,dbn->bcn", between, own)
        parts.append(np.sqrt(np.maximum(variance, 0.0))[:, :, None] * mixed)
    return np.concatenate(parts).astype(np.float32)


def _centered(
    errors: FloatArray, counts: Sequence[BinCounts], start: NDArray[np.int64]
) -> FloatArray:
    """Center each term with the fit's weights, and add its mean to the intercept."""
    parts, intercept = [], np.zeros(len(errors))
    for k, feature in enumerate(counts):
        own = errors[:, start[k] : start[k + 1]]
        weights = np.where(feature.perhaps_nobody, 0.0, np.maximum(feature.counts, 0.0))
        mean = own @ weights / weights.sum() if weights.sum() > 0 else np.zeros(len(own))
        # Bins that contribute nothing keep the band that their unmodified scores would have had.
        parts.append(own - mean[:, None])
        intercept += mean
    return np.column_stack([*parts, intercept])


def _fitted(visits: Visits, feature: int) -> bool:
    return bool(((visits.feature == feature) & (visits.n_leaves > 1)).any())


def _std_of_two_halves(fit: PrivateFit, feature: int) -> float:
    """Return the noise standard deviation of a term with too few records to split.

    The released curve of the term is zero, but its true effect is not necessarily zero. Therefore,
    the term gets the noise that it would have accumulated if each of its trees had two equal
    leaves.
    """
    counts = fit.binned.counts[feature].counts
    n_records = max(float(np.maximum(counts, 0.0).sum()), 1.0)
    n_trees = fit.schedule.n_epochs
    return float(
        fit.schedule.learning_rate
        * fit.leaf_noise_std.mean()
        / (fit.share * n_records / 2.0)
        * np.sqrt(n_trees / len(fit.bags))
    )
