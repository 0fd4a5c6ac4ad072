"""Edit log: a tree of states with undo, branches, checkpoints and replay."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpexplain.edit.applying import apply_entries
from dpexplain.edit.entry import START, Entry
from dpexplain.edit.layout import Layout, check_layout, layout_of
from dpexplain.edit.operation import Operation
from dpexplain.edit.serialize import operation_from_text
from dpexplain.edit.whole import Composed
from dpexplain.explain import EditRecord, GlobalExplanation, MulticlassExplanation, PairCurve
from dpexplain.explain._text import did_you_mean, listing, shorten
from dpexplain.explain.additive.multiclass import scores_of


@dataclasses.dataclass(frozen=True)
class EditLog:
    """Immutable tree of edits: every change returns a new log.

    An edit after an undo starts a branch; no edit is lost, and every state can be checked out.

    Parameters
    ----------
    entries : sequence of Entry, default=()
        All edits ever made, each with the index of the previous one.
    head : int, default=-1
        Index of the edit that led to the current state; -1 for the released state.
    undone : sequence of int, default=()
        Indices of the undone edits; the last one is the first to be redone.
    checkpoints : sequence of (str, int), default=()
        Names of states, each with the index of the edit that led to that state.
    layout : Layout or None, default=None
        Terms and bins for which the edits were made; if None, only the terms and bins named in the
        operations must exist.

    Raises
    ------
    ValueError
        If the indices are inconsistent.

    Examples
    --------
    >>> from dpexplain.edit import EditLog, Monotone, Shift
    >>> log = EditLog().edit(Monotone("age", direction="increasing"), note="risk rises with age")
    >>> log = log.checkpoint("agreed").edit(Shift("age", by=0.1, bins=[3])).undo()
    >>> log
    EditLog(1 edit, 1 to redo; at 'agreed'; see .history(), .apply(model))
    """

    entries: tuple[Entry, ...] = ()
    head: int = START
    undone: tuple[int, ...] = ()
    checkpoints: tuple[tuple[str, int], ...] = ()
    layout: Layout | None = None

    def __post_init__(self) -> None:
        """Check that the indices are consistent."""
        for name in ("entries", "undone", "checkpoints"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for place, entry in enumerate(self.entries):
            if not isinstance(entry, Entry) or not START <= entry.parent < place:
                raise ValueError("entries must be edits that follow an earlier one.")
        places = [self.head, *self.undone, *(place for _, place in self.checkpoints)]
        if not all(START <= place < len(self.entries) for place in places):
            raise ValueError("an index of the log is beyond its edits.")
        before = self.head
        for place in reversed(self.undone):
            if place == START or self.entries[place].parent != before:
                raise ValueError("undone must lead on from the head.")
            before = place
        names = [name for name, _ in self.checkpoints]
        if len(set(names)) != len(names):
            raise ValueError("checkpoints must have distinct names.")

    @classmethod
    def of(cls, explanation: GlobalExplanation | MulticlassExplanation) -> EditLog:
        """Start a log that stores the terms and bins of an explanation.

        If the log is later applied to an explanation with other bins, edits that refer to bins by
        index, or that set a separate value for each bin, are rejected. If the grid of a pair
        differs, all edits to the pair are rejected, except those that remove or revert it.

        Parameters
        ----------
        explanation : GlobalExplanation or MulticlassExplanation
            Explanation for which edits will be made.

        Returns
        -------
        EditLog
        """
        return cls(layout=layout_of(explanation))

    @classmethod
    def from_records(cls, records: Sequence[EditRecord]) -> EditLog:
        """Rebuild the log of an edited explanation or model from its edit records.

        Parameters
        ----------
        records : sequence of EditRecord
            Records such as ``explanation.edits`` or ``model.edits_``.

        Returns
        -------
        EditLog
        """
        log = cls()
        for record in records:
            operation = operation_from_text(record.operation)
            log = log.edit(operation, note=record.note, who=record.who, when=record.when)
        return log

    def edit(
        self, operation: Operation | Composed, *, note: str = "", who: str = "", when: str = ""
    ) -> EditLog:
        """Add an edit after the current state.

        Parameters
        ----------
        operation : Operation or Composed
            Operation to add.
        note : str, default=""
            Reason for the edit.
        who : str, default=""
            Person who makes the edit.
        when : str, default=""
            When the edit is made.

        Returns
        -------
        EditLog

        Raises
        ------
        KeyError
            If the log was made for an explanation that does not have the term.
        ValueError
            If the log was made for an explanation that lacks the class, or whose term lacks a named
            category, has no bin in a range, or has unordered categories that need an order.
        """
        if self.layout is not None:
            self.layout.check_names(operation)
        entry = Entry(operation, self.head, note, who, when)
        entries = (*self.entries, entry)
        return dataclasses.replace(self, entries=entries, head=len(entries) - 1, undone=())

    @property
    def can_undo(self) -> bool:
        """Whether there is an edit that can be undone."""
        return self.head != START

    @property
    def can_redo(self) -> bool:
        """Whether an undone edit can be redone."""
        return bool(self.undone)

    def undo(self) -> EditLog:
        """Undo the edit that led to the current state.

        Returns
        -------
        EditLog
            A log in the state before this edit; the same log if there is nothing to undo.
        """
        if not self.can_undo:
            return self
        back = self.entries[self.head].parent
        return dataclasses.replace(self, head=back, undone=(*self.undone, self.head))

    def redo(self) -> EditLog:
        """Redo the edit that was undone most recently.

        Returns
        -------
        EditLog
            A log in the state after this edit; the same log if there is nothing to redo.
        """
        if not self.can_redo:
            return self
        return dataclasses.replace(self, head=self.undone[-1], undone=self.undone[:-1])

    def checkpoint(self, name: str) -> EditLog:
        """Save the current state as a checkpoint.

        An existing checkpoint with the same name is replaced.

        Parameters
        ----------
        name : str
            Name of the state.

        Returns
        -------
        EditLog
        """
        if not isinstance(name, str) or not name.strip():
            raise ValueError("a checkpoint needs a name.")
        others = tuple(pair for pair in self.checkpoints if pair[0] != name)
        return dataclasses.replace(self, checkpoints=(*others, (name, self.head)))

    def checkout(self, state: int | str) -> EditLog:
        """Return a copy of the log with the given state as the current one.

        Parameters
        ----------
        state : int or str
            Index of the edit after which to continue, or name of a checkpoint; -1 for the released
            state.

        Returns
        -------
        EditLog

        Raises
        ------
        ValueError
            If the state does not exist.
        """
        return dataclasses.replace(self, head=self.place(state), undone=())

    def place(self, state: int | str) -> int:
        """Return the index of the edit that led to a state; -1 for the released state.

        Parameters
        ----------
        state : int or str
            Index of an edit, which is checked and returned, or name of a checkpoint.

        Returns
        -------
        int
        """
        if not isinstance(state, str):
            return self._checked(state)
        named = dict(self.checkpoints)
        if state not in named:
            there = listing(named) if named else "none"
            raise ValueError(
                f"no checkpoint {shorten(state)!r}; the checkpoints are {there}."
                f"{did_you_mean(state, named)}"
            )
        return named[state]

    def _checked(self, place: int) -> int:
        if not isinstance(place, int) or not START <= place < len(self.entries):
            raise ValueError(
                f"no edit {place!r}; the edits are 0 to {len(self.entries) - 1}, and -1 is the "
                "released state."
            )
        return place

    @property
    def branches(self) -> tuple[int, ...]:
        """Index of the last edit of each branch."""
        followed = {entry.parent for entry in self.entries}
        return tuple(place for place in range(len(self.entries)) if place not in followed)

    def path(self, state: int | str | None = None) -> tuple[int, ...]:
        """Return the indices of the edits that lead to a state, in order.

        Parameters
        ----------
        state : int, str or None, default=None
            State, as in :meth:`checkout`; None for the current state.

        Returns
        -------
        tuple of int
        """
        place = self.head if state is None else self.place(state)
        places = []
        while place != START:
            places.append(place)
            place = self.entries[place].parent
        return tuple(reversed(places))

    @property
    def operations(self) -> tuple[Operation | Composed, ...]:
        """Operations that led to the current state, in order."""
        return tuple(self.entries[place].operation for place in self.path())

    def apply(self, target: Any, state: int | str | None = None) -> Any:
        """Edit an explanation or a fitted model by replaying this log up to a state.

        Parameters
        ----------
        target : GlobalExplanation, MulticlassExplanation or fitted additive model
            What to edit. A model is copied, and its ledger is not charged.
        state : int, str or None, default=None
            State, as in :meth:`checkout`; None for the current state.

        Returns
        -------
        GlobalExplanation, MulticlassExplanation or model
            The edited object. Its repr, guarantee, statement and files all say that it was edited.
            The edits cost epsilon 0, because they use only released numbers.

        Raises
        ------
        ValueError
            If an edited term does not exist in the target, or if an operation does not fit the
            bins of its term.
        """
        entries = [self.entries[place] for place in self.path(state)]
        if self.layout is not None and entries:
            shown = target
            if not isinstance(target, GlobalExplanation | MulticlassExplanation):
                shown = target.explain_global() if hasattr(target, "explain_global") else None
            if shown is not None:
                check_layout(self.layout, layout_of(shown), [e.operation for e in entries])
        return apply_entries(entries, target)

    def diff(
        self, explanation: Any, before: int | str = START, after: int | str | None = None
    ) -> pd.DataFrame:
        """Compare two states of the log, bin by bin.

        Parameters
        ----------
        explanation : GlobalExplanation or MulticlassExplanation
            The released explanation.
        before : int or str, default=-1
            First state, as in :meth:`checkout`; -1 for the released state.
        after : int, str or None, default=None
            Second state; None for the current state.

        Returns
        -------
        DataFrame
            One row for each bin that differs, and one for the intercept if it differs. The columns
            are class (if there are several), term, bin (or cell of a pair), before, after, change
            and people_share (the proportion of records in the bin).
        """
        states = [self.apply(explanation, state) for state in (before, after)]
        pairs = zip(*(scores_of(state) for state in states), strict=True)
        rows = [row for old, new in pairs for row in _changes(old, new)]
        columns = ["class", "term", "bin", "before", "after", "change", "people_share"]
        table = pd.DataFrame(rows, columns=columns)
        several = isinstance(explanation, MulticlassExplanation)
        return table if several else table.drop(columns="class")

    def history(self, explanation: Any = None) -> pd.DataFrame:
        """Return a table of all edits.

        Parameters
        ----------
        explanation : GlobalExplanation, MulticlassExplanation or None, default=None
            The released explanation. If it is given, the effects of the edits that led to the
            current state are measured.

        Returns
        -------
        DataFrame
            One row for each edit. The columns are edit, after (index of the previous edit), current
            (whether the edit is part of the current state), note, who, when and epsilon (0). If
            effects are measured, the columns rms, people_share and bins_outside_band are added; see
            :class:`EditRecord`.
        """
        current = self.path()
        table = pd.DataFrame(
            {
                "edit": [entry.operation.words for entry in self.entries],
                "after": [entry.parent for entry in self.entries],
                "current": [place in current for place in range(len(self.entries))],
                "note": [entry.note for entry in self.entries],
                "who": [entry.who for entry in self.entries],
                "when": [entry.when for entry in self.entries],
                "epsilon": 0.0,
            }
        )
        if explanation is None:
            return table
        records = self.apply(explanation).edits[-len(current) :] if current else ()
        for column, field in (
            ("rms", "rms"),
            ("people_share", "people_share"),
            ("bins_outside_band", "n_outside"),
        ):
            found = {
                place: getattr(record, field)
                for place, record in zip(current, records, strict=True)
            }
            table[column] = [found.get(place, np.nan) for place in range(len(self.entries))]
        return table

    def __repr__(self) -> str:
        """Return a one-line summary."""
        count = len(self.path())
        named = [name for name, place in self.checkpoints if place == self.head]
        at = f"; at {listing(named)}" if named else ""
        redo = f", {len(self.undone)} to redo" if self.undone else ""
        others = len(self.branches) - 1
        more = f", {others} other branch{'es' * (others != 1)}" if others > 0 else ""
        edits = f"{count} edit{'s' * (count != 1)}"
        return f"EditLog({edits}{redo}{more}{at}; see .history(), .apply(model))"


def _changes(old: GlobalExplanation, new: GlobalExplanation) -> list[list[Any]]:
    rows: list[list[Any]] = []
    for part in old.parts:
        left, right = (each.part(part.name).contribution.ravel() for each in (old, new))
        labels = part.cell_labels if isinstance(part, PairCurve) else part.bin_labels
        weights = part.weights.ravel()
        for i in np.flatnonzero(left != right):
            change = right[i] - left[i]
            row = [old.of_class, part.name, labels[i], left[i], right[i], change, weights[i]]
            rows.append(row)
    if old.intercept != new.intercept:
        step = new.intercept - old.intercept
        rows.append([old.of_class, "(intercept)", "", old.intercept, new.intercept, step, 1.0])
    return rows
