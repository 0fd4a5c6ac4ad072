"""Data sets of the benchmarks, and the splits that all models share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from published import TEST_SHARE

from dpexplain import Categorical, Classes, Numeric, Schema
from dpexplain.datasets import (
    Dataset,
    load_adult,
    load_california_housing,
    load_fair,
    load_randhie,
    load_telco_churn,
    load_wine_quality,
)


def load_simulated(n_rows: int = 600) -> Dataset:
    """A small table from a fixed seed: to try the benchmarks themselves."""
    rng = np.random.default_rng(0)
    job = rng.choice(["clerk", "nurse", "pilot"], n_rows).astype(object)
    job[:5] = None
    X = pd.DataFrame({"age": rng.uniform(18, 90, n_rows), "job": job})
    X.loc[5:9, "age"] = np.nan
    chance = np.where(X["age"].fillna(50) > 50, 0.8, 0.2)
    schema = Schema(
        {"age": Numeric(18, 90, unit="years"), "job": Categorical(["clerk", "nurse", "pilot"])},
        target=Classes(["no", "yes"]),
    )
    y = pd.Series(np.where(rng.random(n_rows) < chance, "yes", "no"), name="reads")
    text = "simulated from a fixed seed"
    about = dict.fromkeys(("source", "licence", "description", "citation"), text)
    return Dataset(X, y, schema=schema, name="simulated", **about)


@dataclass(frozen=True)
class Table:
    """One data set by the name that the command line knows.

    Attributes
    ----------
    load : callable
        Loader.
    files : bool
        Whether it needs files that no installed package brings.
    """

    load: Callable[[], Dataset]
    files: bool = True


TABLES = {
    "survey": Table(load_fair, files=False),
    "insurance": Table(load_randhie, files=False),
    "adult": Table(load_adult),
    "telco": Table(load_telco_churn),
    "california": Table(load_california_housing),
    "wine": Table(load_wine_quality),
    "wine-distinct": Table(partial(load_wine_quality, drop_duplicates=True)),
    "simulated": Table(load_simulated, files=False),
}


def found(names: Iterable[str] | None, usual: Iterable[str]) -> Iterator[tuple[str, Dataset]]:
    """Load data sets one after the other; say in one line which are left out, and why.

    Parameters
    ----------
    names : iterable of str or None
        Data sets that were asked for: they are downloaded if need be.
    usual : iterable of str
        What is taken when nothing was asked for: files only from ``DPEXPLAIN_DATA``.

    Yields
    ------
    name : str
    dataset : Dataset
    """
    for name in names or usual:
        if names is None and TABLES[name].files and not os.environ.get("DPEXPLAIN_DATA"):
            print(f"Skipped {name}: set DPEXPLAIN_DATA, or name it with --datasets to download it.")
            continue
        try:
            yield name, TABLES[name].load()
        except (ConnectionError, ImportError) as error:
            print(f"Skipped {name}: {error}")


def splits(n_rows: int, n_splits: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Random 80/20 splits from fixed seeds: the first few are the same however many are made.

    Yields
    ------
    train, test : ndarray
        Row numbers.
    """
    for seed in range(n_splits):
        order = np.random.default_rng(seed).permutation(n_rows)
        n_test = round(TEST_SHARE * n_rows)
        yield order[n_test:], order[:n_test]
