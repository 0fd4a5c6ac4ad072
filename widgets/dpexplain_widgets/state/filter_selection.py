"""The weights selected in a filter view, as a table."""

from __future__ import annotations

import math

import pandas as pd

from dpexplain.compare import FilterComparison
from dpexplain.explain import FilterBank, WeightMap
from dpexplain_widgets.state.state import ViewState


def filter_frame(view: ViewState) -> pd.DataFrame:
    """Tabulate the weights selected in a filter view.

    Parameters
    ----------
    view : View
        View whose choices determine the fit, class and map.

    Returns
    -------
    DataFrame
        One row for each input, or only for the chosen input. The columns are epsilon, repeat,
        private, map, and the columns of :meth:`dpexplain.explain.WeightMap.frame`.
    """
    weights = chosen_map(view)
    table = weights.frame()
    table.insert(0, "epsilon", view.epsilon)
    table.insert(1, "repeat", view.repeat if view.epsilon < math.inf else 0)
    table.insert(2, "private", weights.guarantee.private)
    table.insert(3, "map", weights.title)
    if view.input_index is not None:
        table = table.iloc[[view.input_index]]
    return table.reset_index(drop=True)


def chosen_map(view: ViewState) -> WeightMap:
    """Return the map selected in a filter view.

    Parameters
    ----------
    view : View
        View whose choices determine the fit, class and map.

    Returns
    -------
    WeightMap
    """
    bank = _chosen_bank(view)
    name = view.filter_class or bank.classes[0]
    if view.shown_map == "filter":
        other, place = view.against_class or name, view.against_filter
        if place is None or (other, place) == (name, view.filter_index):
            return bank.filter(name, view.filter_index)
        return bank.contrast(name, other, place=view.filter_index, against_place=place)
    against = view.against_class or next(each for each in bank.classes if each != name)
    if view.shown_map == "contrast" and against != name:
        return bank.contrast(name, against)
    return bank.class_mean(name)


def _chosen_bank(view: ViewState) -> FilterBank:
    source = view.origin.source
    if isinstance(source, FilterBank):
        return source
    assert isinstance(source, FilterComparison)  # filter views have no other source
    comparison = source.matched()
    if view.epsilon == math.inf:
        assert comparison.reference is not None  # it can be selected only if it exists
        return comparison.reference
    repeats = comparison.explanations[comparison.epsilons[view.epsilon_index]]
    return repeats[min(view.repeat, len(repeats) - 1)]
