"""Sentences about effect estimates: warnings about bands, and notes on them.

A note is about an estimate that is missing or wide. Its band is right as often as any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dpexplain.explain._record import FloatArray
from dpexplain.explain._text import shorten
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
_UNCLEAR = (
    "The true curve may be outside the effect band: {} and {} may depend on each other in another "
    "form than the estimates assume."
)
_SEVERAL = (
    "The true curves of {} of {} terms may be outside their effect bands: the assumptions of the "
    "estimates may not hold for them."
)
_UNCERTAIN = (
    "The effect band includes 0 in every bin: no bin has an effect that is certain, but an effect "
    "as large as the band{} cannot be ruled out."
)
_OVERALL = (
    "The effect band includes 0 in every bin: no bin has an effect that is certain, but it is "
    "certain that the curve {} overall."
)
_HATCHED = (
    "Nearly every bin of the released curve may be noise, but the term has an effect: the estimate "
    "shows one that is certain."
)
_ONE_VALUE = (
    "The true curve may be outside the effect band: about {}% of the records are in one bin of {}, "
    "and elsewhere the band rests on an assumed smoothness."
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


class Estimated(Protocol):
    """Protocol with the attributes of a shape function on which the sentences depend."""

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
    def weights(self) -> FloatArray: ...
    @property
    def unclear_with(self) -> str: ...
    @property
    def noise_std(self) -> FloatArray | None: ...
    @property
    def signal(self) -> npt.NDArray[Any] | None: ...
    @property
    def effect(self) -> FloatArray | None: ...
    @property
    def effect_signal(self) -> npt.NDArray[Any] | None: ...


def term_caution(term: Estimated) -> str:
    """Return a warning that the band of a term may be wrong; otherwise empty.

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
    if term.unclear_with:
        return _UNCLEAR.format(*(repr(shorten(n)) for n in (term.name, term.unclear_with)))
    return _one_value_words(term)


def model_caution(cautions: dict[str, str], n_terms: int) -> str:
    """Return a warning for all terms that have one; empty if there is none.

    Parameters
    ----------
    cautions : dict of str to str
        Warning of each term that has one.
    n_terms : int
        Number of all terms.

    Returns
    -------
    str
        One sentence.
    """
    if len(cautions) > 1:
        return _SEVERAL.format(len(cautions), n_terms)
    return "".join(cautions.values())


def term_note(term: Estimated, overall: str = "") -> str:
    """Return a sentence about a band that shows hardly anything; otherwise empty.

    Parameters
    ----------
    term : Estimated
    overall : str, default=""
        "rises" or "falls" if it is certain that the effect does so overall.

    Returns
    -------
    str
        One sentence.
    """
    if term.effect is None or term.effect_signal is None:
        return ""
    if term.n_value_bins == 1 and not term.special:
        return ONE_BIN
    if not term.effect_signal.any():
        waves = ", or one that rises and falls many times," if _has_order(term) else ""
        return _OVERALL.format(overall) if overall else _UNCERTAIN.format(waves)
    if term.signal is not None and float(term.weights @ ~term.signal) >= _NEARLY_ALL:
        return _HATCHED
    return ""


def _one_value_words(term: Estimated) -> str:
    """Return a warning if most records are in one of several ordered bins."""
    share = term.weights[: term.n_value_bins]
    if not _has_order(term) or np.count_nonzero(share > 0) <= _LEAST_BINS or share.max() < _ONE_BIN:
        return ""
    percent = min(round(100 * float(share.max())), 99)
    return _ONE_VALUE.format(percent, repr(shorten(term.name)))


def _has_order(term: Estimated) -> bool:
    return term.bin_edges is not None or term.ordered


def people_note(terms: Sequence[Estimated], link: str, intercepts: Sequence[float]) -> str:
    """Return a sentence if there are too few records, in total or in the rarest class.

    Parameters
    ----------
    terms : sequence of Estimated
        Terms with (noisy) counts.
    link : str
    intercepts : sequence of float
        Estimated intercepts, if known: of each class if the link is "softmax".

    Returns
    -------
    str
        One sentence; empty if there are enough records.
    """
    n_records = float(np.median([term.count.sum() for term in terms]))
    if n_records < _FEW:
        return _FEW_PEOPLE.format(_rounded(n_records))
    if link not in ("logit", "softmax") or not intercepts:
        return ""
    scores = np.array([0.0, *intercepts] if link == "logit" else intercepts)
    odds = np.exp(scores - scores.max())
    rare = n_records * float(odds.min() / odds.sum())
    which = "rarer" if link == "logit" else "rarest"
    return _FEW_OF_A_CLASS.format(which, _rounded(rare)) if rare < _FEW else ""


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
