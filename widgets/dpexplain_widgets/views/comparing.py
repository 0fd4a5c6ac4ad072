"""Choose the fits used for comparison, and compute distances between fits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from dpexplain.explain._record import FloatArray
from dpexplain_widgets.state.state import ViewState

Fit: TypeAlias = Mapping[str, Any]
FitAt: TypeAlias = Callable[[int], Fit | None]


def disagreement_frame(view: ViewState) -> pd.DataFrame:
    """Tabulate the distance between each curve and the curve it is compared with.

    Parameters
    ----------
    view : View
        View whose choices determine the comparison.

    Returns
    -------
    DataFrame
        One row for each term and epsilon, with terms in model order. The columns are described in
        :attr:`dpexplain_widgets.views.disagreement.DisagreementView.selection`.
    """
    kind, fit_at = comparison_of(view)
    payload = view.shown
    rows = []
    for place, term in enumerate(payload["terms"]):
        for stop, epsilon in enumerate(payload["epsilons"]):
            fit, other = _same_repeat(payload["fits"][stop], view.repeat), fit_at(stop)
            known = other is not None and other is not fit
            value = (
                disagreement(fit["terms"][place], other["terms"][place])
                if other is not None and known
                else math.nan
            )
            private = all(each["guarantee"]["private"] for each in (fit, other or fit))
            chosen = term["name"] == view.term and stop == view.epsilon_index
            rows.append((term["name"], epsilon, kind, value, private, chosen))
    columns = ["term", "epsilon", "against", "disagreement", "private", "chosen"]
    return pd.DataFrame(rows, columns=columns)


def comparison_of(view: ViewState) -> tuple[str, FitAt]:
    """Find the fits with which a view compares the selected model.

    Parameters
    ----------
    view : View
        View whose choices determine the requested kind of comparison. If that is not available, the
        first available kind is used.

    Returns
    -------
    kind : str
        One of the values of `against`; "nothing" if no comparison is available.
    fit_at : callable
        Function that maps the index of an epsilon to the fit to compare with, or to None if there
        is no such fit.
    """
    kinds = {
        "reference": _reference(view),
        "epsilon": _epsilon(view),
        "model": _model(view),
        "repeat": _repeat(view),
    }
    found = {kind: fit_at for kind, fit_at in kinds.items() if fit_at is not None}
    if not found:
        return "nothing", lambda stop: None
    kind = view.against if view.against in found else next(iter(found))
    return kind, found[kind]


def _reference(view: ViewState) -> FitAt | None:
    reference = view.shown["reference"]
    if reference is None or not view.show_reference or not view.shown["fits"]:
        return None
    return lambda stop: reference


def _epsilon(view: ViewState) -> FitAt | None:
    epsilons, fits = view.shown["epsilons"], view.shown["fits"]
    if len(epsilons) < 2:
        return None
    pinned = view.pinned_epsilon
    base = len(epsilons) - 1 if pinned is None else epsilons.index(pinned)
    return lambda stop: _same_repeat(fits[base], view.repeat)


def _model(view: ViewState) -> FitAt | None:
    other = view._model(view.other_model)
    if other is None or view.other_model == view.model_name or not other["fits"]:
        return None
    epsilons = view.shown["epsilons"]

    def fit_at(stop: int) -> Fit:
        ratios = [abs(math.log(each / epsilons[stop])) for each in other["epsilons"]]
        return _same_repeat(other["fits"][int(np.argmin(ratios))], view.repeat)

    return fit_at


def _repeat(view: ViewState) -> FitAt | None:
    fits = view.shown["fits"]
    if not any(len(row) > 1 for row in fits):
        return None

    def fit_at(stop: int) -> Fit | None:
        row = fits[stop]
        place = min(view.repeat, len(row) - 1)
        return row[(place + 1) % len(row)] if len(row) > 1 else None

    return fit_at


def _same_repeat(row: list[Fit], repeat: int) -> Fit:
    return row[min(repeat, len(row) - 1)]


def disagreement(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """Return the mean absolute difference between two curves, relative to the second.

    Parameters
    ----------
    one, other : mapping
        The same term in two fits of a payload; the (noisy) counts of the first fit are the weights.

    Returns
    -------
    float
        0 for equal curves, 1 if the difference is as large as the second curve; NaN if the second
        curve is flat. For a pair of features, the result is also NaN if the grids of the fits
        differ, or if a fit does not contain the pair.
    """
    if one.get("axes") and (one["labels"] != other["labels"] or _is_absent(one, other)):
        return math.nan
    a, b, weights = _on_common_bins(one, other)
    size = float(weights @ np.abs(b))
    return float(weights @ np.abs(a - b)) / size if size > 0 else math.nan


def _is_absent(*pairs: Mapping[str, Any]) -> bool:
    return any(pair.get("absent", False) for pair in pairs)


def _on_common_bins(
    one: Mapping[str, Any], other: Mapping[str, Any]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return both curves on their common bins, and the weights of these bins.

    The weight of a bin is its proportion of the counts in the first curve.
    """
    positive = np.maximum(np.array(one["count"]), 0.0)
    total = positive.sum()
    weights = positive / total if total > 0 else np.full(len(positive), 1.0 / len(positive))
    a = np.array(one["contribution"])
    by_label = dict(zip(other["labels"], other["contribution"], strict=True))
    if one["edges"] is None or other["edges"] is None:
        return a, np.array([by_label.get(label, 0.0) for label in one["labels"]]), weights
    mine, theirs = np.array(one["edges"]), np.array(other["edges"])
    edges = np.unique(np.concatenate([mine, np.clip(theirs, mine[0], mine[-1])]))
    middles, n = (edges[:-1] + edges[1:]) / 2.0, len(mine) - 1
    at = np.clip(np.searchsorted(mine, middles, side="right") - 1, 0, n - 1)
    other_at = np.clip(np.searchsorted(theirs, middles, side="right") - 1, 0, len(theirs) - 2)
    share = np.diff(edges) / np.diff(mine)[at]
    special = np.array([by_label.get(label, 0.0) for label in one["special"]])
    return (
        np.concatenate([a[at], a[n:]]),
        np.concatenate([np.array(other["contribution"])[other_at], special]),
        np.concatenate([weights[at] * share, weights[n:]]),
    )
