"""Print how well bands, marks and ranks distinguish signal from noise: `make bench-noise`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bench_data import TABLES, found
from bench_noise import (
    DATASETS,
    EPSILONS,
    ONE_PART_ONLY,
    against_truth,
    denoising,
    estimator,
    few_classes,
    privacy_coverage,
    seconds_of_bands,
    shuffled,
    structure_coverage,
)
from bench_print import machine, table, versions

from dpexplain.datasets import make_additive

PARTS = ("coverage", "truth", "denoising", "shuffled")
SIMULATED = {"smooth": 10_000, "correlated": 10_000, "clinical": 10_000}

Row = dict[str, str]


def main(given: Sequence[str] | None = None) -> None:
    """Measure and print the tables."""
    arguments = _arguments(given)
    print(f"{machine()}. {versions()}.")
    arguments.epsilons = arguments.epsilons or EPSILONS
    names = arguments.datasets or DATASETS
    tables = _tables(names, arguments.datasets is not None)
    real = [n for n in tables if n in TABLES and n not in ONE_PART_ONLY]
    simulated = [n for n in tables if n in SIMULATED]
    if "coverage" in arguments.parts:
        print(
            f"\nCoverage of nominal 95 % bands, {arguments.refits} refits: of privacy noise "
            "around the\nnoiseless fit, of privacy and structure around the average over splits "
            "and bins.\n"
        )
        _table(arguments, "coverage", "data", tables, partial(_coverage, arguments, tables))
    if "truth" in arguments.parts:
        print(f"\nAgainst known truth, {arguments.tables} tables of 10,000 rows each:\n")
        _table(arguments, "truth", "problem", simulated, partial(_truth, arguments))
    if "denoising" in arguments.parts and real:
        print(
            f"\nCurves with the known noise taken out (`denoised`), {arguments.splits} splits: "
            "score on\nheld-out rows, and distance from a non-private reference (relative to its "
            "curves).\n"
        )
        measure = partial(_denoising, arguments, tables, {})
        _table(arguments, "denoising", "data", real, measure)
    if "shuffled" in arguments.parts:
        print(f"\nLabels in random order, 5,000 rows, {arguments.runs} fits:\n")
        data = make_additive("clinical", 5_000, random_state=0)
        shuffle = partial(_shuffled, arguments, data)
        _table(arguments, "shuffled", "problem", ["clinical"], shuffle)


def _arguments(given: Sequence[str] | None) -> Any:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", help="of " + ", ".join(DATASETS))
    parser.add_argument("--epsilons", nargs="+", type=float)
    parser.add_argument("--refits", type=int, default=100, help="fits with fresh noise")
    parser.add_argument("--bands", type=int, default=20, help="refits whose own bands are held")
    parser.add_argument("--tables", type=int, default=20, help="simulated tables per problem")
    parser.add_argument("--splits", type=int, default=5, help="splits for denoising")
    parser.add_argument("--runs", type=int, default=200, help="fits to shuffled labels")
    parser.add_argument("--parts", nargs="+", default=PARTS, choices=PARTS)
    parser.add_argument(
        "--results",
        type=Path,
        help="folder that keeps each row, so that the command goes on where it stopped; rows of "
        "other settings or of another version need a folder of their own",
    )
    parser.add_argument("--measure-nothing", action="store_true", help="print the rows kept")
    return parser.parse_args(given)


def _tables(names: Sequence[str], chosen: bool) -> dict[str, Any]:
    files = [n for n in names if n in TABLES]
    if "wine in 3 classes" in names and "wine" not in files:
        files.append("wine")
    tables = dict(found(files if chosen else None, files)) if files else {}
    if "wine in 3 classes" in names and "wine" in tables:
        tables["wine in 3 classes"] = few_classes(tables["wine"])
    tables |= {n: make_additive(n, SIMULATED[n], random_state=0) for n in names if n in SIMULATED}
    return {n: tables[n] for n in names if n in tables}


def _table(
    arguments: Any,
    part: str,
    first: str,
    names: Iterable[str],
    measure: Callable[[str, float], Row],
) -> None:
    """Measure each row, or read it if an earlier run stored it; print the table."""
    rows = []
    for name in names:
        for epsilon in arguments.epsilons:
            row = _kept(arguments, f"{part} {name} {epsilon:g}", partial(measure, name, epsilon))
            if row is not None:
                rows.append({first: name, "epsilon": f"{epsilon:g}", **row})
    if rows:
        print(table(list(rows[0]), [list(row.values()) for row in rows]), "\n", flush=True)


def _kept(arguments: Any, key: str, measure: Callable[[], Row]) -> Row | None:
    if arguments.results is None:
        return measure()
    path = arguments.results / f"{key.replace(' ', '-')}.json"
    if path.is_file():
        row: Row = json.loads(path.read_text(encoding="utf-8"))
        return row
    if arguments.measure_nothing:
        return None
    row = measure()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(row), encoding="utf-8")
    return row


def _coverage(arguments: Any, tables: dict[str, Any], name: str, epsilon: float) -> Row:
    data, n_refits = tables[name], arguments.refits
    privacy = privacy_coverage(data, epsilon, n_refits)
    row = {
        "privacy": f"{privacy.overall:.3f}",
        "lowest term": f"{privacy.lowest:.2f} ({privacy.lowest_term})",
        "highest": f"{privacy.highest:.2f}",
        "outside": f"{privacy.n_outside(n_refits)} of {len(privacy.terms)}",
        "with structure": "",
        "its lowest term": "",
    }
    if name not in ONE_PART_ONLY:
        both = structure_coverage(data, epsilon, n_refits, arguments.bands)
        row["with structure"] = f"{both.overall:.3f}"
        row["its lowest term"] = f"{both.lowest:.2f} ({both.lowest_term})"
    return {**row, "CPU s": f"{seconds_of_bands(data, epsilon):.2f}"}


def _truth(arguments: Any, name: str, epsilon: float) -> Row:
    check = against_truth(partial(_draw, name), epsilon, arguments.tables)
    return {
        "people in marked bins": f"{check.power:.2f}",
        "false marks": f"{check.false_marks:.3f}",
        "ranks in their interval": f"{check.ranks_right:.3f}",
        "signs that are 95 % sure": f"{check.signs_sure:.2f}",
        "of these right": f"{check.signs_right:.3f}",
        "bias of corrected importance": f"{check.importance_bias:+.2f}",
    }


def _draw(problem: str, seed: int) -> Any:
    return make_additive(problem, SIMULATED[problem], random_state=1000 + seed)


def _denoising(
    arguments: Any, tables: dict[str, Any], references: dict[str, Any], name: str, epsilon: float
) -> Row:
    data = tables[name]
    if name not in references:
        reference = estimator(data, 1.0).reference_estimator().fit(data.X, data.y)
        references[name] = reference.explain_global()
    check = denoising(data, references[name], epsilon, arguments.splits)
    digits = 3 if check.released < 100 else 0
    return {
        "metric": check.metric,
        "released": f"{check.released:,.{digits}f}",
        "denoised": f"{check.denoised:,.{digits}f}",
        "distance": f"{check.relative_distance:.2f}",
        "distance, denoised": f"{check.relative_distance_denoised:.2f}",
    }


def _shuffled(arguments: Any, data: Any, name: str, epsilon: float) -> Row:
    check = shuffled(data, epsilon, arguments.runs)
    return {
        "nothing above noise": f"{check.quiet} of {check.runs}",
        "importance over its noise floor": f"{check.floor_ratio:.3f}",
    }


if __name__ == "__main__":
    main()
