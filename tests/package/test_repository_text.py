"""No file in the repository mentions a package registry or a user's personal folder."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

# Written in pieces, so that this file does not find itself.
REGISTRIES = ["py" + r"pi\.org", "python" + "hosted", r"registry\." + "npm", r"deb\." + "debian"]
FOLDERS = [
    r"(?:^|[^\w.:/-])/" + rf"(?:{name})/\w" for name in ("ro" + "ot", "ho" + "me", "wo" + "rk")
]
FORBIDDEN = re.compile("|".join(REGISTRIES + FOLDERS), flags=re.MULTILINE)
PICTURES = {".png", ".ico", ".gif"}


def tracked_files(repository: Path) -> list[Path]:
    result = subprocess.run(
        ["git", "ls-files", "-z"], cwd=repository, capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        pytest.skip("an unpacked source archive: only a clone knows which files are its own")
    paths = [repository / name for name in result.stdout.split("\0") if name]
    return [path for path in paths if path.is_file() and path.suffix not in PICTURES]


@pytest.mark.full
def test_no_tracked_file_names_a_registry_or_a_private_folder(repository):
    found = [
        (str(path.relative_to(repository)), match.group())
        for path in tracked_files(repository)
        for match in FORBIDDEN.finditer(path.read_text(encoding="utf-8"))
    ]

    assert found == []


@pytest.mark.parametrize(
    "text",
    ["https://" + "pypi" + ".org/simple", "see /" + "home/ada/data", "files.python" + "hosted.org"],
)
def test_the_search_finds_what_it_looks_for(text):
    assert FORBIDDEN.search(text)


def test_tracked_files_are_found(repository):
    assert repository / "pyproject.toml" in tracked_files(repository)
