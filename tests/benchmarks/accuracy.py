"""The default recipe next to published figures, InterpretML and its targets.

Run it with ``make bench-accuracy``; ``make bench-accuracy BENCH_ARGS="--help"`` lists its options.
"""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from bench_data import CHECKS, TABLES, found, splits
from bench_measure import Fit, fitted, metric, summary
from bench_models import DEFAULT, REFERENCE, Budget, Contender, peers
from bench_print import machine, number, signed, spread, table, versions
from published import BY_DATASET, DELTA, N_SPLITS, SOURCE
from published import EPSILONS as PUBLISHED_EPSILONS

from dpexplain.datasets import Dataset

EPSILONS = (0.1, *PUBLISHED_EPSILONS)
DEVELOPED_ON = ("adult", "telco", "california", "wine")
N_REFERENCE_SPLITS = 5
MOST_ERRORS = 2.0
"""A mean is worse if it is so by more than this many standard errors of the paired differences."""

NEAR_REFERENCE = {"AUROC": 0.01, "RMSE": 0.1}
"""How far a fit at epsilon 4 may be from the non-private one: in AUROC, or as a share of RMSE."""


@dataclass(frozen=True)
class Result:
    """All fits on one data set.

    Attributes
    ----------
    name : str
    dataset : Dataset
    ours, theirs : list of list of Fit
        Per epsilon, one fit per split; `theirs` is empty where InterpretML is not installed.
    reference : list of Fit
        Of our non-private model, on the first few of the splits.
    """

    name: str
    dataset: Dataset
    ours: list[list[Fit]]
    theirs: list[list[Fit]]
    reference: list[Fit]

    @property
    def metric(self) -> str:
        """Name of the score: AUROC (higher is better) or RMSE (lower is better)."""
        return metric(self.dataset.schema)

    def better(self, value: float, than: float) -> bool:
        """Whether a score is better than another."""
        return value > than if self.metric == "AUROC" else value < than

    def at(self, epsilon: float) -> float:
        """Return the mean score of our model."""
        return summary(self.ours[EPSILONS.index(epsilon)]).mean

    def advantages(self) -> Iterator[tuple[float, float, float]]:
        """Yield epsilon, our mean advantage on the same splits, and its standard error."""
        sign = 1.0 if self.metric == "AUROC" else -1.0
        for epsilon, own, other in zip(EPSILONS, self.ours, self.theirs, strict=False):
            gains = sign * np.array([a.score - b.score for a, b in zip(own, other, strict=True)])
            yield epsilon, float(gains.mean()), float(gains.std(ddof=1) / math.sqrt(len(gains)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the protocol and print its tables."""
    options = _options(arguments)
    theirs = None if options.without_peer else peers()
    if options.without_privacy:
        print(f"{machine()}. {versions()}.\n\n{_references(options)}")
        return
    results = []
    for name, dataset in found(options.datasets, (*DEVELOPED_ON, *CHECKS)):
        print(f"{name}: {options.splits} splits ...", file=sys.stderr, flush=True)
        results.append(_result(name, dataset, options.splits, theirs[0] if theirs else None))
    if not results:
        sys.exit("No data set was found: there is nothing to compare.")
    print(f"\n{machine()}. {versions()}.\n\n{_preface(options.splits)}")
    developed = [r for r in results if r.name in BY_DATASET]
    checks = [r for r in results if r.name not in BY_DATASET]
    if developed:
        print(f"\n### Data the recipe was developed on\n\n{_overview(developed)}")
        print(f"\n### Targets\n\n{_targets(developed)}")
    if checks:
        print(f"\n### Data for a last check, reported as they come\n\n{_overview(checks)}")
    print(f"\n### Log loss / calibration slope of two classes\n\n{_calibration(results)}")
    if theirs:
        print(f"\n{_against(results)}")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--datasets",
        nargs="+",
        choices=sorted(TABLES),
        metavar="NAME",
        help=f"of {', '.join(sorted(TABLES))} (default: all but variants)",
    )
    parser.add_argument(
        "--splits",
        type=int,
        default=N_SPLITS,
        help=f"random 80/20 splits, at least 2 (default: {N_SPLITS}, as in the paper)",
    )
    parser.add_argument(
        "--without-peer", action="store_true", help="fit our models only, which takes minutes"
    )
    parser.add_argument(
        "--without-privacy",
        action="store_true",
        help="compare only the models that are not private, main effects",
    )
    options = parser.parse_args(arguments)
    if options.splits < 2:
        parser.error(f"--splits {options.splits}: a standard deviation needs at least 2")
    return options


def _result(name: str, dataset: Dataset, n_splits: int, peer: Contender | None) -> Result:
    contenders = [DEFAULT, *([peer] if peer else [])]
    fits: list[list[list[Fit]]] = [[[] for _ in EPSILONS] for _ in contenders]
    reference = []
    for place, split in enumerate(splits(len(dataset.X), n_splits)):
        for contender, by_epsilon in zip(contenders, fits, strict=True):
            for epsilon, so_far in zip(EPSILONS, by_epsilon, strict=True):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # InterpretML on columns with few values
                    so_far.append(fitted(contender, dataset, split, Budget(epsilon, DELTA)))
        if place < N_REFERENCE_SPLITS:
            reference.append(fitted(REFERENCE, dataset, split, Budget(math.inf, DELTA)))
    return Result(name, dataset, fits[0], fits[1] if peer else [], reference)


# --- words and tables ------------------------------------------------------------------------


def _preface(n_splits: int) -> str:
    return (
        f"Published: {SOURCE}, columns DP-EBM-GDP and EBM. Ours and InterpretML's by default: "
        f"{n_splits} random 80/20 splits, mean ± standard deviation on the test parts, delta "
        f"{DELTA:g}, add/remove adjacency, the same public schemas. Not private: ours, main "
        f"effects, {min(n_splits, N_REFERENCE_SPLITS)} splits."
    )


def _overview(results: Sequence[Result]) -> str:
    header = ["data", "DP-EBM", *(f"ε = {e:g}" for e in EPSILONS), "not private"]
    rows = []
    for result in results:
        n_rows, n_features = result.dataset.X.shape
        title = f"{result.name}, {n_rows:,} × {n_features} ({result.metric})"
        published = BY_DATASET.get(result.name)
        if published is not None:
            theirs = map(number, published.private)
            rows.append([title, "published", "", *theirs, number(published.reference)])
        if result.theirs:
            rows.append(["" if published else title, "InterpretML", *_scores(result.theirs), ""])
        first = "" if published or result.theirs else title
        reference = spread(*_mean_std(result.reference))
        rows.append([first, "dpexplain", *_scores(result.ours), reference])
    return table(header, rows)


def _scores(by_epsilon: Sequence[Sequence[Fit]]) -> list[str]:
    return [spread(*_mean_std(fits)) for fits in by_epsilon]


def _calibration(results: Sequence[Result]) -> str:
    rows = []
    for result in results:
        if result.metric == "AUROC":
            for name, fits in (("InterpretML", result.theirs), ("dpexplain", result.ours)):
                cells = [_loss_and_slope(each) for each in fits]
                reference = _loss_and_slope(result.reference) if name == "dpexplain" else ""
                rows += [[result.name, name, *cells, reference]] if fits else []
    if not rows:
        return "No data set with two classes was fitted."
    return table(["data", "DP-EBM", *(f"ε = {e:g}" for e in EPSILONS), "not private"], rows)


def _loss_and_slope(fits: Sequence[Fit]) -> str:
    loss, slope = np.mean([(f.log_loss, f.slope) for f in fits], axis=0)
    return "" if math.isnan(loss) else f"{loss:.3f} / {slope:.2f}"


def _references(options: argparse.Namespace) -> str:
    """Compare the models that are not private, on the same splits."""
    contenders = {"dpexplain": REFERENCE}
    theirs = None if options.without_peer else peers()
    if theirs:
        contenders["InterpretML"] = theirs[1]
    rows = []
    for name, dataset in found(options.datasets, (*DEVELOPED_ON, *CHECKS)):
        print(f"{name}: {options.splits} splits ...", file=sys.stderr, flush=True)
        halves = list(splits(len(dataset.X), options.splits))
        by_model = {}
        for title, contender in contenders.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # InterpretML on columns with few values
                by_model[title] = [
                    fitted(contender, dataset, half, Budget(math.inf, DELTA)) for half in halves
                ]
        result = Result(name, dataset, [by_model["dpexplain"]], [], [])
        scores = [np.array([f.score for f in fits]) for fits in by_model.values()]
        cells = [spread(*_mean_std(fits)) for fits in by_model.values()]
        cells += [_loss_and_slope(fits) for fits in by_model.values()]
        cells += [f"{summary(fits).cpu:.1f} s" for fits in by_model.values()]
        if theirs:
            gains = scores[0] - scores[1]
            gains = gains if result.metric == "AUROC" else -gains
            error = float(gains.std(ddof=1) / math.sqrt(len(gains)))
            like = float(scores[0].mean())
            cells.append(f"{signed(float(gains.mean()), like)} ± {number(error, like)}")
        rows.append([name, result.metric, *cells])
    heads = [f"{title}{what}" for what in ("", ", loss / slope", ", CPU") for title in contenders]
    return table(["data", "score", *heads, *(["our advantage"] if theirs else [])], rows)


def _mean_std(fits: Sequence[Fit]) -> tuple[float, float]:
    found_ = summary(fits)
    return found_.mean, found_.std


def _targets(results: Sequence[Result]) -> str:
    """State the targets on the data that the recipe was developed on."""
    rows = []
    for result in results:
        published = BY_DATASET[result.name]
        for words, epsilon, bar in (
            ("ε = 0.5 better than published at ε = 8", 0.5, published.private[-1]),
            ("ε = 0.1 better than published at ε = 0.5", 0.1, published.private[0]),
        ):
            rows.append(_target(result, words, bar, result.at(epsilon)))
        bar = _bar_of_reference(result, summary(result.reference).mean)
        words = "ε = 4 within 0.01" if result.metric == "AUROC" else "ε = 4 within 10 %"
        # On the same splits: means of different splits differ by more than the margin.
        same = summary(result.ours[EPSILONS.index(4.0)][: len(result.reference)]).mean
        rows.append(_target(result, f"{words} of not private (same splits)", bar, same))
    return table(("data", "target", "wanted", "reached", "met"), rows)


def _target(result: Result, words: str, bar: float, reached: float) -> list[str]:
    sign = "> " if result.metric == "AUROC" else "< "
    met = "yes" if result.better(reached, bar) else f"no, by {number(abs(reached - bar), bar)}"
    return [result.name, words, sign + number(bar), number(reached), met]


def _bar_of_reference(result: Result, reference: float) -> float:
    margin = NEAR_REFERENCE[result.metric]
    return reference - margin if result.metric == "AUROC" else reference * (1.0 + margin)


def _against(results: Sequence[Result]) -> str:
    """State where our model is worse than InterpretML's, and how often it is better."""
    worse, better, n = [], 0, 0
    for result in results:
        for epsilon, gain, error in result.advantages():
            n += 1
            better += gain > MOST_ERRORS * error
            if gain < -MOST_ERRORS * error:
                like = result.at(epsilon)
                worse.append(
                    f"{result.name} at ε = {epsilon:g} by {signed(-gain, like)[1:]} "
                    f"± {number(error, like)}"
                )
    listed = f": {'; '.join(worse)}" if worse else ""
    return (
        f"Against InterpretML at the same ε, on the same splits, by more than {MOST_ERRORS:g} "
        f"standard errors: better in {better} of {n} rows, worse in {len(worse)}{listed}."
    )


if __name__ == "__main__":
    main()
