"""Functions that plot explanations and return the ``Axes``.

Every figure states the guarantee, and figures that are not private have a watermark. The colors are
from the Okabe-Ito palette and adapt to light and dark backgrounds.
"""

from __future__ import annotations

from dpexplain.plotting.comparison import plot_comparison, plot_metric
from dpexplain.plotting.filter_bank import plot_filters, plot_weights
from dpexplain.plotting.filter_comparison import plot_filter_comparison
from dpexplain.plotting.filter_local import plot_filter_explanation, plot_weightings
from dpexplain.plotting.global_explanation import plot_global
from dpexplain.plotting.importance import plot_importance
from dpexplain.plotting.local_explanation import plot_local
from dpexplain.plotting.pair import plot_pair
from dpexplain.plotting.shape_function import plot_shape_function

__all__ = [
    "plot_comparison",
    "plot_filter_comparison",
    "plot_filter_explanation",
    "plot_filters",
    "plot_global",
    "plot_importance",
    "plot_local",
    "plot_metric",
    "plot_pair",
    "plot_shape_function",
    "plot_weightings",
    "plot_weights",
]
