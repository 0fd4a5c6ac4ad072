"""Bins for features: public grids, private histograms, and quantiles."""

from __future__ import annotations

from dpexplain.binning.bins import FeatureBins, merge_bins
from dpexplain.binning.declared import declared_cells
from dpexplain.binning.histograms import (
    NoisyCount,
    NoisyHistograms,
    coarse_cells,
    count_phase,
    counts_per_bin,
    histogram_phase,
    merge_sparse_cells,
    release_count,
    release_histograms,
)
from dpexplain.binning.observed import quantile_bins

__all__ = [
    "FeatureBins",
    "NoisyCount",
    "NoisyHistograms",
    "coarse_cells",
    "count_phase",
    "counts_per_bin",
    "declared_cells",
    "histogram_phase",
    "merge_bins",
    "merge_sparse_cells",
    "quantile_bins",
    "release_count",
    "release_histograms",
]
