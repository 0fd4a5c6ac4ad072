"""Claims about curves and predictions, each with a confidence interval.

A claim compares two bins, categories or ranges of bins of a term, compares a range with all other
bins, or states the sign of a bin, the location of a peak or trough, the rank of a term, or the side
of a threshold on which the prediction for one record lies. Intervals are simultaneous: with 95%
confidence, all claims of the same kind about the same term are correct at once, so a claim may be
chosen after looking at the curve. Claims use the joint errors of all bins that they compare, and
cost no additional privacy.
"""

from __future__ import annotations

import math
from typing import Any, Literal

from dpexplain._utils.lazy import pd
from dpexplain.explain._text import shorten
from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.additive.multiclass import MulticlassExplanation
from dpexplain.explain.additive.pair_curve import PairCurve
from dpexplain.explain.additive.shape_function import ShapeFunction
from dpexplain.explain.claims.claim import Claim
from dpexplain.explain.claims.claim_words import sentence
from dpexplain.explain.claims.claimed_bins import (
    Place,
    bin_place,
    claimed_values,
    meant_bins,
    range_bins,
    two_spans,
)
from dpexplain.explain.claims.contrast_claims import contrast_claim
from dpexplain.explain.claims.decisions import NO_THRESHOLD, decision_claim
from dpexplain.explain.claims.extremes import extreme_claim
from dpexplain.explain.claims.fits import Additive, private_fits
from dpexplain.explain.claims.leading_class import leading_class_claim
from dpexplain.explain.claims.pair_claims import pair_claim, region_of
from dpexplain.explain.display import Display


def claim(
    explanation: Display,
    term: str | None = None,
    first: Any = None,
    second: Any = None,
    *,
    extreme: Literal["highest", "lowest"] | None = None,
    record: pd.DataFrame | None = None,
    threshold: float | None = None,
    samples_public: bool = False,
    epsilon: float | None = None,
    repeat: int = 0,
) -> Claim:
    """Create a claim about a term, or about the prediction for one record.

    Parameters
    ----------
    explanation : GlobalExplanation, MulticlassExplanation, Comparison or MulticlassComparison
        Explanation of a private model with a noise band, or a comparison, of which `epsilon` and
        `repeat` choose a fit. For a claim about a term of a model with several classes, pass the
        explanation or comparison of one class. For a claim about a record, pass that of all
        classes; it states that the predicted class is the most likely one.
    term : str or None, default=None
        Name of the term or pair; None for a claim about the prediction for `record`.
    first : str, number, date, tuple or None, default=None
        Label of a bin, an alias of a category, or a number or date that lies in a bin; a tuple of
        two of them, the ends of a range; for dates, also a month (``"2024-03"``) or a year, which
        are ranges; or None for a claim about the rank of the term. For a
        pair, label or index of a cell, or a value of each feature (``"30, nurse"``), or a tuple of
        the cells at two opposite corners of a region.
    second : str, int, date, tuple or None, default=None
        Bin or range to compare with `first`; None for a claim about the sign of the first bin, or
        for a range that is compared with all other bins. For a pair, a cell or a region.
    extreme : {"highest", "lowest"} or None, default=None
        If given, the claim is that the highest (lowest) value bin lies in `first`, which is then a
        bin, a range, or None for the bin with the highest (lowest) value.
    record : DataFrame of one row or None, default=None
        A record whose prediction is compared with the threshold. The guarantee does not protect
        the record, so the claim may be published only if the record may be published.
    threshold : float or None, default=None
        Threshold with which the prediction for `record` is compared: for a classifier, a
        probability (None means one half); for a regression, a number in units of the target. Leave
        it out for several classes.
    samples_public : bool, default=False
        Whether `record` may be shown to anyone. If it is False, the guarantee and the words of a
        claim about a record state that the claim is not private.
    epsilon : float or None, default=None
        Epsilon of the fit that makes the claim, if `explanation` is a comparison; None for the
        largest. :func:`dpexplain.explain.claim_strip` makes the claim at every epsilon.
    repeat : int, default=0
        Index of that fit among the repeats at this epsilon; an index that is too large selects the
        last one.

    Returns
    -------
    Claim

    Raises
    ------
    TypeError
        If `explanation` is not an explanation or a comparison of additive models.
    KeyError
        If the term, a bin or the epsilon does not exist.
    ValueError
        If the errors are unknown, the curve was edited, no claim can be made about the bins, or
        `term` and `record` are both given or both missing.

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(epsilon=1, schema=stays.schema)
    >>> explanation = model.fit(stays.X, stays.y).explain_global()
    >>> from dpexplain.explain import claim
    >>> print(claim(explanation, "sex", "female", "male"))
    At ε = 1, ...
    >>> claim(explanation, "age", (18, 30), extreme="highest").kind    # between 18 and 30?
    'highest'
    >>> print(claim(explanation, "age", (18, 20), (85, 90)))    # two ranges
    At ε = 1, ...
    """
    explanation = _one_fit(explanation, epsilon, repeat)
    if (term is None) == (record is None):
        raise ValueError("a claim is about a term or a record; pass term= or record=, not both.")
    if record is not None:
        if extreme is not None:
            raise ValueError("extreme= is about a term; leave it out for a record.")
        if not isinstance(record, pd.DataFrame) or len(record) != 1:
            raise ValueError("record must be a DataFrame of one row; select it with X.iloc[[k]].")
        if isinstance(explanation, MulticlassExplanation):
            if threshold is not None:
                raise ValueError(NO_THRESHOLD)
            return leading_class_claim(explanation, record, samples_public)
        return decision_claim(explanation, record, threshold, samples_public)
    assert term is not None
    if isinstance(explanation, MulticlassExplanation):
        raise ValueError(
            "a claim about a term is about one class; call .for_class(label) and pass its result."
        )
    if any(pair.name == term for pair in explanation.pairs):
        return _claim_about_pair(explanation, explanation.pair(term), first, second, extreme)
    shape = explanation[term]
    first, second = (meant_bins(explanation, term, each) for each in (first, second))
    claimed = claimed_values(explanation, shape)
    if extreme is not None:
        if second is not None:
            raise ValueError("a claim about an extreme has no second bin; pass a range as `first`.")
        return extreme_claim(explanation, shape, claimed, extreme, first)
    if first is None and second is not None:
        raise ValueError("`second` is compared with `first`; pass a bin or a range as `first`.")
    if first is None:
        return _rank_claim(explanation, shape)
    if second is not None and (isinstance(first, tuple) or isinstance(second, tuple)):
        spans = two_spans(shape, first, second)
        if spans[0] < spans[1] or spans[2] < spans[3]:
            return contrast_claim(explanation, shape, claimed, "ranges", spans)
        first, second = Place(spans[0]), Place(spans[2])  # two bins
    if isinstance(first, tuple):
        return contrast_claim(explanation, shape, claimed, "range", range_bins(shape, first))
    one = bin_place(shape, first)
    if second is None:
        return contrast_claim(explanation, shape, claimed, "sign", (one,))
    other = bin_place(shape, second)
    if one == other:
        raise ValueError(f"bins {first!r} and {second!r} are the same; name two different bins.")
    return contrast_claim(explanation, shape, claimed, "difference", (one, other))


def _one_fit(source: Display, epsilon: float | None, repeat: int) -> Additive:
    """Return an explanation unchanged, or one fit of a comparison."""
    if isinstance(source, Additive):
        if epsilon is not None:
            raise ValueError(
                f"epsilon={epsilon!r} chooses a fit of a comparison, and this is one explanation; "
                "leave epsilon= out."
            )
        return source
    if not isinstance(source, Display) or not source.fits_by_epsilon():
        raise TypeError(
            f"a claim is about a fit, not about a {type(source).__name__}; pass an explanation, "
            "such as model.explain_global(), or a comparison, such as the result of sweep()."
        )
    return private_fits(source, epsilon, repeat)[1]


def _claim_about_pair(
    explanation: GlobalExplanation, pair: PairCurve, first: Any, second: Any, extreme: str | None
) -> Claim:
    if first is None or extreme is not None:
        raise ValueError(
            f"claims about the pair {shorten(pair.name)!r} are about its cells, not about its rank "
            "or an extreme; pass a cell or a region as `first`."
        )
    regions = [region_of(pair, each) for each in (first, second) if each is not None]
    if len(regions) == 2 and regions[0] == regions[1]:
        raise ValueError(
            f"cells {first!r} and {second!r} are the same; name two different cells or regions."
        )
    return pair_claim(explanation, pair, *regions)


def _rank_claim(explanation: GlobalExplanation, term: ShapeFunction) -> Claim:
    name, table = term.name, explanation.ranking()
    row: Any = table.loc[name]
    if row["basis"] is None:
        raise ValueError("the rank is unknown: this explanation has no joint errors of its terms.")
    by_effect = row["basis"] == "effect"
    size = "effect" if by_effect else "importance"
    rank = int((table[size] > row[size]).sum()) + 1
    low, high = float(row["rank_low"]), float(row["rank_high"])
    holds = low == high == rank
    named = shorten(name)
    interval = ", with 95% confidence" if holds else f": 95% between {low:g} and {high:g}"
    order = "the effect in the population" if by_effect else "importance"
    said = f"{named} has rank {rank} of {len(table)} by {order}{interval}"
    words = sentence(explanation.guarantee, said, None if holds else "")
    return Claim(
        "rank", name, named, "all other terms", float(rank), math.nan, low, high, row["basis"],
        holds, words, explanation.guarantee,
    )  # fmt: skip
