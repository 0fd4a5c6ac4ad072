"""Storage of measured cells, and the tidy tables made from them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from study import MEASURED, Cell, Row, Study

MOST_DEVIATIONS = 2.0
"""So many standard deviations from what was published are no difference to explain."""

MOST_RATIO = 2.0
"""Nor is such a ratio, either way: a wide spread of our own repeats hides nothing larger."""


PUBLISHED = ("published", "published_sd", "ratio", "in_sd", "cause")
"""Columns of a table that compare it with the paper."""
ALL = "all domains"
_PRINTED = ("published", "published_sd")


class Kept:
    """Folder with a file per measured cell, so that a run can be resumed.

    Parameters
    ----------
    folder : Path
        Made where it is not there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def rows(self, study: Study, cell: Cell) -> list[Row] | None:
        """Return the rows of a cell measured earlier, or None."""
        path = self._path(study, cell)
        return json.loads(path.read_text(encoding="utf-8"))["rows"] if path.is_file() else None

    def keep(self, study: Study, cell: Cell, rows: Sequence[Row]) -> None:
        """Write the rows of a cell, completely or not at all."""
        path = self._path(study, cell)
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_suffix(f".{os.getpid()}")
        text = json.dumps({"cell": dict(cell), "rows": list(rows)})
        scratch.write_text(text, encoding="utf-8")
        scratch.replace(path)

    def _path(self, study: Study, cell: Cell) -> Path:
        text = json.dumps(dict(cell), sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        return self.folder / study.name / f"{digest}.json"


def tidy(study: Study, rows: Sequence[Row]) -> pd.DataFrame:
    """Return a row per setting: mean, deviation over repeats, and published figures.

    Parameters
    ----------
    study : Study
    rows : sequence of dict
        Rows of all its cells.

    Returns
    -------
    DataFrame
        The columns that name the setting, then ``mean``, ``sd``, ``n`` (repeats), ``cpu_s``
        (median), and where the paper printed the number ``published``, ``published_sd``,
        ``ratio`` (ours over theirs), ``in_sd`` (ours minus theirs in standard deviations: the
        published one, or else that of our repeats) and, beyond two of them or a factor of two, the
        ``cause``.
    """
    frame = pd.DataFrame(rows)
    setting = [c for c in frame if c not in MEASURED]
    groups = frame.groupby(setting, sort=False, dropna=False)
    table = groups.agg(
        mean=("value", "mean"), sd=("value", "std"), n=("value", "size"), cpu_s=("cpu_s", "median")
    ).reset_index()
    return beside_published(study, table)


def beside_published(study: Study, table: pd.DataFrame) -> pd.DataFrame:
    """Add the published figures to measured ones, as `tidy` describes them.

    Parameters
    ----------
    study : Study
    table : DataFrame
        Measured settings; columns about published figures are made anew.
    """
    table = table.drop(columns=list(PUBLISHED), errors="ignore")
    if study.published:
        table["published"] = _looked_up(table, study.published, "published")
        table["published_sd"] = _looked_up(table, study.published, "published_sd")
        numbers = ["published", "published_sd"]
        table[numbers] = table[numbers].astype(float)
        table["ratio"] = table["mean"] / table["published"]
        table["in_sd"] = _in_deviations(table)
        causes = pd.Series(_looked_up(table, study.causes, "cause"), table.index, dtype=object)
        near = table["in_sd"].abs() <= MOST_DEVIATIONS
        near &= table["ratio"].between(1.0 / MOST_RATIO, MOST_RATIO)
        near |= table["mean"] == table["published"]  # also where both are zero
        table["cause"] = causes.where(table["published"].notna() & ~near, None)
    return table


def standard_error(row: Mapping[Hashable, Any]) -> float:
    """Return the standard error of a row's mean over its repeats; NaN with one repeat."""
    return float(row["sd"]) / float(row["n"]) ** 0.5 if row["n"] > 1 else float("nan")


_OF_ONE_FIT = {"metric", "feature", "class", "filter", "input", "record", "explanation", "against"}
_OF_ONE_FIT |= {"n_trees", "quantile", "x"}
"""Columns that distinguish numbers of the same fit, such as its stages."""
_BEHIND_A_QUANTILE = ("n_splits", "n_runs")
"""Columns with the number of fits behind a quantile."""


def cpu_minutes(table: pd.DataFrame) -> float:
    """Return the CPU minutes of the fits behind a table: each median times the repeats.

    Numbers of the same fit are told by the same seconds; they count once.
    """
    if "cpu_s" not in table:
        return 0.0
    setting = list(table.columns[: list(table.columns).index("mean")])
    fit = [name for name in setting if name not in _OF_ONE_FIT]
    repeats = table.groupby([*fit, "cpu_s"], dropna=False)["n"].max().fillna(1.0)
    seconds = repeats.index.get_level_values("cpu_s").to_numpy(float)
    fits = repeats.to_numpy(float)
    for name in set(_BEHIND_A_QUANTILE) & set(fit):
        fits = fits * repeats.index.get_level_values(name).to_numpy(float)
    return float(np.nansum(seconds * fits)) / 60


def _in_deviations(table: pd.DataFrame) -> pd.Series:
    """Return ours minus published, in published deviations or else in those of our repeats.

    In a row about all domains, the domains are the repeats; the deviation of their mean is used.
    """
    ours = table["sd"].where(table["data"] != ALL, table["sd"] / table["n"] ** 0.5)
    sd = table["published_sd"].fillna(ours).replace(0.0, float("nan"))
    return (table["mean"] - table["published"]) / sd


def among(written: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a written table, with remeasured ones replaced in their places.

    Rows about all domains are proportions of domains: those of new domains are pooled with the
    written ones. If a domain was in the written table already, its part in them is no longer known,
    so they stay as they were, and a line is printed to say so.
    """
    setting = list(table.columns[: list(table.columns).index("mean")])
    pooled = table[table["data"] == ALL]
    if len(pooled) and ALL in set(written["data"]):
        before = written[written["data"] == ALL]
        cell = [c for c in ("data", "epsilon", "n_cuts") if c in setting]
        cells = [frame[cell].drop_duplicates() for frame in (written, table[table["data"] != ALL])]
        again = cells[0].merge(cells[1])
        if len(again):
            names = ", ".join(sorted(set(again["data"].map(str))))
            print(f"rows of {ALL} stay: run the whole study to count {names} again.")
            pooled = before
        else:
            pooled = _pooled(pd.concat([before, pooled], ignore_index=True), setting)
        table = pd.concat([table[table["data"] != ALL], pooled], ignore_index=True)
    both = pd.concat([written, table], ignore_index=True)
    place = both.groupby(setting, sort=False, dropna=False).ngroup()
    last = ~place.duplicated(keep="last")
    return both[last].loc[place[last].sort_values().index].reset_index(drop=True)


def _pooled(shares: pd.DataFrame, setting: list[str]) -> pd.DataFrame:
    """Pool proportions of domains; the deviation is that of zeros and ones."""
    shares = shares.assign(count=(shares["mean"] * shares["n"]).round())
    groups = shares.groupby(setting, sort=False, dropna=False)
    table = groups.agg(
        count=("count", "sum"), n=("n", "sum"), cpu_s=("cpu_s", "median")
    ).reset_index()
    share = table["count"] / table["n"]
    table["mean"] = share
    table["sd"] = (share * (1.0 - share) * table["n"] / (table["n"] - 1)) ** 0.5
    return table[[*setting, "mean", "sd", "n", "cpu_s"]]


def _looked_up(table: pd.DataFrame, known: Sequence[Row], column: str) -> list[object]:
    """Find, for each row, the first entry of `known` that agrees in all it names, or None."""
    extra = {"published", "published_sd", "cause"}
    entries = [
        ({k: v for k, v in entry.items() if k not in extra}, entry[column])
        for entry in known
        if entry.get(column) is not None
    ]
    records = table.astype(object).where(table.notna(), None).to_dict("records")
    found = []
    for record in records:
        values = (v for key, v in entries if all(record.get(c) == w for c, w in key.items()))
        found.append(next(values, None))
    return found


def varied(rows: pd.DataFrame) -> pd.Series:
    """Describe what distinguishes rows besides data, model and epsilon.

    Parameters
    ----------
    rows : DataFrame
        Rows as `tidy` writes them.
    """
    known = {"data", "model", "epsilon", "mean", "sd", "n", "cpu_s", *PUBLISHED}
    names = [c for c in rows if c not in known and rows[c].nunique(dropna=False) > 1]
    words = pd.Series("", rows.index)
    for name in names:
        values = rows[name].map(lambda v: v if isinstance(v, str) else f"{v:g}")
        named = values if name == "metric" else name.replace("_", " ") + " " + values
        words += (", " + named).where(rows[name].notna(), "")
    return words


def described(studies: Iterable[Study]) -> pd.DataFrame:
    """Return a row per study: its name, paper, what it shows and how it is measured."""
    columns = ("name", "paper", "shows", "protocol")
    rows = [{column: getattr(study, column) for column in columns} for study in studies]
    return pd.DataFrame(rows, columns=list(columns))


def write_csv(table: pd.DataFrame, path: Path) -> None:
    """Write a tidy table with five significant digits; published ones as printed."""
    printed = {name: table[name].map("{:.6g}".format) for name in _PRINTED if name in table}
    table = table.assign(**{name: text.replace("nan", "") for name, text in printed.items()})
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".part")
    table.to_csv(scratch, index=False, float_format="%.5g", lineterminator="\n")
    scratch.replace(path)
