"""Private selection of feature pairs, using contrasts of their coarse grids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.blas import one_blas_thread
from dpexplain.binning.counts import BinCounts
from dpexplain.binning.groups import shares
from dpexplain.mechanisms import Mechanism
from dpexplain.models.additive.terms import AdditiveTerms
from dpexplain.models.boosting.budget import Budget
from dpexplain.models.boosting.objectives import Objective
from dpexplain.models.boosting.pair_terms.contrasts import UNIT, contrasts, counts_of_cells
from dpexplain.models.boosting.pair_terms.evidence import log_p_value
from dpexplain.models.boosting.pair_terms.fitting import GridBudget
from dpexplain.models.boosting.pair_terms.grids import Grid, curvature_of_cells, sides_of
from dpexplain.models.boosting.pair_terms.looks import (
    COUNT_WEIGHT,
    Look,
    exact_contrasts,
    of_one_record,
)
from dpexplain.models.boosting.pair_terms.plan import PairPlan
from dpexplain.models.boosting.pair_terms.worth import Contrasts, fall_of_pair
from dpexplain.models.boosting.recipe import Schedule
from dpexplain.models.boosting.records.binned import SQUARED, BinnedRecords
from dpexplain.models.boosting.uncertainty.curvature import INSIDE_CLIP

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

N_GROUPS = 5
"""Maximum number of groups per feature; this is enough to show an interaction."""

LEVEL = 0.03
"""Probability of choosing any pair if no pair has an effect beyond the curves."""

_GRID_GAIN = 0.1
"""Signal-to-noise ratio of a pair in a grid, relative to that in a look, if both have the same
budget and there is one candidate and one grid. It is the variance of the noise in the contrast of
halves, divided by the variance of the noise in the sum of a grid's blocks."""

_N_SHAPES = 50.0
"""Number of values that describe an interaction: the degrees of freedom of 8 by 8 cells."""

_CLIP_SHARE = 0.5
"""Clip of the residuals of a regression for the choice, as a share of the clip of the fit. Noise is
proportional to the clip, and most of what distinguishes cells is in the small residuals. Residuals
of classifiers keep their clip: they are not symmetric, so a tighter clip could imitate a pair."""

LEAST_FEATURES = 5
"""Number of features that are always considered. The noise grows with the root of the number of
candidates, so if it is large, only pairs of the most important features are worth considering:
strong interactions are rarely between features that have no effect alone."""

_MOST_PAIRS = 300
"""Maximum number of candidates: the pairs of 25 features. Every candidate takes a few passes over
the records, so without a bound, the time taken by a choice would grow with the square of the
number of features."""

_TOLERATED = 12.0
"""Features are added while the noise variance of a cell's sum is at most this number of times its
sampling variance, computed as if all residuals were at the clip."""

_LEAST_RATIO = 85.0
"""Minimum number of records per noise standard deviation of a contrast in a first look. If there
are fewer, a pair that is found gains less than the passes over the curves that it and the choice
replace: no table gained, and some lost (docs/recipe.md)."""


def skips_choice(plan: PairPlan | None, n_samples: float, budget: Budget) -> bool:
    """Return whether a fit skips its choice because there are too few records.

    The answer depends on public settings and on the noisy number of records. The number of
    candidates is the smallest possible.

    Parameters
    ----------
    plan : PairPlan or None
    n_samples : float
        Noisy number of records.
    budget : Budget

    Returns
    -------
    bool
    """
    if plan is None or not plan.may_skip:
        return False
    n_pairs = comb(min(len(plan.candidates), LEAST_FEATURES), 2)
    noise = budget.choice_multiplier * of_one_record(n_pairs)
    return n_samples < _LEAST_RATIO * budget.leaf_factor * noise


def candidate_pairs(
    counts: Sequence[BinCounts],
    curves: Sequence[FloatArray],
    features: Sequence[int],
    n_samples: float,
    choice_multiplier: float,
) -> list[tuple[int, int]]:
    """Return all pairs of the most important features, using only released numbers.

    The number of features is at least `LEAST_FEATURES`, and larger if the privacy noise is small
    compared with the sampling error. The noise variance of a cell's sum grows with the number of
    pairs. Features are added while this variance (computed for add/remove adjacency and one row per
    person) is at most `_TOLERATED` times the variance that the sum would have if all residuals were
    at the clip, and while there are at most `_MOST_PAIRS` pairs.

    Parameters
    ----------
    counts : sequence of BinCounts
    curves : sequence of ndarray of shape (n_bins,)
        Released curves.
    features : sequence of int
        Features that may be part of a pair.
    n_samples : float
        Noisy number of records.
    choice_multiplier : float
        Ratio of noise standard deviation to sensitivity.

    Returns
    -------
    list of (int, int)
    """
    size = [_size(counts[k], curves[k]) for k in features]
    order = [features[i] for i in np.argsort(size, kind="stable")[::-1]]
    per_cell = max(n_samples, 1.0) / N_GROUPS**2
    n_worth = _TOLERATED * per_cell / (of_one_record(1) * choice_multiplier) ** 2
    n = LEAST_FEATURES
    while n < len(order) and (n + 1) * n // 2 <= min(n_worth, _MOST_PAIRS):
        n += 1
    return list(combinations(sorted(order[:n]), 2))


def _size(counts: BinCounts, curve: FloatArray) -> float:
    share = shares(counts)
    return float(np.sqrt(share @ (curve - share @ curve) ** 2))


def choose_pairs(
    records: BinnedRecords,
    counts: Sequence[BinCounts],
    terms: AdditiveTerms,
    objective: Objective,
    schedule: Schedule,
    plan: PairPlan,
    *,
    n_samples: float,
    clip: float,
    bars: tuple[float, float],
    squared_mu: float,
    budget: GridBudget,
    mechanism: Mechanism,
) -> Choice:
    """Choose pairs whose residuals differ between cells by more than noise explains.

    A second look is taken only if the first one shows pairs that could gain more than the first of
    the `bars`. None is chosen if all of them are expected to gain less than the second one.

    Parameters
    ----------
    records : BinnedRecords
        Records, with scores computed from the curves.
    counts : sequence of BinCounts
        Noisy number of records in each bin of each feature.
    terms : AdditiveTerms
        Released curves.
    objective : Objective
    schedule : Schedule
    plan : PairPlan
    n_samples : float
        Noisy number of records.
    clip : float
        Bound on a residual in the fit, in internal units of the boosting loop.
    bars : tuple of float
        Falls of the loss, summed over the records: what a second look must promise, and what the
        pairs must be expected to exceed.
    squared_mu : float
        Gaussian-DP parameter of the second look, squared.
    budget : GridBudget
        Budget of the pair terms.
    mechanism : Mechanism

    Returns
    -------
    Choice
    """
    of_fit = budget.budget
    pairs = candidate_pairs(
        counts, terms.scores, plan.candidates, n_samples, of_fit.choice_multiplier
    )
    sides = sides_of(counts, terms.scores, N_GROUPS)
    grids = [Grid((sides[i], sides[j]), len(counts)) for i, j in pairs]
    weights = [contrasts(grid) for grid in grids]
    tests = _Tests(
        pairs, grids, weights, terms, objective, schedule, n_samples, clip, plan.most, budget
    )
    exact = exact_contrasts(records, grids, weights, tests.own_clip)
    look = Look.at(exact, of_fit, of_fit.choice_squared_mu, mechanism)
    with one_blas_thread():
        found = tests.of(look, range(len(pairs)))
        if not tests.could_gain(found) > bars[0]:
            return Choice([], looked_again=False)
    # How many are kept does not depend on the first look. So the noise of both looks together is
    # known in advance, and the test has the level that it states.
    kept = sorted(one.place for one in found[: -(-len(found) // 2)])
    again = Look.at([exact[k] for k in kept], of_fit, squared_mu, mechanism)
    look = look.of(kept).with_another(again)
    with one_blas_thread():
        best = tests.significant(tests.of(look, kept), look.noise_std)
        worth = best and sum(tests.falls(best, len(best))) > bars[1]
    return Choice(sorted(one.pair for one in best) if worth else [], looked_again=True)


@dataclass(frozen=True)
class Choice:
    """Chosen pairs, in the order of the features, and whether there was a second look."""

    pairs: list[tuple[int, int]]
    looked_again: bool


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A pair, the p-value of its contrasts, and the number of records in each cell."""

    log_p: float
    pair: tuple[int, int]
    place: int
    cells: FloatArray
    seen: Contrasts

    def order(self) -> tuple[float, tuple[int, int]]:
        """Return what candidates are sorted by."""
        return self.log_p, self.pair


@dataclass(frozen=True, eq=False)
class _Tests:
    """Tests of candidate pairs, which use released and public numbers only."""

    pairs: Sequence[tuple[int, int]]
    grids: Sequence[Grid]
    weights: Sequence[IntArray]
    terms: AdditiveTerms
    objective: Objective
    schedule: Schedule
    n_samples: float
    clip: float
    most: int
    budget: GridBudget

    @property
    def own_clip(self) -> float:
        """Bound on a residual in the choice."""
        return self.clip * (_CLIP_SHARE if self.objective.loss is SQUARED else 1.0)

    def of(self, look: Look, kept: Sequence[int]) -> list[_Candidate]:
        """Test the pairs in these places; smallest p-values come first."""
        parts = zip(kept, look.of_pairs, strict=True)
        found = [self._one(k, released, look.noise_std) for k, released in parts]
        return sorted(found, key=_Candidate.order)

    def _one(self, place: int, released: FloatArray, noise: float) -> _Candidate:
        grid, rows = self.grids[place], self.weights[place] / UNIT
        of_sums, of_counts = np.split(released, 2)
        cells = counts_of_cells(
            grid, rows, of_counts / COUNT_WEIGHT, self.n_samples, noise / COUNT_WEIGHT
        )
        clip, is_squared = self.own_clip, self.objective.loss is SQUARED
        shape = curvature_of_cells(grid, cells, self.terms, self.objective, self.schedule, clip)
        # The residual variance of a regression is not known, only its bound.
        sampling = clip**2 * cells if is_squared else shape[1]
        followed = _share_followed(self.schedule) if is_squared else 1.0
        variance = (clip * noise) ** 2 * np.eye(len(rows)) + (rows * sampling) @ rows.T
        seen = Contrasts(grid, clip * of_sums, followed * rows * shape[0], variance)
        log_p = log_p_value(grid, seen.sums, seen.design, variance)
        return _Candidate(log_p, self.pairs[place], place, cells, seen)

    def falls(self, some: Sequence[_Candidate], n_fitted: int) -> list[float]:
        """Return the expected fall of the loss by each of `n_fitted` pairs."""
        # A cell of the choice is about as large as a block of the fit.
        noise, found = (self.clip * self.budget.block_noise(n_fitted)) ** 2, []
        for one in some:
            curvature, sampling = curvature_of_cells(
                one.seen.grid, one.cells, self.terms, self.objective, self.schedule, self.clip
            )
            found.append(fall_of_pair(one.seen, curvature, noise + sampling))
        return found

    def could_gain(self, found: Sequence[_Candidate]) -> float:
        """Return the expected fall by the best pairs that noise alone rarely shows.

        Their p-values are below 1 / (number of candidates), so noise alone shows about one of them.
        """
        near = [one for one in found if one.log_p < -np.log(len(self.pairs))]
        return sum(sorted(self.falls(near, self.most))[-self.most :])

    def significant(self, found: Sequence[_Candidate], noise: float) -> list[_Candidate]:
        """Return as many of the significant pairs as should be fitted."""
        limit = np.log(LEVEL / len(self.pairs))
        best = [one for one in found if one.log_p < limit][: self.most]
        of_one = self.budget.budget.leaf_factor * of_one_record(1)
        ratio = _GRID_GAIN * self.budget.squared_mu * (noise / of_one) ** 2
        return best[: how_many([one.log_p for one in best], ratio)]


def _share_followed(schedule: Schedule) -> float:
    """Return the share of a change in score that residuals follow in the choice.

    It is relative to the fit, whose clip is wider. Residuals are taken to be normal.
    """
    normal = NormalDist()
    inside = INSIDE_CLIP if schedule.clip_quantile is None else schedule.clip_quantile
    clip = _CLIP_SHARE * normal.inv_cdf((1.0 + inside) / 2.0)
    return (2.0 * normal.cdf(clip) - 1.0) / inside


def how_many(log_p: Sequence[float], ratio: float) -> int:
    """Return the number of pairs that together should explain most.

    All pairs share one budget, so a weak pair takes more from a strong one than it contributes,
    unless there is enough for both. A pair whose signal is s times its noise in the choice explains
    about ``s**2 r / (r + n)`` if it is one of m pairs, where ``r = ratio * s**2 / m``, and n is the
    number of numbers that describe an interaction: the rest is lost to noise.

    Parameters
    ----------
    log_p : sequence of float
        Logarithm of the p-value of each pair, smallest first.
    ratio : float
        Squared signal-to-noise ratio of a single pair in the fit, relative to the choice.

    Returns
    -------
    int
        0 if `log_p` is empty.
    """
    squared = -2.0 * np.array(log_p)
    in_fit = [ratio * squared[:m] / m for m in range(1, len(squared) + 1)]
    explained = [float((squared[: len(r)] * r / (r + _N_SHAPES)).sum()) for r in in_fit]
    return int(np.argmax(explained)) + 1 if explained else 0
