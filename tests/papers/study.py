"""The definition of a reproduced table or figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

Value = str | int | float | None
Cell = Mapping[str, Value]
Row = dict[str, Value]

MEASURED = ("repeat", "value", "cpu_s")
"""Columns that differ between the repeats of one setting; all others say which setting it is."""


@dataclass(frozen=True)
class Study:
    """A table or figure of a paper, reproduced cell by cell.

    Attributes
    ----------
    name : str
        Name of the file of results, without its ending.
    paper : str
        The paper, as ``Nori 2021``.
    shows : str
        Which table or figure it is, and what it shows.
    protocol : str
        Data, splits, settings, adjacency and delta, in words; what differs from the paper's.
    cells : callable
        Takes whether the run is fast; returns the arguments of each call of `measure`. A cell is
        measured and kept as a whole, so it should take minutes at most, and hold text and
        numbers only.
    measure : callable
        A function of its module that takes a cell as keyword arguments and returns rows: the
        columns that name the setting (always ``data``, ``model``, ``metric``; ``epsilon`` where
        there is one, None without privacy), ``repeat``, ``value`` and ``cpu_s`` of the fit.
    published : sequence of dict
        Published figures: columns that name the setting, as many as needed to find it, with
        ``published`` and, where printed, ``published_sd``.
    causes : sequence of dict
        Why a setting differs from what was published: columns that name it, and ``cause``.
    needs : tuple of str
        Packages without which the study is left out.
    table : callable or None
        Takes the study and the rows of all its cells; returns the table of its file. None for one
        row per setting with mean and deviation, see `results.tidy`.
    missing : callable
        Says in words what else is missing, without which the study is left out; empty for nothing.
    """

    name: str
    paper: str
    shows: str
    protocol: str
    cells: Callable[[bool], Sequence[Cell]]
    measure: Callable[..., list[Row]]
    published: Sequence[Row] = ()
    causes: Sequence[Row] = ()
    needs: tuple[str, ...] = ()
    table: Callable[[Study, Sequence[Row]], pd.DataFrame] | None = None
    missing: Callable[[], str] = str
