"""Accuracy with and without pair terms, private or not, and which pairs are chosen.

Run it with ``make bench-pairs``; ``make bench-pairs BENCH_ARGS="--help"`` lists its options.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
from bench_data import TABLES, found, splits
from bench_measure import metric, score
from bench_models import filled
from bench_print import deviation, machine, number, plus_minus, spread, table, versions
from published import DELTA

import dpexplain
from dpexplain import Classes
from dpexplain.datasets import Dataset, make_additive

USUAL = ("california", "wine", "adult", "telco")
EPSILONS = (0.5, 1.0, 4.0)
SIMULATED: dict[str, Literal["interactions", "smooth"]] = {
    "two pairs among 45": "interactions",
    "no pair among 45": "smooth",
}
N_SIMULATED = 20_000
DECLARED = {"california": [("longitude", "latitude")]}


@dataclass
class Result:
    """Scores of one data set at one epsilon, one of each for each split."""

    without: list[float] = field(default_factory=list)
    chosen: list[float] = field(default_factory=list)
    declared: list[float] = field(default_factory=list)
    names: Counter[str] = field(default_factory=Counter)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print scores without pairs, and what pairs change."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", choices=tuple(TABLES), metavar="NAME")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument(
        "--without-privacy", action="store_true", help="measure the non-private models instead"
    )
    options = parser.parse_args(arguments)
    print(f"{machine()}\n{versions()}\n")
    if options.without_privacy:
        _print_without_privacy(options.datasets, options.splits)
        return
    print(
        f"{options.splits} random splits, delta {DELTA:g}. Changes are against the same splits "
        "without pairs; positive is better: more AUROC, or less RMSE in per cent.\n"
    )
    rows = [
        row
        for name, dataset in _datasets(options.datasets)
        for row in _rows(name, dataset, options.splits)
    ]
    header = ["data", "epsilon", "without pairs", 'pairs="auto"', "declared", "chosen, in fits"]
    print(table(header, rows))


def _print_without_privacy(names: Sequence[str] | None, n_splits: int) -> None:
    """Print scores and CPU times of non-private fits, next to InterpretML's."""
    print(f"{n_splits} random splits, one thread, no privacy.\n")
    rows = []
    for name, dataset in found(names, USUAL):
        contenders = _without_privacy(dataset)
        scores: dict[str, list[float]] = {words: [] for words in contenders}
        seconds = dict.fromkeys(contenders, 0.0)
        for train, test in splits(len(dataset.X), n_splits):
            for words, (model, X) in contenders.items():
                print(f"{name}, {words} ...", file=sys.stderr, flush=True)
                start = time.process_time()
                model.fit(X.iloc[train], dataset.y.iloc[train])
                seconds[words] += time.process_time() - start
                scores[words].append(
                    score(model, X.iloc[test], dataset.y.iloc[test], dataset.schema)
                )
        rows += [
            [
                name,
                words,
                spread(float(np.mean(scores[words])), deviation(scores[words])),
                f"{seconds[words] / n_splits:.1f}",
            ]
            for words in contenders
        ]
    print(table(["data", "model", "score", "CPU s"], rows))


def _without_privacy(dataset: Dataset) -> dict[str, tuple[Any, pd.DataFrame]]:
    """Non-private models, and the features as each of them reads them."""
    schema = dataset.schema
    kind = "Classifier" if isinstance(schema.target, Classes) else "Regressor"
    own = getattr(dpexplain, f"ExplainableBoosting{kind}")
    models = {
        words: (own(schema=schema, pairs=pairs), dataset.X)
        for words, pairs in (("without pairs", 0), ('pairs="auto"', "auto"))
    }
    try:
        import interpret.glassbox
    except ImportError:
        return models
    peer = getattr(interpret.glassbox, f"ExplainableBoosting{kind}")
    model = peer(interactions="3x", n_jobs=1)
    return {**models, 'InterpretML, "3x"': (model, filled(dataset.X, schema))}


def _datasets(names: Sequence[str] | None) -> Iterator[tuple[str, Dataset]]:
    yield from found(names, USUAL)
    if names is None:
        for words, problem in SIMULATED.items():
            yield words, make_additive(problem, n_samples=N_SIMULATED, random_state=0)


def _rows(name: str, dataset: Dataset, n_splits: int) -> Iterator[list[str]]:
    for epsilon in EPSILONS:
        print(f"{name}, epsilon {epsilon:g} ...", file=sys.stderr, flush=True)
        result = _result(dataset, epsilon, n_splits, DECLARED.get(name))
        listed = [f"{pair} {n}" for pair, n in result.names.most_common(3)]
        kind = metric(dataset.schema)
        yield [
            name,
            f"{epsilon:g}",
            number(float(np.mean(result.without))),
            _change(result.chosen, result.without, kind),
            _change(result.declared, result.without, kind) if result.declared else "",
            "; ".join(listed) or "none",
        ]


def _result(
    dataset: Dataset, epsilon: float, n_splits: int, declared: list[tuple[str, str]] | None
) -> Result:
    result = Result()
    for split in splits(len(dataset.X), n_splits):
        result.without.append(_score(dataset, split, epsilon, 0)[0])
        chosen, names = _score(dataset, split, epsilon, "auto")
        result.chosen.append(chosen)
        result.names.update(names)
        if declared:
            result.declared.append(_score(dataset, split, epsilon, declared)[0])
    return result


def _score(dataset: Dataset, split: Any, epsilon: float, pairs: Any) -> tuple[float, list[str]]:
    """Score of one fit on the test part, and the names of its pairs."""
    train, test = split
    kind = "Classifier" if isinstance(dataset.schema.target, Classes) else "Regressor"
    estimator = getattr(dpexplain, f"DPExplainableBoosting{kind}")
    model = estimator(epsilon, DELTA, schema=dataset.schema, pairs=pairs)
    model.fit(dataset.X.iloc[train], dataset.y.iloc[train])
    names = model.term_names_[dataset.schema.n_features :]
    return score(model, dataset.X.iloc[test], dataset.y.iloc[test], dataset.schema), names


def _change(scores: list[float], without: list[float], kind: str) -> str:
    """Mean gain over the splits and its standard error."""
    own, other = np.array(scores), np.array(without)
    gains = own - other if kind == "AUROC" else 100.0 * (1.0 - own / other)
    error = deviation(gains.tolist()) / math.sqrt(len(gains))
    decimals, unit = (3, "") if kind == "AUROC" else (1, " %")
    return plus_minus(gains.mean(), error, f"+.{decimals}f", unit).replace("-", "−")


if __name__ == "__main__":
    main()
