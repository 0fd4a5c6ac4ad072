"""Print how often bands contain the truth, and what they cost: `make bench-truth`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
from bench_print import machine, table, versions
from bench_truth import PROBLEMS, rows_of_fit

EPSILONS = (0.25, 1.0, 4.0)
Row = dict[str, Any]


def main(given: Sequence[str] | None = None) -> None:
    """Measure and print the tables."""
    arguments = _arguments(given)
    print(f"{machine()}. {versions()}.")
    kept = _kept(arguments.results)
    wanted = [
        (name, epsilon, seed)
        for seed in range(arguments.fits)
        for name in arguments.problems
        for epsilon in arguments.epsilons
    ]
    missing = [] if arguments.measure_nothing else [cell for cell in wanted if cell not in kept]
    for cell, rows in _measured(missing, arguments.jobs):
        kept[cell] = rows
        if arguments.results is not None:
            with arguments.results.open("a") as file:
                file.writelines(json.dumps(row) + "\n" for row in rows)
    found = [row for cell in wanted for row in kept.get(cell, [])]
    cells = [
        [r for r in found if (r["problem"], r["epsilon"]) == (name, epsilon)]
        for name in arguments.problems
        for epsilon in arguments.epsilons
    ]
    cells = [rows for rows in cells if rows]
    print("\nTruth inside the bands: noise alone, and estimate of the effect.\n")
    _print([_coverage(rows) for rows in cells])
    print("\nWhat is said about people, with the estimate of the effect (of noise in brackets).\n")
    _print([_claims(rows) for rows in cells])


def _print(rows: list[Row]) -> None:
    if rows:
        print(table(list(rows[0]), [[str(value) for value in row.values()] for row in rows]))


def _arguments(given: Sequence[str] | None) -> Any:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", nargs="+", default=PROBLEMS, choices=PROBLEMS)
    parser.add_argument("--epsilons", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--fits", type=int, default=40, help="tables per cell")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--results", type=Path, help="file that keeps rows, to go on later")
    parser.add_argument("--measure-nothing", action="store_true", help="print what was kept")
    return parser.parse_args(given)


def _kept(path: Path | None) -> dict[tuple[str, float, int], list[Row]]:
    kept: dict[tuple[str, float, int], list[Row]] = {}
    if path is not None and path.exists():
        for line in path.read_text().splitlines():
            row = json.loads(line)
            kept.setdefault((row["problem"], row["epsilon"], row["seed"]), []).append(row)
    return kept


def _measured(
    cells: list[tuple[str, float, int]], n_jobs: int
) -> Iterator[tuple[tuple[str, float, int], list[Row]]]:
    if n_jobs == 1:
        for cell in cells:
            yield cell, rows_of_fit(*cell)
        return
    with ProcessPoolExecutor(n_jobs) as pool:
        waiting = {pool.submit(rows_of_fit, *cell): cell for cell in cells}
        for done in as_completed(waiting):
            yield waiting[done], done.result()


def _mean(rows: list[Row], kind: str, name: str) -> float:
    return float(np.mean([row[kind][name] for row in rows])) if rows else float("nan")


def _both(rows: list[Row], name: str, digits: int = 2) -> str:
    return " -> ".join(f"{_mean(rows, kind, name):.{digits}f}" for kind in ("noise", "effect"))


def _name(rows: list[Row]) -> Row:
    n_fits = len({row["seed"] for row in rows})
    return {"problem": rows[0]["problem"], "epsilon": f"{rows[0]['epsilon']:g}", "fits": n_fits}


def _coverage(rows: list[Row]) -> Row:
    real = [row for row in rows if row["real"]]
    true = sum(row["true importance"] for row in real)
    shown = [sum(row[kind]["importance"] for row in real) / true for kind in ("noise", "effect")]
    errors = [np.sqrt(_mean(rows, kind, "squared error")) for kind in ("noise", "effect")]
    return {
        **_name(rows),
        "bins inside": _both(rows, "inside"),
        "whole curves": _both(rows, "whole"),
        "importance / true": " -> ".join(f"{x:.2f}" for x in shown),
        "rms error": " -> ".join(f"{x:.3g}" for x in errors),
        "width / oracle": f"{_width_of_oracle(rows):.2f}",
        "CPU s": f"{np.mean([row['seconds'] for row in rows]):.1f}",
    }


def _width_of_oracle(rows: list[Row]) -> float:
    """Width of the band over that of an oracle.

    The oracle knows by which factor the curves of each term fall short on average over the fits of
    a cell, and divides curve and noise band by it; of terms without an effect by the median of
    the others.
    """
    by_term: dict[str, list[Row]] = {}
    for row in rows:
        by_term.setdefault(row["term"], []).append(row)
    kept = {term: _kept_of_truth(own) for term, own in by_term.items() if own[0]["real"]}
    usual = float(np.median(list(kept.values())))
    oracle = sum(_mean(own, "noise", "width") / kept.get(t, usual) for t, own in by_term.items())
    return sum(_mean(own, "effect", "width") for own in by_term.values()) / oracle


def _kept_of_truth(rows: list[Row]) -> float:
    """Share of the true curve of a term that its released curves show on average."""
    share = _mean(rows, "noise", "along") / np.mean([row["size"] ** 2 for row in rows])
    return float(np.clip(share, 0.05, 1.0))


def _claims(rows: list[Row]) -> Row:
    real, null = ([r for r in rows if r["real"] is kind] for kind in (True, False))
    held = [r["ranks"][0] <= r["true rank"] <= r["ranks"][1] for r in real]
    sure = [r for r in real if r["sure"] >= 0.95 and r["direction"] is not None]
    right = [(r["direction"] == "rising") == (r["true slope"] > 0) for r in sure]
    return {
        **_name(rows),
        "real marked": _both(real, "marked"),
        "null marked": _both(null, "marked") if null else "",
        "hatched, truth outside": _both(rows, "hatched and wrong"),
        "true rank inside": f"{np.mean(held):.2f}",
        "signs that are sure": f"{len(sure) / max(len(real), 1):.2f}",
        "of these right": f"{np.mean(right):.3f}" if right else "",
    }


if __name__ == "__main__":
    main()
