"""The documentation builds without a warning, describes everything public, and pleases axe-core.

Its pages are built once for all of these tests, which takes more than a minute.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from inspect import isclass, isroutine
from pathlib import Path
from threading import Thread
from typing import Any

import axe_playwright_python
import pytest

import dpexplain
from documentation import Site, build, described_parts

pytestmark = [pytest.mark.browser, pytest.mark.full]

LEAST_FIGURES, LEAST_DASHBOARDS = 12, 3
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
PAGES = (
    "README",
    "docs/start/quick_start",
    "docs/start/installation",
    "docs/start/faq",
    "docs/start/coming_from",
    "docs/gallery/pictures",
    "docs/gallery/dashboards",
    "docs/howto/interoperability",
    "docs/reference/explain",
    "docs/reference/names/dpexplain.explain.ShapeFunction",
    "docs/attacks",
    "notebooks/01_explore",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("documentation") / "pages"
    build(folder)
    return Site(folder)


def test_every_link_leads_to_a_page_a_file_or_a_heading(site):
    assert site.broken_links() == []


def test_pages_load_nothing_from_a_network(site):
    assert site.loaded_from_elsewhere() == []


def test_every_public_name_is_described(site):
    assert site.missing_names(described_parts()) == []


def test_every_public_class_and_function_has_a_page_with_its_example(site):
    pages = {path.stem: path for path in (site.folder / "docs/reference/names").glob("*.html")}
    objects = {
        f"{part}.{name}": getattr(import_module(part), name)
        for part in described_parts()
        for name in import_module(part).__all__
    }
    public = {name for name, value in objects.items() if isclass(value) or isroutine(value)}

    assert public == set(pages)
    assert [name for name in public if "&gt;&gt;&gt; " not in pages[name].read_text("utf-8")] == []


def test_every_public_part_has_a_page_of_the_reference():
    parts = {f"dpexplain.{part}" for part in dpexplain._PUBLIC_PARTS}

    assert parts | {"dpexplain_widgets"} <= set(described_parts())


def test_every_notebook_and_every_page_is_in_the_table_of_contents(site, repository):
    pages = [*(repository / "docs").rglob("*.md"), *(repository / "notebooks").glob("*.ipynb")]
    names = {path.relative_to(repository).with_suffix(".html").as_posix() for path in pages}
    contents = site.pages[site.folder / "README.html"].links

    assert names - {link.split("#")[0] for link in contents} == set()


def test_figures_of_the_gallery_are_in_words_and_in_light_and_dark(site):
    page = (site.folder / "docs" / "gallery" / "pictures.html").read_text(encoding="utf-8")
    figures = re.findall(r'<a class="(only-light|only-dark|on-paper)" [^>]+><img ([^>]+)>', page)
    kinds = Counter(kind for kind, _ in figures)

    assert kinds["only-light"] == kinds["only-dark"] >= LEAST_FIGURES
    assert [image for _, image in figures if not re.search(r'alt="\w[^"]{20,}"', image)] == []


def test_code_can_be_scrolled_by_keyboard(site):
    page = (site.folder / "docs" / "start" / "quick_start.html").read_text(encoding="utf-8")

    assert '<div class="highlight"><pre tabindex="0">' in page
    assert '<div class="highlight"><pre>' not in page


def test_dashboards_run_in_the_page_and_open_alone(site):
    page = (site.folder / "docs" / "gallery" / "dashboards.html").read_text(encoding="utf-8")
    framed = re.findall(r'<iframe src="(\S+)" title="[^"]{10,}"', page)

    assert len(framed) >= LEAST_DASHBOARDS
    assert re.findall(r'<p class="alone"><a href="(\S+)"', page) == framed
    assert [
        address
        for address in framed
        if not (site.folder / "docs" / "gallery" / address).resolve().is_file()
    ] == []


@pytest.fixture
def planted(tmp_path: Path) -> Site:
    (tmp_path / "there.html").write_text('<h1 id="here">x</h1>', encoding="utf-8")
    (tmp_path / "index.html").write_text(
        '<a href="there.html#here"></a><a href="there.html#gone"></a><a href="gone.html"></a>'
        '<a href="https://example.org/"></a><script src="https://example.org/a.js"></script>',
        encoding="utf-8",
    )
    return Site(tmp_path)


def test_planted_faults_are_found(planted):
    assert sorted(planted.broken_links()) == [
        "index.html: gone.html",
        "index.html: there.html#gone",
    ]
    assert planted.loaded_from_elsewhere() == ["index.html: https://example.org/a.js"]
    assert "dpexplain.io.load" in planted.missing_names(["dpexplain.io"])


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder without a line for each request."""

    def log_message(self, format: str, *arguments: Any) -> None:
        """Write nothing."""


@pytest.fixture(scope="module")
def served(site: Site) -> Iterator[str]:
    """Address of the pages, as a server would give them."""
    handler = partial(Quiet, directory=str(site.folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture
def opened(served: str, browser: Any) -> Iterator[Any]:
    """Open pages of the documentation, and keep the addresses they ask for."""
    contexts = []

    def open_one(name: str, scheme: str) -> Any:
        context = browser.new_context(color_scheme=scheme, bypass_csp=True)
        contexts.append(context)
        page = context.new_page()
        page.asked = []
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(f"{served}/{name}.html", wait_until="load")
        return page

    yield open_one
    for context in contexts:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_on_a_page_that_loads_nothing_from_elsewhere(
    opened, served, pictures, name, scheme
):
    page = opened(name, scheme)
    page.evaluate(AXE)
    found = page.evaluate("(rules) => axe.run({exclude: ['iframe']}, rules)", RULES)
    page.screenshot(path=pictures / f"docs-{name.replace('/', '-')}-{scheme}.png")

    assert found["passes"]
    assert [
        f"{each['id']}: {each['help']} at {[node['target'] for node in each['nodes'][:3]]}"
        for each in found["violations"]
    ] == []
    assert [url for url in page.asked if not url.startswith((served, "data:", "blob:"))] == []


def test_search_finds_a_public_name(opened):
    page = opened("search", "light")
    page.goto(f"{page.url}?q=ShapeFunction")
    page.wait_for_selector("#search-results li a")

    links = page.locator("#search-results li a").evaluate_all("all => all.map(a => a.href)")
    assert any(link.split("#")[0].endswith("explain.ShapeFunction.html") for link in links)
