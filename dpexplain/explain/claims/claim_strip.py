"""One claim, evaluated at every epsilon of a comparison."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from dpexplain._utils.guarantee_words import upper_number
from dpexplain._utils.lazy import pd
from dpexplain.explain import _html
from dpexplain.explain._record import Record
from dpexplain.explain._text import short_number
from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.additive.shape_function import ShapeFunction
from dpexplain.explain.claims.claim import Claim
from dpexplain.explain.claims.claimed_bins import (
    Place,
    bin_place,
    ends_of,
    matched_bin,
    matched_span,
    meant_bins,
    overlapping,
)
from dpexplain.explain.claims.claiming import claim
from dpexplain.explain.claims.fits import Additive, fits_of, known_epsilon
from dpexplain.explain.claims.pair_claims import (
    pair_claim,
    region_elsewhere,
    region_of,
)
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

    Examples
    --------
    >>> from dpexplain import DPExplainableBoostingClassifier, sweep
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(schema=stays.schema)
    >>> comparison = sweep(model, stays.X, stays.y, epsilons=(0.5, 4), progress=False)
    >>> from dpexplain.explain import claim_strip
    >>> strip = claim_strip(comparison, "sex", "female", "male")
    >>> strip.epsilons, len(strip.claims)
    ((0.5, 4.0), 2)
    """

    epsilons: tuple[float, ...]
    claims: tuple[Claim | None, ...]
    chosen: int

    @property
    def asked(self) -> Claim:
        """The claim with the index `chosen`, to which all others are compared."""
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
        """Guarantee of the first non-private claim; if all are private, of the first."""
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

    def _repr_html_(self) -> str:
        rows = []
        for epsilon, state, each in zip(self.epsilons, self.states, self.claims, strict=True):
            numbers = [] if each is None else [each.estimate, each.low, each.high]
            texts = [short_number(number, 3) for number in numbers] or [""] * 3
            rows.append([upper_number(epsilon), state, *texts])
        head = ("ε", "state", "estimate", "low", "high")
        table = _html.table(head, rows, (True, False, True, True, True))
        frequencies = _html.note(self.asked.frequencies)
        return _html.box(_html.line(self.words), frequencies, table)


def _state(each: Claim | None, asked: Claim) -> str:
    if each is None:
        return "not resolved"
    same = (
        each.estimate == asked.estimate
        if each.kind == "rank"
        else each.estimate * asked.estimate > 0
    )
    if each.kind == "decision":
        same = same and each.first == asked.first  # the same class is predicted
    if each.holds:
        return "holds" if same else "reversed"
    return "may be noise" if each.basis == "effect" else "may be noise or hidden by shrinkage"


def claim_strip(
    comparison: Display,
    term: str | None = None,
    first: Any = None,
    second: Any = None,
    *,
    extreme: Literal["highest", "lowest"] | None = None,
    record: pd.DataFrame | None = None,
    threshold: float | None = None,
    samples_public: bool = False,
    epsilon: float | None = None,
    repeat: int = 0,
) -> ClaimStrip:
    """Evaluate the same claim at every epsilon of a comparison.

    Parameters
    ----------
    comparison : Comparison or MulticlassComparison
        Comparison whose private fits are used. With several classes, a claim about a record states
        which class is the most likely one; for a claim about a term, pass the comparison of one
        class.
    term, first, second, extreme, record, threshold, samples_public : optional
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
    >>> from dpexplain import DPExplainableBoostingClassifier, sweep
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPExplainableBoostingClassifier(schema=stays.schema)
    >>> comparison = sweep(model, stays.X, stays.y, epsilons=(0.5, 4), progress=False)
    >>> from dpexplain.explain import claim_strip
    >>> strip = claim_strip(comparison, "sex", "female", "male")
    >>> print(strip)
    At ε = 4, ...
    """
    fits = fits_of(comparison)
    epsilons = list(fits)
    chosen = [rows[min(repeat, len(rows) - 1)] for rows in fits.values()]
    place = epsilons.index(known_epsilon(epsilons, epsilon))
    fit = chosen[place]
    about: dict[str, Any] = {
        "extreme": extreme,
        "record": record,
        "threshold": threshold,
        "samples_public": samples_public,
    }
    asked = claim(fit, term, first, second, **about)
    if extreme is not None and first is None:
        first = asked.first  # every fit is asked about the same bin

    def elsewhere(other: Additive) -> Claim | None:
        if term is None:
            return claim(other, **about)
        assert isinstance(fit, GlobalExplanation)  # no claim about a term of all classes
        assert isinstance(other, GlobalExplanation)
        if any(pair.name == term for pair in fit.pairs):
            return _pair_elsewhere(fit, other, term, first, second)
        named = [meant_bins(fit, term, each) for each in (first, second)]
        bins = _bins_elsewhere(fit[term], other[term], *named)
        if bins is None or (extreme and _covers_values(other[term], bins[0])):
            return None
        return claim(other, term, *bins, extreme=extreme)

    claims = [asked if each is fit else elsewhere(each) for each in chosen]
    return ClaimStrip(tuple(map(float, epsilons)), tuple(claims), place)


def _pair_elsewhere(
    fit: GlobalExplanation, other: GlobalExplanation, name: str, first: Any, second: Any
) -> Claim | None:
    """Make a claim about a pair in another fit; None if that fit lacks the cells."""
    if not any(pair.name == name for pair in other.pairs):
        return None
    here, there = fit.pair(name), other.pair(name)
    named = [region_of(here, each) for each in (first, second) if each is not None]
    regions = [region_elsewhere(here, region, there) for region in named]
    found = [region for region in regions if region is not None]
    if len(found) < len(named) or len(set(found)) < len(found):
        return None
    return pair_claim(other, there, *found)


def _bins_elsewhere(
    here: ShapeFunction, there: ShapeFunction, first: Any, second: Any
) -> tuple[Any, ...] | None:
    """Find the corresponding bins in another fit; None if one is missing or merged."""
    if first is None:
        return ()
    sides = [each for each in (first, second) if each is not None]
    found = [_side_elsewhere(here, there, each) for each in sides]
    matched = [each for each in found if each is not None]
    apart = len(matched) < 2 or not overlapping(*(ends_of(each) for each in matched))
    return tuple(matched) if apart and len(matched) == len(sides) else None


def _covers_values(there: ShapeFunction, bins: int | tuple[int, int]) -> bool:
    """Return whether bins cover all value bins, leaving none to compare with."""
    first, last = ends_of(bins)
    return last - first + 1 >= there.n_value_bins


def _side_elsewhere(
    here: ShapeFunction, there: ShapeFunction, side: Any
) -> Place | tuple[Place, Place] | None:
    """Find the bin or the range in another fit that corresponds to a bin or a range.

    The result is None if there is none, or if the range in the other fit covers the whole term,
    because a claim compares a range with bins outside it.
    """
    if not isinstance(side, tuple):
        same = matched_bin(here, bin_place(here, side), there)
        return None if same is None else Place(same)
    first, last = sorted(bin_place(here, end) for end in side)
    found = matched_span(here, (first, last), there)
    if found is None or found[1] - found[0] + 1 == there.n_bins:
        return None
    return Place(found[0]), Place(found[1])
