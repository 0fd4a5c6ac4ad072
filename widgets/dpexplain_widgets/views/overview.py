"""The overview: the choice of epsilon, its guarantee, and the model quality."""

from __future__ import annotations

from dpexplain_widgets.export.bundle import bundle
from dpexplain_widgets.views.base import View


class OverviewView(View):
    """View for choosing epsilon; shows the guarantee and the model quality.

    Parameters
    ----------
    source : Comparison, GlobalExplanation, dict or View
        What to show; see :class:`dpexplain_widgets.views.base.View`.
    samples : DataFrame or None, default=None
        Records for local explanations.
    samples_public : bool, default=False
        Whether `samples` are public, so that anyone may see them.
    **state
        Initial choices, keyed by trait name; see :class:`dpexplain_widgets.state.state.ViewState`.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier, sweep
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(schema=stays.schema)
    >>> comparison = sweep(model, stays.X, stays.y, epsilons=(0.5, 4), progress=False)
    >>> from dpexplain_widgets import OverviewView
    >>> view = OverviewView(comparison)
    >>> view.epsilon_index = 1
    >>> "epsilon" in view.selection
    True
    """

    _shows = "models"

    _esm = bundle("overview.js")
