"""Claims about the cells of a pair of features.

A claim compares two cells or rectangular regions of the grid, or states the sign of one. It refers
to what the pair adds to the separate curves of its features in the population or, if effects are
not estimated, in the released model. The correlations between the errors of cells are not stored.
Intervals are therefore computed from the band that contains all cells with 95% confidence: the
error of a mean is at most the mean of the errors. The intervals hold for any correlations, and for
all regions at once.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from dpexplain.explain._record import FloatArray
from dpexplain.explain._text import above_rounding, shorten, signed_number
from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.additive.pair_curve import PairCurve
from dpexplain.explain.claims.claim import Claim
from dpexplain.explain.claims.claim_words import (
    claimed_score,
    direction,
    doubt,
    sentence,
    size_words,
)
from dpexplain.explain.claims.claimed_bins import (
    bin_place,
    claim_basis,
    matched_span,
    no_claim,
    span_label,
)

Region: TypeAlias = tuple[tuple[int, int], tuple[int, int]]
"""First and last row, and first and last column, of a rectangle of cells."""


def pair_claim(explanation: GlobalExplanation, pair: PairCurve, *regions: Region) -> Claim:
    """Create a claim about one or two regions of a pair.

    Parameters
    ----------
    explanation : GlobalExplanation
    pair : PairCurve
    *regions : Region
        One region, whose mean is compared with zero, or two regions to compare.

    Returns
    -------
    Claim

    Raises
    ------
    ValueError
        If the errors of the pair are unknown, or it was edited.
    """
    basis = claim_basis(pair)
    std, factor = pair.total_std, pair.band_factor
    if pair.effect_std is not None and pair.effect_factor is not None:
        std, factor = pair.effect_std, pair.effect_factor
    if basis is None or std is None:
        raise no_claim(pair)
    loads = _mean(pair, regions[0])
    if len(regions) == 2:
        loads = loads - _mean(pair, regions[1])
    error = float((np.abs(loads) * std).sum())
    estimate = above_rounding(float((loads * pair.contribution).sum()), error)
    half = factor * error
    low, high = estimate - half, estimate + half
    labels = [_labels(pair, region) for region in regions]
    names = [shorten(name) for name in pair.feature_names]
    first, *rest = (
        " and ".join(f"{name} = {shorten(label)}" for name, label in zip(names, both, strict=True))
        for both in labels
    )
    against = f"records with {rest[0]}" if rest else "the average record"
    holds = low > 0.0 or high < 0.0
    said = (
        f"records with {first} have {direction(estimate)} {claimed_score(explanation)} than "
        f"{against}, beyond what {names[0]} and {names[1]} add separately: "
        f"{size_words(explanation, estimate)}, 95% between {signed_number(low)} and "
        f"{signed_number(high)}"
    )
    words = sentence(explanation.guarantee, said, None if holds else doubt(basis))
    compared = [", ".join(both) for both in labels]
    return Claim(
        "difference" if rest else "sign", pair.name, compared[0],
        compared[1] if rest else "the average record", estimate, error, low, high, basis,
        holds, words, explanation.guarantee,
    )  # fmt: skip


def region_of(pair: PairCurve, given: Any) -> Region:
    """Return the region given by one cell or by the cells at two opposite corners.

    Parameters
    ----------
    pair : PairCurve
    given : str, int or tuple
        Label or index of a cell, counting row by row, or a value of each feature as text
        (``"30, nurse"``); or the cells at two opposite corners of a rectangle.

    Returns
    -------
    Region

    Raises
    ------
    KeyError
        If a given cell does not exist in the pair.
    ValueError
        If a tuple does not name two cells.
    """
    cells = given if isinstance(given, tuple) else (given, given)
    if len(cells) != 2:
        raise ValueError(f"a region is (one cell, the opposite cell), got {len(cells)} values.")
    places = [divmod(_cell(pair, each), pair.axes[1].n_bins) for each in cells]
    (row, column), (other_row, other_column) = places
    rows, columns = sorted((row, other_row)), sorted((column, other_column))
    return (rows[0], rows[1]), (columns[0], columns[1])


def region_elsewhere(here: PairCurve, region: Region, there: PairCurve) -> Region | None:
    """Return the corresponding region of the same pair in another fit.

    Parameters
    ----------
    here : PairCurve
    region : Region
        A region of `here`.
    there : PairCurve
        The same pair on another grid.

    Returns
    -------
    Region or None
        For each feature, the bins whose midpoint or label is in the region; for a region of one
        bin, the bin that contains its midpoint or has its label. The result is None if there are no
        such bins.
    """
    axes = zip(here.axes, region, there.axes, strict=True)
    rows, columns = (matched_span(one, span, other) for one, span, other in axes)
    return None if rows is None or columns is None else (rows, columns)


def _cell(pair: PairCurve, given: Any) -> int:
    labels = pair.cell_labels
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        if 0 <= given < len(labels):
            return int(given)
        raise KeyError(f"no cell {given} of {shorten(pair.name)!r}; it has 0 to {len(labels) - 1}.")
    name = str(given)
    if name in labels:
        return labels.index(name)
    ends = [at for at, character in enumerate(name) if character == ","]
    for end in ends:
        try:
            row, column = map(bin_place, pair.axes, (name[:end].strip(), name[end + 1 :].strip()))
        except KeyError:
            if len(ends) == 1:
                raise
        else:
            return row * pair.axes[1].n_bins + column
    raise KeyError(
        f"no cell {shorten(name)!r} of {shorten(pair.name)!r}; name a bin of each feature, or a "
        f"value in it, such as {shorten(labels[0])!r}."
    )


def _mean(pair: PairCurve, region: Region) -> FloatArray:
    """Return the weight of each cell in a mean over a region, by (noisy) count."""
    inside = np.zeros(pair.contribution.shape)
    (first_row, last_row), (first_column, last_column) = region
    inside[first_row : last_row + 1, first_column : last_column + 1] = 1.0
    weights = inside * pair.weights
    if not weights.sum() > 0.0:
        weights = inside
    return np.asarray(weights / weights.sum())


def _labels(pair: PairCurve, region: Region) -> list[str]:
    """Return a region's bins by feature, such as ["30 – 44", "nurse"]."""
    return [span_label(axis, *ends) for axis, ends in zip(pair.axes, region, strict=True)]
