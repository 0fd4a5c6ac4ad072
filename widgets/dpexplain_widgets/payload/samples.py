"""Convert the samples of a local view, following the same rules as the model."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from dpexplain.tables.cells import DATE_UNIT, cell_text, number_in

MOST_SAMPLES = 1_000
_LARGEST = sys.float_info.max


def sample_rows(
    terms: Sequence[Mapping[str, Any]],
    fits: Sequence[Mapping[str, Any]],
    samples: pd.DataFrame,
    *,
    public: bool,
) -> dict[str, Any]:
    """Convert samples to plain values for a payload.

    Parameters
    ----------
    terms : sequence of mapping
        The terms of the payload; they determine which columns are read, and how.
    fits : sequence of mapping
        The same terms in a fit; they determine the categories.
    samples : DataFrame of shape (n_samples, n_columns)
        Records with a column for every feature; other columns are ignored.
    public : bool
        Whether the samples may be shown to anyone.

    Returns
    -------
    dict
        "public" says whether the samples may be shared, "names" is the index as strings, and "rows"
        contains a list for each sample, with one value for each term: a number, a category or other
        string, or None (missing). For a pair of features, the value is a list of two such values.

    Raises
    ------
    TypeError
        If `samples` is not a DataFrame.
    ValueError
        If a column is missing, or if there are no samples or too many.
    """
    if not isinstance(samples, pd.DataFrame):
        raise TypeError(
            f"samples must be a DataFrame with a column for every term, got "
            f"{type(samples).__name__}."
        )
    columns = [
        [{**axis} for axis in fit["axes"]] if term["kind"] == "pair" else [{**fit, **term}]
        for term, fit in zip(terms, fits, strict=True)
    ]
    names = list(dict.fromkeys(column["name"] for each in columns for column in each))
    if missing := [name for name in names if name not in samples.columns]:
        raise ValueError(
            f"samples lack {len(missing)} of {len(names)} columns, starting with "
            f"{missing[0][:60]!r}; pass one column per feature."
        )
    if not 0 < len(samples) <= MOST_SAMPLES:
        raise ValueError(
            f"got {len(samples)} samples; a view shows 1 to {MOST_SAMPLES:,}. Pass the ones you "
            "need, such as samples.head(20)."
        )
    read = [[_cells(samples, column) for column in each] for each in columns]
    values = [
        each[0] if len(each) == 1 else list(map(list, zip(*each, strict=True))) for each in read
    ]
    return {
        "public": bool(public),
        "names": [str(name) for name in samples.index],
        "rows": [list(row) for row in zip(*values, strict=True)],
    }


def same_samples(
    payload: Mapping[str, Any], terms: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """Convert the samples in a payload so that they match the terms of a new payload.

    Parameters
    ----------
    payload : mapping
    terms : sequence of mapping
        Terms of the new payload. Only pairs can be new, and both features of a new pair must have
        their own curves.

    Returns
    -------
    dict or None
        The samples, in the form returned by :func:`sample_rows`; None if there are no samples.
    """
    if payload["samples"] is None:
        return None
    places = {term["name"]: place for place, term in enumerate(payload["terms"])}
    # Views take the two values of a pair from the curves of its features if there are such curves.
    rows = [
        [row[places[term["name"]]] if term["name"] in places else [None, None] for term in terms]
        for row in payload["samples"]["rows"]
    ]
    return {**payload["samples"], "rows": rows}


def _cells(samples: pd.DataFrame, column: Mapping[str, Any]) -> list[Any]:
    if column["kind"] == "numeric":
        return _numbers(samples[column["name"]], DATE_UNIT if column["is_date"] else "")
    names = column["labels"][: len(column["labels"]) - len(column["special"])]
    return _texts(samples[column["name"]], names)


def _numbers(column: pd.Series, unit: str) -> list[float | None]:
    """Convert cells to numbers, and dates to days; infinity becomes a finite number."""
    values = list(map(number_in(unit), column.astype(object)))
    return [None if math.isnan(x) else max(-_LARGEST, min(_LARGEST, x)) for x in values]


def _texts(column: pd.Series, categories: Sequence[str]) -> list[str | None]:
    """Convert cells to strings; categories are spelled as in the terms."""
    spelled = {cell_text(name): name for name in categories}
    texts = [cell_text(cell) for cell in column.astype(object)]
    return [spelled.get(text, text) for text in texts]
