"""Simulated records, and data sets that differ by one of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dpexplain.schema import Categorical, Classes, Numeric, Schema

Records = tuple[pd.DataFrame, pd.Series]
"""Table and target."""

_ODD_CELLS = (
    np.nan, np.inf, -np.inf, 1e300, "Zorblax", None, b"\xff", [1], "<b>", -1.0, 10**400,
)  # fmt: skip


def made_up_records(schema: Schema, n: int, seed: int, *, wild: bool = False) -> Records:
    """Draw random records that conform to a schema.

    Parameters
    ----------
    schema : Schema
        Columns and target.
    n : int
        Number of records.
    seed : int
        Seed of the generator.
    wild : bool, default=False
        Whether some cells are empty, infinite, outside the schema or of the wrong type.

    Returns
    -------
    X : DataFrame
    y : Series
    """
    rng = np.random.default_rng(seed)
    columns = {name: _cells(feature, n, rng) for name, feature in schema.features.items()}
    X, y = pd.DataFrame(columns, index=range(n)), pd.Series(_answers(schema.target, n, rng))
    if not wild:
        return X, y
    X, y = X.astype(object), y.astype(object)
    for column in X:
        X[column] = _spoiled(X[column], rng)
    return X, _spoiled(y, rng)


def _cells(feature: Numeric | Categorical, n: int, rng: np.random.Generator) -> Any:
    if isinstance(feature, Categorical):
        return np.array(feature.categories, dtype=object)[
            rng.integers(len(feature.categories), size=n)
        ]
    return np.round(rng.uniform(feature.low, feature.high, n), 3)


def _answers(target: Any, n: int, rng: np.random.Generator) -> Any:
    if isinstance(target, Classes):
        return np.array(target.labels, dtype=object)[rng.integers(len(target.labels), size=n)]
    return rng.uniform(target.low, target.high, n)


def _spoiled(column: pd.Series, rng: np.random.Generator) -> pd.Series:
    cells = list(column)
    for i in np.flatnonzero(rng.random(len(cells)) < 0.3):
        cells[i] = _ODD_CELLS[rng.integers(len(_ODD_CELLS))]
    return pd.Series(cells, index=column.index, dtype=object)


def without(records: Records, place: int) -> Records:
    """Drop the record at position `place`.

    Parameters
    ----------
    records : tuple of DataFrame and Series
        Table and target.
    place : int
        Position of the record.

    Returns
    -------
    tuple of DataFrame and Series
        Table and target with one fewer record.
    """
    X, y = records
    kept = np.arange(len(X)) != place
    return X[kept], y[kept]


def exchanged(records: Records, place: int, other: Records) -> Records:
    """Replace one record.

    Parameters
    ----------
    records : tuple of DataFrame and Series
        Table and target.
    place : int
        Position of the record to replace.
    other : tuple of DataFrame and Series
        Table and target whose first record is the replacement.

    Returns
    -------
    tuple of DataFrame and Series
        Table and target with the same number of records.
    """
    parts: list[Any] = []
    pairs: list[tuple[Any, Any]] = list(zip(records, other, strict=True))
    for part, new in pairs:
        rows = [part.iloc[:place], new.iloc[:1], part.iloc[place + 1 :]]
        parts.append(pd.concat([r.astype(object) for r in rows], ignore_index=True))
    return parts[0], parts[1]
