"""Pair terms of a fitted additive model: one score for each cell of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.bins import FeatureBins, Index
from dpexplain.explain import Guarantee
from dpexplain.explain.additive.pair_curve import PairAxis, PairCurve
from dpexplain.schema import Categorical, Numeric

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reaction:
    """Change in the scores of a pair caused by errors in its two curves.

    A pair is fitted to what the curves leave unexplained. An error in a curve is therefore partly
    corrected by the pair, unless records are spread over the cells as if the two features were
    independent: only then does such an error not look like an interaction.

    Attributes
    ----------
    per_error : ndarray of shape (n_cells, n_groups_first + n_groups_second)
        Change in the score of each cell of the grid if a curve is higher by 1 in a group of bins.
    means : tuple of ndarray of shape (n_groups, n_bins)
        For each of the two features, the weight of each bin in the mean of a group.
    groups : tuple of ndarray of shape (n_rows,)
        Group of each row, and of each column, of the `PairTable`.
    """

    per_error: FloatArray
    means: tuple[FloatArray, FloatArray]
    groups: tuple[NDArray[np.intp], NDArray[np.intp]]

    def to(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Return the changes in the scores for given errors in the two curves.

        Parameters
        ----------
        first, second : ndarray of shape (n_draws, n_bins)

        Returns
        -------
        ndarray of shape (n_draws, n_rows, n_columns)
        """
        errors = [e @ mean.T for e, mean in zip((first, second), self.means, strict=True)]
        shape = [len(mean) for mean in self.means]
        cells = (np.concatenate(errors, axis=1) @ self.per_error.T).reshape(-1, *shape)
        return np.asarray(cells[:, self.groups[0][:, None], self.groups[1]])


@dataclass(frozen=True, eq=False)
class PairTable:
    """Score of each cell in a grid over two features.

    The grid is coarser than the bins of the features: neighboring bins of a numeric feature share a
    row (or column). Each category and each special bin has its own row, although categories whose
    scores were estimated together have identical rows.

    Attributes
    ----------
    features : tuple of int
        Indices of the two features.
    rows : tuple of ndarray of shape (n_bins,)
        Row of each bin of the first feature, and column of each bin of the second.
    scores : ndarray of shape (n_rows, n_columns)
        Contribution of each cell, on the link scale.
    counts : ndarray of shape (n_rows, n_columns)
        Number of records in each cell: noisy for a private model, exact otherwise.
    noise_std : ndarray of shape (n_rows, n_columns) or None, default=None
        Standard deviation of each score due to privacy noise alone. In a `PairTable` of a fit, it
        covers the noise in the sums of the pair; see `with_reaction`. None for a non-private model.
    sampling_std : ndarray of shape (n_rows, n_columns) or None, default=None
        Standard deviation of each score due to sampling the records. None for a non-private model.
    effect_std : ndarray of shape (n_rows, n_columns) or None, default=None
        Standard deviation of each cell's true score around its estimated score, due to noise,
        sampling and shrinkage. None for a non-private model.
    reaction : Reaction or None, default=None
        Reaction of the scores to errors in the curves, as long as the scores are those of the fit,
        before they are calibrated. None for a non-private model.
    """

    features: tuple[int, int]
    rows: tuple[NDArray[np.intp], NDArray[np.intp]]
    scores: FloatArray
    counts: FloatArray
    noise_std: FloatArray | None = None
    sampling_std: FloatArray | None = None
    effect_std: FloatArray | None = None
    reaction: Reaction | None = None

    @property
    def total_std(self) -> FloatArray:
        """Standard deviation of each score due to privacy noise and sampling combined."""
        assert self.noise_std is not None
        assert self.sampling_std is not None
        return np.hypot(self.noise_std, self.sampling_std)

    def cells(self, first: Index, second: Index) -> NDArray[np.intp]:
        """Return the row-major index of each record's cell, given its two bins."""
        cells: NDArray[np.intp] = self.rows[0][first] * self.scores.shape[1] + self.rows[1][second]
        return cells

    def with_reaction(self, std: FloatArray) -> PairTable:
        """Include the reaction to noise in the curves in the errors of the scores.

        Parameters
        ----------
        std : ndarray of shape (n_rows, n_columns)
            Standard deviation of the reaction. It is independent of the noise in the pair's sums.

        Returns
        -------
        PairTable
        """
        assert self.noise_std is not None
        assert self.effect_std is not None
        return replace(
            self,
            noise_std=np.hypot(self.noise_std, std),
            effect_std=np.hypot(self.effect_std, std),
        )

    def scaled(self, factor: float, relative_error: float) -> PairTable:
        """Multiply the scores of a private model by a factor.

        Parameters
        ----------
        factor : float
        relative_error : float
            Standard deviation of the privacy noise in the logarithm of `factor`.

        Returns
        -------
        PairTable
        """
        assert self.noise_std is not None
        assert self.sampling_std is not None
        scores = factor * self.scores
        return replace(
            self,
            scores=scores,
            noise_std=np.hypot(factor * self.noise_std, relative_error * np.abs(scores)),
            sampling_std=factor * self.sampling_std,
        )

    def name(self, names: Sequence[str]) -> str:
        """Return the name of the pair, such as ``"age & job"``, given all feature names."""
        return " & ".join(names[k] for k in self.features)

    def curve(self, bins: tuple[FeatureBins, ...], guarantee: Guarantee) -> PairCurve:
        """Return the explanation of the pair.

        Parameters
        ----------
        bins : tuple of FeatureBins
            Bins of all features of the model.
        guarantee : Guarantee
            Guarantee of the model.

        Returns
        -------
        PairCurve
        """
        first, second = (_axis(bins[k], r) for k, r in zip(self.features, self.rows, strict=True))
        name = self.name([b.name for b in bins])
        return PairCurve(
            name,
            (first, second),
            self.scores,
            self.counts,
            guarantee=guarantee,
            noise_std=self.noise_std,
            sampling_std=self.sampling_std,
            effect_std=self.effect_std,
        )


def rows_of_bins(
    bins: FeatureBins, group_of_bin: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the grid row of each bin, and the group of each row.

    Neighboring bins of a numeric feature share a row if they are in the same group. Every other bin
    has its own row.

    Parameters
    ----------
    bins : FeatureBins
    group_of_bin : ndarray of shape (n_bins,)
        Group of each bin. Groups of a numeric feature are runs of neighboring bins.

    Returns
    -------
    row_of_bin : ndarray of shape (n_bins,)
        Row of each bin, as in `PairTable`.
    group_of_row : ndarray of shape (n_rows,)
        Group of each row.
    """
    starts = np.ones(bins.n_bins, dtype=bool)
    if bins.edges is not None:
        values = group_of_bin[: bins.n_value_bins]
        starts[1 : bins.n_value_bins] = values[1:] != values[:-1]
    return np.cumsum(starts) - 1, group_of_bin[starts].astype(np.intp)


def _axis(bins: FeatureBins, row_of_bin: NDArray[np.intp]) -> PairAxis:
    """Describe one axis of a grid for an explanation."""
    feature = bins.feature
    shared: dict[str, Any] = {"special": bins.special}
    if isinstance(feature, Categorical):
        names = tuple(map(str, feature.categories))
        return PairAxis(bins.name, "categorical", categories=names, ordered=bins.ordered, **shared)
    assert isinstance(feature, Numeric)
    assert bins.edges is not None
    starts = np.flatnonzero(np.diff(row_of_bin[: bins.n_value_bins], prepend=-1))
    edges = np.append(bins.edges[starts], bins.edges[-1])
    shared |= {"unit": feature.unit, "step": feature.step}
    return PairAxis(bins.name, "numeric", bin_edges=edges, **shared)
