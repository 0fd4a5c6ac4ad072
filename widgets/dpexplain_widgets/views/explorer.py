"""The Explorer: all views of one comparison or explanation, side by side."""

from __future__ import annotations

import pandas as pd

from dpexplain_widgets.export.bundle import bundle
from dpexplain_widgets.state.selection import selection_frame
from dpexplain_widgets.views.base import View
from dpexplain_widgets.views.planning import Planning
from dpexplain_widgets.views.registry import frame_of_tab, parts_for


class Explorer(Planning, View):
    """All views in one: choose epsilon and a term, read bins, see the cost.

    It needs no model and no data; a file made by ``dpexplain.io.save`` is enough.

    Parameters
    ----------
    source : Comparison, GlobalExplanation, dict or View
        What to show; see :class:`dpexplain_widgets.views.base.View`.
    samples : DataFrame or None, default=None
        Records to explain one by one.
    refit : callable or None, default=None
        Fits at an epsilon that is dragged to; see :class:`dpexplain.compare.Refitter`.
    samples_public : bool, default=False
        Whether these records may be shown to anyone.
    **state
        Initial choices by trait name; see :class:`dpexplain_widgets.state.state.ViewState`.

    Examples
    --------
    >>> explorer = Explorer(comparison)  # doctest: +SKIP
    >>> explorer.epsilon_index = 2  # doctest: +SKIP
    >>> explorer.selection  # doctest: +SKIP
    """

    _shows = "models"

    _esm = bundle("explorer.js")

    @property
    def selection(self) -> pd.DataFrame:
        """What is shown in the open part, as the view of that part gives it alone.

        Set `tab` to choose the part: of the shape, the bins of the term; of disagreement and
        ranks, all terms at all epsilons; of a sample, the contributions to its score. Of filters,
        which have no parts, the weights that are read.
        """
        if self.payload["filters"] is not None:
            return super().selection
        table: pd.DataFrame = (frame_of_tab(self.tab) or selection_frame)(self)
        return table

    @property
    def page_edits(self) -> bool:
        """Whether something was edited: a page has no model to apply new edits to."""
        return bool(self.edits) and not self.payload.get("filters")

    def page_module(self) -> str:
        """Give the script of the Explorer for a page, without views that it does not need.

        These are views of other kinds of models, and the one for editing unless the page edits.

        Returns
        -------
        str
            JavaScript with a default export.
        """
        if self.payload.get("filters"):
            return bundle("explorer.js", parts_for("terms"))
        unused = parts_for("filters")
        return bundle("explorer.js", unused if self.page_edits else (*unused, "createEdit"))
