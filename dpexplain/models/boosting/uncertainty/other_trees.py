"""Uncertainty due to random structure, from refits with new bins and trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.additive.terms import AdditiveTerms
from dpexplain.models.boosting.monotone import SIGNS
from dpexplain.models.boosting.recipe import neutral_records
from dpexplain.models.boosting.released import PrivateFit
from dpexplain.models.boosting.structure import leaf_scale
from dpexplain.models.boosting.uncertainty.curvature import Curvature
from dpexplain.models.boosting.uncertainty.leaf_correlations import Correlation, starts_of
from dpexplain.models.boosting.uncertainty.refits.structures import fresh_structures

FloatArray = NDArray[np.float64]

_N_SAMPLES = 6
"""Number of simulated samples of records, each with its own draw of the correlations; structures
are divided among these samples."""

_FIRST = 24
"""Number of structures used to estimate how far a fit falls short of its target."""


def restructured(
    fit: PrivateFit,
    terms: AdditiveTerms,
    curvature: Curvature,
    privacy: FloatArray,
    correlation: Correlation,
    *,
    mixing: float,
    intercept: float,
    learning_rate: float,
    n_structures: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Simulate errors due to bins and trees, with the released curves as the target.

    Parameters
    ----------
    fit : PrivateFit
    terms : AdditiveTerms
        Terms of one score.
    curvature : Curvature
        Curvature of that score.
    privacy : ndarray of shape (n_draws, n_values)
        Simulated errors of that score due to privacy noise.
    correlation : Correlation
        Draws of the correlations between features.
    mixing : float
        Factor by which ``correlation.reactions()`` is multiplied: the sensitivity of this score's
        residuals to the score itself, relative to the mean over all scores. For several classes,
        it is the sensitivity to errors relative to the mean of all classes.
    intercept : float
        Learned part of the intercept, which excludes the initial score of the fit.
    learning_rate : float
        Fraction of each step that is added.
    n_structures : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of shape (n_structures, n_values)
    """
    cells = _Cells(fit, curvature, correlation, mixing, learning_rate)
    # Trees also follow the peculiarities of the sample, each tree in a different way.
    residual = _residual_errors(cells.evenly(curvature.variance), rng).T
    curves = _shrunk(terms, privacy)
    found = cells.fitted(cells.of_bins(curves), intercept, 0.0 * residual, _FIRST, rng)
    # Fits fall short of their target, so the target is moved: fits then end near the released ones.
    short = cells.of_bins(curves) - found[:, :-1].mean(axis=0)[cells.bin_of_cell]
    aim = cells.of_bins(curves) + short
    found = cells.fitted(aim, intercept, residual, n_structures, rng)
    samples = np.arange(len(found)) % _N_SAMPLES
    means = np.stack([found[samples == i].mean(axis=0) for i in range(_N_SAMPLES)])
    # Subtracting means over few structures removes a part of the scatter; the factor restores it.
    return (found - means[samples]) * np.sqrt(len(found) / (len(found) - _N_SAMPLES))


class _Cells:
    """Cells of all features, concatenated, for refits with new structures."""

    def __init__(
        self,
        fit: PrivateFit,
        curvature: Curvature,
        correlation: Correlation,
        mixing: float,
        learning_rate: float,
    ) -> None:
        self._fit, self._correlation = fit, correlation
        self._curvature, self._learning_rate = curvature, learning_rate
        binned = fit.binned
        self._cells = [np.asarray(c, dtype=np.int64) for c in binned.bin_of_cell]
        sizes = [b.n_bins for b in binned.bins]
        self._width = [np.bincount(c, minlength=n) for c, n in zip(self._cells, sizes, strict=True)]
        self._start = starts_of(map(len, self._cells))
        first = starts_of(sizes)[:-1]
        self.bin_of_cell = np.concatenate([a + c for a, c in zip(first, self._cells, strict=True)])
        counts = [np.where(c.perhaps_nobody, 0.0, np.maximum(c.counts, 0.0)) for c in binned.counts]
        self._n_records = np.concatenate(self.evenly(counts))
        most = max(1, max(f.shape[1] for f in correlation.functions))
        padded = [np.pad(f, ((0, 0), (0, most - f.shape[1]))) for f in correlation.functions]
        self._functions = np.concatenate(
            [(f / np.maximum(w, 1)[:, None])[c] for f, c, w in self._with(padded)]
        )
        every = len(correlation.draws) // _N_SAMPLES
        self._reactions = mixing * correlation.reactions()[::every][:_N_SAMPLES]

    def _with(
        self, values: Sequence[FloatArray]
    ) -> Iterator[tuple[FloatArray, NDArray[np.int64], NDArray[np.int64]]]:
        return zip(values, self._cells, self._width, strict=True)

    def evenly(self, values: Sequence[FloatArray]) -> list[FloatArray]:
        """Divide the value of each bin evenly among its cells."""
        return [(v / np.maximum(w, 1))[c] for v, c, w in self._with(values)]

    def of_bins(self, values: Sequence[FloatArray]) -> FloatArray:
        """Assign to each cell the value of its bin."""
        return np.concatenate([v[c] for v, c, _ in self._with(values)])

    def fitted(
        self,
        aim: FloatArray,
        intercept: float,
        residual: FloatArray,
        n_structures: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Fit curves with new structures; return values per bin, then the intercept."""
        fit, binned, settings = self._fit, self._fit.binned, self._fit.settings
        n_samples = fit.share * binned.n_samples
        n_leaves = fit.schedule.max_leaves
        n_neutral = neutral_records(settings, n_leaves, n_samples, fit.leaf_noise_ratio)
        shape = (n_structures, len(self._n_records))
        spread = np.concatenate(binned.cell_spread)
        drawn = np.sqrt(spread) * rng.standard_normal(shape)
        noisy = self._n_records + binned.cell_noise_std * drawn
        if settings.merge_rare:
            noisy = np.maximum(noisy, 0.0)
        scores, intercepts = fresh_structures(
            noisy,
            self._start,
            np.array([len(b.special) for b in binned.bins], dtype=np.int64),
            np.array([b.edges is not None for b in binned.bins]),
            np.array([not c.ordered for c in binned.counts]),
            np.concatenate(
                [
                    np.arange(len(cell)) if c.unit_of_bin is None else c.unit_of_bin
                    for c, cell in zip(binned.counts, self._cells, strict=True)
                ]
            ).astype(np.int64),
            np.array([SIGNS.get(d or "", 0) for d in fit.monotone], dtype=np.int64),
            np.concatenate(self.evenly(self._curvature.mass)),
            aim,
            intercept,
            residual,
            self.of_bins(self._curvature.step_weight),
            self._functions,
            self._correlation.start,
            self._reactions,
            self._correlation.own_share,
            spread,
            binned.cell_noise_std,
            fit.share,
            binned.min_bin_count,
            settings.bin_noise_ratio,
            fit.schedule.n_epochs,
            n_leaves,
            fit.min_leaf_count,
            n_neutral,
            self._learning_rate * leaf_scale(n_neutral, n_samples),
            rng.integers(0, 2**63, size=n_structures, dtype=np.uint64),
        )
        ends = zip(self._start[:-1], self._start[1:], self._cells, self._width, strict=True)
        per_bin = [_bin_means(scores[:, a:z], cell, w) for a, z, cell, w in ends]
        return np.column_stack([*per_bin, intercepts])


def _residual_errors(variance: Sequence[FloatArray], rng: np.random.Generator) -> FloatArray:
    """Draw residual sums per cell, with the same total for every feature."""
    total = float(np.mean([v.sum() for v in variance]))
    common = np.sqrt(total) * rng.standard_normal(_N_SAMPLES)
    parts = []
    for v in variance:
        own = np.sqrt(v)[:, None] * rng.standard_normal((len(v), _N_SAMPLES))
        share = (v / max(v.sum(), 1e-12))[:, None]
        parts.append(own + share * (common - own.sum(axis=0)))
    return np.concatenate(parts)


def _bin_means(
    scores: FloatArray, bin_of_cell: NDArray[np.int64], width: NDArray[np.int64]
) -> FloatArray:
    """Return the mean over the cells of each bin, shape (n_draws, n_bins)."""
    sums = np.zeros((len(width), len(scores)))
    np.add.at(sums, bin_of_cell, scores.T)
    return (sums / np.maximum(width, 1)[:, None]).T


def _shrunk(terms: AdditiveTerms, privacy: FloatArray) -> list[FloatArray]:
    """Shrink the released curves by the proportion of their variance that is noise.

    Refits with new structures do not reproduce the noise of the released curves. If the noise were
    not removed by this positive-part shrinkage, it would be counted twice.
    """
    curves, first = [], 0
    for scores, count in zip(terms.scores, terms.counts, strict=True):
        weights = np.maximum(count, 0.0)
        noise = privacy[:, first : first + len(scores)].var(axis=0)
        first += len(scores)
        size = float(weights @ scores**2)
        kept = max(0.0, 1.0 - float(weights @ noise) / size) if size > 0 else 0.0
        curves.append(kept * scores)
    return curves
