"""Build the documentation without a network, and check its pages.

``python tests/support/documentation.py build/docs`` builds with every warning an error, then
follows each link to a page, a file or a heading, and looks for anything that a browser would load
from elsewhere and for public names that no page describes.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterable
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

REPOSITORY = Path(__file__).resolve().parents[2]
BUILD_SECONDS = 1_200
LOADED = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "srcset"}
NOT_LOADED = {"canonical", "index", "search", "next", "prev", "author"}


def build(pages: Path) -> None:
    """Build every page into a folder; any warning stops the build."""
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    trees = pages.with_name(f"{pages.name}.trees")
    result = subprocess.run(
        [*command, "-c", "docs", "-d", str(trees), ".", str(pages)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
        timeout=BUILD_SECONDS,
    )
    if result.returncode != 0:
        raise SystemExit(f"the documentation does not build:\n{result.stdout}{result.stderr}")


class Page(HTMLParser):
    """Links, loaded addresses and anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        self.anchors.update(named[name] for name in ("id", "name") if name in named)
        if tag == "a" and "href" in named:
            self.links.append(named["href"])
        loads = tag in LOADED and LOADED[tag] in named
        if loads and not NOT_LOADED & set(named.get("rel", "").split()):
            self.loaded.append(named[LOADED[tag]])


class Site:
    """All pages in a folder and its subfolders."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    @cached_property
    def pages(self) -> dict[Path, Page]:
        """Map each HTML file to its links, addresses and anchors."""
        return {path: Page(path) for path in sorted(self.folder.rglob("*.html"))}

    def broken_links(self) -> list[str]:
        """List links to missing files or headings, as ``page: link``."""
        return [
            f"{path.relative_to(self.folder)}: {link}"
            for path, page in self.pages.items()
            for link in {*page.links, *page.loaded}
            if not self._leads_somewhere(path, link)
        ]

    def _leads_somewhere(self, path: Path, link: str) -> bool:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            return True
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if not target.is_file() or not target.is_relative_to(self.folder):
            return False
        known = self.pages.get(target)
        return not parts.fragment or known is None or unquote(parts.fragment) in known.anchors

    def loaded_from_elsewhere(self) -> list[str]:
        """List what a browser would load from a network, as ``page: address``."""
        return [
            f"{path.relative_to(self.folder)}: {address}"
            for path, page in self.pages.items()
            for address in page.loaded
            if urlsplit(address).netloc
        ]

    def missing_names(self, parts: Iterable[str]) -> list[str]:
        """List public names of packages that no page of the reference describes."""
        described = {anchor for page in self.pages.values() for anchor in page.anchors}
        return [
            f"{part}.{name}"
            for part in parts
            for name in importlib.import_module(part).__all__
            if f"{part}.{name}" not in described
        ]


def described_parts() -> list[str]:
    """Return the packages that the pages of the reference describe."""
    marker = ".. automodule:: "
    return [
        line.removeprefix(marker)
        for page in sorted((REPOSITORY / "docs" / "reference").glob("*.md"))
        for line in page.read_text(encoding="utf-8").splitlines()
        if line.startswith(marker)
    ]


def main(pages: str) -> int:
    """Build and check; return 0 if there are no problems."""
    folder = Path(pages).resolve()
    build(folder)
    site = Site(folder)
    faults = {
        "leads nowhere": site.broken_links(),
        "would be loaded from a network": site.loaded_from_elsewhere(),
        "is not described": site.missing_names(described_parts()),
    }
    for words, places in faults.items():
        for place in places:
            print(f"{place} {words}", file=sys.stderr)
    if any(faults.values()):
        return 1
    print(f"{len(site.pages)} pages, all links followed: {folder / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:] or ["build/docs"]))
