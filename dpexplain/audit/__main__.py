"""Audit every private estimator: ``python -m dpexplain.audit --help``."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from joblib import Parallel, delayed

from dpexplain.audit.mutants import MUTANTS
from dpexplain.audit.report import (
    BoundRow,
    PowerRow,
    bound_row,
    bounds_table,
    noticed,
    power_rows,
    power_table,
)
from dpexplain.audit.subjects import Subject, powerful_tiers, private_estimators, subjects


def main(arguments: Sequence[str] | None = None) -> int:
    """Audit the estimators named on the command line and print the results.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        Command-line arguments.

    Returns
    -------
    int
        Exit status: 1 if a guarantee is refuted or a planted mistake is missed, otherwise 0.
    """
    parser, known = _parser(), private_estimators()
    asked = parser.parse_args(arguments)
    if unknown := set(asked.estimators) - set(known):
        parser.error(f"no estimator {', '.join(sorted(unknown))}; choose from {', '.join(known)}")
    started = time.perf_counter()
    audited = subjects([known[name] for name in asked.estimators or known])
    broken = _print_bounds(asked, audited)
    unnoticed = [] if asked.no_mistakes else _print_power(asked, audited)
    print(f"\n{time.perf_counter() - started:.0f} seconds")
    for text in broken + unnoticed:
        print("FAILED:", text, file=sys.stderr)
    return int(bool(broken or unnoticed))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m dpexplain.audit",
        description="Lower bounds on the privacy loss of every private estimator, and the share of "
        "planted mistakes that each audit tier detects. All data are simulated.",
    )
    parser.add_argument("estimators", nargs="*", help="names; by default all of them")
    parser.add_argument("--epsilon", nargs="+", type=float, default=[1.0, 4.0, 8.0])
    parser.add_argument(
        "--fits",
        type=_several,
        default=1000,
        help="final models with the canary, as many without it, and half as many transcripts of "
        "each (default 1000)",
    )
    parser.add_argument(
        "--repeats", type=int, default=1, help="runs per planted mistake (default 1)"
    )
    parser.add_argument("--no-mistakes", action="store_true", help="print lower bounds only")
    parser.add_argument("--jobs", type=int, default=-1, help="processes (default: all cores)")
    return parser


def _several(text: str) -> int:
    if not text.isdigit() or int(text) < 10:
        raise argparse.ArgumentTypeError(f"{text} must be a number of at least 10 fits")
    return int(text)


def _print_bounds(asked: argparse.Namespace, audited: list[Subject]) -> list[str]:
    rows: list[BoundRow] = Parallel(asked.jobs)(
        delayed(bound_row)(subject, epsilon, n_fits=asked.fits)
        for subject in audited
        for epsilon in asked.epsilon
    )
    print(
        f"Lower bounds with 95% confidence each, from {asked.fits:,} final models "
        f"({asked.fits // 2:,} transcripts) with the canary and as many without it:\n"
    )
    print(bounds_table(rows), flush=True)
    return [
        f"{row.estimator}, ε = {row.epsilon:g}: {text}" for row in rows for text in row.problems
    ]


def _print_power(asked: argparse.Namespace, audited: list[Subject]) -> list[str]:
    jobs = [
        (mutant, subject) for mutant in MUTANTS for subject in audited for _ in range(asked.repeats)
    ]
    verdicts = Parallel(asked.jobs)(
        delayed(noticed)(mutant, subject, n_fits=asked.fits) for mutant, subject in jobs
    )
    done = (
        (mutant, subject, verdict)
        for (mutant, subject), verdict in zip(jobs, verdicts, strict=True)
    )
    rows: list[PowerRow] = power_rows(done)
    for powerful in dict.fromkeys(row.powerful for row in rows):
        names = (f"`{s.name}`" for s in audited if powerful_tiers(s) == powerful)
        print(
            "\nShare of runs in which each tier detected a planted mistake (ε = 8; bold where it "
            "must; tier 4 uses a tenth of the fits where it need not), in "
            f"{', '.join(names)}:\n"
        )
        print(power_table([row for row in rows if row.powerful == powerful]), flush=True)
    return [f"tier {t} missed: {row.mutant.name}" for row in rows for t in row.survives]


if __name__ == "__main__":
    sys.exit(main())
