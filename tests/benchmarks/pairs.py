"""Accuracy with and without pair terms, private or not, and which pairs are chosen.

Run it with ``make bench-pairs``; ``make bench-pairs BENCH_ARGS="--help"`` lists its options.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
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
from dpexplain.audit import Transcript, record
from dpexplain.datasets import Dataset, make_additive
from dpexplain.mechanisms import AnyPhase

USUAL = ("california", "wine", "adult", "telco")
EPSILONS = (0.1, 0.5, 1.0, 4.0)
SIMULATED: dict[str, Literal["interactions", "smooth"]] = {
    "three pairs among 45": "interactions",
    "no pair among 45": "smooth",
}
N_SIMULATED = 12_500
"""A fit gets 80% of these records: 10,000."""

N_PROBES = 200
"""Records at which the scores of a pair are compared between fits."""

DECLARED = {"california": [("longitude", "latitude")]}

BANDS = {
    "california": ("longitude", "latitude"),
    "wine": ("volatile acidity", "alcohol"),
    "three pairs among 45": ("x2", "x4"),
    "no pair among 45": ("x2", "x4"),
}
"""Pairs whose noise bands are measured. The last one has no effect."""

MOST_RMSE = {
    ("california", 0.1): 75_200,
    ("california", 0.5): 60_500,
    ("california", 1.0): 58_500,
    ("california", 4.0): 55_500,
    ("wine", 4.0): 0.715,
}
"""Largest mean RMSE with ``pairs="auto"`` that meets the bar."""

NO_LOSS = {"wine": (0.1, 0.5, 1.0)}
"""Values of epsilon at which pairs may not cost more than one standard error."""

MOST_LOSS = {"adult": 0.001, "telco": 0.001}
"""Largest mean loss of AUROC that meets the bar, at any epsilon."""

ALL_FOUND, NONE_CHOSEN = 0.90, 0.95
"""Share of fits that choose all planted pairs at epsilon 4, and none if there is none."""

COVERED = (0.93, 0.97)
MOST_CPU = ("adult", 3.0)


@dataclass
class Result:
    """Scores on one data set at one epsilon, one per split."""

    without: list[float] = field(default_factory=list)
    chosen: list[float] = field(default_factory=list)
    declared: list[float] = field(default_factory=list)
    names: list[list[str]] = field(default_factory=list)
    seconds: list[tuple[float, float]] = field(default_factory=list)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print scores without pairs, and what pairs change."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = (*TABLES, *SIMULATED)
    parser.add_argument("--datasets", nargs="+", choices=names, metavar="NAME")
    parser.add_argument("--epsilons", nargs="+", type=float, default=None)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument(
        "--without-privacy", action="store_true", help="measure the non-private models instead"
    )
    parser.add_argument(
        "--bands",
        action="store_true",
        help="measure only noise bands of cells, over as many fits as there are splits",
    )
    options = parser.parse_args(arguments)
    print(f"{machine()}\n{versions()}\n")
    if options.without_privacy:
        _print_without_privacy(options.datasets, options.splits)
        return
    if options.bands:
        _print_bands(options.datasets or BANDS, options.epsilons or EPSILONS, options.splits)
        return
    print(
        f"{options.splits} random splits, delta {DELTA:g}. Changes are against the same splits "
        "without pairs; positive is better: more AUROC, or less RMSE in per cent.\n"
    )
    rows, notes, bars = [], [], []
    for name, dataset in _datasets(options.datasets):
        for epsilon in options.epsilons or EPSILONS:
            print(f"{name}, epsilon {epsilon:g} ...", file=sys.stderr, flush=True)
            result = _result(dataset, epsilon, options.splits, DECLARED.get(name))
            rows.append([name, f"{epsilon:g}", *_cells(result, metric(dataset.schema))])
            bars += _bars(name, epsilon, dataset, result)
            if name in SIMULATED:
                notes.append(_found(name, epsilon, dataset, result))
    header = [
        "data",
        "epsilon",
        "without pairs",
        'pairs="auto"',
        "change",
        "declared",
        "CPU time",
        "chosen, in fits",
    ]
    print(table(header, rows))
    print("\n" + "\n".join(notes) + "\n")
    print(table(["data", "epsilon", "bar", "result", "met"], bars))


def _bar(name: str, epsilon: float, bar: str, result: str, met: bool) -> list[str]:
    return [name, f"{epsilon:g}", bar, result, "yes" if met else "no"]


def _bars(name: str, epsilon: float, dataset: Any, result: Result) -> list[list[str]]:
    """Compare a setting's result with every bar that is set for it."""
    found = []
    chosen, without = np.array(result.chosen), np.array(result.without)
    most = MOST_RMSE.get((name, epsilon))
    if most is not None:
        mean = float(chosen.mean())
        bar = f"RMSE at most {number(most)}"
        found.append(_bar(name, epsilon, bar, number(mean), mean <= most))
    if epsilon in NO_LOSS.get(name, ()):
        loss = chosen - without
        error = deviation(loss.tolist()) / math.sqrt(len(loss))
        text = plus_minus(loss.mean(), error, "+.4f", "")
        bar = "RMSE rises by at most one standard error"
        found.append(_bar(name, epsilon, bar, text, bool(loss.mean() <= error)))
    if name in MOST_LOSS:
        gain = float((chosen - without).mean())
        bar = f"AUROC falls by at most {MOST_LOSS[name]:g}"
        found.append(_bar(name, epsilon, bar, f"{gain:+.4f}", gain >= -MOST_LOSS[name]))
    if name == MOST_CPU[0]:
        ratio = float(np.divide(*np.sum(result.seconds, axis=0)[::-1]))
        bar = f"CPU time at most {MOST_CPU[1]:g} times that without pairs"
        found.append(_bar(name, epsilon, bar, f"{ratio:.1f}", ratio <= MOST_CPU[1]))
    planted = {" & ".join(pair) for pair in dataset.truth.pairs} if name in SIMULATED else None
    if planted and epsilon == 4.0:
        share = float(np.mean([planted <= set(names) for names in result.names]))
        bar = f"all planted pairs are chosen in {ALL_FOUND:.0%} of fits"
        found.append(_bar(name, epsilon, bar, f"{share:.0%}", share >= ALL_FOUND))
    if planted is not None and not planted:
        share = float(np.mean([not names for names in result.names]))
        bar = f"no pair is chosen in {NONE_CHOSEN:.0%} of fits"
        found.append(_bar(name, epsilon, bar, f"{share:.0%}", share >= NONE_CHOSEN))
    return found


def _print_bands(names: Iterable[str], epsilons: Sequence[float], n_fits: int) -> None:
    """Print how many noise bands of cells contain the mean score of repeated fits."""
    notes, bars = [], []
    low, high = COVERED
    words = f"{low:.0%} to {high:.0%} of the cells' noise bands contain the mean score"
    for name, dataset in _datasets([name for name in names if name in BANDS]):
        for epsilon in epsilons:
            print(f"{name}, epsilon {epsilon:g} ...", file=sys.stderr, flush=True)
            text, share = _coverage(name, dataset, epsilon, [BANDS[name]], n_fits)
            notes.append(text)
            bars.append(_bar(name, epsilon, words, f"{share:.1%}", low <= share <= high))
    print("\n".join(notes) + "\n")
    print(table(["data", "epsilon", "bar", "result", "met"], bars))


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
    """Return the non-private models, each with the features in its own format."""
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
    tables = [name for name in (USUAL if names is None else names) if name in TABLES]
    if tables:
        yield from found(tables, USUAL)
    for words, problem in SIMULATED.items():
        if names is None or words in names:
            yield words, make_additive(problem, n_samples=N_SIMULATED, random_state=0)


def _cells(result: Result, kind: str) -> list[str]:
    """Format a setting's scores, what pairs change, the CPU time ratio, and the pairs."""
    counted = Counter(name for names in result.names for name in names)
    listed = [f"{pair} {n}" for pair, n in counted.most_common(3)]
    without, chosen = np.sum(result.seconds, axis=0)
    return [
        number(float(np.mean(result.without))),
        number(float(np.mean(result.chosen))),
        _change(result.chosen, result.without, kind),
        _change(result.declared, result.without, kind) if result.declared else "",
        f"× {chosen / without:.1f}",
        "; ".join(listed) or "none",
    ]


def _result(
    dataset: Dataset, epsilon: float, n_splits: int, declared: list[tuple[str, str]] | None
) -> Result:
    result = Result()
    for seed, split in enumerate(splits(len(dataset.X), n_splits)):
        # With the same seed, fits that make no choice are the same as those without pairs.
        (plain, of_plain), (model, of_model) = (
            _fit(dataset, split[0], epsilon, p, seed) for p in (0, "auto")
        )
        result.seconds.append((of_plain, of_model))
        result.without.append(_score(plain, dataset, split[1]))
        result.chosen.append(_score(model, dataset, split[1]))
        result.names.append(model.term_names_[dataset.schema.n_features :])
        if declared:
            known, _ = _fit(dataset, split[0], epsilon, declared, seed)
            result.declared.append(_score(known, dataset, split[1]))
    return result


def _fit(dataset: Dataset, train: Any, epsilon: float, pairs: Any, seed: int) -> tuple[Any, float]:
    """Fit on the training part; return the model and the CPU time in seconds."""
    model = _estimator(dataset, epsilon, pairs).set_params(reproducible_seed=seed)
    X, y = dataset.X.iloc[train], dataset.y.iloc[train]
    start = time.process_time()
    model.fit(X, y)
    return model, time.process_time() - start


def _estimator(dataset: Dataset, epsilon: float, pairs: Any) -> Any:
    kind = "Classifier" if isinstance(dataset.schema.target, Classes) else "Regressor"
    estimator = getattr(dpexplain, f"DPExplainableBoosting{kind}")
    return estimator(epsilon, DELTA, schema=dataset.schema, pairs=pairs)


def _score(model: Any, dataset: Dataset, test: Any) -> float:
    return score(model, dataset.X.iloc[test], dataset.y.iloc[test], dataset.schema)


def _found(name: str, epsilon: float, dataset: Any, result: Result) -> str:
    """State in how many fits all planted pairs were chosen, and in how many others."""
    planted = {" & ".join(pair) for pair in dataset.truth.pairs}
    all_found = sum(planted <= set(names) for names in result.names)
    others = sum(bool(set(names) - planted) for names in result.names)
    n = len(result.names)
    found = f"all planted pairs were chosen in {all_found} of {n} fits, " if planted else ""
    return f"* {name}, epsilon {epsilon:g}: {found}other pairs in {others} of {n}."


def _coverage(
    name: str, dataset: Dataset, epsilon: float, pairs: list[tuple[str, str]], n_fits: int
) -> tuple[str, float]:
    """State how often the noise band of a cell contains the mean over repeated fits.

    The cells are those of `N_PROBES` records. All fits have the released counts of the first one,
    and so the same cells, and the same trees.

    Returns
    -------
    text : str
    share : float
        Share of the bands that contain the mean.
    """
    train, test = next(splits(len(dataset.X), 1))
    probes = dataset.X.iloc[test[:N_PROBES]]
    X, y = dataset.X.iloc[train], dataset.y.iloc[train]
    scores, stds, n_above = [], [], 0
    transcript: Transcript | None = None
    for _ in range(n_fits + 1):
        places = itertools.count()

        def forge(
            phase: AnyPhase, drawn: Any, places: Any = places, first: Any = transcript
        ) -> Any:
            place = next(places)
            is_count = phase.label in ("count", "histograms")
            return first.answers[place] if first is not None and is_count else drawn

        estimator = _estimator(dataset, epsilon, pairs).set_params(structure_seed=0)
        model, found = record(estimator, X, y, answers=forge)
        if transcript is None:
            transcript = found
            continue
        explanation = model.explain_global(effect=False)
        pair = explanation.pairs[0]
        n_above += bool(explanation.pairs_above_noise)
        cells = pair.cell_index(*(probes[feature] for feature in pair.feature_names))
        scores.append(pair.contribution.ravel()[cells])
        stds.append(pair.noise_std.ravel()[cells])
    own, std = np.array(scores), np.array(stds)
    apart = own - own.mean(axis=0)
    # The mean contains each score, which makes the distance to it smaller.
    inside = float(np.mean(np.abs(apart) <= 1.96 * std * math.sqrt(1.0 - 1.0 / n_fits)))
    ratio = math.sqrt(float((apart**2).sum() / (std**2).sum()) / (1.0 - 1.0 / n_fits))
    text = (
        f"* {name}, epsilon {epsilon:g}: over {n_fits} fits to the same records with the same "
        f"cells and trees, {inside:.1%} of the 95% noise bands of cells contain the mean score; "
        f"scores vary {ratio:.2f} times as much as stated. The pair rises above the noise in "
        f"{n_above} fits."
    )
    return text, inside


def _change(scores: list[float], without: list[float], kind: str) -> str:
    """Format the mean gain over the splits and its standard error."""
    own, other = np.array(scores), np.array(without)
    gains = own - other if kind == "AUROC" else 100.0 * (1.0 - own / other)
    error = deviation(gains.tolist()) / math.sqrt(len(gains))
    decimals, unit = (3, "") if kind == "AUROC" else (1, " %")
    return plus_minus(gains.mean(), error, f"+.{decimals}f", unit).replace("-", "−")


if __name__ == "__main__":
    main()
