"""Draft schemas from messy PUBLIC tables.

A draft is made from the data, so it is not private. ID columns, date formats, missing-value markers
and misspellings are guessed, and every guess is listed for a person to confirm or correct.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Protocol, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from dpexplain._utils.names import closest_name
from dpexplain.exceptions import SchemaError
from dpexplain.schema.draft import named_columns, observed_feature, observed_target, outward
from dpexplain.schema.features import Categorical, Classes, Date, Feature, Numeric, Target, Task
from dpexplain.tables.cells import cell_day, cell_number, day_text
from dpexplain.tables.columns import Column
from dpexplain.tables.encoding import texts_of
from dpexplain.tables.spellings import comma_number, day_reader

MOST_CATEGORIES: Final = 50  # longer lists are mostly codes and free text
_MOST_WRITTEN: Final = 1_000
FEWEST_ROWS: Final = 20  # with fewer rows, distinct values do not suggest an ID column
_ENOUGH: Final = 2_000
_ODD: Final = 5  # number of distinct other cells that a column of numbers may contain
_MAJORITY: Final = 0.8
MARKERS: Final = frozenset({-9, -99, -999, -9999, -8, -88, -888, 99, 999, 9999, 99999, -1})
_MARKER_WORDS: Final = frozenset(
    {"unknown", "missing", "not known", "not available", "?", "-", ".", "unk", "k.a.", "n.a."}
)
_PERSONS: Final = re.compile(r"patient|person|subject|customer|client|member|participant|pupil")
_IDS: Final = re.compile(
    r"(^|[\W_])(id|ids|nr|no|num|number|key|uuid|guid|mrn|index)$|^unnamed: 0$"
)
# The formats in a tuple have the same shape; if both match every cell, the first is taken.
_FORMATS: Final = (
    ("%d.%m.%Y",),
    ("%d.%m.%y",),
    ("%d/%m/%Y", "%m/%d/%Y"),
    ("%d/%m/%y", "%m/%d/%y"),
    ("%d-%m-%Y", "%m-%d-%Y"),
    ("%Y/%m/%d",),
    ("%Y.%m.%d",),
    ("%d-%b-%Y",),
    ("%d %b %Y",),
    ("%d %B %Y",),
)


class Written(Protocol):
    """Protocol for schemas that can be written to a TOML file."""

    def to_toml(self) -> str:
        """Return the schema as TOML."""


S = TypeVar("S", bound=Written)


@dataclass(frozen=True)
class SchemaDraft(Generic[S]):
    """Drafted schema, and the decisions that a person has to make. NOT PRIVATE.

    Parameters
    ----------
    schema : Schema
        The draft.
    decisions : tuple of str
        Guesses to confirm or correct, each with the name of its column and some of its values.
    """

    schema: S
    decisions: tuple[str, ...]

    def to_toml(self) -> str:
        """Return the schema as TOML, with the decisions as comments before it.

        Returns
        -------
        str
        """
        lines = ["# DRAFT, read from the data: not private. To decide:"]
        lines += [f"# - {text}" for text in self.decisions]
        return "\n".join(lines) + "\n\n" + self.schema.to_toml()


@dataclass
class Drafted:
    """Parts of a drafted schema, and the decisions that a person has to make.

    Parameters
    ----------
    features : dict
        Drafted features, keyed by column name.
    target : Range, Classes or None
        Drafted target.
    id : list of str
        Columns that seem to identify a record.
    person : str or None
        Column that seems to identify people.
    decisions : list of str
        Guesses that a person has to confirm or correct.
    """

    features: dict[str, Feature] = field(default_factory=dict)
    target: Target | None = None
    id: list[str] = field(default_factory=list)
    person: str | None = None
    decisions: list[str] = field(default_factory=list)

    def decide(self, name: str, question: str) -> None:
        """Add a decision that a person has to make about a column."""
        self.decisions.append(f"{name!r}: {question}")


def drafted(
    X: ArrayLike, y: ArrayLike | None = None, *, task: Task = "auto", exclude: Iterable[str] = ()
) -> Drafted:
    """Draft a schema, and list the decisions that a person has to make. NOT PRIVATE.

    Parameters
    ----------
    X : DataFrame or array of shape (n_samples, n_features)
        Public data.
    y : array of shape (n_samples,) or None, default=None
        Public target; None for a schema that has no target.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of the target; "auto" chooses it from the values.
    exclude : iterable of str, default=()
        Columns to exclude.

    Returns
    -------
    Drafted

    Raises
    ------
    SchemaError
        If an excluded column does not exist, or no feature is left.
    """
    columns, found = named_columns(X), Drafted()
    left_out = {exclude} if isinstance(exclude, str) else set(exclude)
    if unknown := sorted(left_out - set(columns)):
        meant = closest_name(unknown[0], columns)
        hint = f"; did you mean {meant!r}?" if meant else "."
        raise SchemaError(f"exclude: the table has no column {unknown[0]!r}{hint}")
    for name, column in columns.items():
        if name not in left_out:
            _add(found, name, column, has_names=hasattr(X, "columns") or hasattr(X, "to_pandas"))
    if not found.features:
        raise SchemaError("no column is left that could be a feature; see --exclude or exclude=.")
    if y is not None:
        found.target = observed_target(y, task=task)
        _look_at_target(found, texts_of(_one(y)))
    return found


def _one(y: Any) -> Any:
    return np.asarray(y, dtype=object).ravel()


def _add(found: Drafted, name: str, column: Column, *, has_names: bool) -> None:
    """Add one column to the draft as a feature, an ID column or a person column."""
    counts = Counter(text for text in texts_of(column) if text is not None)
    typed = getattr(getattr(column, "dtype", None), "kind", "O") in "biufM"
    few = typed or len(counts) <= _MOST_WRITTEN
    plain = observed_feature(column) if few else Categorical(["text"])
    role = probable_role(name, plain, counts) if has_names else ""
    if role == "person" and found.person is None:
        found.person = name
        found.decide(
            name,
            "identifies persons, some of whom have several rows? Then it is the person column.",
        )
    elif role:
        found.id.append(name)
        found.decide(name, f"{len(counts):,} different values; treated as an ID, not as a feature.")
    elif isinstance(plain, Categorical) and not _is_declared(plain, column):
        _add_texts(found, name, plain, counts)
    elif type(plain) is Numeric:
        found.features[name] = _numeric(found, name, _numbers(counts, cell_number), step=plain.step)
    else:
        found.features[name] = plain


def _is_declared(plain: Categorical, column: Column) -> bool:
    """Return whether a column has a categorical dtype or contains only Booleans."""
    listed = isinstance(getattr(column, "dtype", None), pd.CategoricalDtype)
    return listed or plain.categories == ("False", "True")


def probable_role(name: str, plain: Feature, counts: Counter[str]) -> str:
    """Return the probable role of a column: "id", "person", or "" for a feature.

    Parameters
    ----------
    name : str
        Name of the column.
    plain : Feature
        The column as a feature.
    counts : Counter of str
        Number of rows with each text.

    Returns
    -------
    {"id", "person", ""}
    """
    n_rows, folded = counts.total(), name.casefold()
    if n_rows < FEWEST_ROWS or isinstance(plain, Date):
        return ""
    is_numeric = isinstance(plain, Numeric)
    if is_numeric and plain.step is None:  # type: ignore[union-attr]
        return ""
    unlike = len(counts) == n_rows
    if unlike and _IDS.search(folded):
        return "id"
    if is_numeric:
        if _PERSONS.search(folded) and _IDS.search(folded):
            return "person"
        numbers = np.array([cell_number(text) for text in counts])
        return "id" if unlike and numbers.max() - numbers.min() == n_rows - 1 else ""
    some = _some(counts)
    readers = (cell_number, comma_number, day_reader([text for text, _ in _formats(some)], 9999))
    if _read(some, *readers) >= _MAJORITY * some.total():
        return ""
    if _PERSONS.search(folded) and len(counts) > MOST_CATEGORIES:
        return "person"
    return "id" if len(counts) > max(MOST_CATEGORIES, 0.9 * n_rows) else ""


def _add_texts(found: Drafted, name: str, plain: Categorical, counts: Counter[str]) -> None:
    """Add a column of strings to the draft, as numbers, dates or categories."""
    n_rows = max(counts.total(), 1)
    formats = _formats(_some(counts))
    read_day = day_reader([text for text, _ in formats], 9999)
    for read, make in ((cell_number, "."), (comma_number, ",")):
        odd = [text for text in counts if np.isnan(read(text))]
        if len(odd) <= _ODD and _read(counts, read) >= _MAJORITY * n_rows:
            numbers = _numbers(counts, read)
            if make == ",":
                found.decide(name, "numbers have a decimal comma?")
            if odd:
                found.decide(name, f"{_shown(odd)} stand for missing values?")
            found.features[name] = _numeric(found, name, numbers, odd=odd, decimal=make)
            return
    if len(counts) > 1 and _read(counts, read_day) >= _MAJORITY * n_rows:
        found.features[name] = _date(found, name, counts, formats)
    elif len(counts) > _MOST_WRITTEN:
        found.decide(name, f"left out: {len(counts):,} different texts. Group them in the table.")
    else:
        found.features[name] = _categories(found, name, plain, counts)


def _read(counts: Counter[str], *readers: Any) -> int:
    """Return the largest number of cells that any single reader can parse."""
    return max(sum(n for text, n in counts.items() if not np.isnan(read(text))) for read in readers)


def _numbers(counts: Counter[str], read: Any) -> Counter[float]:
    numbers: Counter[float] = Counter()
    for text, n in counts.items():
        number = read(text)
        if np.isfinite(number):
            numbers[number] += n
    return numbers


def _numeric(
    found: Drafted,
    name: str,
    numbers: Counter[float],
    *,
    step: float | None = None,
    odd: Iterable[str] = (),
    decimal: str = ".",
) -> Numeric:
    """Draft a numeric feature; extremes that look like markers count as missing."""
    values, markers = np.array(sorted(numbers)), []
    while len(values) > 2 and (marker := extreme_marker(values)) is not None:
        markers.append(marker)
        values = values[values != marker]
    if markers:
        texts = [f"{marker:g}" for marker in markers]
        found.decide(name, f"{_shown(texts)} stand for missing values?")
    low, high = outward(values)
    whole = bool(len(values)) and bool(np.all(values == np.rint(values)))
    missing: list[Any] = [*odd, *markers]
    step = 1.0 if whole and high - low >= 1 else step
    return Numeric(low, high, step=step, missing=missing, decimal=decimal)


def extreme_marker(values: np.ndarray[Any, np.dtype[np.float64]]) -> float | None:
    """Return an extreme value that looks like a missing-value marker, or None.

    Parameters
    ----------
    values : ndarray of shape (n_values,)
        At least two distinct numbers, in ascending order.

    Returns
    -------
    float or None
        The smallest or the largest value, if it looks like a marker.
    """
    for end, rest in ((values[0], values[1:]), (values[-1], values[:-1])):
        gap = min(abs(end - rest[0]), abs(end - rest[-1]))
        far = gap > rest[-1] - rest[0]
        if end in MARKERS and (far or (end < -1 and rest[0] >= 0)):
            return float(end)
    return None


def _formats(counts: Counter[str]) -> list[tuple[str, bool]]:
    """Return the date formats that match any cells, and whether each is ambiguous.

    A format is ambiguous if just as many cells match it with the day and month swapped.
    """
    used = []
    for alike in _FORMATS:
        read = {text: _read(counts, _only(text)) for text in alike}
        best = max(alike, key=read.__getitem__)
        if read[best]:
            used.append((best, len(alike) > 1 and min(read.values()) == read[best]))
    return used


def _only(text: str) -> Any:
    """Return a function that parses dates in one format, but not dates in ISO format."""
    read = day_reader([text], 9999)
    return lambda cell: np.nan if not np.isnan(cell_day(cell)) else read(cell)


def _some(counts: Counter[str]) -> Counter[str]:
    """Return the counts of the first `_ENOUGH` distinct cells."""
    return Counter(dict(itertools.islice(counts.items(), _ENOUGH)))


def _date(
    found: Drafted, name: str, counts: Counter[str], formats: list[tuple[str, bool]]
) -> Feature:
    texts = [text for text, _ in formats]
    # A two-digit year may belong to this century or to the last; a person has to check.
    read = day_reader(texts, 2049)
    days = [day for day in map(read, counts) if not np.isnan(day)]
    if doubted := [text for text, both in formats if both]:
        found.decide(name, f"day or month first? Every cell fits {_shown(doubted)} either way.")
    if any("%y" in text for text in texts):
        found.decide(name, "which century do two-digit years belong to?")
    if odd := [text for text in counts if np.isnan(read(text))]:
        found.decide(name, f"{len(odd)} cells are not dates and count as missing: {_shown(odd)}")
    low, high = day_text(min(days)), day_text(max(days) + (min(days) == max(days)))
    return Date(low, high, format=texts)


def _categories(found: Drafted, name: str, plain: Categorical, counts: Counter[str]) -> Categorical:
    """Draft a categorical feature.

    Rare misspellings of a category become its aliases. Entries such as "unknown" or "-99" are
    treated as missing-value markers.
    """
    rare = max(1, counts.total() // 200)
    common = [text for text, n in counts.items() if n > rare]
    markers = [t for t in plain.categories if t.casefold() in _MARKER_WORDS or t in ("-9", "-99")]
    aliases: dict[str, str] = {}
    for text in plain.categories:
        if counts[text] <= rare and text not in markers:
            meant = _meant(text, [c for c in common if c not in markers])
            if meant is not None:
                aliases[text] = meant
    kept = [text for text in plain.categories if text not in aliases and text not in markers]
    if not kept or plain.ordered:
        return plain
    for texts, what in ((markers, "stand for missing values?"), (aliases, "are misspelt?")):
        if texts:
            found.decide(name, f"{_shown(texts)} {what}")
    single = [text for text in kept if counts[text] == 1]
    if len(single) == 1 and len(kept) > 2:
        found.decide(name, f"{single[0]!r} occurs once: a mistake, or a category?")
    if len(kept) > MOST_CATEGORIES:
        found.decide(name, f"{len(kept):,} categories: group them, or --exclude the column.")
    return Categorical(kept, aliases=aliases, missing=markers)


def _meant(text: str, common: list[str]) -> str | None:
    """Return the common category that a rare text seems to misspell, or None."""
    folded = {category.casefold(): category for category in common}
    close = difflib.get_close_matches(text.casefold(), folded, n=1, cutoff=0.8)
    return folded[close[0]] if close and not any(map(str.isdigit, text)) else None


def _look_at_target(found: Drafted, texts: Any) -> None:
    if isinstance(found.target, Classes) and len(found.target.labels) > 2:
        counts = Counter(text for text in texts if text)
        rare = [text for text, n in counts.items() if n < 0.05 * counts.total()]
        if rare:
            found.decide("the target", f"{_shown(rare)} are classes, or stand for missing values?")
    empty = sum(text is None for text in texts)
    if empty:
        found.decide("the target", f"{empty:,} rows have none and are dropped by a fit; why?")


def _shown(texts: Iterable[str]) -> str:
    listed = list(texts)
    more = f" and {len(listed) - 3} more" if len(listed) > 3 else ""
    return ", ".join(repr(text[:40]) for text in listed[:3]) + more
