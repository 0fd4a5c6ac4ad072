"""A line, applied to the scores, that calibrates the predictions.

A short fit with clipped residuals leaves predictions too close to their average and, if a number
or a count is skewed, too low or too high on average. One release of a few sums over the records
shows by how much: the residuals that remain, in total and in the direction of the scores, and the
number of records in each of ten groups of scores. What sampling noise in the outcomes of these
records is expected to add is subtracted, so that the line holds for new people; see `overfitting`.
The line is the most probable one given these sums, whose noise is known, and a prior that is
centered on no change.

Scores are in log-odds, in logarithms of rates, or in units of the fit's last clip. All are about
the size of the scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.counts import BinCounts
from dpexplain.mechanisms import Mechanism, Phase
from dpexplain.models.additive.term_noise import NoiseDraws
from dpexplain.models.additive.terms import AdditiveTerms
from dpexplain.models.boosting.budget import Budget
from dpexplain.models.boosting.calibration.responses import (
    CLASSES,
    Response,
    bound_of_counts,
    bound_of_numbers,
    counts_inside,
    event_counts,
    numbers,
)
from dpexplain.models.boosting.calibration.scores import (
    WIDER_SHARE,
    WIDER_SHARE_OF_COUNTS,
    ScoreCells,
    reweighted,
    score_cells,
)
from dpexplain.models.boosting.records._kernels_sums import LATTICE
from dpexplain.models.boosting.records.binned import BinnedRecords
from dpexplain.models.boosting.records.class_sums import GROUP_WEIGHT, LARGEST
from dpexplain.models.boosting.uncertainty.curvature import INSIDE_CLIP

FloatArray = NDArray[np.float64]

PRIOR_FREEDOM = 1.0
"""Degrees of freedom of the prior (Student's t): small deviations that noise explains are ignored,
and large deviations that it does not explain are kept."""

ENDS = np.arange(-4.0, 5.0)
"""Upper ends of the groups of scores, in units of their spread; the last group has no end."""

N_SUMS = 2 + len(ENDS) + 1

N_STEPS = 12
LONGEST_STEP = 0.5
"""Together, these bound the scale to between 1/400 and 400. If the sums contradict the scores, the
most probable scale is 0, and 1/400 does as well. Larger scales than 100 need curves that are almost
flat, and may be reached incompletely."""
_LEAST_SPREAD = 1e-6
_LEAST_SLOPE = 1e-9
_BELOW_ONE = 1.0 - 2.0**-40
"""Factor that keeps norms at most 1 despite errors of double precision."""

_SEED = 20210618  # post-processing: the same model always shows the same noise


@dataclass(frozen=True, eq=False)
class Line:
    """Line that calibrates the scores: ``scale * score + shift``.

    Attributes
    ----------
    scale : float
        Positive, so the order of the scores does not change.
    shift : float
    center : float
        Score at which errors in the scale have no effect.
    noise : ndarray of shape (2, 2)
        Covariance of the errors in the shift at the center and in the logarithm of the scale, due
        to the noise in the release.
    """

    scale: float
    shift: float
    center: float
    noise: FloatArray

    def converted(self, unit: float, zero: float) -> Line:
        """Return the line for scores that are ``zero + unit * score``.

        Parameters
        ----------
        unit, zero : float

        Returns
        -------
        Line
        """
        shift = unit * self.shift + (1.0 - self.scale) * zero
        units = np.array([unit, 1.0])
        return Line(
            self.scale, shift, zero + unit * self.center, self.noise * units * units[:, None]
        )

    @property
    def log_scale_std(self) -> float:
        """Standard deviation of the privacy noise in the logarithm of the scale."""
        return float(np.sqrt(self.noise[1, 1]))

    def of_noise(self, draws: Sequence[NoiseDraws], terms: AdditiveTerms) -> tuple[NoiseDraws, ...]:
        """Return the errors in the calibrated terms, including those due to the line.

        Parameters
        ----------
        draws : sequence of NoiseDraws
            Errors in the terms before they were calibrated.
        terms : AdditiveTerms
            Terms before they were calibrated.

        Returns
        -------
        tuple of NoiseDraws
        """
        return tuple(self._of_noise(each, terms) for each in draws)

    def _of_noise(self, draws: NoiseDraws, terms: AdditiveTerms) -> NoiseDraws:
        scaled = draws.scaled(self.scale)
        normal = np.random.default_rng(_SEED).standard_normal((len(draws.privacy), 2))
        values, vectors = np.linalg.eigh(self.noise)
        errors = normal @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
        per_log_scale = self.scale * np.concatenate(
            [*terms.scores, [float(terms.intercept) - self.center]]
        )
        moved = errors[:, 1:] * per_log_scale
        moved[:, -1] += errors[:, 0]
        return replace(scaled, privacy=scaled.privacy + moved)


@dataclass(frozen=True, eq=False)
class Contributions:
    """Contribution of a record to the sums, for each outcome and score cell.

    Attributes
    ----------
    response : Response
    center, spread : float
        Center and scale of the scores; ``z`` below is relative to them.
    expected : ndarray of shape (n_cells,)
        Expected outcome.
    directions : ndarray of shape (n_cells, 2)
        ``(1, z)``, divided by its norm and by the largest residual in the cell. A residual times
        this vector has a norm of at most 1.
    group : ndarray of shape (n_cells,)
        Group of each cell.
    """

    response: Response
    center: float
    spread: float
    expected: FloatArray
    directions: FloatArray
    group: NDArray[np.intp]

    @property
    def steps(self) -> NDArray[np.int64]:
        """Contributions in lattice steps, shape (n_outcomes, n_cells, n_sums).

        They are divided by their largest norm and rounded toward zero, so no norm exceeds 1.
        """
        residuals = self.response.residuals(self.expected)
        groups = GROUP_WEIGHT * (self.group[:, None] == np.arange(len(ENDS) + 1))
        both = [
            residuals[:, :, None] * self.directions,
            np.broadcast_to(groups, (len(residuals), *groups.shape)),
        ]
        unit = LATTICE * _BELOW_ONE / LARGEST
        return np.trunc(np.concatenate(both, axis=2) * unit).astype(np.int64)


def contributions(cells: ScoreCells, response: Response = CLASSES) -> Contributions:
    """Choose center and spread so that shift and scale can be estimated independently.

    Parameters
    ----------
    cells : ScoreCells
    response : Response, default=CLASSES

    Returns
    -------
    Contributions
    """
    middles = cells.middles
    expected = response.mean(middles)
    weights = cells.weights * response.slope(middles) + 1e-300
    center = float(weights @ middles / weights.sum())
    spread = float(np.sqrt(weights @ (middles - center) ** 2 / weights.sum()))
    spread = max(spread, _LEAST_SPREAD)
    z = (middles - center) / spread
    group = np.searchsorted(ENDS, z).astype(np.intp)
    return Contributions(
        response, center, spread, expected, response.directions(z, expected), group
    )


def release_line(
    records: BinnedRecords,
    counts: Sequence[BinCounts],
    curves: Sequence[FloatArray],
    n_samples: float,
    budget: Budget,
    mechanism: Mechanism,
    *,
    parameters: Callable[[float], float],
    clip: float | None = None,
    inside: float | None = None,
    high: float | None = None,
) -> Line | None:
    """Release the sums and compute the line.

    Parameters
    ----------
    records : BinnedRecords
        Records whose scores are the sums of the curves.
    counts : sequence of BinCounts
        Noisy number of records in each bin of each feature, and in each cell of each pair.
    curves : sequence of ndarray of shape (n_bins,)
        Released curves and the scores of the cells of each pair, in units of the boosting loop.
    n_samples : float
        Noisy number of records.
    budget : Budget
    mechanism : Mechanism
        Mechanism that adds the noise.
    parameters : callable
        Function of the mean change in a record's residual per unit of its score that returns how
        many free parameters would follow sampling noise as closely as the fit; see
        `fitted_parameters`.
    clip : float or None, default=None
        Last clip of a fit to numbers or counts; None for two classes.
    inside : float or None, default=None
        Proportion of the residuals of numbers that this clip leaves unchanged; None if unknown.
    high : float or None, default=None
        Largest public count of a fit to counts, which is the unit of the boosting loop.

    Returns
    -------
    Line or None
        In units of the boosting loop. None if there is no budget for a line.
    """
    if not budget.line_share:
        return None
    unit = 1.0 if clip is None or high is not None else clip
    share = WIDER_SHARE if high is None else WIDER_SHARE_OF_COUNTS
    cells = score_cells(counts, [curve / unit for curve in curves], wider_share=share)
    bound, largest, response, followed = 1.0, 1.0, CLASSES, 1.0
    if clip is not None and high is None:
        bound = bound_of_numbers(n_samples, budget.line_multiplier)
        followed = INSIDE_CLIP if inside is None else inside
        largest, response = bound * unit, numbers(bound, followed)
    elif clip is not None and high is not None:
        bound = bound_of_counts(cells, high, n_samples, budget.line_multiplier) / high
        followed = counts_inside(cells, clip * high, high)
        largest, response = high, event_counts(bound * high, high, clip * high, followed)
    each = contributions(cells, response)
    place = cells.low * unit, cells.width * unit, len(cells.weights)
    exact = records.score_counts(*place, largest)
    phase = line_phase(budget)
    with mechanism.phase(phase):
        sums = mechanism.release(np.einsum("yc,ycj->j", exact, each.steps))
    per_step = LARGEST / LATTICE
    found = np.asarray(sums * per_step, dtype=np.float64)
    residuals, groups, std = found[:2], found[2:], phase.sigma_int * per_step
    cells = reweighted(
        cells,
        each.group,
        groups / GROUP_WEIGHT,
        n_samples,
        std / GROUP_WEIGHT,
        far_matters=high is not None,
    )
    line = fitted_line(cells, each, residuals, n_samples, std)
    if line is not None:
        slope = bound * float(cells.weights @ response.slope(cells.middles))
        residuals -= overfitting(cells, each, line, parameters(followed * slope))
        line = fitted_line(cells, each, residuals, n_samples, std)
    return None if line is None else line.converted(unit, 0.0)


def line_phase(budget: Budget, n_sums: int = N_SUMS) -> Phase:
    """Return the phase of releases that contains the sums.

    The contribution of a record is a vector with a norm of at most 1, so replacing a record changes
    the sums by at most 2. Leaf sums of one score, in units of the clip, change by the same amount.
    The sensitivity and the noise of the phase are in lattice steps.

    Parameters
    ----------
    budget : Budget
    n_sums : int, default=N_SUMS
        Number of sums, which is larger for several classes.

    Returns
    -------
    Phase
    """
    steps = budget.sum_factor * LATTICE
    return Phase("calibration", steps, budget.line_multiplier * steps, n_sums)


def overfitting(
    cells: ScoreCells, each: Contributions, line: Line, n_parameters: float
) -> FloatArray:
    """Return how far the sums of residuals are above those of as many new people.

    Parameters
    ----------
    cells : ScoreCells
    each : Contributions
    line : Line
        Line that calibrates the scores of the fit's own records. The variance of the outcomes
        follows from it, because scores of a short fit are too close to their average.
    n_parameters : float
        Effective number of parameters that were fitted to the records; see `fitted_parameters`.

    Returns
    -------
    ndarray of shape (2,)
        Covariance of a record's outcome with the directions that its residual is multiplied by,
        summed over the records.
    """
    response = each.response
    change = np.gradient(each.directions, cells.middles, axis=0)
    expected = response.mean(line.scale * cells.middles + line.shift)
    scatter = cells.weights * (response.followed or response.variance)(expected)
    slope = float(cells.weights @ response.slope(cells.middles))
    return np.asarray(n_parameters / max(slope, _LEAST_SLOPE) * (scatter @ change))


def fitted_line(
    cells: ScoreCells,
    each: Contributions,
    sums: FloatArray,
    n_samples: float,
    noise_std: float,
) -> Line | None:
    """Return the most probable line, given the noisy sums of residuals.

    Parameters
    ----------
    cells : ScoreCells
    each : Contributions
    sums : ndarray of shape (2,)
        Noisy sums of the residuals times their directions.
    n_samples : float
        Noisy number of records.
    noise_std : float
        Standard deviation of the noise in a sum.

    Returns
    -------
    Line or None
        None if the sums are so far off that the most probable line is not finite.
    """
    response, prior_std = each.response, np.array(each.response.prior_std)
    n, away = max(n_samples, 1.0), cells.middles - each.center
    moves = n * cells.weights[:, None] * each.directions
    variance = each.directions.T @ (moves * response.variance(each.expected)[:, None])
    precision = np.linalg.inv(variance + noise_std**2 * np.eye(2))
    at = np.zeros(2)
    for _ in range(N_STEPS):
        scale = np.exp(at[1])
        moved = each.center + at[0] + scale * away
        slopes = response.slope(moved)
        jacobian = moves.T @ np.column_stack([slopes, slopes * scale * away])
        prior = (PRIOR_FREEDOM + 1.0) / (PRIOR_FREEDOM * prior_std**2 + at**2)
        hessian = jacobian.T @ precision @ jacobian + np.diag(prior)
        left = sums - moves.T @ (response.mean(moved) - each.expected)
        step = np.linalg.solve(hessian, jacobian.T @ precision @ left - prior * at)
        at = at + np.clip(step, -LONGEST_STEP, LONGEST_STEP)
    if not np.isfinite(at).all():
        return None
    gain = np.linalg.solve(hessian, jacobian.T @ precision) * noise_std
    scale = float(np.exp(at[1]))
    shift = float(each.center + at[0] - scale * each.center)
    return Line(scale, shift, each.center, np.asarray(gain @ gain.T))
