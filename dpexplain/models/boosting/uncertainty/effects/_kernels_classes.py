"""Expected values of released sums of several classes in a simulated population."""

from __future__ import annotations

import math

from dpexplain._utils.compiling import njit

_LEAST = 1e-7


@njit(cache=True, nogil=True, error_model="numpy")
def add_up_classes(  # type: ignore[no-untyped-def]
    bins, start, chance, each, contrasts, visit_feature, leaf_of_bin, bin_start, updates,
    leaf_start, clips, row_of_visit, sums, reach, residuals, reactions,
):  # fmt: skip
    """Compute the expected leaf sums of a fit to several classes, with derivatives.

    The parameters are those of `expected_sums`, with these differences.

    Parameters
    ----------
    bins : ndarray of shape (n_features, n_records), dtype int64
        Bin of each point in each feature.
    chance : ndarray of shape (n_records, n_classes)
        True probability of each class.
    contrasts : ndarray of shape (n_classes, n_contrasts)
        Contribution of each contrast to the true score of each class.
    updates : ndarray of shape (n_values, n_classes)
        Change in the scores at each visit, bin by bin.
    row_of_visit : ndarray of shape (n_visits,), dtype int64
        Row of `residuals` and `reactions` that each visit fills; negative if it fills none.
    sums, reach : ndarray of shape (n_leaves, n_classes)
        `sums` is filled with the expected leaf sums, and `reach` with their negated sensitivities
        to an error in the class's own score relative to the mean of all classes.
    residuals : ndarray of shape (n_rows, n_records, n_classes)
        Filled with the expected residuals.
    reactions : ndarray of shape (n_rows, n_records, n_classes, n_contrasts)
        Filled with the derivatives of the residuals with respect to each contrast.
    """
    n_records, n_classes = chance.shape
    n_contrasts = contrasts.shape[1]
    apart = n_classes / (n_classes - 1.0)
    p = chance * 0.0 + 1.0 / n_classes
    weight = p[0] * 0.0
    factor = updates[:1] * 0.0
    for v in range(visit_feature.shape[0]):
        k, clip, first, row = visit_feature[v], clips[v], bin_start[v], row_of_visit[v]
        n_bins = start[k + 1] - start[k]
        if factor.shape[0] < n_bins:
            factor = updates[:n_bins] * 0.0
        for b in range(n_bins):
            for c in range(n_classes):
                factor[b, c] = math.exp(updates[first + b, c])
        for m in range(n_records):
            mean = 0.0
            for c in range(n_classes):
                weight[c] = min(1.0, clip / max(1.0 - p[m, c], 1e-12))
                mean += chance[m, c] * weight[c]
            b = bins[k, m]
            leaf = leaf_start[v] + leaf_of_bin[first + b]
            total = 0.0
            for c in range(n_classes):
                q, own = chance[m, c], weight[c]
                residual = q * own - p[m, c] * mean
                sums[leaf, c] += each * residual
                reach[leaf, c] += each * apart * q * (own - p[m, c] * own - residual)
                if row >= 0:
                    residuals[row, m, c] = residual
            for c in range(n_classes):
                p[m, c] = max(p[m, c], _LEAST)
            if row >= 0:
                for j in range(n_contrasts):
                    plain, weighted = 0.0, 0.0
                    for d in range(n_classes):
                        load = chance[m, d] * contrasts[d, j]
                        plain += load
                        weighted += load * weight[d]
                    for c in range(n_classes):
                        reactions[row, m, c, j] = (
                            chance[m, c] * weight[c] * contrasts[c, j]
                            - p[m, c] * weighted
                            - residuals[row, m, c] * plain
                        )
            for c in range(n_classes):
                p[m, c] *= factor[b, c]
                total += p[m, c]
            for c in range(n_classes):
                p[m, c] /= total
