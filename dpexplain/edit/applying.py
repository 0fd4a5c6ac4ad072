"""Apply operations to explanations and models, and record the effects."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpexplain._utils.guarantee_words import EDITED_COVERS
from dpexplain.edit.entry import Entry
from dpexplain.edit.kernels import FloatArray
from dpexplain.edit.selection import check_class
from dpexplain.edit.serialize import operation_from_text, operation_text
from dpexplain.edit.state import Cells, Curve, State
from dpexplain.explain import (
    EditEffect,
    EditRecord,
    GlobalExplanation,
    Guarantee,
    MulticlassExplanation,
    PairAxis,
    PairCurve,
    ShapeFunction,
)
from dpexplain.explain.additive.denoising import denoised_curve
from dpexplain.explain.additive.edits import EDITED, edit_note
from dpexplain.explain.additive.multiclass import scores_of


def apply_entries(entries: Sequence[Entry], target: Any) -> Any:
    """Apply the entries of a log to an explanation or a fitted model.

    Parameters
    ----------
    entries : sequence of Entry
        Entries in the order in which they are applied.
    target : GlobalExplanation, MulticlassExplanation or fitted additive model
        Object to edit; the original is not changed.

    Returns
    -------
    GlobalExplanation, MulticlassExplanation or model
        A new object, or `target` itself if there is nothing to apply.

    Raises
    ------
    TypeError
        If `target` is of any other type.
    ValueError
        If an operation cannot be applied to `target`.
    """
    if not entries:
        return target
    if isinstance(target, GlobalExplanation | MulticlassExplanation):
        parts = _edited(entries, scores_of(target))
        several = isinstance(target, MulticlassExplanation)
        return MulticlassExplanation(parts) if several else parts[0]
    if hasattr(target, "explain_global") and hasattr(target, "with_curves"):
        return target.with_curves(apply_entries(entries, target.explain_global()))
    raise TypeError(
        f"edits apply to a GlobalExplanation, a MulticlassExplanation or a fitted additive model, "
        f"got {type(target).__name__}. For a Comparison, pass one of its explanations."
    )


def _edited(
    entries: Sequence[Entry], parts: tuple[GlobalExplanation, ...]
) -> tuple[GlobalExplanation, ...]:
    scores = [_Score(part) for part in parts]
    records = [_carried_out(entry, scores) for entry in entries]
    edits = (*parts[0].edits, *records)
    return tuple(score.explanation(edits) for score in scores)


class _Score:
    """Terms of one score during editing."""

    def __init__(self, given: GlobalExplanation) -> None:
        self.given = given
        self.released = _released(given)
        self.states: dict[str, State] = {}
        self.touched: set[str] = set()

    def state(self, name: str) -> State:
        """Return the current state of a term or pair."""
        if name not in self.states:
            try:
                now = self.given.part(name)
            except KeyError as error:
                raise ValueError(str(error.args[0])) from None
            self.states[name] = self._first_state(now)
        return self.states[name]

    def _first_state(self, now: ShapeFunction | PairCurve) -> State:
        name, released = now.name, self.released.part(now.name)
        values, center = now.contribution.ravel(), released.contribution.ravel()
        shift = _shift_so_far(self.given, name)
        if isinstance(released, PairCurve):
            return Cells(released, values, center, shift, self._curve_on)
        curve = Curve(released, values, center, shift, lambda: denoised_curve(self.released, name))
        return _with_stretches(curve, self.given)

    def _curve_on(self, axis: PairAxis) -> FloatArray:
        curve = self.state(axis.name) if axis.name in self.given else None
        return curve.on_axis(axis) if isinstance(curve, Curve) else np.zeros(axis.n_value_bins)

    def apply(self, step: Any) -> None:
        """Apply a single operation to its term."""
        self.states[step.term] = step.on(self.state(step.term))
        self.touched.add(step.term)

    def explanation(self, edits: tuple[EditRecord, ...]) -> GlobalExplanation:
        """Assemble the edited explanation."""
        shifts = [self.state(part.name).shift for part in self.given.parts]
        moved = any(shifts)
        intercept = self.released.intercept + sum(shifts) if moved else self.released.intercept
        guarantee = _edited_guarantee(self.given.guarantee, edits)
        return dataclasses.replace(
            self.given,
            terms=tuple(self._term(term, guarantee) for term in self.given.terms),
            pairs=tuple(self._pair(pair, guarantee) for pair in self.given.pairs),
            intercept=float(intercept),
            released_intercept=self.released.intercept if moved else None,
            guarantee=guarantee,
            edits=edits,
        )

    def _term(self, term: ShapeFunction, guarantee: Guarantee) -> ShapeFunction:
        if term.name not in self.touched:
            return dataclasses.replace(term, guarantee=guarantee)
        values = self.states[term.name].values
        return dataclasses.replace(
            term,
            contribution=values,
            released=self.released[term.name].contribution,
            monotone=term.monotone if _keeps_direction(term, values) else None,
            guarantee=guarantee,
        )

    def _pair(self, pair: PairCurve, guarantee: Guarantee) -> PairCurve:
        if pair.name not in self.touched:
            return dataclasses.replace(pair, guarantee=guarantee)
        return dataclasses.replace(
            pair,
            contribution=self.states[pair.name].values.reshape(pair.contribution.shape),
            released=self.released.pair(pair.name).contribution,
            guarantee=guarantee,
        )


def _released(given: GlobalExplanation) -> GlobalExplanation:
    """Return the explanation as it was before it was edited."""
    if not given.edits:
        return given
    terms = tuple(
        term
        if term.released is None
        else dataclasses.replace(
            term, contribution=term.released, released=None, edits=(), monotone=None
        )
        for term in given.terms
    )
    pairs = tuple(
        pair
        if pair.released is None
        else dataclasses.replace(pair, contribution=pair.released, released=None, edits=())
        for pair in given.pairs
    )
    intercept = given.intercept if given.released_intercept is None else given.released_intercept
    return dataclasses.replace(
        given, terms=terms, pairs=pairs, intercept=intercept, released_intercept=None, edits=()
    )


def _shift_so_far(given: GlobalExplanation, name: str) -> float:
    return sum(
        effect.intercept_change
        for record in given.edits
        for effect in record.effects
        if effect.term == name and effect.of_class in ("", given.of_class)
    )


def _with_stretches(curve: Curve, given: GlobalExplanation) -> Curve:
    """Move the center of a curve's noise band by replaying the edits in `given`."""
    for record in given.edits:
        for step in operation_from_text(record.operation).steps:
            ours = step.term == curve.released.name and step.of_class in ("", given.of_class)
            if ours and step.moves_band:
                now = dataclasses.replace(curve, values=curve.band_center)
                curve = dataclasses.replace(curve, band_center=step.on(now).band_center)
    return curve


def _keeps_direction(term: ShapeFunction, values: np.ndarray) -> bool:
    if term.monotone is None:
        return True
    steps = np.diff(values[: term.n_value_bins])
    return bool((steps >= 0).all() if term.monotone == "increasing" else (steps <= 0).all())


def _edited_guarantee(guarantee: Guarantee, edits: Sequence[EditRecord]) -> Guarantee:
    """Return the guarantee with the same numbers and a note about the edits."""
    notes = [note for note in guarantee.notes if not note.startswith(EDITED)]
    covers = guarantee.covers.removesuffix(EDITED_COVERS) + EDITED_COVERS * guarantee.private
    note = edit_note(edits, private=guarantee.private)
    return dataclasses.replace(guarantee, covers=covers, notes=(*notes, note))


def _carried_out(entry: Entry, scores: list[_Score]) -> EditRecord:
    operation = entry.operation
    touched = [(score, name) for name in operation.terms for score in scores]
    before = {(id(score), name): score.state(name) for score, name in touched}
    for step in operation.steps:
        for score in _scores_of(step, scores):
            score.apply(step)
    effects = [
        _effect(score, before[id(score), name], score.state(name))
        for score, name in touched
        if _concerns(operation, score, name)
    ]
    broken = [
        _broken_words(score.given.part(name), before[id(score), name], score.state(name))
        for score, name in touched
    ]
    return EditRecord(
        operation_text(operation),
        operation.words,
        tuple(effects),
        note=entry.note,
        who=entry.who,
        when=entry.when,
        caution="; ".join(dict.fromkeys(filter(None, [operation.caution, *broken]))),
    )


def _broken_words(part: ShapeFunction | PairCurve, before: State, after: State) -> str:
    """Warn of an edit after which a curve breaks the monotone constraint of its fit."""
    if isinstance(part, PairCurve) or _keeps_direction(part, after.values):
        return ""
    if not _keeps_direction(part, before.values):
        return ""
    ends = {"increasing": "increases", "decreasing": "decreases"}[str(part.monotone)]
    return f"the curve no longer {ends} everywhere, as the fit constrained it to"


def _scores_of(step: Any, scores: list[_Score]) -> list[_Score]:
    if not step.of_class:
        return scores
    chosen = [score for score in scores if score.given.of_class == step.of_class]
    check_class(step.of_class, [s.given.of_class for s in scores if s.given.of_class])
    return chosen


def _concerns(operation: Any, score: _Score, name: str) -> bool:
    return any(
        step.term == name and step.of_class in ("", score.given.of_class)
        for step in operation.steps
    )


def _effect(score: _Score, before: State, after: State) -> EditEffect:
    change = after.values - before.values
    weights, changed, std = before.weights, change != 0.0, before.std
    outside = None
    if std is not None:
        half = before.released.band_factor * std  # the band that views and figures draw
        outside = int((np.abs(after.values - after.band_center) > half).sum())
    return EditEffect(
        before.released.name,
        int(changed.sum()),
        float(np.sqrt(weights @ change**2)),
        float(min(1.0, weights[changed].sum())),
        outside,
        float(weights @ change),
        after.shift - before.shift,
        score.given.of_class,
        _side_change(change, before.released) if isinstance(before, Cells) else None,
    )


def _side_change(change: FloatArray, pair: PairCurve) -> float:
    """Return the RMS change in the row means or the column means, whichever is larger."""
    weights = pair.weights
    total = weights * change.reshape(weights.shape)
    sizes = [weights.sum(axis) for axis in (0, 1)]
    moves = [
        np.divide(total.sum(axis), size, out=np.zeros_like(size), where=size > 0)
        for axis, size in enumerate(sizes)
    ]
    return max(float(np.sqrt(size @ move**2)) for size, move in zip(sizes, moves, strict=True))
