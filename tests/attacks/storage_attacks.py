"""Attacks on tables in files and on clusters: what paths, types and sizes reveal."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from attack_kit import Attack, Finding, estimator, first_find, table
from dpexplain import Categorical, Classes, Schema
from dpexplain.models.boosting.records import dask as cluster
from dpexplain.tables import chunked_arrow, chunked_dask, chunked_stream
from dpexplain.tables.chunked_arrow import ArrowTable
from dpexplain.tables.encoding import encode_categorical
from dpexplain.tables.opening import chunked_table
from leak_attacks import words_of

_READER = "DPExplainableBoostingClassifier"
"""Boosting reads tables in parts; what is attacked here does not depend on the target."""

# --- a value in a path --------------------------------------------------------------------------

# What the folder of one record is named by, and that of all others.
_FOLDERS = {
    "no value": ("__HIVE_DEFAULT_PARTITION__", "nurse"),
    "no text": ("%FF", "nurse"),
    "a text beside numbers": ("nurse", "1"),
    "a long number": ("99999999999999999999999", "1"),
}


def value_in_a_path(name: str) -> Finding:
    """Name folders by a column, with and without one record: is its value revealed?"""

    def attempts() -> Iterator[Finding]:
        silence = words_of(lambda: _fit_on_folders(["nurse"], stored=False))
        for what, (odd, usual) in _FOLDERS.items():
            for stored in (False, True):  # the files may hold the column too
                for values in ([usual], [odd, usual], [odd]):
                    heard = words_of(lambda v=values, s=stored: _fit_on_folders(v, s))
                    yield Finding(heard != silence, f"{what}: {sorted(set(heard) - set(silence))}")

    return first_find(attempts())


def _fit_on_folders(values: Sequence[str], stored: bool) -> None:
    X, y = table(_READER, 12)
    frame = X.assign(target=y)
    with tempfile.TemporaryDirectory() as folder:
        for value in values:
            place = Path(folder) / f"job={value}"
            place.mkdir()
            kept = frame if stored else frame.drop(columns="job")
            pq.write_table(pa.Table.from_pandas(kept), place / "part.parquet")
        estimator(_READER).fit(folder, "target")


def folders_that_dask_reads(name: str) -> Finding:
    """Read folders with Dask, and add one record in another: are the others still read alike?"""
    dd = pytest.importorskip("dask.dataframe")
    types = {"flavor": "hive", "schema": pa.schema([("job", pa.string())])}

    def attempts() -> Iterator[Finding]:
        for what, (odd, usual) in {**_FOLDERS, "a text beside months": ("x", "01")}.items():
            for options in ({}, {"dataset": {"partitioning": types}}):
                read = [
                    _jobs_in(values, lambda path, o=options: dd.read_parquet(path, **o))
                    for values in ([usual], [odd, usual])
                ]
                if None not in read:  # otherwise Dask itself refuses, before there is a collection
                    found = f"{what}: {usual} is {read[0]}, then {read[1]}"
                    yield Finding(read[0] != read[1], found)

    return first_find(attempts())


def _jobs_in(values: Sequence[str], read: Callable[[str], Any]) -> list[int] | None:
    """Return how the job in the last of some folders is read; nothing if a fit refuses it."""
    schema = Schema({"job": Categorical(["1", "nurse"])}, target=Classes([0, 1]))
    with tempfile.TemporaryDirectory() as folder:
        for value in values:
            place = Path(folder) / f"job={value}"
            place.mkdir()
            shown = pa.table({"mine": [value == values[-1]], "target": [0]})
            pq.write_table(shown, place / "part.parquet")
        try:
            collection = read(folder)
        except ValueError:
            return None
        X = chunked_table(collection)
        try:
            X.check_columns(schema)
        except ValueError:
            return []
        codes = []
        try:
            for rows, mine in X.chunks("mine", schema):
                read_as = encode_categorical(rows["job"], schema.features["job"])
                codes += read_as[np.asarray(mine)].tolist()
        except Exception:
            return [-1]  # the fit stops
        return codes


def folders_are_not_checked(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(chunked_dask, "_check_folders", lambda given, names: None)


def folders_are_read_together(patch: pytest.MonkeyPatch) -> None:
    def opened(X: Any) -> ArrowTable:
        return ArrowTable(ds.dataset(X, format="parquet", partitioning="hive"))

    patch.setattr(chunked_arrow.ArrowTable, "open", staticmethod(opened))


# --- a stream of text ---------------------------------------------------------------------------


def stream_of_text(name: str) -> Finding:
    """Let Arrow read a text file in batches, and add a line: are the others still read alike?"""
    times = ["2020-01-01 10:00", "2020-01-02 11:30"]
    schema = Schema({"seen": Categorical(times)}, target=Classes([0, 1]))
    usual = ["seen,target", *(f"{time},{k}" for k, time in enumerate(times))]
    alone = _seen_in(usual, schema)
    read = _seen_in([*usual, "unknown,1"], schema)[: len(alone)]
    return Finding(read != alone, f"{alone}, and {read} beside a text")


def _seen_in(lines: Sequence[str], schema: Schema) -> list[int]:
    """Return how the cells of a text file are read; nothing if a fit refuses it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_text("\n".join(lines) + "\n")
        with csv.open_csv(path) as stream:
            try:
                chunks = [*chunked_table(stream).chunks("target", schema)]
            except TypeError:
                return []
        feature = schema.features["seen"]
        return [code for X, _ in chunks for code in encode_categorical(X["seen"], feature).tolist()]


def streams_may_guess(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(chunked_stream, "_GUESSING", frozenset())


# --- a text that is none ------------------------------------------------------------------------


def coded_texts(name: str) -> Finding:
    """Store a string column as codes: does a category that is not a string stop the fit?"""

    def attempts() -> Iterator[Finding]:
        usual = words_of(lambda: _fit_on_codes(b"clerk", pa.int8()))
        for codes in (pa.int8(), pa.int32(), pa.int64()):
            heard = words_of(lambda codes=codes: _fit_on_codes(b"\xff", codes))
            said = sorted(set(heard) - set(usual))
            yield Finding(heard != usual, f"codes of {codes}: {said}"[:200])

    return first_find(attempts())


def _fit_on_codes(odd: bytes, codes: Any) -> None:
    X, y = table(_READER, 12)
    texts = pa.array([b"nurse", odd]).view(pa.string())
    job = pa.DictionaryArray.from_arrays(pa.array([1] + [0] * 11, type=codes), texts)
    arrow = pa.table({"age": X["age"], "income": X["income"], "job": job, "target": y})
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(arrow, Path(folder) / "part.parquet")
        estimator(_READER).fit(folder, "target")


def texts_are_checked_by_the_reader(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(chunked_arrow, "_coded_texts", lambda schema: [])


# --- the size of a graph ------------------------------------------------------------------------


def size_of_a_graph(name: str) -> Finding:
    """Send a long cell to Dask's workers: does Dask reveal its size?"""
    import dask
    import distributed

    # Dask's own limit is 10 MB. One that is lower shows the same with a small table.
    limit = {"distributed.admin.large-graph-warning-threshold": "200kB"}
    with (
        dask.config.set(limit),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as local,
        distributed.Client(local),
    ):
        usual, heard = (
            words_of(lambda cell=cell: _fit_on_dask(cell)) for cell in ("x", "x" * 10**6)
        )
    return Finding(heard != usual, f"{sorted(set(heard) - set(usual))}"[:200])


def _fit_on_dask(cell: str) -> None:
    import dask.dataframe as dd

    X, y = table(_READER, 12)
    job = np.array([cell, *X["job"][1:]], dtype=object)
    frame = X.assign(job=pd.Series(job, dtype=object), target=y)
    estimator(_READER, max_rounds=1).fit(dd.from_pandas(frame, npartitions=1), "target")


def dask_may_tell_the_size(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cluster, "_no_word_of_size", nullcontext)


ATTACKS = [
    Attack(
        "a value in the name of a folder changes how others are read",
        value_in_a_path,
        folders_are_read_together,
        "pyarrow chooses one type for all folders",
        every_model=False,
    ),
    Attack(
        "one folder changes how Dask reads the names of others",
        folders_that_dask_reads,
        folders_are_not_checked,
        "Dask chooses one type for all folders",
        every_model=False,
    ),
    Attack(
        "one line changes how Arrow reads other lines of a stream",
        stream_of_text,
        streams_may_guess,
        "streams that guess types are read",
        every_model=False,
    ),
    Attack(
        "a coded text of a Parquet file that is no text stops the fit",
        coded_texts,
        texts_are_checked_by_the_reader,
        "texts are checked by the reader",
        every_model=False,
    ),
    Attack(
        "Dask warns of the size of a graph that holds the records",
        size_of_a_graph,
        dask_may_tell_the_size,
        "Dask's own warning",
        every_model=False,
    ),
]
