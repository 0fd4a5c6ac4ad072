"""Bins of one feature, and lookup of the bin for each value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning._kernels_bins import find_bins
from dpexplain.schema import Categorical, Numeric

Encoded = NDArray[np.float64] | NDArray[np.int32]
"""Values of one feature: clamped floats with NaN for missing, or category codes."""

Index = NDArray[np.unsignedinteger[Any]]
"""Bin index of each record: uint8 if there are at most 256 bins, otherwise uint16."""

NUMERIC_SPECIAL = ("missing",)
CATEGORICAL_SPECIAL = ("other", "missing")


def index_dtype(n_bins: int) -> type[np.unsignedinteger[Any]]:
    """Return the smallest unsigned dtype that can represent all bin indices."""
    if n_bins > 1 << 16:
        raise ValueError(f"{n_bins} bins exceed the limit of {1 << 16}; reduce the number of bins.")
    return np.uint8 if n_bins <= 1 << 8 else np.uint16


@dataclass(frozen=True, eq=False)
class FeatureBins:
    """Bins of one feature: first the value bins, then the special ones.

    Bin ``i`` of a numeric feature is ``[edges[i], edges[i + 1])``; the last value bin also includes
    its right edge. There is always a special bin for missing values and, if the feature is
    categorical, one for categories outside the schema, so the bins do not reveal whether such
    values occur.

    Parameters
    ----------
    name : str
        Name of the feature.
    feature : Numeric or Categorical
        Schema entry of the feature.
    edges : ndarray of shape (n_value_bins + 1,) or None
        Strictly increasing bin edges in the feature's units; None for a categorical feature.

    Examples
    --------
    >>> import numpy as np
    >>> from dpexplain import Numeric
    >>> from dpexplain.binning import FeatureBins
    >>> bins = FeatureBins("age", Numeric(0, 90), edges=np.array([0, 30, 60, 90]))
    >>> bins.n_bins    # three value bins, and one for missing values
    4
    """

    name: str
    feature: Numeric | Categorical
    edges: NDArray[np.float64] | None = None

    @property
    def n_value_bins(self) -> int:
        """Number of bins for values that the schema allows."""
        if self.edges is not None:
            return len(self.edges) - 1
        assert isinstance(self.feature, Categorical)
        return len(self.feature.categories)

    @property
    def special(self) -> tuple[str, ...]:
        """Names of the special bins, which follow the value bins."""
        return NUMERIC_SPECIAL if self.edges is not None else CATEGORICAL_SPECIAL

    @property
    def n_bins(self) -> int:
        """Number of bins, including the special ones."""
        return self.n_value_bins + len(self.special)

    @property
    def ordered(self) -> bool:
        """Whether the order of the bins is meaningful."""
        return not isinstance(self.feature, Categorical) or self.feature.ordered

    def index(self, encoded: Encoded) -> Index:
        """Return the bin index of each encoded value.

        Parameters
        ----------
        encoded : ndarray of shape (n_samples,)
            Values as encoded by `dpexplain.tables.encoding`: floats within the bounds, with NaN for
            missing values; or category codes.

        Returns
        -------
        ndarray of shape (n_samples,), dtype uint8 or uint16
        """
        dtype = index_dtype(self.n_bins)
        if self.edges is None:
            return encoded.astype(dtype)
        index = np.empty(len(encoded), np.uint16)  # for each dtype, a kernel would be compiled
        find_bins(encoded, self.edges[1:-1], self.n_value_bins, index)
        return index.astype(dtype, copy=False)


def merge_bins(cells: FeatureBins, first_cells: Sequence[int]) -> tuple[FeatureBins, Index]:
    """Merge neighboring cells of a numeric feature.

    Parameters
    ----------
    cells : FeatureBins
        Cells of a numeric feature.
    first_cells : sequence of int
        Index of the first cell of each merged bin, in increasing order; the first index is 0.

    Returns
    -------
    bins : FeatureBins
        The merged bins.
    bin_of_cell : ndarray of shape (cells.n_bins,), dtype uint8 or uint16
        Index of the bin that contains each cell; missing values keep a separate bin.

    Examples
    --------
    >>> import numpy as np
    >>> from dpexplain import Numeric
    >>> from dpexplain.binning import FeatureBins, merge_bins
    >>> cells = FeatureBins("age", Numeric(0, 60), edges=np.array([0, 20, 40, 60]))
    >>> bins, bin_of_cell = merge_bins(cells, first_cells=[0, 2])
    >>> bins.edges, bin_of_cell
    (array([ 0, 40, 60]), array([0, 0, 1, 2], dtype=uint8))
    """
    assert cells.edges is not None
    starts = np.asarray(first_cells, dtype=np.intp)
    edges = np.append(cells.edges[starts], cells.edges[-1])
    bins = FeatureBins(cells.name, cells.feature, edges)
    widths = np.diff(starts, append=[cells.n_value_bins, cells.n_bins])
    bin_of_cell = np.repeat(np.arange(bins.n_bins, dtype=index_dtype(bins.n_bins)), widths)
    return bins, bin_of_cell
