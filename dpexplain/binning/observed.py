"""Bins computed from the data, for non-private models only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.bins import Encoded, FeatureBins
from dpexplain.schema import Categorical, Numeric


def quantile_bins(
    name: str, feature: Numeric | Categorical, values: Encoded, max_bins: int
) -> FeatureBins:
    """Return bins with similar record counts. NOT PRIVATE.

    The inner edges are quantiles of the data, or midpoints between the observed values if there are
    at most `max_bins` distinct values.

    Parameters
    ----------
    name : str
        Name of the feature.
    feature : Numeric or Categorical
        Bounds or categories of the feature.
    values : ndarray of shape (n_samples,)
        Encoded values, with NaN for missing values.
    max_bins : int
        Maximum number of value bins.

    Returns
    -------
    FeatureBins
        The outer edges are the public bounds of the schema (half a step further out if the schema
        specifies a step).

    Examples
    --------
    >>> import numpy as np
    >>> from dpexplain import Numeric
    >>> from dpexplain.binning import quantile_bins
    >>> ages = np.array([20.0, 30.0, 31.0, 32.0, 50.0, 80.0])
    >>> quantile_bins("age", Numeric(0, 90), ages, max_bins=2).edges
    array([ 0. , 31.5, 90. ])
    """
    if isinstance(feature, Categorical):
        return FeatureBins(name, feature)
    present: NDArray[np.float64] = np.unique(np.asarray(values, dtype=np.float64))
    present = present[~np.isnan(present)]
    if len(present) <= max_bins:
        inner = np.asarray(present[1:] + present[:-1], dtype=np.float64) / 2
    else:
        shares = np.arange(1, max_bins) / max_bins
        inner = np.unique(np.quantile(values[~np.isnan(values)], shares))
    # If there is a public step, the outer edges lie half a step outside the bounds, as in
    # private grids, so that private and non-private models label their bins alike.
    margin = 0.0 if feature.step is None else feature.step / 2
    low, high = feature.low - margin, feature.high + margin
    inside = inner[(inner > low) & (inner < high)]
    return FeatureBins(name, feature, np.concatenate([[low], inside, [high]]))
