"""Settings of a fit, taken from the user, the preset and the first releases."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dpexplain.binning.declared import Spacing

Preset = Literal["default", "paper"]


@dataclass(frozen=True)
class Recipe:
    """Settings of a fit that are known before anything is released.

    Attributes
    ----------
    n_cells : int
        Maximum number of cells in the public grid of a numeric feature.
    spacing : {"mixed", "equal"}
        Spacing of the cells of a numeric feature; see `declared_cells`.
    max_bins : int or None
        Maximum number of bins per feature after merging; if None, the number of cells.
    bin_noise_ratio : float
        Minimum ratio of a merged bin's count to its noise.
    bin_share : float
        Share of the budget spent on the histograms: a share of mu squared with joint composition,
        and a share of epsilon otherwise.
    count_share : float
        Share of the histograms' mu squared spent on counting the records first. The count
        determines the number of cells. If the share is 0, the records are not counted first.
    bin_rounds : tuple of float
        Share of the rest of the histograms' mu squared spent on each round of counting; heavy cells
        are split between rounds. If records are not counted first, there is only one round, and no
        cell is split.
    pair_share : float
        Share of the boosting phase's mu squared spent on how pairs of features depend on each
        other. The effect estimate uses it. If the share is 0, nothing about pairs is released.
    line_share : float
        Share of the boosting phase's mu squared spent on calibrating the scores. If the share is 0,
        they are not calibrated.
    clip : float or None
        Bound on a residual, in units of probability for classifiers and in units of half the
        target range for regression. If None, the bound is derived.
    clip_every : int
        Number of passes between private queries that adapt a regressor's derived clip to a quantile
        of the residuals; 0 for a fixed clip.
    max_leaves : int or None
        Number of leaves per tree. If None, it is derived from the noisy number of records.
    leaf_noise_ratio : float
        Minimum noisy count of a leaf, divided by the noise standard deviation of its sum in units
        of the clip.
    neutral_ratio : float
        Number of neutral records of a leaf for each leaf of a tree above three, divided by the
        noise standard deviation of a leaf sum in units of the clip; see `neutral_records`.
    n_epochs : int or None
        Number of passes over the features. If None, it is derived from the noisy number of
        records.
    learning_rate : float or None
        Fraction of a leaf's mean residual added at each step. If None, it is derived from the noisy
        number of records and the number of passes.
    merge_rare : bool
        Whether to follow the paper's implementation: categories with too few records for a separate
        bin are merged into one bin, the other categories are in declared order or, if unordered,
        sorted by name, and negative noisy counts are treated as zero.
    shuffle_categories : bool
        Whether unordered categories are shuffled before each split.
    """

    n_cells: int
    spacing: Spacing
    max_bins: int | None
    bin_noise_ratio: float
    bin_share: float
    count_share: float
    bin_rounds: tuple[float, ...]
    pair_share: float
    line_share: float
    clip: float | None
    clip_every: int
    max_leaves: int | None
    leaf_noise_ratio: float
    neutral_ratio: float
    n_epochs: int | None
    learning_rate: float | None
    merge_rare: bool
    shuffle_categories: bool

    @property
    def rounds(self) -> tuple[float, ...]:
        """Budget share of each counting round; one round if records are not counted first."""
        return self.bin_rounds if self.count_share else (1.0,)


DEFAULT = Recipe(
    n_cells=256,
    spacing="mixed",
    max_bins=None,
    bin_noise_ratio=1.0,
    bin_share=0.22,
    count_share=0.1,
    bin_rounds=(0.25, 0.25, 0.5),
    pair_share=0.05,
    line_share=0.05,
    clip=None,
    clip_every=2,
    max_leaves=None,
    leaf_noise_ratio=2.0,
    neutral_ratio=2.5,
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
    bin_rounds=(1.0,),
    pair_share=0.0,
    line_share=0.0,
    clip=1.0,
    clip_every=0,
    max_leaves=3,
    leaf_noise_ratio=0.0,
    neutral_ratio=0.0,
    n_epochs=300,
    learning_rate=0.01,
    merge_rare=True,
    shuffle_categories=False,
)
"""Hyperparameters of Nori et al., ICML 2021 (section 4), with one change for a valid guarantee.

Targets of a regression are centered and residuals are clipped to half the target range, because
the noise of the paper does not cover unclipped residuals.
"""

EPOCHS = (5, 200)
"""Range of the derived number of passes."""

LEAVES = (3, 5)
"""Range of the derived number of leaves per tree."""

_RATIO_PER_LEAF = 150.0
"""Signal-to-noise ratio that allows one leaf."""

_MOST_NEUTRAL = 0.2
"""Maximum number of neutral records per leaf, as a share of all records."""

CELLS = (4, 256)
"""Range of the derived number of cells of a numeric feature."""

_CELLS_OF_FEW = 32
"""Limit on the number of cells up to which each cell gets a signal-to-noise ratio of 1.

Each further cell needs more signal, because it only helps to find narrow features of a curve.
"""

_CELLS_UNCOUNTED = 128
"""Maximum number of cells if the records are not counted first."""

CLASSIFIER_CLIPS = (0.5, 1.0)
"""Range of the derived clip of a classifier, in units of probability.

A smaller clip means less noise but some bias (toward less extreme probabilities), which is
worthwhile if noise dominates.
"""

_FIRST_CLIP = 0.2
"""Initial clip of a regression, in units of half the target range."""

CLIP_RANGE = (0.02, 1.0)
"""Range of an adaptive clip, in units of half the target range."""

_CLIP_RATE = 0.5
_QUANTILES = (0.55, 0.95)


@dataclass(frozen=True)
class Schedule:
    """Settings of the boosting phase, derived from a recipe and earlier releases.

    Attributes
    ----------
    n_epochs : int
        Number of passes over the features.
    max_leaves : int
        Number of leaves per tree.
    learning_rate : float
        Fraction of a leaf's mean residual added at each step.
    clip : float
        Bound on a residual, in internal units of the boosting loop; the initial bound if the clip
        adapts.
    clip_quantile : float or None
        Proportion of the residuals that the clip should leave unchanged; None if the clip is fixed.
    clip_every : int
        Number of passes between queries that adapt the clip.
    """

    n_epochs: int
    max_leaves: int
    learning_rate: float
    clip: float
    clip_quantile: float | None = None
    clip_every: int = 1

    @property
    def n_clip_queries(self) -> int:
        """Return the number of clip queries in one fit."""
        return 0 if self.clip_quantile is None else -(-self.n_epochs // self.clip_every)

    def next_clip(self, clip: float, share_inside: float) -> float:
        """Return the clip after a geometric step toward the target quantile [1]_.

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
        return float(np.clip(moved, *CLIP_RANGE))


def recipe(preset: Preset, **given: float | int | None) -> Recipe:
    """Return the settings of the preset, overridden by the user's settings.

    Parameters
    ----------
    preset : {"default", "paper"}
        Recipe whose values are used for all settings that are not given.
    **given
        Fields of `Recipe` that the user has set; None has the same effect as omitting a field.

    Returns
    -------
    Recipe
    """
    base = PAPER if preset == "paper" else DEFAULT
    settings = replace(base, **{k: v for k, v in given.items() if v is not None})  # type: ignore[arg-type]
    if settings.max_bins is None:
        return settings
    # Bins are merged cells: the paper has two cells per bin, and this library at least one.
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
        Number of records divided by the noise standard deviation that each leaf sum would have if
        the fit made a single pass over the features. The standard deviation is in units of the
        sensitivity.
    """
    return float(max(1.0, n_samples) * mu_train / np.sqrt(n_features))


def cells_for(settings: Recipe, ratio: float) -> int:
    """Return the maximum number of cells for a numeric feature.

    The number is fixed by the settings or, if the records were counted first, a power of two that
    depends on the signal-to-noise ratio.

    Parameters
    ----------
    settings : Recipe
    ratio : float
        Ratio from `signal_ratio`.

    Returns
    -------
    int
    """
    if settings.max_bins is not None:
        return settings.n_cells
    if not settings.count_share:
        return min(settings.n_cells, _CELLS_UNCOUNTED)
    wanted = max(min(ratio, _CELLS_OF_FEW), ratio / 4.5)
    return int(np.clip(2.0 ** np.round(np.log2(wanted)), *CELLS))


def schedule(settings: Recipe, ratio: float, *, clip_adapts: bool) -> Schedule:
    """Derive passes, learning rate and clip from the signal-to-noise ratio.

    If noise dominates, the fit takes few large steps with a tight clip; otherwise, it takes many
    small steps. The ratio depends on the records only through the noisy record count, so this
    is post-processing. The budget of the boosting phase does not depend on the schedule.

    Parameters
    ----------
    settings : Recipe
        Recipe whose explicit settings are kept.
    ratio : float
        Ratio from `signal_ratio`.
    clip_adapts : bool
        Whether the clip follows a quantile of the residuals if the recipe does not specify a clip.

    Returns
    -------
    Schedule
    """
    n_epochs = settings.n_epochs
    if n_epochs is None:
        n_epochs = int(np.clip(round(15.0 * (ratio / 40.0) ** 0.55), *EPOCHS))
    max_leaves = settings.max_leaves
    if max_leaves is None:
        max_leaves = int(np.clip(round(ratio / _RATIO_PER_LEAF), *LEAVES))
    learning_rate = settings.learning_rate
    if learning_rate is None:
        factor = 1.2 * max(1.0, ratio / 250.0) ** 0.5
        learning_rate = min(1.0, factor / np.sqrt(n_epochs))
    steps = n_epochs, max_leaves, float(learning_rate)
    if settings.clip is not None:
        return Schedule(*steps, settings.clip)
    if not clip_adapts:
        clip = float(np.clip(0.5 * (ratio / 50.0) ** 0.2, *CLASSIFIER_CLIPS))
        return Schedule(*steps, clip)
    quantile = float(np.clip(1.0 - 0.45 * (45.0 / ratio) ** 0.3, *_QUANTILES))
    return Schedule(*steps, _FIRST_CLIP, quantile, settings.clip_every)


def neutral_records(
    settings: Recipe, max_leaves: int, n_samples: float, noise_per_clip: float
) -> float:
    """Return the number of neutral records of a leaf, which have no residual.

    With more than three leaves, some hold few records, and their mean residuals are the noisiest.
    Neutral records, which add to the weight of a leaf but not to its sum, shorten their steps.
    There are at most a fifth of all records.

    Parameters
    ----------
    settings : Recipe
    max_leaves : int
        Number of leaves per tree.
    n_samples : float
        Noisy number of records.
    noise_per_clip : float
        Noise standard deviation of a leaf sum, in units of the clip.

    Returns
    -------
    float
    """
    number = settings.neutral_ratio * max(0, max_leaves - LEAVES[0]) * noise_per_clip
    return min(number, _MOST_NEUTRAL * max(1.0, n_samples))
