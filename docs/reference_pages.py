"""A page for each public class and function, and a table of them on the page of their package.

Pages of names stay out of the side bar, which stands on every page: hundreds of entries would
hide the parts, and half of the time of a build went into copying them. The table, the link above
each name and the search lead to them.

The pages are written next to the page of the package before Sphinx looks for its sources. They
follow ``__all__`` of the package, so a new name needs no entry. Git ignores them.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections import Counter
from pathlib import Path
from typing import Any

import dpexplain

REFERENCE = Path(__file__).parent / "reference"
PART = re.compile(r"^\.\. automodule:: (\S+)$", re.MULTILINE)
TITLES = {"exception": "Errors and warnings", "class": "Classes", "function": "Functions"}
PAGE = """---
orphan: true
---

# {name}

Part of [`{part}`](../{overview}.md).

```{{code-block}} python
from {origin} import {name}
```

```{{eval-rst}}
.. auto{kind}:: {part}.{name}{options}
```
"""


def kind_of(value: object) -> str | None:
    """Name the directive that describes an object; None for constants and types."""
    if inspect.isclass(value):
        return "exception" if issubclass(value, BaseException) else "class"
    return "function" if inspect.isfunction(value) else None


def described(part: str) -> dict[str, Any]:
    """Map the classes and functions that a package exports to themselves, in order."""
    package = importlib.import_module(part)
    found = {name: getattr(package, name) for name in package.__all__}
    return {name: value for name, value in found.items() if kind_of(value)}


def files(part: str) -> dict[str, str]:
    """Map each name to its file; files of ``Claim`` and ``claim`` differ in more than case."""
    names = importlib.import_module(part).__all__
    count = Counter(name.lower() for name in names)
    alike = {name for name in names if count[name.lower()] > 1}
    return {n: f"{n}-{kind_of(v)}" if n in alike else n for n, v in described(part).items()}


def page(part: str, name: str, value: object, overview: str) -> str:
    """Write the page of one object, which opens with the way back and the shortest import."""
    kind = kind_of(value)
    short = name in dpexplain.__all__ and getattr(dpexplain, name) is value
    return PAGE.format(
        name=name,
        origin="dpexplain" if short else part,
        kind=kind,
        part=part,
        overview=overview,
        options="" if kind == "function" else "\n   :members:\n   :inherited-members:",
    )


def table(part: str, folder: str) -> str:
    """List the objects of a package by kind, with what they are for and their pages."""
    objects, paths = described(part), files(part)
    lines = []
    for kind, title in TITLES.items():
        named = {name: value for name, value in objects.items() if kind_of(value) == kind}
        if not named:
            continue
        lines += ["", f"## {title}", "", "```{list-table}", ":widths: 40 60", ""]
        for name, value in named.items():
            summary = inspect.cleandoc(value.__doc__ or "").split("\n\n")[0].replace("\n", " ")
            lines += [f"* - [`{name}`]({folder}/{paths[name]}.md)"]
            lines += ["  - " + re.sub(r"`+", "`", summary)]
        lines += ["```"]
    return "\n".join([*lines, ""])


def write_pages() -> None:
    """Write the pages of all packages that the reference names; remove those of removed names."""
    wanted = {}
    for overview in REFERENCE.glob("*.md"):
        for part in PART.findall(overview.read_text(encoding="utf-8")):
            objects = described(part)
            for name, path in files(part).items():
                file = REFERENCE / overview.stem / f"{path}.md"
                wanted[file] = page(part, name, objects[name], overview.stem)
    for lost in set(REFERENCE.glob("*/*.md")) - set(wanted):
        lost.unlink()
    for file, text in wanted.items():
        file.parent.mkdir(exist_ok=True)
        if not file.is_file() or file.read_text(encoding="utf-8") != text:  # keeps what was built
            file.write_text(text, encoding="utf-8")


def add_table(app: Any, document: str, source: list[str]) -> None:
    """Put the table of a package's objects after its description."""
    folder, _, stem = document.rpartition("/")
    for part in PART.findall(source[0]) if folder == "docs/reference" else ():
        source[0] += table(part, stem)


def share_side_bar(
    app: Any, document: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Make the side bar once for all names of a package: it has no entry for any of them."""
    folder = REFERENCE.parents[1] / Path(document).parent
    if folder.parent != REFERENCE or "toctree" not in context:
        return
    made, make = vars(app).setdefault("side_bars", {}), context["toctree"]

    def toctree(**options: Any) -> str:
        key = (folder, *sorted(options.items()))
        if key not in made:
            made[key] = make(**options)
        return str(made[key])

    context["toctree"] = toctree


def setup(app: Any) -> dict[str, Any]:
    """Write the pages, and list them where they belong."""
    write_pages()
    app.connect("source-read", add_table)
    app.connect("html-page-context", share_side_bar, priority=400)  # before the theme
    return {"parallel_read_safe": True}
