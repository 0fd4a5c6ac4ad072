"""Cost of secret coins, in fits that sample records, use bags or bound persons' rows.

Run it with ``python tests/benchmarks/bench_coins.py``; ``make bench`` prints the same rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
from bench_print import machine, table, versions

from dpexplain import DPExplainableBoostingClassifier, DPLocallyLinearClassifier
from dpexplain.datasets import Dataset, load_adult
from dpexplain.mechanisms import SecretCoins, SeededCoins
from dpexplain.models import private_hooks

HEADER = ("fit", "wanted", "CPU s", "of it secret coins", "of it coins of a seed", "met")
WANTED = 0.05
"""Share of a fit that secrecy may cost."""


def coin_costs(dataset: Dataset, n_fits: int = 3) -> Iterator[tuple[str, ...]]:
    """Measure the CPU time of fits, and of all their coins, secret and seeded.

    Parameters
    ----------
    dataset : Dataset
        Of classes.
    n_fits : int, default=3
        Of which the quickest counts.

    Yields
    ------
    tuple of str
        A row below `HEADER`.
    """
    X, y, schema = dataset.X, dataset.y, dataset.schema
    two_rows = {"groups": np.arange(len(X)) // 2}
    fits: dict[str, tuple[Any, dict[str, Any]]] = {
        "DP-EBM, three bags": (DPExplainableBoostingClassifier(schema=schema, outer_bags=3), {}),
        "DP-EBM, one row per person": (
            DPExplainableBoostingClassifier(schema=schema, max_rows_per_person=1),
            two_rows,
        ),
        "locally linear, Poisson samples": (
            DPLocallyLinearClassifier(schema=schema, n_public=len(X)),
            {},
        ),
    }
    for title, (model, arguments) in fits.items():
        model.fit(X, y, **arguments)  # loads and compiles
        secret = _quickest(SecretCoins, model, X, y, arguments, n_fits)
        with mock.patch.object(private_hooks, "secret_coins", side_effect=lambda: SeededCoins(0)):
            seeded = _quickest(SeededCoins, model, X, y, arguments, n_fits)
        fit, coins = secret
        met = coins - seeded[1] <= WANTED * fit
        shares = (f"{coins / fit:.1%}", f"{seeded[1] / seeded[0]:.1%}")
        wanted = f"at most {WANTED:.0%} more"
        yield (f"{dataset.name}, {title}", wanted, f"{fit:.3g}", *shares, "yes" if met else "no")


def _quickest(
    kind: type[Any], model: Any, X: Any, y: Any, arguments: dict[str, Any], n_fits: int
) -> tuple[float, float]:
    """Return the CPU seconds of the fastest fit, and those spent on its coins."""
    return min(_timed(kind, lambda: model.fit(X, y, **arguments)) for _ in range(n_fits))


def _timed(kind: type[Any], fit: Callable[[], Any]) -> tuple[float, float]:
    spent = 0.0

    def timed(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            nonlocal spent
            start = time.process_time()
            try:
                return method(*arguments)
            finally:
                spent += time.process_time() - start

        return call

    methods = {n: timed(getattr(kind, n)) for n in ("heads", "random", "permutation", "spawn")}
    with mock.patch.multiple(kind, **methods):
        start = time.process_time()
        fit()
        return time.process_time() - start, spent


def main() -> None:
    """Measure and print the costs on adult."""
    print(f"{machine()}. {versions()}.\n")
    print(table(HEADER, coin_costs(load_adult())))


if __name__ == "__main__":
    main()
