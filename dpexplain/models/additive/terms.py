"""Terms of a fitted additive model: scores of bins, and an intercept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.bins import Encoded, FeatureBins, Index
from dpexplain.explain.additive.links import Link
from dpexplain.models.additive.pair_tables import PairTable

Direction: TypeAlias = Literal["increasing", "decreasing"]


@dataclass(frozen=True, eq=False)
class AdditiveTerms:
    """An additive model over binned features.

    Attributes
    ----------
    bins : tuple of FeatureBins
        Bins of each feature.
    scores : tuple of ndarray, one per feature, shape (n_bins,) or (n_bins, n_classes)
        Contribution of each bin on the link scale, with a count-weighted mean of 0.
    counts : tuple of ndarray, one per feature, shape (n_bins,)
        Number of records in each bin: noisy for a private model, exact otherwise.
    intercept : float or ndarray of shape (n_classes,)
        Mean score on the link scale.
    link : {"logit", "identity", "log", "softmax"}
        Scale of the scores.
    monotone : tuple of {"increasing", "decreasing", None}, one per feature
        Direction that the fit imposed on each curve; None if it imposed none.
    bag_std : tuple of ndarray, shaped like `scores`, or None
        Standard deviation of each score across bags; the score itself is the mean over the bags.
        The attribute is None if there is only one bag.
    pairs : tuple of PairTable, default=()
        Scores of pairs of features, which are added to the scores of the features.
    """

    bins: tuple[FeatureBins, ...]
    scores: tuple[NDArray[np.float64], ...]
    counts: tuple[NDArray[np.float64], ...]
    intercept: float | NDArray[np.float64]
    link: Link
    monotone: tuple[Direction | None, ...]
    bag_std: tuple[NDArray[np.float64], ...] | None
    _: KW_ONLY
    pairs: tuple[PairTable, ...] = ()

    @property
    def names(self) -> list[str]:
        """Names of the features, followed by the names of the pairs."""
        names = [bins.name for bins in self.bins]
        return [*names, *(pair.name(names) for pair in self.pairs)]

    def of_class(self, c: int) -> AdditiveTerms:
        """Return the terms of one class."""
        return replace(
            self,
            scores=tuple(np.ascontiguousarray(table[:, c]) for table in self.scores),
            intercept=float(np.asarray(self.intercept)[c]),
            bag_std=None if self.bag_std is None else tuple(std[:, c] for std in self.bag_std),
        )

    def on_line(
        self, scale: float, shift: float | NDArray[np.float64], relative_error: float
    ) -> AdditiveTerms:
        """Multiply all scores by `scale`, then add `shift` to the intercept.

        Parameters
        ----------
        scale : float
        shift : float or ndarray of shape (n_classes,)
        relative_error : float
            Standard deviation of the privacy noise in the logarithm of `scale`. It is included in
            the noise of the pairs; the noise of the curves is not part of the terms.

        Returns
        -------
        AdditiveTerms
        """
        return replace(
            self,
            scores=tuple(scale * curve for curve in self.scores),
            intercept=scale * self.intercept + shift,
            bag_std=None if self.bag_std is None else tuple(scale * std for std in self.bag_std),
            pairs=tuple(pair.scaled(scale, relative_error) for pair in self.pairs),
        )

    def contributions(self, columns: Sequence[Encoded]) -> NDArray[np.float64]:
        """Return the contributions of features, then of pairs, to each record's score.

        Parameters
        ----------
        columns : sequence of ndarray of shape (n_samples,)
            Encoded features.

        Returns
        -------
        ndarray of shape (n_samples, n_terms) or (n_samples, n_terms, n_classes)
            On the link scale.
        """
        index = [bins.index(column) for bins, column in zip(self.bins, columns, strict=True)]
        parts = [scores[i] for scores, i in zip(self.scores, index, strict=True)]
        cells = self.cells_of_pairs(index)
        parts += [pair.scores.ravel()[at] for pair, at in zip(self.pairs, cells, strict=True)]
        return np.stack(parts, axis=1)

    def cells_of_pairs(self, index: Sequence[Index]) -> list[NDArray[np.intp]]:
        """Return each record's cell in the grid of each pair, given the record's bins."""
        return [pair.cells(*(index[k] for k in pair.features)) for pair in self.pairs]
