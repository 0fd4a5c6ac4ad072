"""Tell two worlds apart by their published fits, and derive a lower bound on epsilon.

Half of the fits of each world serve to learn which published number, or which combination of
them, tells the worlds apart best, and at which threshold. The guesses on the other half
are counted, and exact binomial intervals turn the counts into a bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpexplain.audit.statistics.bounds import Guesses

CONFIDENCE = 0.95
Matrix = NDArray[np.float64]


def distinguish(absent: Matrix, present: Matrix, delta: float) -> Guesses:
    """Learn to tell two worlds apart from half of their fits, and guess the other half.

    Parameters
    ----------
    absent, present : ndarray of shape (n_fits, n_numbers)
        Published numbers of independent fits in the two worlds.
    delta : float
        Delta of the guarantee under attack.

    Returns
    -------
    Guesses
        Errors on the half that was not learned from.
    """
    scaled = _scaling(absent, present)
    (a_learn, a_test), (p_learn, p_test) = _halves(scaled(absent)), _halves(scaled(present))
    direction = _best_direction(a_learn, p_learn, delta)
    threshold, _ = _best_threshold(a_learn @ direction, p_learn @ direction, delta)
    return _guesses(a_test @ direction, p_test @ direction, threshold)


def _halves(fits: Matrix) -> tuple[Matrix, Matrix]:
    return fits[: len(fits) // 2], fits[len(fits) // 2 :]


def _scaling(absent: Matrix, present: Matrix) -> Callable[[Matrix], Matrix]:
    """Return ranks among the training fits as well as numbers, which suit linear rules.

    Diverging numbers (a fit that explodes publishes 1e40) would otherwise swamp the rest.
    """
    known = np.concatenate([_halves(absent)[0], _halves(present)[0]])
    known = _finite(known)
    ordered = np.sort(known, axis=0)
    middle = np.median(known, axis=0)
    spread = np.percentile(np.abs(known - middle), 75, axis=0)
    spread[spread == 0] = 1.0

    def scaled(fits: Matrix) -> Matrix:
        clean = _finite(fits)
        ranks = [
            np.searchsorted(ordered[:, k], clean[:, k], side="right") for k in range(clean.shape[1])
        ]
        linear = np.clip((clean - middle) / spread, -8.0, 8.0)
        return np.column_stack([np.column_stack(ranks) / len(ordered), linear])

    return scaled


def _finite(fits: Matrix) -> Matrix:
    """Replace infinities and NaN, so that differences are defined."""
    return np.clip(np.nan_to_num(fits, nan=0.0), -1e300, 1e300)


def _best_direction(absent: Matrix, present: Matrix, delta: float) -> NDArray[np.float64]:
    """Return the single number, or Fisher's combination, that yields the best bound.

    The combination is fitted to one half and, like all others, judged on the other: with few
    fits, it would always look best on its own half.
    """
    (a_fit, a_judge), (p_fit, p_judge) = _halves(absent), _halves(present)
    n_numbers = absent.shape[1]
    candidates = [*np.eye(n_numbers), _fisher(a_fit, p_fit)]
    proved = [_best_threshold(a_judge @ c, p_judge @ c, delta)[1] for c in candidates]
    return candidates[int(np.argmax(proved))]


def _fisher(absent: Matrix, present: Matrix) -> NDArray[np.float64]:
    within = np.cov(absent, rowvar=False) + np.cov(present, rowvar=False)
    ridge = 1e-6 * np.trace(within) / len(within) + 1e-12
    gap = present.mean(axis=0) - absent.mean(axis=0)
    return np.linalg.solve(within + ridge * np.eye(len(within)), gap)


def _best_threshold(
    absent: NDArray[np.float64], present: NDArray[np.float64], delta: float
) -> tuple[tuple[float, float], float]:
    """Return the threshold and direction that prove the largest epsilon, and that epsilon.

    If none proves anything, the one with the fewest errors is best.
    """
    values = np.unique(np.concatenate([absent, present]))
    between = (values[1:] + values[:-1]) / 2 if len(values) > 1 else values
    cuts = np.unique(np.quantile(between, np.linspace(0, 1, 200)))
    best = ((0.0, 1.0), -math.inf)
    for cut in cuts:
        for side in (1.0, -1.0):
            found = _guesses(absent, present, (float(cut), side))
            errors = found.false_alarms / found.n_absent + found.misses / found.n_present
            proved = found.epsilon_bound(delta, CONFIDENCE) - 0.01 * errors
            if proved > best[1]:
                best = ((float(cut), side), proved)
    return best


def _guesses(
    absent: NDArray[np.float64], present: NDArray[np.float64], threshold: tuple[float, float]
) -> Guesses:
    cut, side = threshold
    return Guesses(
        n_absent=len(absent),
        false_alarms=int((side * absent > side * cut).sum()),
        n_present=len(present),
        misses=int((side * present <= side * cut).sum()),
    )
