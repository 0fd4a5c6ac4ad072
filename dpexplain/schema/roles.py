"""Columns that look like IDs of records or persons. NOT PRIVATE."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

import numpy as np

from dpexplain.schema.features import Date, Feature, Numeric
from dpexplain.schema.readings import MAJORITY, first_texts, formats_of, n_read
from dpexplain.tables.cells import cell_number
from dpexplain.tables.spellings import comma_number, day_reader

MOST_CATEGORIES: Final = 50  # longer lists are mostly codes and free text
FEWEST_ROWS: Final = 20  # with fewer rows, distinct values do not suggest an ID column
_MOST_ROWS_EACH: Final = 50  # more rows of one value are rarely those of one person
_CODE: Final = re.compile(r"(?=.*\d)\S.{2,40}")
_PERSONS: Final = re.compile(
    r"(patient|person|subject|customer|client|member|participant|pupil|student|owner|holder"
    r"|employee|worker|defendant|insured|debtor|donor|tenant|household|account|card)(?P<last>$)?"
)
_IDS: Final = re.compile(
    r"(^|[\W_])(id|ids|nr|no|num|number|key|uuid|guid|mrn|index)$|^unnamed: 0$"
)


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
    person, named = _PERSONS.search(folded), bool(_IDS.search(folded))
    if is_numeric:
        is_name = named or (person is not None and person["last"] is not None)
        if (person and named) or (is_name and repeats(counts)):
            return "person"
        numbers = np.array([cell_number(text) for text in counts])
        return "id" if unlike and numbers.max() - numbers.min() == n_rows - 1 else ""
    some = first_texts(counts)
    readers = (cell_number, comma_number, day_reader([text for text, _ in formats_of(some)], 9999))
    if n_read(some, *readers) >= MAJORITY * some.total():
        return ""
    if (person and len(counts) > MOST_CATEGORIES) or (named and repeats(counts)):
        return "person"
    return "id" if len(counts) > max(MOST_CATEGORIES, 0.9 * n_rows) else ""


def repeats(counts: Counter[str]) -> bool:
    """Return whether values occur in several rows each, as the IDs of persons do.

    Parameters
    ----------
    counts : Counter of str
        Number of rows with each text.

    Returns
    -------
    bool
        True if there are more than 50 values, at least two in a hundred rows, and the most
        frequent one is in at most 50 rows.
    """
    n_rows, n_values = counts.total(), len(counts)
    most = max(counts.values(), default=0)
    return max(MOST_CATEGORIES, 0.02 * n_rows) < n_values < n_rows and most <= _MOST_ROWS_EACH


def looks_like_codes(counts: Counter[str]) -> bool:
    """Return whether almost all values are codes with a digit, and `repeats` holds."""
    codes = sum(bool(_CODE.fullmatch(text)) for text in counts)
    return repeats(counts) and codes >= 0.9 * len(counts)
