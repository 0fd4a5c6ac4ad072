"""Build what Binder would build, in a fresh environment without Docker, and run it.

``make binder-check`` copies the tracked files to an empty folder, installs what
``binder/requirements.txt`` pins beside the JupyterLab that Binder brings, runs ``postBuild`` and
``start``, then every notebook, and compares the memory of the largest process with what Binder
grants. It takes some minutes and downloads everything again, but for compiled kernels, which the
repository lends.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from lent_kernels import lend_kernels

REPOSITORY = Path(__file__).resolve().parents[2]
# Binder guarantees 1 GiB; its server was measured at 121 MB. What is left is for one notebook and a
# half, because kernels stay when another notebook is opened.
KERNEL_LIMIT_MB = 500
STEP_SECONDS, NOTEBOOK_SECONDS, START_SECONDS = 1_800, 1_800, 120
BROUGHT_BY_BINDER = ("jupyterlab>=4", "notebook>=7")
NEEDED_TO_CHECK = ("nbval", "pytest")
NBVAL = (
    "--nbval-lax",
    "--nbval-current-env",
    "--nbval-cell-timeout=600",
    "--nbval-kernel-startup-timeout=120",
)


def main() -> int:
    """Run the whole check; return 0 if everything ran within the memory that Binder grants."""
    require_pinned_python()
    with tempfile.TemporaryDirectory() as folder:
        clone, environment = Path(folder, "clone"), Path(folder, "environment")
        copy_tracked_files(clone)
        run([sys.executable, "-m", "venv", str(environment)], clone, environment / "bin")
        install(clone, environment / "bin")
        run(["binder/postBuild"], clone, environment / "bin")
        report_image(environment, clone)
        return report_memory(run_notebooks(clone, environment / "bin"))


def require_pinned_python() -> None:
    """Stop unless this is the Python version pinned for Binder."""
    pinned = (REPOSITORY / "binder" / "runtime.txt").read_text(encoding="utf-8").strip()
    running = f"python-{sys.version_info.major}.{sys.version_info.minor}"
    if pinned != running:
        raise SystemExit(
            f"binder/runtime.txt asks for {pinned} and this is {running}; "
            f"name the right one: make binder-check PYTHON={pinned.replace('-', '')}"
        )


def copy_tracked_files(clone: Path) -> None:
    """Copy what a clone would contain, with the changes in the working tree."""
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True,
        timeout=60,
    )  # fmt: skip
    for name in filter(None, listing.stdout.split("\0")):
        target = clone / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (REPOSITORY / name).is_file():
            shutil.copy(REPOSITORY / name, target)


def install(clone: Path, binaries: Path) -> None:
    """Install what Binder provides, then the pinned packages, then the checker."""
    pip = ["python", "-m", "pip", "install", "-q", "--no-compile", "--disable-pip-version-check"]
    run([*pip, *BROUGHT_BY_BINDER], clone, binaries)
    run([*pip, "-r", "binder/requirements.txt"], clone, binaries)
    run([*pip, *NEEDED_TO_CHECK], clone, binaries)
    (packages,) = binaries.parent.glob("lib/python*/site-packages")
    lend_kernels(packages / "dpexplain")
    # Compiled to bytecode, as there: a kernel that compiles what it imports is 30 MB larger. Tests
    # of packages, half of all, are imported by none; files for other Pythons fail, as there.
    compiled = ["python", "-m", "compileall", "-qq", "-x", "/tests?/"]
    run([*compiled, str(packages)], clone, binaries, may_fail=True)


def run_notebooks(clone: Path, binaries: Path) -> dict[str, float]:
    """Run every notebook as a visitor of Binder would; return the megabytes of each."""
    alone = ["-c", os.devnull, "--rootdir", ".", "-p", "no:cacheprovider"]
    memory = {}
    for path in sorted((clone / "notebooks").glob("*.ipynb")):
        command, variables = prepared(
            ["binder/start", "python", "-m", "pytest", *alone, *NBVAL, f"notebooks/{path.name}"],
            clone,
            binaries,
        )
        print("+ " + " ".join(command), flush=True)
        process = subprocess.Popen(command, cwd=clone, env=variables)
        limit = ended_after(NOTEBOOK_SECONDS, process)
        _, status, usage = os.wait4(process.pid, 0)
        limit.cancel()
        if status != 0:
            raise SystemExit(f"failed: {path.name}")
        # The unit is KiB on Linux, where Binder runs, and bytes on macOS.
        memory[path.name] = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
    return memory


def report_image(environment: Path, clone: Path) -> None:
    """Print the size of the image without the system, and its server's start time."""
    sizes = [
        sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
        for folder in (environment, clone)
    ]
    print(f"image: {sizes[0]:.0f} MB of packages and {sizes[1]:.0f} MB of this repository")
    command, variables = prepared(
        ["binder/start", "jupyter", "lab", "--no-browser", "--allow-root", "--port=0"],
        clone,
        environment / "bin",
    )
    started, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(
        command, cwd=clone, env=variables, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        limit = ended_after(START_SECONDS, server)
        answered = any("is running at" in line for line in server.stderr)
        limit.cancel()
        seconds = time.monotonic() - started
        server.kill()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    if not answered:
        raise SystemExit("JupyterLab did not start: binder/start jupyter lab")
    print(f"start: JupyterLab serves after {seconds:.1f} s ({cpu:.1f} s of CPU)", flush=True)


def ended_after(seconds: float, process: subprocess.Popen[Any]) -> threading.Timer:
    """End a process that takes too long, unless the timer is canceled."""
    timer = threading.Timer(seconds, process.kill)
    timer.daemon = True
    timer.start()
    return timer


def run(command: list[str], folder: Path, binaries: Path, *, may_fail: bool = False) -> None:
    """Run a command with the environment's programs first on the path; stop on failure."""
    print("+ " + " ".join(command), flush=True)
    whole, variables = prepared(command, folder, binaries)
    result = subprocess.run(whole, cwd=folder, env=variables, timeout=STEP_SECONDS)
    if result.returncode != 0 and not may_fail:
        raise SystemExit(f"failed with {result.returncode}: {' '.join(command)}")


def prepared(command: list[str], folder: Path, binaries: Path) -> tuple[list[str], dict[str, str]]:
    """Return a command with its program's full path, and the variables to run it with."""
    path = os.pathsep.join([str(binaries), os.environ.get("PATH", "")])
    # A visitor of Binder has no folder of data, which notebooks would read much larger tables from.
    own = ("PYTHON", "DPEXPLAIN")
    inherited = {name: text for name, text in os.environ.items() if not name.startswith(own)}
    script = folder / command[0]
    program = str(script) if script.is_file() else shutil.which(command[0], path=path)
    return [program or command[0], *command[1:]], {**inherited, "PATH": path}


def report_memory(memory: dict[str, float]) -> int:
    """Compare the largest process of each notebook with what Binder leaves for a kernel."""
    for name, megabytes in memory.items():
        print(f"{name}: {megabytes:.0f} MB of {KERNEL_LIMIT_MB} MB that Binder leaves for it")
    return int(max(memory.values()) > KERNEL_LIMIT_MB)


if __name__ == "__main__":
    raise SystemExit(main())
