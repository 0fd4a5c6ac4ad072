"""Exact privacy losses of mechanisms by definition, composed, never overestimated.

Nothing here uses dp-accounting or the formulas of `dpexplain.accounting`. A mechanism is a pair of
lists of probabilities of the same outcomes on two neighboring data sets. If losses have to be
put on a grid to be composed, they are rounded down, and cut tails are left out, so that a delta
from here is never above the true one: a stated total below it is false.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import signal, special

STEP = 2e-3
"""Width of a cell of the grid."""


@dataclass(frozen=True)
class Loss:
    """Probabilities of the losses ``(first + i) * step`` under the first data set."""

    first: int
    p: np.ndarray
    step: float = STEP

    @property
    def losses(self):
        return (self.first + np.arange(len(self.p))) * self.step

    def __mul__(self, other):
        """Compose two mechanisms."""
        assert self.step == other.step
        if min(len(self.p), len(other.p)) < 3000:
            p = np.convolve(self.p, other.p)
        else:  # off by 1e-16 or so, which is allowed for where deltas are compared
            p = np.maximum(signal.fftconvolve(self.p, other.p), 0.0)
        return Loss(self.first + other.first, p, self.step)

    def times(self, count):
        """Compose the mechanism with itself this many times."""
        whole, square = Loss(0, np.ones(1), self.step), self
        while count:
            if count % 2:
                whole = whole * square
            count //= 2
            if count:
                square = square * square
        return whole

    def delta(self, epsilon, mu=0.0):
        """Return the delta at epsilon, composed with a Gaussian mechanism if given."""
        rest = epsilon - self.losses
        if mu == 0.0:
            return float(np.sum(self.p * np.maximum(0.0, -np.expm1(np.minimum(rest, 0.0)))))
        return float(np.sum(self.p * gaussian_delta(mu, rest)))


def gaussian_delta(mu, epsilon):
    """Return the delta of N(mu, 1) against N(0, 1) at any real epsilon, to 1e-13."""
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    return special.ndtr(-near) - np.exp(np.asarray(epsilon) + special.log_ndtr(-far))


def loss_of(p, q, step=STEP):
    """Return the losses ``log(p / q)`` of outcomes, rounded down to the grid."""
    p, q = (np.asarray(x, dtype=float) for x in (p, q))
    p, q = p[(p > 0) & (q > 0)], q[(p > 0) & (q > 0)]
    place = np.floor(np.log(p / q) / step + 1e-9).astype(int)
    return Loss(int(place.min()), np.bincount(place - place.min(), weights=p), step)


def laplace_chances(scale, change):
    """Return probabilities of a discrete Laplace variable and of a shifted one."""
    a = math.exp(-1 / scale)
    inner = np.arange(1, change)
    p = np.concatenate([[1.0], (1 - a) * a**inner, [a**change]]) / (1 + a)
    return p, p[::-1]


def laplace_loss(scale, change):
    """Return the losses of discrete Laplace noise on their own lattice, exactly."""
    p, _ = laplace_chances(scale, change)
    # In the order of falling losses (change - 2 x) / scale.
    padded = np.zeros(2 * change + 1)
    padded[::2] = p[::-1]
    return Loss(-change, padded, 1 / scale)


def response_chances(epsilon):
    """Return the probabilities of randomized response."""
    true = 1 / (1 + math.exp(-epsilon))
    return np.array([true, 1 - true]), np.array([1 - true, true])


def choice_chances(utilities, changed, epsilon, spread):
    """Return probabilities of the exponential mechanism, given utilities of two tables."""
    parts = [np.exp(epsilon * (u - u.max()) / spread) for u in (utilities, changed)]
    return tuple(part / part.sum() for part in parts)


def gaussian_chances(sigma, change, reach=9.0):
    """Return probabilities of a discrete Gaussian and of a shifted one, without far tails."""
    x = np.arange(-math.ceil(reach * sigma), math.ceil(reach * sigma) + change + 1, dtype=float)
    parts = [np.exp(-0.5 * ((x - d) / sigma) ** 2) for d in (0, change)]
    # Of one coset all of it: by Poisson summation, off by exp(-2 pi^2 sigma^2).
    whole = sigma * math.sqrt(2 * math.pi)
    return tuple(part / whole for part in parts)


def sampled_chances(sigma, change, probability, adjacency, reach=9.0):
    """Return probabilities of answers about a sample, in both directions."""
    still, moved = gaussian_chances(sigma, change, reach)
    with_record = (1 - probability) * still + probability * moved
    if adjacency == "add_remove":
        return [(with_record, still), (still, with_record)]
    # The other record pulls the other way: the same chances, read backwards around zero.
    x = np.arange(len(still))
    center = math.ceil(reach * sigma)
    mirrored = np.zeros_like(moved)
    back = 2 * center - x
    inside = (back >= 0) & (back < len(x))
    mirrored[inside] = moved[back[inside]]
    return [(with_record, (1 - probability) * still + probability * mirrored)]
