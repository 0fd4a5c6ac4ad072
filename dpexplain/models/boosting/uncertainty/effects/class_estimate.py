"""Gauss-Newton estimate of the true curves of several classes.

The method is that of `estimate.py`. Scores of classes matter only relative to their mean, so the
curves are described by one fewer contrast than there are classes. All contrasts of a term share one
prior scale.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.groups import order_of_bins
from dpexplain.models.additive.terms import AdditiveTerms
from dpexplain.models.boosting.objectives import Objective
from dpexplain.models.boosting.released import PrivateFit
from dpexplain.models.boosting.uncertainty.effects.basis import (
    basis_of_term,
    projected,
    values_at,
)
from dpexplain.models.boosting.uncertainty.effects.class_trajectory import ClassTrajectory
from dpexplain.models.boosting.uncertainty.effects.dependence.doubt import unclear_dependence
from dpexplain.models.boosting.uncertainty.effects.dependence.joint import dependence_of
from dpexplain.models.boosting.uncertainty.effects.estimate import (
    LARGEST_CORRELATION,
    LONGEST_STEP,
    SHRINKAGE,
    USUAL,
    WIDER,
    EffectDraws,
    Effort,
    centering_weights,
    largest_ratios,
    noise_in_counts,
    pairs_that_matter,
    std_of_terms,
)
from dpexplain.models.boosting.uncertainty.effects.posterior import (
    Posterior,
    covariance_of_shrinkage,
    information,
    posterior,
)
from dpexplain.models.boosting.uncertainty.effects.trajectory import MISFIT

FloatArray = NDArray[np.float64]

MOST_COEFFICIENTS = 900
"""Largest number of coefficients; with more, an estimate would take minutes."""


class ClassEstimate:
    """Computation of the effect estimates for all classes."""

    def __init__(
        self, fit: PrivateFit, terms: AdditiveTerms, objective: Objective, effort: Effort
    ) -> None:
        self._terms, self._effort = terms, effort
        counts = fit.binned.counts
        self._contrasts = contrasts(objective.loss.n_scores)
        n_contrasts = self._contrasts.shape[1]
        self._bases = [
            basis_of_term(b, c, n_contrasts * len(counts))
            for b, c in zip(terms.bins, counts, strict=True)
        ]
        self._sizes = np.array([b.functions.shape[1] for b in self._bases])
        self._places = _places(self._sizes, n_contrasts)
        self.n_coefficients = n_contrasts * (1 + int(self._sizes.sum()))
        self._trajectory = ClassTrajectory(fit, objective.bound)
        first = [s[:, 0] for s in terms.scores]
        order = [order_of_bins(c, s) for c, s in zip(counts, first, strict=True)]
        of_bins, n_points = [b.shares for b in self._bases], effort.n_records
        self._dependence = dependence_of(
            fit.pairs, counts, order, of_bins, fit.binned.n_samples, n_points
        )
        self._population = self._dependence.population
        self._count_std = noise_in_counts(counts)

    def result(self) -> tuple[EffectDraws, ...]:
        """Run the Gauss-Newton steps and return one estimate for each class."""
        known_before, spread = self._dependence.correlation, self._dependence.std
        correlation = known_before.copy()
        at = self._start()
        n_contrasts = len(self._places)
        scales = np.full(len(self._sizes), USUAL)
        chosen = np.zeros(0, dtype=np.intp)
        for step in range(self._effort.n_steps):
            columns = values_at(self._bases, self._population.bins)
            chance = self._chance(columns, at)
            together = self._dependence.together(correlation)
            precision, pull = self._trajectory.known_of_classes(
                self._population,
                chance,
                self._contrasts,
                columns,
                self._places,
                self._population.score_functions(chosen),
                np.concatenate(self._curves(at)),
                together + (self._dependence.doubt + self._dependence.within) / MISFIT**2,
            )
            here = np.concatenate([at, correlation[chosen]])
            known = information(precision, pull + precision @ here, self._fisher(columns, chance))
            after = posterior(
                known,
                [n_contrasts * int(size) for size in self._sizes],
                known_before[chosen],
                spread[chosen],
                scales,
                USUAL,
                1.0 + WIDER * np.minimum(together.sum(axis=1), 1.0),
                n_contrasts,
            )
            scales = after.scales
            move = after.mean[: len(at)] - at
            longest = float(np.abs(self._scores(columns, move)).max())
            del columns  # large, and computed anew
            at = at + min(1.0, LONGEST_STEP / max(longest, 1e-12)) * move
            correlation[chosen] = after.mean[len(at) :]
            np.clip(correlation, -LARGEST_CORRELATION, LARGEST_CORRELATION, out=correlation)
            if step + 1 < self._effort.n_steps:
                self._population.draw(correlation)
                sizes = np.array(
                    [
                        np.sqrt((b.shares @ curve**2).max())
                        for b, curve in zip(self._bases, self._curves(at), strict=True)
                    ]
                )
                chosen = pairs_that_matter(sizes, spread, self._effort.most_pairs)
        return self._summary(at, after)

    def _start(self) -> FloatArray:
        """Return initial coefficients, whose curves are close to the released curves."""
        inverse = np.linalg.pinv(self._contrasts)
        at = np.zeros(self.n_coefficients)
        intercepts = inverse @ np.asarray(self._terms.intercept)
        for j, place in enumerate(self._places):
            curves = [
                projected(basis, scores @ inverse[j])
                for basis, scores in zip(self._bases, self._terms.scores, strict=True)
            ]
            at[place] = np.concatenate([[intercepts[j]], *curves])
        return at

    def _scores(self, columns: FloatArray, at: FloatArray) -> FloatArray:
        """Return the score of each point for each class."""
        return np.stack([columns @ at[p] for p in self._places], axis=1) @ self._contrasts.T

    def _chance(self, columns: FloatArray, at: FloatArray) -> FloatArray:
        scores = self._scores(columns, at)
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def _curves(self, at: FloatArray) -> list[FloatArray]:
        """Return the curve of each term, shape (n_bins, n_classes)."""
        ends = np.cumsum(self._sizes)[:-1]
        parts = [np.split(at[place[1:]], ends) for place in self._places]
        return [
            np.stack([basis.functions @ own[k] for own in parts], axis=1) @ self._contrasts.T
            for k, basis in enumerate(self._bases)
        ]

    def _fisher(self, columns: FloatArray, chance: FloatArray) -> FloatArray:
        """Return the Fisher information in the records, before noise is added."""
        each = self._trajectory.n_samples / len(columns)
        mean = chance @ self._contrasts
        fisher = np.zeros((self.n_coefficients, self.n_coefficients))
        for i, first in enumerate(self._places):
            for j, second in enumerate(self._places):
                both = self._contrasts[:, i] * self._contrasts[:, j]
                weights = each * (chance @ both - mean[:, i] * mean[:, j])
                fisher[np.ix_(first, second)] = (columns * weights[:, None]).T @ columns
        return fisher

    def _summary(self, at: FloatArray, after: Posterior) -> tuple[EffectDraws, ...]:
        """Compute the curves and their errors per bin, class by class."""
        d = len(at)
        off = SHRINKAGE * after.shrinkage[:d]
        owner = np.zeros(d, dtype=np.intp)
        of_contrast = np.repeat(np.arange(1 + len(self._sizes)), [1, *self._sizes])
        for place in self._places:
            owner[place] = of_contrast
        more = covariance_of_shrinkage(off, owner, self._population.matrix)
        covariance = after.covariance[:d, :d] + more
        root = np.linalg.cholesky(covariance + 1e-12 * np.trace(covariance) / d * np.eye(d)).T
        curves, released = self._curves(at), zip(self._bases, self._terms.counts, strict=True)
        weights = [centering_weights(basis, counts) for basis, counts in released]
        centered = [curve - w @ curve for w, curve in zip(weights, curves, strict=True)]
        intercepts = self._contrasts @ np.array([at[p[0]] for p in self._places])
        left = [
            scale * np.sqrt(basis.left_out)
            for scale, basis in zip(after.scales, self._bases, strict=True)
        ]
        alone = np.diag(np.concatenate([*left, [0.0]]))
        alone = alone[np.diag(alone) > 0.0]
        ends = 1 + np.concatenate([[0], np.cumsum(self._sizes)])
        found = []
        for c, loads in enumerate(self._contrasts):
            of_class = np.sum([x * root[:, p] for x, p in zip(loads, self._places, strict=True)], 0)
            errors, intercept_errors = [], of_class[:, 0].copy()
            for k, (basis, own) in enumerate(zip(self._bases, weights, strict=True)):
                block, mean = of_class[:, ends[k] : ends[k + 1]], own @ basis.functions
                errors.append(block @ (basis.functions - mean).T)
                intercept_errors += block @ mean
            rows = np.concatenate([np.column_stack([*errors, intercept_errors]), alone])
            rows *= np.sqrt(len(rows))
            of_terms = [curve[:, c] for curve in centered]
            shifts = [w @ e[:, c] for w, e in zip(weights, curves, strict=True)]
            largest = largest_ratios(
                of_terms, std_of_terms(rows, of_terms), [b.shares for b in self._bases]
            )
            unclear = unclear_dependence(
                np.zeros_like(self._population.matrix),
                self._dependence.strengths(self._population.matrix),
                largest,
            )
            intercept = float(intercepts[c] + sum(shifts))
            found.append(EffectDraws(tuple(of_terms), intercept, rows, self._count_std, unclear))
        return tuple(found)


def contrasts(n_classes: int) -> FloatArray:
    """Return orthogonal contrasts between classes, shape (n_classes, n_classes - 1).

    If the coefficients of the contrasts are independent with variance 1, the score of each class
    relative to the mean of all classes has variance 1, too.

    Parameters
    ----------
    n_classes : int

    Returns
    -------
    ndarray
    """
    centering = np.eye(n_classes) - 1.0 / n_classes
    vectors = np.linalg.svd(centering)[0][:, : n_classes - 1]
    return np.asarray(vectors * np.sqrt(n_classes / (n_classes - 1)))


def _places(sizes: NDArray[np.intp], n_contrasts: int) -> list[NDArray[np.intp]]:
    """Return the coefficient indices of each contrast: intercept first, then terms.

    The coefficient vector starts with the intercepts of all contrasts, followed by each term's
    coefficients.
    """
    parts: list[list[NDArray[np.intp]]] = [[np.array([j])] for j in range(n_contrasts)]
    first = n_contrasts
    for size in sizes:
        for own in parts:
            own.append(np.arange(first, first + size))
            first += size
    return [np.concatenate(own) for own in parts]
