"""Draft schemas from messy PUBLIC tables.

A draft is made from the data, so it is not private. ID columns, date formats, missing-value markers
and misspellings are guessed, and every guess is listed for a person to confirm or correct.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dpexplain._utils.lazy import pd
from dpexplain._utils.names import closest_name
from dpexplain.exceptions import SchemaError
from dpexplain.schema.draft import named_columns, observed_feature, observed_target, outward
from dpexplain.schema.features import (
    Categorical,
    Classes,
    Date,
    Feature,
    Numeric,
    Range,
    Target,
    Task,
)
from dpexplain.schema.guesses import (
    MAJORITY,
    MOST_CATEGORIES,
    day_markers,
    first_texts,
    formats_of,
    looks_like_codes,
    looks_like_serials,
    looks_missing,
    n_read,
    number_form,
    number_markers,
    probable_role,
    spelled_alike,
)
from dpexplain.schema.suspicions import of_totals
from dpexplain.schema.toml import DRAFT_MARK
from dpexplain.tables.cells import cell_number, day_text
from dpexplain.tables.columns import Column, as_table
from dpexplain.tables.encoding import texts_of
from dpexplain.tables.spellings import day_reader

_MOST_WRITTEN: Final = 1_000
_MOST_CLASSES: Final = 1_000
_MOST_ODD: Final = 5
_FEWEST_NUMBERS: Final = 20  # with fewer values, "1,5" and "2,5" may be classes

_SERIAL_DAY: Final = day_reader(["excel"], 9999)
_TARGET: Final = "the target"
_MISSING: Final = ("stand for missing values?", "stands for a missing value?")


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
        Guesses to confirm or correct, each with the name of a column and some of its values.
    """

    schema: S
    decisions: tuple[str, ...]

    def to_toml(self) -> str:
        """Return the schema as TOML, with the decisions as comments before it.

        Returns
        -------
        str
        """
        lines = [f"{DRAFT_MARK}: not private." + " To decide:" * bool(self.decisions)]
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
        self.decisions.append(f"{name if name == _TARGET else repr(name)}: {question}")


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
        found.target = _drafted_target(found, y, task)
    table = as_table(X)
    if isinstance(table, pd.DataFrame) and any(where.any() for *_, where in of_totals(table, y)):
        found.decide("all columns", "a line of totals? Remove it: a fit uses it as a record.")
    return found


def _add(found: Drafted, name: str, column: Column, *, has_names: bool) -> None:
    """Add one column to the draft as a feature, an ID column or a person column."""
    counts = Counter(text for text in texts_of(column) if text is not None)
    typed = getattr(getattr(column, "dtype", None), "kind", "O") in "biufM"
    few = typed or len(counts) <= _MOST_WRITTEN
    plain = observed_feature(column) if few else Categorical(["text"])
    role = probable_role(name, _as_whole_numbers(plain, counts), counts) if has_names else ""
    if role == "person" and found.person is None:
        found.person = name
        most = max(counts.values(), default=1)
        found.decide(
            name,
            f"{len(counts):,} values in {counts.total():,} rows, at most {most:,} rows each. Does "
            "it identify persons? Then it is the person column; otherwise, name it as an ID.",
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


def _as_whole_numbers(plain: Feature, counts: Counter[str]) -> Feature:
    """Draft a column of texts as whole numbers if nearly all texts are whole numbers."""
    if type(plain) is not Categorical or len(counts) <= _FEWEST_NUMBERS:
        return plain
    odd = sum(not text.lstrip("-").isdigit() for text in counts)
    return Numeric(0, 1, step=1.0) if 0 < odd <= _MOST_ODD else plain


def _is_declared(plain: Categorical, column: Column) -> bool:
    """Return whether a column has a categorical dtype or contains only Booleans."""
    listed = isinstance(getattr(column, "dtype", None), pd.CategoricalDtype)
    return listed or plain.categories == ("False", "True")


def _add_texts(found: Drafted, name: str, plain: Categorical, counts: Counter[str]) -> None:
    """Add a column of strings to the draft, as numbers, dates or categories."""
    n_rows = max(counts.total(), 1)
    formats = formats_of(first_texts(counts))
    read_day = day_reader([text for text, _ in formats], 9999)
    if form := number_form(counts):
        for question in form.questions:
            found.decide(name, question)
        if form.odd:
            found.decide(name, f"{_shown(form.odd)} {_MISSING[len(form.odd) == 1]}")
        numbers = _numbers(counts, form.read)
        found.features[name] = _numeric(found, name, numbers, odd=form.odd, **form.rules)
        return
    if len(counts) > 1 and n_read(counts, read_day) >= MAJORITY * n_rows:
        found.features[name] = _date(found, name, counts, formats)
    elif len(counts) > _MOST_WRITTEN:
        words = f"left out: {len(counts):,} different texts. Group them in the table."
        found.decide(name, words + _person_words(counts))
    else:
        found.features[name] = _categories(found, name, plain, counts)


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
    **written: Any,
) -> Numeric:
    """Draft a numeric feature; numbers that look like markers count as missing.

    Spreadsheet serial numbers become a date feature.
    """
    values = np.array(sorted(numbers), dtype=np.float64)
    n_cells = np.array([numbers[value] for value in values.tolist()], dtype=np.int64)
    markers = number_markers(values, n_cells, all_extremes=True)
    values = values[~np.isin(values, markers)]
    if markers:
        texts = [f"{marker:g}" for marker in markers]
        found.decide(name, f"{_shown(texts)} {_MISSING[len(texts) == 1]}")
    if looks_like_serials(name, values):
        found.decide(
            name, "numbers stand for days, as in spreadsheets? Otherwise, remove the format."
        )
        days = [_SERIAL_DAY(value) for value in (values[0], values[-1])]
        texts = [f"{marker:g}" for marker in markers]
        return Date(*map(day_text, days), format="excel", missing=[*odd, *texts])
    low, high = outward(values)
    whole = bool(len(values)) and bool(np.all(values == np.rint(values)))
    missing: list[Any] = [*odd, *markers]
    step = 1.0 if whole and high - low >= 1 else step
    return Numeric(low, high, step=step, missing=missing, **written)


def _date(
    found: Drafted, name: str, counts: Counter[str], formats: list[tuple[str, bool]]
) -> Feature:
    texts = [text for text, _ in formats]
    # A two-digit year may belong to this century or to the last; a person has to check.
    read = day_reader(texts, 2049)
    n_of_day: Counter[float] = Counter()
    for text, n in counts.items():
        n_of_day[read(text)] += n
    values = np.array(sorted(day for day in n_of_day if not np.isnan(day)))
    markers = day_markers(values, np.array([n_of_day[day] for day in values.tolist()]))
    if markers:
        days = [day_text(day) for day in markers]
        found.decide(name, f"{_shown(days)} {_MISSING[len(days) == 1]}")
        values = values[~np.isin(values, markers)]
    if doubted := [text for text, both in formats if both]:
        found.decide(name, f"day or month first? Every cell fits {_shown(doubted)} either way.")
    if any("%y" in text for text in texts):
        found.decide(name, "which century do two-digit years belong to?")
    if odd := [text for text in counts if np.isnan(read(text))]:
        what = "1 text is not a date and counts" if len(odd) == 1 else f"{len(odd)} texts are not"
        what += "" if len(odd) == 1 else " dates and count"
        found.decide(name, f"{what} as missing: {_shown(odd)}")
    low, high = values.min(), values.max()
    spelled = [text for text in counts if read(text) in markers]
    return Date(day_text(low), day_text(high + (low == high)), format=texts, missing=spelled)


def _categories(found: Drafted, name: str, plain: Categorical, counts: Counter[str]) -> Categorical:
    """Draft a categorical feature.

    Rare misspellings of a category become its aliases. Entries such as "unknown" or "-99" are
    treated as missing-value markers.
    """
    rare = max(1, counts.total() // 200)
    common = [text for text, n in counts.items() if n > rare]
    markers = [text for text in plain.categories if looks_missing(text)]
    aliases: dict[str, str] = {}
    for text in plain.categories:
        if counts[text] <= rare and text not in markers:
            meant = _meant(text, [c for c in common if c not in markers])
            if meant is not None:
                aliases[text] = meant
    kept = [text for text in plain.categories if text not in aliases and text not in markers]
    if not kept or plain.ordered:
        return plain
    for texts, words in ((markers, _MISSING), (aliases, ("are misspelled?", "is misspelled?"))):
        if texts:
            found.decide(name, f"{_shown(texts)} {words[len(texts) == 1]}")
    for text, like in spelled_alike(kept):
        found.decide(name, f"{text!r} resembles {like!r}: the same? Then make it an alias.")
    single = [text for text in kept if counts[text] == 1]
    if len(single) == 1 and len(kept) > 2:
        found.decide(name, f"{single[0]!r} occurs once: a mistake, or a category?")
    if len(kept) > MOST_CATEGORIES:
        many = f"{len(kept):,} categories: group them, or --exclude the column."
        found.decide(name, many + _person_words(counts))
    return Categorical(kept, aliases=aliases, missing=markers)


def _meant(text: str, common: list[str]) -> str | None:
    """Return the common category that a rare text seems to misspell, or None."""
    folded = {category.casefold(): category for category in common}
    close = difflib.get_close_matches(text.casefold(), folded, n=1, cutoff=0.8)
    return folded[close[0]] if close and not any(map(str.isdigit, text)) else None


def _person_words(counts: Counter[str]) -> str:
    return " If they identify persons, name it as the person column." * looks_like_codes(counts)


def _drafted_target(found: Drafted, y: Any, task: Task) -> Target:
    """Draft the target; values that look like markers count as missing."""
    texts = texts_of(np.asarray(y, dtype=object).ravel())
    counts = Counter(text for text in texts if text is not None)
    form = (
        None if task == "classification" or len(counts) < _FEWEST_NUMBERS else number_form(counts)
    )
    if form is not None and (form.rules or form.odd):
        name = str(getattr(y, "name", None) or "")
        numbers = _numbers(counts, form.read)
        plain = Range(*outward(np.array(sorted(numbers))), name=name, **form.rules)
        for question in form.questions:
            found.decide(_TARGET, question)
        target: Target = _without_number_markers(found, plain, numbers, form.odd)
    elif isinstance(target := observed_target(y, task=task), Classes):
        if len(target.names) > _MOST_CLASSES:
            raise SchemaError(
                f"the target has {len(target.names):,} different texts; is it the column to "
                "predict? Exclude it, or group its texts in the table."
            )
        target = _without_markers(found, target)
        rare = [t for t in target.names if len(target.names) > 2 and counts[t] < _rare(counts)]
        if rare:
            words = ("are classes, or stand", "is a class, or stands")[len(rare) == 1]
            found.decide(_TARGET, f"{_shown(rare)} {words} for missing values?")
    else:
        target = _without_number_markers(found, target, _numbers(counts, cell_number))
    if empty := sum(text is None for text in texts):
        words = ("rows have none and are", "row has none and is")[empty == 1]
        found.decide(_TARGET, f"{empty:,} {words} dropped by a fit; why?")
    return target


def _rare(counts: Counter[str]) -> float:
    return 0.05 * counts.total()


def _without_markers(found: Drafted, target: Classes) -> Classes:
    markers = [label for label in target.labels if looks_missing(str(label))]
    rest = [label for label in target.labels if label not in markers]
    if not markers or len(rest) < 2:
        return target
    found.decide(_TARGET, f"{_shown(map(str, markers))} {_MISSING[len(markers) == 1]}")
    return Classes(rest, name=target.name, missing=markers)


def _without_number_markers(
    found: Drafted, target: Range, numbers: Counter[float], odd: Sequence[str] = ()
) -> Range:
    values = np.array(sorted(numbers), dtype=np.float64)
    n_cells = np.array([numbers[value] for value in values.tolist()], dtype=np.int64)
    markers = number_markers(values, n_cells, all_extremes=True)
    if not markers and not odd:
        return target
    texts = [*odd, *(f"{marker:g}" for marker in markers)]
    found.decide(_TARGET, f"{_shown(texts)} {_MISSING[len(texts) == 1]}")
    low, high = outward(values[~np.isin(values, markers)])
    return replace(target, low=low, high=high, missing=[*odd, *markers])


def _shown(texts: Iterable[str]) -> str:
    listed = list(texts)
    more = f" and {len(listed) - 3} more" if len(listed) > 3 else ""
    return ", ".join(repr(text[:40]) for text in listed[:3]) + more
