"""A page for each public name, and the list of them on the page of their package.

The pages are written to `docs/reference/names` before Sphinx looks for its sources, from what each
package names in ``__all__``, so a new name needs no entry. Git ignores them.
"""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

REFERENCE = Path(__file__).parent / "reference"
NAMES = REFERENCE / "names"
DIRECTIVES = {
    "exception": lambda value: inspect.isclass(value) and issubclass(value, BaseException),
    "class": inspect.isclass,
    "function": inspect.isroutine,
}


def kind_of(value: object) -> str | None:
    """Name the directive that describes an object; None for constants and types."""
    return next((kind for kind, holds in DIRECTIVES.items() if holds(value)), None)


def described(part: str) -> dict[str, Any]:
    """Map the classes and functions that a package exports to themselves, in order."""
    package = importlib.import_module(part)
    found = {name: getattr(package, name) for name in package.__all__}
    return {name: value for name, value in found.items() if kind_of(value)}


def page(part: str, name: str, value: object, back: str) -> str:
    """Write the page of one object."""
    options = "\n   :members:" if kind_of(value) == "class" else ""
    return (
        f"{name}\n{'=' * len(name)}\n\nIn :doc:`{part} <../{back}>`.\n\n"
        f".. currentmodule:: {part}\n\n.. auto{kind_of(value)}:: {name}{options}\n"
    )


def write_pages() -> None:
    """Write the pages of all packages that the reference lists; remove those of lost names."""
    NAMES.mkdir(exist_ok=True)
    wanted = {}
    for overview in REFERENCE.glob("*.md"):
        for part in re.findall(r"^\.\. public:: (\S+)$", overview.read_text("utf-8"), re.MULTILINE):
            for name, value in described(part).items():
                wanted[NAMES / f"{part}.{name}.rst"] = page(part, name, value, overview.stem)
    for lost in set(NAMES.glob("*.rst")) - set(wanted):
        lost.unlink()
    for path, text in wanted.items():
        if not path.is_file() or path.read_text("utf-8") != text:  # unchanged pages stay built
            path.write_text(text, encoding="utf-8")


class Public(SphinxDirective):
    """Describe a package, and list its classes and functions with the pages that describe them."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table, and the pages for the table of contents."""
        (part,) = self.arguments
        lines = [f".. automodule:: {part}", "", ".. list-table::", "   :widths: 35 65", ""]
        for name, value in described(part).items():
            summary = inspect.cleandoc(value.__doc__ or "").split("\n\n")[0].replace("\n", " ")
            lines += [f"   * - :py:obj:`{name} <{part}.{name}>`", f"     - {summary}"]
        lines += ["", ".. toctree::", "   :hidden:", ""]
        lines += [f"   {name} <names/{part}.{name}>" for name in described(part)]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Any) -> dict[str, Any]:
    """Write the pages, and register the directive."""
    write_pages()
    app.add_directive("public", Public)
    return {"parallel_read_safe": True}
