"""Memory and time of one fit: on a table in memory, in files and on a Dask cluster.

Run it with ``make bench-parts``; ``make bench-parts BENCH_ARGS="--help"`` lists its options. Each
way runs in its own process, on the same simulated Parquet file. ``make bench-scale`` measures
growing tables.
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
WAYS = {
    "memory": "table in memory (pandas)",
    "files": "Parquet, read in batches",
    "disk": "Parquet, integers kept on disk",
    "cluster": "Dask, two worker processes",
}


def write_table(path: Path, n_rows: int, row_group: int = 250_000, seed: int = 0) -> None:
    """Write simulated records, one row group at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
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
    """Return the model, seeded so that all ways are comparable; it is not private."""
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
    """Fit once in this process, after a warm-up fit."""
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


def _scores(model) -> str:
    terms = model.explain_global()
    return b"".join(terms[name].contribution.tobytes() for name in terms).hex()


def peak_bytes() -> int:
    """Return the peak memory of this process."""
    status = Path("/proc/self/status")
    if status.exists():  # since exec; what getrusage says, a child has from its parent
        line = next(t for t in status.read_text().splitlines() if t.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def in_process_of_its_own(way: str, path: Path, epochs: int) -> dict[str, object]:
    """Measure one way in a fresh process."""
    command = [sys.executable, __file__, "--way", way, "--file", str(path), "--epochs", str(epochs)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=3600)
    return json.loads(run.stdout.splitlines()[-1])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all ways of reading, and print them as a table."""
    options = _options(arguments)
    if options.way:
        print(json.dumps(measured(options.way, options.file, options.epochs)))
        return
    with tempfile.TemporaryDirectory() as folder:
        print_ways(options, Path(folder))


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
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
