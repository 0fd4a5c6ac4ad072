"""Sums over records that calibrate the probabilities of several classes.

The rules are the same as in `_kernels_sums`: the contribution of a record depends only on its own
values and on released numbers, to the last bit. So each record is processed using + - * /, square
roots and comparisons, element by element, and all sums over records are sums of integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.records._kernels_sums import LATTICE, odds_factors

FloatArray = NDArray[np.float64]

SIZES = np.array([0.5, 1.0, 1.5, 2.0, 3.0])
"""Upper ends of the groups of score vectors, in units of their spread; the last group has none."""

GROUP_WEIGHT = 0.3
"""Amount that a record adds to its group, relative to the largest norm of its residuals."""

LARGEST = float(np.sqrt(1.0 + GROUP_WEIGHT**2))
_BELOW_ONE = 1.0 - 2.0**-30
"""Factor that keeps norms at most 1 despite errors of double precision."""

_MOST_SCORE = 1e6
_ROWS = 1 << 13


@dataclass(frozen=True, eq=False)
class ClassSums:
    """What a record adds to the sums, given its scores and its class.

    The scores of a record, minus their mean over the classes and minus `center`, are divided by
    `spread`; `z` below is this vector, and `p` contains the predicted probabilities.

    Attributes
    ----------
    center : ndarray of shape (n_classes,)
        Released center of the scores; its mean is 0.
    spread : float
        Released spread of the scores.
    """

    center: FloatArray
    spread: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.center).all() and 0.0 < self.spread < np.inf):
            raise ValueError("the proof in `steps` needs a finite center and a positive spread.")

    @property
    def n_sums(self) -> int:
        """Number of sums: per class, in the direction of the scores, per group."""
        return len(self.center) + 1 + self.n_groups

    @property
    def n_groups(self) -> int:
        """Number of groups: sizes of the score vector for each most probable class."""
        return len(self.center) * (len(SIZES) + 1)

    def parts(self, score: NDArray[Any]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the parts of a record's vector that do not depend on its class.

        Parameters
        ----------
        score : ndarray of shape (n_classes, n_records)

        Returns
        -------
        p, z : ndarray of shape (n_classes, n_records)
        weight : ndarray of shape (n_records,)
            1 divided by the largest norm of ``(r, r @ z)`` over the classes that the record can
            have, where ``r`` is its residual: 1 for its own class, minus `p`.
        """
        score = np.clip(score, -_MOST_SCORE, _MOST_SCORE).astype(np.float64)
        score[np.isnan(score)] = 0.0
        top = score[0].copy()
        for own in score[1:]:
            np.maximum(top, own, out=top)
        p = odds_factors(score - top).astype(np.float64)
        p /= _sum(p)
        z = (score - _sum(score) / len(score) - self.center[:, None]) / self.spread
        expected, squares = _sum(p * z), _sum(p * p)
        largest = np.zeros(len(top))
        for chance, own in zip(p, z, strict=True):
            norm = (1.0 - 2.0 * chance + squares) + (own - expected) * (own - expected)
            np.maximum(largest, norm, out=largest)
        return p, z, 1.0 / np.sqrt(largest)

    def groups(self, p: FloatArray, z: FloatArray) -> NDArray[np.intp]:
        """Return the group of each record: most probable class, size of scores."""
        size = np.searchsorted(SIZES * SIZES * len(p), _sum(z * z))
        return np.asarray(size + (len(SIZES) + 1) * p.argmax(axis=0), dtype=np.intp)

    def steps(self, score: NDArray[Any], target: NDArray[Any]) -> NDArray[np.int64]:
        """Return each record's residuals, times its weight, in lattice steps.

        Parameters
        ----------
        score : ndarray of shape (n_classes, n_records)
        target : ndarray of shape (n_records,)
            Index of each record's class. Any other number stands for the nearest class.

        Returns
        -------
        ndarray of shape (n_classes + 1, n_records)
            Residual of each class, and the residuals in the direction of the scores.

        Notes
        -----
        With an amount of `GROUP_WEIGHT` for the record's group, in units of the same lattice, the
        norm of the vector is at most ``2**20`` steps. Proof: the norm of a record's residuals ``(r,
        r @ z)`` is at most the largest one over all classes, and the weight divides by the largest
        one. So the norm of both parts is at most `LARGEST`, by which they are divided. Rounding
        toward zero makes no number larger. The square of the norm for class y is computed as ``1 -
        2 p_y + p @ p + (z_y - p @ z)**2``, which is an identity for any p, so only rounding errors
        of double precision remain: their relative size is below ``n_classes * 2**-50``, which
        `_BELOW_ONE` covers for 2**19 classes. Hence adding or removing a record changes all sums by
        at most one lattice unit in L2 norm, and replacing it by at most two.
        """
        return self._residuals(*self.parts(score), target)

    def _residuals(
        self, p: FloatArray, z: FloatArray, weight: FloatArray, target: NDArray[Any]
    ) -> NDArray[np.int64]:
        own = np.clip(np.nan_to_num(target), 0, len(p) - 1).astype(np.intp)
        residuals = np.empty((len(p) + 1, len(own)))
        residuals[:-1] = -p
        residuals[own, np.arange(len(own))] += 1.0
        residuals[-1] = z[own, np.arange(len(own))] - _sum(p * z)
        scaled = residuals * weight * (LATTICE * _BELOW_ONE / LARGEST)
        return np.trunc(scaled).astype(np.int64)

    def of(self, score: NDArray[Any], target: NDArray[Any]) -> NDArray[np.int64]:
        """Return the sums over records, in lattice steps, shape (n_sums,).

        Parameters
        ----------
        score : ndarray of shape (n_classes, n_records)
        target : ndarray of shape (n_records,)
        """
        sums = np.zeros(self.n_sums, dtype=np.int64)
        n_residuals = len(self.center) + 1
        amount = int(GROUP_WEIGHT * LATTICE * _BELOW_ONE / LARGEST)
        for first in range(0, len(target), _ROWS):
            rows = slice(first, first + _ROWS)
            p, z, weight = self.parts(score[:, rows])
            sums[:n_residuals] += self._residuals(p, z, weight, target[rows]).sum(axis=1)
            counts = np.bincount(self.groups(p, z), minlength=self.n_groups)
            sums[n_residuals:] += amount * counts
        return sums


def _sum(parts: FloatArray) -> FloatArray:
    """Add the classes in order; that of `np.sum` depends on the number of records."""
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total
