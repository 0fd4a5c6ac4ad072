"""Pairs of features as terms of a payload, whose bins are the cells, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpexplain.tables.cells import DATE_UNIT

if TYPE_CHECKING:
    from dpexplain.explain import PairCurve
    from dpexplain.explain.additive.pair_curve import PairAxis


_UNKNOWN = (
    "noise_std", "structure_std", "sampling_std", "total_std", "bag_std", "stretch", "signal",
    "effect", "effect_std", "effect_factor", "effect_signal", "effect_size",
    "effect_size_std", "has_effect", "noise_floor", "directions", "above_noise", "ranks",
)  # fmt: skip


def pair_outline(pair: PairCurve) -> dict[str, Any]:
    """Return the part of a pair that is the same in all fits.

    Parameters
    ----------
    pair : PairCurve

    Returns
    -------
    dict
        A term of kind "pair", with the keys that every term of a payload has.
    """
    first, second = pair.feature_names
    return {
        "name": pair.name,
        "kind": "pair",
        "ordered": False,
        "unit": "",
        "is_date": False,
        "step": None,
        "description": f"{first} and {second} jointly, beyond their separate contributions",
    }


def pair_fit(pair: PairCurve) -> dict[str, Any]:
    """Return the part of a pair that depends on the fit.

    Parameters
    ----------
    pair : PairCurve

    Returns
    -------
    dict
        Dictionary with the keys that every term of a fit has, and the key "axes". The lists
        "labels", "contribution" and "count" have one entry for each cell, row by row; values that
        are unknown for pairs are None. "axes" is a list of two dictionaries, the first for the rows
        and the second for the columns, with the keys name, kind, unit, is_date, step, labels,
        special and edges.
    """
    return {
        "edges": None,
        "labels": list(pair.cell_labels),
        "special": [],
        "contribution": pair.contribution.ravel().tolist(),
        "count": pair.count.ravel().tolist(),
        **dict.fromkeys(_UNKNOWN),
        "band_factor": 2.0,
        "importance": pair.importance,
        "corrected_importance": pair.importance,
        "axes": [_axis(axis) for axis in pair.axes],
    }


def _axis(axis: PairAxis) -> dict[str, Any]:
    return {
        "name": axis.name,
        "kind": axis.kind,
        "unit": "" if axis.unit == DATE_UNIT else axis.unit,
        "is_date": axis.unit == DATE_UNIT,
        "step": axis.step,
        "labels": list(axis.bin_labels),
        "special": list(axis.bin_labels[axis.n_value_bins :]),
        "edges": None if axis.bin_edges is None else axis.bin_edges.tolist(),
    }
