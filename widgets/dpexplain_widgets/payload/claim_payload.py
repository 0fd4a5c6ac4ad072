"""Correlations of errors, with which a page compares two bins of a term."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpexplain.explain import GlobalExplanation
from dpexplain.explain.claims import claim_basis, correlation_levels, pair_factor

MOST_BINS = 64
"""Terms with more bins are compared in Python only, to keep pages small."""

_MOST_PAIRS = 60_000  # of one model
_FIRST_LETTER = 35  # "#"; 92 letters follow, without the quotation mark


def claim_parts(explanation: GlobalExplanation, names: list[str]) -> list[dict[str, Any] | None]:
    """Describe the joint errors of each term.

    Parameters
    ----------
    explanation : GlobalExplanation
    names : list of str
        Names of the terms, in the order of the payload; others are pairs.

    Returns
    -------
    list of dict or None
        "basis", as in :class:`dpexplain.explain.Claim`; "factor", the half-width of intervals in
        standard deviations; and "apart", one character per pair of bins for its level in
        :func:`dpexplain.explain.claims.correlation_levels`, or None if correlations are unknown.
        The entry is None if the page makes no claims about the term.
    """
    pairs = sum(term.n_bins * (term.n_bins - 1) // 2 for term in explanation.terms)
    if pairs > _MOST_PAIRS:
        return [None] * len(names)
    places = {name: place for place, name in enumerate(explanation)}
    return [_part(explanation, places[name]) if name in places else None for name in names]


def _part(explanation: GlobalExplanation, place: int) -> dict[str, Any] | None:
    term = explanation.terms[place]
    basis = claim_basis(term)
    if basis is None or term.n_bins > MOST_BINS:
        return None
    joint = explanation.effect_scatter if basis == "effect" else explanation.noise
    if joint is None:
        return {"basis": basis, "factor": pair_factor(term.n_bins), "apart": None}
    levels = correlation_levels(joint, place) + _FIRST_LETTER
    letters = levels.astype(np.uint8).tobytes().decode("ascii")
    return {"basis": basis, "factor": pair_factor(term.n_bins), "apart": letters}
