"""Signs of mistakes visible only in a column as a whole. NOT PRIVATE.

Every cell may fit the schema even if the column is wrong: record numbers lie within a wide range,
and the code -99 lies within the bounds of an account balance. The findings are questions for the
data holder; a column may look wrong and still be correct.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.lazy import pd
from dpexplain.schema.features import (
    Categorical,
    Classes,
    Date,
    Feature,
    Numeric,
    Range,
    Target,
)
from dpexplain.schema.guesses import (
    FEWEST_ROWS,
    day_markers,
    looks_missing,
    number_markers,
    probable_role,
    spelled_alike,
)
from dpexplain.tables.cells import cell_number, day_text
from dpexplain.tables.columns import Column, KnownRoles, values_of
from dpexplain.tables.encoding import encode_categorical, encode_classes, read_numbers, texts_of

Found = list[tuple[str, str, NDArray[np.bool_]]]
"""Problem, what a private fit does about it, and which cells have it."""

_END: Final = 0.02  # width of each end of a range, as a proportion of the range
_AT_END: Final = 0.98  # proportion of the numbers in one end that suggests a wrong unit
_MOST_EMPTY_ROWS: Final = 0.01
_FEWEST_COLUMNS: Final = 3  # one or two cells are often empty together
_FEWEST_REPEATS: Final = 10
_NO_MULTIPLE: Final = 1e-6
_FEWEST_APART: Final = 5
_APART: Final = 0.02  # minimum proportion of a number far off, to ask about it
_GAP: Final = 0.1  # its distance from the others, as a proportion of their range
_TWO_GROUPS: Final = 3.0  # factor between the closest numbers of two groups
_MOST_BINS: Final = 100
_MOST_TOTALS: Final = 5
_TOTALS: Final = frozenset(
    {
        *("total", "totals", "grand total", "sum", "mean", "average", "median", "std", "count"),
        *("summe", "gesamt", "insgesamt", "mittelwert", "durchschnitt", "anzahl"),
        *("somme", "moyenne", "suma", "media", "totale", "totaal", "gemiddelde"),
    }
)
"""Words in the footers of reports."""
_LEFT_OVER: Final = 0.02  # proportion of the target's variation that a copy of it leaves


def of_feature(name: str, column: Column, feature: Feature) -> Found:
    """Look for signs of mistakes in a feature's column.

    Parameters
    ----------
    name : str
        Name of the column.
    column : array or Series of shape (n_samples,)
        Cells of any type.
    feature : Feature
        What the schema says about the column.

    Returns
    -------
    list of (str, str, ndarray)
        For each problem: its description, what a private fit does about it, and a mask of the
        affected cells.
    """
    texts = texts_of(column)
    found = [*_constant(texts), *_numbers(column, feature), *_days(column, feature)]
    if isinstance(feature, Categorical):
        found += _alike(column, feature)
    filled = _filled(texts)
    counts = Counter(texts[filled])
    if role := probable_role(name, _as_id(feature, counts), counts):
        kind = "a record" if role == "id" else "a person"
        found.append((f"looks like the ID of {kind}", "used as a feature", filled))
    return found


def of_target(column: Column, target: Target) -> Found:
    """Look for signs of mistakes in the target's column; see `of_feature`."""
    found = [*_constant(texts_of(column)), *_numbers(column, target)]
    if not isinstance(target, Classes):
        return found
    codes = encode_classes(column, target)  # type: ignore[arg-type]
    known = codes >= 0
    for code, label in enumerate(target.names):
        of_label = codes == code
        if known.sum() >= FEWEST_ROWS and not of_label.any():
            found.append((f"no row has the label {label!r}", "a class without records", known))
        if looks_missing(label):
            found.append((f"the class {label!r} looks like a missing value", "a class", of_label))
    return found


def of_rows(features: Sequence[Column], y: Column | None) -> Found:
    """Report rows without any values.

    Unreadable lines of a text file become such rows. A few of them are normal at the end of an
    export: there, they are reported only if they make up more than 1% of all rows.

    Parameters
    ----------
    features : sequence of array or Series of shape (n_samples,)
        All features.
    y : array or Series of shape (n_samples,), or None
        The target; None if only the features are checked.

    Returns
    -------
    list of (str, str, ndarray)
        As in `of_feature`.
    """
    filled = [_filled(texts_of(column)) for column in (*features, *([] if y is None else [y]))]
    if len(filled) < _FEWEST_COLUMNS or len(filled[-1]) != len(filled[0]):
        return []
    empty = ~np.logical_or.reduce(filled)
    if len(empty) < FEWEST_ROWS:
        return []
    if empty.mean() <= _MOST_EMPTY_ROWS:
        empty &= np.logical_or.accumulate(~empty[::-1])[::-1]  # a row with a value comes later
    return [("no value in the row: wrong encoding or separator?", "no information", empty)]


def of_other_columns(
    table: pd.DataFrame, schema: KnownRoles, target: Target | None
) -> Iterator[tuple[str, Column, Found]]:
    """If the schema names no person column, find columns that may identify people.

    Parameters
    ----------
    table : DataFrame
        All columns of the table.
    schema : Schema
        The public features, ID columns and person column.
    target : Range, Classes or None
        Target, whose column is not examined.

    Yields
    ------
    tuple of (str, Series, list)
        Name and cells of the column, and findings as returned by `of_feature`.
    """
    known = {*schema.feature_names, "" if target is None else target.name}
    for place, name in enumerate(map(str, table.columns)):
        if schema.person or name in known:
            continue
        column = table.iloc[:, place]
        texts = pd.Series(texts_of(column), dtype=object)
        counts = Counter(texts.dropna())
        several = counts.total() > len(counts) > FEWEST_ROWS
        kind = _as_id(None, counts)
        if several and (name in schema.id or probable_role(name, kind, counts) == "person"):
            again = texts.duplicated(keep=False).to_numpy() & texts.notna().to_numpy()
            problem = "in several rows: is it the person column?"
            yield name, column, [(problem, "protects rows, not persons", again)]


def of_totals(table: pd.DataFrame, outcome: Column | None) -> Found:
    """Report rows that look like totals, which a fit would use as records.

    Parameters
    ----------
    table : DataFrame
        All columns of the table.
    outcome : array or Series of shape (n_samples,), or None
        The target, if it is not in the table.

    Returns
    -------
    list of (str, str, ndarray)
        As in `of_feature`.
    """
    found = np.zeros(len(table), dtype=bool)
    others = [table.iloc[:, place] for place in range(table.shape[1])]
    for column in (*others, *([] if outcome is None else [outcome])):
        texts = texts_of(column)
        if len(texts) == len(found):
            words = [str(text).strip().rstrip(":.").casefold() in _TOTALS for text in texts]
            found |= np.array(words, dtype=bool)
    # A category may have such a name; a footer has few lines.
    few = found.sum() <= _MOST_TOTALS
    return [("a line of totals?", "used as a record if it has a target", found & few)]


def of_copies(column: Column, feature: Feature, y: Column, target: Target) -> Found:
    """Report a feature that determines the target almost without error.

    Each bin of the feature (at most 100, of about 10 records or more) predicts its own majority
    class or mean rank. The feature is reported if these predictions leave at most 2% of the errors,
    or of the variance, that a single prediction for all records would leave.

    Parameters
    ----------
    column : array or Series of shape (n_samples,)
        Cells of the feature.
    feature : Feature
        What the schema says about the feature.
    y : array or Series of shape (n_samples,)
        The target.
    target : Range or Classes
        What the schema says about the target.

    Returns
    -------
    list of (str, str, ndarray)
        As in `of_feature`.
    """
    if isinstance(target, Classes):
        outcome = encode_classes(y, target).astype(np.float64)  # type: ignore[arg-type]
        outcome[outcome < 0] = np.nan
    else:
        outcome = read_numbers(y, target)
    known = np.isfinite(outcome)
    if len(outcome) != len(values_of(column)) or known.sum() < 5 * FEWEST_ROWS:
        return []
    bins = _bins(column, feature, known)
    outcome = outcome[known]
    if isinstance(target, Classes):
        table = np.zeros((bins.max() + 1, len(target.labels)))
        np.add.at(table, (bins, outcome.astype(np.intp)), 1.0)
        all_errors, errors = (
            len(bins) - table.sum(axis=0).max(),
            len(bins) - table.max(axis=1).sum(),
        )
    else:
        ranks = pd.Series(outcome).rank()
        all_errors = float(np.square(ranks - ranks.mean()).sum())
        errors = float(np.square(ranks - ranks.groupby(bins).transform("mean")).sum())
    if all_errors < _FEWEST_REPEATS or errors > _LEFT_OVER * all_errors:
        return []
    problem = "gives the target away: is it known only afterward?"
    return [(problem, "used as a feature", known)]


def _bins(column: Column, feature: Feature, known: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the bin of each record with a known target, avoiding overly small bins."""
    most = min(_MOST_BINS, int(known.sum()) // 10)
    if isinstance(feature, Categorical):
        codes = encode_categorical(column, feature)[known].astype(np.intp)
        return codes if len(np.unique(codes)) <= most else np.zeros_like(codes)
    ranks = pd.Series(read_numbers(column, feature)[known]).rank(pct=True).to_numpy()
    empty = np.isnan(ranks)
    return np.where(empty, most, np.ceil(np.where(empty, 1.0, ranks) * most) - 1).astype(np.intp)


def _constant(texts: NDArray[Any]) -> Found:
    filled = _filled(texts)
    same = filled.sum() >= FEWEST_ROWS and len(set(texts[filled])) == 1
    return [("the same value in every row", "no effect can be found", filled & same)]


def _filled(texts: NDArray[Any]) -> NDArray[np.bool_]:
    return np.array([text is not None for text in texts], dtype=bool)


def _numbers(column: Column, part: Feature | Target) -> Found:
    """Look for undeclared missing-value markers, and for numbers in another unit."""
    if isinstance(part, Categorical | Classes | Date):
        return []
    numbers = read_numbers(column, part)
    finite = numbers[np.isfinite(numbers)]
    if len(finite) < FEWEST_ROWS:
        return []
    values, counts = np.unique(finite, return_counts=True)
    markers = number_markers(values, counts)
    found = [
        (f"{marker:g} looks like a missing value", "used as a number", numbers == marker)
        for marker in markers
    ]
    found += [
        (f"{end:g} is far from all other numbers: a missing value?", "used as a number", at_end)
        for end in _apart(values, counts)
        if end not in markers and (at_end := numbers == end).any()
    ]
    found += _in_two_units(numbers, values, counts)
    found += _markers_among_values(column, part, numbers, dict(zip(values, counts, strict=True)))
    if isinstance(part, Numeric) and part.step is not None:
        found.append((f"not a multiple of {part.step:g}", "used as it is", _off(numbers, part)))
    elif isinstance(part, Numeric) and 1 < part.high - part.low <= _MOST_BINS:
        all_whole = len(values) >= _FEWEST_APART and bool(np.all(values == np.rint(values)))
        whole = np.isfinite(numbers) & all_whole
        found.append(("only whole numbers: step = 1?", "bins can end between them", whole))
    nonzero = np.isfinite(numbers) & (numbers != 0.0)  # many amounts are zero
    width = _END * (part.high - part.low)
    for end, there in (
        ("lowest", (numbers >= part.low) & (numbers < part.low + width)),
        ("highest", (numbers <= part.high) & (numbers > part.high - width)),
    ):
        there &= nonzero
        few = nonzero.sum() < FEWEST_ROWS or there.sum() < _AT_END * nonzero.sum()
        words = f"almost all in the {end} {_END:.0%} of the range: wrong unit?"
        found.append((words, "used as numbers", there & (not few)))
    return found


def _apart(values: NDArray[np.float64], counts: NDArray[np.intp]) -> list[float]:
    """Return those of the two extreme numbers that are frequent and far from the rest.

    Examples are a blood pressure of 0, and an age of 0 among adults.
    """
    found = []
    for end, rest in ((0, slice(1, None)), (-1, slice(None, -1))):
        others = values[rest]
        if len(others) < FEWEST_ROWS or counts[end] < max(_FEWEST_APART, _APART * counts.sum()):
            continue
        gap = others[0] - values[0] if end == 0 else values[-1] - others[-1]
        if gap > _GAP * (others[-1] - others[0]):
            found.append(float(values[end]))
    return found


def _markers_among_values(
    column: Column,
    part: Numeric | Range,
    numbers: NDArray[np.float64],
    count_of: dict[float, int],
) -> Found:
    """Find declared markers as frequent as a neighboring value, such as an age of 97."""
    step = part.step if isinstance(part, Numeric) else 1.0
    if step is None or not part.missing:
        return []
    kept = read_numbers(column, part, keep_markers=True)
    kept[np.isfinite(numbers)] = np.nan
    markers = set(kept[np.isfinite(kept)].tolist())
    found: Found = []
    for marker in sorted(markers):
        for direction in (-step, step):
            neighbor = marker + direction
            while neighbor in markers:
                neighbor += direction
            at_marker = kept == marker
            most = count_of.get(neighbor, 0)
            if part.low <= marker <= part.high and 2 * most >= max(
                at_marker.sum(), _FEWEST_REPEATS
            ):
                words = f"{marker:g} is a marker, but {neighbor:g} is as frequent: a value too?"
                found.append((words, "counted as missing", at_marker))
                break
    return found


def _in_two_units(
    numbers: NDArray[np.float64], values: NDArray[np.float64], counts: NDArray[np.intp]
) -> Found:
    """Find two separate groups of numbers that a change of unit could explain.

    Their medians differ by a factor of about 10, 100 or 1,000, as millimeters and centimeters do.
    """
    positive = values > 0.0
    values, counts = values[positive], counts[positive]
    if len(values) < _FEWEST_APART:
        return []
    steps = values[1:] / values[:-1]
    last = int(np.argmax(steps))  # of the lower group
    sizes = counts[: last + 1].sum(), counts[last + 1 :].sum()
    if steps[last] < _TWO_GROUPS or min(sizes) < max(_FEWEST_REPEATS, _APART * counts.sum()):
        return []
    lower, upper = (numbers > 0.0) & (numbers <= values[last]), numbers > values[last]
    factor = float(np.median(numbers[upper]) / np.median(numbers[lower]))
    unit = next((unit for unit in (10, 100, 1_000) if 0.75 < factor / unit < 1.35), None)
    if unit is None:
        return []
    words = f"numbers in two groups, of which one is about {unit:,} times as high: two units?"
    return [(words, "used as numbers", lower if sizes[0] < sizes[1] else upper)]


def _off(numbers: NDArray[np.float64], part: Numeric) -> NDArray[np.bool_]:
    """Find the numbers that are not multiples of the step, counted from 0 or `low`."""
    assert part.step is not None
    inside = np.where((numbers >= part.low) & (numbers <= part.high), numbers, part.low)
    off = [
        abs(n - np.rint(n)) > _NO_MULTIPLE
        for n in (inside / part.step, (inside - part.low) / part.step)
    ]
    return off[0] & off[1]


def _days(column: Column, part: Feature) -> Found:
    """Look for placeholder dates such as January 1, 1900."""
    if not isinstance(part, Date):
        return []
    days = read_numbers(column, part)
    markers = day_markers(*np.unique(days[np.isfinite(days)], return_counts=True))
    return [
        (f"{day_text(day)} looks like a missing value", "used as a date", days == day)
        for day in markers
    ]


def _alike(column: Column, feature: Categorical) -> Found:
    """Report categories that differ from an earlier one only in case or spaces."""
    codes = encode_categorical(column, feature)
    return [
        (f"the category {name!r} resembles {like!r}: the same?", "two categories", codes == code)
        for name, like in spelled_alike(feature.categories)
        for code in [feature.categories.index(name)]
    ]


def _as_id(feature: Feature | None, counts: Counter[str]) -> Feature:
    """Return the feature to assume when judging whether a column contains IDs."""
    if isinstance(feature, Date | Categorical):
        return feature
    numbers = [text for text in counts if not np.isnan(cell_number(text))] or list(counts)
    whole = all(text.lstrip("-").isdigit() for text in numbers)
    if feature is None and not whole:
        return Categorical(["any"])
    return Numeric(0, 1, step=1.0 if whole else None)
