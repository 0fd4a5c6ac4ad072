"""The documentation builds without a warning or a network, and describes everything public."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import dpexplain
from documentation import Site, build, described_parts

pytestmark = pytest.mark.full

LEAST_FIGURES, LEAST_DASHBOARDS = 12, 3


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
