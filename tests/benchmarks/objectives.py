"""Counts, several classes and outer bags next to what they must improve on.

Prints four tables: Poisson deviance on the insurance data, log loss and AUROC on scikit-learn's
digits, AUROC of private fits by number of bags on the survey (and what DPEXPLAIN_DATA holds), and
what the sums of pairs cost.
"""

from __future__ import annotations

import argparse
import itertools
import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
from bench_noise import few_classes
from bench_print import deviation, plus_minus
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import log_loss, mean_poisson_deviance, roc_auc_score
from sklearn.model_selection import train_test_split

from dpexplain import (
    Classes,
    DPExplainableBoostingClassifier,
    DPExplainableBoostingRegressor,
    ExplainableBoostingClassifier,
    ExplainableBoostingRegressor,
    Numeric,
    Schema,
)
from dpexplain.datasets import (
    load_adult,
    load_fair,
    load_randhie,
    load_telco_churn,
    load_wine_quality,
)

SMALLEST_RATE = 1e-3  # a linear prediction below 0 has no Poisson deviance


def splits(n: int, n_splits: int) -> Iterable[tuple[Any, Any]]:
    """Yield the positions of random 80/20 splits."""
    for seed in range(n_splits):
        yield train_test_split(np.arange(n), test_size=0.2, random_state=seed)


def row(name: str, measured: Iterable[Any]) -> None:
    """Format the mean and standard deviation of each column."""
    values = np.array(list(measured), dtype=float)
    values = values.reshape(len(values), -1)
    cells = [plus_minus(v.mean(), deviation(v.tolist()), ".3f") for v in values.T]
    print(f"| {' | '.join([name, *cells])} |", flush=True)


def counts(n_splits: int, epsilons: tuple[float, ...]) -> None:
    """Compare Poisson deviances on doctor visits: a constant, squared error, and Poisson."""
    data = load_randhie()
    y = np.asarray(data.y, dtype=float)
    print("\n| model of the doctor visits | Poisson deviance |\n| :--- | ---: |")

    def show(name: str, predict: Callable[[Any, Any], Any]) -> None:
        row(
            name,
            (
                mean_poisson_deviance(y[test], np.maximum(predict(train, test), SMALLEST_RATE))
                for train, test in splits(len(y), n_splits)
            ),
        )

    def fitted(model: Any) -> Callable[[Any, Any], Any]:
        return lambda train, test: model.fit(data.X.iloc[train], y[train]).predict(
            data.X.iloc[test]
        )

    trees = HistGradientBoostingRegressor(loss="poisson", interaction_cst="no_interactions")
    codes = data.X.apply(lambda c: c if pd.api.types.is_numeric_dtype(c) else pd.factorize(c)[0])
    show("constant", lambda train, test: np.full(len(test), y[train].mean()))
    show(
        "scikit-learn, additive Poisson trees",
        lambda train, test: trees.fit(codes.iloc[train], y[train]).predict(codes.iloc[test]),
    )
    for objective in ("squared", "poisson"):
        show(
            f"not private, {objective}",
            fitted(ExplainableBoostingRegressor(schema=data.schema, objective=objective)),
        )
        for epsilon in epsilons:
            model = DPExplainableBoostingRegressor(
                epsilon=epsilon, schema=data.schema, objective=objective
            )
            show(f"ε = {epsilon:g}, {objective}", fitted(model))


def classes(n_splits: int, epsilons: tuple[float, ...]) -> None:
    """Measure log loss and macro AUROC on ten digits."""
    data = load_digits()
    y = data.target.astype(str)
    labels = sorted(set(y))
    pixels = {f"pixel {i}": Numeric(0, 16, step=1) for i in range(data.data.shape[1])}
    schema = Schema(pixels, target=Classes(labels))  # the format of the images is public
    models: dict[str, Any] = {
        "scikit-learn, additive trees": HistGradientBoostingClassifier(
            interaction_cst="no_interactions"
        ),
        "not private": ExplainableBoostingClassifier(schema=schema),
    } | {f"ε = {e:g}": DPExplainableBoostingClassifier(e, schema=schema) for e in epsilons}
    print("\n| model of the digits | log loss | macro AUROC |\n| :--- | ---: | ---: |")
    for name, model in models.items():
        found = []
        for train, test in splits(len(y), n_splits):
            p = model.fit(data.data[train], y[train]).predict_proba(data.data[test])
            auroc = roc_auc_score(y[test], p, multi_class="ovr", labels=labels)
            found.append((log_loss(y[test], p, labels=labels), auroc))
        row(name, found)


def bags(n_splits: int, epsilons: tuple[float, ...]) -> None:
    """Measure the AUROC of private fits by number of bags."""
    loaders = [load_fair]
    if "DPEXPLAIN_DATA" in os.environ:
        loaders += [load_telco_churn, load_adult]
    print("\n| data, ε | 1 bag | 4 bags | 25 bags |\n| :--- | ---: | ---: | ---: |")
    for load in loaders:
        data = load()
        for epsilon in epsilons:
            found = []
            for train, test in splits(len(data.X), n_splits):
                found.append([])
                for n_bags in (1, 4, 25):
                    model = DPExplainableBoostingClassifier(
                        epsilon, schema=data.schema, outer_bags=n_bags
                    ).fit(data.X.iloc[train], data.y.iloc[train])
                    positive = data.y.iloc[test].astype(str) == str(model.classes_[1])
                    score = model.decision_function(data.X.iloc[test])
                    found[-1].append(roc_auc_score(positive, score))
            row(f"{load.__name__.removeprefix('load_')}, ε = {epsilon:g}", found)


def pair_sums(n_splits: int, epsilons: tuple[float, ...]) -> None:
    """Measure the loss without and with 5% of the budget for pair sums, by split."""
    insurance = load_randhie()
    tables = {"insurance, Poisson deviance": insurance}
    if "DPEXPLAIN_DATA" in os.environ:
        tables["wine in 3 classes, log loss"] = few_classes(load_wine_quality())
    print("\n| data, ε | without pair sums | with | change, standard error |")
    print("| :--- | ---: | ---: | ---: |")
    for (name, data), epsilon in itertools.product(tables.items(), epsilons):
        found = []
        for seed, (train, test) in enumerate(splits(len(data.X), n_splits)):
            found.append([])
            for share in (0.0, 0.05):
                settings = {"pair_budget_frac": share, "reproducible_seed": seed}
                found[-1].append(_loss(data, train, test, epsilon, settings))
        values = np.array(found)
        change = np.diff(values, axis=1)[:, 0]
        before, after = values.mean(axis=0)
        error = deviation(change.tolist()) / np.sqrt(len(change))
        print(
            f"| {name}, ε = {epsilon:g} | {before:.4f} | {after:.4f} | "
            f"{change.mean():+.4f}, {error:.4f} |",
            flush=True,
        )


def _loss(data: Any, train: Any, test: Any, epsilon: float, settings: dict[str, Any]) -> float:
    """Return the mean loss of a private fit on held-out records."""
    X, y = data.X.iloc[train], data.y.iloc[train]
    if isinstance(data.schema.target, Classes):
        model = DPExplainableBoostingClassifier(epsilon, schema=data.schema, **settings).fit(X, y)
        chance = model.predict_proba(data.X.iloc[test])
        return float(log_loss(data.y.iloc[test], chance, labels=list(model.classes_)))
    counted = DPExplainableBoostingRegressor(
        epsilon, schema=data.schema, objective="poisson", **settings
    ).fit(X, y)
    rate = np.maximum(counted.predict(data.X.iloc[test]), SMALLEST_RATE)
    return float(mean_poisson_deviance(np.asarray(data.y, dtype=float)[test], rate))


def main(arguments: list[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=5, help="random 80/20 splits, at least 2")
    parser.add_argument("--epsilons", type=float, nargs="+", default=[0.5, 1.0, 4.0])
    tables = {"counts": counts, "classes": classes, "bags": bags, "pairs": pair_sums}
    parser.add_argument("--tables", nargs="+", default=list(tables), choices=list(tables))
    chosen = parser.parse_args(arguments)
    for name in chosen.tables:
        tables[name](chosen.splits, tuple(chosen.epsilons))


if __name__ == "__main__":
    main()
