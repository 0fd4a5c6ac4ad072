"""Signs of mistakes in rows and IDs that occur several times. NOT PRIVATE.

The findings are questions for the data holder, as in `suspicions`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.lazy import pd
from dpexplain.schema.guesses import FEWEST_ROWS, MOST_CATEGORIES, looks_like_codes
from dpexplain.schema.suspicions import Found
from dpexplain.tables.columns import Column, KnownRoles
from dpexplain.tables.encoding import texts_of

_DROPPED = "the row is dropped if persons are protected"
_MANY_ROWS = 100


def of_rows_again(table: pd.DataFrame, y: Column | None, ids: Sequence[str]) -> Found:
    """Report repeated rows if there is an ID column, or all rows repeat equally often.

    Parameters
    ----------
    table : DataFrame
        All columns except the target.
    y : array or Series of shape (n_samples,), or None
        The target; None if only the features are checked.
    ids : sequence of str
        Columns that identify records.

    Returns
    -------
    list of (str, str, ndarray)
        For each problem: its description, what a private fit does about it, and a mask of the
        affected rows.
    """
    texts = [texts_of(table.iloc[:, place]) for place in range(table.shape[1])]
    if y is not None and len(outcome := texts_of(y)) == len(table):
        texts.append(outcome)
    rows = list(zip(*texts, strict=True))
    filled = np.array([any(text is not None for text in row) for row in rows], dtype=bool)
    counts = Counter(row for row, known in zip(rows, filled, strict=True) if known)
    again = np.array([counts[row] > 1 for row in rows], dtype=bool)
    if filled.sum() < FEWEST_ROWS or not again.any():
        return []
    # Without an ID, rows of a few categories are equal by chance, but not all equally often.
    if not any(name in table.columns for name in ids) and len(set(counts.values())) > 1:
        return []
    return [("the same row several times: exported twice?", "every copy is used", again)]


def of_persons(table: pd.DataFrame, schema: KnownRoles, most_rows: int | None) -> Found:
    """Look for mistakes in the person column.

    Parameters
    ----------
    table : DataFrame
        All columns.
    schema : Schema
        Schema whose person column is in the table.
    most_rows : int or None
        Maximum number of rows per person that a fit uses; None if it is not known.

    Returns
    -------
    list of (str, str, ndarray)
        As in `of_rows_again`.
    """
    texts = texts_of(table[schema.person])
    filled = np.array([text is not None for text in texts], dtype=bool)
    counts = Counter(texts[filled])
    n_rows, n_values = counts.total(), len(counts)
    found = [("empty", _DROPPED, ~filled)]
    if most_rows is not None:
        seen: Counter[str] = Counter()
        place = np.zeros(len(texts), dtype=np.intp)
        for row, text in enumerate(texts):
            place[row] = seen[text]
            seen[text] += 1
        beyond = filled & (place >= most_rows)
        rows = "1 row" if most_rows == 1 else f"{most_rows} rows"
        found.append((f"beyond the limit of {rows} per person", "not used", beyond))
    if n_rows < FEWEST_ROWS:
        return found
    found.append(("spelled differently elsewhere: the same person?", "two persons", _alike(texts)))
    if n_values * _MANY_ROWS < n_rows:
        words = f"{n_rows // n_values:,} rows for each value: is it the person column?"
        found.append((words, "few rows of each are used", filled))
    if n_values == n_rows and (other := next(_other_persons(table, schema), None)) is not None:
        words = f"a different value in every row; is {other!r} the person column?"
        found.append((words, "protects rows, not persons", filled))
    return found


def _alike(texts: NDArray[np.object_]) -> NDArray[np.bool_]:
    """Find the IDs that differ from another ID only in case, spaces or punctuation."""
    spellings: dict[str, set[str]] = defaultdict(set)
    for text in texts:
        if text is not None:
            spellings[_folded(text)].add(text)
    several = [text is not None and len(spellings[_folded(text)]) > 1 for text in texts]
    return np.array(several, dtype=bool)


def _folded(text: str) -> str:
    kept = "".join(letter for letter in text.casefold() if letter.isalnum())
    return kept or text


def _other_persons(table: pd.DataFrame, schema: KnownRoles) -> Iterator[str]:
    """Yield the non-feature columns whose values repeat across rows, as person IDs do."""
    for place, name in enumerate(map(str, table.columns)):
        if name in schema.feature_names or name == schema.person:
            continue
        counts = Counter(text for text in texts_of(table.iloc[:, place]) if text is not None)
        balanced = len(set(counts.values())) <= 2 and len(counts) > MOST_CATEGORIES
        if len(counts) < counts.total() and (looks_like_codes(counts) or balanced):
            yield name
