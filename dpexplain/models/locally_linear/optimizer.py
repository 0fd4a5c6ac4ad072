"""Adam for noisy gradients, with propagation of the noise to the weights."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.locally_linear._kernels_adam import adam_step

Floats = NDArray[np.float64]

_TINY = 1e-30


class Adam:
    """Adam optimizer [1]_ for noisy gradients; tracks the noise in the weights.

    If the second moments v_t are treated as fixed, the weights are linear in the gradients g_s:
    ``w_T = w_0 - sum_t a_t m_t`` with ``a_t = rate_t / (1 - b1**t) / sqrt(v_t)`` and
    ``m_t = (1 - b1) sum_{s <= t} b1**(t - s) g_s``. So noise with standard deviation sigma in every
    gradient gives the weights a variance of ``sigma**2 (1 - b1)**2 sum_s U_T(s)**2``, where
    ``U_t(s) = sum_{s <= r <= t} b1**(r - s) a_r``. The sum ``S_t = sum_{s <= t} U_t(s)**2`` is
    updated at each step, together with ``Q_t = sum_{s <= t} b1**(t - s) U_t(s)`` and the number
    ``R_t = sum_{s <= t} b1**(2 (t - s))``:

        ``S_t = S_{t-1} + 2 a_t b1 Q_{t-1} + a_t**2 R_t``,  ``Q_t = b1 Q_{t-1} + a_t R_t``.

    Second moments are bounded below by the known variance of the noise: if there is little signal,
    they are mostly noise, and small values would cause large steps.

    Parameters
    ----------
    shape : tuple of int
        Shape of the weights.
    noise_std : float
        Standard deviation of the noise in every gradient; 0 if training is not private.
    momentum, decay : float
        b1 and b2 of [1]_.
    reset_every : int or None, default=None
        Number of steps after which both moments are reset.

    References
    ----------
    .. [1] Kingma and Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015,
       arXiv:1412.6980.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        noise_std: float,
        *,
        momentum: float = 0.9,
        decay: float = 0.999,
        reset_every: int | None = None,
    ) -> None:
        self._noise_std = noise_std
        self._momentum, self._decay = momentum, decay
        self._reset_every = reset_every
        self._shape, self._state = shape, np.zeros((4, math.prod(shape)))
        self._reach = 0.0
        self._t = 0

    def update(self, gradient: Floats, rate: float) -> Floats:
        """Return the step that results from a gradient.

        Parameters
        ----------
        gradient : ndarray
            Noisy gradient, with the same shape as the weights.
        rate : float
            Learning rate of this step.

        Returns
        -------
        ndarray
            Step to subtract from the weights.
        """
        if self._reset_every and self._t == self._reset_every:
            self._start_anew()
        self._t += 1
        b1, b2 = self._momentum, self._decay
        if self._noise_std:
            self._reach = b1 * b1 * self._reach + 1.0
        step = np.empty(self._state.shape[1])
        adam_step(
            np.ascontiguousarray(gradient, dtype=np.float64).ravel(),
            rate / (1.0 - b1**self._t),
            1.0 - b2**self._t,
            max(self._noise_std**2, _TINY),
            b1,
            b2,
            self._reach,
            self._state,
            step,
        )
        return step.reshape(self._shape)

    def _start_anew(self) -> None:
        first, second, _, pending = self._state
        for moments in (first, second, pending):
            moments[:] = 0.0
        self._reach, self._t = 0.0, 0

    @property
    def noise_variance(self) -> Floats:
        """Variance of the noise in the weights after the steps so far.

        Returns
        -------
        ndarray
            Variances, with the same shape as the weights.
        """
        carried = self._state[2].reshape(self._shape)
        return np.asarray((self._noise_std * (1.0 - self._momentum)) ** 2 * carried)


def linear_rates(peak: float, n_steps: int) -> Floats:
    """Return learning rates that fall linearly from `peak` to 0."""
    return peak * (1.0 - np.arange(n_steps) / n_steps)


def stepped_rates(peak: float, n_steps: int, every: int, factor: float) -> Floats:
    """Return learning rates that are multiplied by `factor` every `every` steps."""
    return peak * factor ** np.floor(np.arange(n_steps) / max(every, 1))


def start_weights(shape: tuple[int, ...], reach: float, rng: np.random.Generator) -> Floats:
    """Draw initial weights uniformly from ``[-reach, reach]``, to break symmetry."""
    return rng.uniform(-reach, reach, shape)


def start_reach(n_basis: int, n_classes: int, share: float) -> float:
    """Return the bound on the absolute values of the initial weights."""
    return share / math.sqrt((n_basis + 1) * n_classes)
