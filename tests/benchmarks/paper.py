"""Our DP-EBM beside the published one: the protocol of the paper, with a true guarantee.

Run it with ``make bench-paper``; ``make bench-paper BENCH_ARGS="--help"`` lists its options.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from bench_data import TABLES, found, splits
from bench_measure import Fit, fitted, metric, summary
from bench_models import DEFAULT, PAPER, Budget, Contender
from bench_print import machine, number, signed, spread, table, versions
from published import (
    BIN_SHARE,
    BY_DATASET,
    DELTA,
    EPSILONS,
    LEARNING_RATE,
    N_EPOCHS,
    N_SPLITS,
    SOURCE,
    Published,
)

from dpexplain import Range
from dpexplain.accounting import gdp_noise_multiplier
from dpexplain.datasets import Dataset

USUAL = ("adult", "telco", "california", "wine", "wine-distinct")
MOST_DEVIATIONS = 2.0
"""Agreement of a classification: so many standard deviations of one split."""


@dataclass(frozen=True)
class Result:
    """All fits on one data set.

    Attributes
    ----------
    name : str
    dataset : Dataset
    published : Published
        What the paper has for it.
    paper, default : list of list of Fit
        Fits of the paper preset and of the default recipe: per epsilon, one per split.
    """

    name: str
    dataset: Dataset
    published: Published
    paper: list[list[Fit]]
    default: list[list[Fit]]

    @property
    def is_regression(self) -> bool:
        """Whether the score is an RMSE, and our noise not that of the paper."""
        return isinstance(self.dataset.schema.target, Range)

    @property
    def gaps(self) -> list[float]:
        """Ours minus published per epsilon, in standard deviations of ours over the splits."""
        gaps = zip(map(summary, self.paper), self.published.private, strict=True)
        return [(own.mean - theirs) / (own.std or math.nan) for own, theirs in gaps]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the protocol and print its tables."""
    options = _options(arguments)
    results = []
    for name, dataset in found(options.datasets, USUAL):
        print(f"{name}: {options.splits} splits ...", file=sys.stderr, flush=True)
        results.append(_result(name, dataset, options.splits))
    if not results:
        sys.exit("No data set was found: there is nothing to compare.")
    print(f"\n{machine()}. {versions()}.\n\n{_preface(options.splits)}")
    for result in results:
        print(f"\n### {_title(result)}\n\n{_agreement(result)}")
    classifications = [result for result in results if not result.is_regression]
    if classifications:
        print(f"\n{_verdict(classifications)}")
    regressions = [result for result in results if result.is_regression]
    if regressions:
        print(f"\n### Noise of the regressions\n\n{NOISE_WORDS}\n\n{_noise(regressions)}")
    print(f"\n### Published, the same settings, and the default recipe\n\n{_overview(results)}")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    known = [name for name in TABLES if _name_in_paper(name) in BY_DATASET]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--datasets",
        nargs="+",
        choices=known,
        metavar="NAME",
        help=f"of {', '.join(known)} (default: all, files from DPEXPLAIN_DATA)",
    )
    parser.add_argument(
        "--splits",
        type=int,
        default=N_SPLITS,
        help=f"random 80/20 splits, at least 2 (default: {N_SPLITS}, as in the paper)",
    )
    options = parser.parse_args(arguments)
    if options.splits < 2:
        parser.error(f"--splits {options.splits}: a standard deviation needs at least 2")
    return options


def _name_in_paper(name: str) -> str:
    return "wine" if name == "wine-distinct" else name


def _result(name: str, dataset: Dataset, n_splits: int) -> Result:
    fits: dict[Contender, list[list[Fit]]] = {c: [[] for _ in EPSILONS] for c in (PAPER, DEFAULT)}
    for split in splits(len(dataset.X), n_splits):
        for contender, by_epsilon in fits.items():
            for epsilon, fits_of_epsilon in zip(EPSILONS, by_epsilon, strict=True):
                fits_of_epsilon.append(fitted(contender, dataset, split, Budget(epsilon, DELTA)))
    published = BY_DATASET[_name_in_paper(name)]
    return Result(name, dataset, published, paper=fits[PAPER], default=fits[DEFAULT])


NOISE_WORDS = (
    "Ours starts at the middle of the public target range, of width R, and clips residuals to "
    "c = R/2: its noise η·σ·c on a leaf's sum covers one record more or less. The paper's σ·η·R "
    "belongs to residuals that are not clipped and covers a change of one target value only. "
    "Scores of regressions are therefore not expected to agree."
)


# --- words -----------------------------------------------------------------------------------


def _preface(n_splits: int) -> str:
    return (
        f"Published: {SOURCE}, columns DP-EBM-GDP and EBM. Ours: {n_splits} random 80/20 splits, "
        f"mean ± standard deviation (sd) on the test parts, delta {DELTA:g}, add/remove adjacency, "
        f"public schemas. The paper preset has the settings of the paper: {N_EPOCHS} epochs, "
        f"learning rate {LEARNING_RATE:g}, 3 leaves, 32 bins, {100 * BIN_SHARE:.0f} % of epsilon "
        "to the bins. Differences are ours minus published; the sd is ours over the splits."
    )


def _title(result: Result) -> str:
    n_rows, n_features = result.dataset.X.shape
    title = f"{result.name}: {metric(result.dataset.schema)}, {n_rows:,} rows × {n_features}"
    n_published = result.published.n_rows
    return title if n_published == n_rows else f"{title} (the paper has {n_published:,} rows)"


def _verdict(results: Sequence[Result]) -> str:
    gaps = [gap for result in results for gap in result.gaps]
    agreeing = sum(_agrees(gap) == "yes" for gap in gaps)
    return (
        f"Classification within {MOST_DEVIATIONS:g} sd of the published figure: "
        f"{agreeing} of {len(gaps)} rows."
    )


# --- tables ----------------------------------------------------------------------------------


def _agreement(result: Result) -> str:
    header = ["epsilon", "published", "ours, paper preset", "difference", "in sd"]
    rows = []
    for epsilon, fits, theirs, gap in zip(
        EPSILONS, result.paper, result.published.private, result.gaps, strict=True
    ):
        own = summary(fits)
        rows.append(
            [
                f"{epsilon:g}",
                number(theirs),
                spread(own.mean, own.std),
                signed(own.mean - theirs, like=theirs),
                f"{gap:+.1f}".replace("-", "−"),
            ]
        )
        if not result.is_regression:
            rows[-1].append(_agrees(gap))
    if not result.is_regression:
        header.append(f"within {MOST_DEVIATIONS:g} sd")
    return table(header, rows)


def _agrees(gap: float) -> str:
    return "yes" if abs(gap) <= MOST_DEVIATIONS else "no"


def _noise(results: Sequence[Result]) -> str:
    """Noise on one leaf's sum times the learning rate: of our fits, and by the paper's formula."""
    header = ["data", "epsilon", "R", "σ", "ours η·σ·c", "paper's σ·η·R", "ours / paper's"]
    rows = []
    for result in results:
        target, n_features = result.dataset.schema.target, result.dataset.X.shape[1]
        width, n_sums = target.high - target.low, N_EPOCHS * n_features
        for epsilon, fits in zip(EPSILONS, result.paper, strict=True):
            ours = fits[0].update_noise
            sigma = gdp_noise_multiplier(n_sums, (1.0 - BIN_SHARE) * epsilon, DELTA / 2.0)
            theirs = sigma * LEARNING_RATE * width
            cells = (f"{epsilon:g}", f"{width:,g}", f"{sigma:.1f}", number(ours), number(theirs))
            rows.append([result.name, *cells, f"{ours / theirs:.2f}"])
    return table(header, rows)


def _overview(results: Sequence[Result]) -> str:
    header = ["data", "DP-EBM", *(f"ε = {e:g}" for e in EPSILONS), "non-private EBM"]
    rows = []
    for result in results:
        published = result.published
        rows += [
            [
                f"{result.name} ({metric(result.dataset.schema)})",
                "published",
                *map(number, published.private),
                number(published.reference),
            ],
            ["", "ours, paper preset", *_scores(result.paper), ""],
            ["", "ours, default", *_scores(result.default), ""],
        ]
    return table(header, rows)


def _scores(by_epsilon: Sequence[Sequence[Fit]]) -> list[str]:
    return [spread(s.mean, s.std) for s in map(summary, by_epsilon)]


if __name__ == "__main__":
    main()
