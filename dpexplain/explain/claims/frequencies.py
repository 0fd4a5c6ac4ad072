"""Claims expressed as natural frequencies, such as 30 out of 100 records."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpexplain.explain._record import FloatArray
from dpexplain.explain._text import shorten
from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.additive.local_explanation import inverse_link
from dpexplain.explain.additive.shape_function import ShapeFunction
from dpexplain.explain.claims.contrasts import Contrast, Kind

Shares = tuple[float, float, float, float]


def typical_bin(count: FloatArray, *, numeric: bool) -> int:
    """Return the bin of a typical record: the median, or the largest category.

    The largest bin of a number is not typical, because the bins of a private fit differ in width.

    Parameters
    ----------
    count : ndarray of shape (n_value_bins,)
        Noisy counts of the value bins; negative ones are treated as zero.
    numeric : bool

    Returns
    -------
    int
    """
    positive = np.maximum(count, 0.0)
    below = np.cumsum(positive)
    return int(np.searchsorted(below, below[-1] / 2.0) if numeric else np.argmax(positive))


def typical_shares(
    explanation: GlobalExplanation,
    term: ShapeFunction,
    contrast: Contrast,
    numbers: tuple[float, float, float],
) -> Shares | None:
    """Predict the probability of the second class on both sides of a contrast.

    Every other feature has a typical value; see :func:`typical_bin`. The probability on the second
    side is the prediction of the released model. The other probabilities are computed from it and
    the log-odds of the claim.

    Parameters
    ----------
    explanation : GlobalExplanation
    term : ShapeFunction
        The term of the claim.
    contrast : Contrast
    numbers : tuple of three float
        Estimate of the claim, and both ends of its interval.

    Returns
    -------
    tuple of four float or None
        Probability on the second side, probability on the first side, and both ends of the interval
        for the probability on the first side. The result is None if the score is not the log-odds
        of two classes, or is not the sum of the curves.
    """
    alone = explanation.of_class or explanation.pairs or explanation.main_effects_only
    if explanation.link != "logit" or explanation.classes is None or alone:
        return None
    base = explanation.intercept + float(contrast.second @ term.contribution)
    for other in explanation.terms:
        if other.name != term.name:
            counts, numeric = other.count[: other.n_value_bins], other.bin_edges is not None
            base += float(other.contribution[typical_bin(counts, numeric=numeric)])
    shares = inverse_link([base, *(base + each for each in numbers)], "logit")
    second, first, low, high = map(float, shares)
    return second, first, low, high


def frequency_words(
    explanation: GlobalExplanation,
    kind: Kind,
    name: str,
    compared: tuple[str, str],
    shares: Sequence[float] | None,
) -> str:
    """Express predicted proportions as numbers of records.

    The numbers are out of 100 records, or out of 1,000 or 10,000 for rare outcomes.

    Parameters
    ----------
    explanation : GlobalExplanation
    kind : {"difference", "range", "ranges", "sign"}
    name : str
        Name of the term.
    compared : tuple of two str
        Labels of the two sides of the claim.
    shares : sequence of four float or None
        Proportions as returned by :func:`typical_shares`.

    Returns
    -------
    str
        A sentence, which begins with a warning if the model is not private. It is empty if `shares`
        is None.
    """
    if shares is None:
        return ""
    rarest = min(min(share, 1.0 - share) for share in shares[:2])
    records = next((n for n in (100, 1_000) if n * rarest >= 1.0), 10_000)
    second, first, low, high = (f"{math.floor(records * each + 0.5):,}" for each in shares)
    term, one, other = shorten(name), shorten(compared[0]), shorten(compared[1])
    sides = {
        "difference": f"{term} = {other}",
        "ranges": f"{term} = {other}",
        "range": f"{term} is in any other bin",
        "sign": f"{term} contributes its average",
    }
    target = f"{shorten(explanation.target_name)} = {shorten(explanation.shown_class)}"
    return explanation.guarantee.marked(
        f"Of {records:,} records with typical values of all other features, the model expects "
        f"{second} to have {target} where {sides[kind]}, and {first} where {term} = {one} "
        f"(95% between {low} and {high})."
    )
