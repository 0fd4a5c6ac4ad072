"""Selection of a term's bins."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from dpexplain.edit.kernels import FloatArray, IndexArray
from dpexplain.explain import PairAxis, PairCurve, ShapeFunction
from dpexplain.explain._text import did_you_mean, listing, short_number, shorten

_LISTED = 6

Ends: TypeAlias = tuple[float, float]
Where: TypeAlias = tuple[tuple[str, Ends | tuple[str, ...]], ...]
"""Chosen values or labels of the features of a pair."""


@dataclasses.dataclass(frozen=True)
class Selection:
    """Selection of a term's bins: all value bins, or bins by index, value or label.

    Special bins (missing, other) are included only if they are selected by index or label.

    Parameters
    ----------
    bins : sequence of int or None, default=None
        Indices of bins; special bins come last.
    within : (float, float) or None, default=None
        Two numbers in the units of a numeric feature; the value bins that lie between them are
        selected.
    names : sequence of str or None, default=None
        Labels: categories, or the special bins ``"missing"`` and ``"other"``.

    Raises
    ------
    ValueError
        If more than one of the parameters is given, or one of them is malformed.
    """

    bins: tuple[int, ...] | None = None
    within: tuple[float, float] | None = None
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Check the parameters; `of` checks whether the term has the selected bins."""
        given = [n for n in ("bins", "within", "names") if getattr(self, n) is not None]
        if len(given) > 1:
            raise ValueError(f"pass only one of bins=, within= and names=, not {given}.")
        if self.bins is not None:
            object.__setattr__(self, "bins", _places(self.bins))
        if self.within is not None:
            object.__setattr__(self, "within", _ends(self.within))
        if self.names is not None:
            names = (self.names,) if isinstance(self.names, str) else tuple(self.names)
            if not names or not all(isinstance(name, str) for name in names):
                raise ValueError("names= must be one or more labels of bins.")
            object.__setattr__(self, "names", tuple(dict.fromkeys(names)))

    @property
    def whole(self) -> bool:
        """Whether all value bins are selected."""
        return self.bins is None and self.within is None and self.names is None

    def of(self, term: ShapeFunction | PairAxis) -> IndexArray:
        """Return the indices of the selected bins of a term.

        Parameters
        ----------
        term : ShapeFunction or PairAxis

        Returns
        -------
        ndarray of int64
            Indices of the bins, in increasing order.

        Raises
        ------
        ValueError
            If the term does not have these bins.
        """
        if self.bins is not None:
            if self.bins[-1] >= term.n_bins:
                raise ValueError(
                    f"bins={_shown(self.bins)} names a bin that {shorten(term.name)!r} does not "
                    f"have; its bins are 0 to {term.n_bins - 1}."
                )
            return np.array(self.bins, dtype=np.int64)
        if self.within is not None:
            return bins_within(term.name, term.bin_edges, self.within)
        if self.names is not None:
            return _bins_named(term, self.names)
        return np.arange(term.n_value_bins, dtype=np.int64)

    @property
    def words(self) -> str:
        """Description of the selection; empty if all value bins are selected."""
        if self.bins is not None:
            return f" in bins {_shown(self.bins)}"
        if self.within is not None:
            return " between {} and {}".format(*(short_number(end) for end in self.within))
        if self.names is not None:
            return f" for {listing(self.names, _LISTED)}"
        return ""


def _shown(bins: Sequence[int]) -> str:
    """Format indices as runs, such as "3 to 7, 9"."""
    runs: list[list[int]] = []
    for place in bins:
        if runs and place == runs[-1][1] + 1:
            runs[-1][1] = place
        else:
            runs.append([place, place])
    texts = [str(a) if a == b else f"{a} to {b}" for a, b in runs]
    more = f" and {len(texts) - _LISTED} more runs" if len(texts) > _LISTED else ""
    return ", ".join(texts[:_LISTED]) + more


def _places(bins: Sequence[int]) -> tuple[int, ...]:
    try:
        places = sorted({int(place) for place in bins if not isinstance(place, bool)})
        whole = len(places) > 0 and all(int(place) == place for place in bins) and places[0] >= 0
    except (TypeError, ValueError, OverflowError):
        whole = False
    if not whole:
        raise ValueError("bins= must be one or more bin positions, integers from 0.")
    return tuple(places)


def _ends(within: tuple[float, float]) -> tuple[float, float]:
    ends = tuple(within)
    numbers = all(isinstance(end, Real) and math.isfinite(end) for end in ends)
    if len(ends) != 2 or not numbers or not ends[0] < ends[1]:
        raise ValueError("within= must be two finite numbers, the smaller one first.")
    return float(ends[0]), float(ends[1])


def _nearest_bins(edges: FloatArray, low: float, high: float) -> str:
    """End the message about a range that contains no whole bin of this fit."""
    shared = np.flatnonzero((edges[:-1] < high) & (edges[1:] > low))
    first, last = (0, len(edges) - 1) if shared.size == 0 else (shared[0], shared[-1] + 1)
    ends = [short_number(float(edges[place]), 10) for place in (first, last)]
    if shared.size == 0:
        return f"; its bins reach from {ends[0]} to {ends[1]}."
    return f"; the bins of this fit are wider there: name the range from {ends[0]} to {ends[1]}."


def bins_within(term: str, edges: FloatArray | None, within: tuple[float, float]) -> IndexArray:
    """Return the bins between two numbers, or raise ValueError if there are none."""
    if edges is None:
        raise ValueError(
            f"within= takes numbers, and {shorten(term)!r} has categories; use names=."
        )
    low, high = within
    slack = 1e-9 * max(abs(low), abs(high), 1e-300)
    inside = (edges[:-1] >= low - slack) & (edges[1:] <= high + slack)
    if not inside.any():
        raise ValueError(
            f"no bin of {shorten(term)!r} lies between {short_number(low)} and "
            f"{short_number(high)}{_nearest_bins(edges, low, high)}"
        )
    return np.flatnonzero(inside).astype(np.int64)


def _bins_named(term: ShapeFunction | PairAxis, names: tuple[str, ...]) -> IndexArray:
    labels = list(term.bin_labels)
    check_labels(term.name, labels, names)
    return np.array(sorted(labels.index(name) for name in names), dtype=np.int64)


def check_labels(term: str, labels: Sequence[str], names: Sequence[str]) -> None:
    """Raise ValueError if a term has no bin with one of these names."""
    for name in names:
        if name not in labels:
            raise ValueError(
                f"{shorten(term)!r} has no bin {shorten(name)!r}; its bins are "
                f"{listing(labels)}.{did_you_mean(name, labels)}"
            )


def check_class(of_class: str, classes: Sequence[str]) -> None:
    """Raise ValueError for an unknown class; no classes mean a single score."""
    if of_class and of_class not in classes:
        there = f"the classes here are {listing(classes)}." if classes else "there is one score "
        hint = did_you_mean(of_class, classes) if classes else "here. Omit of_class= to edit it."
        raise ValueError(f"of_class={shorten(of_class)!r}: no such class; {there}{hint}")


def checked_where(where: Any) -> Where | None:
    """Check the values chosen for the features of a pair.

    Parameters
    ----------
    where : dict, tuple or None
        For each feature, either two numbers, or one or more labels.

    Returns
    -------
    tuple or None
        The features sorted by name, each with its numbers or labels.

    Raises
    ------
    ValueError
        If the value is malformed.
    """
    if where is None:
        return None
    try:
        given = dict(where)
    except (TypeError, ValueError):
        given = {}
    if not given or not all(isinstance(name, str) for name in given):
        raise ValueError(
            "where= must name one or both features of the pair, such as {'age': (30, 50), 'job': "
            "['nurse']}."
        )
    return tuple((name, _chosen_values(name, given[name])) for name in sorted(given))


def _chosen_values(feature: str, chosen: Any) -> Ends | tuple[str, ...]:
    try:
        values = (chosen,) if isinstance(chosen, str) else tuple(chosen)
        if any(isinstance(value, Real) for value in values):
            return _ends(values)
        names = Selection(names=values).names
    except (TypeError, ValueError):
        raise ValueError(
            f"where= of {shorten(feature)!r} must be two finite numbers, the smaller one first, or "
            "one or more labels of bins."
        ) from None
    assert names is not None
    return names


def _side(chosen: Ends | tuple[str, ...] | None) -> Selection:
    if chosen is None:
        return Selection()
    if isinstance(chosen[0], str):
        return Selection(names=chosen)
    return Selection(within=chosen)


def where_words(where: Where) -> str:
    """Describe the chosen cells of a pair."""
    return " for " + " and ".join(f"{shorten(name)}{_values_words(v)}" for name, v in where)


def _values_words(chosen: Ends | tuple[str, ...]) -> str:
    side = _side(chosen)
    return side.words if side.names is None else f" {listing(side.names, _LISTED)}"


def cells_of(pair: PairCurve, where: dict[str, Ends | tuple[str, ...]]) -> IndexArray:
    """Return the indices of the chosen cells of a pair, counting row by row.

    Parameters
    ----------
    pair : PairCurve
    where : dict
        For each feature, either two numbers, or one or more labels. If a feature is not named, all
        of its value bins are chosen.

    Returns
    -------
    ndarray of int64
        Indices of the cells, in increasing order.

    Raises
    ------
    ValueError
        If the pair does not have these features or bins.
    """
    if unknown := [name for name in where if name not in pair.feature_names]:
        first, second = map(shorten, pair.feature_names)
        raise ValueError(
            f"where= names {shorten(unknown[0])!r}; the features of {shorten(pair.name)!r} are "
            f"{first!r} and {second!r}."
        )
    rows, columns = (_side(where.get(axis.name)).of(axis) for axis in pair.axes)
    return np.asarray((rows[:, None] * pair.axes[1].n_bins + columns).ravel())
