"""The bins to which a claim refers."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from dpexplain.explain._record import FloatArray
from dpexplain.explain._text import EN_DASH, did_you_mean, listing, shorten
from dpexplain.explain.additive._binned import Binned
from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.additive.pair_curve import PairCurve
from dpexplain.explain.additive.shape_function import ShapeFunction
from dpexplain.explain.claims.claim import Basis
from dpexplain.explain.noise_model import NoiseModel
from dpexplain.schema import Categorical
from dpexplain.tables.cells import DATE_UNIT, number_in

_PERIOD = re.compile(r"(\d{4})(-(?:0[1-9]|1[0-2]))?")  # a year or a month

NEEDED = "Claims need a private model with a noise band."
AS_RELEASED = "Make the claim about the fit as released, before the edits."


def claim_basis(term: ShapeFunction | PairCurve) -> Basis | None:
    """Return the basis of claims about a term or a pair; None if there is none.

    Parameters
    ----------
    term : ShapeFunction or PairCurve

    Returns
    -------
    {"effect", "noise"} or None
    """
    if term.released is not None:
        return None
    if term.effect is not None:
        return "effect"
    return None if term.total_std is None else "noise"


class ClaimedValues(NamedTuple):
    """Values of a curve with their joint errors.

    Parameters
    ----------
    basis : {"effect", "noise"}
    values, std : ndarray of shape (n_bins,)
        Value of each bin and its standard deviation, in units of the score.
    joint : NoiseModel or None
        Joint errors of all terms; None if unknown.
    """

    basis: Basis
    values: FloatArray
    std: FloatArray
    joint: NoiseModel | None


def claimed_values(explanation: GlobalExplanation, term: ShapeFunction) -> ClaimedValues:
    """Return the values to which claims about a term refer.

    Parameters
    ----------
    explanation : GlobalExplanation
    term : ShapeFunction

    Returns
    -------
    ClaimedValues

    Raises
    ------
    ValueError
        If the errors are unknown, or the curve was edited.
    """
    basis = claim_basis(term)
    if basis == "effect":
        assert term.effect is not None
        assert term.effect_std is not None
        return ClaimedValues(basis, term.effect, term.effect_std, explanation.effect_scatter)
    if basis == "noise":
        assert term.total_std is not None
        return ClaimedValues(basis, term.contribution, term.total_std, explanation.noise)
    raise no_claim(term)


def no_claim(term: ShapeFunction | PairCurve) -> ValueError:
    """Return the error for a term or pair about which there is no claim.

    Parameters
    ----------
    term : ShapeFunction or PairCurve

    Returns
    -------
    ValueError
    """
    edited = term.released is not None
    why = f"it was edited by hand. {AS_RELEASED}" if edited else f"its errors are unknown. {NEEDED}"
    return ValueError(f"no claim about {shorten(term.name)!r}: {why}")


class Place(int):
    """Index of a bin, as opposed to a number that lies in one."""


def meant_bins(explanation: GlobalExplanation, term: str, given: Any) -> Any:
    """Return a bin or a range in which aliases, months and years are resolved.

    Parameters
    ----------
    explanation : GlobalExplanation
    term : str
    given : str, number, date, tuple or None
        As in :func:`dpexplain.explain.claim`.

    Returns
    -------
    str, number, date, tuple or None
        Categories for aliases of the schema; the first and the last day of a month or a year.
    """
    if isinstance(given, Place):  # an index, which is no alias even if a code has its number
        return given
    shape = explanation[term]
    if shape.bin_edges is not None and shape.unit == DATE_UNIT:
        return _days(shape, given)
    if isinstance(given, tuple):
        return tuple(meant_bins(explanation, term, each) for each in given)
    schema = explanation.schema
    feature = None if schema is None else schema.features.get(term)
    if not isinstance(feature, Categorical) or str(given) in shape.bin_labels:
        return given
    return dict(feature.aliases).get(str(given), given)


def _days(term: ShapeFunction, given: Any) -> Any:
    """Return the first and last day of a range in which months or years are named."""
    ends = given if isinstance(given, tuple) else (given,)
    periods = [_PERIOD.fullmatch(each) if isinstance(each, str) else None for each in ends]
    if not any(periods):
        return given
    assert term.bin_edges is not None
    days: list[float] = []
    for end, period in zip(ends, periods, strict=True):
        if period is None:
            days.append(number_in(DATE_UNIT)(end))
            continue
        first = np.datetime64(period[1] if period[2] is None else period[0])  # a year or a month
        days += [float(day.astype("M8[D]").astype(int)) for day in (first, first + 1)]
        days[-1] -= 1.0
    low, high = max(min(days), term.bin_edges[0]), min(max(days), term.bin_edges[-1])
    return (low, high) if low <= high else given  # NaN, and months beyond the bounds, as given


def bin_place(term: Binned, given: Any) -> int:
    """Return the index of a bin, given its label or a value in it.

    Parameters
    ----------
    term : ShapeFunction or PairAxis
    given : str, number, date or Place
        Label; or, if no bin has this label, a number or a date that lies in the bin.

    Returns
    -------
    int

    Raises
    ------
    KeyError
        If the term does not have the requested bin.
    """
    if isinstance(given, Place):
        return int(given)
    labels, name = term.bin_labels, str(given)
    if name in labels:
        return labels.index(name)
    value = np.nan
    if term.bin_edges is not None:
        value = number_in(term.unit)(given)
        if term.bin_edges[0] <= value <= term.bin_edges[-1]:
            return int(term.bin_index([value])[0])
    hint = did_you_mean(name, labels) if np.isnan(value) else ""
    if isinstance(given, list):
        hint = " A range is a tuple, (first bin, last bin)."
    elif term.bin_edges is not None and (np.isnan(value) or term.unit == DATE_UNIT):
        number = "a number with a decimal point" if "," in name else "a number"
        kind = "a date as YYYY-MM-DD" if term.unit == DATE_UNIT else number
        month = ", a month as YYYY-MM" if term.unit == DATE_UNIT else ""
        ends = f"{month}, or the two ends of a range" * isinstance(term, ShapeFunction)
        hint = f" Write {kind}{ends}.{hint}"
    raise KeyError(
        f"no bin {shorten(name)!r} of {shorten(term.name)!r}; {_bins_words(term)}.{hint}"
    )


def _bins_words(term: Binned) -> str:
    """List the categories, or the range of numbers and dates with the special bins."""
    labels = term.bin_labels
    if term.bin_edges is None:
        return f"the bins are {listing(labels)}"
    special = "".join(f" and {label!r}" for label in labels[term.n_value_bins :])
    return f"its bins cover {span_label(term, 0, term.n_value_bins - 1)}{special}"


def range_bins(term: ShapeFunction, ends: tuple[Any, ...]) -> tuple[int, int]:
    """Return the first and the last bin of a range of value bins.

    Parameters
    ----------
    term : ShapeFunction
    ends : tuple of two str, number or date
        Both ends, as in `bin_place`, in either order.

    Returns
    -------
    tuple of two int

    Raises
    ------
    KeyError
        If the term does not have one of the bins.
    ValueError
        If there are not two ends, or the range contains special bins or all bins.
    """
    if len(ends) != 2:
        raise ValueError(f"a range is (first bin, last bin), got {ends!r}.")
    first, last = sorted(bin_place(term, end) for end in ends)
    if last >= term.n_value_bins or last - first + 1 == term.n_bins:
        raise ValueError(
            f"{span_label(term, first, last)!r} is not a range of {shorten(term.name)!r}; a range "
            "must consist of value bins and leave at least one bin to compare with."
        )
    return first, last


def two_spans(term: ShapeFunction, first: Any, second: Any) -> tuple[int, ...]:
    """Return the first and last bins of two ranges that are compared with each other.

    Parameters
    ----------
    term : ShapeFunction
    first, second : str, number, date, or tuple of two of them
        A range as in :func:`range_bins`, or one value bin.

    Returns
    -------
    tuple of four int

    Raises
    ------
    KeyError, ValueError
        As in :func:`range_bins`, or if the ranges have a bin in common.
    """
    spans = [range_bins(term, ends_of(each)) for each in (first, second)]
    if overlapping(*spans):
        one, other = (span_label(term, *ends) for ends in spans)
        firsts, lasts = zip(*spans, strict=True)
        shared = span_label(term, max(firsts), min(lasts))
        raise ValueError(
            f"ranges {one!r} and {other!r} of this fit share {shared!r}; name two farther apart, "
            "with no bin in common."
        )
    return (*spans[0], *spans[1])


def ends_of(given: Any) -> tuple[Any, Any]:
    """Return the ends of a range; a single bin is both of its ends."""
    return given if isinstance(given, tuple) else (given, given)


def overlapping(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Return whether two ranges (first and last bin) have a bin in common."""
    return max(one[0], other[0]) <= min(one[1], other[1])


def span_label(binned: Binned, first: int, last: int) -> str:
    """Return the label of a bin or a range: ``"24 – 35"``, ``"low to high"``."""
    one, other = binned.bin_labels[first], binned.bin_labels[last]
    if first == last:
        return one
    if binned.bin_edges is None or last >= binned.n_value_bins:
        return f"{one} to {other}"
    dash = f" {EN_DASH} "
    return dash.join((one.split(dash)[0], other.split(dash)[-1]))


def matched_bin(here: Binned, place: int, there: Binned) -> int | None:
    """Find the bin in another fit that corresponds to a given bin.

    For an interval, this is the bin that contains the midpoint of the interval; for any other bin,
    it is the bin with the same label.

    Parameters
    ----------
    here : ShapeFunction or PairAxis
        The bins of a feature in one fit.
    place : int
        Index of one of them.
    there : ShapeFunction or PairAxis
        The bins of the same feature in another fit.

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


def matched_span(here: Binned, span: tuple[int, int], there: Binned) -> tuple[int, int] | None:
    """Find the range of bins in another fit that corresponds to a range of bins.

    For a range of one bin, this is the bin found by :func:`matched_bin`; otherwise, it extends from
    the first to the last bin whose midpoint or label is in the range.

    Parameters
    ----------
    here : ShapeFunction or PairAxis
        The bins of a feature in one fit.
    span : tuple of two int
        First and last bin of the range.
    there : ShapeFunction or PairAxis
        The bins of the same feature in another fit.

    Returns
    -------
    tuple of two int or None
        First and last bin of the range in the other fit; None if there is none.
    """
    first, last = span
    if first == last:
        found = matched_bin(here, first, there)
        return None if found is None else (found, found)
    matched = [matched_bin(there, k, here) for k in range(len(there.bin_labels))]
    inside = [k for k, place in enumerate(matched) if place is not None and first <= place <= last]
    return (inside[0], inside[-1]) if inside else None
