"""One claim, evaluated at every epsilon of a comparison."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pandas as pd

from dpexplain.explain._record import Record
from dpexplain.explain._text import upper_number
from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.additive.shape_function import ShapeFunction
from dpexplain.explain.claims import Claim, bin_place, claim
from dpexplain.explain.display import Display
from dpexplain.explain.guarantee import Guarantee


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ClaimStrip(Record):
    """One claim, evaluated at several epsilons.

    Parameters
    ----------
    epsilons : sequence of float
        Epsilons of the fits, in ascending order.
    claims : sequence of Claim or None
        One claim for each epsilon. Bins differ between fits: a claim is None if the fit at this
        epsilon lacks bins that correspond to those of the chosen claim, or merges them.
    chosen : int
        Index of the chosen claim. Another claim holds only if it states the same direction or rank
        as the chosen claim.
    """

    epsilons: tuple[float, ...]
    claims: tuple[Claim | None, ...]
    chosen: int

    @property
    def asked(self) -> Claim:
        """The claim with the index `chosen`, with which all others are compared."""
        found = self.claims[self.chosen]
        assert found is not None  # the claim exists in the fit for which it was made
        return found

    @property
    def states(self) -> tuple[str, ...]:
        """State of the claim at each epsilon.

        Each state is "holds", "reversed", "may be noise", "may be noise or hidden by shrinkage" (if
        the curve has no effect estimate), or "not resolved" (if the claim is None).
        """
        return tuple(_state(each, self.asked) for each in self.claims)

    @property
    def holds_from(self) -> float | None:
        """Smallest epsilon at and above which the claim always holds.

        The result is None if the claim does not hold at the largest epsilon.
        """
        found = None
        for epsilon, state in zip(reversed(self.epsilons), reversed(self.states), strict=True):
            if state != "holds":
                break
            found = epsilon
        return found

    @property
    def words(self) -> str:
        """Sentences that state the chosen claim, and the epsilons at which it holds."""
        return f"{self.asked.words} {self.strip_words}"

    @property
    def strip_words(self) -> str:
        """A sentence that states the epsilons at which the claim holds.

        It starts with a warning if any of the claims is not private.
        """
        return self._weakest.marked(self._held_words)

    @property
    def _weakest(self) -> Guarantee:
        """Guarantee of the first non-private claim or, if all are private, of the first."""
        given = [each.guarantee for each in self.claims if each is not None]
        return min(given, key=lambda guarantee: guarantee.private)

    @property
    def _held_words(self) -> str:
        holding = [e for e, s in zip(self.epsilons, self.states, strict=True) if s == "holds"]
        if not holding:
            return "The claim holds at no ε shown."
        if len(holding) == len(self.claims):
            return "The claim holds at every ε shown."
        if self.holds_from == holding[0]:
            return f"The claim holds from ε = {upper_number(holding[0])}."
        listed = ", ".join(upper_number(epsilon) for epsilon in holding)
        return f"The claim holds at ε = {listed} only."

    def frame(self) -> pd.DataFrame:
        """Return a table with one row per epsilon.

        Returns
        -------
        DataFrame
            Columns of :meth:`Claim.frame`, followed by ``state``, which contains the values of
            :attr:`states`. If the claim is not resolved at an epsilon, the row for that epsilon
            contains only the epsilon and the state; all other values are missing.
        """
        known = [each.frame() for each in self.claims if each is not None]
        resolved = [k for k, each in enumerate(self.claims) if each is not None]
        table = pd.concat(known, ignore_index=True).set_index(pd.Index(resolved))
        table = table.reindex(range(len(self.claims)))
        return table.assign(epsilon=list(self.epsilons), state=list(self.states))

    def __str__(self) -> str:
        """Return the sentences of `words`."""
        return self.words

    def __repr__(self) -> str:
        """Return the sentences, and point to :meth:`frame` for the numbers."""
        return f"ClaimStrip({self.words!r}; see .frame())"


def _state(each: Claim | None, asked: Claim) -> str:
    if each is None:
        return "not resolved"
    same = (
        each.estimate == asked.estimate
        if each.kind == "rank"
        else each.estimate * asked.estimate > 0
    )
    if each.holds:
        return "holds" if same else "reversed"
    return "may be noise" if each.basis == "effect" else "may be noise or hidden by shrinkage"


def claim_strip(
    comparison: Display,
    term: str | None = None,
    first: Any = None,
    second: Any = None,
    *,
    record: pd.DataFrame | None = None,
    threshold: float | None = None,
    samples_public: bool = False,
    epsilon: float | None = None,
    repeat: int = 0,
) -> ClaimStrip:
    """Evaluate the same claim at every epsilon of a comparison.

    Parameters
    ----------
    comparison : Comparison
        Comparison whose private fits are used. If there are several classes, pass the comparison of
        one class.
    term, first, second, record, threshold, samples_public : optional
        See :func:`dpexplain.explain.claim`.
    epsilon : float or None, default=None
        Epsilon of the fit that determines the claimed direction or rank; None for the largest
        epsilon.
    repeat : int, default=0
        Index of the fit to use among the repeats at each epsilon. If an epsilon has fewer repeats,
        its last fit is used.

    Returns
    -------
    ClaimStrip

    Raises
    ------
    KeyError, ValueError
        As in :func:`dpexplain.explain.claim`, or if the comparison has no fit with this epsilon.

    Examples
    --------
    >>> print(claim_strip(comparison, "age", 3, 7))  # doctest: +SKIP
    """
    fits = {e: rows for e, rows in comparison.fits_by_epsilon().items() if math.isfinite(e)}
    epsilons = sorted(fits)
    if not epsilons:
        raise ValueError("claims over ε need a comparison; pass one explanation to claim().")
    wanted = epsilons[-1] if epsilon is None else epsilon
    if wanted not in epsilons:
        known = ", ".join(f"{each:g}" for each in epsilons)
        raise KeyError(f"no fit with epsilon={wanted!r}; the epsilons are {known}.")
    chosen = [fits[each][min(repeat, len(fits[each]) - 1)] for each in epsilons]
    place = epsilons.index(wanted)
    fit = _additive(chosen[place])
    about: dict[str, Any] = {
        "record": record,
        "threshold": threshold,
        "samples_public": samples_public,
    }
    asked = claim(fit, term, first, second, **about)

    def elsewhere(other: GlobalExplanation) -> Claim | None:
        if term is None:
            return claim(other, **about)
        bins = _bins_elsewhere(fit[term], other[term], first, second)
        return None if bins is None else claim(other, term, *bins)

    claims = [asked if each is fit else elsewhere(_additive(each)) for each in chosen]
    return ClaimStrip(tuple(map(float, epsilons)), tuple(claims), place)


def _additive(fit: Any) -> GlobalExplanation:
    if isinstance(fit, GlobalExplanation):
        return fit
    raise ValueError(
        "claims are about one class; pass comparison.for_class(label), or a comparison of "
        f"additive models, not of {type(fit).__name__}."
    )


def _bins_elsewhere(
    here: ShapeFunction, there: ShapeFunction, first: Any, second: Any
) -> tuple[Any, ...] | None:
    """Find the corresponding bins in another fit; None if one is missing or merged."""
    if first is None:
        return ()
    if isinstance(first, tuple):
        return _range_elsewhere(here, there, first)
    named = [bin_place(here, each) for each in (first, second) if each is not None]
    bins = tuple(matched_bin(here, place, there) for place in named)
    return None if None in bins or len(set(bins)) < len(bins) else bins


def _range_elsewhere(
    here: ShapeFunction, there: ShapeFunction, ends: tuple[Any, ...]
) -> tuple[tuple[int, int]] | None:
    """Find the range of bins in another fit that corresponds to a range of bins.

    The range in the other fit extends from the first to the last bin whose midpoint or label is in
    the given range. The result is None if there is no such bin, or if the range in the other fit
    covers the whole term, because a claim compares a range with the bins outside it.
    """
    first, last = sorted(bin_place(here, end) for end in ends)
    bins = [matched_bin(there, k, here) for k in range(there.n_value_bins)]
    inside = [k for k, place in enumerate(bins) if place is not None and first <= place <= last]
    if not inside or inside[-1] - inside[0] + 1 == there.n_bins:
        return None
    return ((inside[0], inside[-1]),)


def matched_bin(here: ShapeFunction, place: int, there: ShapeFunction) -> int | None:
    """Find the bin in another fit that corresponds to a given bin.

    For an interval, this is the bin that contains the midpoint of the interval; for any other bin,
    it is the bin with the same label.

    Parameters
    ----------
    here : ShapeFunction
        A term in one fit.
    place : int
        Index of a bin in this term.
    there : ShapeFunction
        The same term in another fit.

    Returns
    -------
    int or None
        Index of the corresponding bin in the other fit; None if there is none.
    """
    if here.bin_edges is not None and place < here.n_value_bins and there.bin_edges is not None:
        middle = (here.bin_edges[place] + here.bin_edges[place + 1]) / 2.0
        found = int(np.searchsorted(there.bin_edges, middle, side="right")) - 1
        return min(max(found, 0), there.n_value_bins - 1)
    label = here.bin_labels[place]
    return there.bin_labels.index(label) if label in there.bin_labels else None
