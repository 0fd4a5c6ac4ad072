"""Kernel of one step of Adam, with its noise, in one pass over the weights."""

from __future__ import annotations

import numpy as np

from dpexplain._utils.compiling import njit


@njit(cache=True, nogil=True, error_model="numpy")
def adam_step(  # type: ignore[no-untyped-def]
    gradient, rate, correction, least, momentum, decay, reach, state, step
):
    """Update the moments and the noise, and compute the step.

    Parameters
    ----------
    gradient : ndarray of shape (n,), dtype float64
    rate : float64
        Learning rate, divided by the correction of the first moments.
    correction : float64
        Divisor of the second moments.
    least : float64
        Lower bound on the corrected second moments.
    momentum, decay : float64
    reach : float64
        R_t of `Adam`; 0 if there is no noise, which leaves S_t and Q_t unchanged.
    state : ndarray of shape (4, n), dtype float64
        First moments, second moments, S_t and Q_t of `Adam`; updated.
    step : ndarray of shape (n,), dtype float64
        Output array, filled with the step to subtract from the weights.
    """
    first, second, carried, pending = state[0], state[1], state[2], state[3]
    for i in range(len(gradient)):
        g = gradient[i]
        first[i] += (1.0 - momentum) * (g - first[i])
        second[i] += (1.0 - decay) * (g * g - second[i])
        gain = rate / np.sqrt(max(second[i] / correction, least))
        if reach > 0.0:
            carried[i] += gain * (2.0 * momentum * pending[i] + gain * reach)
            pending[i] = momentum * pending[i] + gain * reach
        step[i] = gain * first[i]
