"""Print how often bands contain the truth, and what that costs: `make bench-truth`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
from bench_claims import claims_row
from bench_print import machine, table, versions
from bench_truth import row_of_oracle, rows_above_noise, rows_of_fit
from bench_truth_planner import planner_rows
from bench_truth_problems import OTHERS, PROBLEMS, problem
from bench_truth_tables import (
    CLASSES,
    COUNTS,
    NUMBERS,
    REAL,
    SEVERAL,
    is_there,
    row_of_calibration,
    row_of_table,
)
from bench_truth_tables import OTHERS as OTHER_TABLES
from numpy.typing import NDArray

EPSILONS = (0.25, 1.0, 4.0)
OF_CALIBRATION = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
LARGE = (12.0, 50.0)
"""Where, beside these, it is measured which terms rise above the noise, to judge the planner."""
PARTS = ("simulated", "oracle", "planner", "tables", "calibration")
Row = dict[str, Any]
FloatArray = NDArray[np.float64]
Cell = tuple[str, str, float, int]


def main(given: Sequence[str] | None = None) -> None:
    """Measure and print the tables."""
    arguments = _arguments(given)
    print(f"{machine()}. {versions()}.")
    wanted = [cell for part in arguments.parts for cell in _cells(arguments, part)]
    kept = _kept(arguments.results)
    missing = [] if arguments.measure_nothing else [cell for cell in wanted if cell not in kept]
    for cell, rows in _measured(missing, arguments.jobs, claims=not arguments.without_claims):
        kept[cell] = rows
        if arguments.results is not None:
            with arguments.results.open("a") as file:
                file.writelines(json.dumps(row) + "\n" for row in rows)
    found = {
        part: [row for cell in wanted if cell[0] == part for row in kept.get(cell, [])]
        for part in PARTS
    }
    if found["simulated"]:
        _print_simulated(_grouped(found["simulated"]))
    if found["oracle"]:
        print("\nEstimated correlations -> an oracle's, which knows them.\n")
        _print([_oracle_row(rows) for rows in _grouped(found["oracle"])])
    if found["simulated"] and found["planner"]:
        print("\nThe planner: fits that name an epsilon, or say that none is enough.\n")
        _print(planner_rows(found["simulated"], found["planner"]))
    if found["tables"]:
        print("\nReal tables: noise alone -> estimate of the effect, against a non-private fit.\n")
        _print([_table_row(rows) for rows in _grouped(found["tables"])])
    if found["simulated"] or found["tables"]:
        print("\nWarnings that the true curve may be outside the effect band.\n")
        _print(_warnings(found["simulated"] + found["tables"]))
    if found["calibration"]:
        groups = _grouped(found["calibration"])
        print("\nHeld-out records: released -> calibrated.\n")
        others = {*NUMBERS, *COUNTS, *SEVERAL}
        _print([_calibration(rows) for rows in groups if rows[0]["problem"] not in others])
        print("\nThe same for several classes.\n")
        _print([_calibration(rows) for rows in groups if rows[0]["problem"] in SEVERAL])
        print("\nThe same for numbers.\n")
        _print([_of_numbers(rows) for rows in groups if rows[0]["problem"] in NUMBERS])
        print("\nThe same for counts.\n")
        _print([_of_counts(rows) for rows in groups if rows[0]["problem"] in COUNTS])


def _cells(arguments: Any, part: str) -> list[Cell]:
    """Yield the fits of one part, ordered so that every cell of a table soon has some."""
    names: Sequence[str] = arguments.problems
    epsilons, n_fits = arguments.epsilons or EPSILONS, arguments.fits
    if part == "calibration":
        epsilons = arguments.epsilons or OF_CALIBRATION
    if part == "oracle":
        names = [name for name in names if problem(name).correlation]
        n_fits = max(1, arguments.fits // 4)
    if part == "planner":
        epsilons, n_fits = LARGE, max(1, arguments.fits // 4)
    if part in ("tables", "calibration"):
        usual = REAL if part == "tables" else (*CLASSES, *NUMBERS, *COUNTS)
        known = (*REAL, *OTHER_TABLES) if part == "tables" else usual
        if part == "calibration":
            known = (*usual, *SEVERAL)
        names = [name for name in arguments.tables or usual if name in known and is_there(name)]
        n_fits = max(1, arguments.fits // 8)
    return [
        (part, name, epsilon, seed)
        for seed in range(n_fits)
        for name in names
        for epsilon in epsilons
    ]


def _rows(cell: Cell, *, claims: bool) -> list[Row]:
    part, *rest = cell
    if part == "simulated":
        return rows_of_fit(*rest, claims=claims)
    if part == "planner":
        return rows_above_noise(*rest)
    if part == "oracle":
        return [row_of_oracle(*rest)]
    return [row_of_table(*rest) if part == "tables" else row_of_calibration(*rest)]


def _grouped(rows: list[Row]) -> list[list[Row]]:
    groups: dict[tuple[str, float], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["problem"], row["epsilon"]), []).append(row)
    names = list(dict.fromkeys(name for name, _ in groups))
    return [groups[key] for key in sorted(groups, key=lambda k: (names.index(k[0]), k[1]))]


def _print_simulated(cells: list[list[Row]]) -> None:
    print("\nTruth inside the bands: noise alone, and estimate of the effect.\n")
    _print([_coverage(rows) for rows in cells])
    print("\nWhat is said about people, with the estimate of the effect (of noise in brackets).\n")
    _print([_claims(rows) for rows in cells])
    cells = [rows for rows in cells if all("claims" in row for row in rows)]
    if not cells:
        return
    print("\nClaims that hold, and the proportion of true ones.\n")
    _print([{**_name(rows), **claims_row(rows)} for rows in cells])


def _print(rows: list[Row]) -> None:
    if rows:
        print(table(list(rows[0]), [[str(value) for value in row.values()] for row in rows]))


def _arguments(given: Sequence[str] | None) -> Any:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", nargs="+", default=PROBLEMS, choices=(*PROBLEMS, *OTHERS))
    parser.add_argument("--epsilons", nargs="+", type=float)
    parser.add_argument("--tables", nargs="+", help="real and simulated tables; all by default")
    parser.add_argument("--parts", nargs="+", default=PARTS, choices=PARTS)
    parser.add_argument(
        "--fits", type=int, default=40, help="simulated tables per cell; an eighth of real ones"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--results", type=Path, help="file that keeps rows, to go on later")
    parser.add_argument("--without-claims", action="store_true", help="leave out claims: faster")
    parser.add_argument("--measure-nothing", action="store_true", help="print what was kept")
    return parser.parse_args(given)


def _kept(path: Path | None) -> dict[Cell, list[Row]]:
    kept: dict[Cell, list[Row]] = {}
    if path is not None and path.exists():
        for line in path.read_text().splitlines():
            row = json.loads(line)
            cell = (row.get("part", "simulated"), row["problem"], row["epsilon"], row["seed"])
            kept.setdefault(cell, []).append(row)
    return kept


def _measured(cells: list[Cell], n_jobs: int, *, claims: bool) -> Iterator[tuple[Cell, list[Row]]]:
    if n_jobs == 1:
        for cell in cells:
            yield cell, _rows(cell, claims=claims)
        return
    with ProcessPoolExecutor(n_jobs) as pool:
        waiting = {pool.submit(_rows, cell, claims=claims): cell for cell in cells}
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
    """Return the width of the band relative to an oracle's.

    The oracle knows the factor by which each term's curves fall short, on average over the fits of
    a cell, and divides curve and noise band by it; for terms without an effect, by the median of
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
    """Return the proportion of a term's true curve that its released curves show on average."""
    share = _mean(rows, "noise", "along") / np.mean([row["size"] ** 2 for row in rows])
    return float(np.clip(share, 0.05, 1.0))


def _claims(rows: list[Row]) -> Row:
    real, null = ([r for r in rows if r["real"] is kind] for kind in (True, False))
    held = [r["ranks"][0] <= r["true rank"] <= r["ranks"][1] for r in real]
    sure = [r for r in real if r["sure"] >= 0.95 and r["direction"] is not None]
    right = [(r["direction"] == "rising") == (r["true slope"] > 0) for r in sure]
    return {
        **_name(rows),
        "real effect certain": _share_certain(real),
        "null effect certain": _share_certain(null),
        "real marked": _both(real, "marked"),
        "null marked": _both(null, "marked") if null else "",
        "hatched, truth outside": _both(rows, "hatched and wrong"),
        "true rank inside": f"{np.mean(held):.2f}",
        "signs that are sure": f"{len(sure) / max(len(real), 1):.2f}",
        "of these right": f"{np.mean(right):.3f}" if right else "",
    }


_WARNED: tuple[str, ...] = (
    "warned, if outside", "warned or noted, if outside", "warned, if rejected", "warned, if inside",
)  # fmt: skip


def _warnings(rows: list[Row]) -> list[Row]:
    """Count the curves outside and inside their band that have a warning.

    Those outside that have a warning or a note are also counted, and on tables, those outside for
    which the records reject the band.
    """
    fits: dict[str, set[Any]] = {}
    warned: dict[str, dict[str, list[bool]]] = {}
    for row in rows:
        is_table = row.get("part") == "tables"
        name = f"table {row['problem']}" if is_table else row["problem"]
        found: dict[str, list[bool]] = {column: [] for column in _WARNED}
        if is_table:
            both = zip(row["warned"], row["rejected"], strict=True)
            found["warned, if outside"] = row["warned"]
            found["warned, if rejected"] = [w for w, r in both if r]
            found["warned, if inside"] = row["warned inside"]
            found["warned or noted, if outside"] = row["remarked"]
        elif "remarked" in row:
            is_inside = row["effect"]["whole"]
            found["warned, if inside" if is_inside else "warned, if outside"] = [row["warned"]]
            found["warned or noted, if outside"] = [] if is_inside else [row["remarked"]]
        for group in (name, "all"):
            fits.setdefault(group, set()).add((name, row["epsilon"], row["seed"]))
            own = warned.setdefault(group, {column: [] for column in found})
            for column, more in found.items():
                own[column] += more
    warned["all"] = warned.pop("all")  # last
    return [
        {"problem": group, "fits": len(fits[group])}
        | {column: _share(found) for column, found in own.items()}
        for group, own in warned.items()
    ]


def _share(found: list[bool]) -> str:
    return f"{np.mean(found):.2f} of {len(found)}" if found else ""


def _share_certain(rows: list[Row]) -> str:
    """Return the proportion of terms that are stated to have an effect."""
    return f"{np.mean([row['certain'] for row in rows]):.2f}" if rows else ""


def _table_row(rows: list[Row]) -> Row:
    away, inside = (
        [np.array([row[what][kind] for row in rows]) for kind in ("noise", "effect")]
        for what in ("distance", "inside")
    )
    n_terms = sum(row["terms"] for row in rows)
    return {
        "data": rows[0]["problem"],
        "epsilon": f"{rows[0]['epsilon']:g}",
        "fits": len(rows),
        "distance": " -> ".join(f"{x.mean():.2f}" for x in away),
        "ratio": f"{away[1].mean() / away[0].mean():.2f}",
        "whole curves": " -> ".join(f"{x.mean():.2f}" for x in inside),
        "not rejected": f"{1.0 - sum(sum(row['rejected']) for row in rows) / n_terms:.2f}",
    }


def _oracle_row(rows: list[Row]) -> Row:
    def both(what: str) -> str:
        means = (np.mean([row[kind][what] for row in rows]) for kind in ("estimated", "known"))
        return " -> ".join(f"{mean:.2f}" for mean in means)

    names = {
        "real effect certain": "certain", "real marked": "marked",
        "null effect certain": "null", "whole curves": "whole",
    }  # fmt: skip
    return {**_name(rows), **{title: both(what) for title, what in names.items()}}


def _of(rows: list[Row], kind: str, what: str) -> FloatArray:
    return np.array([row[kind][what] for row in rows])


def _before_and_after(rows: list[Row], what: str, digits: int) -> str:
    means = (_of(rows, kind, what).mean() for kind in ("released", "calibrated"))
    return " -> ".join(f"{mean:.{digits}f}" for mean in means)


def _mean_and_error(moved: FloatArray) -> tuple[float, float]:
    """Return the mean change and its standard error over the splits."""
    n = len(moved)
    return float(moved.mean()), float(moved.std(ddof=min(1, n - 1)) / n**0.5)


def _change(rows: list[Row], what: str) -> tuple[float, float]:
    return _mean_and_error(_of(rows, "calibrated", what) - _of(rows, "released", what))


def _of_data(rows: list[Row]) -> Row:
    first = rows[0]
    return {"data": first["problem"], "epsilon": f"{first['epsilon']:g}", "splits": len(rows)}


def _calibration(rows: list[Row]) -> Row:
    by, error = _change(rows, "log loss")
    score = "AUROC" if "AUROC" in rows[0]["released"] else "accuracy"
    return {
        **_of_data(rows),
        "log loss": _before_and_after(rows, "log loss", 4),
        "change": f"{by:+.4f} ({error:.4f})",
        "calibration slope": _before_and_after(rows, "slope", 2),
        "ECE": _before_and_after(rows, "ECE", 3),
        "ECE by chance": f"{_of(rows, 'calibrated', 'ECE by chance').mean():.3f}",
        score: _before_and_after(rows, score, 4),
        f"change of {score}": "{:+.4f} ({:.4f})".format(*_change(rows, score)),
        "worse": "worse" if by > error else "",
    }


def _too_low(rows: list[Row]) -> str:
    target = _of(rows, "released", "target")
    too_low = (
        np.mean(1.0 - _of(rows, kind, "mean") / target) for kind in ("released", "calibrated")
    )
    return " -> ".join(f"{share:+.1%}" for share in too_low)


def _of_counts(rows: list[Row]) -> Row:
    by, error = _change(rows, "deviance")
    return {
        **_of_data(rows),
        "average too low by": _too_low(rows),
        "deviance": _before_and_after(rows, "deviance", 3),
        "change": f"{by:+.3f} ({error:.3f})",
        "slope": _before_and_after(rows, "slope", 2),
        "worse": "worse" if by > error else "",
    }


def _of_numbers(rows: list[Row]) -> Row:
    ratio = _of(rows, "calibrated", "rms error") / _of(rows, "released", "rms error")
    by, error = _mean_and_error(100.0 * (ratio - 1.0))
    return {
        **_of_data(rows),
        "average too low by": _too_low(rows),
        "change of rms error": f"{by:+.1f}% ({error:.1f})",
        "slope": _before_and_after(rows, "slope", 2),
        "worse": "worse" if by > error else "",
    }


if __name__ == "__main__":
    main()
