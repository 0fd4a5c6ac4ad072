"""The documentation builds without a warning or a network, and describes everything public."""

from __future__ import annotations

import importlib
import inspect
import re
from collections import Counter
from pathlib import Path

import pytest

import axe
import dpexplain
from documentation import Site, build, described_parts

pytestmark = pytest.mark.full

LEAST_FIGURES, LEAST_DASHBOARDS = 12, 3
# One page of each kind.
CHECKED_BY_AXE = (
    "README",
    "search",
    "docs/start/quick_start",
    "docs/start/installation",
    "docs/start/glossary",
    "docs/gallery/pictures",
    "docs/gallery/dashboards",
    "docs/howto/interoperability",
    "docs/noise",
    "docs/reference/io",
    "docs/reference/accounting/PrivacyLedger",
    "notebooks/05_clinical_table",
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


def test_every_public_class_and_function_has_a_page_of_its_own_with_an_example(site):
    homes = {anchor: path for path, page in site.pages.items() for anchor in page.anchors}
    lacking = []
    for part in described_parts():
        package = importlib.import_module(part)
        for name in package.__all__:
            value = getattr(package, name)
            if not (inspect.isclass(value) or inspect.isfunction(value)):
                continue
            home = homes[f"{part}.{name}"]
            text = home.read_text(encoding="utf-8")
            example = "&gt;&gt;&gt; " in text or value.__name__ != name  # another name is a link
            if home.stem.split("-")[0] != name or not example:
                lacking.append(f"{part}.{name}: {home}")

    assert lacking == []


def test_every_public_part_has_a_page_of_the_reference():
    parts = {f"dpexplain.{part}" for part in dpexplain._PUBLIC_PARTS}

    assert parts | {"dpexplain_widgets"} <= set(described_parts())


def test_every_notebook_and_every_written_page_is_in_the_table_of_contents(site, repository):
    pages = [*(repository / "docs").rglob("*.md"), *(repository / "notebooks").glob("*.ipynb")]
    reference = repository / "docs" / "reference"
    written = [path for path in pages if reference not in path.parent.parents]
    names = {path.relative_to(repository).with_suffix(".html").as_posix() for path in written}
    contents = site.pages[site.folder / "README.html"].links

    assert names - {link.split("#")[0] for link in contents} == set()


def test_every_page_of_a_name_is_linked_from_its_part_and_leads_back(site):
    reference = site.folder / "docs" / "reference"
    pages = sorted(reference.glob("*/*.html"))
    assert len(pages) > 100
    for path in pages:
        part = path.parent.with_suffix(".html")
        assert f"{part.stem}/{path.name}" in site.pages[part].links, path
        assert any(link.split("#")[0] == f"../{part.name}" for link in site.pages[path].links), path


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


@pytest.mark.parametrize(("scheme", "width"), [("light", 1366), ("dark", 380)])
def test_axe_finds_nothing_on_pages_of_each_kind(site, browser, scheme, width):
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
    )
    page = context.new_page()
    found = {}
    for name in CHECKED_BY_AXE:
        page.goto((site.folder / f"{name}.html").as_uri())
        found[name] = axe.violations(page)
        inner = page.evaluate("document.documentElement.scrollWidth")
        assert inner <= width, f"{name} is wider than the window"
    context.close()

    assert {name: faults for name, faults in found.items() if faults} == {}


def test_search_finds_a_public_name_without_a_network(site, browser):
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(f"{(site.folder / 'search.html').as_uri()}?q=PrivacyLedger")
    page.locator("#search-results a[href*='PrivacyLedger']").first.wait_for()
    context.close()


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
