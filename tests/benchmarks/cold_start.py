"""Time of the first fit after an installation: ``make bench-cold``.

A fresh process imports one estimator, fits a simulated table of 10,000 rows, and explains the fit:
once with no compiled kernel on disk, and again with those that the first process stored.
CPU seconds of all threads count. Other programs on the same cores increase them, so the least of
several fresh processes is shown. The import is shown next to that of ``sklearn.base``, from which
every estimator inherits; ours leaves out pandas and the statistics of SciPy, which are not needed
for it. The simulated table needs pandas, so the import before the first fit includes it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence

STEPS = ("import", "fit", "explain_global")
TARGET = 5.0
"""CPU seconds of fit and explanation together that we are after, with no kernel on disk."""
IMPORT_TARGET = 1.0
"""CPU seconds of the import of one estimator that we are after."""
IMPORTS = {
    "interpreter alone": "pass",
    "numpy": "import numpy",
    "pandas": "import pandas",
    "sklearn.base": "import sklearn.base",
    "DPExplainableBoostingClassifier": "from dpexplain import DPExplainableBoostingClassifier",
    "DPLinearRegression": "from dpexplain import DPLinearRegression",
}


def measure(n_rows: int) -> dict[str, float]:
    """Take all steps in this process; return the CPU seconds of each."""
    from time import process_time

    seconds, started = [], process_time()
    from dpexplain.datasets import make_additive
    from dpexplain.models import DPExplainableBoostingClassifier

    seconds.append(process_time() - started)
    data = make_additive("clinical", n_samples=n_rows, random_state=0)
    started = process_time()
    model = DPExplainableBoostingClassifier(schema=data.schema).fit(data.X, data.y)
    seconds.append(process_time() - started)
    started = process_time()
    model.explain_global()
    seconds.append(process_time() - started)
    return dict(zip(STEPS, seconds, strict=True))


def apart(n_rows: int, cache: str) -> dict[str, float]:
    """Take all steps in a fresh process whose kernels are stored in a folder."""
    result = subprocess.run(
        [sys.executable, __file__, "--here", "--rows", str(n_rows)],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        capture_output=True, text=True, check=True, timeout=600,
    )  # fmt: skip
    found: dict[str, float] = json.loads(result.stdout)
    return found


def fits(n_rows: int, repeats: int) -> dict[str, dict[str, float]]:
    """Return the CPU seconds of each step, the fewest of several runs."""
    runs: dict[str, list[dict[str, float]]] = {"none on disk": [], "on disk": []}
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:
            for found in runs.values():
                found.append(apart(n_rows, cache))
    return {
        kernels: min(found, key=lambda run: run["fit"] + run["explain_global"])
        for kernels, found in runs.items()
    }


def import_seconds(program: str, repeats: int) -> float:
    """Return the CPU seconds of a program in a fresh process, the fewest of several runs."""
    found = []
    for _ in range(repeats):
        before = sum(os.times()[2:4])  # of children, user and system
        subprocess.run([sys.executable, "-c", program], check=True, timeout=600)
        found.append(sum(os.times()[2:4]) - before)
    return min(found)


def print_imports(repeats: int) -> None:
    """Print the CPU seconds of each import."""
    print(f"CPU s, least of {repeats} fresh processes\n\n| import | CPU s |\n| :-- | --: |")
    found = {name: import_seconds(program, repeats) for name, program in IMPORTS.items()}
    for name, seconds in found.items():
        print(f"| {name} | {seconds:.2f} |")
    ours = found["DPExplainableBoostingClassifier"]
    print(f"\nimport of one estimator: {ours:.2f} (target {IMPORT_TARGET:g})\n")


def table(runs: dict[str, dict[str, float]]) -> str:
    """Return the CPU seconds of each step as a Markdown table."""
    lines = [f"| kernels | {' | '.join(STEPS)} |", f"| :-- {'| --: ' * len(STEPS)}|"]
    lines += [
        f"| {kernels} | {' | '.join(f'{run[step]:.2f}' for step in STEPS)} |"
        for kernels, run in runs.items()
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both runs next to the target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=5, help="processes for each figure")
    parser.add_argument("--here", action="store_true", help="take the steps, print JSON")
    asked = parser.parse_args(arguments)
    if asked.here:
        print(json.dumps(measure(asked.rows)))
        return
    print_imports(asked.repeats)
    runs = fits(asked.rows, asked.repeats)
    first = runs["none on disk"]
    title = f"CPU s, {asked.rows:,} rows, least of {asked.repeats} fresh processes"
    print(f"{title}\n\n{table(runs)}\n")
    print(
        f"fit and explain_global with no kernel on disk: "
        f"{first['fit'] + first['explain_global']:.1f} (target {TARGET:g})"
    )


if __name__ == "__main__":
    main()
