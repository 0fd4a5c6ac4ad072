"""Try what a newcomer does on each available Python: install the wheel, draw a picture.

``make install-check`` builds the wheel. For every supported Python on the path or
among those of pyenv, it makes an environment in an empty folder, installs the wheel with the
dashboards, and runs the quick start of the README, with no kernel compiled yet. For the first of
them, it installs as a newcomer does, and prints the seconds from the empty folder to the first
picture; the others save the half minute in which pip compiles packages that nobody imports. For a
Python that is not here, it asks whether every dependency has a wheel.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
MINORS = (11, 12, 13, 14)
STEP_SECONDS = 900
PICTURE = 'import matplotlib; matplotlib.use("Agg")\n{}\nimport pathlib, matplotlib.pyplot as plt\n'
SAVED = 'plt.savefig("picture.png")\nassert pathlib.Path("picture.png").stat().st_size > 5_000\n'
REST = 'Explorer(comparison).export_html("page.html")\n'


def main(minors: Sequence[int]) -> int:
    """Check the given versions of Python 3; return 0 if none failed."""
    timed = next((minor for minor in minors if found(minor)), None)
    with tempfile.TemporaryDirectory() as folder:
        wheel = build_wheel(Path(folder))
        outcomes = [
            works(minor, wheel, Path(folder, str(minor)), timed=minor == timed) for minor in minors
        ]
    return int(not all(outcomes))


def build_wheel(folder: Path) -> str:
    """Build the wheel; return its path with the extra of the dashboards."""
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(folder), ".")
    (wheel,) = folder.glob("*.whl")
    return f"{wheel}[widgets]"


def works(minor: int, wheel: str, folder: Path, *, timed: bool) -> bool:
    """Install and draw with one version, or look for wheels; print the outcome."""
    python = found(minor)
    folder.mkdir()
    try:
        if python is None:
            print(f"Python 3.{minor}: not here; {wheels_words(minor, wheel)}", flush=True)
            return True
        started, used = time.monotonic(), cpu_seconds()
        run(python, "-m", "venv", str(folder / "environment"))
        own = str(next((folder / "environment").glob("[bS]*/python*")))
        pip = ("-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-input")
        run(own, *pip, *["--no-compile"] * (not timed), wheel)
        installed = time.monotonic() - started
        first, rest = quick_start()
        picture = PICTURE.format(first) + SAVED
        if timed:
            run(own, "-c", picture, folder=folder)
        drawn, used = time.monotonic() - started, cpu_seconds() - used
        run(own, "-c", picture + rest + REST, folder=folder)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        print(f"Python 3.{minor}: FAILED\n{error.stdout}{error.stderr}", flush=True)
        return False
    measured = (
        f"installed after {installed:.0f} s, first picture after {drawn:.0f} s "
        f"({used:.0f} s of CPU); "
    )
    print(f"Python 3.{minor}: {measured * timed}picture, sweep and page work", flush=True)
    return True


def cpu_seconds() -> float:
    """Seconds that processes started here have computed, however busy the machine was."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def found(minor: int) -> str | None:
    """Return the path of a Python of this version that can make environments."""
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    candidates = [shutil.which(f"python3.{minor}"), *kept.glob(f"3.{minor}.*/bin/python")]
    asked = ("-c", f"import ensurepip, sys, venv; sys.exit(sys.version_info[1] != {minor})")
    for candidate in map(str, filter(None, candidates)):
        if subprocess.run([candidate, *asked], capture_output=True, timeout=60).returncode == 0:
            return candidate
    return None


def wheels_words(minor: int, wheel: str) -> str:
    """State whether pip finds wheels of all dependencies for a Python not installed here."""
    with open(REPOSITORY / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    needs = [*project["dependencies"], *project["optional-dependencies"]["widgets"]]
    options = ("--only-binary=:all:", "--python-version", f"3.{minor}", "--dry-run", "--target")
    try:
        run(*f"{sys.executable} -m pip install -q".split(), *options, "unused", *needs)
    except subprocess.CalledProcessError as error:
        return f"no wheels of all dependencies:\n{error.stderr}"
    return "every dependency has a wheel for it"


def quick_start() -> tuple[str, str]:
    """Return the code of the README, up to the first picture and after it."""
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"## Ten lines.*?```python\n(.*?)```", text, re.DOTALL)
    first, picture, rest = code.partition('explanation["age"].plot()')
    return first + picture, rest.partition("\n")[2]


def run(*command: str, folder: Path = REPOSITORY) -> None:
    """Run a command in a folder without this environment's settings."""
    inherited = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run(
        command, cwd=folder, env=inherited, capture_output=True, text=True, check=True,
        timeout=STEP_SECONDS,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main([int(text) for text in sys.argv[1:]] or MINORS))
