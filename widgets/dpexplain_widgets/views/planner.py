"""The planner: the epsilon needed to answer a question."""

from __future__ import annotations

from dpexplain_widgets.export.bundle import bundle
from dpexplain_widgets.views.base import View
from dpexplain_widgets.views.planning import Planning


class PlannerView(Planning, View):
    """Epsilon needed for a term to rise above the noise, or for a metric to reach a target.

    Both are estimated from released results or stand-in data, so planning costs no privacy.

    Parameters
    ----------
    source : Comparison or GlobalExplanation
        From public data or simulated stand-in data; from private data only if there are no metrics.
    samples : DataFrame or None, default=None
        As for every view.
    refit : callable or None, default=None
        Function that fits again at the epsilon chosen by dragging; see
        :class:`dpexplain.compare.Refitter`.
    samples_public : bool, default=False
        As for every view.
    **state
        As for every view.
    """

    _esm = bundle("planner.js")
