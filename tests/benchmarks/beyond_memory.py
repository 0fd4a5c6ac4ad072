"""Memory and time of one fit, on a table in memory, in files, and on a local Dask cluster.

Run it with ``make bench-parts``; ``make bench-parts BENCH_ARGS="--help"`` lists its options. Each
way runs in a process of its own, on the same simulated Parquet file. Then fits of growing tables
follow, whose costs are extrapolated: Arrow streams that read a Parquet file of at most a million
rows again and again, so that the disk need not hold the largest table.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

N_NUMBERS = 12
CATEGORIES = ("clerk", "nurse", "smith")
FILE_ROWS = 1_000_000
"""Most rows of the file that the streams of growing tables read again and again."""
EXTRAPOLATED = (100_000_000, 1_000_000_000)
MODELS = {
    "boosting": "DPExplainableBoostingClassifier",
    "linear": "DPLogisticRegression",
    "forest": "DPRandomForestClassifier",
}
WAYS = {
    "memory": "table in memory (pandas)",
    "files": "Parquet, read in batches",
    "disk": "Parquet, integers kept on disk",
    "cluster": "Dask, two worker processes",
}


def write_table(path: Path, n_rows: int, row_group: int = 250_000) -> None:
    """Write simulated records, a row group at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    writer = None
    for start in range(0, n_rows, row_group):
        n = min(row_group, n_rows - start)
        columns = {f"x{k}": rng.normal(size=n) for k in range(N_NUMBERS)}
        columns["age"] = rng.integers(18, 91, n)
        columns["job"] = rng.choice(CATEGORIES, n)
        above = columns["x0"] + 0.03 * columns["age"] > 1.5 + rng.normal(size=n)
        columns["answer"] = np.where(above, "yes", "no")
        batch = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, batch.schema)
        writer.write_table(batch, row_group_size=row_group)
    if writer is not None:
        writer.close()


def estimator(epochs: int):
    """Return the model of all ways, seeded so that they can be compared: not private."""
    import warnings

    from dpexplain import Categorical, Classes, DPExplainableBoostingClassifier, Numeric, Schema

    warnings.simplefilter("ignore")
    features = {f"x{k}": Numeric(-4, 4) for k in range(N_NUMBERS)}
    features |= {"age": Numeric(18, 90, step=1), "job": Categorical(list(CATEGORIES))}
    return DPExplainableBoostingClassifier(
        schema=Schema(features, target=Classes(["no", "yes"])),
        max_rounds=epochs,
        structure_seed=1,
        reproducible_seed=1,
    )


def measured(way: str, path: Path, epochs: int) -> dict[str, object]:
    """Fit once in this process, after a fit that compiles."""
    from dpexplain.models.boosting.records import spill as scratch

    if way == "disk":
        scratch.MEMORY_BYTES = 0
    model = estimator(epochs)
    small = path.with_name("small.parquet")
    if way == "cluster":
        return _on_cluster(model, path, small)
    model.fit(str(small), "answer")
    before, start, cpu = peak_bytes(), time.perf_counter(), time.process_time()
    if way == "memory":
        import pandas as pd

        table = pd.read_parquet(path)
        model.fit(table.drop(columns="answer"), table["answer"])
    else:
        model.fit(str(path), "answer")
    return {
        "wall": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "peak": peak_bytes() - before,
        "scores": _scores(model),
    }


def _on_cluster(model, path: Path, small: Path) -> dict[str, object]:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        for _ in range(3):  # every worker compiles
            model.fit(dd.read_parquet(small, split_row_groups=True), "answer")
        before, start, cpu = peak_bytes(), time.perf_counter(), time.process_time()
        model.fit(dd.read_parquet(path, split_row_groups=True), "answer")
        return {
            "wall": time.perf_counter() - start,
            "cpu": time.process_time() - cpu,
            "peak": peak_bytes() - before,
            "scores": _scores(model),
        }


def repeated(path: Path, n_rows: int):
    """Return a stream of the rows of a Parquet file, from its start again until they suffice."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def batches():
        left = n_rows
        while left > 0:
            for batch in pq.ParquetFile(path).iter_batches(batch_size=1 << 16, use_threads=False):
                yield batch.slice(0, left)
                left -= batch.num_rows
                if left <= 0:
                    return

    return pa.RecordBatchReader.from_batches(pq.read_schema(path), batches())


def measured_at(n_rows: int, kind: str, path: Path, epochs: int) -> dict[str, object]:
    """Fit a stream of so many rows in this process, after a fit that compiles; then predict it."""
    from dpexplain import models

    model = estimator(epochs)
    if kind != "boosting":
        settings = {"schema": model.schema, "reproducible_seed": 1}
        model = getattr(models, MODELS[kind])(**settings)
    model.fit(repeated(path, 1000), "answer").predict(repeated(path, 1000))
    before, start, cpu = peak_bytes(), time.perf_counter(), time.process_time()
    model.fit(repeated(path, n_rows), "answer")
    found = {
        "wall": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "peak": peak_bytes() - before,
    }
    cpu = time.process_time()
    n_predicted = min(n_rows, FILE_ROWS)
    model.predict(repeated(path, n_predicted))
    return {**found, "predict": (time.process_time() - cpu) / n_predicted}


def print_scale(
    sizes: Sequence[int], kinds: Sequence[str], folder: Path, epochs: int, out: Path | None = None
) -> None:
    """Print the costs of fits of growing tables, and lines through them; keep them as CSV."""
    path, lines = folder / "scale.parquet", ["model,rows,cpu_seconds,peak_megabytes"]
    write_table(path, min(max(sizes), FILE_ROWS))
    print("\nAn Arrow stream of growing length, from Parquet:\n")
    print(
        "| model | rows | CPU s | wall s | rows per CPU s | peak memory of the fit | "
        "predicted rows per CPU s |\n| :-- | --: | --: | --: | --: | --: | --: |"
    )
    for kind in kinds:
        cpu, peak = [], []
        for n_rows in sizes:
            row = in_process_of_its_own(kind, path, epochs, n_rows)
            cpu.append(row["cpu"])
            peak.append(row["peak"])
            lines.append(f"{MODELS[kind]},{n_rows},{row['cpu']:.2f},{row['peak'] / 1e6:.0f}")
            print(
                f"| {MODELS[kind]} | {n_rows:,} | {row['cpu']:.1f} | {row['wall']:.1f} | "
                f"{n_rows / row['cpu']:,.0f} | {row['peak'] / 1e6:,.0f} MB | "
                f"{1 / row['predict']:,.0f} |",
                flush=True,
            )
        for n_rows in (n for n in EXTRAPOLATED if n > max(sizes) and len(sizes) > 1):
            seconds, held = (_on_line(sizes, found, n_rows) for found in (cpu, peak))
            print(
                f"| {MODELS[kind]} | {n_rows:,} (extrapolated) | {seconds:,.0f} | | "
                f"{n_rows / seconds:,.0f} | {held / 1e6:,.0f} MB | |",
                flush=True,
            )
    if out is not None:
        out.write_text("\n".join(lines) + "\n")


def _on_line(sizes: Sequence[int], costs: Sequence[float], n_rows: int) -> float:
    """Return the value at `n_rows` of the line through the costs, fitted by least squares."""
    slope, start = np.polyfit(sizes, costs, 1)
    return float(start + slope * n_rows)


def _scores(model) -> str:
    terms = model.explain_global()
    return b"".join(terms[name].contribution.tobytes() for name in terms).hex()


def peak_bytes() -> int:
    """Most memory this process has held."""
    status = Path("/proc/self/status")
    if status.exists():  # since exec; what getrusage says, a child has from its parent
        line = next(t for t in status.read_text().splitlines() if t.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def in_process_of_its_own(way: str, path: Path, epochs: int, n_rows: int = 0) -> dict[str, object]:
    """Measure one way, or one model on a stream, in a fresh process."""
    command = [sys.executable, __file__, "--way", way, "--file", str(path), "--epochs", str(epochs)]
    command += ["--rows", str(n_rows)] if n_rows else []
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=3600)
    return json.loads(run.stdout.splitlines()[-1])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all ways and all sizes, and print a table of each."""
    options = _options(arguments)
    if options.way in MODELS:
        found = measured_at(options.rows, options.way, options.file, options.epochs)
        print(json.dumps(found))
        return
    if options.way:
        print(json.dumps(measured(options.way, options.file, options.epochs)))
        return
    with tempfile.TemporaryDirectory() as folder:
        if not options.scale_only:
            print_ways(options, Path(folder))
        print_scale(options.sizes, options.models, Path(folder), options.epochs, options.out)


def print_ways(options: argparse.Namespace, folder: Path) -> None:
    """Print memory and time of one fit in each way."""
    path = folder / "table.parquet"
    write_table(path, options.rows)
    write_table(path.with_name("small.parquet"), 2000, row_group=500)
    found = {way: in_process_of_its_own(way, path, options.epochs) for way in WAYS}
    n_columns = N_NUMBERS + 2
    print(
        f"{options.rows:,} rows, {n_columns} features, {options.epochs} epochs, "
        f"{options.epochs * n_columns} visits; integers of the table: "
        f"{options.rows * (n_columns + 8) / 1e6:,.0f} MB with target and scores\n"
    )
    print("| way | CPU s | wall s | peak memory of the fit | model |")
    print("| :-- | --: | --: | --: | :-- |")
    for way, row in found.items():
        same = "the same" if row["scores"] == found["memory"]["scores"] else "ANOTHER"
        print(
            f"| {WAYS[way]} | {row['cpu']:.1f} | {row['wall']:.1f} | "
            f"{row['peak'] / 1e6:,.0f} MB | {same} |"
        )
    print("\nOf the cluster, CPU and memory are those of the process that fits.")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench-parts", description=__doc__)
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=(1_000_000, 10_000_000), help="rows of the streams"
    )
    parser.add_argument(
        "--models", nargs="+", choices=MODELS, default=tuple(MODELS), help="models of the streams"
    )
    parser.add_argument("--out", type=Path, help="file for the costs of growing tables, as CSV")
    parser.add_argument("--scale-only", action="store_true", help="leave out the first table")
    parser.add_argument("--way", choices=(*WAYS, *MODELS), help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
