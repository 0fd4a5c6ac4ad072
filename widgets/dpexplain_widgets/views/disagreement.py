"""The disagreement view: which terms look different, at which epsilon."""

from __future__ import annotations

import pandas as pd

from dpexplain_widgets.export.bundle import bundle
from dpexplain_widgets.views.base import View
from dpexplain_widgets.views.comparing import disagreement_frame


class DisagreementView(View):
    """Heat map of terms and epsilons: how far a curve lies from what it is compared with.

    Numbers are mean absolute differences over the (noisy) people, divided by the mean absolute
    size of the curve compared with. A click or Enter on a cell chooses its term and epsilon. With
    the non-private reference in them the numbers are not releasable; without it, private fits
    are compared with each other.

    Parameters
    ----------
    source : Comparison, GlobalExplanation, dict or View
        What to show; see :class:`dpexplain_widgets.views.base.View`.
    samples : DataFrame or None, default=None
        Records to explain one by one, elsewhere.
    samples_public : bool, default=False
        Whether these records may be shown to anyone.
    **state
        Initial choices by trait name; see :class:`dpexplain_widgets.state.state.ViewState`.
    """

    _esm = bundle("disagreement.js")

    @property
    def selection(self) -> pd.DataFrame:
        """What is shown: one row per term and epsilon.

        Columns term, epsilon, against (what is compared with), disagreement (a share; NaN where
        there is nothing to compare), private (whether all fits behind it are) and chosen.
        """
        return disagreement_frame(self)
