"""The overview: choice of epsilon, its guarantee, and the accuracy of the model."""

from __future__ import annotations

from dpexplain_widgets.export.bundle import bundle
from dpexplain_widgets.views.base import View


class OverviewView(View):
    """Choice of epsilon, its guarantee, and diagnostics next to the reference.

    Parameters
    ----------
    source : Comparison, GlobalExplanation, dict or View
        What to show; see :class:`dpexplain_widgets.views.base.View`.
    samples : DataFrame or None, default=None
        Records for local explanations.
    samples_public : bool, default=False
        Whether these records may be shown to anyone.
    **state
        Initial choices by trait name; see :class:`dpexplain_widgets.state.state.ViewState`.
    """

    _shows = "models"

    _esm = bundle("overview.js")
