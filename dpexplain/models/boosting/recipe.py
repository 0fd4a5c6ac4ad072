"""Settings of a fit: what the user gave, and what a preset derives from public quantities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dpexplain.binning.declared import Spacing

Preset = Literal["default", "paper"]


@dataclass(frozen=True)
class Recipe:
    """Settings that are fixed before the first release.

    Attributes
    ----------
    n_cells : int
        Cells of the public grid of a numeric feature.
    spacing : {"mixed", "equal"}
        How the cells are spaced.
    max_bins : int
        At most so many merged bins per feature.
    bin_noise_ratio : float
        A merged bin stands out of its own noise by this factor.
    bin_share : float
        Share of the budget for the histograms: of mu squared with joint composition,
        of epsilon otherwise.
    clip : float or None
        Bound on a residual: of a probability for classifiers, in half-ranges for
        regression; None to derive it from the noisy sample size.
    max_leaves : int
        Leaves of a tree.
    leaf_noise_ratio : float
        A leaf holds at least this many noise standard deviations (of one leaf sum).
    n_epochs : int or None
        Passes over the features; None to derive them from the noisy sample size.
    learning_rate : float or None
        Share of the leaf mean that is added; None to derive it from the passes.
    merge_rare : bool
        Whether, as in the implementation of the paper, categories with fewer people than a
        bin should hold are fitted as one, the others are cut in their own order or else that
        of their names, and negative noisy counts count as zero.
    shuffle_categories : bool
        Whether categories without an order are shuffled before each cut.
    step_factor : float
        The derived learning rate is this over the root of the passes, at most 1, and more
        where noise is small: curves should then settle where those of the reference do.
    """

    n_cells: int
    spacing: Spacing
    max_bins: int
    bin_noise_ratio: float
    bin_share: float
    clip: float | None
    max_leaves: int
    leaf_noise_ratio: float
    n_epochs: int | None
    learning_rate: float | None
    merge_rare: bool
    shuffle_categories: bool
    step_factor: float


DEFAULT = Recipe(
    n_cells=128,
    spacing="mixed",
    max_bins=128,
    bin_noise_ratio=1.0,
    bin_share=0.2,
    clip=1.0,
    max_leaves=3,
    leaf_noise_ratio=2.0,
    n_epochs=None,
    learning_rate=None,
    merge_rare=False,
    shuffle_categories=True,
    # The curvature of the logistic loss is at most 1/4, so a mean residual is a shorter
    # step than it is for the squared loss.
    step_factor=2.5,
)

PAPER = Recipe(
    n_cells=64,
    spacing="equal",
    max_bins=32,
    bin_noise_ratio=0.0,
    bin_share=0.1,
    clip=1.0,
    max_leaves=3,
    leaf_noise_ratio=0.0,
    n_epochs=300,
    learning_rate=0.01,
    merge_rare=True,
    shuffle_categories=False,
    step_factor=2.5,
)
"""Hyper-parameters of Nori et al., ICML 2021 (section 4), with a true guarantee.

Residuals of a regression are clipped to half the target range around its middle, since
the noise of the paper does not cover unclipped ones.
"""

EPOCHS = (5, 200)
"""Range of the derived number of passes."""

_REGRESSION_CLIPS = (0.1, 0.3)
"""Range of the derived clip of regression, in half-ranges.

A smaller clip means less noise for some bias: it pays where noise dominates.
"""


_REGRESSION_STEP_FACTOR = 1.5


@dataclass(frozen=True)
class Schedule:
    """Settings that a recipe derives from the released histograms.

    Attributes
    ----------
    n_epochs : int
        Passes over the features.
    learning_rate : float
        Share of the leaf mean that is added.
    clip : float
        Bound on a residual, in score units of the loop.
    """

    n_epochs: int
    learning_rate: float
    clip: float


def recipe(preset: Preset, *, regression: bool, **given: float | int | None) -> Recipe:
    """Take the settings of a preset, with the user's own ones in their place.

    Parameters
    ----------
    preset : {"default", "paper"}
        Where settings that were not given come from.
    regression : bool
        Whether the loss is the squared one.
    **given
        Fields of `Recipe`; None for "as the preset has it".

    Returns
    -------
    Recipe
    """
    base = PAPER if preset == "paper" else DEFAULT
    if regression and preset == "default":
        base = replace(base, clip=None, step_factor=_REGRESSION_STEP_FACTOR)
    settings = replace(base, **{k: v for k, v in given.items() if v is not None})  # type: ignore[arg-type]
    # Bins are merged cells: the grid of the paper has two cells per bin, ours at least one.
    cells_per_bin = 2 if preset == "paper" else 1
    return replace(settings, n_cells=max(cells_per_bin * settings.max_bins, settings.n_cells))


def schedule(settings: Recipe, *, n_samples: float, n_features: int, mu_train: float) -> Schedule:
    """Derive passes, learning rate and clip from the signal-to-noise ratio of the data set.

    Few large steps and a tight clip where noise dominates, many small steps where it does
    not. The ratio ``n_samples * mu / sqrt(n_features)`` uses the noisy sample size, so this
    is post-processing; the budget of the phase is the same whatever comes out.

    Parameters
    ----------
    settings : Recipe
        What it gives is kept.
    n_samples : float
        Noisy number of people.
    n_features : int
        Number of features.
    mu_train : float
        Gaussian-DP parameter of the boosting phase.

    Returns
    -------
    Schedule
    """
    ratio = n_samples * mu_train / np.sqrt(n_features)
    n_epochs = settings.n_epochs
    if n_epochs is None:
        n_epochs = int(np.clip(round(10.0 * (ratio / 40.0) ** 0.6), *EPOCHS))
    learning_rate = settings.learning_rate
    if learning_rate is None:
        factor = settings.step_factor * max(1.0, ratio / 500.0) ** 0.35
        learning_rate = min(1.0, factor / np.sqrt(n_epochs))
    clip = settings.clip
    if clip is None:
        clip = float(np.clip(0.3 * np.sqrt(ratio / 600.0), *_REGRESSION_CLIPS))
    return Schedule(n_epochs, float(learning_rate), clip)
