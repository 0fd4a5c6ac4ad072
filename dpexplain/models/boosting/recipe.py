"""Settings of a fit, from the user and the preset."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dpexplain.binning.declared import Spacing

Preset = Literal["default", "paper"]


@dataclass(frozen=True)
class Recipe:
    """Settings fixed before the first release.

    Attributes
    ----------
    n_cells : int
        Maximum number of cells in the public grid of a numeric feature.
    spacing : {"mixed", "equal"}
        How the cells are spaced.
    max_bins : int or None
        Maximum number of merged bins per feature; None for the number of cells.
    bin_noise_ratio : float
        Minimum ratio of a merged bin's count to its noise.
    bin_share : float
        Share of the budget for the histograms: of mu squared with joint composition,
        of epsilon otherwise.
    count_share : float
        Share of the histograms' mu squared that is spent on counting the records first. The count
        determines the number of cells; with 0, there are `n_cells` cells.
    pair_share : float
        Share of the training's mu squared that is spent on one sum per pair of features, for the
        effect estimate; 0 for no pair sums.
    clip : float or None
        Bound on a residual: a probability for classifiers, or in units of half the target range
        for regression; None to derive it.
    clip_every : int
        If the clip of a regression is derived, it follows a quantile of the residuals, which is
        queried at this interval of passes; 0 for a fixed clip.
    max_leaves : int
        Number of leaves per tree.
    leaf_noise_ratio : float
        Minimum count of a leaf, as a multiple of the noise multiplier of its sum.
    n_epochs : int or None
        Number of passes over the features; None to derive it from the noisy sample size.
    learning_rate : float or None
        Fraction of the leaf mean that is added at each step; None to derive it from the number of
        passes.
    merge_rare : bool
        Whether to follow the paper's implementation: categories with too few records for a
        separate bin are merged into one bin, the others are ordered as declared or else by name,
        and negative noisy counts are treated as zero.
    shuffle_categories : bool
        Whether categories without an order are shuffled before each split.
    """

    n_cells: int
    spacing: Spacing
    max_bins: int | None
    bin_noise_ratio: float
    bin_share: float
    count_share: float
    pair_share: float
    clip: float | None
    clip_every: int
    max_leaves: int
    leaf_noise_ratio: float
    n_epochs: int | None
    learning_rate: float | None
    merge_rare: bool
    shuffle_categories: bool


DEFAULT = Recipe(
    n_cells=256,
    spacing="mixed",
    max_bins=None,
    bin_noise_ratio=1.0,
    bin_share=0.22,
    count_share=0.1,
    pair_share=0.05,
    clip=None,
    clip_every=2,
    max_leaves=3,
    leaf_noise_ratio=2.0,
    n_epochs=None,
    learning_rate=None,
    merge_rare=False,
    shuffle_categories=True,
)

PAPER = Recipe(
    n_cells=64,
    spacing="equal",
    max_bins=32,
    bin_noise_ratio=0.0,
    bin_share=0.1,
    count_share=0.0,
    pair_share=0.0,
    clip=1.0,
    clip_every=0,
    max_leaves=3,
    leaf_noise_ratio=0.0,
    n_epochs=300,
    learning_rate=0.01,
    merge_rare=True,
    shuffle_categories=False,
)
"""Hyper-parameters of Nori et al., ICML 2021 (section 4), with a valid guarantee.

Residuals of a regression are clipped to half the target range around its middle, because the noise
of the paper does not cover unclipped residuals.
"""

EPOCHS = (5, 200)
"""Range of the derived number of passes."""

CELLS = (32, 256)
"""Range of the derived number of cells of a numeric feature."""

_CELLS_UNCOUNTED = 128
"""Number of cells if the records are not counted first."""

CLASSIFIER_CLIPS = (0.5, 1.0)
"""Range of the derived clip of a classifier, in units of probability.

A smaller clip means less noise but some bias (toward less extreme probabilities), which is
worthwhile if noise dominates.
"""

_FIRST_CLIP = 0.2
"""Initial clip of a regression, in half-ranges of the target."""

_CLIP_RANGE = (0.02, 1.0)
_CLIP_RATE = 0.5
_QUANTILES = (0.55, 0.95)


@dataclass(frozen=True)
class Schedule:
    """Settings that a recipe derives from earlier releases.

    Attributes
    ----------
    n_epochs : int
        Number of passes over the features.
    learning_rate : float
        Fraction of the leaf mean that is added at each step.
    clip : float
        Bound on a residual, in score units of the loop; the initial bound if the clip adapts.
    clip_quantile : float or None
        Proportion of the residuals that the clip should leave unchanged; None if the clip is fixed.
    clip_every : int
        Number of passes between clip queries.
    """

    n_epochs: int
    learning_rate: float
    clip: float
    clip_quantile: float | None = None
    clip_every: int = 1

    @property
    def n_clip_queries(self) -> int:
        """Return the number of clip queries in one fit."""
        return 0 if self.clip_quantile is None else -(-self.n_epochs // self.clip_every)

    def next_clip(self, clip: float, share_inside: float) -> float:
        """Update the clip by a geometric step toward the target quantile [1]_.

        Parameters
        ----------
        clip : float
            The current clip.
        share_inside : float
            Noisy proportion of the residuals that the clip leaves unchanged, minus `clip_quantile`.

        Returns
        -------
        float

        References
        ----------
        .. [1] Andrew, Thakkar, McMahan and Ramaswamy, "Differentially Private Learning with
           Adaptive Clipping", NeurIPS 2021, arXiv:1905.03871.
        """
        moved = clip * np.exp(-_CLIP_RATE * np.clip(share_inside, -1.0, 1.0))
        return float(np.clip(moved, *_CLIP_RANGE))


def recipe(preset: Preset, **given: float | int | None) -> Recipe:
    """Return the settings of the preset, overridden by the user's settings.

    Parameters
    ----------
    preset : {"default", "paper"}
        Source of the settings that are not given.
    **given
        Fields of `Recipe`; if None, the value of the preset is used.

    Returns
    -------
    Recipe
    """
    base = PAPER if preset == "paper" else DEFAULT
    settings = replace(base, **{k: v for k, v in given.items() if v is not None})  # type: ignore[arg-type]
    if settings.max_bins is None:
        return settings
    # Bins are merged cells: the grid of the paper has two cells per bin, ours at least one.
    cells_per_bin = 2 if preset == "paper" else 1
    return replace(settings, n_cells=max(cells_per_bin * settings.max_bins, settings.n_cells))


def signal_ratio(n_samples: float, n_features: int, mu_train: float) -> float:
    """Return the signal-to-noise ratio that determines all derived settings.

    Parameters
    ----------
    n_samples : float
        Noisy number of records.
    n_features : int
        Number of features.
    mu_train : float
        Gaussian-DP parameter of the boosting phase.

    Returns
    -------
    float
        Number of records per feature, divided by the noise standard deviation of a sum over all
        records.
    """
    return float(max(1.0, n_samples) * mu_train / np.sqrt(n_features))


def cells_for(settings: Recipe, ratio: float) -> int:
    """Return the number of cells of a numeric feature, a power of two.

    Parameters
    ----------
    settings : Recipe
    ratio : float
        From `signal_ratio`.

    Returns
    -------
    int
    """
    if settings.max_bins is not None:
        return settings.n_cells
    if not settings.count_share:
        return min(settings.n_cells, _CELLS_UNCOUNTED)
    return int(np.clip(2.0 ** np.round(np.log2(ratio / 4.5)), *CELLS))


def schedule(settings: Recipe, ratio: float, *, clip_adapts: bool) -> Schedule:
    """Derive passes, learning rate and clip from the signal-to-noise ratio.

    If noise dominates, there are few large steps and a tight clip, otherwise many small steps. The
    ratio uses the noisy sample size, so this is post-processing; the budget of the phase is always
    the same.

    Parameters
    ----------
    settings : Recipe
        Recipe whose explicit settings are kept.
    ratio : float
        From `signal_ratio`.
    clip_adapts : bool
        Whether a clip that the recipe does not fix follows the residuals.

    Returns
    -------
    Schedule
    """
    n_epochs = settings.n_epochs
    if n_epochs is None:
        n_epochs = int(np.clip(round(15.0 * (ratio / 40.0) ** 0.55), *EPOCHS))
    learning_rate = settings.learning_rate
    if learning_rate is None:
        factor = 1.2 * max(1.0, ratio / 250.0) ** 0.5
        learning_rate = min(1.0, factor / np.sqrt(n_epochs))
    if settings.clip is not None:
        return Schedule(n_epochs, float(learning_rate), settings.clip)
    if not clip_adapts:
        clip = float(np.clip(0.5 * (ratio / 50.0) ** 0.2, *CLASSIFIER_CLIPS))
        return Schedule(n_epochs, float(learning_rate), clip)
    quantile = float(np.clip(1.0 - 0.45 * (45.0 / ratio) ** 0.3, *_QUANTILES))
    return Schedule(n_epochs, float(learning_rate), _FIRST_CLIP, quantile, settings.clip_every)
