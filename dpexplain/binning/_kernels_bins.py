"""Bin lookup for many values at once."""

from __future__ import annotations

import numpy as np

from dpexplain._utils.compiling import njit

_BLOCK = 1024
_PER_EDGE, _MOST_BUCKETS = 4, 1 << 12


def find_bins(values, inner_edges, missing, index) -> None:  # type: ignore[no-untyped-def]
    """Find the bin of each value by simultaneous bisection.

    Buckets of equal width between the first and the last edge tell how many edges are certainly to
    the left of a value, so that only the edges in its own bucket remain to be compared.

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
    n_edges = len(inner_edges)
    n_buckets = min(_PER_EDGE * n_edges + 1, _MOST_BUCKETS)
    low = float(inner_edges[0]) if n_edges else 0.0
    with np.errstate(all="ignore"):  # an infinite width puts everything in one bucket
        width = float(np.subtract(inner_edges[-1], low)) if n_edges else 0.0
        scale = float(np.float64(n_buckets - 1) / width) if 0.0 < width < np.inf else 0.0
        place = inner_edges - low
        place *= scale
    # A larger value is never in an earlier bucket, because rounding keeps order.
    np.fmin(np.fmax(place, 0.0, out=place), n_buckets - 1.0, out=place)
    held = np.bincount(place.astype(np.intp), minlength=n_buckets)
    most = int(held.max())
    start = (np.cumsum(held) - held).astype(np.int32)
    # No value is at or beyond a NaN, so the search never leaves the edges.
    edges = np.full(n_edges + most, np.nan)
    edges[:n_edges] = inner_edges
    _find_bins(values, edges, start, low, scale, most, missing, index, np.empty(_BLOCK, np.int32))


@njit(cache=True, nogil=True, error_model="numpy")
def _find_bins(values, edges, start, low, scale, most, missing, index, first):  # type: ignore[no-untyped-def]
    """Implement `find_bins`, using a work array allocated by the caller."""
    last = start.shape[0] - 1.0
    for begin in range(0, values.shape[0], _BLOCK):
        value = values[begin : begin + _BLOCK]
        for i in range(value.shape[0]):
            place = (value[i] - low) * scale
            place = place if place > 0.0 else 0.0
            first[i] = start[np.int32(place if place < last else last)]
        length = most
        while length > 0:  # one step for all values of the block: no branch depends on a value
            half = (length + 1) >> 1
            for i in range(value.shape[0]):
                first[i] += np.int32(half if edges[first[i] + half - 1] <= value[i] else 0)
            length -= half
        for i in range(value.shape[0]):
            index[begin + i] = missing if np.isnan(value[i]) else first[i]
