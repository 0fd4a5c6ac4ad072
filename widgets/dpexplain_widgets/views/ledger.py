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

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier, sweep
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(schema=stays.schema)
    >>> comparison = sweep(model, stays.X, stays.y, epsilons=(0.5, 4), progress=False)
    >>> from dpexplain_widgets import LedgerView
    >>> view = LedgerView(comparison)
    >>> view.epsilon_index = 1
    >>> "epsilon" in view.selection
    True
    """

    _shows = "anything"

    _esm = bundle("ledger.js")
