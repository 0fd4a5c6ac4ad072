"""Cost of reading a text file line by line, next to pandas, which reads it at once.

Run it with ``python tests/benchmarks/bench_lines.py``; ``make bench`` prints the same rows.
"""

from __future__ import annotations

import csv
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from bench_print import machine, table, versions

from dpexplain.tables import read_texts

HEADER = ("file", "wanted", "CPU s", "CPU s of pandas", "ratio", "met")
WANTED = 1.3
"""CPU time, as a multiple of that of pandas."""


def line_costs(n_rows: int = 1_000_000, n_repeats: int = 5) -> Iterator[tuple[str, ...]]:
    """Measure the median CPU time of both readers, which take turns.

    Parameters
    ----------
    n_rows : int, default=1_000_000
        Lines of each file.
    n_repeats : int, default=5
        How often each reader reads it.

    Yields
    ------
    tuple of str
        A row below `HEADER`.
    """
    rng = np.random.default_rng(0)
    people = pd.DataFrame(
        {
            "age": rng.integers(0, 100, n_rows),
            "income": rng.lognormal(10, 1, n_rows).round(2),
            "job": rng.choice(["clerk", "nurse", "smith"], n_rows),
            "town": rng.integers(0, 10**5, n_rows),
            "sick": rng.choice(["no", "yes"], n_rows),
        }
    )
    quotings = {"without quotes": csv.QUOTE_MINIMAL, "all cells quoted": csv.QUOTE_ALL}
    with tempfile.TemporaryDirectory() as folder:
        for title, quoting in quotings.items():
            path = Path(folder) / "people.csv"
            people.to_csv(path, index=False, quoting=quoting)
            ours, theirs = _medians(path, n_repeats)
            measured = f"{ours:.3g}", f"{theirs:.3g}", f"{ours / theirs:.2f}"
            met = "yes" if ours <= WANTED * theirs else "no"
            name = f"{n_rows:,} lines × {people.shape[1]}, {title}"
            yield (name, f"at most {WANTED} × pandas", *measured, met)


def _medians(path: Path, n_repeats: int) -> tuple[float, ...]:
    """Return median CPU seconds of our reader and of pandas."""
    readers: tuple[Callable[[], object], ...] = (
        lambda: read_texts(path),
        lambda: pd.read_csv(path, dtype=str, na_filter=False, encoding="utf-8-sig"),
    )
    readers[0]()  # compiles
    rounds = [[_seconds(read) for read in readers] for _ in range(n_repeats)]
    return tuple(float(median) for median in np.median(rounds, axis=0))


def _seconds(read: Callable[[], object]) -> float:
    start = time.process_time()
    read()
    return time.process_time() - start


def main() -> None:
    """Measure and print the costs."""
    print(f"{machine()}. {versions()}.\n")
    print(table(HEADER, line_costs()))


if __name__ == "__main__":
    main()
