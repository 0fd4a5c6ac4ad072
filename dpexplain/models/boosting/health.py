"""Health check of a private fit: tests on released numbers with known noise.

Each alarm rejects the hypothesis that a public limit is respected (for example, that at most a
fifth of the values of a feature are missing). The tested number is a sum of releases with Gaussian
noise of known standard deviation, and all tests of a fit share a false-alarm rate of 1%
(Bonferroni).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from dpexplain.explain.health import Finding
from dpexplain.models.boosting.released import PrivateBins, PrivateFit

FALSE_ALARMS = 0.01
"""Bound on the probability of any alarm if the data respect all limits."""

MOST_MISSING = 0.20
MOST_OTHER = 0.05
MOST_AT_END = 0.90
MOST_AT_ZERO = 0.98
"""Limit for a first or last bin that contains zero: many amounts are zero for most people."""
FEWEST_IN_CLASS = 0.02
MOST_WITHOUT_TARGET = 0.20
_FEWEST_CELLS = 10
"""Features with fewer values, such as yes and no, are not tested for a full first or last bin,
because almost all of their records are often in one bin."""


@dataclass(frozen=True)
class Excess:
    """Noisy amount by which a number of records violates its limit.

    Attributes
    ----------
    kind, feature, words : str
        As in `Finding`.
    records : float
        Noisy number of records minus the maximum allowed, or the minimum required minus the noisy
        number. Without noise, this difference is at most 0 if the limit is respected.
    noise_std : float
        Standard deviation of the noise in `records`.
    """

    kind: str
    feature: str
    words: str
    records: float
    noise_std: float

    @property
    def p_value(self) -> float:
        """Bound on the probability of an excess this large if the limit is respected."""
        return float(ndtr(-self.records / self.noise_std))


def alarms(fit: PrivateFit, classes: Sequence[str], n_public: int | None) -> tuple[Finding, ...]:
    """Test a fit against all limits and return the alarms.

    Parameters
    ----------
    fit : PrivateFit
    classes : sequence of str
        Class labels; empty for regression.
    n_public : int or None
        Public number of rows of the table.

    Returns
    -------
    tuple of Finding
    """
    tests = [*_of_features(fit.binned), *_of_classes(fit, classes)]
    if n_public is not None:
        tests.append(_of_rows(fit.binned, n_public))
    n_tests = len(tests) + 1  # including the test in `_of_records`
    tests.append(_of_records(fit.binned, FALSE_ALARMS / n_tests))
    return tuple(
        Finding(test.kind, test.feature, test.words, 1.0 - n_tests * test.p_value)
        for test in tests
        if test.p_value < FALSE_ALARMS / n_tests
    )


def _of_features(binned: PrivateBins) -> Iterator[Excess]:
    of_features = zip(binned.first_cells, binned.first_counts, binned.first_spread, strict=True)
    for grid, counts, spread in of_features:
        stds = binned.cell_noise_std * np.sqrt(spread)
        noisy = list(zip(counts.tolist(), stds.tolist(), strict=True))
        name, n_values = grid.name, grid.n_value_bins
        missing = _share(counts[-1], binned)
        yield _excess(
            ("missing", name, f"about {missing:.0%} of {name} is missing or unreadable"),
            noisy[-1],
            MOST_MISSING,
            binned,
        )
        if grid.edges is None:
            other = _share(counts[n_values], binned)
            words = f"about {other:.0%} of {name} is not in the declared categories"
            yield _excess(("other", name, words), noisy[n_values], MOST_OTHER, binned)
        elif n_values >= _FEWEST_CELLS:
            for place, end in ((0, "first"), (n_values - 1, "last")):
                low, high = grid.edges[place], grid.edges[place + 1]
                words = f"almost everyone with a value is in the {end} bin of {name}: wrong unit?"
                limit = MOST_AT_ZERO if low <= 0.0 <= high else MOST_AT_END
                what = (f"{end} bin", name, words)
                yield _excess(what, noisy[place], limit, binned, missing=noisy[-1])


def _share(count: float, binned: PrivateBins) -> float:
    return float(np.clip(count / binned.n_samples, 0.0, 1.0))


def _excess(
    what: tuple[str, str, str],
    counted: tuple[float, float],
    limit: float,
    binned: PrivateBins,
    *,
    missing: tuple[float, float] | None = None,
) -> Excess:
    """Return the excess of a count over a given proportion of the records.

    A count comes with its standard deviation. If the number of missing values is given, the
    proportion refers to the other records.

    The errors in each count and in the number of records are independent or positively correlated
    (the number of records is a weighted mean of sums of such counts), and those of two counts for
    the same feature are independent or negatively correlated (both are shifted so that the sum
    agrees with the number of records). So the variance is at most the sum of the variances.
    """
    count, own_std = counted
    std = np.hypot(own_std, limit * binned.n_samples_std)
    base = binned.n_samples
    if missing is not None:
        std, base = np.hypot(std, limit * missing[1]), base - missing[0]
    return Excess(*what, float(count - limit * base), float(std))


def _of_classes(fit: PrivateFit, classes: Sequence[str]) -> Iterator[Excess]:
    """Test the number of records in each class, using the first tree.

    Before the first tree, all classes have the same predicted probability. The residual sum of a
    class over all leaves is therefore the number of records in this class minus the mean number per
    class, times a known factor if residuals are clipped or the tree belongs to one of several bags.
    """
    if not classes:
        return
    first, n_classes, n_samples = fit.steps[0], len(classes), fit.binned.n_samples
    own = 1.0 - 1.0 / n_classes  # largest residual of a record
    factor = min(1.0, first.clip / own) * fit.share
    above_mean = first.sums.sum(axis=0) / factor
    if first.sums.ndim == 1:
        above_mean = np.array([-above_mean, above_mean])
    of_leaves = fit.leaf_noise_std[0] * np.sqrt(len(first.sums)) / factor
    of_number = (1.0 / n_classes - FEWEST_IN_CLASS) * fit.binned.n_samples_std
    # The records in a bag are a random sample, which adds variance; the share is 1 for a single
    # fit.
    most = n_samples + 4.0 * fit.binned.n_samples_std
    of_bag = own * np.sqrt(most * (1.0 - fit.share) / fit.share)
    std = float(np.sqrt(of_leaves**2 + of_number**2 + of_bag**2))
    for name, above in zip(classes, above_mean, strict=True):
        words = f"almost nobody is in class {name}: do the labels match?"
        held = float(n_samples / n_classes + above)
        yield Excess("class", "", words, FEWEST_IN_CLASS * n_samples - held, std)


def _of_rows(binned: PrivateBins, n_public: int) -> Excess:
    dropped = 1.0 - min(1.0, binned.n_samples / n_public)
    words = f"about {dropped:.0%} of the rows have no usable target: do the labels match?"
    lacking = (1.0 - MOST_WITHOUT_TARGET) * n_public - binned.n_samples
    return Excess("target", "", words, lacking, binned.n_samples_std)


def _of_records(binned: PrivateBins, level: float) -> Excess:
    """Test whether the number of records is at least twice a critical value.

    If there were no records, the noisy count would exceed the critical value with probability
    `level`.
    """
    words = "the number of usable records may be 0: do the labels match, and is epsilon too small?"
    enough = -2.0 * float(ndtri(level)) * binned.n_samples_std
    return Excess("records", "", words, enough - binned.n_samples, binned.n_samples_std)


def note_of_terms(n_above: int, n_terms: int, epsilon: float) -> Finding:
    """Return the note on terms that do not rise above the noise."""
    words = f"all {n_terms} terms rise above the noise"
    if n_terms == 1:
        words = "the term rises above the noise"
    if n_above < n_terms:
        words = (
            f"epsilon = {epsilon:g} is too small for {n_terms - n_above} of {n_terms} terms: "
            "they do not rise above the noise, or have no effect"
        )
    return Finding("noise", "", words)


def note_of_bins(binned: PrivateBins) -> Finding:
    """Return the note on the number of resolved bins."""
    numbers = [(bins.name, bins.n_value_bins) for bins in binned.bins if bins.edges is not None]
    n_bins = sum(n for _, n in numbers)
    counted = f"{n_bins} bin{'s' * (n_bins != 1)}"
    words = f"{counted} resolved in {len(numbers)} numeric feature{'s' * (len(numbers) != 1)}"
    if numbers:
        least = min(numbers, key=lambda each: each[1])
        words += f", fewest in {least[0]} ({least[1]})"
    return Finding("bins", "", words)
