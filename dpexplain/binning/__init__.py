"""Bins for features: public grids, private histograms, and quantiles."""

from __future__ import annotations

from dpexplain.binning.bins import FeatureBins, merge_bins
from dpexplain.binning.declared import declared_cells, fine_cells
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
from dpexplain.binning.refined import RefinedHistograms, cells_from, first_cells, release_refined

__all__ = [
    "FeatureBins",
    "NoisyCount",
    "NoisyHistograms",
    "RefinedHistograms",
    "cells_from",
    "coarse_cells",
    "count_phase",
    "counts_per_bin",
    "declared_cells",
    "fine_cells",
    "first_cells",
    "histogram_phase",
    "merge_bins",
    "merge_sparse_cells",
    "quantile_bins",
    "release_count",
    "release_histograms",
    "release_refined",
]
