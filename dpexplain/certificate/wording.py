"""Detection of guarantees whose text was changed after the fit."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TypeAlias

from dpexplain._utils.guarantee_words import (
    ALONE,
    EDITED_COVERS,
    known_note,
    known_sampler,
    known_version,
)
from dpexplain.explain import (
    EditRecord,
    FilterBank,
    GlobalExplanation,
    Guarantee,
    MulticlassExplanation,
)
from dpexplain.explain.additive.edits import edit_note
from dpexplain.explain.additive.multiclass import scores_of

__all__ = ["Released", "changed_words"]

Released: TypeAlias = GlobalExplanation | MulticlassExplanation | FilterBank


def changed_words(shown: Released) -> str:
    """Name the first part of a file's guarantee that was changed after the fit.

    The guarantee is compared with the wording that fits of this library produce.

    Parameters
    ----------
    shown : GlobalExplanation, MulticlassExplanation or FilterBank
        Content of the file.

    Returns
    -------
    str
        Name of the changed field; "of a term" or "of a pair" if a term or pair has a different
        guarantee than the model; an empty string if no change was found. The guarantee of a pair
        may omit edits to the model, because earlier versions could not edit pairs.
    """
    edits = () if isinstance(shown, FilterBank) else shown.edits
    return next(_changed(shown.guarantee, edits), "") or next(_differing(shown), "")


def _changed(guarantee: Guarantee, edits: tuple[EditRecord, ...]) -> Iterator[str]:
    notes = [note for note in guarantee.notes if not known_note(note)]
    if guarantee.covers != ALONE + EDITED_COVERS * bool(edits):
        yield "covers"
    if not known_sampler(guarantee.sampler):
        yield "sampler"
    if not known_version(guarantee.version):
        yield "version"
    if notes != ([edit_note(edits)] if edits else []):
        yield "notes"


def _differing(shown: Released) -> Iterator[str]:
    if isinstance(shown, FilterBank):
        return
    whole = shown.guarantee
    unedited = dataclasses.replace(
        whole, covers=ALONE, notes=tuple(note for note in whole.notes if known_note(note))
    )
    for score in scores_of(shown):
        if any(term.guarantee != whole for term in score.terms):
            yield "of a term"
        if any(pair.guarantee not in (whole, unedited) for pair in score.pairs):
            yield "of a pair"
