"""A table of what is selected in a view."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from dpexplain_widgets.state.state import ViewState


def selection_frame(view: ViewState) -> pd.DataFrame:
    """Tabulate the bins selected in a view.

    Parameters
    ----------
    view : View
        View whose choices determine the fit, term and bin.

    Returns
    -------
    DataFrame
        One row for each bin of the term, or only for the chosen bins: those in the chosen range
        (for a pair, the cells in the chosen region), or a single bin. The columns are epsilon,
        repeat and private, followed by the columns of
        :meth:`dpexplain.explain.ShapeFunction.frame`. If no fit is shown, the table is empty.
    """
    fit = view._fit()
    if fit is None:
        return pd.DataFrame()
    table = bins_frame(fit["terms"][view.term_names.index(view.term)])
    table.insert(0, "epsilon", view.epsilon)
    table.insert(1, "repeat", view.repeat if math.isfinite(view.epsilon) else 0)
    table.insert(2, "private", bool(fit["guarantee"]["private"]))
    table.insert(3, "term", view.term)
    if view.bin_index is not None and view.bin_index < len(table):
        table = table.iloc[[view.bin_index]]
    elif view.bin_range is not None:
        table = table.iloc[
            _range_of(fit["terms"][view.term_names.index(view.term)], view.bin_range)
        ]
    return table.reset_index(drop=True)


def _range_of(term_fit: dict[str, Any], ends: list[int]) -> list[int]:
    """List the bins from first to last; for a pair, the cells between two corners."""
    if not term_fit.get("axes"):
        return list(range(ends[0], ends[1] + 1))
    n_columns = len(term_fit["axes"][1]["labels"])
    rows, columns = (
        sorted(part) for part in zip(*(divmod(e, n_columns) for e in ends), strict=True)
    )
    return [
        row * n_columns + column
        for row in range(rows[0], rows[1] + 1)
        for column in range(columns[0], columns[1] + 1)
    ]


def bins_frame(term_fit: dict[str, Any]) -> pd.DataFrame:
    """Tabulate the bins of a term in a payload, like :meth:`ShapeFunction.frame`.

    Parameters
    ----------
    term_fit : dict
        A term in a fit of a payload.

    Returns
    -------
    DataFrame
        One row for each bin; special bins come last. The ``term`` column is left out.
    """
    n_bins = len(term_fit["labels"])
    edges = term_fit["edges"] or []
    outside = [math.nan] * (n_bins - max(0, len(edges) - 1))
    stds = ("noise_std", "structure_std", "sampling_std", "total_std")
    unknown = [math.nan] * n_bins
    effect, half = term_fit["effect"], unknown
    if effect:
        half = [term_fit["effect_factor"] * std for std in term_fit["effect_std"]]
    middle = effect or unknown
    return pd.DataFrame(
        {
            "bin": term_fit["labels"],
            "bin_left": [*edges[:-1], *outside],
            "bin_right": [*edges[1:], *outside],
            "contribution": term_fit["contribution"],
            **{name: term_fit[name] or unknown for name in stds},
            "signal": pd.Series(term_fit["signal"] or [None] * n_bins, dtype=object),
            "count": term_fit["count"],
            "special": [i >= n_bins - len(term_fit["special"]) for i in range(n_bins)],
            **{name: term_fit[name] or unknown for name in ("bag_std", "effect", "effect_std")},
            "effect_low": [value - reach for value, reach in zip(middle, half, strict=True)],
            "effect_high": [value + reach for value, reach in zip(middle, half, strict=True)],
            "effect_signal": pd.Series(term_fit["effect_signal"] or [None] * n_bins, dtype=object),
        }
    )
