"""Fit time and accuracy of our models and InterpretML's, on the same splits.

Run it with ``make bench``; ``make bench BENCH_ARGS="--help"`` lists its options.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from bench_data import TABLES, found
from bench_measure import Fit, metric, race, summary
from bench_models import DEFAULT, PAPER, REFERENCE, Budget, Contender, peers
from bench_passes import HEADER as PASSES_HEADER
from bench_passes import passes
from bench_print import machine, signed, spread, table, versions
from bench_targets import HEADER as TARGETS_HEADER
from bench_targets import targets

from dpexplain.datasets import Dataset

USUAL = ("survey", "insurance", "adult", "telco", "california", "wine")
WARM_UP_ROWS = 2000
"""Of the non-private models, whose fits take up to minutes."""

HEADER = (
    "data",
    "model",
    "CPU s",
    "wall s",
    "InterpretML's CPU",
    "InterpretML's wall",
    "score",
    "against InterpretML",
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark and print its tables."""
    options = _options(arguments)
    theirs = peers()
    if theirs is None:
        print(
            "InterpretML is not installed: our own numbers only; for both, "
            "pip install '.[bench]' in a clone of dpexplain."
        )
    datasets = list(found(options.datasets, USUAL))
    if not datasets:
        sys.exit("No data set was found: there is nothing to compare.")
    print(_preface(options))
    budget = Budget(options.epsilon, options.delta)
    private = [DEFAULT, PAPER, *(theirs[:1] if theirs else ())]
    print(f"\n### Private models, epsilon {options.epsilon:g}, delta {options.delta:g}\n")
    print(_table(private, datasets, budget, n_splits=options.splits))
    print(f"\n{PRIVATE_NOTE}")
    if options.quick:
        return
    print(f"\n### One pass over the records, one thread\n\n{table(PASSES_HEADER, [*passes()])}")
    print(f"\n{PASSES_NOTE}")
    plain = [REFERENCE, *(theirs[1:] if theirs else ())]
    print(f"\n### Non-private models, main effects only, {_splits(options.reference_splits)}\n")
    print(
        _table(
            plain,
            datasets,
            budget,
            n_splits=options.reference_splits,
            warm_up_rows=WARM_UP_ROWS,
        )
    )
    print(f"\n{REFERENCE_NOTE}")
    print(
        f"\n### Targets\n\n{_targets(datasets, theirs, budget, options.splits)}\n\n{TARGETS_NOTE}"
    )


PRIVATE_NOTE = (
    "Both get the same public schema and draw secure noise; neither is seeded. The paper preset "
    "has the settings of InterpretML's defaults (300 rounds, 3 leaves, 32 bins, learning rate "
    "0.01). InterpretML refuses missing values: it gets a missing category as a category of its "
    "own, a missing number as the lower bound. Its residuals of a regression are not clipped, so "
    "that its noise covers a change of one target value, not one record more or less, which ours "
    "covers."
)
PASSES_NOTE = (
    "A private fit makes one such pass for each tree. A copy reads half of the bytes and writes "
    "half. At a small share, arithmetic limits the pass; at a large one, memory does."
)
REFERENCE_NOTE = (
    "Defaults of both, InterpretML's with interactions=0 and in one process. Both average over "
    "bags that stop early on held-out rows; their numbers differ."
)
TARGETS_NOTE = (
    "Medians of the splits, or of three fits. Memory is what Python and numpy take beside the "
    "table at the peak of a fit, where binned data are one byte per cell. The sweep includes its "
    "explanations with their noise bands and the non-private reference. Wall times suffer where "
    "the machine does other work as well."
)


def _targets(
    datasets: Sequence[tuple[str, Dataset]],
    theirs: tuple[Contender, Contender] | None,
    budget: Budget,
    n_splits: int,
) -> str:
    rows = targets(datasets, theirs[0] if theirs else None, budget, n_splits)
    return table(TARGETS_HEADER, [row.cells() for row in rows])


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--datasets",
        nargs="+",
        choices=TABLES,
        metavar="NAME",
        help=f"of {', '.join(TABLES)} (default: {' '.join(USUAL)}, files from DPEXPLAIN_DATA)",
    )
    parser.add_argument("--epsilon", type=float, default=1.0, help="default: 1")
    parser.add_argument("--delta", type=float, default=1e-6, help="default: 1e-6")
    parser.add_argument("--splits", type=int, help="of the private models (default: 5)")
    parser.add_argument(
        "--reference-splits", type=int, default=1, help="of the non-private models (default: 1)"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="two splits, no non-private models and no targets",
    )
    options = parser.parse_args(arguments)
    options.splits = options.splits or (2 if options.quick else 5)
    return options


def _preface(options: argparse.Namespace) -> str:
    return (
        f"\n{machine()}. {versions()}.\n\n{_splits(options.splits)}, the same for all models, "
        "which take turns. Seconds are those of `fit`: of the processor (all threads) and on the "
        "clock, median over the splits after one fit that does not count. InterpretML's time is "
        "given as a multiple of the model's. Scores on the test parts are mean ± standard "
        "deviation: AUROC (higher is better), RMSE in units of the target (lower is better)."
    )


def _splits(n_splits: int) -> str:
    return f"{n_splits} random 80/20 split{'s' if n_splits > 1 else ''}"


def _table(
    contenders: Sequence[Contender],
    datasets: Sequence[tuple[str, Dataset]],
    budget: Budget,
    *,
    n_splits: int,
    warm_up_rows: int | None = None,
) -> str:
    rows = []
    for name, dataset in datasets:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the peer, about public data
            fits = race(contenders, dataset, budget, n_splits=n_splits, warm_up_rows=warm_up_rows)
        rows += _rows(name, dataset, contenders, fits)
    return table(HEADER, rows)


def _rows(
    name: str, dataset: Dataset, contenders: Sequence[Contender], fits: Sequence[Sequence[Fit]]
) -> Iterator[list[str]]:
    """Return the rows of one data set; the peer, if present, is the last model."""
    has_peer = contenders[-1].title.startswith("InterpretML")
    n_rows, n_features = dataset.X.shape
    places = [f"{name} ({n_rows:,} × {n_features})", *[""] * len(contenders)]
    theirs = summary(fits[-1])
    for place, contender, own_fits in zip(places, contenders, fits, strict=False):
        own = summary(own_fits)
        compared = has_peer and contender is not contenders[-1]
        yield [
            place,
            contender.title,
            f"{own.cpu:#.3g}",
            f"{own.wall:#.3g}",
            f"{theirs.cpu / own.cpu:.1f} ×" if compared else "",
            f"{theirs.wall / own.wall:.1f} ×" if compared else "",
            f"{metric(dataset.schema)} {spread(own.mean, own.std)}",
            _difference(dataset, own_fits, fits[-1]) if compared else "",
        ]


def _difference(dataset: Dataset, own: Sequence[Fit], theirs: Sequence[Fit]) -> str:
    """Return the mean difference over the splits, each with the same rows for both models."""
    gaps = [mine.score - other.score for mine, other in zip(own, theirs, strict=True)]
    if metric(dataset.schema) == "AUROC":
        return signed(float(np.mean(gaps)))
    share = 100 * np.mean(gaps) / np.mean([fit.score for fit in theirs])
    size = f"{abs(share):.1f} %"
    return size if size == "0.0 %" else f"{'−' if share < 0 else '+'}{size}"


if __name__ == "__main__":
    main()
