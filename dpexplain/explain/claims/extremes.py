"""Claims about the location of a peak or trough.

Suppose that bin k is the highest bin of the true curve. With 95% confidence, no other bin then
exceeds it in the estimated curve by more than a multiple of the standard deviation of their
difference; the multiple accounts for comparing k with every other value bin. The bins that no other
bin exceeds by more than that therefore contain the true peak with 95% confidence. This is multiple
comparison with the best [1]_: each bin is compared only with the highest one, so finding a peak
takes less data than comparing all pairs of bins. The set does not depend on the range of the claim,
so all ranges may be tried.

References
----------
.. [1] Hsu, "Simultaneous Confidence Intervals for All Distances from the 'Best'", Annals of
   Statistics 9 (1981).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dpexplain.explain._record import FloatArray
from dpexplain.explain._text import shorten
from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.additive.shape_function import ShapeFunction
from dpexplain.explain.claims.claim import Claim
from dpexplain.explain.claims.claim_words import claimed_score, sentence, size_words
from dpexplain.explain.claims.claimed_bins import ClaimedValues, bin_place, range_bins, span_label
from dpexplain.explain.claims.contrasts import difference_std
from dpexplain.explain.noise_model import LEVEL

Extreme = Literal["highest", "lowest"]

MOST_LISTED = 3
"""Maximum number of unordered candidates that a sentence lists."""


def extreme_factor(term: ShapeFunction) -> float:
    """Return the number of standard deviations that rules out a bin as the extreme.

    A bin is ruled out if another bin exceeds it (for a trough, lies below it) by more than this
    number of standard deviations. By Bonferroni's inequality, the factor holds for the peak and the
    trough of a term at once, whatever the correlations.

    Parameters
    ----------
    term : ShapeFunction

    Returns
    -------
    float
        Multiple of the standard deviation of a difference, rounded up to three decimals.
    """
    others = max(1, term.n_value_bins - 1)
    return math.ceil(1000.0 * NormalDist().inv_cdf(1.0 - (1.0 - LEVEL) / (2 * others))) / 1000.0


def extreme_claim(
    explanation: GlobalExplanation,
    term: ShapeFunction,
    claimed: ClaimedValues,
    extreme: Extreme,
    where: Any,
) -> Claim:
    """Create a claim that the highest or the lowest value bin lies in a range.

    Parameters
    ----------
    explanation : GlobalExplanation
    term : ShapeFunction
    claimed : ClaimedValues
        Values of the term to which the claim refers.
    extreme : {"highest", "lowest"}
    where : str, number, date, tuple or None
        A bin, the first and last bins of a range, or None for the estimated extreme.

    Returns
    -------
    Claim

    Raises
    ------
    KeyError
        If a bin does not exist.
    ValueError
        If `extreme` is unknown, or no value bin remains outside the range.
    """
    if extreme not in ("highest", "lowest"):
        raise ValueError(f"extreme={extreme!r} must be 'highest' or 'lowest'.")
    n = term.n_value_bins
    up = 1.0 if extreme == "highest" else -1.0
    curve = up * claimed.values[:n]
    first, last = _bins(term, curve, where)
    if last - first + 1 >= n:
        raise ValueError("an extreme needs a value bin outside the range to compare with.")
    place = list(explanation).index(term.name)
    error = difference_std(claimed.joint, place, term, claimed.std)[:n, :n]
    inside = (np.arange(n) >= first) & (np.arange(n) <= last)
    candidates, margin, low, high = _compare(curve, extreme_factor(term) * error, inside)
    places = np.flatnonzero(candidates).tolist()
    low, high = (low, high) if up > 0 else (0.0 - high, 0.0 - low)
    named = span_label(term, first, last)
    holds = _one_side(candidates, inside)
    said = (
        f"records with {shorten(term.name)} = {shorten(named)} "
        f"{'do not have' if holds and margin < 0 else 'have'} the {extreme} "
        f"{claimed_score(explanation)}, other features equal: "
        f"{size_words(explanation, up * margin)} compared with the {extreme} of all others. "
        f"With 95% confidence, the {extreme} bin {_listed(term, places)}"
    )
    words = sentence(explanation.guarantee, said, None if holds else "")
    return Claim(
        extreme, term.name, named, "all others", up * margin, math.nan, low, high, claimed.basis,
        holds, words, explanation.guarantee, candidates=tuple(term.bin_labels[k] for k in places),
    )  # fmt: skip


def _bins(term: ShapeFunction, curve: FloatArray, where: Any) -> tuple[int, int]:
    if isinstance(where, tuple):
        return range_bins(term, where)
    one = int(np.argmax(curve)) if where is None else bin_place(term, where)
    if one >= term.n_value_bins:
        raise ValueError("an extreme is a value bin; special bins are not compared.")
    return one, one


def _compare(
    curve: FloatArray, half: FloatArray, inside: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.bool_], float, float, float]:
    """Return the candidates for the peak, and the margin of a range with its interval.

    `half` is the largest excess of one bin over another that errors can explain. The margin is the
    highest bin inside the range minus the highest bin outside. If the peak is inside, the margin of
    the true curve lies between zero and the largest margin that is compatible with the errors of
    the bins in the range. If the peak is outside, the same holds for the bins outside, with the
    opposite sign.
    """
    excess = curve[None, :] - curve[:, None] - half  # of the column over the row
    np.fill_diagonal(excess, -np.inf)
    candidates = excess.max(axis=1) <= 0.0
    margin = float(curve[inside].max() - curve[~inside].max())
    most = (curve[:, None] - curve[None, :]) + half
    high = float(most[np.ix_(inside, ~inside)].min(axis=1).max())
    low = -float(most[np.ix_(~inside, inside)].min(axis=1).max())
    return (
        candidates,
        margin,
        0.0 if not candidates[~inside].any() else min(low, 0.0),
        0.0 if not candidates[inside].any() else max(high, 0.0),
    )


def _one_side(candidates: npt.NDArray[np.bool_], inside: npt.NDArray[np.bool_]) -> bool:
    return not candidates[inside].any() or not candidates[~inside].any()


def _listed(term: ShapeFunction, places: Sequence[int]) -> str:
    """List candidates: the span of ordered bins, or the first few categories."""
    labels = [term.bin_labels[k] for k in places]
    if len(labels) == 1:
        return f"is {shorten(labels[0])}"
    if len(labels) == term.n_value_bins:
        return "may be any of them"
    if term.bin_edges is not None:
        return f"lies in {span_label(term, places[0], places[-1])}"
    if term.ordered:
        return f"lies in {shorten(labels[0])} to {shorten(labels[-1])}"
    listed = ", ".join(shorten(label) for label in labels[:MOST_LISTED])
    more = len(labels) - MOST_LISTED
    return f"is one of {listed}{f' and {more} more' if more > 0 else ''}"
