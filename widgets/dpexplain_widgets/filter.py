"""The filter view: what a locally linear model weighs, for which class, and how much is noise."""

from __future__ import annotations

from typing import Any

import pandas as pd

from dpexplain.compare import FilterComparison
from dpexplain.explain import FilterBank, WeightMap
from dpexplain_widgets.base import View
from dpexplain_widgets.bundle import bundle


class FilterView(View):
    """Filters of every class at every epsilon, and what they say about single samples.

    Parameters
    ----------
    source : FilterComparison, FilterBank or View
        What to show.
    samples : DataFrame, array-like or None, default=None
        Records to explain one by one, as the model takes them.
    samples_public : bool, default=False
        Whether these records may be shown to anyone.
    **state
        Initial choices by trait name; see :class:`dpexplain_widgets.state.ViewState`.

    Examples
    --------
    >>> view = FilterView(comparison, digits[:8], samples_public=True)  # doctest: +SKIP
    >>> view.filter_class = "3"  # doctest: +SKIP
    >>> view.selection  # doctest: +SKIP
    """

    _shows = "filters"

    _esm = bundle("filter.js")

    def __init__(
        self, source: Any, samples: Any = None, *, samples_public: bool = False, **state: Any
    ) -> None:
        super().__init__(source, samples, samples_public=samples_public, **state)

    @property
    def selection(self) -> pd.DataFrame:
        """The weights that are read: one row per input, or the one chosen input.

        Columns epsilon, repeat, private, map, and those of
        :meth:`dpexplain.explain.WeightMap.frame`.
        """
        return filter_frame(self)


def filter_frame(view: View) -> pd.DataFrame:
    """Table the weights that a view of filters has chosen.

    Parameters
    ----------
    view : View
        Its choices say which fit, class and map.

    Returns
    -------
    DataFrame
        As :attr:`FilterView.selection`.
    """
    weights = chosen_map(view)
    table = weights.frame()
    table.insert(0, "epsilon", view.epsilon)
    table.insert(1, "repeat", view.repeat if view.epsilon < float("inf") else 0)
    table.insert(2, "private", weights.guarantee.private)
    table.insert(3, "map", weights.title)
    if view.input_index is not None:
        table = table.iloc[[view.input_index]]
    return table.reset_index(drop=True)


def chosen_map(view: View) -> WeightMap:
    """Return the map that a view of filters reads.

    Parameters
    ----------
    view : View
        Its choices say which fit, class and map.

    Returns
    -------
    WeightMap
    """
    bank = _chosen_bank(view)
    name = view.filter_class or bank.classes[0]
    if view.shown_map == "filter":
        return bank.filter(name, view.filter_index)
    against = view.against_class or next(each for each in bank.classes if each != name)
    if view.shown_map == "contrast" and against != name:
        return bank.contrast(name, against)
    return bank.class_mean(name)


def _chosen_bank(view: View) -> FilterBank:
    source = view.origin.source
    if isinstance(source, FilterBank):
        return source
    assert isinstance(source, FilterComparison)  # nothing else makes a view of filters
    comparison = source.matched()
    if view.epsilon == float("inf"):
        assert comparison.reference is not None  # it can be chosen only where there is one
        return comparison.reference
    repeats = comparison.explanations[comparison.epsilons[view.epsilon_index]]
    return repeats[min(view.repeat, len(repeats) - 1)]
