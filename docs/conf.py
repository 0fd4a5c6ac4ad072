"""How `make docs` builds the pages: README, docs/, notebooks and docstrings, without a network.

The source folder is the repository itself, so every relative link that works where the files lie
works on the pages as well. Pages are found by pattern; a new one in ``docs/`` needs no entry.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPOSITORY / folder) for folder in (".", "widgets", "docs")]

import dpexplain  # noqa: E402

project = "dpexplain"
author = "dpexplain contributors"
project_copyright = author
version = release = dpexplain.__version__

extensions = ["sphinx.ext.autodoc", "numpydoc", "myst_nb", "run_code", "reference_pages"]
root_doc = "README"
include_patterns = ["*.md", "docs/**.md", "notebooks/*.ipynb"]
exclude_patterns = [".*", "build", "dist", "data", "tests", "widgets", "**/.ipynb_checkpoints"]

# Notebooks are shown as they are stored, with pictures of dashboards; nothing is run.
nb_execution_mode = "off"
myst_heading_anchors = 3

default_role = "py:obj"  # names in docstrings lead to their pages
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # numpydoc sections say the types
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["style.css"]
html_title = f"dpexplain {release}"
html_show_sourcelink = False
html_copy_source = False
html_permalinks_icon = "#"

CONTENTS = """

```{toctree}
:hidden:
:caption: Start
docs/start/quick_start
docs/gallery/pictures
docs/gallery/dashboards
docs/start/installation
docs/start/why
docs/start/faq
docs/start/glossary
docs/start/coming_from
```

```{toctree}
:hidden:
:caption: Tutorials
docs/tutorials/index
```

```{toctree}
:hidden:
:glob:
:caption: Concepts
docs/concepts/*
```

```{toctree}
:hidden:
:glob:
:caption: How to
docs/howto/*
```

```{toctree}
:hidden:
:glob:
:caption: Background and evidence
docs/*
docs/papers/index
docs/papers/*
```

```{toctree}
:hidden:
:caption: Reference
docs/reference/index
```

```{toctree}
:hidden:
:caption: Project
CONTRIBUTING
ROADMAP
CODE_OF_CONDUCT
SECURITY
CHANGELOG
```
"""


def add_contents(app: Any, document: str, source: list[str]) -> None:
    """Put the table of contents behind the README, which is read on its own elsewhere."""
    if document == root_doc:
        source[0] += CONTENTS


# What keyboards and screen readers stumble over in the pages of Sphinx and of the theme: code and
# tables that scroll need a stop, captions a level, both sidebars a name, the search a heading, and
# some roles no longer exist. Examples end with an empty line that only doctest needs.
FOR_READERS = {
    '<div class="highlight"><pre>': '<div class="highlight"><pre tabindex="0">',
    '<div class="table-wrapper': '<div tabindex="0" role="group" aria-label="Table" '
    'class="table-wrapper',
    'class="caption" role="heading">': 'class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="All pages">',
    '<aside class="toc-drawer': '<aside aria-label="On this page" class="toc-drawer',
    '<div id="search-results">': '<h1>Search</h1><div class="found" id="search-results">',
    "\n\n</pre>": "\n</pre>",
    ' role="list"': "",
    ' role="doc-biblioentry"': "",
}


def help_readers(page: Path) -> None:
    """Mend a written page for those who use a keyboard or a screen reader."""
    text = page.read_text(encoding="utf-8")
    mended = text
    for found, better in FOR_READERS.items():  # no replacement matches again
        mended = mended.replace(found, better)
    if mended != text:
        page.write_text(mended, encoding="utf-8")


def finish(app: Any, error: Exception | None) -> None:
    """Add pictures that raw HTML names, and a first page under the name that servers look for."""
    if error is not None or app.builder.format != "html":
        return
    pages = Path(app.outdir)
    for picture in (REPOSITORY / "docs").glob("*.png"):
        shutil.copy(picture, pages / "docs" / picture.name)
    for page in set(pages.rglob("*.html")) - set((pages / "made").glob("*")):
        help_readers(page)
    first = '<!doctype html><meta charset="utf-8"><title>dpexplain</title>'
    forward = f'<meta http-equiv="refresh" content="0; url={root_doc}.html">'
    link = f'<a href="{root_doc}.html">dpexplain</a>'
    (pages / "index.html").write_text(f"{first}{forward}{link}\n", encoding="utf-8")


def skip_foreign(
    app: Any, what: str, name: str, member: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out what a class takes from other libraries; it is described there."""
    function = getattr(member, "fget", None) or getattr(member, "__func__", member)
    module = getattr(function, "__module__", None) or "dpexplain"
    return None if module.startswith("dpexplain") else True


def escape_shapes(
    app: Any, what: str, name: str, member: Any, options: Any, lines: list[str]
) -> None:
    """Keep fitted attributes in shapes, as in ``shape (n_features_in_,)``, from being links."""
    for place, line in enumerate(lines):
        before, shape, after = line.partition(" of shape (")
        lines[place] = before + shape + re.sub(r"_(?=[,)])", r"\\_", after) if shape else line


def setup(app: Any) -> None:
    """Register what happens while pages are read and after they are written."""
    app.connect("source-read", add_contents)
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("autodoc-process-docstring", escape_shapes, priority=400)  # before numpydoc
    app.connect("build-finished", finish)
