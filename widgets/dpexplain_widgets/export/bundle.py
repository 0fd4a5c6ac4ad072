"""Bundle the JavaScript modules of a view."""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path

from dpexplain_widgets.export.squeeze import squeezed

STATIC = Path(__file__).parents[1] / "static"

# Later style rules may override earlier ones. Other files follow in alphabetical order.
STYLES = (
    "colours.css",
    "frame.css",
    "controls.css",
    "tabs.css",
    "overview.css",
    "terms.css",
    "shape.css",
    "claim.css",
    "figure.css",
    "edit.css",
    "heat.css",
    "multiples.css",
    "rank.css",
    "local.css",
    "tables.css",
    "planner.css",
    "save.css",
    "filter.css",
    "narrow.css",
    "print.css",
)

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.{1,2}/[\w./]*\w+\.js)";\n', re.MULTILINE)
_ANY_IMPORT = re.compile(r"^\s*import\b.*", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let)\b)", re.MULTILINE)
_EXPORT_DEFAULT = re.compile(r"^export default .*;\n", re.MULTILINE)
_EXPORT_DEFAULT_VALUE = re.compile(r"^export default (.*);$", re.MULTILINE)
_DECLARATION = re.compile(
    r"^(export )?(?:async )?(?:function|class|const|let)\s+(\w+)", re.MULTILINE
)


@functools.cache
def bundle(entry: str, without: tuple[str, ...] = ()) -> str:
    """Join a module and everything it imports into one ES module.

    The modules then share one scope, so their top-level names must differ. Imports must have the
    form ``import { a, b } from "../folder/module.js";``. File names must be unique.

    Parameters
    ----------
    entry : str
        File name in any folder of modules, such as ``"explorer.js"``. Its default export, if
        any, is the default export of the result.
    without : tuple of str, default=()
        Names to omit, together with all modules that are needed only for these names. Every line
        that contains such a name is removed.

    Returns
    -------
    str
        JavaScript without imports.

    Raises
    ------
    ValueError
        If a module cannot be bundled: unknown file or name, circular import, or a top-level name
        used twice.
    """
    sources = _sources_in_order(entry, without)
    order = list(sources)
    _check_names(sources)
    parts = [_stripped(name, sources[name], is_entry=name == entry) for name in order]
    return "\n".join(parts)


def page_script(view_script: str) -> str:
    """Turn the JavaScript module of a view into a script for a page without a kernel.

    Parameters
    ----------
    view_script : str
        As returned by :func:`bundle`, with a default export.

    Returns
    -------
    str
        A short script, without exports or comments, that shows one view for each state.
    """
    view, count = _EXPORT_DEFAULT_VALUE.subn(r"const pageWidget = \1;", view_script)
    if count != 1:
        raise ValueError(f"a view has one default export, got {count}.")
    script = f"{view}\n{bundle('page.js')}\nshowStates(pageWidget);\n"
    return squeezed(script, [declared for _, declared in _DECLARATION.findall(script)])


@functools.cache
def stylesheet(without: tuple[str, ...] = ()) -> str:
    """Return the style rules of all views; each rule applies only inside a view.

    Parameters
    ----------
    without : tuple of str, default=()
        Names of style files to omit.

    Returns
    -------
    str
    """
    more = sorted(name for name in _places(STATIC) if name.endswith(".css") and name not in STYLES)
    kept = (name for name in (*STYLES, *more) if name not in without)
    return "\n".join(_places(STATIC)[name].read_text(encoding="utf-8") for name in kept)


@functools.cache
def _places(folder: Path) -> dict[str, Path]:
    """Map the names of all files in a folder to their paths."""
    return {path.name: path for path in folder.rglob("*.*")}


def _source(name: str) -> str:
    places = _places(STATIC)
    if not name.endswith(".js") or name not in places:
        known = ", ".join(sorted(file for file in places if file.endswith(".js")))
        raise ValueError(f"no module {name!r}; the modules are {known}.")
    return places[name].read_text(encoding="utf-8")


def _named(name: str, path: str) -> str:
    """Return the file name of an imported module, after checking its relative path."""
    needed = path.rpartition("/")[2]
    place = Path(os.path.normpath(_places(STATIC)[name].parent / path))
    if _places(STATIC).get(needed, place) != place:
        raise ValueError(f"{name} imports {path!r}, which is not a module.")
    return needed


def _sources_in_order(entry: str, without: tuple[str, ...]) -> dict[str, str]:
    """Return the source of each module, in dependency order."""
    order: dict[str, str] = {}
    open_modules: list[str] = []

    def visit(name: str) -> None:
        if name in order:
            return
        if name in open_modules:
            raise ValueError(f"circular import: {' -> '.join([*open_modules, name])}.")
        open_modules.append(name)
        source = _without_names(_source(name), without)
        for _, path in _IMPORT.findall(source):
            visit(_named(name, path))
        open_modules.pop()
        order[name] = source

    visit(entry)
    return order


def _without_names(source: str, names: tuple[str, ...]) -> str:
    """Drop the lines of a module that contain any of the given names."""
    for name in names:
        source = re.sub(rf"^.*\b{name}\b.*\n", "", source, flags=re.MULTILINE)
    return source


def _check_names(sources: dict[str, str]) -> None:
    owner: dict[str, str] = {}
    exported: dict[str, set[str]] = {}
    for name, source in sources.items():
        exported[name] = set()
        for is_export, declared in _DECLARATION.findall(source):
            if declared in owner:
                raise ValueError(f"{owner[declared]} and {name} both declare {declared!r}.")
            owner[declared] = name
            if is_export:
                exported[name].add(declared)
    for name, source in sources.items():
        for names, path in _IMPORT.findall(source):
            needed = _named(name, path)
            wanted = {part.strip() for part in names.split(",") if part.strip()}
            if missing := wanted - exported[needed]:
                raise ValueError(f"{name} imports {sorted(missing)} that {needed} does not export.")


def _stripped(name: str, source: str, *, is_entry: bool) -> str:
    body = _IMPORT.sub("", source)
    if left := _ANY_IMPORT.search(body):
        raise ValueError(f"{name} has an unsupported import: {left.group().strip()!r}.")
    if not is_entry:
        body = _EXPORT_DEFAULT.sub("", body)
    return f"// {name}\n{_EXPORT.sub('', body)}"
