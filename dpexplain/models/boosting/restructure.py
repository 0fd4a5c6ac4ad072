"""What other bins and trees would have made of the same people: fits without privacy noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting._noise_kernels import fresh_structures
from dpexplain.models.boosting.curvature import Curvature
from dpexplain.models.boosting.monotone import SIGNS
from dpexplain.models.boosting.private import PrivateFit
from dpexplain.models.boosting.terms import AdditiveTerms

FloatArray = NDArray[np.float64]

_N_SAMPLES = 6
"""Simulated samples of people that the structures are shared out among."""


def restructured(
    fit: PrivateFit,
    terms: AdditiveTerms,
    curvature: Curvature,
    privacy: FloatArray,
    *,
    learning_rate: float,
    n_structures: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Errors from other histograms, bins, trees and orders, for the released curve as target.

    Parameters
    ----------
    fit : PrivateFit
    terms : AdditiveTerms
        Of one score.
    curvature : Curvature
        Of that score, as far as terms repair their own errors.
    privacy : ndarray of shape (n_draws, n_values)
        Simulated errors of that score from privacy noise.
    learning_rate : float
        Share of a step that is added.
    n_structures : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of shape (n_structures, n_values)
    """
    binned, settings = fit.binned, fit.settings
    cells = [np.asarray(c, dtype=np.int64) for c in binned.bin_of_cell]
    width = [np.bincount(c, minlength=b.n_bins) for c, b in zip(cells, binned.bins, strict=True)]
    start = np.concatenate([[0], np.cumsum([len(c) for c in cells])]).astype(np.int64)

    def per_cell(values: Sequence[FloatArray]) -> FloatArray:
        """Spread what is known of a bin evenly over its cells."""
        parts = zip(values, cells, width, strict=True)
        return np.concatenate([(v / np.maximum(w, 1))[c] for v, c, w in parts])

    people = per_cell(
        [np.where(c.perhaps_nobody, 0.0, np.maximum(c.counts, 0.0)) for c in binned.counts]
    )
    noisy = people + binned.cell_noise_std * rng.standard_normal((n_structures, start[-1]))
    if settings.merge_rare:
        noisy = np.maximum(noisy, 0.0)
    curves = _shrunk(terms, privacy)
    spread = list(zip(curvature.variance, cells, width, strict=True))
    scores, intercepts = fresh_structures(
        noisy,
        start,
        np.array([len(b.special) for b in binned.bins], dtype=np.int64),
        np.array([b.edges is not None for b in binned.bins]),
        np.array([not c.ordered for c in binned.counts]),
        np.concatenate(
            [
                np.arange(len(cell)) if c.unit_of_bin is None else c.unit_of_bin
                for c, cell in zip(binned.counts, cells, strict=True)
            ]
        ).astype(np.int64),
        np.array([SIGNS.get(d or "", 0) for d in fit.monotone], dtype=np.int64),
        per_cell(curvature.mass),
        terms.intercept + np.concatenate([f[c] for f, c in zip(curves, cells, strict=True)]),
        # Trees also follow what is particular about the sample, each in its own way.
        _residual_errors([v[c] / w[c] for v, c, w in spread], rng).T,
        np.concatenate([r[c] for r, c in zip(curvature.step_weight, cells, strict=True)]),
        binned.cell_noise_std,
        fit.share,
        binned.min_bin_count,
        settings.bin_noise_ratio,
        fit.schedule.n_epochs,
        settings.max_leaves,
        fit.min_leaf_count,
        learning_rate,
        rng.integers(0, 2**63, size=n_structures, dtype=np.uint64),
    )
    per_bin = [
        _bin_means(scores[:, a:z], cell, w)
        for a, z, cell, w in zip(start[:-1], start[1:], cells, width, strict=True)
    ]
    found = np.column_stack([*per_bin, intercepts])
    samples = np.arange(len(found)) % _N_SAMPLES
    means = np.stack([found[samples == i].mean(axis=0) for i in range(_N_SAMPLES)])
    # Means of few structures take a part of the scatter with them.
    return (found - means[samples]) * np.sqrt(len(found) / (len(found) - _N_SAMPLES))


def _residual_errors(variance: Sequence[FloatArray], rng: np.random.Generator) -> FloatArray:
    """Draw residual sums per cell; every feature sees the same people, so totals agree."""
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
    """Mean over the cells of each bin, shape (n_draws, n_bins)."""
    sums = np.zeros((len(width), len(scores)))
    np.add.at(sums, bin_of_cell, scores.T)
    return (sums / np.maximum(width, 1)[:, None]).T


def _shrunk(terms: AdditiveTerms, privacy: FloatArray) -> list[FloatArray]:
    """Curves without the roughness that privacy noise gave them, by positive-part shrinkage.

    A structure cannot be expected to follow noise; with the released curves as they are their
    noise would be counted twice.
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
