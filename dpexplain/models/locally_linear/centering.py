"""Center inputs by subtracting a private mean.

The clip bounds the norm of a record's gradient, which grows with the norm of its features. The
mean of all records does not help to separate classes, but it increases these norms, by about a
third for images and tables. So the first few noisy sums are sums of the records themselves, with
the same clip, noise and sampling as the gradients that follow; for the accountant, they are
ordinary steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from dpexplain.explain import InputPreparation
from dpexplain.mechanisms import Mechanism
from dpexplain.models.locally_linear.arithmetic import BLOCK, CLIP_MARGIN, FEATURE_BITS
from dpexplain.models.locally_linear.inputs import Features
from dpexplain.models.locally_linear.projections import Basis
from dpexplain.models.locally_linear.training import NoisePlan

Floats = NDArray[np.float64]
Sample = NDArray[np.int64]

_SHARE, _COUNT_SHARE = 0.8, 0.6
"""Fractions of the clip allotted to a record's features and to its count; the squares add up to
1."""

_LEAST_COUNT = 3.0
"""Number of noise standard deviations that a noisy count must exceed to be used as a divisor."""


def longest_record(preparation: InputPreparation, basis: Basis) -> float:
    """Return a public bound on the norm of a record's features.

    Parameters
    ----------
    preparation : InputPreparation
    basis : Basis
        Basis that all filters share.

    Returns
    -------
    float
    """
    columns = 1 if preparation.per_record != "none" else len(preparation.features)
    longest = preparation.scale * math.sqrt(columns)
    if basis.integers is None:
        return longest
    return longest * float(np.linalg.norm(basis.integers[0] * basis.unit, 2))


def record_sums(features: Features, rows: Sample, longest: float, lattice_bits: int) -> Sample:
    """Sum and count the clipped records of a sample, in lattice steps.

    Parameters
    ----------
    features : Features
    rows : ndarray of int64
        Row indices of the sample.
    longest : float
        Norm of the features, in feature steps, beyond which a record is clipped.
    lattice_bits : int
        The bound on a record's contribution is ``2**lattice_bits`` lattice steps.

    Returns
    -------
    ndarray of shape (n_basis + 1,), dtype int64
        Exact sums of the features, scaled to lattice steps. The last value is the number of
        records, multiplied by a fixed number of lattice steps.
    """
    sums = np.zeros(features.integers.shape[1], dtype=np.int64)
    limit = CLIP_MARGIN * _SHARE * 2.0**lattice_bits
    for start in range(0, len(rows), BLOCK):
        z = features.integers[rows[start : start + BLOCK], :-1].astype(np.float64)
        norms = np.sqrt(np.einsum("ij,ij->i", z, z))  # exact sums of integers
        factors = np.trunc(limit / np.maximum(norms, longest))
        sums[:-1] += (factors @ z).astype(np.int64)
    sums[-1] = len(rows) * _count_step(lattice_bits)
    return sums


def mean_record(
    noisy: Floats, n_steps: int, noise_std: float, longest: float, lattice_bits: int
) -> Floats:
    """Estimate the mean record from noisy sums, and shrink it toward zero.

    Parameters
    ----------
    noisy : ndarray of shape (n_basis + 1,)
        Total of the noisy results of `record_sums`.
    n_steps : int
        Number of noisy results in the total.
    noise_std : float
        Noise standard deviation of each result, in lattice steps.
    longest, lattice_bits
        As in `record_sums`.

    Returns
    -------
    ndarray of shape (n_basis,)
        Positive-part James-Stein estimate, in integer feature steps: each value is at most
        ``2**FEATURE_BITS`` in absolute value, like the features of records, and the norm is at most
        about `longest`. The estimate is zero if noise dominates.
    """
    zero = np.zeros(len(noisy) - 1)
    std = noise_std * math.sqrt(n_steps)
    of_one = math.trunc(CLIP_MARGIN * _SHARE * 2.0**lattice_bits / longest)
    if of_one == 0 or not noisy[-1] > _LEAST_COUNT * std:
        return zero
    n_records = max(noisy[-1] / _count_step(lattice_bits), 1.0)
    mean = noisy[:-1] / (of_one * n_records)
    length = float(np.linalg.norm(mean))
    expected = math.sqrt(len(mean)) * std / (of_one * n_records)  # norm of noise alone
    if not length > expected:
        return zero
    mean *= (1.0 - (expected / length) ** 2) * min(1.0, longest / length)
    return np.clip(np.rint(mean), -(2.0**FEATURE_BITS), 2.0**FEATURE_BITS)


def subtract_mean(
    features: Features,
    samples: Iterator[Sample],
    n_steps: int,
    plan: NoisePlan,
    mechanism: Mechanism,
    longest: float,
) -> tuple[Floats, float, float]:
    """Release the mean record, and subtract it from all records in place.

    Parameters
    ----------
    features : Features
        Features of the records, changed in place.
    samples : iterator of ndarray of int64
        Iterator over Poisson samples; `n_steps` of them are consumed.
    n_steps : int
        Number of samples to use; at least 1.
    plan : NoisePlan
    mechanism : Mechanism
    longest : float
        As returned by `longest_record`.

    Returns
    -------
    mean : ndarray of shape (n_basis,)
        The subtracted mean, in the same units as the features.
    n_sampled : float
        Noisy total number of records in the samples.
    n_sampled_std : float
        Standard deviation of the noise in `n_sampled`.
    """
    steps, n_values = longest / features.unit, features.integers.shape[1]
    phase, noisy = plan.phase(n_steps * n_values), np.zeros(n_values)
    with mechanism.phase(phase):
        for rows in islice(samples, n_steps):
            sums = record_sums(features, rows, steps, plan.lattice_bits)
            noisy += mechanism.release(sums).astype(np.float64)
    mean = mean_record(noisy, n_steps, phase.sigma_int, steps, plan.lattice_bits)
    features.integers[:, :-1] -= mean.astype(np.int16)
    of_one = _count_step(plan.lattice_bits)
    noise = phase.sigma_int * math.sqrt(n_steps)
    return np.asarray(mean * features.unit), float(noisy[-1] / of_one), noise / of_one


def _count_step(lattice_bits: int) -> int:
    return math.floor(CLIP_MARGIN * _COUNT_SHARE * 2.0**lattice_bits)
