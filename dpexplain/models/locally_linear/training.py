"""Private and non-private training of filters: gradients, noise and Adam."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpexplain.mechanisms import Mechanism, SampledPhase
from dpexplain.models.locally_linear.gradients import GradientSums, Sample
from dpexplain.models.locally_linear.optimizer import Adam

Floats = NDArray[np.float64]

Progress = Callable[[int, int], object]
"""Called with the number of steps done and the total number of steps; both are public."""

LABEL = "gradients"

_VALUES_AT_ONCE = 1 << 20
"""Number of values for which noise is drawn at a time, to limit the use of memory."""


@dataclass(frozen=True, eq=False, repr=False)
class Trained:
    """Result of training.

    Attributes
    ----------
    weights : ndarray of shape (n_classes * n_filters, n_basis + 1)
        Weights of the filters; the last column is for the constant feature.
    variance : ndarray of the same shape as `weights`
        Variance of the privacy noise in the weights; zero if training is not private.
    """

    weights: Floats
    variance: Floats


@dataclass(frozen=True)
class NoisePlan:
    """Settings of clipping, sampling and noise for private training.

    Attributes
    ----------
    clip : float
        Bound on the norm of one record's gradient.
    noise_multiplier : float
        Noise standard deviation divided by the bound on one person's contribution, which is the
        clip times `rows_per_person`.
    rows_per_person : int
        Maximum number of rows used per person.
    sampling_probability : float
        Probability that a person is in the sample of a step.
    lattice_bits : int
        The clip is ``2**lattice_bits`` lattice steps.
    n_changed : int
        Number of privacy units by which neighboring data sets differ: 1 if a unit is added or
        removed, 2 if one is replaced.
    """

    clip: float
    noise_multiplier: float
    rows_per_person: int
    sampling_probability: float
    lattice_bits: int
    n_changed: int

    def phase(self, n_values: int) -> SampledPhase:
        """Return the phase of the noisy sums, each of which has `n_values` values."""
        bound = self.rows_per_person * 2.0**self.lattice_bits
        return SampledPhase(
            LABEL,
            self.n_changed * bound,
            self.noise_multiplier * bound,
            n_values,
            n_changed=self.n_changed,
            sampling_probability=self.sampling_probability,
        )

    @property
    def noise_std(self) -> float:
        """Standard deviation of the noise in a sum of gradients."""
        return self.noise_multiplier * self.rows_per_person * self.clip


def train_private(
    sums: GradientSums,
    samples: Iterable[Sample],
    start: Floats,
    rates: Floats,
    plan: NoisePlan,
    mechanism: Mechanism,
    *,
    reset_every: int | None,
    n_before: int = 0,
    progress: Progress | None,
) -> Trained:
    """Train filters on noisy sums of clipped gradients.

    Parameters
    ----------
    sums : GradientSums
    samples : iterable of ndarray of int64
        One Poisson sample for each step. An empty sample is treated like any other.
    start : ndarray of shape (n_classes * n_filters, n_basis + 1)
        Initial weights.
    rates : ndarray of shape (n_steps,)
        Learning rates.
    plan : NoisePlan
    mechanism : Mechanism
    reset_every : int or None
        Number of steps after which Adam's moments are reset.
    n_before : int, default=0
        Number of earlier steps, which are included in the progress reports.
    progress : callable or None

    Returns
    -------
    Trained

    Notes
    -----
    Adam's step length does not depend on the scale of the gradients, so the sums need not be
    divided by the expected or realized number of records.
    """
    weights = start.copy()
    adam = Adam(start.shape, plan.noise_std, reset_every=reset_every)
    steps = iter(zip(samples, rates, strict=True))
    done = n_before
    for n_steps in _portions(len(rates), start.size):
        with mechanism.phase(plan.phase(n_steps * start.size)):
            for _ in range(n_steps):
                rows, rate = next(steps)
                noisy = mechanism.release(sums(weights, rows).ravel())
                gradient = np.asarray(noisy.reshape(start.shape) * sums.unit, dtype=np.float64)
                weights -= adam.update(gradient, float(rate))
                done += 1
                if progress is not None:
                    progress(done, n_before + len(rates))
    return Trained(weights, adam.noise_variance)


def _portions(n_steps: int, n_values: int) -> Iterator[int]:
    portion = max(1, _VALUES_AT_ONCE // n_values)
    for start in range(0, n_steps, portion):
        yield min(portion, n_steps - start)


def train(
    sums: GradientSums,
    n_samples: int,
    start: Floats,
    *,
    n_epochs: int,
    batch_size: int,
    peak_rate: float,
    rng: np.random.Generator,
    progress: Progress | None,
) -> Trained:
    """Train filters without noise, on shuffled batches.

    Parameters
    ----------
    sums : GradientSums
        Sums of unclipped gradients.
    n_samples : int
    start : ndarray of shape (n_classes * n_filters, n_basis + 1)
    n_epochs, batch_size : int
    peak_rate : float
        Initial learning rate, which falls linearly to 0.
    rng : numpy.random.Generator
    progress : callable or None

    Returns
    -------
    Trained
    """
    weights, adam = start.copy(), Adam(start.shape, 0.0)
    n_batches = max(1, math.ceil(n_samples / batch_size))
    n_steps = n_epochs * n_batches
    for epoch in range(n_epochs):
        order = rng.permutation(n_samples)
        for batch, rows in enumerate(np.array_split(order, n_batches)):
            t = epoch * n_batches + batch
            gradient = sums(weights, rows) / max(len(rows), 1)
            weights -= adam.update(gradient, peak_rate * (1.0 - t / n_steps))
            if progress is not None:
                progress(t + 1, n_steps)
    return Trained(weights, np.zeros(start.shape))
