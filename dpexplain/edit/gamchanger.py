"""Import edits from GAM Changer files.

For every edit, GAM Changer stores all the points of the edited curve. This module converts these
points to values for the explanation's bins. The note on each imported edit names the tool used and
the edited region.

References
----------
.. [1] Wang et al., "Interpretability, Then What? Editing Machine Learning Models to Reflect Human
   Knowledge and Values", KDD 2022, arXiv:2206.15465.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpexplain._utils.json import MAX_BYTES, parse
from dpexplain.edit.levels import Set
from dpexplain.edit.log import EditLog
from dpexplain.explain import GlobalExplanation, ShapeFunction
from dpexplain.explain._text import shorten

_ROUNDED = 1e-4
"""GAM Changer writes four decimals."""

_MOST_POINTS = 100_000


@dataclasses.dataclass(frozen=True)
class ImportedEdits:
    """Edits imported from a GAM Changer history.

    Parameters
    ----------
    log : EditLog
        A log with one entry for each edit that could be imported.
    problems : tuple of str
        Descriptions of the edits that could not be imported, with the reasons.

    Examples
    --------
    >>> import json
    >>> from dpexplain.edit import from_gamchanger
    >>> from dpexplain.explain import GlobalExplanation, Guarantee, ShapeFunction
    >>> guarantee = Guarantee(1.0, 1e-6, "add_remove", True)
    >>> age = ShapeFunction(
    ...     "age", "numeric", contribution=[-0.5, 0.1, 0.4], count=[210.3, 305.8, 90.1],
    ...     guarantee=guarantee, bin_edges=[17, 30, 60, 90],
    ... )
    >>> explanation = GlobalExplanation((age,), 0.0, "identity", guarantee=guarantee)
    >>> points = {"0": {"x": 17, "y": -0.4}, "1": {"x": 30, "y": 0.1}, "2": {"x": 60, "y": 0.3}}
    >>> edit = {"featureName": "age", "type": "set", "state": {"pointData": points}}
    >>> imported = from_gamchanger(json.dumps({"historyList": [edit]}), explanation)
    >>> len(imported.log.entries), imported.problems
    (1, ())
    """

    log: EditLog
    problems: tuple[str, ...]


def from_gamchanger(
    text: str, explanation: GlobalExplanation, *, max_bytes: int = MAX_BYTES
) -> ImportedEdits:
    """Import an edit history exported by GAM Changer (a ``.gamchanger`` file).

    Parameters
    ----------
    text : str
        Contents of the file, which must be strict JSON.
    explanation : GlobalExplanation
        Explanation of the model to edit; terms are matched by name.
    max_bytes : int, default=64 MiB
        Maximum size of `text`; longer input is rejected before parsing.

    Returns
    -------
    ImportedEdits
        A log of the imported edits, and descriptions of the edits that could not be imported. Each
        imported edit sets a whole curve to its values after the edit in GAM Changer, regardless of
        its previous values.

    Raises
    ------
    ValueError
        If the text is not a GAM Changer history.

    Examples
    --------
    >>> import json
    >>> from dpexplain.edit import from_gamchanger
    >>> from dpexplain.explain import GlobalExplanation, Guarantee, ShapeFunction
    >>> guarantee = Guarantee(1.0, 1e-6, "add_remove", True)
    >>> age = ShapeFunction(
    ...     "age", "numeric", contribution=[-0.5, 0.1, 0.4], count=[210.3, 305.8, 90.1],
    ...     guarantee=guarantee, bin_edges=[17, 30, 60, 90],
    ... )
    >>> explanation = GlobalExplanation((age,), 0.0, "identity", guarantee=guarantee)
    >>> points = {"0": {"x": 17, "y": -0.4}, "1": {"x": 30, "y": 0.1}, "2": {"x": 60, "y": 0.3}}
    >>> edit = {"featureName": "age", "type": "set", "state": {"pointData": points}}
    >>> imported = from_gamchanger(json.dumps({"historyList": [edit]}), explanation)
    >>> imported.log.apply(explanation)["age"].contribution
    array([-0.4,  0.1,  0.3])
    """
    document = parse(text, max_bytes)
    history = document.get("historyList") if isinstance(document, dict) else None
    if not isinstance(history, list):
        raise ValueError(
            "not a history of GAM Changer: it has no list 'historyList'. Pass the .gamchanger "
            "file that its Save button writes."
        )
    labels = document.get("modelData")
    encoder = labels.get("labelEncoder") if isinstance(labels, dict) else None
    log, problems = EditLog.of(explanation), []
    for place, entry in enumerate(history):
        if isinstance(entry, dict) and entry.get("type") == "original":
            continue
        try:
            operation, note = _operation(entry, explanation, encoder)
        except ValueError as error:
            problems.append(f"edit {place}: {error}")
            continue
        log = log.edit(operation, note=note)
    return ImportedEdits(log, tuple(problems))


def _operation(entry: Any, explanation: GlobalExplanation, encoder: Any) -> tuple[Set, str]:
    if not isinstance(entry, dict) or not isinstance(entry.get("featureName"), str):
        raise ValueError("it names no feature.")
    name = entry["featureName"]
    if name not in explanation:
        if " x " in name:
            raise ValueError(f"{shorten(name)!r} is a pair of features, and curves have one.")
        raise ValueError(f"no term {shorten(name)!r} here.")
    points = _points(entry)
    term = explanation[name]
    values = _numeric(term, points) if term.kind == "numeric" else _named(term, points, encoder)
    kind, words = (entry.get(key) for key in ("type", "description"))
    named = [part for part in (kind, words) if isinstance(part, str) and part]
    note = shorten(f"GAM Changer: {', '.join(named)}", 1_000) if named else "GAM Changer"
    return Set(name, bins=range(term.n_value_bins), value=values), note  # type: ignore[arg-type]


def _points(entry: Mapping[str, Any]) -> list[tuple[Any, float]]:
    state = entry.get("state")
    data = state.get("pointData") if isinstance(state, dict) else None
    if not isinstance(data, dict) or not 0 < len(data) <= _MOST_POINTS:
        raise ValueError("its state has no points (pointData).")
    points = []
    for point in data.values():
        if not isinstance(point, dict) or not _is_number(point.get("y")) or "x" not in point:
            raise ValueError("a point of its state has no x and y.")
        points.append((point["x"], float(point["y"])))
    return points


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _numeric(term: ShapeFunction, points: list[tuple[Any, float]]) -> tuple[float, ...]:
    """Return the value of each bin; the edited curve must be constant in every bin."""
    if not all(_is_number(x) for x, _ in points):
        raise ValueError(f"{shorten(term.name)!r} is numeric here but categorical in the file.")
    points = sorted(points)
    starts = np.array([x for x, _ in points], dtype=np.float64)
    heights = np.array([y for _, y in points])
    assert term.bin_edges is not None
    slack = _ROUNDED * max(1.0, float(np.abs(term.bin_edges).max()))
    left, right = term.bin_edges[:-1], term.bin_edges[1:]
    first = np.clip(np.searchsorted(starts, left + slack, side="right") - 1, 0, None)
    last = np.clip(np.searchsorted(starts, right - slack, side="left") - 1, 0, None)
    cut = [i for i in range(len(left)) if np.ptp(heights[first[i] : last[i] + 1]) > 0]
    if cut:
        raise ValueError(
            f"{len(cut)} of the {len(left)} bins of {shorten(term.name)!r} span several steps of "
            "the edited curve; the models have different bins."
        )
    return tuple(heights[first].tolist())


def _named(term: ShapeFunction, points: list[tuple[Any, float]], encoder: Any) -> tuple[float, ...]:
    """Return the value of each bin, looked up by category name.

    The file may contain numbers instead of names; `encoder` then maps the numbers to names.
    """
    codes = encoder.get(term.name) if isinstance(encoder, dict) else None
    names = codes if isinstance(codes, dict) else {}
    found = {str(names.get(_code(x), x)): y for x, y in points}
    missing = [name for name in term.categories or () if name not in found]
    if missing:
        raise ValueError(
            f"the edited {shorten(term.name)!r} has no category {shorten(missing[0])!r}."
        )
    return tuple(found[name] for name in term.categories or ())


def _code(x: Any) -> str:
    return str(int(x)) if _is_number(x) and float(x).is_integer() else str(x)
