"""Files read by a repository host can be parsed, and name existing commands and files."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from check_jsonschema import main as check_jsonschema
from click.testing import CliRunner

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
PRE_COMMIT = ROOT / ".pre-commit-config.yaml"
OTHERS = [ROOT / ".github" / "dependabot.yml", ROOT / "CITATION.cff", PRE_COMMIT]
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
MAX_LINES = 60
# Schemas that come with check-jsonschema, so nothing is downloaded.
BY_SCHEMA = {
    "citation-file-format": [ROOT / "CITATION.cff"],
    "dependabot": [ROOT / ".github" / "dependabot.yml"],
    "github-issue-config": [path for path in FORMS if path.stem == "config"],
    "github-issue-forms": [path for path in FORMS if path.stem != "config"],
    "github-workflows": WORKFLOWS,
}


def read(path: Path) -> dict[Any, Any]:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in read(path)["jobs"].values() for step in job["steps"]]


def targets(commands: list[str]) -> set[str]:
    """Return the targets of `make` in lines of shell, without its variables."""
    found = set()
    for line in "\n".join(commands).splitlines():
        words = shlex.split(line)
        if words[:1] == ["make"]:
            found |= {word for word in words[1:] if "=" not in word}
    return found


@pytest.mark.parametrize("path", [*WORKFLOWS, *FORMS, *OTHERS], ids=lambda path: path.name)
def test_file_parses_to_a_mapping(path):
    assert read(path)


def faults(schema: str, paths: list[Path]) -> str:
    """Return what contradicts a schema, if anything."""
    arguments = ["--builtin-schema", f"vendor.{schema}", *map(str, paths)]
    result = CliRunner().invoke(check_jsonschema, arguments)
    return "" if result.exit_code == 0 else result.output


@pytest.mark.parametrize("schema", BY_SCHEMA)
def test_files_keep_to_the_schema_of_their_reader(schema):
    assert faults(schema, BY_SCHEMA[schema]) == ""


def test_a_planted_mistake_in_a_workflow_is_found(tmp_path):
    broken = tmp_path / "tests.yml"
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    broken.write_text(text.replace("runs-on", "runs_on", 1), encoding="utf-8")

    assert "runs_on" in faults("github-workflows", [broken])


def test_every_purpose_has_a_workflow():
    assert {path.stem for path in WORKFLOWS} == {
        "code-scanning", "docs", "nightly", "release", "tests"
    }  # fmt: skip


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflow_is_short_and_calls_commands_that_exist(path):
    called = targets([step["run"] for step in steps(path) if "run" in step])

    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES
    assert called <= TARGETS
    assert called or path.stem == "code-scanning"


def test_hooks_call_commands_that_exist():
    hooks = [hook for repo in read(PRE_COMMIT)["repos"] for hook in repo["hooks"]]

    assert targets([hook["entry"] for hook in hooks]) == {"format", "lint"} <= TARGETS


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflow_may_only_read_unless_a_job_says_otherwise(path):
    workflow = read(path)
    written = {
        right
        for job in workflow["jobs"].values()
        for right, level in job.get("permissions", {}).items()
        if level == "write"
    }

    assert workflow["permissions"] == {"contents": "read"}
    assert written <= {"id-token", "pages", "security-events"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_name_a_version(path):
    used = [step["uses"] for step in steps(path) if "uses" in step]

    assert [name for name in used if not re.search(r"@(release/)?v\d+$", name)] == []


def test_daily_workflow_covers_three_systems_and_the_supported_range_of_python():
    matrix = read(ROOT / ".github" / "workflows" / "tests.yml")["jobs"]["unit"]["strategy"][
        "matrix"
    ]
    with open(ROOT / "pyproject.toml", "rb") as file:
        classifiers = tomllib.load(file)["project"]["classifiers"]
    stated = sorted(re.findall(r":: (3\.\d+)", " ".join(classifiers)))

    assert {name.split("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
    assert matrix["python"] == [stated[0], stated[-1]]


@pytest.mark.parametrize("name", ["bug", "idea"])
def test_forms_ask_something(name):
    (form,) = [read(path) for path in FORMS if path.stem == name]

    assert [part["id"] for part in form["body"] if part["type"] == "textarea"]
