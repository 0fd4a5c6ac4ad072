"""Run the tests that use numpy, pandas and scikit-learn on their oldest supported versions.

``make oldest`` reads every lower bound of ``pyproject.toml``, installs exactly these versions into
an environment of its own, and runs what depends on them there. Bounds of packages that only the
tests need do not apply.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
EXTRAS = ("widgets", "examples", "dask", "opendp", "subsampled")
# InterpretML's `show` needs dash, which cannot be where JupyterLab is: Lab would ask for a rebuild.
SHOW = ("dash", "dash-cytoscape", "interpret-core", "ipython", "plotly")
NEEDED_TO_CHECK = ("hypothesis", "polars", "pytest", "pytest-timeout", "pytest-xdist", *SHOW)
TESTS = (
    "tests/test_encoding.py",
    "tests/test_encoding_tables.py",
    "tests/test_schema.py",
    "tests/test_validation.py",
    "tests/binning",
    "tests/datasets",
    "tests/explain",
    "tests/interop/test_interpretml.py::test_interpretml_shows_an_exported_model_in_a_notebook",
    "tests/io",
    "tests/models/test_boosting_kernels.py",
    "tests/models/test_private_compositions.py",
    "tests/models/test_private_contract.py",
    "tests/models/test_private_refusals.py",
    "tests/models/test_sklearn_checks.py",
    "tests/plotting",
)
LEFT_OUT = (
    "tests/explain/test_claims.py::test_claims_that_hold_about_fitted_models_are_true",
    "tests/explain/test_denoising.py",
)
"""Minutes of our own statistics, which `make unit` runs with the latest versions."""
OPTIONS = ("--timeout=900", "--timeout-method=thread", "--durations=40")
LOWER_BOUND = re.compile(r"(?P<name>[\w.-]+)(\[[^]]*\])?>=(?P<version>[\w.]+)")
STEP_SECONDS = 3_600
LATEST_PYTHON = (3, 12)  # of numpy 1.26


def lower_bounds() -> list[str]:
    """Return constraints that pin the packages of the core and `EXTRAS` to lower bounds."""
    with open(REPOSITORY / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    extras = [text for extra in EXTRAS for text in project["optional-dependencies"][extra]]
    needs = [LOWER_BOUND.match(text) for text in project["dependencies"] + extras]
    return [f"{need['name']}=={need['version']}" for need in needs if need is not None]


def main(*arguments: str) -> int:
    """Make the environment and run the tests in it; return the status of pytest."""
    if sys.version_info[:2] > LATEST_PYTHON:
        print("oldest versions need Python 3.11 or 3.12: make oldest PYTHON=python3.11")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        environment, constraints = Path(folder, "environment"), Path(folder, "constraints.txt")
        constraints.write_text("\n".join(lower_bounds()) + "\n", encoding="utf-8")
        python = str(environment / "bin" / "python")
        _run(sys.executable, "-m", "venv", str(environment))
        # What no test imports need not be compiled to bytecode.
        pip = "pip install -q --no-compile --disable-pip-version-check"
        install = (python, "-m", *pip.split())
        package = f"{REPOSITORY}[{','.join(EXTRAS)}]"
        _run(*install, "-c", str(constraints), "--editable", package, *NEEDED_TO_CHECK)
        print("\n".join(lower_bounds()), flush=True)
        tests = (*TESTS, *(f"--deselect={name}" for name in LEFT_OUT), *arguments)
        # Compiled kernels are of this numba alone: the tree keeps those of the other.
        os.environ["NUMBA_CACHE_DIR"] = str(Path(folder, "kernels"))
        return _run(python, "-m", "pytest", *OPTIONS, *tests)


def _run(*command: str) -> int:
    inherited = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    result = subprocess.run(command, cwd=REPOSITORY, env=inherited, timeout=STEP_SECONDS)
    if result.returncode != 0 and "pytest" not in command:
        raise SystemExit(f"failed with {result.returncode}: {' '.join(command)}")
    return result.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
