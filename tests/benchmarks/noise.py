"""Print how well bands, marks and ranks tell signal from noise: `make bench-noise`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from typing import Any

from bench_data import TABLES, found
from bench_noise import (
    DATASETS,
    EPSILONS,
    against_truth,
    denoising,
    estimator,
    privacy_coverage,
    seconds_of_bands,
    shuffled,
    structure_coverage,
)
from bench_print import machine, table, versions

from dpexplain.datasets import make_additive

PARTS = ("coverage", "truth", "denoising", "shuffled")
SIMULATED = {"smooth": 10_000, "correlated": 10_000, "clinical": 10_000}


def main(given: Sequence[str] | None = None) -> None:
    """Measure and print the tables."""
    arguments = _arguments(given)
    print(f"{machine()}. {versions()}.")
    epsilons = arguments.epsilons or EPSILONS
    real = [n for n in (arguments.datasets or DATASETS) if n in TABLES]
    simulated = [n for n in (arguments.datasets or SIMULATED) if n in SIMULATED]
    tables = dict(found(arguments.datasets and real, real)) if real else {}
    tables.update({n: make_additive(n, SIMULATED[n], random_state=0) for n in simulated})
    if "coverage" in arguments.parts:
        _coverage(tables, epsilons, arguments)
    if "truth" in arguments.parts:
        _truth(simulated, epsilons, arguments.tables)
    if "denoising" in arguments.parts:
        _denoising({n: t for n, t in tables.items() if n not in SIMULATED}, epsilons, arguments)
    if "shuffled" in arguments.parts:
        _shuffled(epsilons, arguments.runs)


def _arguments(given: Sequence[str] | None) -> Any:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", help="of " + ", ".join(DATASETS))
    parser.add_argument("--epsilons", nargs="+", type=float)
    parser.add_argument("--refits", type=int, default=100, help="fits with fresh noise")
    parser.add_argument("--bands", type=int, default=20, help="refits whose own bands are held")
    parser.add_argument("--tables", type=int, default=20, help="simulated tables per problem")
    parser.add_argument("--splits", type=int, default=5, help="splits for denoising")
    parser.add_argument("--runs", type=int, default=200, help="fits to shuffled labels")
    parser.add_argument(
        "--parts", nargs="+", default=PARTS,
        choices=PARTS,
    )  # fmt: skip
    return parser.parse_args(given)


def _coverage(tables: dict[str, Any], epsilons: Any, arguments: Any) -> None:
    print(
        f"\nCoverage of nominal 95 % bands, {arguments.refits} refits: of privacy noise around\n"
        "the noiseless fit, of privacy and structure around the average over splits and bins.\n"
    )
    rows = []
    for name, data in tables.items():
        for epsilon in epsilons:
            privacy = privacy_coverage(data, epsilon, arguments.refits)
            both = structure_coverage(data, epsilon, arguments.refits, arguments.bands)
            rows.append(
                {
                    "data": name,
                    "epsilon": f"{epsilon:g}",
                    "privacy": f"{privacy.overall:.3f}",
                    "lowest term": f"{privacy.lowest:.3f} ({privacy.lowest_term})",
                    "highest": f"{privacy.highest:.3f}",
                    "with structure": f"{both.overall:.3f}",
                    "lowest term ": f"{both.lowest:.3f} ({both.lowest_term})",
                    "CPU s": f"{seconds_of_bands(data, epsilon):.2f}",
                }
            )
    _print(rows)


def _truth(problems: list[str], epsilons: Any, n_tables: int) -> None:
    print(f"\nAgainst known truth, {n_tables} tables of 10,000 rows each:\n")
    rows = []
    for name in problems:
        for epsilon in epsilons:
            check = against_truth(partial(_draw, name), epsilon, n_tables)
            rows.append(
                {
                    "problem": name,
                    "epsilon": f"{epsilon:g}",
                    "people in marked bins": f"{check.power:.2f}",
                    "false marks": f"{check.false_marks:.3f}",
                    "ranks in their interval": f"{check.ranks_right:.3f}",
                    "signs that are 95 % sure": f"{check.signs_sure:.2f}",
                    "of these right": f"{check.signs_right:.3f}",
                    "bias of corrected importance": f"{check.importance_bias:+.2f}",
                }
            )
    _print(rows)


def _draw(problem: str, seed: int) -> Any:
    return make_additive(problem, SIMULATED[problem], random_state=1000 + seed)


def _denoising(tables: dict[str, Any], epsilons: Any, arguments: Any) -> None:
    if not tables:
        return
    print(
        f"\nCurves with the known noise taken out (`denoised`), {arguments.splits} splits: score\n"
        "on held-out rows, and distance from a non-private reference (relative to its curves).\n"
    )
    rows = []
    for name, data in tables.items():
        reference = estimator(data, 1.0).reference_estimator().fit(data.X, data.y).explain_global()
        for epsilon in epsilons:
            check = denoising(data, reference, epsilon, arguments.splits)
            digits = 3 if check.released < 100 else 0
            rows.append(
                {
                    "data": name,
                    "epsilon": f"{epsilon:g}",
                    "metric": check.metric,
                    "released": f"{check.released:,.{digits}f}",
                    "denoised": f"{check.denoised:,.{digits}f}",
                    "distance": f"{check.relative_distance:.2f}",
                    "distance, denoised": f"{check.relative_distance_denoised:.2f}",
                }
            )
    _print(rows)


def _shuffled(epsilons: Any, n_runs: int) -> None:
    print(f"\nLabels in random order (clinical, 5,000 rows), {n_runs} fits:\n")
    data = make_additive("clinical", 5_000, random_state=0)
    rows = []
    for epsilon in epsilons:
        check = shuffled(data, epsilon, n_runs)
        rows.append(
            {
                "epsilon": f"{epsilon:g}",
                "nothing above noise": f"{check.quiet} of {check.runs}",
                "importance over its noise floor": f"{check.floor_ratio:.3f}",
            }
        )
    _print(rows)


def _print(rows: list[dict[str, str]]) -> None:
    print(table(list(rows[0]), [list(row.values()) for row in rows]), "\n", flush=True)


if __name__ == "__main__":
    main()
