"""Directives that run the code of a page while it is built, and show the result below the code.

``run`` executes its lines. ``picture`` does so twice, in light and in dark colors, and shows the
figure for the theme of the reader. ``dashboard`` shows the exported page that its last line writes.
The blocks of a page share their variables, so a page reads like a notebook, and no picture can
differ from its code. An error in the code stops the build.
"""

from __future__ import annotations

import ast
import contextlib
import html
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import matplotlib
from docutils import nodes
from docutils.parsers.rst import directives
from matplotlib import pyplot as plt
from sphinx.util.docutils import SphinxDirective

FOLDER = "made"  # below the pages
LOOKS = {"light": "default", "dark": "dark_background"}
CLEAR = {"figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none"}
PIXELS_PER_INCH, DETAIL = 100, 1.6  # as wide on the page, and sharp on dense screens


class Run(SphinxDirective):
    """Show code, and execute it once."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the code, and what comes of it."""
        self.env.note_reread()  # code that the page imports may have changed since the last build
        code = "\n".join(self.content)
        shown = nodes.literal_block(code, code, language="python")
        return [shown, *self._results(ast.parse(code))]

    def _results(self, code: ast.Module) -> Sequence[nodes.Node]:
        self._execute(code)
        return []

    def _execute(self, code: ast.Module) -> Any:
        """Run statements with the variables of this page; return the value of the last."""
        names = self.env.temp_data.setdefault("run_code", {})
        file = f"<{self.env.docname}, line {self.lineno}>"
        *statements, last = code.body
        exec(compile(ast.Module(statements, []), file, "exec"), names)
        if isinstance(last, ast.Expr):
            return eval(compile(ast.Expression(last.value), file, "eval"), names)
        return exec(compile(ast.Module([last], []), file, "exec"), names)

    def _new_file(self, ending: str) -> tuple[Path, str]:
        """Return where a new file of this page is kept, and its address as seen from the page."""
        folder = Path(self.env.app.doctreedir) / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        page = self.env.docname
        name = f"{page.replace('/', '-')}-{self.env.new_serialno('run_code')}{ending}"
        return folder / name, "../" * page.count("/") + f"{FOLDER}/{name}"


class Picture(Run):
    """Show code and the figure that it draws, in light and in dark colors.

    ``:alt:`` says what the figure shows. ``:light:`` is for figures of libraries that know light
    colors only.
    """

    option_spec: ClassVar = {"alt": directives.unchanged_required, "light": directives.flag}

    def _results(self, code: ast.Module) -> Sequence[nodes.Node]:
        if "light" in self.options:
            return [self._draw(code, "light", "on-paper", {})]
        return [self._draw(code, look, f"only-{look}", CLEAR) for look in LOOKS]

    def _draw(self, code: ast.Module, look: str, names: str, colors: dict[str, str]) -> nodes.Node:
        path, address = self._new_file(f"-{look}.png")
        with plt.style.context([LOOKS[look], colors]):
            self._execute(code)
            figure = plt.gcf()
            width = round(figure.get_figwidth() * PIXELS_PER_INCH)
            figure.savefig(path, dpi=PIXELS_PER_INCH * DETAIL, bbox_inches="tight")
            plt.close("all")
        alt = html.escape(self.options["alt"])
        picture = f'<img src="{address}" alt="{alt}" loading="lazy" style="width:{width}px">'
        return nodes.raw("", f'<a class="{names}" href="{address}">{picture}</a>', format="html")


class Dashboard(Run):
    """Show code and the exported page whose path is the value of its last line."""

    option_spec: ClassVar = {
        "title": directives.unchanged_required,
        "height": directives.positive_int,
    }

    def _results(self, code: ast.Module) -> Sequence[nodes.Node]:
        path, address = self._new_file(".html")
        with contextlib.chdir(path.parent):
            os.replace(self._execute(code), path)
        title = html.escape(self.options["title"])
        frame = (
            f'<iframe src="{address}" title="{title}" loading="lazy" '
            f'style="height:{self.options["height"]}px"></iframe>'
            f'<p class="alone"><a href="{address}">Open this dashboard alone</a></p>'
        )
        return [nodes.raw("", frame, format="html")]


def copy_files(app: Any, error: Exception | None) -> None:
    """Put what the code made beside the pages."""
    made = Path(app.doctreedir) / FOLDER
    if error is None and made.is_dir():
        shutil.copytree(made, Path(app.outdir) / FOLDER, dirs_exist_ok=True)


def setup(app: Any) -> dict[str, Any]:
    """Register the directives."""
    matplotlib.use("Agg")
    for name, directive in (("run", Run), ("picture", Picture), ("dashboard", Dashboard)):
        app.add_directive(name, directive)
    app.connect("build-finished", copy_files)
    return {"parallel_read_safe": False}
