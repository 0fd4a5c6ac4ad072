"""A missing package is named with the command that suits this installation."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError

import pytest

from dpexplain._utils import extras

CLONE = '{"url": "file:///clone", "dir_info": {%s}}'
WHEEL = '{"url": "file:///dist/dpexplain.whl", "archive_info": {}}'


class Installed:
    """The two files of an installed distribution that say where it came from."""

    def __init__(self, installer: str, origin: str | None) -> None:
        self.files = {"INSTALLER": installer, "direct_url.json": origin}

    def read_text(self, name: str) -> str | None:
        return self.files[name]


@pytest.mark.parametrize(
    ("installer", "origin", "command"),
    [
        ("pip\n", None, 'pip install "dpexplain[lab]"'),
        ("conda\n", None, 'pip install "dpexplain[lab]"'),
        ("uv", None, 'uv pip install "dpexplain[lab]"'),
        ("pip\n", WHEEL, 'pip install "dpexplain[lab]"'),
        ("pip\n", CLONE % "", 'pip install ".[lab]" in a clone of dpexplain'),
        (
            "uv\n",
            CLONE % '"editable": true',
            'uv pip install -e ".[lab]" in a clone of dpexplain',
        ),
    ],
)
def test_command_fits_the_installation(installer, origin, command, monkeypatch):
    monkeypatch.setattr(extras, "distribution", lambda name: Installed(installer, origin))

    assert extras.install_command("lab") == command


def test_a_folder_on_the_path_names_the_clone(monkeypatch):
    def absent(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(extras, "distribution", absent)

    assert extras.install_command("lab") == 'pip install ".[lab]" in a clone of dpexplain'
