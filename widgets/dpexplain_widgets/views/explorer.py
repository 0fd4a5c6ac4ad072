"""The Explorer: all views of one comparison or explanation, side by side."""

from __future__ import annotations

import pandas as pd

from dpexplain_widgets.export.bundle import bundle
from dpexplain_widgets.state.selection import selection_frame
from dpexplain_widgets.views.base import View
from dpexplain_widgets.views.planning import Planning
from dpexplain_widgets.views.registry import PAIRS, frame_of_tab, parts_for


class Explorer(Planning, View):
    """Dashboard with all views of one comparison or explanation.

    The fitted model and the data are not needed: the source may be loaded from a file written by
    ``dpexplain.io.save``.

    Parameters
    ----------
    source : Comparison, GlobalExplanation, dict or View
        What to show; see :class:`dpexplain_widgets.views.base.View`.
    samples : DataFrame or None, default=None
        Records for local explanations.
    refit : callable or None, default=None
        Function that fits the model at a new epsilon, chosen with a slider; see
        :class:`dpexplain.compare.Refitter`.
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
    >>> from dpexplain_widgets import Explorer
    >>> explorer = Explorer(comparison, term="age")    # in a notebook, the last line of a cell
    >>> explorer.epsilon_index = 1
    >>> "epsilon" in explorer.selection
    True
    """

    _shows = "models"

    _esm = bundle("explorer.js")

    @property
    def selection(self) -> pd.DataFrame:
        """Selection of the open tab, as returned by its view.

        Set `tab` to choose the tab. The selection contains the bins of the term in the shape tab,
        all terms at all epsilons in the disagreement and rank tabs, and the contributions to the
        score of the sample in the local tab. For filters, which are shown without tabs, it contains
        the weights shown.
        """
        if self.payload["filters"] is not None:
            return super().selection
        table: pd.DataFrame = (frame_of_tab(self.tab) or selection_frame)(self)
        return table

    @property
    def page_edits(self) -> bool:
        """Whether an exported page contains the edit view; it does if there are edits."""
        return bool(self.edits) and not self.payload.get("filters")

    def page_module(self) -> str:
        """Return the JavaScript module of the Explorer for an exported page.

        Views for other kinds of models are left out, as is the edit view if there are no edits, and
        heat maps if there are no pairs.

        Returns
        -------
        str
            Source of a module with a default export and no imports.
        """
        if self.payload.get("filters"):
            return bundle("explorer.js", parts_for("terms"))
        unused = parts_for("filters")
        unused += () if self.page_edits else ("createEdit",)
        models = (self.payload, *self.payload["others"])
        pairs = any(term["kind"] == "pair" for model in models for term in model["terms"])
        return bundle("explorer.js", unused if pairs else (*unused, *PAIRS))
