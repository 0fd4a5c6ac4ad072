"""Costs of fitting growing Parquet tables, with lines that extrapolate to larger ones.

Run it with ``make bench-scale``; ``make bench-scale BENCH_ARGS="--help"`` lists its options. The
table is a folder of Parquet files of simulated records, all different, written one file at a time;
a fit of n rows reads as many files as hold them. Each fit runs in a fresh process, after a small
warm-up fit. Memory is the peak of the process, Python and its packages included.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from beyond_memory import N_NUMBERS, estimator, peak_bytes, write_table
from wide import print_wide

N_FEATURES = N_NUMBERS + 2
BYTES_PER_ROW = 130
"""Of a Parquet file: 12 random numbers of 8 bytes do not compress."""
MOST_FILE_ROWS = 1_000_000
EXTRAPOLATED = (100_000_000, 1_000_000_000)
MEMORY_TARGET = 4_000
"""Megabytes that a process may hold at 100,000,000 rows."""
MODELS = {
    "boosting": "DPExplainableBoostingClassifier",
    "linear": "DPLogisticRegression",
    "forest": "DPRandomForestClassifier",
}
COLUMNS = ("model", "rows", "cpu_seconds", "wall_seconds", "peak_megabytes", "predicted_per_cpu_s")


def write_parts(folder: Path, n_rows: int, file_rows: int) -> None:
    """Write files of simulated records, each from its own seed."""
    needed, free = n_rows * BYTES_PER_ROW, shutil.disk_usage(folder).free
    if needed > 0.9 * free:
        raise SystemExit(
            f"{n_rows:,} rows take about {needed / 1e9:.0f} GB, and {folder} has "
            f"{free / 1e9:.0f} GB free; name another folder with --folder, or fewer rows with "
            "--sizes."
        )
    for part in range(math.ceil(n_rows / file_rows)):
        write_table(folder / f"part-{part:05}.parquet", file_rows, seed=part)


def first_parts(folder: Path, n_files: int):
    """Return the first files as a dataset, without reading them."""
    import pyarrow.dataset as ds

    return ds.dataset([str(path) for path in sorted(folder.glob("part-*.parquet"))[:n_files]])


def measured(kind: str, folder: Path, n_files: int, epochs: int) -> dict[str, float]:
    """Fit this many files in this process, after a warm-up fit, then predict one file."""
    from dpexplain import models

    model = estimator(epochs)
    if kind != "boosting":
        settings = {"schema": model.schema, "reproducible_seed": 1}
        model = getattr(models, MODELS[kind])(**settings)
    one = first_parts(folder, 1)
    small = one.head(1000)
    model.fit(small.to_reader(), "answer").predict(small.to_reader())
    table = first_parts(folder, n_files)
    start, cpu = time.perf_counter(), time.process_time()
    model.fit(table, "answer")
    found = {
        "cpu_seconds": time.process_time() - cpu,
        "wall_seconds": time.perf_counter() - start,
        "peak_megabytes": peak_bytes() / 1e6,
    }
    cpu = time.process_time()
    n_predicted = len(model.predict(one))
    return {**found, "predicted_per_cpu_s": n_predicted / (time.process_time() - cpu)}


def in_process_of_its_own(kind: str, folder: Path, n_files: int, epochs: int) -> dict[str, float]:
    """Measure one fit in a fresh process, for at most an hour."""
    command = [sys.executable, __file__, "--here", kind, "--folder", str(folder)]
    command += ["--files", str(n_files), "--epochs", str(epochs)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=3600)
    return json.loads(run.stdout.splitlines()[-1])


def line_through(sizes: Sequence[float], costs: Sequence[float]) -> tuple[float, float, float]:
    """Fit a line by least relative squares; return intercept, slope and worst error.

    Parameters
    ----------
    sizes, costs : sequence of float

    Returns
    -------
    start, slope, error : float
        The error is the largest deviation of a cost from the line, relative to the cost.
    """
    slope, start = np.polyfit(sizes, costs, 1, w=1 / np.asarray(costs))
    found = start + slope * np.asarray(sizes)
    return float(start), float(slope), float(np.max(np.abs(found / np.asarray(costs) - 1)))


def growth(sizes: Sequence[float], peak: Sequence[float]) -> float:
    """Return the memory per row between the two largest tables, unless it fell."""
    return max(0.0, (peak[-1] - peak[-2]) / (sizes[-1] - sizes[-2]))


def print_scale(rows: Sequence[dict[str, str | float]]) -> None:
    """Print the measurements and, below each model, what its lines predict."""
    print(
        "| model | rows | CPU s | wall s | rows per CPU s | peak memory of the process | "
        "predicted rows per CPU s |\n| :-- | --: | --: | --: | --: | --: | --: |"
    )
    for row in rows:
        n_rows, cpu = float(row["rows"]), float(row["cpu_seconds"])
        print(
            f"| {row['model']} | {n_rows:,.0f} | {cpu:,.1f} | {float(row['wall_seconds']):,.1f} | "
            f"{n_rows / cpu:,.0f} | {float(row['peak_megabytes']):,.0f} MB | "
            f"{float(row['predicted_per_cpu_s']):,.0f} |"
        )
    print()
    for model, sizes, cpu, peak in by_model(rows):
        if len(sizes) > 1:
            print("\n".join(_words(model, sizes, cpu, peak)))


def by_model(
    rows: Sequence[dict[str, str | float]],
) -> Iterator[tuple[str, list[float], list[float], list[float]]]:
    """Yield each model with its sizes, CPU seconds and megabytes."""
    for model in dict.fromkeys(str(row["model"]) for row in rows):
        own = [row for row in rows if row["model"] == model]
        sizes, cpu, peak = (
            [float(row[column]) for row in own]
            for column in ("rows", "cpu_seconds", "peak_megabytes")
        )
        yield model, sizes, cpu, peak


def _words(
    model: str, sizes: Sequence[float], cpu: Sequence[float], peak: Sequence[float]
) -> Iterator[str]:
    start, slope, error = line_through(sizes, cpu)
    yield (
        f"* {model}: {start:.2f} CPU s + {1e6 * slope:.2f} CPU s per million rows; the "
        f"measurements are within {100 * error:.0f} % of this line."
    )
    per_row = growth(sizes, peak)
    yield f"  Between the two largest tables, memory grows by {1e6 * per_row:.1f} bytes per row."
    for n_rows in (n for n in EXTRAPOLATED if n > max(sizes)):
        seconds, held = start + slope * n_rows, peak[-1] + per_row * (n_rows - sizes[-1])
        yield f"  Extrapolated to {n_rows:,} rows: {seconds:,.0f} CPU s, {held:,.0f} MB."
    largest = EXTRAPOLATED[0]
    if largest in sizes:
        megabytes = peak[list(sizes).index(largest)]
        yield (
            f"  At {largest:,} rows: {megabytes:,.0f} MB (target: below {MEMORY_TARGET:,} MB, "
            f"{'met' if megabytes < MEMORY_TARGET else 'missed'})."
        )


def draw(rows: Sequence[dict[str, str | float]], path: Path) -> None:
    """Draw CPU time and memory against rows, with the extrapolated lines."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams.update({"svg.hashsalt": "scale", "svg.fonttype": "none"})
    from matplotlib import pyplot as plt

    figure, (time_axes, memory_axes) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for color, marker, (model, sizes, cpu, peak) in zip(
        ("C0", "C1", "C2"), "osD", by_model(rows), strict=False
    ):
        time_axes.plot(sizes, cpu, marker, color=color, label=model)
        memory_axes.plot(sizes, peak, marker, color=color, label=model)
        if len(sizes) < 2:
            continue
        ends = np.geomspace(min(sizes), max(*EXTRAPOLATED, *sizes))
        start, slope, _ = line_through(sizes, cpu)
        for within, style in ((ends <= max(sizes), "-"), (ends >= max(sizes), "--")):
            time_axes.plot(ends[within], start + slope * ends[within], style, color=color, lw=1)
        memory_axes.plot(sizes, peak, "-", color=color, lw=1)
        per_row, beyond = growth(sizes, peak), ends[ends >= max(sizes)]
        memory_axes.plot(beyond, peak[-1] + per_row * (beyond - sizes[-1]), "--", color=color, lw=1)
    for axes, what in (
        (time_axes, "CPU time of the fit (s)"),
        (memory_axes, "peak memory of the process (MB)"),
    ):
        axes.set(xscale="log", yscale="log", xlabel="rows", ylabel=what)
        axes.grid(alpha=0.3)
    time_axes.legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None}, facecolor="white")
    plt.close(figure)


def read_costs(path: Path) -> list[dict[str, str | float]]:
    """Read costs that an earlier run stored."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all models at all sizes; print, store and draw the costs."""
    asked = _options(arguments)
    if asked.here:
        print(json.dumps(measured(asked.here, asked.folder, asked.files, asked.epochs)))
        return
    if asked.features:
        print_wide(asked.features, asked.rows, asked.epsilon)
        return
    if asked.costs is not None:
        rows = read_costs(asked.costs)
    else:
        with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
            rows = _measured_rows(asked, Path(folder))
    print_scale(rows)
    if asked.out is not None:
        asked.out.mkdir(parents=True, exist_ok=True)
        _keep(rows, asked.out / "scale.csv")
        draw(rows, asked.out / "scale.svg")


def _measured_rows(asked: argparse.Namespace, folder: Path) -> list[dict[str, str | float]]:
    file_rows = min(*asked.sizes, MOST_FILE_ROWS)
    if any(n_rows % file_rows for n_rows in asked.sizes):
        raise SystemExit(f"--sizes must be multiples of {file_rows:,}, the rows of a file.")
    write_parts(folder, max(asked.sizes), file_rows)
    rows: list[dict[str, str | float]] = []
    for kind in asked.models:
        for n_rows in sorted(asked.sizes):
            found = in_process_of_its_own(kind, folder, n_rows // file_rows, asked.epochs)
            rows.append({"model": MODELS[kind], "rows": n_rows, **found})
            if asked.out is not None:  # what was measured is kept if the next size fails
                asked.out.mkdir(parents=True, exist_ok=True)
                _keep(rows, asked.out / "scale.csv")
    return rows


def _keep(rows: Sequence[dict[str, str | float]], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in rows:
            writer.writerow([row["model"], *(f"{float(row[name]):.10g}" for name in COLUMNS[1:])])


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench-scale", description=__doc__)
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=(1_000_000, 10_000_000), help="rows of the tables"
    )
    parser.add_argument("--models", nargs="+", choices=MODELS, default=tuple(MODELS))
    parser.add_argument("--epochs", type=int, default=60, help="of boosting (default: 60)")
    parser.add_argument("--folder", type=Path, help="where the table is written and deleted again")
    parser.add_argument("--out", type=Path, help="folder for scale.csv and scale.svg")
    parser.add_argument("--costs", type=Path, help="draw and print this CSV; measure nothing")
    parser.add_argument(
        "--features", type=int, nargs="+", help="measure tables of so many columns instead"
    )
    parser.add_argument("--rows", type=int, default=20_000, help="of the tables of --features")
    parser.add_argument("--epsilon", type=float, default=1.0, help="of the fits of --features")
    parser.add_argument("--here", choices=MODELS, help=argparse.SUPPRESS)
    parser.add_argument("--files", type=int, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
