"""What a boosting fit ends in: scores per bin of each term, and an intercept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.bins import Encoded, FeatureBins
from dpexplain.explain.global_explanation import Link
from dpexplain.models.boosting.loop import Tables
from dpexplain.models.boosting.monotone import Direction

if TYPE_CHECKING:
    from dpexplain.models.boosting.objectives import Objective


@dataclass(frozen=True, eq=False)
class AdditiveTerms:
    """An additive model over binned features.

    Attributes
    ----------
    bins : tuple of FeatureBins
        One per feature.
    scores : tuple of ndarray, one per feature, shape (n_bins,) or (n_bins, n_classes)
        Contribution of each bin on the link scale; count-weighted mean 0.
    counts : tuple of ndarray, one per feature, shape (n_bins,)
        People per bin: noisy for a private model, exact otherwise.
    intercept : float or ndarray of shape (n_classes,)
        Mean score on the link scale.
    link : {"logit", "identity", "log"}
        Scale of the scores.
    monotone : tuple of {"increasing", "decreasing", None}, one per feature
        Direction that the curve was constrained to.
    bag_std : tuple of ndarray, one per feature, shape (n_bins,), or None
        Standard deviation between the bags that the scores are averaged over; None for one bag.
    """

    bins: tuple[FeatureBins, ...]
    scores: tuple[NDArray[np.float64], ...]
    counts: tuple[NDArray[np.float64], ...]
    intercept: float | NDArray[np.float64]
    link: Link
    monotone: tuple[Direction | None, ...]
    bag_std: tuple[NDArray[np.float64], ...] | None

    def of_class(self, c: int) -> AdditiveTerms:
        """Take the scores of one of several classes."""
        return replace(
            self,
            scores=tuple(np.ascontiguousarray(table[:, c]) for table in self.scores),
            intercept=float(np.asarray(self.intercept)[c]),
            bag_std=None if self.bag_std is None else tuple(std[:, c] for std in self.bag_std),
        )

    def on_line(self, scale: float, shift: float) -> AdditiveTerms:
        """Multiply all scores, and add to the intercept."""
        return replace(
            self,
            scores=tuple(scale * curve for curve in self.scores),
            intercept=scale * float(self.intercept) + shift,
            bag_std=None if self.bag_std is None else tuple(scale * std for std in self.bag_std),
        )

    def contributions(self, columns: Sequence[Encoded]) -> NDArray[np.float64]:
        """Contribution of each feature to each record.

        Parameters
        ----------
        columns : sequence of ndarray of shape (n_samples,)
            Encoded features.

        Returns
        -------
        ndarray of shape (n_samples, n_features) or (n_samples, n_features, n_classes)
            On the link scale.
        """
        parts = [
            scores[bins.index(column)]
            for bins, scores, column in zip(self.bins, self.scores, columns, strict=True)
        ]
        return np.stack(parts, axis=1)


def centred_terms(
    bins: Sequence[FeatureBins],
    bags: Sequence[Tables],
    counts: Sequence[NDArray[np.float64]],
    objective: Objective,
    *,
    neutral: Sequence[NDArray[np.bool_]],
    monotone: Sequence[Direction | None],
) -> AdditiveTerms:
    """Average the bags, move the mean of each term into the intercept, change to the score's unit.

    Parameters
    ----------
    bins : sequence of FeatureBins
    bags : sequence of list of ndarray
        Of each bag, scores per bin as the loop left them.
    counts : sequence of ndarray
        People per bin; negative noisy counts weigh nothing.
    objective : Objective
        Says what a score of the loop means on the link scale.
    neutral : sequence of ndarray of shape (n_bins,)
        Bins that are to contribute nothing, such as a missing bin that may be empty: its
        score would show nothing but which leaves it happened to share.
    monotone : sequence of {"increasing", "decreasing", None}
        Direction that each curve keeps.

    Returns
    -------
    AdditiveTerms
    """
    weights = [np.where(n, 0.0, np.maximum(c, 0.0)) for c, n in zip(counts, neutral, strict=True)]
    shares = [w / w.sum() if w.sum() > 0 else w for w in weights]
    one_score = objective.loss.n_scores == 1
    curves = [list(parts) for parts in zip(*bags, strict=True)]
    if not one_score:  # a score that all classes share changes no probability
        curves = [[t - t.mean(axis=1, keepdims=True) for t in parts] for parts in curves]
        neutral = [n[:, None] for n in neutral]
    tables = [np.mean(parts, axis=0) for parts in curves]
    means = [w @ t for w, t in zip(shares, tables, strict=True)]
    scale = objective.scale
    scores = tuple(
        np.where(n, 0.0, scale * (t - m)) for t, m, n in zip(tables, means, neutral, strict=True)
    )
    bag_std = None
    if len(bags) > 1:
        bag_std = tuple(
            np.where(n, 0.0, scale * _std_between(np.array(parts), w))
            for parts, w, n in zip(curves, shares, neutral, strict=True)
        )
    intercept = objective.offset + scale * sum(means)
    return AdditiveTerms(
        tuple(bins),
        scores,
        tuple(counts),
        float(intercept) if one_score else np.asarray(intercept),
        objective.link,
        tuple(monotone),
        bag_std,
    )


def _std_between(tables: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard deviation between curves, each centred, shape (n_bins, ...)."""
    centred = tables - np.tensordot(tables, shares, axes=(1, 0))[:, None]
    return np.asarray(centred.std(axis=0, ddof=1), dtype=np.float64)
