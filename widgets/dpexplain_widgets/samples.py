"""Samples that a local view shows: what was given, read cell by cell as the terms read it."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from dpexplain._cells import cell_number, cell_text

MOST_SAMPLES = 1_000
_LARGEST = sys.float_info.max


def sample_rows(
    terms: Sequence[Mapping[str, Any]],
    categories: Sequence[Sequence[str]],
    samples: pd.DataFrame,
    *,
    public: bool,
) -> dict[str, Any]:
    """Read samples for a payload.

    Parameters
    ----------
    terms : sequence of mapping
        The terms of the payload; they say which columns are read and how.
    categories : sequence of sequences of str
        The categories of each term, empty for numbers.
    samples : DataFrame of shape (n_samples, n_columns)
        With a column for every term; other columns are left out.
    public : bool
        Whether the samples may be shown to anyone.

    Returns
    -------
    dict
        "public": whether the samples may leave; "names", the index as text; "rows", one list for
        each sample with a number, a category or other text, or None (missing) for each term.

    Raises
    ------
    TypeError
        If `samples` is no DataFrame.
    ValueError
        If a column is missing or there are too many samples.
    """
    if not isinstance(samples, pd.DataFrame):
        raise TypeError(
            f"samples must be a DataFrame with a column for every term, got "
            f"{type(samples).__name__}."
        )
    names = [term["name"] for term in terms]
    if missing := [name for name in names if name not in samples.columns]:
        raise ValueError(
            f"samples lack {len(missing)} of {len(names)} columns, the first is "
            f"{missing[0][:60]!r}; a column is needed for every term."
        )
    if not 0 < len(samples) <= MOST_SAMPLES:
        raise ValueError(
            f"got {len(samples)} samples; a view shows 1 to {MOST_SAMPLES:,}. Pass those that "
            "you want to look at, such as samples.head(20)."
        )
    columns = [
        _numbers(samples[term["name"]])
        if term["kind"] == "numeric"
        else _texts(samples[term["name"]], categories[place])
        for place, term in enumerate(terms)
    ]
    return {
        "public": bool(public),
        "names": [str(name) for name in samples.index],
        "rows": [list(row) for row in zip(*columns, strict=True)],
    }


def _numbers(column: pd.Series) -> list[float | None]:
    """Read numbers; one beyond the largest that JSON holds stands at that end."""
    values = [cell_number(cell) for cell in column.astype(object)]
    return [None if math.isnan(x) else max(-_LARGEST, min(_LARGEST, x)) for x in values]


def _texts(column: pd.Series, categories: Sequence[str]) -> list[str | None]:
    """Read categories as the terms spell them, and other cells as text."""
    spelled = {cell_text(name): name for name in categories}
    texts = [cell_text(cell) for cell in column.astype(object)]
    return [spelled.get(text, text) for text in texts]
