"""Claims about two bins, one or two ranges, or the sign of one bin."""

from __future__ import annotations

from dpexplain.explain._text import above_rounding, shorten, signed_number
from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.additive.shape_function import ShapeFunction
from dpexplain.explain.claims.claim import Claim
from dpexplain.explain.claims.claim_words import (
    claimed_score,
    direction,
    doubt,
    sentence,
    size_words,
)
from dpexplain.explain.claims.claimed_bins import ClaimedValues, span_label
from dpexplain.explain.claims.contrasts import Kind, contrast_of, contrast_std, factor_of
from dpexplain.explain.claims.frequencies import frequency_words, typical_shares


def contrast_claim(
    explanation: GlobalExplanation,
    term: ShapeFunction,
    claimed: ClaimedValues,
    kind: Kind,
    bins: tuple[int, ...],
) -> Claim:
    """Create a claim about a difference between means of bins.

    Parameters
    ----------
    explanation : GlobalExplanation
    term : ShapeFunction
    claimed : ClaimedValues
        Values of the term to which the claim refers.
    kind : {"difference", "range", "ranges", "sign"}
    bins : tuple of int
        As in :func:`dpexplain.explain.claims.contrasts.contrast_of`.

    Returns
    -------
    Claim
    """
    contrast = contrast_of(term, kind, bins)
    place = list(explanation).index(term.name)
    error = contrast_std(claimed.joint, place, term, claimed.std, contrast, bins)
    estimate = above_rounding(float(contrast.loads @ claimed.values), error)
    half = factor_of(kind, term) * error
    low, high = estimate - half, estimate + half
    compared = _compared(term, kind, bins)
    against = shorten(compared[1])
    if kind in ("difference", "ranges"):
        against = f"records with {shorten(term.name)} = {against}"
    holds = low > 0.0 or high < 0.0
    said = (
        f"records with {shorten(term.name)} = {shorten(compared[0])} have {direction(estimate)} "
        f"{claimed_score(explanation)} than {against}, other features equal: "
        f"{size_words(explanation, estimate)}, 95% between {signed_number(low)} and "
        f"{signed_number(high)}"
    )
    words = sentence(explanation.guarantee, said, None if holds else doubt(claimed.basis))
    shares = typical_shares(explanation, term, contrast, (estimate, low, high))
    return Claim(
        "difference" if kind == "ranges" else kind, term.name, *compared,
        estimate, error, low, high, claimed.basis,
        holds, words, explanation.guarantee, shares,
        frequency_words(explanation, kind, term.name, compared, shares),
    )  # fmt: skip


def _compared(term: ShapeFunction, kind: Kind, bins: tuple[int, ...]) -> tuple[str, str]:
    if kind in ("range", "ranges"):
        spans = (bins[k : k + 2] for k in range(0, len(bins), 2))
        first, *others = (span_label(term, *ends) for ends in spans)
        return first, others[0] if others else "all others"
    labels = [term.bin_labels[place] for place in bins]
    return labels[0], "the average record" if kind == "sign" else labels[1]
