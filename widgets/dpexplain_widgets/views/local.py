"""The local view: contributions to one score, and whether their signs are certain."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpexplain.explain.claims.frequencies import typical_bin
from dpexplain.explain.noise_model import normal_certainty
from dpexplain_widgets.export.bundle import bundle
from dpexplain_widgets.views.base import View

if TYPE_CHECKING:
    from dpexplain.explain._record import FloatArray


class LocalView(View):
    """Waterfall chart of the contributions to the score of one sample.

    Three things are based on total uncertainty: the whiskers, the labels "sign certain" and "sign
    uncertain", and the certainty that the prediction is above (or below) the threshold. Errors of
    different terms are assumed to be independent. Values can be changed within their public ranges,
    at no privacy cost, because only released curves are used. A displayed sample is not covered by
    the guarantee of the model. Release-safe files contain the sample only if it was marked as
    public.

    Parameters
    ----------
    source : Comparison, GlobalExplanation, dict or View
        What to show; see :class:`dpexplain_widgets.views.base.View`.
    samples : DataFrame or None, default=None
        Records for local explanations, with a column for every feature.
    samples_public : bool, default=False
        Whether `samples` are public and may be shown to anyone.
    **state
        Initial choices, keyed by trait name; see :class:`dpexplain_widgets.state.state.ViewState`.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier, sweep
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(schema=stays.schema)
    >>> comparison = sweep(model, stays.X, stays.y, epsilons=(0.5, 4), progress=False)
    >>> from dpexplain_widgets import LocalView
    >>> invented = stays.schema.simulate(3, seed=0)[0]
    >>> view = LocalView(comparison, invented, samples_public=True)
    >>> view.epsilon_index = 1
    >>> view.selection.shape[0] > 0
    True
    """

    _esm = bundle("local.js")

    @property
    def selection(self) -> pd.DataFrame:
        """The numbers shown, with one row for each term, in model order.

        The columns are term, value, made_up (whether the value is a what-if value), bin,
        contribution, total_std, sign_certainty (probability that the sign is correct; NaN if
        unknown), reference (contribution in the non-private reference; NaN if the reference is not
        shown, or is the selected fit), flips (whether the contribution has the opposite sign in the
        reference) and private (whether the sample, if any, is public and all numbers come from
        private models).
        """
        return local_frame(self)


def local_frame(view: View) -> pd.DataFrame:
    """Tabulate the contributions to the score of the sample shown.

    Parameters
    ----------
    view : View
        View whose choices determine the sample, the changes to it, and the fit.

    Returns
    -------
    DataFrame
        One row for each term; the columns are described in :attr:`LocalView.selection`. The score
        is the intercept of the fit plus the contributions, added in order. If no fit is shown, the
        table is empty.
    """
    fit = view._fit()
    if fit is None:
        return pd.DataFrame()
    values = shown_values(view)
    contribution, std, bins = _contributions(fit, values)
    reference = view.shown["reference"] if view.show_reference else None
    if reference is None or reference is fit:
        beside = np.full(len(values), math.nan)
    else:
        beside, _, _ = _contributions(reference, values)
    samples = view.payload["samples"]
    inside = view.sample is not None and samples is not None and not samples["public"]
    unshown = bool(np.isnan(beside).all())
    names = [term["name"] for term in view.shown["terms"]]
    return pd.DataFrame(
        {
            "term": names,
            "value": pd.Series(values, dtype=object),
            "made_up": [name in view.what_if for name in names],
            "bin": bins,
            "contribution": contribution,
            "total_std": std,
            "sign_certainty": _sign_certainty(contribution, std),
            "reference": beside,
            "flips": contribution * np.nan_to_num(beside) < 0,
            "private": bool(fit["guarantee"]["private"]) and unshown and not inside,
        }
    )


def shown_values(view: View) -> list[Any]:
    """List the value of each term in the displayed sample.

    Parameters
    ----------
    view : View
        View whose choices determine the sample and the changes.

    Returns
    -------
    list of float, str, None or list
        The what-if value of a term if one is set, otherwise its value in the sample. If there is no
        sample, the value is typical by the released counts: the largest category, or a number near
        the midpoint of the bin that contains the median. A pair has a list with the values of its
        two features.
    """
    payload, samples = view.shown, view.payload["samples"]
    fit = payload["fits"][-1][0] if payload["fits"] else payload["reference"]
    row = None if view.sample is None or samples is None else samples["rows"][view.sample]
    values: dict[str, Any] = {}
    for k, term in enumerate(payload["terms"]):
        name = term["name"]
        if name in view.what_if:
            values[name] = view.what_if[name]
        elif term["kind"] == "pair":
            values[name] = _pair_values(fit["terms"][k]["axes"], values, row and row[k])
        else:
            values[name] = _typical(fit["terms"][k], term["step"]) if row is None else row[k]
    return list(values.values())


def _pair_values(
    axes: list[Mapping[str, Any]], values: Mapping[str, Any], read: list[Any] | None
) -> list[Any]:
    """Return the values of a pair's two features, from their own terms if possible."""
    return [
        values[axis["name"]]
        if axis["name"] in values
        else (_first_value(axis) if read is None else read[place])
        for place, axis in enumerate(axes)
    ]


def _first_value(axis: Mapping[str, Any]) -> Any:
    return axis["labels"][0] if axis["edges"] is None else axis["edges"][0]


def _typical(term: Mapping[str, Any], step: float | None) -> Any:
    n_values = len(term["labels"]) - len(term["special"])
    place = typical_bin(np.asarray(term["count"])[:n_values], numeric=term["edges"] is not None)
    if term["edges"] is None:
        return term["labels"][place]
    low, high = term["edges"][place], term["edges"][place + 1]
    if not step:
        return _rounded_middle(low, high)
    middle = (low + high) / 2.0
    # Halves are rounded up, as in JavaScript.
    on_step = float(f"{math.floor(middle / step + 0.5) * step:.12g}")
    return on_step if low <= on_step < high else middle


def _rounded_middle(low: float, high: float) -> float:
    """Round the midpoint of a bin, but keep it in the middle half of the bin.

    A bin too narrow for six decimals is represented by its start, such as 0.
    """
    middle = (low + high) / 2.0
    for scale in (10.0**digits for digits in range(7)):
        rounded = math.floor(middle * scale + 0.5) / scale
        if abs(rounded - middle) <= (high - low) / 4:
            return rounded
    return low


def bin_of(term: Mapping[str, Any], value: Any) -> int | None:
    """Return the index of the bin that contains a value of a term.

    Parameters
    ----------
    term : mapping
        A term in a fit of a payload.
    value : float, str, None or list
        A number, a category, or None for missing; a list of two of these for a pair.

    Returns
    -------
    int or None
        Index of the bin; None if the term has no bin for the value.
    """
    if term.get("axes") is not None:
        row, column = (bin_of(axis, each) for axis, each in zip(term["axes"], value, strict=True))
        if row is None or column is None:
            return None
        return row * len(term["axes"][1]["labels"]) + column
    n_values = len(term["labels"]) - len(term["special"])

    def special(name: str) -> int | None:
        names = [label for label in term["special"] if label in (name, f"({name})")]
        return n_values + term["special"].index(names[0]) if names else None

    if value is None:
        return special("missing")
    if term["edges"] is not None:
        place = int(np.searchsorted(term["edges"], value, side="right")) - 1
        return min(max(place, 0), n_values - 1)
    categories = term["labels"][:n_values]
    return categories.index(value) if value in categories else special("other")


def _contributions(
    fit: Mapping[str, Any], values: list[Any]
) -> tuple[FloatArray, FloatArray, list[str]]:
    places = [bin_of(term, value) for term, value in zip(fit["terms"], values, strict=True)]
    contribution = np.zeros(len(values))
    std = np.zeros(len(values))
    labels = ["no bin"] * len(values)
    for k, (term, place) in enumerate(zip(fit["terms"], places, strict=True)):
        if place is None:
            continue
        contribution[k] = term["contribution"][place]
        std[k] = math.nan if term["total_std"] is None else term["total_std"][place]
        labels[k] = term["labels"][place]
    return contribution, std, labels


def _sign_certainty(contribution: FloatArray, std: FloatArray) -> FloatArray:
    size = np.abs(contribution)
    ratio = np.divide(size, std, out=np.where(size > 0, np.inf, 0.0), where=std > 0)
    return np.where(np.isnan(std), math.nan, normal_certainty(ratio))
