"""The rank view: the rank of each term at each epsilon, with rank intervals."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from dpexplain_widgets.export.bundle import bundle
from dpexplain_widgets.views.base import View


class RankView(View):
    """Bump chart of importance ranks across all epsilons, with one line for each term.

    A ribbon shows the 95% rank interval of the selected term, based on total uncertainty. Terms
    that rise above the noise are drawn with solid lines. The non-private reference, if shown, is in
    a separate column after the epsilons. The Up and Down keys select a term, and the Left and Right
    keys select an epsilon.

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

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier, sweep
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(schema=stays.schema)
    >>> comparison = sweep(model, stays.X, stays.y, epsilons=(0.5, 4), progress=False)
    >>> from dpexplain_widgets import RankView
    >>> view = RankView(comparison)
    >>> view.epsilon_index = 1
    >>> "epsilon" in view.selection
    True
    """

    _esm = bundle("rank.js")

    @property
    def selection(self) -> pd.DataFrame:
        """The numbers shown, with one row for each term and epsilon; pairs are left out.

        The columns are term, epsilon (infinite for the reference), rank, rank_low and rank_high
        (NaN if the joint noise is unknown), importance, above_noise, private and chosen.
        """
        return rank_frame(self)


def rank_frame(view: View) -> pd.DataFrame:
    """Tabulate the rank of each term in each fit shown.

    Parameters
    ----------
    view : View
        View whose choices determine the repeat shown, and whether the reference is shown.

    Returns
    -------
    DataFrame
        One row for each term and epsilon; the columns are described in :attr:`RankView.selection`.
    """
    payload = view.shown
    fits = [row[min(view.repeat, len(row) - 1)] for row in payload["fits"]]
    epsilons = [float(epsilon) for epsilon in payload["epsilons"]]
    if payload["reference"] is not None and (view.show_reference or not fits):
        fits, epsilons = [*fits, payload["reference"]], [*epsilons, math.inf]
    names = [term["name"] for term in payload["terms"] if term["kind"] != "pair"]
    tables = []
    for epsilon, fit in zip(epsilons, fits, strict=True):
        terms = fit["terms"][: len(names)]  # pairs come last
        importance = np.array([term["importance"] for term in terms])
        rank = np.empty(len(importance), dtype=np.int64)
        rank[np.argsort(-importance, kind="stable")] = np.arange(1, len(importance) + 1)
        ends = np.array([term["ranks"] or (math.nan, math.nan) for term in terms])
        table = pd.DataFrame(
            {
                "term": names,
                "epsilon": epsilon,
                "rank": rank,
                "rank_low": ends[:, 0],
                "rank_high": ends[:, 1],
                "importance": importance,
                "above_noise": [term["above_noise"] for term in terms],
                "private": bool(fit["guarantee"]["private"]),
            }
        )
        tables.append(table)
    frame = pd.concat(tables, ignore_index=True)
    frame["chosen"] = (frame["term"] == view.term) & (frame["epsilon"] == view.epsilon)
    return frame
