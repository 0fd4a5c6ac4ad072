"""The ledger view: privacy cost of each model, and of all models together."""

from __future__ import annotations

from dpexplain_widgets.export.bundle import bundle
from dpexplain_widgets.views.base import View


class LedgerView(View):
    """Privacy cost of each model, of all models together, and of the whole ledger.

    Parameters
    ----------
    source : Comparison, GlobalExplanation, LedgerSummary, dict or View
        What to show; see :class:`dpexplain_widgets.views.base.View`.
    samples : DataFrame or None, default=None
        Ignored.
    samples_public : bool, default=False
        Ignored.
    **state
        Initial choices, keyed by trait name; see :class:`dpexplain_widgets.state.state.ViewState`.
    """

    _shows = "anything"

    _esm = bundle("ledger.js")
