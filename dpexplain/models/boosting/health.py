"""Health check of a private boosting fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dpexplain.explain.health import Finding
from dpexplain.models.alarms import CountedCells, Excess, alarms_of_cells, of_classes
from dpexplain.models.boosting.released import PrivateFit


def alarms(fit: PrivateFit, classes: Sequence[str], n_public: int | None) -> tuple[Finding, ...]:
    """Check a fit against all health limits and return the alarms.

    Parameters
    ----------
    fit : PrivateFit
    classes : sequence of str
        Class labels; empty for regression.
    n_public : int or None
        Public number of rows in the table.

    Returns
    -------
    tuple of Finding
    """
    binned = fit.binned
    counted = CountedCells(
        binned.first_cells,
        binned.first_counts,
        [binned.cell_noise_std * np.sqrt(spread) for spread in binned.first_spread],
        binned.n_samples,
        binned.n_samples_std,
    )
    return alarms_of_cells(counted, class_tests(fit, classes), n_public)


def class_tests(fit: PrivateFit, classes: Sequence[str]) -> Iterator[Excess]:
    """Test the number of records in each class, using the first tree.

    Before the first tree, all classes have the same predicted probability. The residual sum of a
    class over all leaves is therefore the number of records in this class minus the mean number per
    class, times a known factor if residuals are clipped or the tree belongs to one of several bags.
    """
    if not classes:
        return iter(())
    first, n_classes, n_samples = fit.steps[0], len(classes), fit.binned.n_samples
    own = 1.0 - 1.0 / n_classes  # largest residual of a record
    factor = min(1.0, first.clip / own) * fit.share
    above_mean = first.sums.sum(axis=0) / factor
    if first.sums.ndim == 1:
        above_mean = np.array([-above_mean, above_mean])
    of_leaves = fit.leaf_noise_std[0] * np.sqrt(len(first.sums)) / factor
    # The records in a bag are a random sample, which adds variance; the share is 1 for a single
    # fit.
    most = n_samples + 4.0 * fit.binned.n_samples_std
    of_bag = own * np.sqrt(most * (1.0 - fit.share) / fit.share)
    return of_classes(
        classes,
        above_mean,
        float(np.hypot(of_leaves, of_bag)),
        n_samples=n_samples,
        n_samples_std=fit.binned.n_samples_std,
    )
