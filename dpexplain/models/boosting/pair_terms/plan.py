"""Public settings of the pair terms: which pairs are allowed, and their cost."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from itertools import combinations
from numbers import Integral
from typing import Literal, TypeAlias

import numpy as np

from dpexplain._utils.validation import shown
from dpexplain.explain._text import did_you_mean, listing, shorten
from dpexplain.models.additive.terms import Direction
from dpexplain.models.boosting.objectives import Objective
from dpexplain.models.boosting.recipe import Schedule
from dpexplain.schema import Schema

Pairs: TypeAlias = int | Literal["auto"] | Sequence[tuple[str, str] | str]

AUTO = 3
"""Maximum number of pairs for ``pairs="auto"``."""

_FIRST_SHARE = 0.05
_SECOND_SHARE = 0.1
_GRID_SHARE = 0.3


@dataclass(frozen=True)
class PairPlan:
    """Public plan for the pair terms of a fit.

    Attributes
    ----------
    declared : tuple of (int, int)
        Pairs of features that the user declared; empty if pairs are chosen privately.
    candidates : tuple of int
        Features that may be part of a chosen pair.
    most : int
        Maximum number of pairs.
    may_skip : bool, default=False
        Whether the fit may skip the choice if there are too few records for one, and give up the
        chosen pairs if the passes that they replace could gain more.
    """

    declared: tuple[tuple[int, int], ...]
    candidates: tuple[int, ...]
    most: int
    may_skip: bool = False

    @property
    def choice_share(self) -> float:
        """Share of mu squared spent on the first look at the candidates.

        This is a share of the boosting phase's mu squared, excluding the parts for pair sums and
        calibration.
        """
        return 0.0 if self.declared else _FIRST_SHARE

    @property
    def second_share(self) -> float:
        """Share of mu squared for a second look, relative to the total of `choice_share`."""
        return 0.0 if self.declared else _SECOND_SHARE

    @property
    def grid_share(self) -> float:
        """Share of mu squared for the grids, relative to the total of `choice_share`."""
        return _GRID_SHARE


def constraint_words(pairs: Pairs, schema: Schema, directions: Sequence[Direction | None]) -> str:
    """Say which features no chosen pair can contain; empty if there are none."""
    names = [n for n, d in zip(schema.feature_names, directions, strict=True) if d is not None]
    if not names or not isinstance(pairs, int | Integral | str):
        return ""
    return (
        f"pairs={shown(pairs)} makes no pairs with features that have monotone_constraints "
        f"({listing(names)}); remove a constraint to allow its feature."
    )


def main_part(plan: Schedule, share: float) -> Schedule:
    """Return the part of a schedule that precedes the fitting of the pairs.

    Parameters
    ----------
    plan : Schedule
        Schedule of a fit without pairs, with at least two passes.
    share : float
        Share of the passes to replace with pair terms.

    Returns
    -------
    Schedule
        Schedule with at least one pass, and at least one pass fewer than `plan`.
    """
    n_fewer = min(max(1, round(share * plan.n_epochs)), plan.n_epochs - 1)
    return replace(plan, n_epochs=plan.n_epochs - n_fewer)


def checked_pairs(
    pairs: Pairs, schema: Schema, directions: Sequence[Direction | None], *, auto: int = AUTO
) -> PairPlan | None:
    """Validate the parameter `pairs`.

    Parameters
    ----------
    pairs : int, "auto" or sequence of (str, str)
    schema : Schema
    directions : sequence of {"increasing", "decreasing", None}
        Required direction of each curve; a constrained feature cannot be part of a pair.
    auto : int, default=3
        Maximum number of pairs for ``pairs="auto"``.

    Returns
    -------
    PairPlan or None
        None if there are no pairs.

    Raises
    ------
    ValueError
        If `pairs` is not of a type listed above, or is a negative number; if a declared pair
        contains an unknown name, a constrained feature or the same feature twice; if a pair is
        declared twice; or if pairs are to be chosen, but fewer than two features are
        unconstrained.
    """
    free = tuple(k for k, d in enumerate(directions) if d is None)
    if not isinstance(pairs, int | Integral | str):
        declared = _declared(pairs, schema, directions)
        return PairPlan(declared, (), len(declared)) if declared else None
    most = auto if pairs == "auto" else pairs
    if isinstance(most, str | bool | np.bool_) or most < 0:
        raise ValueError(
            f"pairs={shown(pairs)} must be 'auto', a number of pairs such as 2, or a list of pairs "
            "of feature names such as [('age', 'income')]."
        )
    if most == 0:
        return None
    if len(free) < 2:
        raise ValueError(
            f"pairs={shown(pairs)} needs two features without monotone_constraints, and the schema "
            f"has {len(free)}; use pairs=0, or remove a constraint."
        )
    most = min(int(most), len(list(combinations(free, 2))))
    return PairPlan((), free, most, may_skip=pairs == "auto")


def refused_targets(objective: Objective) -> tuple[tuple[bool, str, str], ...]:
    """Return the targets that do not work with pairs, for `check_works_with_pairs`."""
    return (
        (objective.loss.n_scores > 1, "more than two classes", "a target of two classes"),
        (objective.link == "log", "objective='poisson'", "objective='squared'"),
    )


def check_works_with_pairs(*refused: tuple[bool, str, str]) -> None:
    """Raise ValueError if a setting does not work with pairs.

    Parameters
    ----------
    *refused : tuple of (bool, str, str)
        Whether the setting is given, what the error message calls it, and what to use instead.
    """
    for given, words, instead in refused:
        if given:
            raise ValueError(f"pairs does not work with {words}; use {instead}, or pairs=0.")


def _declared(
    pairs: Sequence[tuple[str, str] | str], schema: Schema, directions: Sequence[Direction | None]
) -> tuple[tuple[int, int], ...]:
    """Return declared pairs as pairs of feature indices."""
    names = list(schema.feature_names)
    found: list[tuple[int, int]] = []
    for pair in _listed(pairs, set(names)):
        for name in pair:
            if name not in names:
                raise ValueError(
                    f"pairs: no feature {shorten(name)!r} in the schema; its features are "
                    f"{listing(names)}.{did_you_mean(name, names)}"
                )
            if directions[names.index(name)] is not None:
                raise ValueError(
                    f"pairs: {name!r} has a monotone constraint, which a pair with {name!r} would "
                    "break; remove the pair or the constraint."
                )
        first, second = sorted(names.index(name) for name in pair)
        if first == second:
            raise ValueError(f"pairs: {pair!r} names one feature twice; name two features.")
        if (first, second) in found:
            raise ValueError(f"pairs: {pair!r} is listed twice; list every pair once.")
        found.append((first, second))
    return tuple(found)


def _listed(pairs: object, names: Set[str]) -> list[tuple[str, ...]]:
    """Return declared pairs, given as two names or as one term, as tuples."""
    try:
        listed = [_parted(pair, names) if isinstance(pair, str) else tuple(pair) for pair in pairs]  # type: ignore[attr-defined]
    except TypeError:
        listed = [()]
    if not all(len(pair) == 2 and all(isinstance(name, str) for name in pair) for pair in listed):
        raise ValueError(
            f"pairs={shown(pairs)} must be 'auto', a number of pairs such as 2, or a list of pairs "
            "of feature names such as [('age', 'income')]."
        )
    return listed


def _parted(term: str, names: Set[str]) -> tuple[str, ...]:
    """Divide a term such as "age & job"; names of features may hold " & " too."""
    words = term.split(" & ")
    ways = [(" & ".join(words[:k]), " & ".join(words[k:])) for k in range(1, len(words))]
    known = [way for way in ways if set(way) <= names]
    if len(known) == 1 or len(ways) == 1:
        return (known or ways)[0]
    return ()
