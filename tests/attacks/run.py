"""Attack the library and, for comparison, InterpretML, and print what was found.

Run it with ``make attack``; ``make attack ATTACK_ARGS="--help"`` lists its options. The exit
status is 1 if a promise of ours was broken, or an attack missed the mistake planted for it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from bench_print import machine, table, versions

from attack_kit import Attack
from distinguish import CONFIDENCE
from known_failures import DELTA, EPSILON, FAILURES
from lower_bounds import Bound, all_bounds
from suites import SUITES

NEIGHBOUR = {"add_remove": "one record absent", "replace": "one record exchanged"}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run all attacks and print their outcome."""
    options = _options(arguments)
    print(f"{machine()}. {versions()}\n")
    broken = False
    if "mutants" in options.parts:
        print("## Attacks on planted mistakes, and on the library\n")
        broken |= _print_suites()
    if "bounds" in options.parts:
        print("## Lower bounds on epsilon\n")
        broken |= _print_bounds(options.share, options.letters)
    sys.exit(1 if broken else 0)


def _print_suites() -> bool:
    """Print a row per attack; return whether any succeeded, or missed its mutant."""
    rows, broken = [], False
    for suite in SUITES:
        for attack in suite.ATTACKS:
            print(attack.title, file=sys.stderr, flush=True)
            missed, found = _tried(attack)
            broken |= bool(missed or found)
            rows.append(
                (
                    attack.title,
                    attack.mutant,
                    f"missed in {', '.join(missed)}" if missed else "succeeds",
                    f"SUCCEEDS: {'; '.join(found)}" if found else "fails",
                )
            )
    print(table(("attack", "planted mistake", "on the mistake", "on dpexplain"), rows))
    print()
    return broken


def _tried(attack: Attack) -> tuple[list[str], list[str]]:
    """Return the targets on which the attack missed its mutant, and all its findings."""
    missed, found = [], []
    for name in attack.targets():
        finding = attack.run(name)
        if finding.broke:
            found.append(f"{name}: {finding.evidence}")
        with pytest.MonkeyPatch.context() as patch:
            attack.plant(patch)
            if not attack.run(name).broke:
                missed.append(name)
    return missed, found


def _print_bounds(share: float, letters: str) -> bool:
    """Print a row per attack and target; return whether a promise of ours is broken."""
    chosen = [f for f in FAILURES if not letters or f.letter in letters]
    rows = [(f.letter, f"{f.title} ({NEIGHBOUR[f.adjacency]})") for f in chosen]
    print(table(("attack", "two tables"), rows))
    print(
        f"\nStated: ε = {EPSILON:g} at δ = {DELTA:g}. Each bound holds with {CONFIDENCE:.0%} "
        "confidence; half of the fits train the attacker, the other half count.\n"
    )
    bounds = []
    for bound in all_bounds(share, letters):
        print(f"{bound.failure.letter} {bound.target.title}", file=sys.stderr, flush=True)
        bounds.append(bound)
    header = ("attack", "model", "fits per table", "ε ≥", "μ ≥", "δ at ε = 1 ≥", "CPU s", "promise")
    print(table(header, [_row(bound) for bound in bounds]))
    return any(b.broken for b in bounds if b.target.title != "InterpretML")


def _row(bound: Bound) -> tuple[str, ...]:
    return (
        bound.failure.letter,
        bound.target.title,
        f"{bound.runs:,}",
        f"{bound.epsilon:.2f}",
        f"{bound.mu:.2f}",
        f"{bound.delta:.3f}",
        f"{bound.seconds:.0f}",
        "**broken**" if bound.broken else "holds",
    )


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--parts", nargs="+", choices=("mutants", "bounds"), default=["mutants", "bounds"]
    )
    parser.add_argument("--share", type=float, default=1.0, help="share of the fits")
    parser.add_argument("--letters", default="", help="some of A to K, such as AE")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
