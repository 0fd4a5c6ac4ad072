"""Pairs of features as terms of a payload; each cell of the grid is a bin."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from dpexplain.explain import GlobalExplanation, PairCurve
from dpexplain.explain.claims.claimed_bins import claim_basis
from dpexplain.tables.cells import DATE_UNIT

if TYPE_CHECKING:
    from dpexplain.explain.additive.pair_curve import PairAxis

Pairs: TypeAlias = dict[str, PairCurve]

_UNKNOWN = (
    "noise_std", "structure_std", "sampling_std", "total_std", "bag_std", "stretch", "signal",
    "effect", "effect_std", "effect_factor", "effect_signal", "effect_size",
    "effect_size_std", "has_effect", "noise_floor", "directions", "above_noise", "ranks",
    "claims",
)  # fmt: skip

_Payload = dict[str, Any]


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
    about = f"{first} and {second} jointly, beyond their separate contributions"
    return {
        "name": pair.name,
        "kind": "pair",
        "ordered": False,
        "unit": "",
        "is_date": False,
        "step": None,
        "description": "; ".join(filter(None, [about, pair.edit_words])),
    }


def pairs_of(explanations: Iterable[GlobalExplanation]) -> Pairs:
    """Collect the pairs of several models.

    Parameters
    ----------
    explanations : iterable of GlobalExplanation

    Returns
    -------
    dict of str to PairCurve
        Each pair by name, from the first model that has it.
    """
    pairs: Pairs = {}
    for explanation in explanations:
        for pair in explanation.pairs:
            pairs.setdefault(pair.name, pair)
    return pairs


def pair_fits(explanation: GlobalExplanation, pairs: Pairs) -> list[dict[str, Any]]:
    """Return the parts of pairs that depend on the fit.

    Parameters
    ----------
    explanation : GlobalExplanation
    pairs : dict of str to PairCurve
        The pairs of all models shown.

    Returns
    -------
    list of dict
        A dictionary for each pair, with the keys that every term of a fit has, and the key "axes".
        The lists in a dictionary have one entry for each cell, row by row. "axes" is a list of two
        dictionaries, the first for the rows and the second for the columns, with the keys name,
        kind, unit, is_date, step, labels, special and edges. A pair that this model lacks
        contributes nothing, and has the key "absent".
    """
    own = {pair.name: pair for pair in explanation.pairs}
    above = explanation.pairs_above_noise
    return [
        _pair_fit(own[name], above) if name in own else _absent(_pair_fit(pair))
        for name, pair in pairs.items()
    ]


def _pair_fit(pair: PairCurve, above_noise: Collection[str] | None = None) -> dict[str, Any]:
    return {
        "edges": None,
        "labels": list(pair.cell_labels),
        "special": [],
        "contribution": pair.contribution.ravel().tolist(),
        "count": pair.count.ravel().tolist(),
        **dict.fromkeys(_UNKNOWN),
        **_noise(pair),
        "above_noise": None if above_noise is None else pair.name in above_noise,
        "importance": pair.importance,
        "axes": [_axis(axis) for axis in pair.axes],
    }


def _noise(pair: PairCurve) -> dict[str, Any]:
    if pair.signal is None:
        return {"band_factor": 2.0}
    names = ("noise_std", "sampling_std", "total_std", "signal")
    known = {name: getattr(pair, name) for name in names}
    return {
        **{name: each.ravel().tolist() for name, each in known.items() if each is not None},
        "noise_floor": pair.noise_floor,
        "band_factor": pair.band_factor,
        "claims": {"basis": claim_basis(pair)} if pair.released is None else None,
        **_effect(pair),
    }


def _effect(pair: PairCurve) -> dict[str, Any]:
    if pair.effect is None or pair.effect_std is None or pair.effect_signal is None:
        return {}
    return {
        "effect": pair.effect.ravel().tolist(),
        "effect_std": pair.effect_std.ravel().tolist(),
        "effect_factor": pair.effect_factor,
        "effect_signal": pair.effect_signal.ravel().tolist(),
    }


def _absent(pair: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a pair that a fit does not have, on the grid of a fit that has it."""
    zeros = [0.0] * len(pair["labels"])
    return {
        **pair,
        **dict.fromkeys(_UNKNOWN),
        "contribution": zeros,
        "count": zeros,
        "total_std": zeros,
        "importance": 0.0,
        "absent": True,
    }


def with_same_pairs(payloads: Sequence[_Payload]) -> list[_Payload]:
    """Give all models the same pairs; a pair that a model lacks is marked as absent.

    Parameters
    ----------
    payloads : sequence of dict
        Payloads of models.

    Returns
    -------
    list of dict
        Payloads whose terms include the pairs of all models.
    """
    outlines: _Payload = {}
    fits: _Payload = {}
    for payload in payloads:
        fit = payload["reference"] or payload["fits"][0][0]
        for outline, pair in zip(payload["terms"], fit["terms"], strict=True):
            if outline["kind"] == "pair":
                outlines.setdefault(outline["name"], outline)
                fits.setdefault(outline["name"], pair)
    return [_with_pairs(payload, outlines, fits) for payload in payloads]


def _with_pairs(payload: _Payload, outlines: _Payload, fits: _Payload) -> _Payload:
    own = {term["name"] for term in payload["terms"]}
    lacking = [name for name in outlines if name not in own]

    def grown(fit: _Payload) -> _Payload:
        return {**fit, "terms": [*fit["terms"], *(_absent(fits[name]) for name in lacking)]}

    reference = payload["reference"]
    return {
        **payload,
        "terms": [*payload["terms"], *(outlines[name] for name in lacking)],
        "fits": [[grown(fit) for fit in repeats] for repeats in payload["fits"]],
        "reference": None if reference is None else grown(reference),
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
