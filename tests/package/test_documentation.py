"""The documentation builds without a warning or a network, and describes everything public."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpexplain
from documentation import Site, build, described_parts

pytestmark = pytest.mark.full


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
