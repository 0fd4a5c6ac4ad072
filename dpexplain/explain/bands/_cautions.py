"""Warnings about effect estimates that are missing or uninformative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dpexplain.explain._record import FloatArray
from dpexplain.explain._text import interval_labels, shorten
from dpexplain.explain.noise_model import NoiseModel

NOT_ESTIMATED = (
    "Effects in the population are not estimated here: bands and marks describe noise only, and "
    "the true effect can lie outside them."
)
ONE_BIN = (
    "The fit merged this term into a single bin, so its effect in the population is unknown: the "
    "effect band is an assumption."
)
_FEW_PEOPLE = (
    "With about {} records, the estimated effects are mostly an assumption about typical sizes."
)
_FEW_OF_A_CLASS = (
    "With about {1} records in the {0} class, the estimated effects are mostly an assumption about "
    "typical sizes."
)
_ENTANGLED = (
    "{} and {} are so closely related that the data hardly show which of them has the effect: "
    "read their estimates together."
)
_JUMPING = (
    "The effect of {} may jump between {} and {}: where and how far is uncertain, so the true "
    "curve can leave the effect band in bins next to them."
)
_UNCLEAR = (
    "{} and {} may depend on each other in another form than the estimates assume, so the true "
    "curve can leave the effect band."
)
_UNCERTAIN = (
    "The effect band includes 0 in every bin: no bin has an effect that is certain, but an effect "
    "as large as the band, or one that rises and falls many times, cannot be ruled out."
)
_HATCHED = (
    "Nearly every bin of the released curve may be noise, but the term has an effect: the estimate "
    "shows one that is certain."
)
_ONE_VALUE = (
    "About {}% of the records are in one bin of {}: elsewhere, the effect band rests on an assumed "
    "smoothness, so a true curve that changes from value to value can leave it."
)

_OUTER = (
    "Hardly any records may be in the outer bins of {} ({}), as noise hides how many: there, the "
    "effect band rests on an assumed smoothness, so a true curve that is as steep as elsewhere can "
    "leave it."
)

_FEW = 500
"""If there are fewer records, in total or in the rarer class, estimates are mostly assumptions."""

_NEARLY_ALL = 0.9
"""A released curve is uninformative if at least this proportion of records is in bins that may be
noise."""

_ONE_BIN = 0.8
"""The smoothness of a curve is learned from few records if one bin has at least this proportion of
them."""

_LEAST_BINS = 3
"""A curve with fewer other bins needs no smoothness."""

_TIED = 0.8
"""Two effects cannot be separated if the errors of their estimates have at least this
correlation."""

_JUMP = 0.5
"""A curve may jump where neighboring bins differ by more than this many standard deviations. In a
smooth curve of many bins they differ less, since most of this uncertainty is about jumps."""

_STEEPER = 4.0
"""A curve may jump only where it is this many times as steep as between most neighboring bins."""


_PERHAPS_NONE = 2.5
"""An outer bin may be empty if its count is less than this many standard deviations of noise."""


class Estimated(Protocol):
    """Protocol with the attributes of a shape function on which the warnings depend."""

    @property
    def name(self) -> str: ...
    @property
    def count(self) -> FloatArray: ...
    @property
    def special(self) -> tuple[str, ...]: ...
    @property
    def n_value_bins(self) -> int: ...
    @property
    def ordered(self) -> bool: ...
    @property
    def bin_edges(self) -> FloatArray | None: ...
    @property
    def bin_labels(self) -> Sequence[str]: ...
    @property
    def weights(self) -> FloatArray: ...
    @property
    def step(self) -> float | None: ...
    @property
    def unit(self) -> str: ...
    @property
    def count_std(self) -> FloatArray | None: ...
    @property
    def unclear_with(self) -> str: ...
    @property
    def noise_std(self) -> FloatArray | None: ...
    @property
    def signal(self) -> npt.NDArray[Any] | None: ...
    @property
    def effect(self) -> FloatArray | None: ...
    @property
    def effect_std(self) -> FloatArray | None: ...
    @property
    def effect_factor(self) -> float | None: ...
    @property
    def effect_signal(self) -> npt.NDArray[Any] | None: ...


def term_caution(term: Estimated) -> str:
    """Return a warning about the effect estimate of one term; empty if there is none.

    Parameters
    ----------
    term : Estimated

    Returns
    -------
    str
        One sentence.
    """
    if term.effect is None or term.effect_signal is None:
        return NOT_ESTIMATED if term.noise_std is not None else ""
    if term.n_value_bins == 1 and not term.special:
        return ONE_BIN
    if term.unclear_with:
        return _UNCLEAR.format(*(repr(shorten(n)) for n in (term.name, term.unclear_with)))
    if not term.effect_signal.any():
        return _UNCERTAIN
    if term.signal is not None and float(term.weights @ ~term.signal) >= _NEARLY_ALL:
        return _HATCHED
    return _one_value_words(term) or _outer_words(term)


def _outer_words(term: Estimated) -> str:
    """Return a warning if a curve can leave its band in outer bins that may be empty.

    The curve is assumed to be as steep there as between the other bins on average, and to change by
    no more than the other bins differ.
    """
    if term.count_std is None or term.bin_edges is None or term.effect is None:
        return ""
    n = term.n_value_bins
    surely = np.flatnonzero(term.count[:n] > _PERHAPS_NONE * term.count_std[:n])
    if len(surely) < 2 or term.effect_std is None:
        return ""
    edges, (first, last) = term.bin_edges, surely[[0, -1]]
    places = (edges[1:] + edges[:-1]) / 2.0
    inside = term.effect[surely]
    steep = np.abs(np.diff(inside)).sum() / (places[last] - places[first])
    beyond = np.abs(places - np.clip(places, places[first], places[last]))
    change = np.minimum(steep * beyond, np.ptp(inside))
    leaves = change > (term.effect_factor or 0.0) * term.effect_std[:n]
    where = []
    if leaves[:first].any():
        where += interval_labels([edges[0], edges[first], edges[-1]], term.step, term.unit)[:1]
    if leaves[last:].any():
        where += interval_labels([edges[0], edges[last + 1], edges[-1]], term.step, term.unit)[1:]
    return _OUTER.format(repr(shorten(term.name)), " and ".join(where)) if where else ""


def _one_value_words(term: Estimated) -> str:
    """Return a warning if most records are in one of several ordered bins."""
    share = term.weights[: term.n_value_bins]
    is_ordered = term.bin_edges is not None or term.ordered
    if not is_ordered or np.count_nonzero(share > 0) <= _LEAST_BINS or share.max() < _ONE_BIN:
        return ""
    percent = min(round(100 * float(share.max())), 99)
    return _ONE_VALUE.format(percent, repr(shorten(term.name)))


def people_caution(terms: Sequence[Estimated], link: str, intercept: float | None) -> str:
    """Return a warning if there are too few records, in total or in the rarer class.

    Parameters
    ----------
    terms : sequence of Estimated
        Terms with (noisy) counts.
    link : str
    intercept : float or None
        Estimated intercept; log-odds if the link is "logit".

    Returns
    -------
    str
        One sentence; empty if there are enough records.
    """
    n_records = float(np.median([term.count.sum() for term in terms]))
    if n_records < _FEW:
        return _FEW_PEOPLE.format(_rounded(n_records))
    if link != "logit" or intercept is None:
        return ""
    rare = n_records / (1.0 + np.exp(abs(intercept)))
    return _FEW_OF_A_CLASS.format("rarer", _rounded(rare)) if rare < _FEW else ""


def classes_caution(terms: Sequence[Estimated], intercepts: Sequence[float]) -> str:
    """Return a warning if there are too few records in the rarest of several classes.

    Parameters
    ----------
    terms : sequence of Estimated
        Terms with (noisy) counts.
    intercepts : sequence of float
        Estimated intercept of each class.

    Returns
    -------
    str
        One sentence; empty if there are enough records.
    """
    n_records = float(np.median([term.count.sum() for term in terms]))
    odds = np.exp(np.asarray(intercepts) - np.max(intercepts))
    rare = n_records * float(odds.min() / odds.sum())
    return _FEW_OF_A_CLASS.format("rarest", _rounded(rare)) if rare < _FEW else ""


def _rounded(n_records: float) -> str:
    return str(max(0, 10 * round(n_records / 10)))


def entangled_words(names: tuple[str, str]) -> str:
    """Return a sentence stating that the effects of two terms cannot be separated.

    Parameters
    ----------
    names : tuple of two str

    Returns
    -------
    str
        One sentence.
    """
    return _ENTANGLED.format(*(repr(shorten(name)) for name in names))


def entangled_terms(
    terms: Sequence[Estimated], scatter: NoiseModel
) -> dict[str, tuple[str, float]]:
    """Find the terms whose effect cannot be separated from that of another term.

    The error of each term's estimate is projected onto the estimate itself, and onto the direction
    in which the error is largest. The first projection measures how much the effect is over- or
    underestimated. If estimates are wrong, it can miss that the terms share an effect; the second
    one does not depend on the estimates. If errors of two terms that are projected in the same way
    are strongly correlated, their effects cannot be separated.

    Parameters
    ----------
    terms : sequence of Estimated
    scatter : NoiseModel
        Joint errors of the terms' estimates.

    Returns
    -------
    dict of str to tuple of (str, float)
        For each term whose effect cannot be separated from the effect of another term: the name of
        the other term, and the absolute value of the correlation between their errors (above 0.8).
    """
    rows: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    for place, term in enumerate(terms):
        errors, left = (
            part[scatter.term(place)] for part in (scatter.factor, scatter.remainder_std)
        )
        effect = np.zeros(len(left)) if term.effect is None else term.effect
        root = np.sqrt(np.maximum(term.weights, 0.0))
        directions = np.linalg.svd(root[:, None] * errors, full_matrices=False)[0]
        largest = directions[:, :1].sum(axis=1)  # zero if the errors share nothing
        for found, load in zip(rows, (term.weights * effect, root * largest), strict=True):
            row = load @ errors
            own = float(row @ row + load**2 @ left**2)
            found.append(row / np.sqrt(own) if own > 0 else 0.0 * row)
    tied = np.max([np.abs(np.stack(each) @ np.stack(each).T) for each in rows], axis=0)
    np.fill_diagonal(tied, 0.0)
    closest = tied.argmax(axis=1)
    return {
        term.name: (terms[closest[k]].name, float(tied[k, closest[k]]))
        for k, term in enumerate(terms)
        if tied[k, closest[k]] > _TIED
    }


def jump_words(term: Estimated, scatter: NoiseModel, place: int) -> str:
    """Return a warning if the true effect of a term may jump between two bins.

    The difference between two neighboring value bins is compared with its standard deviation and
    with the median of all such differences.

    Parameters
    ----------
    term : Estimated
    scatter : NoiseModel
        Joint errors of the terms' estimates.
    place : int
        Index of the term.

    Returns
    -------
    str
        One sentence; empty if the bins are unordered, or if there is no sign of a jump.
    """
    n = term.n_value_bins
    if term.effect is None or n < 2 or (term.bin_edges is None and not term.ordered):
        return ""
    values = slice(scatter.term(place).start, scatter.term(place).start + n)
    variance = (np.diff(scatter.factor[values], axis=0) ** 2).sum(axis=1)
    left = scatter.remainder_std[values] ** 2
    std = np.sqrt(variance + left[1:] + left[:-1])
    apart = np.abs(np.diff(term.effect[:n]))
    seen = (term.weights[1:n] > 0) & (term.weights[: n - 1] > 0) & (std > 0)
    ratio = np.divide(apart, std, out=np.zeros(n - 1), where=seen)
    k = int(ratio.argmax())
    if not ratio[k] > _JUMP or not apart[k] > _STEEPER * np.median(apart[seen]):
        return ""
    return _JUMPING.format(repr(shorten(term.name)), *map(shorten, term.bin_labels[k : k + 2]))
