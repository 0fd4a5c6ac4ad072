"""Archives built from the repository contain both packages completely, and nothing else."""

from __future__ import annotations

import email.parser
import importlib.util
import re
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from pathlib import Path

import pytest
from readme_renderer import markdown

from dpexplain._utils.version import __version__

pytestmark = pytest.mark.full

ROOTS = {"dpexplain": "dpexplain", "dpexplain_widgets": "widgets/dpexplain_widgets"}
SHIPPED = {".py", ".typed", ".js", ".css", ".toml"}


@pytest.fixture(scope="module")
def wheel(built: Path) -> zipfile.ZipFile:
    (path,) = built.glob("*.whl")
    return zipfile.ZipFile(path)


def files_of_package(repository: Path, package: str) -> set[str]:
    root = repository / ROOTS[package]
    return {
        f"{package}/{path.relative_to(root).as_posix()}"
        for path in root.rglob("*")
        if path.suffix in SHIPPED and "__pycache__" not in path.parts
    }


@pytest.mark.parametrize("package", ROOTS)
def test_wheel_holds_every_file_of_the_package(wheel, repository, package):
    expected = files_of_package(repository, package)

    assert f"{package}/__init__.py" in expected
    assert f"{package}/py.typed" in expected
    assert expected - set(wheel.namelist()) == set()


def test_wheel_holds_schemas_and_browser_modules(wheel):
    names = wheel.namelist()

    assert any(name.startswith("dpexplain_widgets/static/") for name in names)
    assert any(name.endswith(".js") for name in names)
    assert any(name.startswith("dpexplain/datasets/schemas/") for name in names)


def test_wheel_holds_the_two_packages_and_nothing_else(wheel):
    top = {name.split("/")[0] for name in wheel.namelist()}

    assert {name for name in top if not name.endswith(".dist-info")} == set(ROOTS)


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile) -> Message:
    (name,) = [name for name in wheel.namelist() if name.endswith("METADATA")]
    return email.parser.Parser().parsestr(wheel.read(name).decode())


def test_wheel_names_licence_python_and_extras(metadata):
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.11"
    assert {"widgets", "lab", "examples", "test", "bench"} <= set(
        metadata.get_all("Provides-Extra")
    )


def test_readme_of_the_wheel_links_to_files_of_this_version(metadata, repository):
    text = metadata.get_payload()
    hosted = re.escape("https://example.org/team/dpexplain")
    linked = set(re.findall(rf"{hosted}/(?:blob|raw)/v{re.escape(__version__)}/([^)\"#]+)", text))

    assert metadata["Description-Content-Type"] == "text/markdown"
    assert {"docs/promises.md", "docs/explorer-light.png", "docs/explorer-dark.png"} <= linked
    assert [path for path in linked if not (repository / path).is_file()] == []
    assert re.findall(r"\]\((?!https://)[^)]*|(?:src|srcset|href)=\"(?!https://)[^\"]*", text) == []


def test_an_index_accepts_and_renders_both_archives(built):
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, built.iterdir())]
    result = subprocess.run(command, capture_output=True, text=True, check=False)

    assert result.stdout.count("PASSED") == 2, result.stdout + result.stderr


def test_readme_of_an_index_shows_its_tables_and_its_picture(metadata):
    page = markdown.render(metadata.get_payload())

    assert page is not None
    assert {"<h2", "<table", "<pre", "<img"} <= set(re.findall(r"<[a-z]+2?", page))
    assert "explorer-light.png" in page


def test_readme_without_an_address_leads_nowhere_else(repository):
    spec = importlib.util.spec_from_file_location("hatch_build", repository / "hatch_build.py")
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    text = (repository / "README.md").read_text(encoding="utf-8")
    alone = hook.without_relative_links(text)

    assert re.findall(r"\]\((?!https://)[^)]*|(?:src|srcset|href)=", alone) == []
    assert hook.without_relative_links("see [docs](docs/a.md) and [b](https://b)") == (
        "see docs and [b](https://b)"
    )
    assert {line for line in text.splitlines() if line.startswith("#")} <= set(alone.splitlines())


def test_wheel_names_the_pages_of_the_project(metadata, repository):
    urls = dict(text.split(", ") for text in metadata.get_all("Project-URL"))
    pages = [
        url.split(f"/v{__version__}/")[1] for name, url in urls.items() if name != "Repository"
    ]

    assert urls["Repository"] == "https://example.org/team/dpexplain"
    assert {"Documentation", "Changelog", "Security"} <= set(urls)
    assert [page for page in pages if not (repository / page).is_file()] == []


def test_unpacked_wheel_is_importable_from_an_empty_folder(wheel, tmp_path):
    wheel.extractall(tmp_path / "site")
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r});"
        "import dpexplain, dpexplain_widgets;"
        "print(dpexplain.__file__); print(dpexplain_widgets.__file__); dpexplain.Schema"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert result.returncode == 0, result.stderr
    assert all(line.startswith(str(tmp_path)) for line in result.stdout.splitlines())


def test_source_archive_holds_the_tests_and_no_environment(built):
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        parts = {name.split("/")[1] for name in archive.getnames() if "/" in name}

    assert {"dpexplain", "widgets", "tests", "pyproject.toml", "LICENSE", "README.md"} <= parts
    assert not {".venv", "dist", ".git"} & parts
