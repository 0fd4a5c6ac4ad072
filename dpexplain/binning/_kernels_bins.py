"""Bin lookup for many values at once."""

from __future__ import annotations

import numpy as np

from dpexplain._utils.compiling import njit

_BLOCK = 1024


def find_bins(values, inner_edges, missing, index) -> None:  # type: ignore[no-untyped-def]
    """Find the bin of each value by simultaneous bisection.

    Parameters
    ----------
    values : ndarray of shape (n_samples,), dtype float64
    inner_edges : ndarray of shape (n_bins - 1,), dtype float64
        Increasing; a value equal to an edge belongs to the bin to the right of that edge.
    missing : int
        Bin index for NaN.
    index : ndarray of shape (n_samples,), dtype uint8 or uint16
        Output; filled with the bin index of each value.
    """
    inner_edges = inner_edges.view()
    inner_edges.setflags(write=False)  # some are; the kernel is compiled for one kind only
    _find_bins(values, inner_edges, missing, index, np.empty(_BLOCK, np.int32))


@njit(cache=True, nogil=True, error_model="numpy")
def _find_bins(values, inner_edges, missing, index, first):  # type: ignore[no-untyped-def]
    """Implement `find_bins`, using a work array allocated by the caller."""
    for start in range(0, values.shape[0], _BLOCK):
        value = values[start : start + _BLOCK]
        for i in range(value.shape[0]):
            first[i] = 0
        length = inner_edges.shape[0]
        while length > 0:  # one step for all values of the block: no branch depends on a value
            half = (length + 1) >> 1
            for i in range(value.shape[0]):
                first[i] += np.int32(half if inner_edges[first[i] + half - 1] <= value[i] else 0)
            length -= half
        for i in range(value.shape[0]):
            index[start + i] = missing if np.isnan(value[i]) else first[i]
