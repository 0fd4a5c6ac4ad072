"""Private selection of feature pairs, using contrasts of their coarse grids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc, gammaln

from dpexplain._utils.blas import one_blas_thread
from dpexplain.binning.counts import BinCounts
from dpexplain.binning.groups import shares
from dpexplain.mechanisms import Mechanism, Phase
from dpexplain.models.additive.terms import AdditiveTerms
from dpexplain.models.boosting.budget import Budget
from dpexplain.models.boosting.objectives import Objective
from dpexplain.models.boosting.pair_terms.contrasts import (
    UNIT,
    beyond_curves,
    contrasts,
    counts_of_cells,
)
from dpexplain.models.boosting.pair_terms.fitting import GridBudget
from dpexplain.models.boosting.pair_terms.grids import Grid, curvature_of_cells, sides_of
from dpexplain.models.boosting.pair_terms.plan import PairPlan
from dpexplain.models.boosting.pair_terms.priors import covariance
from dpexplain.models.boosting.pair_terms.worth import Contrasts, fall_of_pair
from dpexplain.models.boosting.recipe import Schedule
from dpexplain.models.boosting.records._kernels_sums import LATTICE
from dpexplain.models.boosting.records.binned import SQUARED, BinnedRecords
from dpexplain.models.boosting.uncertainty.curvature import INSIDE_CLIP

FloatArray = NDArray[np.float64]

N_GROUPS = 5
"""Maximum number of groups per feature; this is enough to show an interaction."""

LEVEL = 0.03
"""Probability of choosing any pair if no pair has an effect beyond the curves."""

_GRID_GAIN = 0.1
"""Signal-to-noise ratio of a pair in a grid, relative to that in the choice, if both have the same
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

_TOLERATED = 4.0
"""Features are added while the noise variance of a cell's sum is at most this number of times its
sampling variance, computed as if all residuals were at the clip."""

_LEAST_RATIO = 150.0
"""Minimum number of records per noise standard deviation of a contrast for a choice. If there are
fewer, a pair that is found gains less than the passes over the curves that it and the choice
replace: no table gained, and some lost (docs/recipe.md)."""

_LENGTH = 1.0
"""Distance over which scores are assumed alike in the test, as a share of the range."""

_COUNT_WEIGHT = 0.5
"""Weight of a count relative to a sum in units of the clip: counts take 20% of the budget."""


def choice_phase(budget: Budget, n_pairs: int, n_values: int) -> Phase:
    """Return the phase that releases contrasts of sums and counts for all candidates.

    A record is in one cell of each grid, where it changes the contrasts of the sums by at most one
    clip, and the contrasts of the weighted counts by at most one half, in the L2 norm. Replacing a
    record at most doubles these changes.

    Parameters
    ----------
    budget : Budget
    n_pairs : int
        Number of candidate pairs.
    n_values : int
        Twice the number of contrasts of all grids.

    Returns
    -------
    Phase
    """
    of_one = float(np.sqrt((1.0 + _COUNT_WEIGHT**2) * n_pairs))
    steps = budget.leaf_factor * of_one * LATTICE * UNIT
    return Phase("boosting", steps, budget.choice_multiplier * steps, n_values)


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
    noise = budget.choice_multiplier * float(np.sqrt((1.0 + _COUNT_WEIGHT**2) * n_pairs))
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
    n_worth = _TOLERATED * per_cell / ((1.0 + _COUNT_WEIGHT**2) * choice_multiplier**2)
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
    least: float,
    budget: GridBudget,
    mechanism: Mechanism,
) -> list[tuple[int, int]]:
    """Choose pairs whose residuals differ between cells by more than noise explains.

    None is chosen if all of them are expected to gain less than `least` together.

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
    least : float
        Fall of the loss, summed over the records, that the pairs must be expected to exceed.
    budget : GridBudget
    mechanism : Mechanism

    Returns
    -------
    list of (int, int)
        At most ``plan.most`` pairs, in the order of the features; possibly none.
    """
    of_fit = budget.budget
    pairs = candidate_pairs(
        counts, terms.scores, plan.candidates, n_samples, of_fit.choice_multiplier
    )
    sides = sides_of(counts, terms.scores, N_GROUPS)
    grids = [Grid((sides[i], sides[j]), len(counts)) for i, j in pairs]
    own_clip, followed = clip, 1.0
    if objective.loss is SQUARED:
        own_clip, followed = _CLIP_SHARE * clip, _share_followed(schedule)
    weights = [contrasts(grid) for grid in grids]
    exact = []
    for grid, each in zip(grids, weights, strict=True):
        records.cross(grid.crossing)
        sums = records.leaf_sums(grid.column, grid.leaf_of_cell, grid.n_cells, own_clip)
        exact.append(each @ sums)
        of_cells = records.cell_counts(grid.column, grid.n_cells)
        exact.append(each @ (of_cells * int(_COUNT_WEIGHT * LATTICE)))
    phase = choice_phase(of_fit, len(pairs), sum(map(len, exact)))
    with mechanism.phase(phase):
        noisy = mechanism.release(np.concatenate(exact)) / (LATTICE * UNIT)
    parts = np.split(noisy, np.cumsum([len(part) for part in exact])[:-1])
    noise = phase.sigma_int / (LATTICE * UNIT)
    found = []
    with one_blas_thread():
        for grid, each, pair, of_sums, of_counts in zip(
            grids, weights, pairs, parts[::2], parts[1::2], strict=True
        ):
            rows = each / UNIT
            cells = counts_of_cells(
                grid, rows, of_counts / _COUNT_WEIGHT, n_samples, noise / _COUNT_WEIGHT
            )
            shape = curvature_of_cells(grid, cells, terms, objective, schedule, own_clip)
            # The residual variance of a regression is not known, only its bound.
            sampling = own_clip**2 * cells if objective.loss is SQUARED else shape[1]
            variance = (own_clip * noise) ** 2 * np.eye(len(rows)) + (rows * sampling) @ rows.T
            seen = Contrasts(grid, own_clip * of_sums, followed * rows * shape[0], variance)
            log_p = log_p_value(grid, seen.sums, seen.design, variance)
            found.append(_Candidate(log_p, pair, cells, seen))
        limit = np.log(LEVEL / len(pairs))
        best = sorted((each for each in found if each.log_p < limit), key=_Candidate.order)
        best = best[: plan.most]
        ratio = _GRID_GAIN * len(pairs) * of_fit.grid_share / of_fit.choice_share
        best = best[: how_many([each.log_p for each in best], ratio)]
        # A cell of the choice is about as large as a block of the fit.
        noise_in_fit = (clip * budget.block_noise(len(best))) ** 2
        fall = 0.0
        for one in best:
            curvature, sampling = curvature_of_cells(
                one.seen.grid, one.cells, terms, objective, schedule, clip
            )
            fall += fall_of_pair(one.seen, curvature, noise_in_fit + sampling)
    return sorted(one.pair for one in best) if fall > least else []


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A pair, the p-value of its contrasts, and the number of records in each cell."""

    log_p: float
    pair: tuple[int, int]
    cells: FloatArray
    seen: Contrasts

    def order(self) -> tuple[float, tuple[int, int]]:
        """Return what candidates are sorted by."""
        return self.log_p, self.pair


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


def log_p_value(grid: Grid, sums: FloatArray, design: FloatArray, variance: FloatArray) -> float:
    """Test whether contrasts of a grid's sums show a smooth interaction.

    Errors in the two curves do not affect the test, because `beyond_curves` projects them out. The
    test statistic weights the projected sums by the covariance that an interaction with smooth
    scores would cause. This is the locally most powerful test against smooth scores [1]_.

    Parameters
    ----------
    grid : Grid
    sums : ndarray of shape (n_contrasts,)
        Noisy contrasts of sums of residuals, or the sums themselves.
    design : ndarray of shape (n_contrasts, n_cells)
        Change in each contrast per unit of score of each cell.
    variance : ndarray of shape (n_contrasts, n_contrasts)
        Positive definite covariance of the contrasts due to noise and sampling.

    Returns
    -------
    float
        Logarithm of the p-value; 0 if the grid has too few cells for a test.

    References
    ----------
    .. [1] Wu et al., "Rare-Variant Association Testing for Sequencing Data with the Sequence Kernel
       Association Test", American Journal of Human Genetics 89, 2011.
    """
    z, certain, _ = beyond_curves(grid, sums, design, variance)  # the unit of the scores cancels
    smooth = np.kron(*(covariance(side, _LENGTH) for side in grid.sides))
    spread = certain @ smooth @ certain.T
    weights = np.linalg.eigvalsh((spread + spread.T) / 2.0)
    if not weights.max(initial=0.0) > 1e-9:
        return 0.0
    return _log_tail(float(z @ spread @ z), np.maximum(weights, 0.0))


def _log_tail(statistic: float, weights: FloatArray) -> float:
    """Return the log tail probability of a weighted sum of chi-square variables.

    The sum is approximated by a shifted and scaled chi-square variable with the same first three
    cumulants.
    """
    first, second, third = (float((weights**k).sum()) for k in (1, 2, 3))
    n_free = second**3 / third**2
    moved = max((statistic - first) * np.sqrt(n_free / second) + n_free, 1e-12)
    a, x = n_free / 2.0, moved / 2.0
    tail = float(gammaincc(a, x))
    # Far out, where the probability underflows, its first term is accurate enough for an order.
    return float(np.log(tail) if tail > 1e-300 else (a - 1.0) * np.log(x) - x - gammaln(a))
