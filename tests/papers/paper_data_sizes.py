"""Sizes of the data sets as they are read here, next to those that the papers print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from file_data import is_here
from printed_sizes import CAUSES, HERE, NAMES, PRINTED
from sources import LI, NOCK, NORI
from study import Cell, Row, Study
from trees_measured import has_classes, positive, table


def measure(data: str) -> list[Row]:
    """Count rows, columns and, of two classes, the share of positives."""
    loaded = table(data)
    values = {"rows": float(len(loaded.X)), "columns": float(loaded.X.shape[1])}
    if has_classes(loaded):
        values["share of positives"] = float(positive(loaded).mean())
    setting = {"data": data, "model": "as read here", "epsilon": None, "repeat": 0, "cpu_s": 0.0}
    return [{**setting, "metric": metric, "value": value} for metric, value in values.items()]


def cells(names: Sequence[str], fast: bool) -> list[Cell]:
    """Return a cell per data set that is here."""
    return [{"data": name} for name in names if is_here(name)][: 2 if fast else None]


def _published(printed: Mapping[str, Mapping[str, float]]) -> list[Row]:
    return [
        {"data": data, "metric": metric, "published": value}
        for data, sizes in printed.items()
        for metric, value in sizes.items()
    ]


_COUNTED = {
    NORI: ("rows, columns and share of positives", ", and a share if it rounds to the printed one"),
    LI: ("rows and columns", ""),
    NOCK: ("rows and columns", ""),
}
STUDIES = tuple(
    Study(
        name=NAMES[paper],
        paper=paper,
        shows=f"{place}: {_COUNTED[paper][0]} of the data sets",
        protocol="Counted in the data as the other studies read them. A size agrees if it equals "
        f"the printed one{_COUNTED[paper][1]}.",
        cells=partial(cells, HERE[paper]),
        measure=measure,
        published=_published(PRINTED[paper]),
        causes=CAUSES[paper],
    )
    for paper, place in ((NORI, "table 1"), (LI, "table 1"), (NOCK, "table 2"))
)
