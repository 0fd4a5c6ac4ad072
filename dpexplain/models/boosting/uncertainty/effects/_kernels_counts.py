"""Expected values of released sums of counts in a simulated population."""

from __future__ import annotations

import math

from dpexplain._utils.compiling import njit

_LEAST_EXPONENT = -16.0


@njit(inline="always", error_model="numpy")
def _between(table, i, w, limit):  # type: ignore[no-untyped-def]
    """Interpolate a table at a given limit; return the value and its slope.

    The limit is in counts. For a limit below 0, the value at 0 is returned; if the table contains
    expected excesses, the caller adds the difference.
    """
    last = table.shape[1] - 1
    if limit >= last:
        return 0.0, 0.0
    t = max(limit, 0.0)
    j = int(t)
    x = t - j
    low = (1.0 - x) * table[i, j] + x * table[i, j + 1]
    high = (1.0 - x) * table[i + 1, j] + x * table[i + 1, j + 1]
    return (1.0 - w) * low + w * high, high - low


@njit(cache=True, nogil=True, error_model="numpy")
def add_up_counts(  # type: ignore[no-untyped-def]
    bins, start, truth, each, high, log_rates, above, slope, first_score, visit_feature,
    leaf_of_bin, bin_start, updates, leaf_start, clips, anchor, sums, reach, weights,
):  # fmt: skip
    """Compute the expected leaf sums of a fit to counts, and how residuals react.

    The parameters are those of `expected_sums`, with these differences: `bins` has one row per
    feature; rates, scores and residuals are in units of the largest count `high`; `log_rates`,
    `above` and `slope` are those of `CountTable`. At visits with an anchor, `weights` is filled
    with the derivatives of each point's expected residual with respect to its true score, with the
    expected residual, and with its derivative with respect to the dispersion; its shape is
    (3, n_features, n_records, n_anchors).
    """
    n_records = bins.shape[1]
    rows, shares, states = bins[0] * 0, truth * 0.0, truth * 0.0
    step, n_rates = log_rates[1] - log_rates[0], log_rates.shape[0]
    for m in range(n_records):
        place = (truth[m] + math.log(high) - log_rates[0]) / step
        place = min(max(place, 0.0), n_rates - 1.000001)
        rows[m] = int(place)
        shares[m] = place - rows[m]
        states[m] = math.exp(first_score)
    least = math.exp(_LEAST_EXPONENT)
    for v in range(visit_feature.shape[0]):
        k, clip, a, first = visit_feature[v], clips[v], anchor[v], bin_start[v]
        change = updates[first : first + start[k + 1] - start[k]]
        factor = change * 0.0
        for j in range(change.shape[0]):
            factor[j] = math.exp(change[j])
        for m in range(n_records):
            rate = min(max(states[m], least), 1.0)
            low, up = high * (rate - clip), high * (rate + clip)
            i, w = rows[m], shares[m]
            more, more_slope = _between(above, i, w, low)
            less, less_slope = _between(above, i, w, up)
            residual = (more - less - min(low, 0.0)) / high - clip
            reaction = (more_slope - less_slope) / (high * step)
            b = bins[k, m]
            leaf = leaf_start[v] + leaf_of_bin[first + b]
            sums[leaf] += each * residual
            reach[leaf] += each * reaction
            if a >= 0:
                apart = _between(slope, i, w, low)[0] - _between(slope, i, w, up)[0]
                weights[0, k, m, a] = each * reaction
                weights[1, k, m, a] = each * residual
                weights[2, k, m, a] = each * apart / high
            states[m] *= factor[b]
