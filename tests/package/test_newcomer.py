"""The path of a newcomer: install the wheel, follow the how-to, open what it wrote."""

from __future__ import annotations

import html
import os
import re
from pathlib import Path

import pytest

from documentation import Page
from newcomer import environment_of_wheel, run, write_tables

pytestmark = pytest.mark.full

IMPORT_FROM_INTERPRET = """
import numpy as np
from interpret.glassbox import ExplainableBoostingRegressor
from dpexplain import io
from dpexplain.explain import from_interpret
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 2))
ebm = ExplainableBoostingRegressor(interactions=0, outer_bags=1, max_rounds=5, n_jobs=1)
io.save(from_interpret(ebm.fit(X, X[:, 0])), "theirs.json")
"""


@pytest.fixture(scope="module")
def environment(built: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return environment_of_wheel(built, tmp_path_factory.mktemp("newcomer") / "environment")


@pytest.fixture(scope="module")
def followed(
    environment: dict[str, str], repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Write the two tables into an empty folder, then run every command of the how-to."""
    folder = tmp_path_factory.mktemp("empty")
    write_tables(folder)
    page = (repository / "docs" / "howto" / "command_line.md").read_text(encoding="utf-8")
    commands = "".join(re.findall(r"```sh\n(.*?)```", page, flags=re.DOTALL))
    assert commands.count("dpexplain ") >= 8
    run(folder, environment, "bash", "-euc", commands)
    return folder


def test_the_installed_wheel_is_what_runs(environment, tmp_path):
    program = "import dpexplain; print(dpexplain.__file__)"
    place = Path(run(tmp_path, environment, "python", "-c", program).strip())

    assert place.parents[1].name == "site-packages"
    assert place.is_relative_to(Path(environment["PATH"].split(os.pathsep)[0]).parent)


def test_commands_of_the_how_to_write_what_it_says(followed):
    names = {path.name for path in followed.iterdir()}

    assert {"schema.toml", "report.html", "model.json", "curves.csv", "data.ledger.json"} <= names
    assert len((followed / "predictions.csv").read_text(encoding="utf-8").splitlines()) == 51
    assert (followed / "curves.csv").read_text(encoding="utf-8").startswith("term,")


def test_the_page_loads_nothing_and_states_what_it_promises(followed):
    text = html.unescape((followed / "report.html").read_text(encoding="utf-8"))

    assert Page(followed / "report.html").loaded == []
    assert "default-src 'none'" in text
    assert "add/remove" in text


def test_a_model_of_interpretml_opens(environment, followed):
    run(followed, environment, "python", "-c", IMPORT_FROM_INTERPRET)

    assert "feature_0000" in run(followed, environment, "dpexplain", "explain", "theirs.json")
