"""Claims: one sentence about a curve, with its interval and whether it holds.

A claim compares two bins or categories of a term, compares a range of bins with the rest, or
states the sign of one bin or the rank of a term. Intervals are simultaneous: with 95% certainty,
all claims of one kind about one term hold together, so a claim may be chosen after looking at the
curve. They use the joint errors of both ends, and cost no additional privacy.
"""

from __future__ import annotations

import dataclasses
import math
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpexplain._utils.names import closest_name
from dpexplain.explain._record import FloatArray, Record
from dpexplain.explain._text import listing, short_number, shorten, signed_number, upper_number
from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.additive.shape_function import ShapeFunction
from dpexplain.explain.guarantee import Guarantee
from dpexplain.explain.noise_model import LEVEL, NoiseModel

Basis = Literal["effect", "noise"]
State = Literal["holds", "reversed", "may be noise", "may be noise or hidden by shrinkage"]

LEVELS = 92
"""Number of values that one minus a correlation is rounded to."""

_CLOSEST = 1e-3  # smallest value of one minus a correlation
_RATIO = (2.0 / _CLOSEST) ** (1.0 / (LEVELS - 1))


def correlation_levels(noise: NoiseModel, place: int) -> npt.NDArray[np.int64]:
    """Round up one minus the correlation, for every pair of bins of a term.

    A dashboard stores one character per pair, so claims are made from rounded values everywhere.
    Rounding makes the standard deviation of a difference at most 5% too large, and never too
    small.

    Parameters
    ----------
    noise : NoiseModel
        Joint errors of the model.
    place : int
        Index of the term.

    Returns
    -------
    ndarray of int64, shape (n_bins * (n_bins - 1) / 2,)
        Level of each pair of bins, row by row; see :func:`apart_of`.
    """
    bins = noise.term(place)
    factor, std = noise.factor[bins], noise.std[bins]
    scaled = factor / np.where(std > 0, std, 1.0)[:, None]
    first, second = np.triu_indices(len(std), 1)
    apart = np.maximum(1.0 - np.einsum("ij,ij->i", scaled[first], scaled[second]), 1e-12)
    levels = np.floor(np.log(2.0 / apart) / math.log(_RATIO) + 1e-9)
    return np.clip(levels, 0, LEVELS - 1).astype(np.int64)


def apart_of(level: int) -> float:
    """Return one minus the correlation for a level: 2 for level 0, down to 0.001."""
    return 2.0 * math.pow(_RATIO, -float(level))


def pair_factor(n_bins: int) -> float:
    """Return the half-width of simultaneous intervals for all pairs of bins.

    By Šidák's inequality, which holds for normal errors with any correlations [1]_.

    Parameters
    ----------
    n_bins : int
        Bins of the term.

    Returns
    -------
    float

    References
    ----------
    .. [1] Šidák, "Rectangular Confidence Regions for the Means of Multivariate Normal
       Distributions", Journal of the American Statistical Association 62 (1967).
    """
    return _factor(max(1, n_bins * (n_bins - 1) // 2))


def _factor(n_claims: int) -> float:
    return NormalDist().inv_cdf(0.5 + 0.5 * math.pow(LEVEL, 1.0 / n_claims))


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Claim(Record):
    """One sentence about a term of one model.

    Parameters
    ----------
    kind : {"difference", "range", "sign", "rank"}
        What is claimed.
    term : str
        Name of the term.
    first, second : str
        The two things compared, in words.
    estimate : float
        The difference, value or rank, in the unit of the score or as a rank.
    std : float
        Its standard deviation; NaN for a rank.
    low, high : float
        Ends of its simultaneous 95% interval.
    basis : {"effect", "noise"}
        Whether it refers to the estimated effect, or to the released curve without its noise,
        which can understate effects.
    holds : bool
        Whether the interval allows only one sign, or one rank.
    words : str
        The claim as a sentence.
    guarantee : Guarantee
        Privacy of the model.
    """

    kind: Literal["difference", "range", "sign", "rank"]
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

    def frame(self) -> pd.DataFrame:
        """Return the claim as one row.

        Returns
        -------
        DataFrame
            Columns kind, term, first, second, estimate, std, low, high, basis, holds, words,
            epsilon, private.
        """
        names = [field.name for field in dataclasses.fields(self)][:-1]
        row = {name: getattr(self, name) for name in names}
        guarantee = self.guarantee
        return pd.DataFrame([{**row, "epsilon": guarantee.epsilon, "private": guarantee.private}])

    def __str__(self) -> str:
        """Return the sentence."""
        return self.words

    def __repr__(self) -> str:
        """Return the sentence, and name the method with its numbers."""
        return f"Claim({self.words!r}; see .frame())"


def claim(
    explanation: GlobalExplanation,
    term: str,
    first: Any = None,
    second: Any = None,
) -> Claim:
    """Make one claim about a term.

    Parameters
    ----------
    explanation : GlobalExplanation
        Explanation of a private model with a noise band. With several classes, that of one class.
    term : str
        Name of the term.
    first : str, int, tuple or None, default=None
        A bin by label or index; or the first and last bin of a range, compared with the other
        bins; or None for the rank of the term.
    second : str, int or None, default=None
        Another bin, compared with the first; None for the sign of the first.

    Returns
    -------
    Claim

    Raises
    ------
    KeyError
        If the term or a bin does not exist.
    ValueError
        If the errors are unknown, the curve was edited, or no claim can be made about the bins.

    Examples
    --------
    >>> print(claim(explanation, "marital", "divorced", "married"))  # doctest: +SKIP
    At ε = 0.5, ...
    """
    errors = _Errors.of(explanation, term)
    if first is None:
        return _rank_claim(explanation, errors)
    if isinstance(first, tuple):
        return _range_claim(explanation, errors, first)
    one = bin_place(errors.term, first)
    if second is None:
        return _sign_claim(explanation, errors, one)
    other = bin_place(errors.term, second)
    if one == other:
        raise ValueError(f"bins {first!r} and {second!r} are the same; name two different bins.")
    return _difference_claim(explanation, errors, one, other)


class _Errors:
    """The estimate of a curve to which claims refer, and its joint errors."""

    def __init__(
        self, term: ShapeFunction, place: int, basis: Basis, joint: NoiseModel | None
    ) -> None:
        self.term, self.place, self.basis, self.joint = term, place, basis, joint
        value, std = (
            (term.effect, term.effect_std)
            if basis == "effect"
            else (term.contribution, term.total_std)
        )
        assert value is not None
        assert std is not None
        self.value: FloatArray = value
        self.std: FloatArray = std

    @classmethod
    def of(cls, explanation: GlobalExplanation, name: str) -> _Errors:
        """Choose the effect if it is estimated, else the released curve."""
        term = explanation[name]
        place = [each.name for each in explanation.terms].index(name)
        basis = claim_basis(term)
        if basis is None:
            raise ValueError(
                f"no claim about {shorten(name)!r}: its errors are unknown, or its curve was "
                "edited by hand. Claims need a private model with a noise band, as released."
            )
        joint = explanation.effect_scatter if basis == "effect" else explanation.noise
        return cls(term, place, basis, joint)

    def apart(self, one: int, other: int) -> float:
        """Return one minus the correlation of two bins; 2, the worst case, if unknown."""
        if self.joint is None:
            return 2.0
        low, high, n = min(one, other), max(one, other), self.term.n_bins
        pair = low * n - low * (low + 1) // 2 + (high - low - 1)
        return apart_of(int(correlation_levels(self.joint, self.place)[pair]))

    def scatter(self, loads: FloatArray) -> float:
        """Return the (largest possible) standard deviation of a sum over bins."""
        if self.joint is None:
            return float(np.abs(loads) @ self.std)
        bins = self.joint.term(self.place)
        common = loads @ self.joint.factor[bins]
        left = (loads**2) @ self.joint.remainder_std[bins] ** 2
        return math.sqrt(float(common @ common + left))


def claim_basis(term: ShapeFunction) -> Basis | None:
    """Return what claims about a term refer to; None if no claim can be made.

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


def _difference_claim(
    explanation: GlobalExplanation, errors: _Errors, one: int, other: int
) -> Claim:
    n, a, b = errors.term.n_bins, float(errors.std[one]), float(errors.std[other])
    scatter = math.sqrt((a - b) ** 2 + 2.0 * a * b * errors.apart(one, other))
    estimate = float(errors.value[one] - errors.value[other])
    labels = errors.term.bin_labels
    return _claim(
        explanation, errors, "difference", (labels[one], labels[other]),
        (estimate, scatter, pair_factor(n)),
    )  # fmt: skip


def _sign_claim(explanation: GlobalExplanation, errors: _Errors, one: int) -> Claim:
    numbers = (float(errors.value[one]), float(errors.std[one]), _factor(errors.term.n_bins))
    compared = (errors.term.bin_labels[one], "the average")
    return _claim(explanation, errors, "sign", compared, numbers)


def _range_claim(explanation: GlobalExplanation, errors: _Errors, ends: tuple[Any, ...]) -> Claim:
    term = errors.term
    if len(ends) != 2:
        raise ValueError(f"a range is (first bin, last bin), got {len(ends)} values.")
    first, last = sorted(bin_place(term, end) for end in ends)
    inside = np.zeros(term.n_bins, dtype=bool)
    inside[first : last + 1] = True
    if last >= term.n_value_bins or inside.all():
        raise ValueError("a range has bins of values, and leaves at least one bin to compare with.")
    loads = _mean_of(term, inside) - _mean_of(term, ~inside)
    n = term.n_value_bins
    numbers = (float(loads @ errors.value), errors.scatter(loads), _factor(n * (n + 1) // 2))
    labels = term.bin_labels
    return _claim(
        explanation, errors, "range", (f"{labels[first]} to {labels[last]}", "all others"), numbers
    )


def _mean_of(term: ShapeFunction, chosen: npt.NDArray[np.bool_]) -> FloatArray:
    """Return the coefficients of the mean over some bins, weighted by (noisy) counts."""
    weights = np.where(chosen, term.weights, 0.0)
    weights = weights if weights.sum() > 0 else chosen.astype(np.float64)
    return np.asarray(weights / weights.sum())


def _rank_claim(explanation: GlobalExplanation, errors: _Errors) -> Claim:
    name, table = errors.term.name, explanation.ranking()
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
        holds, f"{words}{'' if holds else '; the rank is open'}.", explanation.guarantee,
    )  # fmt: skip


def _claim(
    explanation: GlobalExplanation,
    errors: _Errors,
    kind: Literal["difference", "range", "sign"],
    compared: tuple[str, str],
    numbers: tuple[float, float, float],
) -> Claim:
    estimate, std, factor = numbers
    low, high = estimate - factor * std, estimate + factor * std
    holds = low > 0.0 or high < 0.0
    words = _sentence(explanation, errors, kind, compared, (estimate, low, high))
    return Claim(
        kind, errors.term.name, *compared, estimate, std, low, high, errors.basis, holds, words,
        explanation.guarantee,
    )  # fmt: skip


def _sentence(
    explanation: GlobalExplanation,
    errors: _Errors,
    kind: str,
    compared: tuple[str, str],
    numbers: tuple[float, float, float],
) -> str:
    estimate, low, high = numbers
    name = shorten(errors.term.name)
    first, second = (shorten(label) for label in compared)
    against = f"records with {name} = {second}" if kind == "difference" else second
    way = "higher" if estimate > 0 else "lower"
    unit = explanation.score_unit
    said = f"{signed_number(estimate)} {unit}".rstrip() + _times(explanation, estimate)
    ends = f"95% between {signed_number(low)} and {signed_number(high)}"
    doubt = "" if low > 0 or high < 0 else f"; {_doubt(errors.basis)}"
    return (
        f"{_at(explanation)}, records with {name} = {first} have {way} {_score(explanation)} than "
        f"{against}, other features equal: {said}, {ends}{doubt}."
    )


def _doubt(basis: Basis) -> State:
    return "may be noise" if basis == "effect" else "may be noise or hidden by shrinkage"


def _at(explanation: GlobalExplanation) -> str:
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
    """Find a bin by its label or index.

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
        If the term has no such bin.
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
