"""Claims about the sign of the mean weight in a region of a filter.

The coefficients of filters have independent noise, so the error of the mean weight in a region is
known exactly, with all correlations between its pixels. Intervals are simultaneous for all
rectangles of one map. Population effects are not estimated for filters, so claims take only the
noise in the released weights into account. Numbers are rounded as in dashboards, which therefore
make the same claims.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dpexplain.explain._by_class import class_position
from dpexplain.explain._record import FloatArray
from dpexplain.explain._text import shorten, signed_number
from dpexplain.explain.claims.claim import Claim
from dpexplain.explain.claims.claim_strip import ClaimStrip
from dpexplain.explain.claims.claim_words import doubt, sentence
from dpexplain.explain.claims.fits import known_epsilon
from dpexplain.explain.display import Display
from dpexplain.explain.filters.filter_bank import FilterBank
from dpexplain.explain.filters.filter_noise import FilterNoise
from dpexplain.explain.filters.steps import in_steps
from dpexplain.explain.noise_model import half_width

Rectangle: TypeAlias = tuple[tuple[int, int], tuple[int, int]]
"""First and last row, and first and last column."""


def filter_claim(
    bank: FilterBank,
    label: object,
    region: Any,
    *,
    against: object | None = None,
    place: int | None = None,
    against_place: int | None = None,
) -> Claim:
    """Create a claim about the mean weight in a region of a filter.

    Parameters
    ----------
    bank : FilterBank
        Filters of a private model whose noise is known.
    label : object
        Name of the class.
    region : tuple of two tuples of two int, str or int
        For inputs on a grid, the first and last row, and the first and last column, counting from
        0; further dimensions are included. Otherwise, the name or index of an input.
    against : object or None, default=None
        Name of another class, whose mean filter is subtracted.
    place : int or None, default=None
        Index of one filter of the class; None for the mean filter.
    against_place : int or None, default=None
        Index of a filter that is subtracted from the filter `place`. It is a filter of the class
        `against`, or of the same class if `against` is None.

    Returns
    -------
    Claim
        A claim of kind "sign" that compares the mean weight with zero.

    Raises
    ------
    KeyError
        If a class or input does not exist.
    ValueError
        If the noise is unknown, the region does not exist, or a single filter would be compared
        with a mean filter or with itself.

    Examples
    --------
    >>> from dpexplain import DPLocallyLinearClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPLocallyLinearClassifier(epsilon=4, schema=stays.schema, n_public=500)
    >>> bank = model.fit(stays.X, stays.y).explain_global()
    >>> from dpexplain.explain import filter_claim
    >>> stated = filter_claim(bank, "yes", "age", against="no")
    >>> stated.low <= stated.estimate <= stated.high
    True
    """
    if bank.noise is None:
        raise ValueError(
            "no claim about filters without known noise; pass the filters of a private model."
        )
    if against_place is None and against is not None and place is not None:
        raise ValueError(
            "a single filter can be compared only with another single filter: add against_place=, "
            "or omit place= to compare mean filters."
        )
    own = class_position(bank.classes, label)
    other = own if against is None else class_position(bank.classes, against)
    loads, named = _loads(bank, region)
    if against is not None or against_place is not None:
        shown = bank.contrast(
            bank.classes[own], bank.classes[other], place=place, against_place=against_place
        )
    else:
        shown = bank.class_mean(label) if place is None else bank.filter(label, place)
    if place is None:
        estimate, error = _of_means(bank, loads, own, None if against is None else other)
    else:
        minus = None if against_place is None else (other, against_place)
        estimate, error = _of_filter(bank, loads, (own, place), minus)
    half = half_width(region_count(bank)) * error
    low, high = estimate - half, estimate + half
    holds = low > 0.0 or high < 0.0
    said = (
        f"{shorten(shown.title, 80)} is "
        f"{'positive' if estimate > 0 else 'negative'} on average over {named}: "
        f"{signed_number(estimate)} {bank.score_unit} per unit of input, 95% between "
        f"{signed_number(low)} and {signed_number(high)}"
    )
    words = sentence(bank.guarantee, said, None if holds else doubt("noise"))
    return Claim(
        "sign", shown.title, named, "zero", estimate, error, low, high, "noise",
        holds, words, bank.guarantee,
    )  # fmt: skip


def filter_claim_strip(
    comparison: Display,
    label: object,
    region: Any,
    *,
    against: object | None = None,
    place: int | None = None,
    against_place: int | None = None,
    epsilon: float | None = None,
    repeat: int = 0,
) -> ClaimStrip:
    """Evaluate the same claim about filters at every epsilon of a comparison.

    Parameters
    ----------
    comparison : FilterComparison
        Comparison whose private fits are used.
    label, region, against, place, against_place : optional
        As in :func:`filter_claim`. Indices refer to the order of the filters in each fit, so call
        :meth:`dpexplain.compare.FilterComparison.matched` first.
    epsilon : float or None, default=None
        Epsilon of the fit that determines the claimed sign; None for the largest.
    repeat : int, default=0
        Index of the fit among the repeats; if an epsilon has fewer, its last fit is used.

    Returns
    -------
    ClaimStrip

    Raises
    ------
    KeyError, ValueError
        As in :func:`filter_claim`, or if there is no fit with this epsilon.

    Examples
    --------
    >>> from dpexplain import DPLocallyLinearClassifier, sweep
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPLocallyLinearClassifier(schema=stays.schema, n_public=500)
    >>> comparison = sweep(model, stays.X, stays.y, epsilons=(1, 4), progress=False)
    >>> from dpexplain.explain import filter_claim_strip
    >>> filter_claim_strip(comparison.matched(), "yes", "age").epsilons
    (1.0, 4.0)
    """
    fits = {e: rows for e, rows in comparison.fits_by_epsilon().items() if math.isfinite(e)}
    banks = {e: fits[e][min(repeat, len(fits[e]) - 1)] for e in sorted(fits)}
    if not banks or not all(isinstance(bank, FilterBank) for bank in banks.values()):
        raise ValueError("claims about filters over ε need a FilterComparison of private models.")
    chosen = list(banks).index(known_epsilon(list(banks), epsilon))
    claims = [
        filter_claim(bank, label, region, against=against, place=place, against_place=against_place)
        for bank in banks.values()
        if isinstance(bank, FilterBank)
    ]
    return ClaimStrip(tuple(map(float, banks)), tuple(claims), chosen)


def region_count(bank: FilterBank) -> int:
    """Count the rectangles in a map, or its inputs if they are not on a grid.

    Parameters
    ----------
    bank : FilterBank

    Returns
    -------
    int
    """
    if bank.grid_shape is None:
        return len(bank.input_names)
    rows, columns = _sides(bank.grid_shape)
    return (rows * (rows + 1) // 2) * (columns * (columns + 1) // 2)


def _sides(grid_shape: tuple[int, ...]) -> tuple[int, int]:
    return (1, grid_shape[0]) if len(grid_shape) == 1 else (grid_shape[0], grid_shape[1])


def class_noise(noise: FilterNoise) -> tuple[FloatArray, FloatArray | None]:
    """Return the noise in the sum of the filters of each class, in single precision.

    Parameters
    ----------
    noise : FilterNoise

    Returns
    -------
    variance : ndarray of shape (n_classes, n_rows)
        Variance of each coefficient of the sum.
    rows : ndarray of shape (n_rows, n_inputs) or None
        Matrix by which the coefficients are multiplied to give weights; None if the coefficients
        are the weights.
    """
    basis = noise.basis
    joined = noise.variance.sum(axis=1)
    if basis is not None and basis.ndim == 3:
        joined = noise.variance.reshape(len(noise.variance), -1)
        basis = basis.reshape(-1, basis.shape[-1])
    return np.asarray(joined, dtype=np.float32).astype(np.float64), basis


def _of_means(
    bank: FilterBank, loads: FloatArray, own: int, other: int | None
) -> tuple[float, float]:
    """Return the mean weight in a region of a mean filter or contrast, and its error.

    Weights and variances are rounded to single precision, as they are stored in HTML pages.
    """
    assert bank.noise is not None
    variance, rows = class_noise(bank.noise)
    sums = variance @ (loads if rows is None else rows @ loads) ** 2
    share = np.zeros(len(bank.classes))
    share[own] = 1.0 / bank.n_filters
    if other is None:
        share -= 1.0 / (len(bank.classes) * bank.n_filters)
    else:
        share[other] -= 1.0 / bank.n_filters
    means = bank.class_means().astype(np.float32).astype(np.float64) @ loads
    estimate = means[own] - (0.0 if other is None else means[other])
    return float(estimate), math.sqrt(float(share**2 @ sums))


def filter_variance(noise: FilterNoise) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """Return the noise in each filter, without coefficients that it does not use.

    Parameters
    ----------
    noise : FilterNoise

    Returns
    -------
    variance : ndarray of shape (n_classes, n_filters, n_used)
        Variances of adjacent coefficients; all others of the filter are zero.
    starts : ndarray of int64, shape (n_classes, n_filters)
        Row of the matrix that :func:`class_noise` returns, to which the first of them belongs.
    """
    n_classes, n_filters, n = noise.variance.shape
    if noise.basis is not None and noise.basis.ndim == 3:
        return noise.variance, np.tile(n * np.arange(n_filters), (n_classes, 1))
    used = noise.variance > 0.0
    first, last = used.argmax(axis=2), n - used[..., ::-1].argmax(axis=2)
    width = int(np.where(used.any(axis=2), last - first, 1).max())
    starts = np.minimum(first, n - width)
    places = starts[..., None] + np.arange(width)
    return np.take_along_axis(noise.variance, places, axis=2), starts


def _of_filter(
    bank: FilterBank, loads: FloatArray, one: tuple[int, int], minus: tuple[int, int] | None
) -> tuple[float, float]:
    """Return the mean weight in a region of a filter or difference, and its error.

    Weights on a grid and variances are rounded as in HTML pages. The error allows for rounding.
    """
    assert bank.noise is not None
    sums, rows = class_noise(bank.noise)
    seen = (loads if rows is None else rows @ loads) ** 2
    variance, starts = filter_variance(bank.noise)
    variance, _ = in_steps(variance, 65_535, upward=True)
    if bank.grid_shape is None:
        weights, step = bank.filters.astype(np.float32).astype(np.float64), 0.0
    else:
        weights, step = in_steps(bank.filters, 32_767)

    def of(place: tuple[int, int]) -> float:
        start = starts[place]
        return float(variance[place] @ seen[start : start + variance.shape[-1]])

    estimate = float(weights[one] @ loads)
    if minus is not None:
        difference = estimate - float(weights[minus] @ loads)
        return difference, math.sqrt(of(one) + of(minus)) + step
    n = bank.biases.size  # the common mean of all filters is removed
    return estimate, math.sqrt(of(one) * (1.0 - 2.0 / n) + float((sums @ seen).sum()) / n**2) + (
        step / 2.0
    )


def _loads(bank: FilterBank, region: Any) -> tuple[FloatArray, str]:
    """Return the weight of each input in a region's mean, and the region's name."""
    n = len(bank.input_names)
    if bank.grid_shape is None:
        loads = np.zeros(n)
        place = _input_place(bank, region)
        loads[place] = 1.0
        return loads, shorten(bank.input_names[place])
    (top, bottom), (left, right) = _checked(region, _sides(bank.grid_shape))
    rows, columns = _sides(bank.grid_shape)
    inside = np.zeros((rows, columns, n // (rows * columns)))
    inside[top : bottom + 1, left : right + 1] = 1.0
    loads = (inside / inside.sum()).ravel()
    return loads, f"rows {top} to {bottom} and columns {left} to {right}"


def _input_place(bank: FilterBank, given: Any) -> int:
    if given in bank.input_names:
        return bank.input_names.index(given)
    whole = isinstance(given, int | np.integer) and not isinstance(given, bool)
    if whole and 0 <= given < len(bank.input_names):
        return int(given)
    raise KeyError(
        f"no input {shorten(str(given))!r}; pass a name of input_names, or an index from 0 to "
        f"{len(bank.input_names) - 1}."
    )


def _checked(region: Any, sides: tuple[int, int]) -> Rectangle:
    try:
        spans = [tuple(sorted(int(end) for end in span)) for span in region]
        (top, bottom), (left, right) = spans
    except (TypeError, ValueError):
        raise ValueError(
            "a region of a grid is ((first row, last row), (first column, last column))."
        ) from None
    if top < 0 or left < 0 or bottom >= sides[0] or right >= sides[1]:
        raise ValueError(
            f"the region {((top, bottom), (left, right))} must lie within rows 0 to "
            f"{sides[0] - 1} and columns 0 to {sides[1] - 1}."
        )
    return (top, bottom), (left, right)
