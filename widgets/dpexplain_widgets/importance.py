"""The importance view: how much each term moves the prediction, on average."""

from __future__ import annotations

from dpexplain_widgets.base import View
from dpexplain_widgets.bundle import bundle


class ImportanceView(View):
    """Bars of the importance of each term; a click or Enter chooses a term.

    Parameters
    ----------
    source : Comparison, GlobalExplanation or dict
        What to show.
    **state
        Initial choices by trait name; see :class:`dpexplain_widgets.state.ViewState`.
    """

    _esm = bundle("importance.js")
