"""Print whether repairs bring private curves closer to the truth: `make bench-edit`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from bench_print import deviation, machine, plus_minus, table, versions
from edit_families import FAMILIES, MONOTONE, SIZES, Family, patients, schema, truth_of_bins

from dpexplain import DPExplainableBoostingClassifier
from dpexplain.edit import Composed, Monotone, Recover, Smooth, repair
from dpexplain.explain import ShapeFunction

TERM = "measurement"
DIRECTIONS = ("increasing", "decreasing")
TARGETS = {"repair": 0.30, "warning": 0.90}
METHODS = ("monotone", "smooth and monotone", "recover", "repair")


def main(given: Sequence[str] | None = None) -> None:
    """Measure and print the tables."""
    arguments = arguments_of(given, __doc__, 100)
    print(f"{machine()}. {versions()}.")
    all_sizes = []
    for n_patients in arguments.patients:
        results = results_of(_measured, n_patients, arguments)
        print(
            f"\n{n_patients:,} patients, epsilon {arguments.epsilon:g}, {arguments.seeds} seeds "
            "per family; mean and 95 % interval.\n"
        )
        _print_monotone(results)
        _print_others(results)
        all_sizes.append(results)
    if len(all_sizes) > 1:
        monotone = pd.concat(all_sizes)[lambda r: r["monotone"] & (r["method"] == "repair")]
        gain = interval(monotone.groupby("seed")["gain"].mean(), 1)
        print(f"\nAll monotone truths, both sizes of hospital: repair is {gain} nearer.")


def arguments_of(given: Sequence[str] | None, about: str | None, n_seeds: int) -> Any:
    """Read the arguments of a benchmark of edits."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--seeds", type=int, default=n_seeds)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--patients", type=int, nargs="+", default=SIZES)
    parser.add_argument(
        "--results", type=Path, help="file that keeps what was measured, to go on after a stop"
    )
    return parser.parse_args(given)


def results_of(
    measure: Callable[[int, float, int], list[dict[str, Any]]], n_patients: int, arguments: Any
) -> pd.DataFrame:
    """Measure what is missing from the results file, and store it there seed by seed."""
    path, cells = arguments.results, {}
    if path is not None and path.exists():
        lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        cells = {line["cell"]: line["rows"] for line in lines}
    rows = []
    for seed in range(arguments.seeds):
        key = f"{n_patients} {arguments.epsilon:g} {seed}"
        if key not in cells:
            cells[key] = measure(n_patients, arguments.epsilon, seed)
            if path is not None:
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"cell": key, "rows": cells[key]}) + "\n")
        rows += cells[key]
    return pd.DataFrame(rows)


def _measured(n: int, epsilon: float, seed: int) -> list[dict[str, Any]]:
    return [row for family in FAMILIES for row in measured(family, seed, n, epsilon)]


def edits(direction: str) -> dict[str, Any]:
    """Return ways to make a curve monotone: the full repair, and each of its steps."""
    monotone = Monotone(TERM, direction=direction)
    return {
        "monotone": monotone,
        "smooth and monotone": Composed((Smooth(TERM), monotone)),
        "recover": Recover(TERM),
        "repair": repair(TERM, direction),
    }


def measured(family: Family, seed: int, n: int, epsilon: float) -> list[dict[str, Any]]:
    """Fit once; return the distance to the truth around each edit, and its warning."""
    X, y = patients(family, seed, n)
    model = DPExplainableBoostingClassifier(
        epsilon=epsilon, schema=schema(family), structure_seed=seed
    )
    explanation = model.fit(X, y).explain_global()
    before = distance(family, explanation[TERM])
    rows = []
    for direction in (family.direction,) if family.monotone else DIRECTIONS:
        for name, edit in edits(direction).items():
            edited = edit.apply(explanation)
            rows.append(
                {
                    "family": family.name,
                    "monotone": family.monotone,
                    "seed": seed,
                    "direction": direction,
                    "method": name,
                    "before": before,
                    "gain": 1.0 - distance(family, edited[TERM]) / before,
                    "warned": bool(edited.edits[-1].leaves_band),
                }
            )
    return rows


def distance(family: Family, term: ShapeFunction) -> float:
    """Return the root mean square distance to the truth over the population, in log-odds."""
    truth, share = truth_of_bins(family, term.bin_edges)
    curve = term.contribution[: term.n_value_bins]
    return float(np.sqrt(share @ (curve - truth) ** 2))


def interval(values: pd.Series, digits: int = 0) -> str:
    """Format a mean and the half-width of its 95% interval, in percent."""
    half = 1.96 * deviation(values.tolist()) / np.sqrt(len(values))
    return plus_minus(100 * values.mean(), 100 * half, f".{digits}f", " %")


def _print_monotone(results: pd.DataFrame) -> None:
    """Print how much closer each edit brings a curve to a monotone truth."""
    names = [family.name for family in MONOTONE]
    chosen = results[results["family"].isin(names)]
    rows = []
    for name in names:
        of = chosen[chosen["family"] == name]
        gains = [interval(of[of["method"] == method]["gain"]) for method in METHODS]
        warned = of[of["method"] == "repair"]["warned"]
        rows.append([name, f"{of['before'].mean():.3f}", *gains, f"{100 * warned.mean():.0f} %"])
    by_seed = chosen.groupby(["seed", "method"])["gain"].mean().unstack()
    means = [interval(by_seed[method], 1) for method in METHODS]
    warned = chosen[chosen["method"] == "repair"]["warned"]
    before = f"{chosen['before'].mean():.3f}"
    rows.append(["**all monotone truths**", before, *means, f"{100 * warned.mean():.0f} %"])
    head = ["truth", "distance before", *(f"nearer: {m}" for m in METHODS), "false warnings"]
    print(table(head, rows))
    reached = by_seed["repair"].mean() >= TARGETS["repair"]
    print(
        f"\nRepair at least {100 * TARGETS['repair']:.0f} % nearer: {'yes' if reached else 'no'}."
    )


def _print_others(results: pd.DataFrame) -> None:
    """Print how often the warning appears if a monotone repair is wrong."""
    names = [family.name for family in FAMILIES if not family.monotone]
    chosen = results[results["family"].isin(names)]
    rows = []
    for name in [*names, ""]:
        of = chosen if not name else chosen[chosen["family"] == name]
        cells = [
            f"{100 * of[(of['method'] == m) & (of['direction'] == d)]['warned'].mean():.0f} %"
            for m in ("monotone", "repair")
            for d in DIRECTIONS
        ]
        rows.append([name or "**all others**", *cells])
    head = ["truth that is not monotone"]
    head += [f"warned: {m}, {d}" for m in ("monotone", "repair") for d in DIRECTIONS]
    print(f"\n{table(head, rows)}")
    warned = chosen[chosen["method"] == "repair"]["warned"].mean()
    reached = "yes" if warned >= TARGETS["warning"] else "no"
    print(f"\nWarning in at least {100 * TARGETS['warning']:.0f} %: {reached}.")


if __name__ == "__main__":
    main()
