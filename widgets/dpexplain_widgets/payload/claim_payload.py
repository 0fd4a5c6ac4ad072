"""Joint errors of bins, ranges and scores, from which a page computes claims."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dpexplain.explain import GlobalExplanation
from dpexplain.explain.claims.claimed_bins import claim_basis
from dpexplain.explain.claims.contrasts import BLOCKS, factor_of, pair_levels, range_levels
from dpexplain.explain.claims.extremes import extreme_factor
from dpexplain.explain.claims.score_errors import part_correlations
from dpexplain.explain.noise_model import half_width

MOST_BINS = 1_024
"""Maximum number of bins of a term about which a page makes claims; pages load quickly up to it."""

_MOST_LETTERS = 60_000  # characters for pairs of bins, or of blocks of bins, in one model
_FIRST_LETTER = 35  # code of "#"; no character from there on is a quotation mark


def claim_parts(explanation: GlobalExplanation, names: list[str]) -> list[dict[str, Any] | None]:
    """Describe the joint errors of each term.

    Parameters
    ----------
    explanation : GlobalExplanation
    names : list of str
        Names of the terms and pairs, in the order of the payload.

    Returns
    -------
    list of dict or None
        A dictionary for each name, or None if the page makes no claims about the term. The keys are
        "basis", which is described in :class:`dpexplain.explain.Claim`; "difference", "range",
        "sign" and "extreme", which are half-widths of intervals in standard deviations; and "pairs"
        and "ranges", which encode the outputs of
        :func:`dpexplain.explain.claims.contrasts.pair_levels` and
        :func:`~dpexplain.explain.claims.contrasts.range_levels` as strings with one character for
        each level. The last two are None if the correlations are unknown.
    """
    blocks = [min(BLOCKS["difference"], term.n_bins) for term in explanation.terms]
    if sum(n * (n + 1) // 2 for n in blocks) > _MOST_LETTERS:
        return [None] * len(names)  # keep pages of hundreds of terms small
    places = {name: place for place, name in enumerate(explanation)}
    return [_part(explanation, places[name]) if name in places else None for name in names]


def _part(explanation: GlobalExplanation, place: int) -> dict[str, Any] | None:
    term = explanation.terms[place]
    basis = claim_basis(term)
    if basis is None or term.n_bins > MOST_BINS:
        return None
    joint = explanation.effect_scatter if basis == "effect" else explanation.noise
    return {
        "basis": basis,
        "difference": factor_of("difference", term),
        "range": factor_of("range", term),
        "sign": factor_of("sign", term),
        "extreme": extreme_factor(term),
        "pairs": None if joint is None else _letters(pair_levels(joint, place)),
        "ranges": None if joint is None else _letters(range_levels(joint, place, term)),
    }


def decision_part(explanation: GlobalExplanation) -> dict[str, Any] | None:
    """Describe the joint errors of scores.

    Parameters
    ----------
    explanation : GlobalExplanation

    Returns
    -------
    dict or None
        A dictionary with two keys, or None if no claims can be made about decisions. "factor" is
        the half-width of an interval in standard deviations, for the leads over all other classes
        if there are several. "together" encodes the output of
        :func:`dpexplain.explain.claims.score_errors.part_correlations` as a string with one
        character for each correlation, or is None for a large model.
    """
    known = all(part.total_std is not None and part.released is None for part in explanation.parts)
    if explanation.noise is None or explanation.main_effects_only or not known:
        return None
    rivals = len(explanation.classes or ()) - 1 if explanation.of_class else 1
    steps = part_correlations(explanation.noise)
    return {"factor": half_width(rivals), "together": None if steps is None else _letters(steps)}


def _letters(levels: npt.NDArray[np.int64]) -> str:
    return (levels + _FIRST_LETTER).astype(np.uint8).tobytes().decode("ascii")
