"""The Binder set-up installs what the notebooks need, as repo2docker reads it (without docker)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.full

EXTRAS = ("widgets", "examples", "dask", "bench", "subsampled")


@pytest.fixture(scope="module")
def binder(repository: Path) -> Path:
    return repository / "binder"


@pytest.fixture(scope="module")
def pins(binder: Path) -> dict[str, str]:
    """Map each pinned package to its version."""
    lines = (binder / "requirements.txt").read_text(encoding="utf-8").splitlines()
    packages = [line for line in lines if line and not line.startswith("#") and line != "."]
    return {canonicalize_name(name): pin for name, pin in (line.split("==") for line in packages)}


def needed(repository: Path) -> list[Requirement]:
    with open(repository / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    extras = [text for extra in EXTRAS for text in project["optional-dependencies"][extra]]
    return [Requirement(text) for text in project["dependencies"] + extras]


def test_everything_the_notebooks_need_is_pinned(repository, pins):
    assert [
        str(need) for need in needed(repository) if canonicalize_name(need.name) not in pins
    ] == []


def test_pins_are_versions_the_package_accepts(repository, pins):
    refused = [
        str(need)
        for need in needed(repository)
        if not need.specifier.contains(pins[canonicalize_name(need.name)])
    ]

    assert refused == []


def test_the_commit_itself_is_installed_last(binder):
    lines = (binder / "requirements.txt").read_text(encoding="utf-8").split()

    assert lines[-1] == "."


def test_python_is_one_the_package_accepts(repository, binder):
    with open(repository / "pyproject.toml", "rb") as file:
        accepted = Requirement("python" + tomllib.load(file)["project"]["requires-python"])
    found = re.fullmatch(r"python-(3\.\d+)\n", (binder / "runtime.txt").read_text())

    assert found is not None
    assert accepted.specifier.contains(found.group(1))


@pytest.mark.parametrize("name", ["postBuild", "start"])
def test_scripts_are_executable_shell(binder, name):
    script = binder / name

    assert os.access(script, os.X_OK)
    assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0


def test_start_hands_over_to_the_command_with_few_threads(binder):
    show = [str(binder / "start"), "sh", "-c", "echo $OMP_NUM_THREADS $NUMBA_NUM_THREADS $0", "x"]
    result = subprocess.run(show, capture_output=True, text=True, check=False)

    assert result.stdout.split() == ["1", "2", "x"]


@pytest.fixture(scope="module")
def dockerfile(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the Dockerfile that repo2docker would build from the repository."""
    folder = tmp_path_factory.mktemp("clone")
    shutil.copytree(repository / "binder", folder / "binder")
    shutil.copy(repository / "pyproject.toml", folder)
    command = [sys.executable, "-m", "repo2docker", "--no-build", "--debug"]
    result = subprocess.run(
        [*command, "--user-name", "jovyan", "--user-id", "1000", "."],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout + result.stderr


def test_repo2docker_installs_the_pinned_requirements(dockerfile):
    install = re.search(r"pip install [^\n]*-r\s+\"?binder/requirements\.txt", dockerfile)

    assert install is not None
    # `.` is there to be installed only after the whole repository is copied
    assert dockerfile.index("src/ ${REPO_DIR}/") < install.start()


def test_repo2docker_runs_our_scripts(dockerfile):
    assert re.search(r"RUN \./binder/postBuild", dockerfile)
    assert re.search(r"ENV R2D_ENTRYPOINT=?\s*\"?[^\n]*binder/start", dockerfile)


def test_repo2docker_takes_the_pinned_python(binder, dockerfile):
    version = (binder / "runtime.txt").read_text().strip().removeprefix("python-")

    assert f"conda environment for python={version}\n" in dockerfile
