"""Claims about curves and predictions, each with a confidence interval.

A claim compares two bins or categories of a term, compares a range of bins with all other bins, or
states the sign of a bin, the rank of a term, or the side of a threshold on which the prediction for
one record lies. Intervals are simultaneous: with 95% confidence, all claims of the same kind about
the same term are correct at once, so a claim may be chosen after looking at the curve. Claims use
the joint errors of all bins that they compare, and cost no additional privacy.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Literal

import numpy as np
import pandas as pd

from dpexplain._utils.names import closest_name
from dpexplain.explain._contrasts import (
    Contrast,
    Kind,
    contrast_of,
    factor_of,
    level_of,
    share_of,
)
from dpexplain.explain._frequencies import frequency_words, typical_shares
from dpexplain.explain._record import Record
from dpexplain.explain._score_errors import score_error
from dpexplain.explain._text import listing, short_number, shorten, signed_number, upper_number
from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.additive.local_explanation import inverse_link
from dpexplain.explain.additive.shape_function import ShapeFunction
from dpexplain.explain.guarantee import Guarantee
from dpexplain.explain.noise_model import half_width

Basis = Literal["effect", "noise"]
State = Literal["holds", "reversed", "may be noise", "may be noise or hidden by shrinkage"]

_ALIKE = "Claims need a private model with a noise band, as released."


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Claim(Record):
    """Claim about a term or a prediction of one model.

    Parameters
    ----------
    kind : {"difference", "range", "sign", "rank", "decision"}
        Kind of claim; a decision is a claim about the prediction for one record.
    term : str
        Name of the term; empty for a decision.
    first, second : str
        Labels of the two sides of the comparison.
    estimate : float
        Estimated difference or value, in units of the score. For a decision, this is the score
        minus the score at the threshold; for a rank, it is the rank.
    std : float
        Standard deviation of the estimate; NaN for a rank.
    low, high : float
        Ends of the simultaneous 95% interval.
    basis : {"effect", "noise"}
        What the claim refers to: the estimated effect, or the noiseless version of the released
        curve, which may understate effects.
    holds : bool
        Whether the interval excludes zero or, for a rank, contains only one rank.
    words : str
        The claim as a sentence.
    guarantee : Guarantee
        Privacy guarantee of the claim: that of the model, or none for a decision about a record
        that is not public.
    shares : tuple of four float or None, default=None
        Predicted proportions of the second class among records that lie in the most frequent
        released bin of every other feature: the proportion at `second`, the proportion at `first`,
        and both ends of the interval for the proportion at `first`. They are known only if there
        are two classes and the score is a sum of curves without pairs; otherwise, None.
    frequencies : str, default=""
        A sentence that expresses `shares` as numbers of records, for example out of 100.
    """

    kind: Literal["difference", "range", "sign", "rank", "decision"]
    term: str
    first: str
    second: str
    estimate: float
    std: float
    low: float
    high: float
    basis: Basis
    holds: bool
    words: str
    guarantee: Guarantee
    shares: tuple[float, float, float, float] | None = None
    frequencies: str = ""

    def frame(self) -> pd.DataFrame:
        """Return the claim as a table with one row.

        Returns
        -------
        DataFrame
            Columns kind, term, first, second, estimate, std, low, high, basis, holds, words,
            epsilon and private.
        """
        names = [field.name for field in dataclasses.fields(self)][:-3]
        row = {name: getattr(self, name) for name in names}
        guarantee = self.guarantee
        return pd.DataFrame([{**row, "epsilon": guarantee.epsilon, "private": guarantee.private}])

    def __str__(self) -> str:
        """Return the sentence."""
        return self.words

    def __repr__(self) -> str:
        """Return the sentence, and point to :meth:`frame` for the numbers."""
        return f"Claim({self.words!r}; see .frame())"


def claim(
    explanation: GlobalExplanation,
    term: str | None = None,
    first: Any = None,
    second: Any = None,
    *,
    record: pd.DataFrame | None = None,
    threshold: float | None = None,
    samples_public: bool = False,
) -> Claim:
    """Create a claim about a term, or about the prediction for one record.

    Parameters
    ----------
    explanation : GlobalExplanation
        Explanation of a private model with a noise band. For a model with several classes, pass
        the explanation of one class.
    term : str or None, default=None
        Name of the term; None for a claim about the prediction for `record`.
    first : str, int, tuple or None, default=None
        Label or index of a bin; a tuple of the first and last bins of a range, which is compared
        with all other bins; or None for a claim about the rank of the term.
    second : str, int or None, default=None
        Label or index of the bin to compare with `first`; None for a claim about the sign of the
        first bin.
    record : DataFrame of one row or None, default=None
        A record whose prediction is compared with the threshold. The guarantee does not protect
        the record, so the claim may be published only if the record may be published.
    threshold : float or None, default=None
        Threshold with which the prediction for `record` is compared: for a classifier, a
        probability (None means one half); for a regression, a number in units of the target.
    samples_public : bool, default=False
        Whether `record` may be shown to anyone. If it is False, the guarantee and the words of a
        claim about a record state that the claim is not private.

    Returns
    -------
    Claim

    Raises
    ------
    KeyError
        If the term or a bin does not exist.
    ValueError
        If the errors are unknown, the curve was edited, no claim can be made about the bins, or
        `term` and `record` are both given or both missing.

    Examples
    --------
    >>> print(claim(explanation, "marital", "divorced", "married"))  # doctest: +SKIP
    At ε = 0.5, ...
    """
    if (term is None) == (record is None):
        raise ValueError("a claim is about a term or a record; pass term= or record=, not both.")
    if record is not None:
        return _decision_claim(explanation, record, threshold, samples_public)
    assert term is not None
    shape = explanation[term]
    basis = claim_basis(shape)
    if basis is None:
        raise ValueError(
            f"no claim about {shorten(term)!r}: its errors are unknown, or its curve was edited by "
            f"hand. {_ALIKE}"
        )
    if first is None:
        return _rank_claim(explanation, shape)
    if isinstance(first, tuple):
        return _contrast_claim(explanation, shape, "range", _range_bins(shape, first))
    one = bin_place(shape, first)
    if second is None:
        return _contrast_claim(explanation, shape, "sign", (one,))
    other = bin_place(shape, second)
    if one == other:
        raise ValueError(f"bins {first!r} and {second!r} are the same; name two different bins.")
    return _contrast_claim(explanation, shape, "difference", (one, other))


def claim_basis(term: ShapeFunction) -> Basis | None:
    """Return the basis of claims about a term, or None if no claim can be made.

    Parameters
    ----------
    term : ShapeFunction

    Returns
    -------
    {"effect", "noise"} or None
    """
    if term.released is not None:
        return None
    if term.effect is not None:
        return "effect"
    return None if term.total_std is None else "noise"


def _range_bins(term: ShapeFunction, ends: tuple[Any, ...]) -> tuple[int, int]:
    if len(ends) != 2:
        raise ValueError(f"a range is (first bin, last bin), got {len(ends)} values.")
    first, last = sorted(bin_place(term, end) for end in ends)
    if last >= term.n_value_bins or last - first + 1 == term.n_bins:
        raise ValueError(
            "a range must consist of value bins and leave at least one bin to compare with."
        )
    return first, last


def _contrast_claim(
    explanation: GlobalExplanation, term: ShapeFunction, kind: Kind, bins: tuple[int, ...]
) -> Claim:
    basis = claim_basis(term)
    joint = explanation.effect_scatter if basis == "effect" else explanation.noise
    value, std = (
        (term.effect, term.effect_std) if basis == "effect" else (term.contribution, term.total_std)
    )
    assert basis is not None
    assert value is not None
    assert std is not None
    contrast = contrast_of(term, kind, bins)
    level = level_of(joint, list(explanation).index(term.name), term, kind, bins)
    estimate = float(contrast.loads @ value)
    error = math.sqrt(share_of(level)) * float(np.abs(contrast.loads) @ std)
    half = factor_of(kind, term) * error
    low, high = estimate - half, estimate + half
    compared = _compared(term, contrast, bins)
    words = _sentence(explanation, term, kind, basis, compared, (estimate, low, high))
    shares = typical_shares(explanation, term, contrast, (estimate, low, high))
    return Claim(
        kind, term.name, *compared, estimate, error, low, high, basis, low > 0.0 or high < 0.0,
        words, explanation.guarantee, shares,
        frequency_words(explanation, kind, term.name, compared, shares),
    )  # fmt: skip


def _compared(term: ShapeFunction, contrast: Contrast, bins: tuple[int, ...]) -> tuple[str, str]:
    labels = [term.bin_labels[place] for place in bins]
    if contrast.kind == "range":
        return f"{labels[0]} to {labels[1]}", "all others"
    return labels[0], "the average" if contrast.kind == "sign" else labels[1]


def _decision_claim(
    explanation: GlobalExplanation,
    record: pd.DataFrame,
    threshold: float | None,
    samples_public: bool,
) -> Claim:
    if not isinstance(record, pd.DataFrame) or len(record) != 1:
        raise ValueError("record must be a DataFrame of one row; select it with X.iloc[[k]].")
    if any(part.released is not None for part in explanation.parts):
        raise ValueError(f"no claim about a decision of curves edited by hand. {_ALIKE}")
    local = explanation.explain_local(record)
    at = local._threshold_score(threshold)
    error = score_error(explanation, local)
    if error is None:
        raise ValueError(f"no claim about a decision: errors of the score are unknown. {_ALIKE}")
    estimate = float(local.scores[0]) - at
    half = half_width(1) * error
    low, high = estimate - half, estimate + half
    said, least, most, limit = (
        short_number(float(inverse_link(each + at, explanation.link)), 3)
        for each in (estimate, low, high, 0.0)
    )
    side = "above" if estimate > 0 else "below"
    score = f"the predicted probability of {_score(explanation).removeprefix('odds of ')}"
    what = score if explanation.classes is not None else f"the prediction of {_score(explanation)}"
    doubt = "" if low > 0 or high < 0 else f"; {_doubt('noise')}"
    words = (
        f"{_at(explanation)}, {what} for this record is {side} {limit}: {said}, 95% between "
        f"{least} and {most}{doubt}."
    )
    guarantee = explanation.guarantee.for_samples(public=bool(samples_public))
    if explanation.guarantee.private:
        words = guarantee.marked(words)
    return Claim(
        "decision", "", "this record", f"the threshold {limit}", estimate, error, low, high,
        "noise", low > 0 or high < 0, words, guarantee,
    )  # fmt: skip


def _rank_claim(explanation: GlobalExplanation, term: ShapeFunction) -> Claim:
    name, table = term.name, explanation.ranking()
    row: Any = table.loc[name]
    if row["basis"] is None:
        raise ValueError("the rank is unknown: this explanation has no joint errors of its terms.")
    size = "effect" if row["basis"] == "effect" else "importance"
    rank = int((table[size] > row[size]).sum()) + 1
    low, high = float(row["rank_low"]), float(row["rank_high"])
    holds = low == high == rank
    at, n = _at(explanation), len(table)
    named = shorten(name)
    words = f"{at}, {named} has rank {rank} of {n} by importance: 95% between {low:g} and {high:g}"
    return Claim(
        "rank", name, named, "all other terms", float(rank), math.nan, low, high, row["basis"],
        holds, f"{words}{'' if holds else '; the rank is uncertain'}.", explanation.guarantee,
    )  # fmt: skip


def _sentence(
    explanation: GlobalExplanation,
    term: ShapeFunction,
    kind: Kind,
    basis: Basis,
    compared: tuple[str, str],
    numbers: tuple[float, float, float],
) -> str:
    estimate, low, high = numbers
    name = shorten(term.name)
    first, second = (shorten(label) for label in compared)
    against = f"records with {name} = {second}" if kind == "difference" else second
    way = "higher" if estimate > 0 else "lower"
    unit = explanation.score_unit
    said = f"{signed_number(estimate)} {unit}".rstrip() + _times(explanation, estimate)
    ends = f"95% between {signed_number(low)} and {signed_number(high)}"
    doubt = "" if low > 0 or high < 0 else f"; {_doubt(basis)}"
    return (
        f"{_at(explanation)}, records with {name} = {first} have {way} {_score(explanation)} than "
        f"{against}, other features equal: {said}, {ends}{doubt}."
    )


def _doubt(basis: Basis) -> State:
    return "may be noise" if basis == "effect" else "may be noise or hidden by shrinkage"


def _at(explanation: GlobalExplanation) -> str:
    if not explanation.guarantee.private:
        return "NOT PRIVATE: in this fit"
    return f"At ε = {upper_number(explanation.guarantee.epsilon)}"


def _score(explanation: GlobalExplanation) -> str:
    target = shorten(explanation.target_name)
    if explanation.classes is not None:
        return f"odds of {target} = {shorten(explanation.shown_class)}"
    return f"expected {target}" if explanation.link == "log" else target


def _times(explanation: GlobalExplanation, estimate: float) -> str:
    if explanation.link == "identity":
        return ""
    what = "" if explanation.link == "log" else "odds "
    return f" ({what}× {short_number(math.exp(estimate), 3)})"


def bin_place(term: ShapeFunction, given: Any) -> int:
    """Return the index of a bin, given its label or index.

    Parameters
    ----------
    term : ShapeFunction
    given : str or int
        Label or index.

    Returns
    -------
    int

    Raises
    ------
    KeyError
        If the term does not have the requested bin.
    """
    labels = term.bin_labels
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        if 0 <= given < len(labels):
            return int(given)
        raise KeyError(f"no bin {given} of {shorten(term.name)!r}; it has 0 to {len(labels) - 1}.")
    name = str(given)
    if name in labels:
        return labels.index(name)
    meant = closest_name(name, labels)
    hint = "" if meant is None else f" Did you mean {shorten(meant)!r}?"
    raise KeyError(
        f"no bin {shorten(name)!r} of {shorten(term.name)!r}; the bins are {listing(labels)}.{hint}"
    )
