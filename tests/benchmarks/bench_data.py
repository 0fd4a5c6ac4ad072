"""Data sets of the benchmarks, and the splits shared by all models."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from published import TEST_SHARE
from scipy.special import ndtr

from dpexplain import Categorical, Classes, Numeric, Range, Schema
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
    """Simulate a small table from a fixed seed, for trying out the benchmarks."""
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


def load_many_features(n_rows: int = 10_000, n_features: int = 30) -> Dataset:
    """Simulate classes with many features, of which every third matters."""
    rng = np.random.default_rng(1)
    values = rng.uniform(0, 1, (n_rows, n_features))
    curves = (lambda x: 2 * x - 1, lambda x: np.sin(2 * np.pi * x), lambda x: (x > 0.7) - 0.3)
    score = sum(curves[k % 9 // 3](values[:, k]) for k in range(0, n_features, 3))
    names = [f"x{k:02d}" for k in range(n_features)]
    y = pd.Series(np.where(rng.random(n_rows) < 1 / (1 + np.exp(-score)), "yes", "no"), name="y")
    schema = Schema({n: Numeric(0, 1) for n in names}, target=Classes(["no", "yes"]))
    return dataset_of(pd.DataFrame(values, columns=names), y, schema, "many-features")


def load_wide_bounds(n_rows: int = 15_000, seed: int = 0) -> Dataset:
    """Simulate classes with bounds 100 to 10,000 times wider than nearly all values.

    Among the 14 columns, amounts are log-normal, measurements are normal around a center of
    their own within bounds on both sides of zero, and codes are uniform over a short part of a long
    range far from zero. Four in five matter, and their curves are not monotone.
    """
    rng = np.random.default_rng(seed)
    columns, features, score = {}, {}, np.zeros(n_rows)
    for k in range(14):
        width = 10.0 ** rng.uniform(2, 4)
        z, name = rng.standard_normal(n_rows), f"x{k:02d}"
        if k % 3 == 0:
            columns[name] = np.minimum(np.exp(z), 10.0 * width)
            features[name] = Numeric(0, float(np.ceil(10.0 * width)))
        elif k % 3 == 1:
            columns[name] = np.round(4.0 * rng.standard_normal() + z, 3)
            bound = float(np.ceil(3.0 * width))
            features[name] = Numeric(-bound, bound)
        else:
            span = float(np.ceil(50.0 * width))
            place = np.floor(rng.uniform(0.1, 0.9) * span)
            columns[name] = np.floor(place + 50.0 * ndtr(z))
            features[name] = Numeric(0, span, step=1)
        if k % 5 != 4:
            curve = (z, np.abs(z) - 0.8, np.sin(2.0 * z))[rng.integers(3)]
            score += rng.choice([-1.0, 1.0]) * rng.uniform(0.4, 1.0) * curve
    y = np.where(rng.random(n_rows) < 1.0 / (1.0 + np.exp(-score)), "yes", "no")
    schema = Schema(features, target=Classes(["no", "yes"]))
    return dataset_of(pd.DataFrame(columns), pd.Series(y, name="y"), schema, "wide-bounds")


def load_heavy_tails(n_rows: int = 10_000, seed: int = 0) -> Dataset:
    """Simulate an insurer's costs: amounts with heavy tails, and a bounded target."""
    rng = np.random.default_rng(seed)
    income = rng.lognormal(10.3, 0.8, n_rows)
    savings = np.minimum(1_000.0 * rng.pareto(1.1, n_rows), 1e8)
    claims = np.minimum(rng.pareto(1.5, n_rows) * (rng.random(n_rows) < 0.3) * 500.0, 1e6)
    age = rng.integers(18, 90, n_rows).astype(float)
    visits = rng.poisson(2.0, n_rows).astype(float)
    X = pd.DataFrame(
        {"income": income, "savings": savings, "claims": claims, "age": age, "visits": visits}
    )
    level = (
        0.6 * np.log1p(claims / 500.0) - 0.4 * np.log(income / 30_000.0) - 0.2 * np.log1p(savings)
    )
    level += 0.02 * (age - 50.0) + 0.15 * visits
    cost = np.clip(np.exp(level + 0.5 * rng.standard_normal(n_rows)) * 1_000.0, 0.0, 20_000.0)
    schema = Schema(
        {
            "income": Numeric(0, 1e8, unit="dollars"),
            "savings": Numeric(0, 1e8, unit="dollars"),
            "claims": Numeric(0, 1e6, unit="dollars"),
            "age": Numeric(18, 89, unit="years", step=1),
            "visits": Numeric(0, 400, step=1),
        },
        target=Range(0, 20_000),
    )
    return dataset_of(X, pd.Series(cost, name="cost"), schema, "heavy-tails")


def load_few_positives(n_rows: int = 20_000, share: float = 0.01, seed: int = 0) -> Dataset:
    """Simulate two classes, one of which is rare."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((n_rows, 10))
    score = 1.2 * values[:, 0] + values[:, 1] ** 2 - np.sin(2.0 * values[:, 2]) + 0.5 * values[:, 3]
    score += 0.5 * rng.logistic(size=n_rows)
    names = [f"x{k}" for k in range(10)]
    y = np.where(score > np.quantile(score, 1.0 - share), "yes", "no")
    schema = Schema({n: Numeric(-6, 6) for n in names}, target=Classes(["no", "yes"]))
    X = pd.DataFrame(np.clip(values, -6, 6), columns=names)
    return dataset_of(X, pd.Series(y, name="y"), schema, "few-positives")


def load_small_table(n_rows: int = 400, seed: int = 0) -> Dataset:
    """Simulate a small trial with two classes: numbers, a count and a group."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n_rows).astype(float)
    marker = rng.lognormal(1.0, 0.7, n_rows)
    visits = rng.poisson(3.0, n_rows).astype(float)
    group = rng.choice(["a", "b", "c"], n_rows)
    score = 0.06 * (age - 54.0) + 1.5 * (np.log(marker) - 1.0) + 0.3 * (visits - 3.0)
    score += np.where(group == "c", 1.0, -0.5)
    X = pd.DataFrame({"age": age, "marker": marker, "visits": visits, "group": group})
    y = np.where(rng.random(n_rows) < 1.0 / (1.0 + np.exp(-score)), "yes", "no")
    schema = Schema(
        {
            "age": Numeric(18, 89, unit="years", step=1),
            "marker": Numeric(0, 100),
            "visits": Numeric(0, 50, step=1),
            "group": Categorical(["a", "b", "c"]),
        },
        target=Classes(["no", "yes"]),
    )
    return dataset_of(X, pd.Series(y, name="y"), schema, "small-table")


def dataset_of(X: pd.DataFrame, y: pd.Series, schema: Schema, name: str) -> Dataset:
    about = dict.fromkeys(("source", "licence", "description", "citation"), "for benchmarks")
    return Dataset(X, y, schema=schema, name=name, **about)


def _from_file(
    name: str,
    file: str,
    target: str | int,
    positive: object = None,
    *,
    at_least: float | None = None,
) -> Dataset:
    """Load a data set without a loader of its own, with the schema of the benchmarks.

    No documentation declares bounds for them, so these are full-data minima and maxima rounded
    outward to two digits, as a stand-in for public knowledge. The target is one class against the
    rest, or numbers from a threshold upward against those below.
    """
    folder = os.environ.get("DPEXPLAIN_DATA")
    if not folder:
        raise ImportError(f"set DPEXPLAIN_DATA to a folder that holds {name}/{file}")
    header = None if isinstance(target, int) else 0
    frame = pd.read_csv(Path(folder) / name / file, header=header, na_values="?")
    y = frame.pop(frame.columns[target] if isinstance(target, int) else target)
    X = frame.drop(columns=[c for c in ("CLASS", "NSP", "Sequence_Name") if c in frame])
    X.columns = [f"x{c}" if isinstance(c, int) else c for c in X.columns]
    features = {c: rounded_bounds(X[c]) for c in X}
    if positive is None and at_least is None:
        bounds = rounded_bounds(y)
        return dataset_of(X, y, Schema(features, target=Range(bounds.low, bounds.high)), name)
    yes = y == positive if at_least is None else y >= at_least
    y = pd.Series(np.where(yes, "yes", "no"), name="is_it")
    return dataset_of(X, y, Schema(features, target=Classes(["no", "yes"])), name)


def rounded_bounds(column: pd.Series) -> Numeric | Categorical:
    if not pd.api.types.is_numeric_dtype(column):
        return Categorical(sorted(column.dropna().unique()))
    low, high = float(column.min()), float(column.max())
    if low == high:
        return Numeric(low - 1.0, high + 1.0)
    unit = 10.0 ** np.floor(np.log10(high - low)) / 10.0
    return Numeric(float(np.floor(low / unit) * unit), float(np.ceil(high / unit) * unit))


@dataclass(frozen=True)
class Table:
    """A data set, with the name used on the command line.

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
    "many-features": Table(load_many_features, files=False),
    "wide-bounds": Table(load_wide_bounds, files=False),
    "wide-bounds-2": Table(partial(load_wide_bounds, seed=2), files=False),
    "heavy-tails": Table(load_heavy_tails, files=False),
    "few-positives": Table(load_few_positives, files=False),
    "small-table": Table(load_small_table, files=False),
    "abalone": Table(partial(_from_file, "abalone", "abalone.csv", -1)),
    "banknote": Table(partial(_from_file, "banknote", "banknote_authentication.csv", -1, 1)),
    "page_blocks": Table(partial(_from_file, "page_blocks", "page_blocks.csv", "class", 1)),
    "cardiotocography": Table(
        partial(_from_file, "cardiotocography", "cardiotocography.csv", "NSP", 1)
    ),
}

TABLES |= {
    "transfusion": Table(partial(_from_file, "transfusion", "transfusion.csv", -1, 1)),
    "breast_cancer_wisconsin": Table(
        partial(_from_file, "breast_cancer_wisconsin", "breast-cancer-wisconsin.csv", -1, 4)
    ),
    "ionosphere": Table(partial(_from_file, "ionosphere", "ionosphere.csv", -1, "g")),
    "sonar": Table(partial(_from_file, "sonar", "sonar.csv", -1, "M")),
    "yeast": Table(partial(_from_file, "yeast", "yeast.csv", "localization_site", "CYT")),
    "qsar": Table(
        partial(_from_file, "qsar_biodegradation", "biodeg.csv", "experimental_class", "RB")
    ),
    "wine-red": Table(partial(_from_file, "wine_quality", "winequality-red.csv", -1, at_least=6)),
    "wine-white": Table(
        partial(_from_file, "wine_quality", "winequality-white.csv", -1, at_least=6)
    ),
    "elevators": Table(partial(_from_file, "elevators", "elevators.csv", "Goal")),
    "pol": Table(partial(_from_file, "pol", "pol.csv", "foo")),
    **{
        name: Table(partial(_from_file, name, f"{name}.csv", "class", 1))
        for name in ("hill_valley_with_noise", "hill_valley_without_noise", "spambase")
    },
    "abalone-old": Table(partial(_from_file, "abalone", "abalone.csv", -1, at_least=10)),
}
"""With these, the tables of boosted private trees: a class, or good wine, or old abalone."""

CHECKS = (
    "abalone",
    "banknote",
    "page_blocks",
    "cardiotocography",
    "survey",
    "insurance",
    "many-features",
    "wide-bounds",
    "wide-bounds-2",
    "heavy-tails",
    "few-positives",
    "small-table",
)
"""On none of these was a choice of the recipe made."""


def found(names: Iterable[str] | None, usual: Iterable[str]) -> Iterator[tuple[str, Dataset]]:
    """Load data sets one by one; print a line for each that is left out, with the reason.

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
    """Yield random 80/20 splits from fixed seeds; the first ones never depend on how many.

    Yields
    ------
    train, test : ndarray
        Row numbers.
    """
    for seed in range(n_splits):
        order = np.random.default_rng(seed).permutation(n_rows)
        n_test = round(TEST_SHARE * n_rows)
        yield order[n_test:], order[:n_test]
