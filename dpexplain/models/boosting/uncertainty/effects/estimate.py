"""Gauss-Newton estimate of true curves from all released sums.

The fit is replayed over a synthetic population, which has the released counts, the estimated
correlations and assumed true curves. In this population, the expected value of every released sum
follows from the scores at its visit, so early sums are used in the same way as late ones.
Gauss-Newton steps adjust the curves and the correlations to explain all sums. The resulting
posterior accounts for the privacy noise in the sums, the sampling of records, the uncertainty of
the correlations, and everything that a short fit leaves undetermined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.counts import BinCounts
from dpexplain.binning.groups import order_of_bins
from dpexplain.models.additive.terms import AdditiveTerms
from dpexplain.models.boosting.objectives import Objective
from dpexplain.models.boosting.records.binned import LOGISTIC, POISSON, SQUARED
from dpexplain.models.boosting.released import PrivateFit
from dpexplain.models.boosting.uncertainty.curvature import clipped_variance
from dpexplain.models.boosting.uncertainty.effects._kernels_expected import per_bin
from dpexplain.models.boosting.uncertainty.effects.basis import (
    Basis,
    basis_of_term,
    projected,
)
from dpexplain.models.boosting.uncertainty.effects.counts import (
    PRIOR_MEAN,
    PRIOR_STD,
    CountTable,
    bounded,
    count_table,
)
from dpexplain.models.boosting.uncertainty.effects.dependence.doubt import unclear_dependence
from dpexplain.models.boosting.uncertainty.effects.dependence.joint import dependence_of
from dpexplain.models.boosting.uncertainty.effects.dependence.population import CURVED_DIRECTIONS
from dpexplain.models.boosting.uncertainty.effects.dependence.within_groups import (
    errors_within_groups,
)
from dpexplain.models.boosting.uncertainty.effects.jumps import (
    JumpingPosterior,
    Jumps,
    JumpSearch,
    possible_jumps,
)
from dpexplain.models.boosting.uncertainty.effects.posterior import (
    CurvedDependence,
    Information,
    covariance_of_shrinkage,
    curved_dependence,
    information,
    posterior,
)
from dpexplain.models.boosting.uncertainty.effects.trajectory import MISFIT, Trajectory

FloatArray = NDArray[np.float64]

LONGEST_STEP = 4.0
"""Largest change of a score in one step, in log-odds (or standard deviations of a residual)."""

SHRINKAGE = 1.0
"""The band includes a bias of this multiple of the shrinkage that the prior causes."""

WIDER = 0.6
"""Prior scales of correlated terms are increased by up to this fraction, because another term can
hide the missing part of a term, and the scale of the term is then underestimated."""

CURVED = 0.3
"""Some features depend on others along curves for certain if such a dependence explains at least
this proportion of a variance."""

FIRST_POINTS = 1024
"""Largest number of points in the first steps, which only have to come close."""

LARGEST_CORRELATION = 0.98
USUAL = 0.7
"""Typical size of a curve, in log-odds (or standard deviations of a residual)."""


@dataclass(frozen=True)
class Effort:
    """Computational effort of an estimate.

    Attributes
    ----------
    n_records : int
        Number of points in the population.
    n_steps : int
        Number of Gauss-Newton steps.
    most_pairs : int
        Maximum number of pairs of features whose correlations are adjusted to explain the sums.
    """

    n_records: int
    n_steps: int
    most_pairs: int


CAREFUL = Effort(n_records=4096, n_steps=5, most_pairs=60)
MANY_CLASSES = Effort(n_records=1024, n_steps=4, most_pairs=30)


@dataclass(frozen=True, eq=False)
class EffectDraws:
    """Estimate of the true curves, with draws of its errors.

    Attributes
    ----------
    curves : tuple of ndarray of shape (n_bins,), one per term
        Estimated curves in score units, with mean zero over the (noisily counted) records.
    intercept : float
        Estimated intercept, in score units.
    errors : ndarray of shape (n_draws, n_values)
        Errors of the curves and the intercept, with columns in the order of `NoiseModel`. The mean
        outer product of the rows is the posterior covariance.
    count_std : tuple of ndarray of shape (n_bins,), one per term
        Standard deviation of the noise in the counts.
    unclear : tuple of (int or None), one per term
        For each feature, the index of another one with which it may depend in another form than
        assumed (`unclear_dependence`).
    """

    curves: tuple[FloatArray, ...]
    intercept: float
    errors: FloatArray
    count_std: tuple[FloatArray, ...]
    unclear: tuple[int | None, ...]


class Estimate:
    """Computation of one effect estimate, in the score units of the boosting loop."""

    def __init__(
        self, fit: PrivateFit, terms: AdditiveTerms, objective: Objective, effort: Effort
    ) -> None:
        self._terms, self._objective, self._effort = terms, objective, effort
        self._logistic = objective.loss is LOGISTIC
        counts = fit.binned.counts
        self._trajectory = Trajectory(fit, objective.bound, logistic=self._logistic)
        self._high = objective.residual_unit if objective.loss is POISSON else None
        numeric = objective.loss is SQUARED
        self._unit = self._trajectory.spread if numeric else 1.0
        self._bases = [
            basis_of_term(b, c, len(counts)) for b, c in zip(terms.bins, counts, strict=True)
        ]
        self._sizes = [b.functions.shape[1] for b in self._bases]
        self._functions = [b.functions for b in self._bases]
        ones = np.ones(len(self._functions[0]))  # the intercept
        self._functions[0] = np.column_stack([ones, self._functions[0]])
        self._count_std = noise_in_counts(counts)
        self._released = [s / objective.scale for s in terms.scores]
        order = [order_of_bins(c, s) for c, s in zip(counts, terms.scores, strict=True)]
        self._values = [(len(c.counts) - c.n_special, c.ordered) for c in counts]
        of_bins, n_points = [b.shares for b in self._bases], effort.n_records
        self._dependence = dependence_of(
            fit.pairs, counts, order, of_bins, fit.binned.n_samples, n_points
        )
        self._population = self._dependence.population

    def result(self) -> EffectDraws:
        """Run the Gauss-Newton steps and return the estimate."""
        known_before, spread = self._dependence.correlation, self._dependence.std
        correlation = known_before.copy()
        at = self._start()
        scales = np.full(len(self._sizes), USUAL * self._unit)
        chosen = np.zeros(0, dtype=np.intp)
        dispersion = np.full(int(self._high is not None), PRIOR_MEAN)
        prior = np.full(len(dispersion), PRIOR_MEAN), np.full(len(dispersion), PRIOR_STD)
        self._population.draw(correlation, self._n_points(0))
        for step in range(self._effort.n_steps):
            curves = self._curves(at)
            truth = at[0] + curves[self._population.cells].sum(axis=1)
            together = self._dependence.together(correlation)
            errors = together + self._dependence.doubt / MISFIT**2
            table = None if self._high is None else count_table(self._high, dispersion[0])
            last = step + 1 == self._effort.n_steps
            precision, pull, own = self._trajectory.known(
                self._population,
                truth,
                self._functions,
                self._derivatives(chosen, curved=last),  # large, so only `known` refers to it
                curves,
                errors,
                table,
            )
            here = np.concatenate([at, correlation[chosen], dispersion])
            n = len(here)  # the other columns are those of curved dependence, which starts at 0
            fisher = self._fisher(truth, table)
            known = information(precision, pull + precision[:, :n] @ here, fisher)
            given = (
                self._sizes,
                np.concatenate([known_before[chosen], prior[0]]),
                np.concatenate([spread[chosen], prior[1]]),
                scales,
                USUAL * self._unit,
                1.0 + WIDER * np.minimum(together.sum(axis=1), 1.0),
            )
            if last:
                search = JumpSearch(
                    Information(known.precision[:n, :n], known.pull[:n]), self._jumps(), *given
                )
                jumping = search.result()
                after = jumping.after
                found = curved_dependence(known, search.after, search.turn, CURVED_DIRECTIONS)
                pulls = information(precision, self._hidden_pulls(curves, own), fisher).pull[:n]
                hidden = jumping.after.covariance @ pulls
            else:
                after = posterior(known, *given)
            scales = after.scales
            move = after.mean[: len(at)] - at
            moved = move[0] + self._curves(move)[self._population.cells].sum(axis=1)
            longest = float(np.abs(moved).max())
            at = at + min(1.0, LONGEST_STEP * self._unit / max(longest, 1e-12)) * move
            correlation[chosen] = after.mean[len(at) : len(here) - len(dispersion)]
            dispersion = np.array([bounded(d) for d in after.mean[len(here) - len(dispersion) :]])
            np.clip(correlation, -LARGEST_CORRELATION, LARGEST_CORRELATION, out=correlation)
            if not last:
                self._population.draw(correlation, self._n_points(step + 1))
                chosen = pairs_that_matter(self._spreads(at), spread, self._effort.most_pairs)
        return self._summary(at, jumping, hidden[: len(at)], chosen, found)

    def _n_points(self, step: int) -> int:
        """Return the number of points in a step: few, until it is one of the last two."""
        n = self._effort.n_records
        return n if step + 2 >= self._effort.n_steps else min(n, FIRST_POINTS)

    def _hidden_pulls(self, curves: FloatArray, own: Sequence[FloatArray]) -> FloatArray:
        """Return how errors within the groups of tables would pull, one column per error.

        The sums of one feature contain such an error as if its own curve were different.
        """
        errors = errors_within_groups(self._population, curves, self._dependence.within)
        columns = [np.zeros((len(own[0]), 0))]
        for k, error in errors:
            change = projected(self._bases[k], error)
            first = own[k].shape[1] - len(change)  # after the intercept, if there is one
            columns.append(own[k][:, first:] @ change[:, None])
        return np.concatenate(columns, axis=1)

    def _derivatives(
        self, chosen: NDArray[np.intp], *, curved: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Return derivatives of each point's log density."""
        population = self._population
        tested = chosen if curved else chosen[:0]
        return population.score_functions(chosen), population.curved_functions(tested)

    def _jumps(self) -> list[Jumps]:
        """Return the possible jumps of all terms."""
        ends = 1 + np.cumsum(self._sizes)
        return [
            possible_jumps(
                basis,
                n_values,
                ordered=ordered,
                block=slice(end - size, end),
                std=USUAL * self._unit,
            )
            for basis, (n_values, ordered), size, end in zip(
                self._bases, self._values, self._sizes, ends, strict=True
            )
        ]

    def _start(self) -> FloatArray:
        """Return initial coefficients, whose curves are close to the released curves."""
        parts = [np.array([(float(self._terms.intercept) - self._objective.offset)])]
        parts[0] /= self._objective.scale
        for basis, curve in zip(self._bases, self._released, strict=True):
            parts.append(projected(basis, curve))
        return np.concatenate(parts)

    def _fisher(self, truth: FloatArray, table: CountTable | None) -> FloatArray:
        """Return the Fisher information in the records, before noise is added."""
        each = self._trajectory.n_samples / len(truth)
        if self._logistic:
            chance = 1.0 / (1.0 + np.exp(-truth))
            weights = each * chance * (1.0 - chance)
        elif table is not None:
            clip = self._trajectory.clip * table.high
            sensitivity, variance = table.scatter(clip)
            per_rate = sensitivity**2 / np.maximum(variance, 1e-12)
            weights = each * np.interp(truth + np.log(table.high), table.log_rates, per_rate)
        else:
            inside = self._trajectory.inside
            scatter = self._trajectory.clip**2 * clipped_variance(inside)
            weights = np.full(len(truth), each * inside**2 / scatter)
        cells, weights, none = self._population.cells, weights[:, None], np.empty((len(truth), 0))
        rows = [
            own.T @ per_bin(k, cells, self._functions, weights, weights, none)[0][0]
            for k, own in enumerate(self._functions)
        ]
        return np.concatenate(rows)

    def _curves(self, at: FloatArray) -> FloatArray:
        """Return the curves of all terms, bin by bin."""
        curves = zip(self._bases, self._of_terms(at), strict=True)
        return np.concatenate([basis.functions @ own for basis, own in curves])

    def _spreads(self, at: FloatArray) -> FloatArray:
        """Return the standard deviation of each curve over the records."""
        curves = zip(self._bases, self._of_terms(at), strict=True)
        return np.array([np.sqrt(b.shares @ (b.functions @ own) ** 2) for b, own in curves])

    def _of_terms(self, at: FloatArray) -> list[FloatArray]:
        return np.split(at[1 : 1 + sum(self._sizes)], np.cumsum(self._sizes)[:-1])

    def _summary(
        self,
        at: FloatArray,
        jumping: JumpingPosterior,
        hidden: FloatArray,
        chosen: NDArray[np.intp],
        dependence: CurvedDependence,
    ) -> EffectDraws:
        """Compute the curves and their errors per bin."""
        after = jumping.after
        scale, d = self._objective.scale, len(at)
        covariance = after.covariance[:d, :d]
        # Where the prior smooths or shrinks a curve, the error may be as large as the shrinkage.
        off = SHRINKAGE * after.shrinkage[:d]
        owner = np.repeat(np.arange(1 + len(self._sizes)), [1, *self._sizes])
        covariance = covariance + covariance_of_shrinkage(off, owner, self._population.matrix)
        covariance = covariance + hidden @ hidden.T
        if self._high is not None:
            # Counts may have another tail than assumed, so the clip may take away nothing.
            per_dispersion = after.covariance[:d, -1] / after.covariance[-1, -1]
            tail = per_dispersion * bounded(after.mean[-1])
            covariance = covariance + np.outer(tail, tail)
        root = np.linalg.cholesky(covariance + 1e-12 * np.trace(covariance) / d * np.eye(d)).T
        root = np.concatenate([root, jumping.moves[:, :d]])
        left = np.concatenate(
            [
                scale * s * np.sqrt(b.left_out)
                for s, b in zip(after.scales, self._bases, strict=True)
            ]
        )
        alone = np.flatnonzero(left > 0.0)
        # One row per independent error: large, so errors are computed in place.
        rows = np.zeros((len(root) + len(alone), len(left) + 1))
        rows[: len(root), -1] = scale * root[:, 0]
        rows[len(root) + np.arange(len(alone)), alone] = left[alone]
        curves, first, start = [], 1, 0
        for k, (basis, own) in enumerate(zip(self._bases, self._of_terms(at), strict=True)):
            # The released terms are centered with these weights, too.
            weights = centering_weights(basis, self._terms.counts[k])
            functions = basis.functions - weights @ basis.functions
            jump, moves = jumping.left[k], jumping.left_moves[k]
            curves.append(scale * (functions @ own + jump - weights @ jump))
            block, error = root[:, first : first + len(own)], rows[:, start : start + len(weights)]
            error[: len(root)] += scale * (block @ functions.T)
            error[d : len(root)] += scale * (moves - (moves @ weights)[:, None])
            rows[: len(root), -1] += scale * (block @ (weights @ basis.functions))
            first, start = first + len(own), start + len(weights)
        rows *= np.sqrt(len(rows))
        intercept = self._objective.offset + scale * at[0]
        stds = std_of_terms(rows, curves)
        unclear = unclear_dependence(
            self._moved(chosen, dependence, stds),
            self._dependence.strengths(self._population.matrix),
            largest_ratios(curves, stds, [basis.shares for basis in self._bases]),
        )
        return EffectDraws(tuple(curves), float(intercept), rows, self._count_std, unclear)

    def _moved(
        self, chosen: NDArray[np.intp], dependence: CurvedDependence, stds: Sequence[FloatArray]
    ) -> FloatArray:
        """Return how far curved dependence, as strong as estimated, would move each curve.

        The element in row i and column k is the largest change of curve i in a bin, relative to its
        standard deviation, if features i and k depend on each other along a curve. It is at least 1
        if they do for certain, because the widened band then covers only a part of what is wrong.
        """
        certain = dependence.least.sum(axis=1) > CURVED
        n = len(self._sizes)
        moved, starts = np.zeros((n, n)), 1 + np.cumsum([0, *self._sizes])
        pairs = np.stack(np.triu_indices(n, 1), axis=1)[chosen]
        for k, (basis, std) in enumerate(zip(self._bases, stds, strict=True)):
            there = (basis.shares > 0.0) & (std > 0.0)
            functions = (basis.functions - basis.shares @ basis.functions)[there]
            for place in np.flatnonzero((pairs == k).any(axis=1)):
                change = functions @ dependence.moves[starts[k] : starts[k + 1], place]
                largest = (np.abs(change) / std[there, None]).max(initial=0.0)
                other = pairs[place].sum() - k
                moved[k, other] = max(self._objective.scale * largest, certain[place])
        return moved


def noise_in_counts(counts: Sequence[BinCounts]) -> tuple[FloatArray, ...]:
    """Return the standard deviation of the noise in the counts of each feature."""
    return tuple(np.sqrt(each.variance) for each in counts)


def std_of_terms(errors: FloatArray, curves: Sequence[FloatArray]) -> list[FloatArray]:
    """Return the standard deviation of each curve per bin, from draws of errors."""
    std = np.sqrt((errors[:, :-1] ** 2).mean(axis=0))
    return np.split(std, np.cumsum([len(curve) for curve in curves])[:-1])


def largest_ratios(
    curves: Sequence[FloatArray], stds: Sequence[FloatArray], shares: Sequence[FloatArray]
) -> FloatArray:
    """Return the largest ratio of each curve to its standard deviation."""
    parts = zip(curves, stds, shares, strict=True)
    ratios = [np.abs(c) / np.where((s > 0.0) & (w > 0.0), s, np.inf) for c, s, w in parts]
    return np.array([ratio.max() for ratio in ratios])


def centering_weights(basis: Basis, counts: FloatArray) -> FloatArray:
    """Return the bin weights used to center the released terms."""
    seen = np.where(basis.shares > 0.0, np.maximum(counts, 0.0), 0.0)
    return seen / seen.sum() if seen.sum() > 0.0 else basis.shares


def pairs_that_matter(sizes: FloatArray, std: FloatArray, most: int) -> NDArray[np.intp]:
    """Return the pairs whose uncertain correlations affect the sums the most.

    Parameters
    ----------
    sizes : ndarray of shape (n_features,)
        Standard deviation of each curve.
    std : ndarray of shape (n_pairs,)
        Standard deviation of the correlation of each pair.
    most : int
        Number of pairs to choose.

    Returns
    -------
    ndarray of shape (n_chosen,)
    """
    first, second = np.triu_indices(len(sizes), 1)
    weight = std * np.maximum(sizes[first], sizes[second])
    return np.sort(np.argsort(-weight, kind="stable")[:most])
