"""What each choice of the default recipe gains: the recipe with one choice changed.

Run it with ``make bench-recipe``; ``make bench-recipe BENCH_ARGS="--help"`` lists its options.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from bench_data import TABLES, found, splits
from bench_measure import fitted, metric
from bench_models import Budget, Contender
from bench_print import deviation, machine, number, plus_minus, table, versions
from published import DELTA
from recipe_trials import rare_bins, steps_by_curvature

import dpexplain
from dpexplain import Categorical, Classes, Schema
from dpexplain.datasets import Dataset
from dpexplain.models.boosting import estimator, loop, recipe
from dpexplain.models.boosting import fit as private
from dpexplain.models.boosting.objectives import Objective
from dpexplain.models.boosting.records._kernels_sums import LATTICE
from dpexplain.models.boosting.released import LeafStep, Tables
from dpexplain.models.boosting.structure import Visits

USUAL = ("adult", "telco", "california", "wine")
EPSILONS = (0.1, 0.5, 4.0)


@dataclass(frozen=True)
class Choice:
    """One choice of the recipe, made differently.

    Attributes
    ----------
    words : str
        What is done instead.
    settings : dict
        Parameters of the estimator.
    change : callable
        Context in which the fits run.
    only : str or None
        Metric of the data sets that it is about; None for all.
    data : callable
        The data set that is fitted instead.
    """

    words: str
    settings: dict[str, Any]
    change: Callable[[], Any] = nullcontext
    only: str | None = None
    data: Callable[[Dataset], Dataset] = lambda dataset: dataset


@contextmanager
def _scheduled(**factors: float) -> Iterator[None]:
    """Multiply fields of the schedules within a block."""

    def changed(settings: Any, ratio: float, *, clip_adapts: bool) -> Any:
        plan = recipe.schedule(settings, ratio, clip_adapts=clip_adapts)
        n_epochs = max(1, round(plan.n_epochs * factors.get("n_epochs", 1.0)))
        rate = min(1.0, plan.learning_rate * factors.get("learning_rate", 1.0))
        return replace(plan, n_epochs=n_epochs, learning_rate=rate)

    with patch.object(private, "schedule", changed), patch.object(estimator, "schedule", changed):
        yield


@contextmanager
def _default(**fields: Any) -> Iterator[None]:
    """Replace the default recipe within a block."""
    with patch.object(recipe, "DEFAULT", replace(recipe.DEFAULT, **fields)):
        yield


@contextmanager
def _agreement_forgotten() -> Iterator[None]:
    from dpexplain.binning.histograms import NoisyHistograms

    with patch.object(NoisyHistograms, "agreeing", lambda self: self):
        yield


@contextmanager
def _averaged(share: float = 0.4) -> Iterator[None]:
    """Use the mean of the last passes instead of the last one within a block."""
    honest = private.boost

    def averaged(
        records: Any, visits: Sequence[Any], step: Any, n_bins: Any, **rest: Any
    ) -> Tables:
        n_features = len(n_bins)
        n_epochs = len(visits) // n_features
        first = n_features * max(1, round((1.0 - share) * n_epochs))
        tables = honest(records, visits[:first], step, n_bins, **rest)
        kept = [tables]
        for start in range(first, len(visits), n_features):
            rest["start"] = tables
            tables = honest(records, visits[start : start + n_features], step, n_bins, **rest)
            kept.append(tables)
        return [np.mean(parts, axis=0) for parts in zip(*kept, strict=True)]

    with patch.object(private, "boost", averaged):
        yield


@contextmanager
def _with_momentum(kept: float = 0.5) -> Iterator[None]:
    """Each pass repeats a part of the passes before it, and its own steps are as much shorter."""
    honest = private.boost

    def pushed(records: Any, visits: Sequence[Any], step: Any, n_bins: Any, **rest: Any) -> Tables:
        tables, n_features = rest.pop("start"), len(n_bins)
        moving = [np.zeros_like(table) for table in tables]
        for start in range(0, len(visits), n_features):
            now = visits[start : start + n_features]
            moved = honest(records, now, step, n_bins, start=list(tables), **rest)
            again = [kept * before for before in moving]
            for feature, more in enumerate(again):
                records.apply(feature, more)
            moving = [b - a + m for a, b, m in zip(tables, moved, again, strict=True)]
            tables = [b + m for b, m in zip(moved, again, strict=True)]
        return tables

    with _scheduled(learning_rate=1.0 - kept), patch.object(private, "boost", pushed):
        yield


@contextmanager
def _visited_by_size(share: float = 0.5) -> Iterator[None]:
    """In the second half, this share of the visits is drawn by the spread of the released curves.

    Each visit is replaced by one with as many leaves, so the budget pays for all of them.
    """
    honest = private.boost

    def drawn(records: Any, visits: Visits, step: Any, n_bins: Any, **rest: Any) -> Tables:
        n_features = len(n_bins)
        first = n_features * -(-len(visits) // (2 * n_features))
        tables = honest(records, visits[:first], step, n_bins, **rest)
        by_feature = [[v for v in visits if v.feature == k] for k in range(n_features)]
        spreads = np.array([_spread(t, v) for t, v in zip(tables, by_feature, strict=True)])
        chances = (1.0 - share) / n_features + share * spreads / max(spreads.sum(), 1e-12)
        rng = np.random.default_rng(len(visits))  # public structure, as the trees
        of_visit = (chances / [len(own) for own in by_feature])[visits.feature]
        chosen = []
        for n_leaves in visits.n_leaves[first:]:
            weights = of_visit * (visits.n_leaves == n_leaves)
            chosen.append(rng.choice(len(visits), p=weights / weights.sum()))
        rest["start"] = tables
        return honest(records, _at(visits, chosen), step, n_bins, **rest)

    with patch.object(private, "boost", drawn):
        yield


def _at(visits: Visits, places: Sequence[int]) -> Visits:
    """Return the visits at these places, some of which may occur more than once."""
    return Visits(
        visits.feature[places],
        visits.leaf_of_bin[places],
        visits.leaf_weight[places],
        visits.n_bins,
        visits.n_leaves[places],
        visits.n_records,
    )


def _spread(table: Any, visits: Sequence[Any]) -> float:
    """Standard deviation of a curve over the records, which the leaves place in its bins."""
    counts = np.zeros(len(table))
    for visit in visits:
        bins_of_leaf = np.maximum(np.bincount(visit.leaf_of_bin, minlength=256), 1)
        in_leaf = visit.leaf_weight[visit.leaf_of_bin]
        counts += in_leaf / bins_of_leaf[visit.leaf_of_bin]
    mean = np.average(table, weights=counts)
    return float(np.sqrt(np.average((table - mean) ** 2, weights=counts)))


@contextmanager
def _shrunk_terms() -> Iterator[None]:
    """Multiply each curve by the share of its variance that is not noise."""
    honest = estimator._PrivateBoosting.fit

    def shrunk(self: Any, *given: Any, **rest: Any) -> Any:
        honest(self, *given, **rest)
        noise = self._noise_draws()[0].privacy.var(axis=0)
        curves, first = [], 0
        for scores, counts in zip(self._terms.scores, self._terms.counts, strict=True):
            weights = np.maximum(counts, 0.0)
            size = float(weights @ scores**2)
            share = float(weights @ noise[first : first + len(scores)]) / max(size, 1e-12)
            first += len(scores)
            curves.append(max(0.0, 1.0 - share) * scores)
        self._terms = replace(self._terms, scores=tuple(curves))
        return self

    with patch.object(estimator._PrivateBoosting, "fit", shrunk):
        yield


@contextmanager
def _with_effect(share: float = 0.3) -> Iterator[None]:
    """Move the curves this far to those of the effect estimate."""
    honest = estimator._PrivateBoosting.fit

    def moved(self: Any, *given: Any, **rest: Any) -> Any:
        honest(self, *given, **rest)
        for effect in self._effect_draws():
            before, counts = self._released_terms, self._fit.binned.counts
            curves = [
                np.where(c.perhaps_nobody, 0.0, (1.0 - share) * a + share * b)
                for a, b, c in zip(before.scores, effect.curves, counts, strict=True)
            ]
            self._terms = replace(before, scores=tuple(curves))
        return self

    with patch.object(estimator._PrivateBoosting, "fit", moved):
        yield


class _TotalStep(loop.PrivateStep):
    """Step that estimates the total of the residuals from all releases so far.

    Every sum of leaves measures the same total, so a filter learns it faster than one visit does.
    Each record may then add less to the total and more to the differences between leaves. NOT
    PRIVATE as written: the noise of such sums is only simulated.
    """

    kept, noise_per_clip, reaction, surprise = 1.0, 1.0, 0.15, 0.1

    def in_turn(self, *given: Any) -> None:
        """Refuse to make all visits in compiled code, which would not estimate the total."""

    def __call__(self, visit: Any, records: Any, tables: Any) -> Any:
        (clip, _), weights = self._clip.next(records), visit.leaf_weight
        n, sd = len(weights), self.noise_per_clip * clip
        exact = records.leaf_sums(visit.feature, visit.leaf_of_bin, n, clip) * (clip / LATTICE)
        drawn = self._mechanism.release(np.zeros(n, np.int64)) * (clip / LATTICE)
        norm = np.sqrt(1.0 - (1.0 - self.kept**2) / n)  # largest contribution of a record
        noise = norm * (drawn - drawn.mean() + drawn.mean() / self.kept)
        sums, in_all = exact + noise, float(weights.sum())
        if not self.taken:
            self._total, self._variance, self._last = (
                0.0,
                (0.5 * in_all * max(clip, 0.2)) ** 2,
                clip,
            )
        self._variance += (0.3 * in_all * (clip - self._last)) ** 2
        self._last = clip
        gain = self._variance / (self._variance + n * (norm * sd / self.kept) ** 2)
        self._total += gain * (float(sums.sum()) - self._total)
        self._variance *= 1.0 - gain
        update = self._learning_rate * (sums + (self._total - sums.sum()) / n) / weights
        moved, spread = float(update @ weights), in_all * float(update**2 @ weights)
        self._total -= self.reaction * moved
        self._variance += (self.surprise * moved) ** 2 + (0.5 * self.reaction) ** 2 * spread
        self.taken.append(LeafStep(clip, sums, self._learning_rate / weights, False, update))
        return update[visit.leaf_of_bin]


@contextmanager
def _with_total(kept: float = 1.0) -> Iterator[None]:
    """Estimate the total of the residuals from all releases, for two classes and numbers."""
    honest = Objective.private_step

    def step(self: Any, *given: Any, least_weight: float, **rest: Any) -> Any:
        made = honest(self, *given, least_weight=least_weight, **rest)
        of_all = _TotalStep(made._mechanism, learning_rate=made._learning_rate, clip=made._clip)
        of_all.kept = kept
        of_all.noise_per_clip = least_weight / recipe.DEFAULT.leaf_noise_ratio
        if self.link == "identity":
            of_all.reaction, of_all.surprise = 0.7, 0.4
        return of_all

    with patch.object(Objective, "private_step", step):
        yield


_PAIR_CELLS = 8


_found_pairs: dict[str, list[tuple[str, str]]] = {}


def _pairs(dataset: Dataset) -> list[tuple[str, str]]:
    """Return the three pairs that explain most of the residuals. NOT PRIVATE: a best case."""
    if dataset.name not in _found_pairs:
        _found_pairs[dataset.name] = _best_pairs(dataset)
    return _found_pairs[dataset.name]


def _best_pairs(dataset: Dataset) -> list[tuple[str, str]]:
    kind = "Classifier" if isinstance(dataset.schema.target, Classes) else "Regressor"
    model = getattr(dpexplain, f"ExplainableBoosting{kind}")(schema=dataset.schema, outer_bags=1)
    model.fit(dataset.X, dataset.y)
    if kind == "Classifier":
        left = (dataset.y == model.classes_[1]) - model.predict_proba(dataset.X)[:, 1]
    else:
        left = dataset.y - model.predict(dataset.X)
    codes = {c: _coarse(dataset.X[c]) for c in dataset.X}
    gains = {}
    for a, b in combinations(codes, 2):
        sums = pd.Series(np.asarray(left, dtype=float)).groupby([codes[a], codes[b]])
        gains[a, b] = float((sums.sum() ** 2 / sums.count()).sum())
    return sorted(gains, key=lambda pair: -gains[pair])[:3]


def _coarse(column: pd.Series) -> Any:
    if pd.api.types.is_numeric_dtype(column):
        ranks = column.rank(pct=True, method="average").fillna(0.0)
        return np.minimum((ranks * _PAIR_CELLS).astype(int), _PAIR_CELLS - 1).to_numpy()
    return np.minimum(pd.factorize(column)[0] + 1, _PAIR_CELLS - 1)


def _with_pairs(dataset: Dataset) -> Dataset:
    """Add each pair as a column of 64 categories, whose coarse cells are free as well."""
    X, features = dataset.X.copy(), dict(dataset.schema.features)
    for a, b in _pairs(dataset):
        column = f"{a} & {b}"
        cells = _PAIR_CELLS * _coarse(dataset.X[a]) + _coarse(dataset.X[b])
        X[column] = cells.astype(str)
        features[column] = Categorical([str(c) for c in range(_PAIR_CELLS**2)])
    return replace(dataset, X=X, schema=Schema(features, target=dataset.schema.target))


_HALF_FIRST = (0.5, 0.25, 0.25)

CHOICES = (
    Choice("no clipping of classifier residuals", {"clip": 1.0}, only="AUROC"),
    Choice("clip of a regression 0.2 half-ranges", {"clip": 0.2}, only="RMSE"),
    Choice("clip of a regression 1 half-range", {"clip": 1.0}, only="RMSE"),
    Choice(
        "no count of people first, 128 cells", {}, lambda: _default(count_share=0.0, bin_share=0.2)
    ),
    Choice("histograms not made consistent", {}, _agreement_forgotten),
    Choice("10% of the budget for the histograms", {"bin_budget_frac": 0.1}),
    Choice("40% of the budget for the histograms", {"bin_budget_frac": 0.4}),
    Choice("bins twice as far above their noise", {}, lambda: _default(bin_noise_ratio=2.0)),
    Choice("at least 32 cells", {}, lambda: patch.object(recipe, "CELLS", (32, 256))),
    Choice("cells that are never split", {}, lambda: _default(bin_rounds=(1.0,))),
    Choice("cells split once", {}, lambda: _default(bin_rounds=(0.5, 0.5))),
    Choice("half of the counting in the first round", {}, lambda: _default(bin_rounds=_HALF_FIRST)),
    Choice("bins that follow the people outside the largest", {}, rare_bins),
    Choice("steps by the curvature of the loss", {}, steps_by_curvature, only="AUROC"),
    Choice("equal-width cells only", {}, lambda: _default(spacing="equal")),
    Choice("trees of 2 leaves", {"max_leaves": 2}),
    Choice("trees of 3 leaves", {"max_leaves": 3}),
    Choice("trees of 5 leaves", {"max_leaves": 5}),
    Choice("no neutral records", {}, lambda: _default(neutral_ratio=0.0)),
    Choice("no minimum count in a leaf", {}, lambda: _default(leaf_noise_ratio=0.0)),
    Choice("half as many passes", {}, lambda: _scheduled(n_epochs=0.5)),
    Choice("twice as many passes", {}, lambda: _scheduled(n_epochs=2.0)),
    Choice("steps half as long", {}, lambda: _scheduled(learning_rate=0.5)),
    Choice("steps twice as long", {}, lambda: _scheduled(learning_rate=2.0)),
    Choice("half of each pass repeated in the next", {}, _with_momentum),
    Choice("later visits by the size of a curve", {}, _visited_by_size),
    Choice("curves shrunk by their share of noise", {}, _shrunk_terms),
    Choice("curves moved to the effect estimate", {}, _with_effect),
    Choice("the total estimated from all releases", {}, _with_total),
    Choice("sums that contain less of the total", {}, lambda: _with_total(0.7)),
    Choice("mean of the last 40% of the passes", {}, _averaged),
    Choice("four bags", {"outer_bags": 4}),
    Choice("three pairs of features, chosen without privacy", {}, data=_with_pairs),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", nargs="+", choices=sorted(TABLES), metavar="NAME")
    parser.add_argument(
        "--choices",
        nargs="+",
        choices=[c.words for c in CHOICES],
        default=[c.words for c in CHOICES],
        metavar="WORDS",
        help="what to do in another way, in the words of the table (default: everything)",
    )
    parser.add_argument(
        "--epsilons",
        nargs="+",
        type=float,
        default=EPSILONS,
        metavar="EPSILON",
        help=f"default: {', '.join(f'{e:g}' for e in EPSILONS)}",
    )
    parser.add_argument("--splits", type=int, default=10, help="at least 2 (default: 10)")
    options = parser.parse_args(arguments)
    if options.splits < 2:
        parser.error(f"--splits {options.splits}: a standard error needs at least 2")
    datasets = list(found(options.datasets, USUAL))
    if not datasets:
        sys.exit("No data set was found: there is nothing to compare.")
    print(f"{machine()}. {versions()}.\n")
    print(
        f"Change of the test score when one choice is made in another way, ± standard error over "
        f"{options.splits} random splits, delta {DELTA:g}. Positive is better: more AUROC, or "
        "less RMSE in per cent.\n"
    )
    chosen = [c for c in CHOICES if c.words in options.choices]
    plan = (options.splits, options.epsilons)
    columns = {name: _column(dataset, *plan, chosen) for name, dataset in datasets}
    if len(chosen) == 1:
        header = ["data", *(f"ε = {e:g}" for e in options.epsilons)]
        words = chosen[0].words
        rows = [
            [name, *(f"{c['recipe'][e]} ({c[words][e]})" for e in options.epsilons)]
            for name, c in columns.items()
        ]
        print(f"The recipe unchanged (change with {words}):\n")
        print(table(header, rows))
        return
    header = ["instead", *(f"{n} ε = {e:g}" for n in columns for e in options.epsilons)]
    as_it_is = [
        "the recipe unchanged",
        *(c["recipe"][e] for c in columns.values() for e in options.epsilons),
    ]
    rows = [
        [choice.words, *(c[choice.words][e] for c in columns.values() for e in options.epsilons)]
        for choice in chosen
    ]
    print(table(header, [as_it_is, *rows]))


def _contender(settings: dict[str, Any]) -> Contender:
    def make(schema: Any, budget: Budget) -> Any:
        kind = "Classifier" if isinstance(schema.target, Classes) else "Regressor"
        model = getattr(dpexplain, f"DPExplainableBoosting{kind}")
        return model(budget.epsilon, budget.delta, schema=schema, **settings)

    return Contender("dpexplain", make)


def _column(
    dataset: Dataset, n_splits: int, epsilons: Sequence[float], choices: Sequence[Choice]
) -> dict[str, dict[float, str]]:
    """Format a choice at one epsilon."""
    plain = {e: _scores(Choice("recipe", {}), dataset, n_splits, e) for e in epsilons}
    printed = {"recipe": {e: number(float(s.mean())) for e, s in plain.items()}}
    for choice in choices:
        printed[choice.words] = {}
        for epsilon, as_it_is in plain.items():
            text = ""
            if choice.only in (None, metric(dataset.schema)):
                print(f"{dataset.name}: {choice.words} ...", file=sys.stderr, flush=True)
                scores = _scores(choice, choice.data(dataset), n_splits, epsilon)
                text = _change(scores, as_it_is, metric(dataset.schema))
            printed[choice.words][epsilon] = text
    return printed


def _scores(choice: Choice, dataset: Dataset, n_splits: int, epsilon: float) -> Any:
    contender = _contender(choice.settings)
    with choice.change():
        return np.array(
            [
                fitted(contender, dataset, split, Budget(epsilon, DELTA)).score
                for split in splits(len(dataset.X), n_splits)
            ]
        )


def _change(scores: Any, as_it_is: Any, name: str) -> str:
    gains = scores - as_it_is if name == "AUROC" else 100.0 * (1.0 - scores / as_it_is)
    error = deviation(gains.tolist()) / math.sqrt(len(gains))
    decimals, unit = (3, "") if name == "AUROC" else (1, "%")
    return plus_minus(gains.mean(), error, f"+.{decimals}f", unit).replace("-", "−")


if __name__ == "__main__":
    main()
