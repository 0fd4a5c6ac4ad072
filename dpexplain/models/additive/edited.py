"""Edits of the curves and pairs of a fitted model."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpexplain.explain import EditRecord, GlobalExplanation, MulticlassExplanation
from dpexplain.explain._text import listing, shorten
from dpexplain.explain.additive.multiclass import scores_of
from dpexplain.models.additive.terms import AdditiveTerms

_UNRECORDED = (
    "differs, but no edit is recorded; change it with the operations of dpexplain.edit, which "
    "record edits."
)


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
        Released contributions of each pair; None if the pair was not edited. Empty in a model that
        was saved before pairs could be edited.
    """

    curves: tuple[NDArray[np.float64] | None, ...]
    intercept: float | None
    pairs: tuple[NDArray[np.float64] | None, ...] = ()


@dataclass(frozen=True, eq=False)
class Edited:
    """Edits of a model, and the scores of the model before these edits.

    Attributes
    ----------
    records : tuple of EditRecord
        The edits in the order in which they were made.
    released : dict of str to Released
        Score of each class before the edits; the only key is "" for a model with one score.
    """

    records: tuple[EditRecord, ...]
    released: dict[str, Released]

    def of_class(self, name: str) -> Released:
        """Return the score of a class before the edits."""
        return self.released[name]


def with_scores(terms: AdditiveTerms, parts: tuple[GlobalExplanation, ...]) -> AdditiveTerms:
    """Return the terms with the curves, pairs and intercept of an explanation.

    Parameters
    ----------
    terms : AdditiveTerms
        Terms of a fitted model.
    parts : tuple of GlobalExplanation
        Explanation of each score of the model, as returned by `checked_scores`.

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
    """Collect the edits of an explanation, and each score as it was before the edits.

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


def checked_scores(
    own: GlobalExplanation | MulticlassExplanation,
    explanation: GlobalExplanation | MulticlassExplanation,
    model: str,
) -> tuple[GlobalExplanation, ...]:
    """Check that an explanation belongs to a model and lists all edits of curves and pairs.

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
        New explanation of each score.

    Raises
    ------
    ValueError
        If the explanation belongs to another model, or if a curve was changed but no edit was
        recorded.
    """
    if type(own) is not type(explanation):
        raise ValueError(
            f"{model} is explained by a {type(own).__name__}, got a "
            f"{type(explanation).__name__}; pass the explanation of all classes."
        )
    parts, mine = scores_of(explanation), scores_of(own)
    for left, right in zip(mine, parts, strict=False):
        _check_part(left, right)
    if len(parts) != len(mine) or explanation.edits[: len(own.edits)] != own.edits:
        raise ValueError("the explanation is of another model: its classes or edits differ.")
    return parts


def _check_part(own: GlobalExplanation, other: GlobalExplanation) -> None:
    if tuple(own) != tuple(other) or (own.link, own.classes) != (other.link, other.classes):
        raise ValueError(
            f"the explanation is of another model: it has the terms {listing(other)}, this model "
            f"{listing(own)}."
        )
    recorded = {name for record in other.edits for name in record.terms}
    _check_pairs(own, other, recorded)
    for term in own.terms:
        new = other[term.name]
        same = (term.bin_labels, term.special) == (new.bin_labels, new.special)
        if not same or not np.array_equal(term.count, new.count):
            raise ValueError(
                f"the explanation is of another model: {shorten(term.name)!r} has other bins or "
                "counts. Replay the edits with EditLog.apply(model)."
            )
        changed = not np.array_equal(term.contribution, new.contribution)
        if changed and term.name not in recorded:
            raise ValueError(f"the curve of {shorten(term.name)!r} {_UNRECORDED}")


def _check_pairs(own: GlobalExplanation, other: GlobalExplanation, recorded: set[str]) -> None:
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
        changed = not np.array_equal(pair.contribution, new.contribution)
        if changed and pair.name not in recorded:
            raise ValueError(f"the pair {shorten(pair.name)!r} {_UNRECORDED}")
