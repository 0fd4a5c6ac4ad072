"""How much of a model's curves is noise, from released quantities alone.

Three parts, each simulated in the space of bins, where there is no record: so this is
post-processing and costs no privacy.

* Privacy: the noise that went into every leaf sum is known in distribution, and so is how the
  boosting recursion reacts to it: an error d of the score in a bin lowers the next residual sum
  there by d times the curvature of the loss. Adding up the injected variances instead would be
  too wide, since later rounds repair what earlier noise did.
* Structure: the released curve, with what a sample of people adds to it, is fitted again without
  privacy noise, with histograms drawn anew around the released ones, other merged bins, other
  random trees and another order of the features.
* Sampling: another sample of people would have had other residual sums, the same in every
  round. Their variance follows from the noisy counts: p (1 - p) for classes, less what is
  clipped, and for a regression that of normal residuals, of which the clip leaves a known
  share alone.

All of them take features as independent of each other given their histograms, since nothing
about pairs of features is released; how much of a term's errors its own trees really repair is
estimated from the released sums (`repair.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting._noise_kernels import fresh_structures, replay_trees
from dpexplain.models.boosting.curvature import Curvature
from dpexplain.models.boosting.private import PrivateFit
from dpexplain.models.boosting.repair import repaired_shares
from dpexplain.models.boosting.shortfall import stretches
from dpexplain.models.boosting.structure import BinCounts, Visit
from dpexplain.models.boosting.terms import AdditiveTerms

FloatArray = NDArray[np.float64]

N_SIMULATIONS = 200
"""Simulated fits; the relative error of a standard deviation is 1 / sqrt(2 * 200) = 5 %."""

N_STRUCTURES = 120
"""Simulated structures; 6 % relative error."""

N_SAMPLES = 6
"""Simulated samples of people that the structures are shared out among."""

_SEED = 20210718  # post-processing: the same model always shows the same band


@dataclass(frozen=True, eq=False)
class NoiseDraws:
    """Simulated errors of all bins of all terms, and of the intercept.

    Attributes
    ----------
    privacy, structure, sampling : ndarray of shape (n_draws, n_values)
        Values are the bins of the first term, those of the second, and so on; then the
        intercept. In score units, mean zero.
    stretch : ndarray of shape (n_terms,) or None, default=None
        Factor on each curve that undoes how far the fit falls short; None where it is not known.
    """

    privacy: FloatArray
    structure: FloatArray
    sampling: FloatArray
    stretch: FloatArray | None = None


def simulate_noise(
    fit: PrivateFit,
    terms: AdditiveTerms,
    curvature: Curvature,
    *,
    scale: float,
    n_simulations: int = N_SIMULATIONS,
    n_structures: int = N_STRUCTURES,
) -> NoiseDraws:
    """Simulate what other noise, other trees and another sample would have changed.

    Parameters
    ----------
    fit : PrivateFit
        What was released.
    terms : AdditiveTerms
        Its centred terms, in score units.
    curvature : Curvature
        From the loss and the terms.
    scale : float
        Score units per unit of the loop.
    n_simulations : int, default=200
        Simulated fits for privacy noise, and as many for sampling.
    n_structures : int, default=120
        Simulated structures.

    Returns
    -------
    NoiseDraws
    """
    rng = np.random.default_rng(_SEED)
    curvature = curvature.of_part(fit.share)
    stretch = stretches(fit, curvature)
    curvature = curvature.times(repaired_shares(fit, curvature))
    privacy, sampling = _replayed(fit, curvature, scale, n_simulations, rng)
    structure = _restructured(fit, terms, curvature, privacy, n_structures, rng)
    return NoiseDraws(privacy, structure, sampling, stretch)


def _starts(sizes: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _replayed(
    fit: PrivateFit,
    curvature: Curvature,
    scale: float,
    n_simulations: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Errors from leaf noise, and from sampling, through the released trees."""
    counts, visits = [c.thinned(fit.share) for c in fit.binned.counts], fit.visits
    start = _starts([len(c.counts) for c in counts])
    leaf_start = _starts([len(v.leaf_weight) for v in visits])
    # Bags have noise of their own, which their mean averages out; trees are alike.
    noise_std = np.repeat(
        np.float32(scale * fit.leaf_noise_std / np.sqrt(len(fit.bags))), np.diff(leaf_start)
    )
    noise = rng.standard_normal((leaf_start[-1], n_simulations), dtype=np.float32)
    noise *= noise_std[:, None]
    state = np.zeros((start[-1], 2 * n_simulations), np.float32)
    persistent = np.zeros_like(state)
    persistent[:, n_simulations:] = _residual_errors(curvature.variance, n_simulations, rng)
    shares = [m / max(m.sum(), 1e-12) for m in curvature.mass]
    replay_trees(
        state,
        persistent,
        noise,
        start,
        np.concatenate(curvature.mass).astype(np.float32),
        np.concatenate(shares).astype(np.float32),
        np.array([v.feature for v in visits], dtype=np.int64),
        _starts([len(v.leaf_of_bin) for v in visits])[:-1],
        np.concatenate([v.leaf_of_bin for v in visits]),
        leaf_start,
        np.concatenate([v.leaf_weight for v in visits]).astype(np.float32),
        np.float32(fit.schedule.learning_rate),
    )
    errors = _centred(state.T.astype(np.float64), counts, start)
    privacy, sampling = errors[:n_simulations], errors[n_simulations:]
    for k, feature in enumerate(counts):
        if not _fitted(visits, k):
            std = _std_of_two_halves(fit, k) * scale
            shape = (n_simulations, len(feature.counts))
            privacy[:, start[k] : start[k + 1]] = std * rng.standard_normal(shape)
    return privacy, sampling


def _residual_errors(
    variance: Sequence[FloatArray], n_draws: int, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Draw residual sums per bin; every feature sees the same people, so totals agree."""
    total = float(np.mean([v.sum() for v in variance]))
    common = np.sqrt(total) * rng.standard_normal(n_draws)
    parts = []
    for v in variance:
        own = np.sqrt(v)[:, None] * rng.standard_normal((len(v), n_draws))
        share = (v / max(v.sum(), 1e-12))[:, None]
        parts.append(own + share * (common - own.sum(axis=0)))
    return np.concatenate(parts).astype(np.float32)


def _centred(
    errors: FloatArray, counts: Sequence[BinCounts], start: NDArray[np.int64]
) -> FloatArray:
    """Centre each term with the weights of the fit; what is taken away is the intercept's."""
    parts, intercept = [], np.zeros(len(errors))
    for k, feature in enumerate(counts):
        own = errors[:, start[k] : start[k + 1]]
        weights = np.where(feature.perhaps_nobody, 0.0, np.maximum(feature.counts, 0.0))
        mean = own @ weights / weights.sum() if weights.sum() > 0 else np.zeros(len(own))
        # Bins that contribute nothing keep the band that their own estimate would have had.
        parts.append(own - mean[:, None])
        intercept += mean
    return np.column_stack([*parts, intercept])


def _fitted(visits: Sequence[Visit], feature: int) -> bool:
    return any(v.feature == feature and len(v.leaf_weight) > 1 for v in visits)


def _std_of_two_halves(fit: PrivateFit, feature: int) -> float:
    """Noise of a term that could not be fitted, since no tree had people enough for two leaves.

    Its curve is zero, which is not knowledge. It carries the noise that as many trees of two
    equal leaves would have added up to.
    """
    counts = fit.binned.counts[feature].counts
    people = max(float(np.maximum(counts, 0.0).sum()), 1.0)
    n_trees = fit.schedule.n_epochs
    return float(
        fit.schedule.learning_rate
        * fit.leaf_noise_std.mean()
        / (fit.share * people / 2.0)
        * np.sqrt(n_trees / len(fit.bags))
    )


def _restructured(
    fit: PrivateFit,
    terms: AdditiveTerms,
    curvature: Curvature,
    privacy: FloatArray,
    n_structures: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Errors from other histograms, bins, trees and orders, for the released curve as target."""
    binned, settings = fit.binned, fit.settings
    cells = [np.asarray(c, dtype=np.int64) for c in binned.bin_of_cell]
    width = [np.bincount(c, minlength=b.n_bins) for c, b in zip(cells, binned.bins, strict=True)]
    start = _starts([len(c) for c in cells])

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
        per_cell(curvature.mass),
        terms.intercept + np.concatenate([f[c] for f, c in zip(curves, cells, strict=True)]),
        # Trees also follow what is particular about the sample, each in its own way.
        _residual_errors([v[c] / w[c] for v, c, w in spread], N_SAMPLES, rng).T.astype(np.float64),
        binned.cell_noise_std,
        fit.share,
        binned.min_bin_count,
        settings.bin_noise_ratio,
        fit.schedule.n_epochs,
        settings.max_leaves,
        fit.min_leaf_count,
        fit.schedule.learning_rate,
        rng.integers(0, 2**63, size=n_structures, dtype=np.uint64),
    )
    per_bin = [
        _bin_means(scores[:, a:z], cell, w)
        for a, z, cell, w in zip(start[:-1], start[1:], cells, width, strict=True)
    ]
    found = np.column_stack([*per_bin, intercepts])
    samples = np.arange(len(found)) % N_SAMPLES
    means = np.stack([found[samples == i].mean(axis=0) for i in range(N_SAMPLES)])
    # Means of few structures take a part of the scatter with them.
    return (found - means[samples]) * np.sqrt(len(found) / (len(found) - N_SAMPLES))


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
