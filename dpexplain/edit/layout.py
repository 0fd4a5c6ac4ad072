"""Terms and bins for which an edit log was made, to be checked before a replay."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from dpexplain.edit.levels import Interpolate, Set
from dpexplain.edit.operation import Operation, unordered
from dpexplain.edit.selection import bins_within, check_class, check_labels
from dpexplain.edit.state import ordered
from dpexplain.edit.whole import Composed, Remove, Revert
from dpexplain.explain import GlobalExplanation, MulticlassExplanation, PairAxis, ShapeFunction
from dpexplain.explain._text import did_you_mean, listing, short_number, shorten
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
    ordered : bool or None, default=None
        Whether the value bins are ordered; None if unknown, as in files of earlier versions.
    """

    name: str
    kind: str
    edges: tuple[float, ...] | None
    categories: tuple[str, ...] | None
    special: tuple[str, ...]
    ordered: bool | None = dataclasses.field(default=None, compare=False)

    @property
    def words(self) -> str:
        """Description of the bins."""
        if self.edges is not None:
            ends = f"{short_number(self.edges[0])} and {short_number(self.edges[-1])}"
            return f"{len(self.edges) - 1} bins between {ends}"
        return f"the categories {listing(self.categories or (), 6)}"


@dataclasses.dataclass(frozen=True)
class PairLayout:
    """Grid of a pair.

    Parameters
    ----------
    name : str
        Name of the pair.
    axes : sequence of TermLayout
        Bins of the two features on the grid.
    """

    name: str
    axes: tuple[TermLayout, ...]

    def __post_init__(self) -> None:
        """Convert the axes to a tuple."""
        object.__setattr__(self, "axes", tuple(self.axes))

    @property
    def words(self) -> str:
        """Description of the grid."""
        return " by ".join(f"{shorten(axis.name)} in {axis.words}" for axis in self.axes)


@dataclasses.dataclass(frozen=True)
class Layout:
    """Terms of an explanation and their bins.

    Parameters
    ----------
    terms : sequence of TermLayout
        Bins of each term.
    pairs : sequence of PairLayout, default=()
        Grid of each pair.
    classes : sequence of str or None, default=None
        Classes that have a score each; empty for a single score, and None if unknown.
    """

    terms: tuple[TermLayout, ...]
    pairs: tuple[PairLayout, ...] = ()
    classes: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Convert the terms, pairs and classes to tuples."""
        object.__setattr__(self, "terms", tuple(self.terms))
        object.__setattr__(self, "pairs", tuple(self.pairs))
        if self.classes is not None:
            object.__setattr__(self, "classes", tuple(self.classes))

    def term(self, name: str) -> TermLayout | None:
        """Return the term with this name, or None if it does not exist."""
        return next((term for term in self.terms if term.name == name), None)

    def check_names(self, operation: Operation | Composed) -> None:
        """Raise an error for an unknown name or range, or an order that is missing.

        Names are those of terms, pairs, categories and classes.
        """
        known = [*(term.name for term in self.terms), *(pair.name for pair in self.pairs)]
        for name in operation.terms:
            if name not in known:
                hint = did_you_mean(name, known)
                raise KeyError(f"no term {shorten(name)!r}; the terms are {listing(known)}.{hint}")
        for step in operation.steps:
            term = self.term(step.term)
            if self.classes is not None:
                check_class(step.of_class, self.classes)
            if step.needs_order and term is not None and term.ordered is False:
                raise unordered(step.kind, term.name)
            if step.names is not None and term is not None and term.categories is not None:
                check_labels(term.name, (*term.categories, *term.special), step.names)
            if step.within is not None and term is not None:
                edges = None if term.edges is None else np.array(term.edges)
                bins_within(term.name, edges, step.within)

    def pair(self, name: str) -> PairLayout | None:
        """Return the pair with this name, or None if it does not exist."""
        return next((pair for pair in self.pairs if pair.name == name), None)


def layout_of(explanation: GlobalExplanation | MulticlassExplanation) -> Layout:
    """Return the layout of an explanation: its terms and their bins.

    Parameters
    ----------
    explanation : GlobalExplanation or MulticlassExplanation

    Returns
    -------
    Layout
    """
    scores = scores_of(explanation)
    first = scores[0]
    pairs = (PairLayout(p.name, tuple(map(_term_layout, p.axes))) for p in first.pairs)
    classes = tuple(score.of_class for score in scores if score.of_class)
    return Layout(tuple(map(_term_layout, first.terms)), tuple(pairs), classes)


def _term_layout(term: ShapeFunction | PairAxis) -> TermLayout:
    edges = None if term.bin_edges is None else tuple(term.bin_edges.tolist())
    return TermLayout(term.name, term.kind, edges, term.categories, term.special, ordered(term))


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
        a separate value for each bin. An operation that uses bin indices cannot be replayed. If the
        grid of a pair differs, the pair can only be removed or reverted.

    Raises
    ------
    ValueError
        If the layouts do not match; the message describes the difference.
    """
    for step in (single for operation in operations for single in operation.steps):
        _check_grid(made_for, here, step)
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


def _check_grid(made_for: Layout, here: Layout, step: Operation) -> None:
    old, new, name = made_for.pair(step.term), here.pair(step.term), shorten(step.term)
    if old is None:
        return
    if new is None:
        names = listing(pair.name for pair in here.pairs) if here.pairs else "none"
        raise ValueError(
            f"the log edits the pair {name!r}, and there is no such pair here; the pairs are "
            f"{names}."
        )
    if old != new and not isinstance(step, Remove | Revert):
        raise ValueError(
            f"the log was made for a {name!r} with {old.words}, and it has {new.words} here. Cells "
            "of one grid do not carry over to another; edit this pair here."
        )


def _names_places(step: Operation) -> bool:
    by_value = isinstance(step, Set) and isinstance(step.value, tuple)
    through = isinstance(step, Interpolate) and bool(step.keep)
    return step.bins is not None or by_value or through
