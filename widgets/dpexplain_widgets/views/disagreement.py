"""The disagreement view: distances between explanations, by term and epsilon."""

from __future__ import annotations

import pandas as pd

from dpexplain_widgets.export.bundle import bundle
from dpexplain_widgets.views.base import View
from dpexplain_widgets.views.comparing import disagreement_frame


class DisagreementView(View):
    """Heat map of distances from comparison curves, by term and epsilon.

    Each number is a mean absolute difference, weighted by the (noisy) counts and divided by the
    mean absolute value of the comparison curve. Clicking on a cell, or pressing Enter, selects its
    term and epsilon. Numbers computed with the non-private reference must not be released; if there
    is no reference, private fits are compared with each other.

    Parameters
    ----------
    source : Comparison, GlobalExplanation, dict or View
        What to show; see :class:`dpexplain_widgets.views.base.View`.
    samples : DataFrame or None, default=None
        Records for local explanations in linked views.
    samples_public : bool, default=False
        Whether `samples` are public, so that anyone may see them.
    **state
        Initial choices, keyed by trait name; see :class:`dpexplain_widgets.state.state.ViewState`.
    """

    _esm = bundle("disagreement.js")

    @property
    def selection(self) -> pd.DataFrame:
        """The numbers shown, with one row for each term and epsilon.

        The columns are term, epsilon, against (the kind of comparison), disagreement (the distance
        relative to the comparison curve; NaN if it is undefined), private (whether all fits used
        for the row are private) and chosen.
        """
        return disagreement_frame(self)
