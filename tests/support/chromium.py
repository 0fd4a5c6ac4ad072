"""Find a Chromium that starts, or install one if possible.

Used by the browser tests, and as a command: ``python tests/support/chromium.py [--install]``
prints the path of the browser, or says on standard error why there is none and exits with 1.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MACOS = ("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",)
INSTALL_SECONDS = 600


def find_chromium() -> Path | None:
    """Return the first browser that starts: the one in the environment, then installed ones."""
    return next((path for path in _candidates() if _starts(path)), None)


def install_chromium() -> Path | None:
    """Install a browser with playwright, or as root with apt-get; None if neither works."""
    _run([sys.executable, "-m", "playwright", "install", "chromium"])
    found = find_chromium()
    if found is None and shutil.which("apt-get") and os.geteuid() == 0:
        _run(["apt-get", "update", "-qq"])
        _run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"])
        found = find_chromium()
    return found


def _candidates() -> Iterator[Path]:
    named = os.environ.get("DPEXPLAIN_CHROMIUM")
    if named:
        yield Path(named)
    for name in NAMES:
        path = shutil.which(name)
        if path:
            yield Path(path)
    yield from map(Path, MACOS)
    yield from _of_playwright()


def _of_playwright() -> Iterator[Path]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = Path(playwright.chromium.executable_path)
    yield path


def _starts(path: Path) -> bool:
    """Whether the browser runs at all: a stub or a file without its libraries does not."""
    if not path.exists():
        return False
    try:
        result = subprocess.run(
            [str(path), "--version"], capture_output=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return result.returncode == 0


def _run(command: list[str]) -> None:
    """Run an installer with its output on standard error; the caller checks for success."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    print("+ " + " ".join(command), file=sys.stderr, flush=True)
    try:
        subprocess.run(
            command, stdout=sys.stderr, env=environment, timeout=INSTALL_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        print(f"gave up after {INSTALL_SECONDS} s", file=sys.stderr)


def main(arguments: list[str]) -> int:
    """Print the path of a browser that starts, or say why there is none."""
    path = find_chromium()
    if path is None and "--install" in arguments:
        print("No Chromium found; trying to install one.", file=sys.stderr)
        path = install_chromium()
    if path is None:
        print(
            "No Chromium that starts. Install one (for example the package 'chromium'), or name "
            "it: DPEXPLAIN_CHROMIUM=/path/to/chromium make browser",
            file=sys.stderr,
        )
        return 1
    print(path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
