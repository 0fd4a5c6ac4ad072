"""The planner: estimates of the epsilon needed for a result."""

from __future__ import annotations

from dpexplain_widgets.export.bundle import bundle
from dpexplain_widgets.views.base import View
from dpexplain_widgets.views.planning import Planning


class PlannerView(Planning, View):
    """View that estimates the epsilon needed for a result.

    The result is either that a term rises above the noise or that a metric reaches a target. The
    estimates use released results or stand-in data, so they have no privacy cost.

    Parameters
    ----------
    source : Comparison or GlobalExplanation
        Results on public data or on simulated stand-in data. Results on private data should be
        used only if they contain no metrics.
    samples : DataFrame or None, default=None
        Records for local explanations in linked views.
    refit : callable or None, default=None
        Function that fits the model at a new epsilon, chosen with a slider; see
        :class:`dpexplain.compare.Refitter`.
    samples_public : bool, default=False
        Whether `samples` are public, so that anyone may see them.
    **state
        Initial choices, keyed by trait name; see :class:`dpexplain_widgets.state.state.ViewState`.
    """

    _esm = bundle("planner.js")
