"""Errors in curves that are constrained to rise or fall."""

from __future__ import annotations

import numpy as np

from dpexplain._utils.compiling import njit
from dpexplain.models.boosting.monotone import pool_adjacent_violators


@njit(cache=True, nogil=True, error_model="numpy")
def move(errors, curve, n_records, direction):  # type: ignore[no-untyped-def]
    """Compute the errors in a curve after its monotone projection, in place.

    Parameters
    ----------
    errors : ndarray of shape (n_bins, n_simulations), dtype float32
        Errors before the projection, replaced by the errors after it.
    curve : ndarray of shape (n_bins,), dtype float64
        Released curve before projection.
    n_records : ndarray of shape (n_bins,), dtype float64
        Weight of each bin; bins with zero weight come last and do not change.
    direction : int
        1 for a curve constrained to rise, -1 for a curve constrained to fall.
    """
    n = 0
    while n < len(n_records) and n_records[n] > 0.0:
        n += 1
    weights = n_records[:n]
    trial = np.empty(n)
    for b in range(n):
        trial[b] = direction * curve[b]
    moved = pool_adjacent_violators(trial, weights)
    for s in range(errors.shape[1]):
        for b in range(n):
            trial[b] = direction * (curve[b] + errors[b, s])
        found = pool_adjacent_violators(trial, weights)
        for b in range(n):
            errors[b, s] = direction * (found[b] - moved[b])
