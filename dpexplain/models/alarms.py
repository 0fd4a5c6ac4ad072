"""Health check of a private fit: tests on released numbers with known noise.

Each alarm rejects the hypothesis that a public limit is respected (for example, that at most a
fifth of the values of a feature are missing). The tested number is a sum of releases with Gaussian
or Laplace noise of known size, and all tests of a fit share a false-alarm rate of 1% (Bonferroni).
Quantities that a model does not release are not tested; a note says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpexplain.binning import FeatureBins, NoisyCount
from dpexplain.explain._text import listing
from dpexplain.explain.health import Finding
from dpexplain.schema import Range

if TYPE_CHECKING:
    import pandas as pd

FALSE_ALARMS = 0.01
"""Bound on the probability of any alarm if the data respect all limits."""

MOST_MISSING = 0.20
MOST_OTHER = 0.05
MOST_AT_END = 0.90
MOST_AT_ZERO = 0.98
"""Limit for a first or last bin that contains zero: many amounts are zero for most people."""
FEWEST_IN_CLASS = 0.02
MOST_WITHOUT_TARGET = 0.20
MOST_HIDDEN = 1_000
"""Maximum number of records that noise may hide in a test for whether there are any. Models that
release the number of records in each cell are always tested."""
_HIDING_LEVEL = 0.001
_FEWEST_CELLS = 10
"""Features with fewer values, such as yes and no, are not tested for a full first or last bin,
because almost all of their records are often in one bin."""


@dataclass(frozen=True)
class Excess:
    """Noisy amount by which a record count is above its maximum or below its minimum.

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


@dataclass(frozen=True)
class LaplaceExcess:
    """Like `Excess`, but its noise is a sum of independent Laplace draws.

    Attributes
    ----------
    kind, feature, words, records
        As in `Excess`.
    scales : tuple of (float, int)
        Scales of the draws in the sum, in records, each with the number of draws.
    """

    kind: str
    feature: str
    words: str
    records: float
    scales: tuple[tuple[float, int], ...]

    @property
    def p_value(self) -> float:
        """Bound on the probability of an excess this large if the limit is respected."""
        return laplace_tail(self.records, self.scales)


Test: TypeAlias = Excess | LaplaceExcess


def laplace_tail(excess: float, scales: Iterable[tuple[float, int]]) -> float:
    """Bound the probability that a sum of Laplace draws exceeds a number (Chernoff).

    The bound also holds for discrete Laplace draws of the same scale, whose moment generating
    function is smaller.

    Parameters
    ----------
    excess : float
    scales : iterable of (float, int)
        Scales of independent draws, each with the number of draws.

    Returns
    -------
    float
        At most 1.
    """
    from scipy.optimize import minimize_scalar  # slow to import

    known = [(scale, n) for scale, n in scales if scale > 0.0 and n > 0]
    if not excess > 0.0:
        return 1.0
    most = 1.0 / max(scale for scale, _ in known)

    def log_bound(rate: float) -> float:
        return -rate * excess - sum(n * math.log1p(-((rate * b) ** 2)) for b, n in known)

    best = minimize_scalar(log_bound, bounds=(0.0, most * (1.0 - 1e-9)), method="bounded")
    return math.exp(min(0.0, float(best.fun)))


@dataclass(frozen=True)
class CountedCells:
    """Noisy record counts in the public cells of each feature.

    Attributes
    ----------
    cells : sequence of FeatureBins
        Public cells of each feature.
    counts : sequence of ndarray of shape (n_cells,), one per feature
        Noisy number of records in each cell.
    noise_stds : sequence of ndarray of shape (n_cells,), one per feature
        Standard deviations of the noise in `counts`.
    n_samples : float
        Noisy number of records.
    n_samples_std : float
        Standard deviation of the noise in `n_samples`.
    """

    cells: Sequence[FeatureBins]
    counts: Sequence[NDArray[np.float64]]
    noise_stds: Sequence[NDArray[np.float64]]
    n_samples: float
    n_samples_std: float


@dataclass(frozen=True)
class LaplaceCount:
    """Noisy record counts inside and outside a class, with Laplace noise.

    Attributes
    ----------
    inside, outside : float
        Noisy record counts.
    scale : float
        Scale of each Laplace draw added to a count, in records.
    n_inside, n_outside : int
        Number of draws added to each count.
    """

    inside: float
    outside: float
    scale: float
    n_inside: int
    n_outside: int


def alarms_of(
    tests: Sequence[Test], of_records: Callable[[float], Test] | None
) -> tuple[Finding, ...]:
    """Return the alarms of a fit.

    Parameters
    ----------
    tests : sequence of Excess or LaplaceExcess
    of_records : callable or None
        Function that takes the level of one test and returns a test for whether any records exist;
        None if the noise could hide too many records.

    Returns
    -------
    tuple of Finding
    """
    n_tests = len(tests) + 1
    more = () if of_records is None else (of_records(FALSE_ALARMS / n_tests),)
    return tuple(
        Finding(test.kind, test.feature, test.words, 1.0 - n_tests * test.p_value)
        for test in (*tests, *more)
        if test.p_value < FALSE_ALARMS / n_tests
    )


def alarms_of_cells(
    counted: CountedCells, of_classes: Iterable[Excess], n_public: int | None
) -> tuple[Finding, ...]:
    """Return the alarms of a fit that releases the number of records in each cell.

    Parameters
    ----------
    counted : CountedCells
    of_classes : iterable of Excess
        Tests of the classes; see `of_classes`.
    n_public : int or None
        Public number of rows of the table.

    Returns
    -------
    tuple of Finding
    """
    tests = [*_of_features(counted), *of_classes]
    n, std = counted.n_samples, counted.n_samples_std
    if n_public is not None:
        tests.append(of_rows(n, std, n_public))
    return alarms_of(tests, lambda level: of_records(n, std, level))


def _of_features(counted: CountedCells) -> Iterator[Excess]:
    of_features = zip(counted.cells, counted.counts, counted.noise_stds, strict=True)
    for grid, counts, stds in of_features:
        noisy = list(zip(counts.tolist(), stds.tolist(), strict=True))
        name, n_values = grid.name, grid.n_value_bins
        missing = _share(counts[-1], counted)
        yield _excess(
            ("missing", name, f"about {missing:.0%} of {name} is missing or unreadable"),
            noisy[-1],
            MOST_MISSING,
            counted,
        )
        if grid.edges is None:
            other = _share(counts[n_values], counted)
            words = f"about {other:.0%} of {name} is not in the declared categories"
            yield _excess(("other", name, words), noisy[n_values], MOST_OTHER, counted)
        elif n_values >= _FEWEST_CELLS:
            for place, end in ((0, "first"), (n_values - 1, "last")):
                low, high = grid.edges[place], grid.edges[place + 1]
                words = f"almost everyone with a value is in the {end} bin of {name}: wrong unit?"
                limit = MOST_AT_ZERO if low <= 0.0 <= high else MOST_AT_END
                what = (f"{end} bin", name, words)
                yield _excess(what, noisy[place], limit, counted, missing=noisy[-1])


def _share(count: float, counted: CountedCells) -> float:
    return float(np.clip(count / counted.n_samples, 0.0, 1.0))


def _excess(
    what: tuple[str, str, str],
    count: tuple[float, float],
    limit: float,
    counted: CountedCells,
    *,
    missing: tuple[float, float] | None = None,
) -> Excess:
    """Return the excess of a count over a given proportion of the records.

    Each count is paired with the standard deviation of its noise. If the number of missing values
    is given, the proportion refers to the records whose values are not missing.

    The errors in each count and in the number of records are independent or positively correlated
    (the number of records is a weighted mean of sums of such counts), and the errors in two counts
    for the same feature are independent or negatively correlated (both are shifted so that the sum
    agrees with the number of records). So the variance is at most the sum of the variances.
    """
    records, own_std = count
    std = np.hypot(own_std, limit * counted.n_samples_std)
    base = counted.n_samples
    if missing is not None:
        std, base = np.hypot(std, limit * missing[1]), base - missing[0]
    return Excess(*what, float(records - limit * base), float(std))


def of_classes(
    classes: Sequence[str],
    above_mean: NDArray[np.float64],
    above_std: float,
    *,
    n_samples: float,
    n_samples_std: float,
) -> Iterator[Excess]:
    """Test the number of records in each class.

    Parameters
    ----------
    classes : sequence of str
    above_mean : ndarray of shape (n_classes,)
        Noisy number of records in each class minus the mean number per class. If all classes have
        the same predicted probability, this is the sum of the class's residuals.
    above_std : float
        Standard deviation of the noise in each of these differences.
    n_samples, n_samples_std : float
        Noisy number of records, and the standard deviation of its noise.

    Yields
    ------
    Excess
    """
    of_number = (1.0 / len(classes) - FEWEST_IN_CLASS) * n_samples_std
    std = float(np.hypot(above_std, of_number))
    for name, above in zip(classes, above_mean, strict=True):
        held = float(n_samples / len(classes) + above)
        yield Excess(*_rare(name), FEWEST_IN_CLASS * n_samples - held, std)


def _rare(name: str) -> tuple[str, str, str]:
    return "class", "", f"almost nobody is in class {name}: do the labels match?"


def of_counted_classes(
    classes: Sequence[str], counts: Sequence[LaplaceCount]
) -> Iterator[LaplaceExcess]:
    """Test the number of records in each class, counted with Laplace noise.

    Parameters
    ----------
    classes : sequence of str
    counts : sequence of LaplaceCount
        One for each class.

    Yields
    ------
    LaplaceExcess
    """
    for name, count in zip(classes, counts, strict=True):
        rest = 1.0 - FEWEST_IN_CLASS
        excess = FEWEST_IN_CLASS * count.outside - rest * count.inside
        scales = (
            (rest * count.scale, count.n_inside),
            (FEWEST_IN_CLASS * count.scale, count.n_outside),
        )
        yield LaplaceExcess(*_rare(name), excess, scales)


_NO_RECORDS = (
    "the number of usable records may be 0: do the labels match, and is epsilon too small?"
)


def alarms_of_counts(
    classes: Sequence[str], counts: Sequence[LaplaceCount], n_public: int | None
) -> tuple[Finding, ...]:
    """Return the alarms of a fit that releases the number of records in each class.

    Parameters
    ----------
    classes : sequence of str
    counts : sequence of LaplaceCount
        One for each class; the two counts of the first class also give the number of records.
    n_public : int or None
        Public number of rows of the table.

    Returns
    -------
    tuple of Finding
    """
    first = counts[0]
    n_samples = first.inside + first.outside
    scales = ((first.scale, first.n_inside + first.n_outside),)
    tests: list[Test] = [*of_counted_classes(classes, counts)]
    if n_public is not None:
        lacking = (1.0 - MOST_WITHOUT_TARGET) * n_public - n_samples
        tests.append(LaplaceExcess("target", "", _dropped(n_samples, n_public), lacking, scales))

    def of_any(level: float) -> LaplaceExcess:
        excess = 2.0 * _critical(first, level) - n_samples
        return LaplaceExcess("records", "", _NO_RECORDS, excess, scales)

    return alarms_of(tests, of_any if tells_of_records(first) else None)


def _critical(count: LaplaceCount, level: float) -> float:
    """Return a number that pure noise exceeds with a probability of at most `level`."""
    from scipy.optimize import brentq  # slow to import

    n_draws = count.n_inside + count.n_outside
    scales = ((count.scale, n_draws),)
    highest = 2.0 * count.scale * (n_draws - math.log(level))
    return float(brentq(lambda x: laplace_tail(x, scales) - level, 0.0, highest))


def tells_of_records(count: LaplaceCount | NoisyCount) -> bool:
    """Return whether the noise is small enough to detect that there are no records.

    The answer depends only on public settings. If the noise is larger, a model may be accurate even
    if its table is too small to pass the test, so an alarm would mislead.
    """
    if isinstance(count, LaplaceCount):
        return 2.0 * _critical(count, _HIDING_LEVEL) <= MOST_HIDDEN
    return -2.0 * float(ndtri(_HIDING_LEVEL)) * count.noise_std <= MOST_HIDDEN


def _dropped(n_samples: float, n_public: int) -> str:
    dropped = 1.0 - float(np.clip(n_samples / n_public, 0.0, 1.0))
    return f"about {dropped:.0%} of the rows have no usable target: do the labels match?"


def of_rows(n_samples: float, n_samples_std: float, n_public: int) -> Excess:
    """Test the number of rows with a usable target against the public number of rows."""
    lacking = (1.0 - MOST_WITHOUT_TARGET) * n_public - n_samples
    return Excess("target", "", _dropped(n_samples, n_public), lacking, n_samples_std)


def of_records(n_samples: float, n_samples_std: float, level: float) -> Excess:
    """Test whether the number of records is at least twice a critical value.

    If there were no records, the noisy count would exceed the critical value with probability
    `level`.
    """
    enough = -2.0 * float(ndtri(level)) * n_samples_std
    return Excess("records", "", _NO_RECORDS, enough - n_samples, n_samples_std)


def note_of_unchecked(*what: str) -> Finding:
    """Return the note on what was not checked.

    Parameters
    ----------
    *what : str
        Plural nouns that name what was not checked; pass none if nothing can be checked.
    """
    if not what:
        words = "nothing can be checked, because this model releases no number of records"
        return Finding("no check", "", words)
    words = (
        "not checked, because this model releases no sufficiently precise counts: "
        f"{', '.join(what)}"
    )
    return Finding("unchecked", "", words)


def below_noise(ranking: pd.DataFrame) -> list[str]:
    """Return the terms of a ranking that do not rise above the noise."""
    return [str(name) for name, above in ranking["above_noise"].items() if not above]


def note_of_terms(below: Collection[str], n_terms: int) -> Finding:
    """Return the note that names the terms that do not rise above the noise."""
    words = f"all {n_terms} terms rise above the noise"
    if n_terms == 1:
        words = "the term rises above the noise"
    if below:
        words = (
            f"the released curves of {len(below)} of {n_terms} terms do not rise above the noise "
            f"({listing(below, limit=8)}): epsilon is too small, or they have no effect"
        )
    return Finding("noise", "", words)


def note_of_range(target: Range) -> Finding:
    """Return the note on a target range that may be far too wide."""
    words = (
        f"the range of the target ({target.low:,.10g} to {target.high:,.10g}) may be far too wide, "
        "and noise grows with it; declare a narrower one if it is known without the data"
    )
    return Finding("range", "", words)


def note_of_bins(bins_of_features: Iterable[FeatureBins]) -> Finding:
    """Return the note on the number of resolved bins."""
    numbers = [
        (bins.name, bins.n_value_bins) for bins in bins_of_features if bins.edges is not None
    ]
    n_bins = sum(n for _, n in numbers)
    counted = f"{n_bins} bin{'s' * (n_bins != 1)}"
    words = f"{counted} resolved in {len(numbers)} numeric feature{'s' * (len(numbers) != 1)}"
    if numbers:
        least = min(numbers, key=lambda each: each[1])
        words += f", fewest in {least[0]} ({least[1]})"
    return Finding("bins", "", words)
