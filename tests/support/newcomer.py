"""An environment with the wheel installed, and the two tables of the how-to."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

from dpexplain.datasets import make_additive
from lent_kernels import lend_kernels


def environment_of_wheel(built: Path, folder: Path) -> dict[str, str]:
    """Return variables of an environment with the wheel and only our dependencies."""
    venv.create(folder, with_pip=False)
    (packages,) = folder.glob("lib/python*/site-packages")
    # A path in a .pth file is added as it is: the .pth file of an editable install is not read.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (wheel,) = built.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install"]
    subprocess.run([*pip, "-q", "--no-deps", "--no-index", str(wheel)], check=True, timeout=300)
    lend_kernels(packages / "dpexplain")
    inherited = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    return {**inherited, "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}


def run(folder: Path, environment: dict[str, str], *command: str) -> str:
    """Run a command in a folder; it must succeed."""
    result = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"
    return result.stdout


def write_tables(folder: Path) -> None:
    """Write the tables of the how-to: a public one, and one in the role of the private one."""
    for name, seed, n_samples in (("public_sample", 0, 500), ("data", 1, 1500), ("new", 2, 50)):
        table = make_additive("clinical", n_samples=n_samples, random_state=seed)
        table.X.assign(readmitted=table.y).to_csv(folder / f"{name}.csv", index=False)
