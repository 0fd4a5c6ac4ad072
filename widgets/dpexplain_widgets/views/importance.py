"""The importance view: how much each term moves the prediction, on average."""

from __future__ import annotations

from dpexplain_widgets.export.bundle import bundle
from dpexplain_widgets.views.base import View


class ImportanceView(View):
    """Bars of the importance of each term; a click or Enter chooses a term.

    Parameters
    ----------
    source : Comparison, GlobalExplanation, dict or View
        What to show; see :class:`dpexplain_widgets.views.base.View`.
    samples : DataFrame or None, default=None
        Records to explain one by one.
    samples_public : bool, default=False
        Whether these records may be shown to anyone.
    **state
        Initial choices by trait name; see :class:`dpexplain_widgets.state.state.ViewState`.
    """

    _esm = bundle("importance.js")
