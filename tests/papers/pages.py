"""The page of each source in ``docs/papers``, made from the tables alone."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from claims import VERDICTS
from pictures import PICTURES
from printed_rows import short
from reduced import reduced
from results import standard_error, varied
from sources import SOURCES, Source

_HEAD = """# {title}, measured here

{authors}. This page is written by `make papers` from [the claims](claims.csv) and [the
studies](studies.csv): pictures, tables and causes, claims, and how each study was measured. A
computed verdict follows from the files that it names; [a notebook](../../notebooks/07_papers.ipynb)
draws more of them. [The first page](index.md) explains how to run the studies and what is not
measured.
{pictures}
{tables}
## Claims

{counts}

| place | claim | verdict | evidence | how the setting differs |
| :-- | :-- | :-- | :-- | :-- |
{claims}
{rows}
## Studies{studies}"""

_ROWS = """
## Rows of the printed tables

A printed row holds if all of its numbers agree, and holds in part if at least half of them do,
unless the last column gives another rule.
{counts}.

| place | row | verdict | evidence | how the setting differs |
| :-- | :-- | :-- | :-- | :-- |
{claims}
"""


_OWN = ("our question", "our reading")
"""How the last column of a claim begins that the source does not make."""
_PRINTED_IN = {"ebm_without_privacy": " in InterpretML's README"}
"""Where the published figures of a study are printed, if not in the source of its page."""


def write_pages(folder: Path) -> None:
    """Write the page of every source from the tables in the same folder."""
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
    said, rows = claims[claims["row"] == ""], claims[claims["row"] != ""]
    told: set[str] = set()
    return _HEAD.format(
        title=source.title,
        authors=source.authors,
        pictures=_picture_text(source, folder, told),
        tables=_beside_text(studies, folder, told),
        counts=_counts_apart(said),
        claims=_claim_lines(said),
        rows=_ROWS.format(counts=_counts(rows), claims=_claim_lines(rows)) if len(rows) else "",
        studies="".join(_study_text(row, folder, told) for row in studies.to_dict("records"))
        + "\n",
    )


def _of(source: Source, path: Path) -> pd.DataFrame:
    table = pd.read_csv(path, keep_default_na=False)
    return table[table["paper"] == source.key]


# --- pictures, tables and causes -------------------------------------------------------------


def _picture_text(source: Source, folder: Path, told: set[str]) -> str:
    """Return the pictures whose tables exist, each with its caption."""
    parts = []
    for picture in PICTURES.get(source.page, ()):
        if all((folder / f"{name}.csv").is_file() for name in picture.tables):
            files = ", ".join(f"[{name}.csv]({name}.csv)" for name in picture.tables)
            alt = picture.caption.split(":")[0]
            link = f"![{alt}](figures/{picture.name}.svg)"
            less = _less(picture.less or _reduced(picture.tables, folder, told))
            parts.append(f"\n{link}\n\n*{picture.caption}* ({files}).\n{less}\n")
    return "\n## Pictures\n" + "".join(parts) if parts else ""


def _reduced(names: Sequence[str], folder: Path, told: set[str]) -> str:
    """Return what studies measured on less than the source, or differently, once on a page."""
    again = [name for name in names if name in told]
    lines = [f"as above for {' and '.join(again)}"] if again else []
    for name in names:
        if name not in told:
            line = reduced(name, pd.read_csv(folder / f"{name}.csv"))
            lines.append(f"{name}: {line}" if len(names) > 1 else line)
    told.update(names)
    return ". ".join(lines)


def _less(text: str) -> str:
    return f"What differs: {text}."


def _beside_text(studies: pd.DataFrame, folder: Path, told: set[str]) -> str:
    """Return every printed number next to ours, then the causes of the differences."""
    parts, causes = [], []
    for name in studies["name"]:
        path = folder / f"{name}.csv"
        table = pd.read_csv(path) if path.is_file() else pd.DataFrame()
        if "published" not in table or table["published"].isna().all():
            continue
        rows = _named(table[table["published"].notna()])
        parts.append(
            f"\n### {name}: here / published{_PRINTED_IN.get(name, '')}\n\n"
            f"{_less(_reduced((name,), folder, told))}\n\n{_grid(rows)}\n"
        )
        causes += _cause_lines(rows)
    if not parts:
        return ""
    head = (
        "\n## Tables\n\nA cell shows our mean ± its standard error over repeats (domains, for "
        "shares of domains) / the published mean. A single repeat has no standard error. Bold "
        "cells differ by more than two published standard deviations (two of ours if none is "
        "printed; for shares of domains, two standard errors) or by a factor of two; bold sizes of "
        "data differ at all. The CSV files have five significant digits, and deviations.\n"
    )
    found = "\n".join(causes) or "No difference needs one."
    return f"{head}{''.join(parts)}\n## Causes\n\n{found}\n"


def _named(rows: pd.DataFrame) -> pd.DataFrame:
    """Add labels for the line and column of each row."""
    epsilon = rows["epsilon"] if "epsilon" in rows else pd.Series(float("nan"), rows.index)
    line = rows["data"] + " | " + rows["model"] + varied(rows)
    return rows.assign(line=line, at=epsilon.map(lambda e: "no ε" if pd.isna(e) else f"ε {e:g}"))


def _grid(rows: pd.DataFrame) -> str:
    """Return a Markdown table: a row per data set and model, a column per epsilon."""
    columns = list(dict.fromkeys(rows["at"]))
    columns.sort(key=lambda c: float("inf") if c == "no ε" else float(c[2:]))
    lines = [f"| data | model | {' | '.join(columns)} | repeats |"]
    lines.append("| :-- | :-- |" + " --: |" * (len(columns) + 1))
    for line, part in rows.groupby("line", sort=False):
        cells = {row["at"]: _cell(row) for row in part.to_dict("records")}
        values = " | ".join(cells.get(column, "") for column in columns)
        lines.append(f"| {line} | {values} | {int(part['n'].min())} |")
    return "\n".join(lines)


def _cell(row: Mapping[Hashable, Any]) -> str:
    error = standard_error(row)
    spread = "" if pd.isna(error) else f" ± {_rough(error)}"
    text = f"{short(row['mean'])}{spread} / {short(row['published'])}"
    return f"**{text}**" if isinstance(row["cause"], str) else text


def _rough(error: float) -> str:
    """Return a standard error with two significant digits."""
    return f"{error:,.0f}" if error >= 10 else f"{error:.2g}"


def _cause_lines(rows: pd.DataFrame) -> list[str]:
    """Return a line per cause, with the settings to which it applies."""
    lines = []
    for cause, part in rows[rows["cause"].notna()].groupby("cause", sort=False):
        groups = part.groupby("line", sort=False)["at"].agg(", ".join)
        where = "; ".join(f"{line.replace(' | ', ', ')} ({at})" for line, at in groups.items())
        lines.append(f"* {where}: {cause}.")
    return lines


def _counts(claims: pd.DataFrame) -> str:
    counts = claims["verdict"].value_counts()
    return ", ".join(f"{v}: {counts.get(v, 0)}" for v in VERDICTS).capitalize()


def _counts_apart(claims: pd.DataFrame) -> str:
    """Count the verdicts on the source's claims, and apart from them those on our questions."""
    own = claims["differs"].str.contains("|".join(_OWN))
    text = f"{_counts(claims[~own])}."
    return (
        f"{text}\n\nOur own questions and readings beside them: {_counts(claims[own]).lower()}."
        if own.any()
        else text
    )


def _claim_lines(claims: pd.DataFrame) -> str:
    return "\n".join(_claim_line(row) for row in claims.to_dict("records"))


def _claim_line(row: Mapping[Hashable, str]) -> str:
    files = ", ".join(f"[{name}]({name})" for name in row["files"].split())
    evidence = f"{row['evidence']} ({files})" if files else row["evidence"]
    cells = (row["place"], row["claim"], row["verdict"], evidence, row["differs"])
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _study_text(row: Mapping[Hashable, str], folder: Path, told: set[str]) -> str:
    """Return how a study was measured, and what it reduces if the page has not said so above."""
    command = f"make papers PAPERS_ARGS='--only {row['name']}'"
    path = folder / f"{row['name']}.csv"
    less = ""
    if not path.is_file():
        found = "Not measured yet."
    else:
        found = f"[{path.name}]({path.name}){_seconds(pd.read_csv(path))}."
        less = "" if row["name"] in told else f" {_less(_reduced((row['name'],), folder, told))}"
    return (
        f"\n\n### {row['name']}\n\n{row['shows'][:1].upper()}{row['shows'][1:]}. {found} Run "
        f"again: `{command}`.\n\n"
        f"{row['protocol']}{less}"
    )


def _seconds(table: pd.DataFrame) -> str:
    """Return the CPU time of a fit, if the table has it."""
    if "cpu_s" not in table or not (table["cpu_s"] > 0).any():
        return ""
    seconds = table.loc[table["cpu_s"] > 0, "cpu_s"]
    least, most = (f"{s:.0f}" if s >= 10 else f"{s:.2g}" for s in (seconds.min(), seconds.max()))
    return f"; median CPU seconds of a fit: {least if least == most else f'{least} to {most}'}"
