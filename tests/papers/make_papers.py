"""Reproduce the papers' tables and figures: `make papers` (FAST=1 takes minutes).

Each cell is stored in ``build/papers`` as soon as it is measured, so an interrupted run
can be resumed. Complete studies are written as tidy CSV: to ``docs/papers`` by a full run,
to ``build/papers/fast`` by a fast one. All cores are used.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType

import pandas as pd

from claims import Claim, decided, read_tables
from pages import write_pages
from pictures import write_pictures
from reduced import repeats
from results import Kept, among, beside_published, cpu_minutes, described, tidy, write_csv
from study import Cell, Row, Study

MODULES = (
    "ebm",
    "ebm_diffprivlib",
    "ebm_figures",
    "ebm_smoothness",
    "ebm_splits",
    "ebm_repairs",
    "ebm_teaching",
    "ebm_without_privacy",
    "slides_data",
    "dpboost",
    "objective_calibration",
    "objective_calibration_settings",
    "objective_calibration_alphas",
    "locally_linear",
    "locally_linear_attributions",
    "locally_linear_choices",
    "locally_linear_maps",
    "deep",
    "data_sizes",
)
ROOT = Path(__file__).parents[2]
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def main(given: Sequence[str] | None = None) -> None:
    """Measure what is missing, and write the tables of complete studies."""
    options = _options(given)
    if not os.environ.get("DPEXPLAIN_DATA"):
        print("DPEXPLAIN_DATA is not set: the loaders download what they can, once.")
    for name in THREADS:  # one thread per process: the cells themselves run side by side
        os.environ.setdefault(name, "1")
    kept = Kept(options.keep / ("fast" if options.fast else "full"))
    chosen = list(_chosen(options.only, needed=not options.compare_only))
    whole = [study.name for study in chosen if options.cells and study.table is not None]
    if whole:
        sys.exit(f"--cells would drop the other rows of {', '.join(whole)}: measure these whole.")
    started = time.monotonic()
    failed = 0 if options.compare_only else _measure(chosen, kept, options)
    for study in chosen:
        (_compare if options.compare_only else _write)(study, kept, options)
    folder = _folder(options)
    write_csv(described(studies()), folder / "studies.csv")
    if not options.fast:  # whose tables lack most of what claims are about
        write_csv(decided(claims(), read_tables(folder)), folder / "claims.csv")
        write_pictures(folder)
        write_pages(folder)
    minutes = (time.monotonic() - started) / 60
    print(f"{minutes:.1f} minutes. {_cpu_hours(chosen, kept, options.fast):.2f} CPU hours in all.")
    sys.exit(1 if failed else 0)


def studies() -> Iterator[Study]:
    """Return all studies of all modules, including those left out."""
    for module in _modules():
        yield from module.STUDIES


def claims() -> Iterator[Claim]:
    """Return the claims of all modules that define ``CLAIMS``."""
    for module in _modules():
        yield from getattr(module, "CLAIMS", ())


def _modules() -> Iterator[ModuleType]:
    for name in MODULES:
        if importlib.util.find_spec(f"paper_{name}"):
            yield importlib.import_module(f"paper_{name}")


def measured(measure: Callable[..., list[Row]], cell: Cell) -> tuple[list[Row], float]:
    """Return the rows of one cell and their CPU seconds; runs in its own process."""
    start = _cpu_seconds()
    rows = measure(**cell)
    return rows, _cpu_seconds() - start


def _cpu_seconds() -> float:
    """Return the CPU seconds of this process and of its finished child processes."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _options(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="STUDY", help="studies (default: all)")
    parser.add_argument(
        "--cells",
        nargs="+",
        default=[],
        metavar="NAME=VALUE",
        help="only cells with this setting, such as data=pol; other rows of the tables stay",
    )
    parser.add_argument(
        "--list", action="store_true", help="list studies, repeats and CPU time, measure nothing"
    )
    parser.add_argument("--fast", action="store_true", default=bool(os.environ.get("FAST")))
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--keep", type=Path, default=ROOT / "build" / "papers")
    parser.add_argument("--minutes", type=float, help="start no cell after so many minutes")
    parser.add_argument("--write-only", action="store_true", help="write tables of kept cells")
    parser.add_argument(
        "--compare-only",
        action="store_true",
        help="compare written tables with the papers again",
    )
    options = parser.parse_args(given)
    if options.list:
        _list(_folder(options))
        sys.exit(0)
    return options


def _list(folder: Path) -> None:
    """Print each study, how many repeats a number has, and the CPU minutes of its fits."""
    total = 0.0
    for study in studies():
        path, found = folder / f"{study.name}.csv", "not measured"
        if path.is_file():
            table = pd.read_csv(path)
            minutes = cpu_minutes(table)
            total += minutes
            found = f"{repeats(table) or 'curves or quantiles'}, {minutes:.1f} CPU minutes of fits"
        print(f"{study.name}: {study.paper}, {study.shows}; {found}")
    print(f"{total / 60:.1f} CPU hours of fits in all")


def _chosen(names: Sequence[str] | None, needed: bool = True) -> Iterator[Study]:
    """Return studies by name; those that lack a requirement are left out if `needed`."""
    known = {study.name: study for study in studies()}
    unknown = sorted(set(names or ()) - set(known))
    if unknown:
        sys.exit(f"Unknown: {', '.join(unknown)}. There are {', '.join(known)}.")
    for study in known.values():
        if names and study.name not in names:
            continue
        missing = [package for package in study.needs if not importlib.util.find_spec(package)]
        missing += filter(None, [study.missing()])
        if missing and needed:
            print(f"{study.name}: left out, needs {', '.join(missing)}.")
        else:
            yield study


def _asked(cell: Cell, options: argparse.Namespace) -> bool:
    """Whether a cell matches one of the requested values of each name."""
    asked: dict[str, set[str]] = {}
    for setting in options.cells:
        name, _, value = setting.partition("=")
        asked.setdefault(name, set()).add(value)
    return all(str(cell.get(name)) in values for name, values in asked.items())


def _measure(chosen: Sequence[Study], kept: Kept, options: argparse.Namespace) -> int:
    """Measure all cells that are not stored; return how many failed."""
    open_cells = [
        (study, cell)
        for study in chosen
        for cell in study.cells(options.fast)
        if _asked(cell, options) and kept.rows(study, cell) is None
    ]
    if options.write_only or not open_cells:
        return 0
    print(f"{len(open_cells)} cells to measure with {options.jobs} processes.", flush=True)
    start = time.monotonic()
    end = start + 60 * (options.minutes or float("inf"))
    failed = 0
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        futures = {pool.submit(measured, s.measure, c): (s, c) for s, c in open_cells}
        for count, future in enumerate(as_completed(futures), 1):
            study, cell = futures[future]
            if future.cancelled():
                continue
            left = (time.monotonic() - start) / 60 * (len(open_cells) - count) / count
            where = f"{count}/{len(open_cells)}, about {left:.0f} minutes left:"
            failed += _take(future, study, cell, kept, where)
            if time.monotonic() > end:
                for other in futures:
                    other.cancel()
    return failed


def _take(
    future: Future[tuple[list[Row], float]], study: Study, cell: Cell, kept: Kept, where: str
) -> int:
    error = future.exception()
    if error is not None:
        print(f"{where} {study.name} {dict(cell)} FAILED: {error!r}", flush=True)
        return 1
    rows, seconds = future.result()
    kept.keep(study, cell, [row | {"cell_s": round(seconds, 2)} for row in rows])
    print(f"{where} {study.name} {dict(cell)} {seconds:.1f} s", flush=True)
    return 0


def _write(study: Study, kept: Kept, options: argparse.Namespace) -> None:
    found = [kept.rows(study, c) for c in study.cells(options.fast) if _asked(c, options)]
    complete = [rows for rows in found if rows is not None]
    if len(complete) < len(found):
        print(f"{study.name}: {len(found) - len(complete)} of {len(found)} cells are missing.")
        if not options.write_only or not complete:
            return
    rows = [{k: v for k, v in row.items() if k != "cell_s"} for cell in complete for row in cell]
    table, path = (study.table or tidy)(study, rows), _folder(options) / f"{study.name}.csv"
    if options.cells and study.table is None and path.is_file():
        table = beside_published(study, among(pd.read_csv(path), table))
    write_csv(table, path)


def _compare(study: Study, _: Kept, options: argparse.Namespace) -> None:
    """Update the published figures in a written table."""
    path = _folder(options) / f"{study.name}.csv"
    if study.table is None and path.is_file():
        write_csv(beside_published(study, pd.read_csv(path)), path)


def _folder(options: argparse.Namespace) -> Path:
    return options.keep / "fast" if options.fast else ROOT / "docs" / "papers"


def _cpu_hours(chosen: Sequence[Study], kept: Kept, fast: bool) -> float:
    cells = (kept.rows(study, cell) for study in chosen for cell in study.cells(fast))
    # A cell kept by an older version may not say how long it took.
    return sum(rows[0].get("cell_s", 0.0) for rows in cells if rows) / 3600


if __name__ == "__main__":
    main()
