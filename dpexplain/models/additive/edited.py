"""Edited curves in a fitted model."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpexplain.explain import EditRecord, GlobalExplanation, MulticlassExplanation
from dpexplain.explain._text import listing, shorten
from dpexplain.explain.additive.multiclass import scores_of

if TYPE_CHECKING:
    from dpexplain.models.additive.model import AdditiveModel

    Model = TypeVar("Model", bound=AdditiveModel)


@dataclass(frozen=True, eq=False)
class Released:
    """One score before its edits.

    Attributes
    ----------
    curves : tuple of ndarray of shape (n_bins,), or None for a term that was not edited
    intercept : float or None
        None where edits did not move it.
    """

    curves: tuple[NDArray[np.float64] | None, ...]
    intercept: float | None


@dataclass(frozen=True, eq=False)
class Edited:
    """The edits of a model.

    Attributes
    ----------
    records : tuple of EditRecord
        In their order.
    released : dict of str to Released
        By class; under "" for a model with one score.
    """

    records: tuple[EditRecord, ...]
    released: dict[str, Released]

    def of_class(self, name: str) -> Released:
        """Return the released score of a class."""
        return self.released[name]


def edited_copy(model: Model, explanation: GlobalExplanation | MulticlassExplanation) -> Model:
    """Copy a fitted model with the curves of an explanation.

    Parameters
    ----------
    model : AdditiveModel
        Fitted.
    explanation : GlobalExplanation or MulticlassExplanation
        Of this model, with a record of each edit.

    Returns
    -------
    AdditiveModel
    """
    parts = _checked(model, explanation)
    terms = model._terms
    stacked = [
        np.stack([part.terms[i].contribution for part in parts], axis=1)
        for i in range(len(terms.bins))
    ]
    one = terms.link != "softmax"
    scores = tuple(np.ascontiguousarray(s[:, 0]) if one else s for s in stacked)
    intercept = parts[0].intercept if one else np.array([part.intercept for part in parts])
    # Both follow from the fit, before its curves are replaced.
    model._noise, model._effect  # noqa: B018
    edited = copy.copy(model)
    edited._terms = replace(
        terms,
        scores=scores,
        intercept=intercept,
        monotone=tuple(term.monotone for term in parts[0].terms),
    )
    edited._edited = Edited(parts[0].edits, {part.of_class: _released(part) for part in parts})
    edited.intercept_ = edited._terms.intercept
    edited.guarantee_ = parts[0].guarantee
    return edited


def _released(part: GlobalExplanation) -> Released:
    return Released(tuple(term.released for term in part.terms), part.released_intercept)


def _checked(
    model: AdditiveModel, explanation: GlobalExplanation | MulticlassExplanation
) -> tuple[GlobalExplanation, ...]:
    """Reject explanations of other models and unrecorded changes of curves."""
    if not isinstance(explanation, GlobalExplanation | MulticlassExplanation):
        raise TypeError(
            f"with_curves takes an explanation of the model, got {type(explanation).__name__}."
        )
    own = model.explain_global()
    if type(own) is not type(explanation):
        raise ValueError(
            f"{type(model).__name__} is explained by a {type(own).__name__}, got a "
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
            raise ValueError(
                f"the curve of {shorten(term.name)!r} differs, but no edit is recorded; change it "
                "with the operations of dpexplain.edit, which record edits."
            )
