"""The recipe for JupyterLite builds a site, and its notebook needs only what it installs."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import dpexplain.io
import view_examples

pytestmark = pytest.mark.full

# Runs the notebook of the recipe as JupyterLite does, with a loader of packages that is told what
# to install, and refuses every other package.
PROGRAM = """
import ast, asyncio, importlib.abc, sys, types

told = []

async def install(names, deps=True):
    told.extend([names] if isinstance(names, str) else names)

class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {refused!r}:
            raise ImportError(name + " is not installed in the recipe")

sys.meta_path.insert(0, Refuse())
sys.modules["piplite"] = types.SimpleNamespace(install=install)
code = compile({code!r}, "notebook", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
names = {{}}
asyncio.run(eval(code, names))
assert "image/png" in eval({shown!r}, names)._repr_mimebundle_()[0]
print(*told)
"""


def of_recipe(repository: Path) -> tuple[list[str], str]:
    """Return the commands of the recipe, and the code of its notebook."""
    page = (repository / "docs" / "howto" / "without_python.md").read_text(encoding="utf-8")
    recipe = page.partition("**JupyterLite**")[2]
    commands = re.search(r"```sh\n(.*?)```", recipe, re.DOTALL)
    code = re.search(r"```text\n(import piplite.*?)```", recipe, re.DOTALL)
    assert commands is not None
    assert code is not None
    return commands[1].splitlines(), code[1]


def closure(names: list[str]) -> set[str]:
    """Return the packages installed along with the given ones, by normalized name."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        try:
            needs = distribution(name).requires or []
        except PackageNotFoundError:  # for another system
            continue
        parsed = [Requirement(text) for text in needs]
        waiting += [need.name.lower().replace("_", "-") for need in parsed if _applies(need)]
    return found


def _applies(need: Requirement) -> bool:
    return need.marker is None or need.marker.evaluate({"extra": ""})


def test_the_notebook_of_the_recipe_needs_only_what_it_installs(repository, tmp_path):
    code = of_recipe(repository)[1]
    listed = re.search(r"install\((\[.*?\])\)", code)
    assert listed is not None
    # A kernel brings IPython, and what IPython needs.
    allowed = closure([*json.loads(listed[1]), "ipython"])
    refused = {
        module
        for module, owners in packages_distributions().items()
        if not {owner.lower().replace("_", "-") for owner in owners} & {*allowed, "dpexplain"}
        and not module.startswith("_")
    }
    assert {"numba", "sklearn", "scipy", "joblib"} <= refused
    dpexplain.io.save(view_examples.comparison(), tmp_path / "comparison.json")
    shown = code.strip().splitlines()[-1]
    program = PROGRAM.format(refused=refused, code=code, shown=shown)
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )

    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == [*json.loads(listed[1]), "dpexplain"]


def test_the_commands_of_the_recipe_build_a_site_with_the_wheel(repository, built, tmp_path):
    # No part of the extra `test`: it adds an extension to the JupyterLab that other tests open.
    pytest.importorskip(
        "jupyterlite_core", reason="JupyterLite is installed by hand, as the page says"
    )
    (wheel,) = built.glob("*.whl")
    install, build, lite = of_recipe(repository)[0]
    for name in shlex.split(install)[2:]:
        distribution(name)  # what the first command installs is here
    assert shlex.split(build) == ["python", "-m", "build", "--wheel", "--outdir", "."]
    shutil.copy(wheel, tmp_path)
    (tmp_path / "files").mkdir()
    dpexplain.io.save(view_examples.comparison(), tmp_path / "files" / "comparison.json")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    result = subprocess.run(
        ["sh", "-c", lite], cwd=tmp_path, env={**os.environ, "PATH": path},
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip

    assert result.returncode == 0, result.stdout + result.stderr
    site = tmp_path / "site"
    saved = json.loads((site / "files" / "comparison.json").read_text(encoding="utf-8"))
    assert saved == json.loads((tmp_path / "files" / "comparison.json").read_text("utf-8"))
    assert [found.name for found in site.rglob("dpexplain-*.whl")] == [wheel.name]
    index = json.loads((site / "pypi" / "all.json").read_text(encoding="utf-8"))
    assert list(index) == ["dpexplain"]
