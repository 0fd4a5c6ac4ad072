"""Terms and bins for which a log was made; they are checked before a replay."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from dpexplain.edit.levels import Interpolate, Set
from dpexplain.edit.operation import Operation
from dpexplain.edit.whole import Composed
from dpexplain.explain import GlobalExplanation, MulticlassExplanation, ShapeFunction
from dpexplain.explain._text import listing, short_number, shorten
from dpexplain.explain.additive.multiclass import scores_of


@dataclasses.dataclass(frozen=True)
class TermLayout:
    """Bins of a term.

    Parameters
    ----------
    name : str
        Name of the term.
    kind : {"numeric", "categorical"}
        Kind of the term.
    edges : tuple of float or None
        Edges of a numeric term; None for a categorical term.
    categories : tuple of str or None
        Categories of a categorical term; None for a numeric term.
    special : tuple of str
        Names of the special bins, which come after the value bins.
    """

    name: str
    kind: str
    edges: tuple[float, ...] | None
    categories: tuple[str, ...] | None
    special: tuple[str, ...]

    @property
    def words(self) -> str:
        """Description of the bins."""
        if self.edges is not None:
            ends = f"{short_number(self.edges[0])} and {short_number(self.edges[-1])}"
            return f"{len(self.edges) - 1} bins between {ends}"
        return f"the categories {listing(self.categories or (), 6)}"


@dataclasses.dataclass(frozen=True)
class Layout:
    """Terms of an explanation and their bins.

    Parameters
    ----------
    terms : sequence of TermLayout
        Bins of each term.
    """

    terms: tuple[TermLayout, ...]

    def __post_init__(self) -> None:
        """Convert the terms to a tuple."""
        object.__setattr__(self, "terms", tuple(self.terms))

    def term(self, name: str) -> TermLayout | None:
        """Return the term with this name, or None if it does not exist."""
        return next((term for term in self.terms if term.name == name), None)


def layout_of(explanation: GlobalExplanation | MulticlassExplanation) -> Layout:
    """Return the layout of an explanation: its terms and their bins.

    Parameters
    ----------
    explanation : GlobalExplanation or MulticlassExplanation

    Returns
    -------
    Layout
    """
    return Layout(tuple(_term_layout(term) for term in scores_of(explanation)[0].terms))


def _term_layout(term: ShapeFunction) -> TermLayout:
    edges = None if term.bin_edges is None else tuple(term.bin_edges.tolist())
    return TermLayout(term.name, term.kind, edges, term.categories, term.special)


def check_layout(
    made_for: Layout, here: Layout, operations: Sequence[Operation | Composed]
) -> None:
    """Check that operations can be replayed on the terms of an explanation.

    Parameters
    ----------
    made_for : Layout
        Layout of the log.
    here : Layout
        Layout of the explanation.
    operations : sequence of Operation or Composed
        Operations to replay. If the bins of a term differ between the layouts, an operation that
        refers to the whole term, to values or to labels can still be replayed, unless it sets
        a separate value for each bin. An operation that uses bin indices cannot be replayed.

    Raises
    ------
    ValueError
        If the layouts do not match; the message describes the difference.
    """
    for step in (single for operation in operations for single in operation.steps):
        old, new = made_for.term(step.term), here.term(step.term)
        if old is None:
            continue
        name = shorten(step.term)
        if new is None:
            names = listing(term.name for term in here.terms)
            raise ValueError(
                f"the log edits {name!r}, and there is no such term here; the terms are {names}."
            )
        if old.kind != new.kind:
            raise ValueError(
                f"the log was made for a {old.kind} {name!r}, which is {new.kind} here."
            )
        if _names_places(step) and old != new:
            raise ValueError(
                f"the log was made for a {name!r} with {old.words}, and it has {new.words} here. "
                f"{step.words!r} selects bins by position, which does not carry over; select them "
                "with within= or names= instead."
            )


def _names_places(step: Operation) -> bool:
    by_value = isinstance(step, Set) and isinstance(step.value, tuple)
    through = isinstance(step, Interpolate) and bool(step.keep)
    return step.bins is not None or by_value or through
