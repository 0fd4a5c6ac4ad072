"""Calibration of the probabilities of several classes.

All scores are multiplied by one number, so differences between classes keep their meaning, and the
score of each class is shifted. As for two classes, one release of a few sums over the records shows
by how much (`ClassSums`): the residuals of each class, the residuals in the direction of the
scores, and the number of records in groups by their most probable class and the size of their
scores. The numbers are the most probable ones given these sums and a prior that is centered on no
change; see `line.py`.

What the sums would be for other scales and shifts is computed in a population that is drawn from
the released counts of each feature, and in which each group has the released share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import helmert

from dpexplain._utils.blas import one_blas_thread
from dpexplain.binning.counts import BinCounts
from dpexplain.binning.groups import shares
from dpexplain.mechanisms import Mechanism
from dpexplain.models.additive.term_noise import NoiseDraws
from dpexplain.models.additive.terms import AdditiveTerms
from dpexplain.models.boosting.budget import Budget
from dpexplain.models.boosting.calibration.line import (
    LONGEST_STEP,
    N_STEPS,
    PRIOR_FREEDOM,
    Line,
    line_phase,
)
from dpexplain.models.boosting.calibration.responses import CLASSES
from dpexplain.models.boosting.calibration.scores import regrouped
from dpexplain.models.boosting.records._kernels_sums import LATTICE
from dpexplain.models.boosting.records.binned import BinnedRecords
from dpexplain.models.boosting.records.class_sums import GROUP_WEIGHT, LARGEST, ClassSums

FloatArray = NDArray[np.float64]

N_DRAWN, N_WIDER = 8192, 1024
"""Number of records that are drawn from the released counts, and of those that are drawn again."""

_WIDER, _WIDER_SHARE = 2.0, 0.02
"""The latter are this much farther from the mean, and have this share, so that few groups are
empty: correlated features spread scores more than independent ones."""

_LEAST_SPREAD = 1e-6
_LEAST_CURVATURE = 1e-9
_SHORTEST_STEP = 1e-9
_SEED = 20210718  # post-processing: the same model is always calibrated in the same way


@dataclass(frozen=True, eq=False)
class ClassLine:
    """Line that calibrates the scores of classes: ``scale * score + shift``.

    Attributes
    ----------
    scale : float
        Positive, and the same for all classes.
    shift, center : ndarray of shape (n_classes,)
        For each class. They add up to 0. Errors in the scale have no effect at the center.
    noise : ndarray of shape (n_classes + 1, n_classes + 1)
        Covariance of the errors in the shifts at the center and in the logarithm of the scale, due
        to the noise in the release.
    """

    scale: float
    shift: FloatArray
    center: FloatArray
    noise: FloatArray

    @property
    def log_scale_std(self) -> float:
        """Standard deviation of the privacy noise in the logarithm of the scale."""
        return float(np.sqrt(self.noise[-1, -1]))

    def of_class(self, c: int) -> Line:
        """Return the line of one class."""
        own = np.ix_([c, -1], [c, -1])
        return Line(self.scale, float(self.shift[c]), float(self.center[c]), self.noise[own])

    def of_noise(self, draws: Sequence[NoiseDraws], terms: AdditiveTerms) -> tuple[NoiseDraws, ...]:
        """Return the errors in the calibrated terms; see `Line.of_noise`."""
        return tuple(
            own
            for c, each in enumerate(draws)
            for own in self.of_class(c).of_noise([each], terms.of_class(c))
        )


@dataclass(frozen=True, eq=False)
class Population:
    """Drawn records: scores relative to their mean over the classes, and shares.

    Attributes
    ----------
    scores : ndarray of shape (n_classes, n_drawn)
    weights : ndarray of shape (n_drawn,)
        Share of the records of the fit for which each drawn record stands.
    """

    scores: FloatArray
    weights: FloatArray


def population(counts: Sequence[BinCounts], curves: Sequence[FloatArray]) -> Population:
    """Draw records from the released counts, assuming independent features.

    Parameters
    ----------
    counts : sequence of BinCounts
        Noisy number of records in each bin of each feature.
    curves : sequence of ndarray of shape (n_bins, n_classes)
        Released curves, whose sums are the scores.

    Returns
    -------
    Population
    """
    rng = np.random.default_rng(_SEED)
    scores = np.zeros((curves[0].shape[1], N_DRAWN))
    for own, curve in zip(counts, curves, strict=True):
        ends = np.cumsum(shares(own))
        places = (np.arange(N_DRAWN) + rng.random(N_DRAWN)) / N_DRAWN  # stratified
        bins = np.minimum(np.searchsorted(ends, places), len(ends) - 1)
        scores += (curve - curve.mean(axis=1, keepdims=True)).T[:, rng.permutation(bins)]
    mean = scores.mean(axis=1, keepdims=True)
    wider = mean + _WIDER * (scores[:, :N_WIDER] - mean)
    parts = [(1.0 - _WIDER_SHARE) / N_DRAWN, _WIDER_SHARE / N_WIDER]
    weights = np.repeat(parts, [N_DRAWN, N_WIDER])
    return Population(np.concatenate([scores, wider], axis=1), weights)


def class_sums(people: Population) -> ClassSums:
    """Choose center and spread so that shifts and scale are estimated independently.

    Parameters
    ----------
    people : Population

    Returns
    -------
    ClassSums
    """
    p = _softmax(people.scores)
    curvature = _between(people.weights, p)
    moved = _reaction(p, people.scores) @ people.weights
    found = np.linalg.lstsq(curvature, moved, rcond=1e-9)[0]
    center = np.asarray(found - found.mean(), dtype=np.float64)
    away = people.scores - center[:, None]
    size = float((away * _reaction(p, away)).sum(axis=0) @ people.weights)
    of_one = float(np.trace(curvature)) / (len(center) - 1)
    # If all probabilities are 0 or 1, rounding can make the size negative.
    spread = np.sqrt(max(size, 0.0) / max(of_one, _LEAST_CURVATURE))
    return ClassSums(center, max(float(spread), _LEAST_SPREAD))


def release_class_line(
    records: BinnedRecords,
    counts: Sequence[BinCounts],
    curves: Sequence[FloatArray],
    n_samples: float,
    budget: Budget,
    mechanism: Mechanism,
    *,
    parameters: Callable[[float], float],
) -> ClassLine | None:
    """Release the sums and compute the scale and the shifts.

    Parameters
    ----------
    records : BinnedRecords
        Records whose scores are the sums of the curves.
    counts : sequence of BinCounts
        Noisy number of records in each bin of each feature.
    curves : sequence of ndarray of shape (n_bins, n_classes)
        Released curves.
    n_samples : float
        Noisy number of records.
    budget : Budget
    mechanism : Mechanism
        Mechanism that adds the noise.
    parameters : callable
        Function of the mean change in a record's residual per unit of its score that returns how
        many free parameters would follow sampling noise as closely as the fit; see
        `fitted_parameters`.

    Returns
    -------
    ClassLine or None
        None if there is no budget for it.
    """
    if not budget.line_share:
        return None
    with one_blas_thread():  # however many there are, the model is the same
        people = population(counts, curves)
        each = class_sums(people)
        phase = line_phase(budget, each.n_sums)
        with mechanism.phase(phase):
            sums = mechanism.release(records.class_sums(each))
        per_step = LARGEST / LATTICE
        found = np.asarray(sums * per_step, dtype=np.float64)
        residuals, groups = np.split(found, [len(each.center) + 1])
        std = phase.sigma_int * per_step
        p, z, _ = each.parts(people.scores)
        of_groups = groups / GROUP_WEIGHT, n_samples, std / GROUP_WEIGHT
        weights = regrouped(people.weights, each.groups(p, z), *of_groups)
        people = replace(people, weights=weights)
        line = fitted_class_line(people, each, residuals, n_samples, std)
        if line is not None:
            residuals = residuals - class_overfitting(people, each, line, parameters)
            line = fitted_class_line(people, each, residuals, n_samples, std)
        return line


def class_overfitting(
    people: Population, each: ClassSums, line: ClassLine, parameters: Callable[[float], float]
) -> FloatArray:
    """Return how far the sums of residuals are above those of as many new people.

    This is the covariance of a record's outcome with the vector by which it is multiplied, summed
    over records, as in `overfitting`. The curves follow the sampling noise in each direction of the
    scores (eigenvectors of the mean curvature) as if there were one score with this curvature.

    Parameters
    ----------
    people : Population
    each : ClassSums
    line : ClassLine
        Line that calibrates the scores of the fit's own records.
    parameters : callable
        As in `release_class_line`.

    Returns
    -------
    ndarray of shape (n_classes + 1,)
    """
    p, z, weight = each.parts(people.scores)
    after = _softmax(line.scale * people.scores + line.shift[:, None])
    curvatures, directions = np.linalg.eigh(_between(people.weights, p))
    curvatures = np.maximum(curvatures[1:], _LEAST_CURVATURE)  # the first belongs to no change
    follows = [0.0, *(parameters(float(c)) / c for c in curvatures)]
    moved = (directions * follows) @ directions.T  # scores by outcomes, times the number of records
    scatter = people.weights * _reaction(after, moved @ _weight_by_scores(each, p, z))
    trace = np.trace(moved @ _between(people.weights * weight, after))
    return np.append(scatter.sum(axis=1), (scatter * z).sum() + trace / each.spread)


def _weight_by_scores(each: ClassSums, p: FloatArray, z: FloatArray) -> FloatArray:
    """Return the slope of each weight by the scores, shape (n_classes, n)."""
    columns, from_mean = np.arange(p.shape[1]), z - (p * z).sum(axis=0)
    norms = 1.0 - 2.0 * p + (p**2).sum(axis=0) + from_mean**2
    most = norms.argmax(axis=0)  # the class with the largest norm decides
    residual = (np.arange(len(p))[:, None] == most) - p
    by_shift = _reaction(p, p) - p[most, columns] * residual
    by_size = residual / each.spread - _reaction(p, z)
    slope = 2.0 * (by_shift + from_mean[most, columns] * by_size)
    return np.asarray(-0.5 * slope * norms[most, columns] ** -1.5)


def fitted_class_line(
    people: Population, each: ClassSums, sums: FloatArray, n_samples: float, noise_std: float
) -> ClassLine | None:
    """Return the most probable scale and shifts, given the noisy sums of residuals.

    Parameters
    ----------
    people : Population
    each : ClassSums
    sums : ndarray of shape (n_classes + 1,)
        Noisy sums of the residuals of each class, and in the direction of the scores.
    n_samples : float
        Noisy number of records.
    noise_std : float
        Standard deviation of the noise in a sum.

    Returns
    -------
    ClassLine or None
        None if the sums are so far off that the most probable line is not finite.
    """
    n_classes, center = len(each.center), each.center[:, None]
    _, z, weight = each.parts(people.scores)
    away = people.scores - center
    moves = max(n_samples, 1.0) * people.weights * weight
    contrasts = helmert(n_classes).T  # orthonormal columns that add up to 0
    seen = np.zeros((n_classes + 1, n_classes))
    seen[:-1, :-1], seen[-1, -1] = contrasts, 1.0
    of_shift, of_scale = CLASSES.prior_std
    width = np.append(np.full(n_classes, of_shift), of_scale)
    before = _softmax(people.scores)
    variance = _derivative(moves * weight, before, z, z)
    precision = np.linalg.inv(seen.T @ variance @ seen + noise_std**2 * np.eye(n_classes))
    at = np.zeros(n_classes)
    for _ in range(N_STEPS):
        now, scale = seen @ at, np.exp(at[-1])
        p = _softmax(center + now[:-1, None] + scale * away)
        jacobian = seen.T @ _derivative(moves, p, z, scale * away) @ seen
        prior = (PRIOR_FREEDOM + 1.0) / (PRIOR_FREEDOM * width**2 + now**2)
        hessian = jacobian.T @ precision @ jacobian + (seen.T * prior) @ seen
        moved = (p - before) * moves
        left = sums - np.append(moved.sum(axis=1), (moved * z).sum())
        downhill = jacobian.T @ precision @ (seen.T @ left) - seen.T @ (prior * now)
        step = np.clip(np.linalg.solve(hessian, downhill), -LONGEST_STEP, LONGEST_STEP)
        at = at + step
        if not np.abs(step).max() > _SHORTEST_STEP:
            break
    if not np.isfinite(at).all():
        return None
    gain = seen @ np.linalg.solve(hessian, jacobian.T @ precision) * noise_std
    scale = float(np.exp(at[-1]))
    shift = each.center + contrasts @ at[:-1] - scale * each.center
    return ClassLine(scale, shift, each.center, np.asarray(gain @ gain.T))


def _softmax(scores: FloatArray) -> FloatArray:
    odds = np.exp(scores - scores.max(axis=0))
    return np.asarray(odds / odds.sum(axis=0))


def _reaction(p: FloatArray, change: FloatArray) -> FloatArray:
    """Return the change in probabilities if scores change, shape (n_classes, n)."""
    return np.asarray(p * (change - (p * change).sum(axis=0)))


def _between(weights: FloatArray, p: FloatArray) -> FloatArray:
    """Return the weighted sum of all records' derivatives of probabilities by scores."""
    return np.asarray(np.diag(p @ weights) - (p * weights) @ p.T)


def _derivative(weights: FloatArray, p: FloatArray, z: FloatArray, along: FloatArray) -> FloatArray:
    """Return the derivatives of all sums by the shifts and along the scores."""
    found = np.empty((len(p) + 1,) * 2)
    by_scale = weights * _reaction(p, along)
    found[:-1, :-1] = _between(weights, p)
    found[:-1, -1] = by_scale.sum(axis=1)
    found[-1, :-1] = _reaction(p, z) @ weights
    found[-1, -1] = (by_scale * z).sum()
    return found
