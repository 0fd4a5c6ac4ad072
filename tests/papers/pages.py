"""The page of each source in ``docs/papers``: its claims and studies, from the tables alone."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path

import pandas as pd

from claims import VERDICTS
from sources import SOURCES, Source

_HEAD = """# {title}, measured here

{authors}. This page is written by `make papers` from [the claims](claims.csv) and [the
studies](studies.csv). Each verdict follows from the files that are named;
[the notebook of the papers](../../notebooks/07_papers.ipynb) draws them next to the published
figures. [The first page](index.md) says how to run the studies and what is not measured.

## Claims

{counts}.

| place | claim | verdict | evidence | how the setting differs |
| :-- | :-- | :-- | :-- | :-- |
{claims}

## Studies{studies}"""


def write_pages(folder: Path) -> None:
    """Write the page of every source, from the tables of the same folder."""
    for source in SOURCES:
        path = folder / f"{source.page}.md"
        path.write_text(page(source, folder), encoding="utf-8")


def page(source: Source, folder: Path) -> str:
    """Return the page of a source as Markdown.

    Parameters
    ----------
    source : Source
    folder : Path
        Where ``claims.csv``, ``studies.csv`` and the tables of the studies are.
    """
    claims = _of(source, folder / "claims.csv")
    order = {place: n for n, place in enumerate(source.places)}
    claims = claims.sort_values("place", key=lambda places: places.map(order), kind="stable")
    studies = _of(source, folder / "studies.csv")
    counts = claims["verdict"].value_counts()
    return _HEAD.format(
        title=source.title,
        authors=source.authors,
        counts=", ".join(f"{counts.get(v, 0)} {v}" for v in VERDICTS).capitalize(),
        claims="\n".join(_claim_line(row) for row in claims.to_dict("records")),
        studies="".join(_study_text(row, folder) for row in studies.to_dict("records")) + "\n",
    )


def _of(source: Source, path: Path) -> pd.DataFrame:
    table = pd.read_csv(path, keep_default_na=False)
    return table[table["paper"] == source.key]


def _claim_line(row: Mapping[Hashable, str]) -> str:
    files = ", ".join(f"[{name}]({name})" for name in row["files"].split())
    evidence = f"{row['evidence']} ({files})" if files else row["evidence"]
    cells = (row["place"], row["claim"], row["verdict"], evidence, row["differs"])
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _study_text(row: Mapping[Hashable, str], folder: Path) -> str:
    command = f"make papers PAPERS_ARGS='--only {row['name']}'"
    path = folder / f"{row['name']}.csv"
    if not path.is_file():
        found = "Not measured yet."
    else:
        found = f"[{path.name}]({path.name}){_seconds(pd.read_csv(path))}."
    return (
        f"\n\n### {row['name']}\n\n{row['shows'][:1].upper()}{row['shows'][1:]}. {found} Run "
        f"again: `{command}`.\n\n"
        f"{row['protocol']}"
    )


def _seconds(table: pd.DataFrame) -> str:
    """CPU time of a fit, where the table keeps it."""
    if "cpu_s" not in table or not (table["cpu_s"] > 0).any():
        return ""
    seconds = table.loc[table["cpu_s"] > 0, "cpu_s"]
    return f"; a fit took {seconds.min():.2g} to {seconds.max():.2g} CPU seconds"
