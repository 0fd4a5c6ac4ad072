"""Presets: values for settings left at None, based only on public quantities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, get_args

from dpexplain.accounting import subsampled_noise_multiplier
from dpexplain.models.locally_linear.projections import Projection
from dpexplain.models.locally_linear.sampling import representable

Preset = Literal["accurate", "readable", "paper"]
PRESETS: tuple[str, ...] = get_args(Preset)

Composition = Literal["pld", "rdp", "moments"]
COMPOSITIONS: tuple[str, ...] = get_args(Composition)


@dataclass(frozen=True)
class Recipe:
    """Settings of a model and its training.

    Attributes
    ----------
    projection : {"none", "per_filter", "shared", "frequency"}
    n_basis : int or None
        Number of coefficients per filter; None if there is no projection.
    n_filters : int
        Number of filters per class.
    inverse_temperature : float
        Inverse temperature of the softmax over the filters of a class.
    per_image : bool
        Whether each record is centered and divided by its norm.
    scale : float
        Factor by which all inputs are multiplied.
    clip : float
        Bound on the norm of one record's gradient.
    batch_size : int
        Target number of people in the sample of a step.
    n_steps : int or None
        Number of steps; if None, it follows from `n_epochs`.
    n_epochs : int
        Number of epochs: steps times the sampling probability.
    learning_rate : float
    decay : tuple of float and int, or None
        Factor by which the learning rate is multiplied every so many epochs, when Adam's moments
        are reset, too, as in the code of Harder et al. (2020). If None, the learning rate falls
        linearly to zero.
    start_share : float
        Range of the random initial weights, relative to the range in the code of Harder et al.
        (2020).
    mean_share : float
        Fraction of the steps that estimate the mean record, which is subtracted from all records;
        0 if every filter index has its own projection.
    centre : float
        Position within the range of a numeric feature, in [0, 1], that is mapped to 0; the
        end of the range that is farther away is mapped to 1 or -1.
    """

    projection: Projection
    n_basis: int | None
    n_filters: int
    inverse_temperature: float
    per_image: bool
    scale: float
    clip: float
    batch_size: int
    n_epochs: int
    learning_rate: float
    decay: tuple[float, int] | None
    start_share: float
    n_steps: int | None = None
    mean_share: float = 0.01
    centre: float = 0.5


_FEWEST_STEPS_WITH_MEAN = 25
"""Minimum number of steps for estimating the mean record. If there are fewer, one of them is too
large a fraction to spend on the mean."""

_DEFAULT_PROBABILITY = 1.0 / 15.0
"""Sampling probability if the number of people is not known: a batch of 4,000 out of 60,000."""

_IMAGE = Recipe(
    projection="frequency",
    n_basis=120,
    n_filters=20,
    inverse_temperature=1.0 / 30.0,
    per_image=True,
    scale=340.0,
    clip=0.5,
    batch_size=4000,
    n_epochs=40,
    learning_rate=5e-3,
    decay=None,
    start_share=0.1,
)
_TABLE = replace(
    _IMAGE,
    projection="none",
    n_basis=None,
    n_filters=2,
    inverse_temperature=1.0,
    per_image=False,
    scale=1.0,
    batch_size=500,
    learning_rate=0.15,
)
_PAPER_CENTRE, _PAPER_SPREAD = 0.1307, 0.3081
"""Mean and standard deviation of MNIST pixels as fractions of their range, as published."""

_PAPER = Recipe(
    projection="per_filter",
    n_basis=300,
    n_filters=30,
    inverse_temperature=1.0 / 30.0,
    per_image=False,
    scale=(1.0 - _PAPER_CENTRE) / _PAPER_SPREAD,
    centre=_PAPER_CENTRE,
    clip=0.5,  # the printed 0.001, if that is of a loss averaged over the batch of 500
    batch_size=500,
    n_epochs=20,
    learning_rate=1e-3,
    decay=(0.8, 5),
    start_share=1.0,
    mean_share=0.0,
)


def recipe_for(preset: Preset, *, grid: bool, n_inputs: int, **given: Any) -> Recipe:
    """Return the recipe of a preset, with the settings given by the user.

    Parameters
    ----------
    preset : {"accurate", "readable", "paper"}
    grid : bool
        Whether the inputs form a grid.
    n_inputs : int
        Number of inputs.
    **given
        Settings given by the user, named after the fields of `Recipe`. If a setting is None, the
        value of the preset is used.

    Returns
    -------
    Recipe
    """
    chosen = {"paper": _PAPER, "accurate": _IMAGE if grid else _TABLE}.get(preset)
    if chosen is None:
        chosen = replace(
            _IMAGE if grid else _TABLE,
            n_basis=60 if grid else None,
            learning_rate=3e-3 if grid else 0.05,
        )
    if preset == "paper" and not grid:
        chosen = replace(chosen, projection="none", n_basis=None, scale=1.0, centre=0.5)
    chosen = replace(chosen, **{name: value for name, value in given.items() if value is not None})
    if chosen.projection == "per_filter":  # no bits are left for the mean; see `arithmetic`
        chosen = replace(chosen, mean_share=0.0)
    if chosen.projection == "none":
        return replace(chosen, n_basis=None)
    most = n_inputs - 1 if chosen.projection == "frequency" else n_inputs
    return replace(chosen, n_basis=max(1, min(chosen.n_basis or _IMAGE.n_basis or 1, most)))


@dataclass(frozen=True)
class Schedule:
    """Sampling probability and numbers of steps.

    Attributes
    ----------
    sampling_probability : float
    n_steps : int
        Total number of noisy sums.
    n_mean_steps : int
        Number of initial steps that estimate the mean record.
    steps_per_epoch : int
        Number of steps in an epoch. During an epoch, a person is sampled once on average.
    """

    sampling_probability: float
    n_steps: int
    n_mean_steps: int
    steps_per_epoch: int


def schedule(recipe: Recipe, n_public: int | None, sampling_probability: float | None) -> Schedule:
    """Return the number of steps and the sampling probability of private training.

    Parameters
    ----------
    recipe : Recipe
    n_public : int or None
        Publicly known number of records (or of people, if rows are grouped by person).
    sampling_probability : float or None
        Setting given by the user; None for the default.

    Returns
    -------
    Schedule
    """
    if sampling_probability is None:
        sampling_probability = (
            _DEFAULT_PROBABILITY if n_public is None else min(1.0, recipe.batch_size / n_public)
        )
    probability = representable(sampling_probability)
    per_epoch = max(1, round(1.0 / probability))
    n_steps = recipe.n_steps or recipe.n_epochs * per_epoch
    n_mean = 0
    if recipe.mean_share and n_steps >= _FEWEST_STEPS_WITH_MEAN:
        n_mean = max(1, round(recipe.mean_share * n_steps))
    return Schedule(probability, n_steps, n_mean, per_epoch)


@lru_cache(maxsize=256)
def noise_multiplier(
    epsilon: float,
    delta: float,
    n_steps: int,
    sampling_probability: float,
    composition: Composition,
    adjacency: str,
) -> float:
    """Return the noise-to-clip ratio at which a fit spends its whole budget."""
    return subsampled_noise_multiplier(
        epsilon,
        delta,
        n_steps,
        sampling_probability,
        accountant=composition,
        adjacency=adjacency,
    )
