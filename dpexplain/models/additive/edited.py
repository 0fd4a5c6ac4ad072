"""Edits to the curves and pairs of a fitted model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpexplain.explain import EditRecord, GlobalExplanation, MulticlassExplanation
from dpexplain.explain._text import listing, shorten
from dpexplain.explain.additive.multiclass import scores_of
from dpexplain.models.additive.terms import AdditiveTerms

Values: TypeAlias = NDArray[np.float64] | float | None

_ROUNDING = 1e-6
"""Largest difference between a given score and the replayed one, relative to the largest value.

Computers round differently, and a matrix that is nearly singular amplifies rounding. The model
takes the replayed score, so a difference within this limit has no effect."""


@dataclass(frozen=True, eq=False)
class Released:
    """Curves, pairs and intercept of one score as they were before the edits.

    Attributes
    ----------
    curves : tuple of (ndarray of shape (n_bins,) or None)
        Released curve of each term; None if the term was not edited.
    intercept : float or None
        Released intercept; None if edits did not change it.
    pairs : tuple of (ndarray of shape (n_rows, n_columns) or None), default=()
        Released contributions of each pair; None if the pair was not edited. Empty for a model
        saved by an earlier version, in which pairs could not be edited.
    """

    curves: tuple[NDArray[np.float64] | None, ...]
    intercept: float | None
    pairs: tuple[NDArray[np.float64] | None, ...] = ()


@dataclass(frozen=True, eq=False)
class Edited:
    """Edits to a model, and the scores of the model before these edits.

    Attributes
    ----------
    records : tuple of EditRecord
        The edits, in the order in which they were made.
    released : dict of str to Released
        Score of each class before the edits, keyed by class; for a model with one score, the only
        key is "".
    """

    records: tuple[EditRecord, ...]
    released: dict[str, Released]

    def of_class(self, name: str) -> Released:
        """Return the score of a class before the edits."""
        return self.released[name]


def with_scores(terms: AdditiveTerms, parts: tuple[GlobalExplanation, ...]) -> AdditiveTerms:
    """Return the terms, with curves, pairs and intercept taken from an explanation.

    Parameters
    ----------
    terms : AdditiveTerms
        Terms of a fitted model.
    parts : tuple of GlobalExplanation
        Explanation of each score of the model, as returned by `replayed_scores`.

    Returns
    -------
    AdditiveTerms
    """
    stacked = [
        np.stack([part.terms[i].contribution for part in parts], axis=1)
        for i in range(len(terms.bins))
    ]
    one = terms.link != "softmax"
    scores = tuple(np.ascontiguousarray(s[:, 0]) if one else s for s in stacked)
    return replace(
        terms,
        scores=scores,
        intercept=parts[0].intercept if one else np.array([part.intercept for part in parts]),
        monotone=tuple(term.monotone for term in parts[0].terms),
        pairs=tuple(
            replace(table, scores=pair.contribution)
            for table, pair in zip(terms.pairs, parts[0].pairs, strict=True)
        ),
    )


def edits_of(parts: tuple[GlobalExplanation, ...]) -> Edited:
    """Collect an explanation's edits, and each score as it was before them.

    Parameters
    ----------
    parts : tuple of GlobalExplanation
        Explanation of each score.

    Returns
    -------
    Edited
    """
    return Edited(parts[0].edits, {part.of_class: _released(part) for part in parts})


def _released(part: GlobalExplanation) -> Released:
    return Released(
        tuple(term.released for term in part.terms),
        part.released_intercept,
        tuple(pair.released for pair in part.pairs),
    )


def replayed_scores(
    own: GlobalExplanation | MulticlassExplanation,
    explanation: GlobalExplanation | MulticlassExplanation,
    model: str,
) -> tuple[GlobalExplanation, ...]:
    """Replay an explanation's new edits on a model, and check the resulting scores.

    Parameters
    ----------
    own : GlobalExplanation or MulticlassExplanation
        Current explanation of the model.
    explanation : GlobalExplanation or MulticlassExplanation
        New explanation of the model.
    model : str
        Class name of the model, for error messages.

    Returns
    -------
    tuple of GlobalExplanation
        New explanation of each score, as computed from `own` and the recorded operations.

    Raises
    ------
    ValueError
        If the explanation belongs to another model, or if its recorded edits do not lead to its
        curves, pairs and intercept.
    """
    from dpexplain.edit import EditLog  # few models are edited, and all would wait for the import

    if type(own) is not type(explanation):
        raise ValueError(
            f"{model} is explained by a {type(own).__name__}, got a "
            f"{type(explanation).__name__}; pass the explanation of all classes."
        )
    parts, mine = scores_of(explanation), scores_of(own)
    for left, right in zip(mine, parts, strict=False):
        _check_bins(left, right)
    known = len(own.edits)
    if len(parts) != len(mine) or explanation.edits[:known] != own.edits:
        raise ValueError("the explanation is of another model: its classes or edits differ.")
    replayed = scores_of(EditLog.from_records(explanation.edits[known:]).apply(own))
    for part, again in zip(parts, replayed, strict=True):
        _check_scores(part, again)
    return replayed


def _check_bins(own: GlobalExplanation, other: GlobalExplanation) -> None:
    if tuple(own) != tuple(other) or (own.link, own.classes) != (other.link, other.classes):
        raise ValueError(
            f"the explanation is of another model: it has the terms {listing(other)}, this model "
            f"{listing(own)}."
        )
    _check_pairs(own, other)
    for term in own.terms:
        new = other[term.name]
        same = (term.bin_labels, term.special) == (new.bin_labels, new.special)
        if not same or not np.array_equal(term.count, new.count):
            raise ValueError(
                f"the explanation is of another model: {shorten(term.name)!r} has other bins or "
                "counts. Replay the edits with EditLog.apply(model)."
            )


def _check_pairs(own: GlobalExplanation, other: GlobalExplanation) -> None:
    names = [[pair.name for pair in each.pairs] for each in (own, other)]
    if names[0] != names[1]:
        there, here = (listing(each) if each else "none" for each in reversed(names))
        raise ValueError(
            f"the explanation is of another model: its pairs are {there}, those of this model "
            f"{here}."
        )
    for pair, new in zip(own.pairs, other.pairs, strict=True):
        same = new.axes == pair.axes
        if not same or not np.array_equal(pair.count, new.count):
            raise ValueError(
                f"the explanation is of another model: {shorten(pair.name)!r} has another grid or "
                "counts. Replay the edits with EditLog.apply(model)."
            )


def _check_scores(given: GlobalExplanation, replayed: GlobalExplanation) -> None:
    kinds = ["curve of"] * len(given.terms) + ["pair"] * len(given.pairs)
    for kind, part in zip(kinds, given.parts, strict=True):
        again, name = replayed.part(part.name), f"the {kind} {shorten(part.name)!r}"
        _check_equal(name, part.contribution, again.contribution)
        _check_equal(f"{name} before the edits", part.released, again.released)
    _check_equal("the intercept", given.intercept, replayed.intercept)
    before = given.released_intercept, replayed.released_intercept
    _check_equal("the intercept before the edits", *before)


def _check_equal(what: str, given: Values, replayed: Values) -> None:
    if given is None or replayed is None:
        equal = given is replayed
    else:
        limit = _ROUNDING * float(np.abs(replayed).max(initial=0.0))
        equal = bool((np.abs(np.subtract(given, replayed)) <= limit).all())
    if not equal:
        raise ValueError(
            f"{what} differs, but no edit is recorded that makes it so; change it with the "
            "operations of dpexplain.edit, which record edits."
        )
