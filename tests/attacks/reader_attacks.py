"""Attacks on readers: malformed lines of files, unusual cell types, and omitted rows."""

from __future__ import annotations

import argparse
import io
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from attack_kit import (
    FEATURES,
    Attack,
    Finding,
    estimator,
    first_find,
    is_regressor,
    replayed,
    table,
)
from dpexplain import Numeric, tables
from dpexplain.cli.tables import read_texts
from dpexplain.models import inputs
from dpexplain.tables import chunked_dask, columns
from dpexplain.tables import frames as _frames
from dpexplain.tables.chunked_arrow import ArrowTable
from leak_attacks import words_of

# --- one line of a file ------------------------------------------------------------------------

# Lines that are one record, and at most one; and lines that stand below them in both files.
_ODD_LINES: dict[str, tuple[bytes, list[bytes]]] = {
    "a cell too many": (b"44,1,nurse,%s,x", []),
    "a cell too few": (b"44,1,nurse", []),
    "a quote that stays open": (b'44,1,"nurse,%s', [b'50,2,n"urse,%s']),
    "text behind a closing quote": (b'44,1,"nurse"x,%s', []),
    "no text of the encoding": (b"44,1,\xff\xfe,%s", []),
    "a byte 0": (b"44,1,nu\0rse,%s", []),
    "an end of line of old": (b"44,1,nurse,%s\r45,2,nurse,%s", []),
    "a comment": (b"#44,1,nurse,%s", []),
    "an empty line": (b"", []),
    "a cell as long as no other": (b'44,1,"' + b"x" * 150_000 + b'",%s', []),
    "a separator of another language": ("44,1,nur\u2028se,%s".encode(), []),
}


def one_line(name: str) -> Finding:
    """Read a file with and without one line: does it reveal more than one record may?"""
    X, y = table(name, 40)
    label = b"2.5" if is_regressor(name) else b"yes"
    body = X.assign(target=y).to_csv(index=False).encode().splitlines()

    def attempts() -> Iterator[Finding]:
        for what, (odd, below) in _ODD_LINES.items():
            odd, *rest = (line.replace(b"%s", label) for line in (odd, *below))
            without = [*body, *rest]
            try:
                files = [_read(lines) for lines in (without, [body[0], odd, *without[1:]])]
            except Exception as error:
                yield Finding(True, f"{what}: {type(error).__name__}")
                continue
            found = replayed(estimator(name), *files)
            yield Finding(found.broke, f"{what}: {found.evidence}")

    return first_find(attempts())


def _read(lines: list[bytes]) -> tuple[pd.DataFrame, pd.Series]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_bytes(b"\n".join(lines) + b"\n")
        asked = argparse.Namespace(table=path, sep=None, encoding=None, header=None)
        frame = read_texts(asked)
    return frame.drop(columns="target"), frame["target"]


def files_are_read_as_a_whole(patch: pytest.MonkeyPatch) -> None:
    def whole(path: Path, form: Any) -> pd.DataFrame:
        text = Path(path).read_text(encoding=form.encoding, errors="replace")
        return pd.read_csv(
            io.StringIO(text), sep=form.separator, dtype=str, na_filter=False, on_bad_lines="skip"
        )

    patch.setattr(tables, "read_texts", whole)


# --- one row of a list -------------------------------------------------------------------------


def one_row_of_a_list(name: str) -> Finding:
    """Put something that is no row into a list of rows: does anything reveal it?"""

    def attempts() -> Iterator[Finding]:
        X, y = table(name, 12)
        rows = X.to_numpy(dtype=object).tolist()
        usual = words_of(lambda: estimator(name).fit(rows, y))
        for odd in (np.array(5), np.ma.masked, memoryview(np.zeros((3, 1))), None, "abc", [1]):
            heard = words_of(lambda odd=odd: estimator(name).fit([*rows[:-1], odd], y))
            said = f"{type(odd).__name__}: {sorted(set(heard) - set(usual))}"
            yield Finding(heard != usual, said[:200])

    return first_find(attempts())


def rows_are_asked_for_their_length(patch: pytest.MonkeyPatch) -> None:
    def cells(row: Any, n_columns: int) -> Any:
        return row if columns._is_row(row) and len(row) == n_columns else [None] * n_columns

    patch.setattr(columns, "_cells_of_row", cells)


# --- the type of a column in a file ------------------------------------------------------------


def type_of_a_file(name: str) -> Finding:
    """Store a target as pandas does, by its cells: is its type in a message?"""

    def attempts() -> Iterator[Finding]:
        X, _ = table(name, 12)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.parquet"

            def heard_of(cells: list[Any]) -> list[str]:
                X.assign(target=pd.Series(cells)).to_parquet(path)
                return words_of(lambda: estimator(name).fit(str(path), "target"))

            usual = heard_of([0, 1] * 6)
            cases = {
                "no label": [*[0, 1] * 5, 0, None],
                "only that": [None] * 12,
                "a text": ["0"] * 12,
            }
            for what, cells in cases.items():
                heard = heard_of(cells)
                yield Finding(heard != usual, f"{what}: {sorted(set(heard) - set(usual))}"[:200])

    return first_find(attempts())


def files_with_numbers_are_named(patch: pytest.MonkeyPatch) -> None:
    honest = ArrowTable.check_target

    def check(self: Any, y: Any, schema: Any) -> None:
        honest(self, y, schema)
        kind = self._fragments[0].physical_schema.field(y).type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            warnings.warn(f"{y} is stored as {kind}, which no class is", UserWarning, stacklevel=2)

    patch.setattr(ArrowTable, "check_target", check)


# --- one cell of a table of another library ----------------------------------------------------


def one_arrow_cell(name: str) -> Finding:
    """Use a cell that Arrow cannot convert to an object: does anything reveal it?"""

    def attempts() -> Iterator[Finding]:
        days = pa.array([0] * 11 + [2**31 - 1], type=pa.int32()).view(pa.date32())
        bytes_ = pa.array([b"clerk"] * 11 + [b"\xff"]).view(pa.string())
        usual = words_of(lambda: _fit_on_arrow(name, pa.array(["clerk"] * 12)))
        for what, column in (("a date after the year 9999", days), ("no text", bytes_)):
            heard = words_of(lambda column=column: _fit_on_arrow(name, column))
            yield Finding(heard != usual, f"{what}: {sorted(set(heard) - set(usual))}"[:200])

    return first_find(attempts())


def _fit_on_arrow(name: str, job: Any) -> None:
    X, y = table(name, 12)
    frame = pa.table({**{column: pa.array(X[column]) for column in ("age", "income")}, "job": job})
    estimator(name).fit(frame, y)


def columns_are_turned_into_lists(patch: pytest.MonkeyPatch) -> None:
    def cells(column: Any) -> Any:
        return np.array([*column.to_list(), None], dtype=object)[:-1]

    patch.setattr(_frames, "_cells", cells)


# --- one cell of a polars table ----------------------------------------------------------------


def one_polars_cell(name: str) -> Finding:
    """Use a cell that makes polars panic with an exception that is not an `Exception`."""

    def attempts() -> Iterator[Finding]:
        usual = words_of(lambda: _fit_on_polars(name, pa.array(["clerk"] * 12)))
        text = pa.array([b"clerk"] * 11 + [b"\xff"]).view(pa.string())
        columns = {
            "no text": text,
            "no text in a list": pa.ListArray.from_arrays(pa.array(range(13), pa.int32()), text),
            "no text in a category": text.dictionary_encode(),
            "the shortest duration": pa.array([0] * 11 + [-(2**63)]).view(pa.duration("ms")),
        }
        for what, column in columns.items():
            heard = words_of(lambda column=column: _fit_on_polars(name, column))
            yield Finding(heard != usual, f"{what}: {sorted(set(heard) - set(usual))}"[:200])

    return first_find(attempts())


def _fit_on_polars(name: str, job: Any) -> None:
    X, y = table(name, 12)
    frame = pl.DataFrame({"age": X["age"], "income": X["income"], "job": pl.from_arrow(job)})
    try:
        estimator(name).fit(frame, y)
    except pl.exceptions.PanicException as error:
        raise RuntimeError(str(error)) from None


def polars_makes_the_list(patch: pytest.MonkeyPatch) -> None:
    def cells(series: Any) -> Any:
        return np.array([*series.to_list(), None], dtype=object)[:-1]

    patch.setattr(_frames, "_texts_of_polars", cells)
    patch.setattr(_frames, "_times_of_polars", cells)


# --- one cell of a Dask collection -------------------------------------------------------------


def one_dask_cell(name: str) -> Finding:
    """Add a record whose cell makes objects of a column: are others read in another way?"""
    dask, dd = pytest.importorskip("dask"), pytest.importorskip("dask.dataframe")
    features = {**FEATURES, "age": Numeric(0, 100, decimal=",")}  # no text has a period

    X, y = table(name, 30)
    frame = X.assign(age=X["age"] + 0.5, target=y)
    usual = frame.iloc[:0]

    def of_one(frame: pd.DataFrame) -> Any:
        return dd.from_pandas(frame, npartitions=2), "target"

    def of_parts(frame: pd.DataFrame) -> Any:
        parts = [frame.iloc[:9], frame.iloc[9:]]
        return dd.from_delayed([dask.delayed(part) for part in parts], meta=usual), "target"

    def attempts() -> Iterator[Finding]:
        model = estimator(name, features=features)
        for made in (of_one, of_parts):
            for odd in ("unknown", b"\xff", 2**64):
                one = pd.DataFrame({**frame.iloc[0], "age": odd}, index=[30], dtype=object)
                more = pd.concat([frame.astype({"age": object}), one])
                what = f"{made.__name__}, {odd!r}"
                try:
                    found = replayed(model, made(frame), made(more))
                except RuntimeError as error:
                    found = Finding(True, str(error))
                yield Finding(found.broke, f"{what}: {found.evidence}"[:200])

    return first_find(attempts())


def dask_converts_columns(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(chunked_dask, "_unconverted", lambda expression, known: expression)


def text_that_dask_sorts(name: str) -> Finding:
    """Sort by a key that is text in one record: are the numbers of others read in another way?"""
    dd = pytest.importorskip("dask.dataframe")
    features = {**FEATURES, "age": Numeric(0, 100, decimal=",")}
    model, (X, y) = estimator(name, features=features), table(name, 30)
    frame = X.assign(age=(X["age"] + 0.5).astype(object), target=y, key=range(30))
    more = pd.concat([frame, frame.iloc[:1].assign(key="x")], ignore_index=True)

    def read(frame: pd.DataFrame) -> tuple[Any, str]:
        return dd.from_pandas(frame, npartitions=2).sort_values("key"), "target"

    try:
        return replayed(model, read(frame), read(more))
    except ValueError as refused:
        return Finding("sorted by Dask" not in str(refused), str(refused))


def sorted_text_is_read(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(chunked_dask, "_check_commas", lambda X, schema: None)


# --- rows that Dask sorts ----------------------------------------------------------------------


def rows_that_dask_sorts(name: str) -> Finding:
    """Sort records by a column with ties: do features and targets of others change places?"""
    dd = pytest.importorskip("dask.dataframe")

    def sorted_by_job(X: pd.DataFrame, y: pd.Series) -> tuple[Any, Any]:
        whole = dd.from_pandas(X.assign(target=y), npartitions=3).sort_values("job")
        return whole.drop(columns="target"), whole["target"]

    X, y = table(name, 300)
    data = sorted_by_job(X, y), sorted_by_job(X.iloc[1:], y.iloc[1:])
    return replayed(estimator(name), *data)


def dask_plans_targets_apart(patch: pytest.MonkeyPatch) -> None:
    def apart(X: Any, y: Any) -> tuple[Any, Any]:  # and in another order, as Dask often has it
        return X, y.map_partitions(lambda part: part.iloc[::-1], meta=y._meta)

    patch.setattr(chunked_dask, "_together", apart)


# --- one row without a target ------------------------------------------------------------------


def row_without_target(name: str) -> Finding:
    """Add a row without a usable target: does it count as anything?"""

    def attempts() -> Iterator[Finding]:
        X, y = table(name, 30)
        more = pd.concat([X, X.iloc[[3]]], ignore_index=True)
        for cell in (None, "", "perhaps", np.nan, b"yes", [1]):
            labels = np.empty(31, dtype=object)
            labels[:30], labels[30:] = y, [cell]
            yield replayed(estimator(name), (X, y), (more, labels), allowed=0.0)

    return first_find(attempts())


def no_target_is_the_first_class(patch: pytest.MonkeyPatch) -> None:
    classes, numbers = inputs.encode_classes, inputs.encode_range

    patch.setattr(inputs, "encode_classes", lambda y, target: np.maximum(classes(y, target), 0))
    patch.setattr(
        inputs,
        "encode_range",
        lambda y, target: np.nan_to_num(numbers(y, target), nan=target.midpoint),
    )


# --- one row that is left out ------------------------------------------------------------------


def row_left_out(name: str) -> Finding:
    """Leave out a row if pandas cannot select rows of a column: does anything reveal it?"""

    def attempts() -> Iterator[Finding]:
        X, y = table(name, 12)
        job = pa.array(X["job"].tolist(), pa.string_view())
        odd = {
            "a column": X.assign(job=pd.arrays.ArrowExtensionArray(job)),
            "the index": X.set_axis(pd.Index(pd.arrays.ArrowExtensionArray(job))),
        }
        for what, frame in odd.items():
            usual, heard = (
                words_of(lambda frame=frame, y=answers: estimator(name).fit(frame, y))
                for answers in (y, pd.Series([None, *y[1:]], dtype=object))
            )
            yield Finding(heard != usual, f"{what}: {sorted(set(heard) - set(usual))}"[:200])

    return first_find(attempts())


def rows_are_taken_by_pandas(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(inputs, "rows_of", lambda values, kept: values.iloc[kept])


ATTACKS = [
    Attack(
        "one line of a text file changes how other lines are read",
        one_line,
        files_are_read_as_a_whole,
        "the file is read as a whole, by pandas",
    ),
    Attack(
        "something in a list of rows that is no row stops the fit",
        one_row_of_a_list,
        rows_are_asked_for_their_length,
        "every row is asked for its length",
    ),
    Attack(
        "a message tells the type that a file has because of one record",
        type_of_a_file,
        files_with_numbers_are_named,
        "a warning quotes the type of the target",
    ),
    Attack(
        "a cell that Arrow cannot turn into an object stops the fit",
        one_arrow_cell,
        columns_are_turned_into_lists,
        "a column is turned into a list at once",
    ),
    Attack(
        "a cell at which polars panics stops the fit",
        one_polars_cell,
        polars_makes_the_list,
        "polars turns columns into lists",
    ),
    Attack(
        "one cell changes how Dask reads a column, or stops the fit",
        one_dask_cell,
        dask_converts_columns,
        "Dask makes texts of a column of objects",
        every_model=False,
    ),
    Attack(
        "one key that Dask sorts changes how the numbers of others are read",
        text_that_dask_sorts,
        sorted_text_is_read,
        "Dask may sort tables with a decimal comma",
        every_model=False,
    ),
    Attack(
        "rows that Dask sorts lose their targets to others",
        rows_that_dask_sorts,
        dask_plans_targets_apart,
        "features and targets are planned apart",
        every_model=False,
    ),
    Attack(
        "a row without a target counts as something",
        row_without_target,
        no_target_is_the_first_class,
        "it is of the first class, or the middle of the range",
    ),
    Attack(
        "a row that is left out stops the fit",
        row_left_out,
        rows_are_taken_by_pandas,
        "pandas takes the rows, whatever the type of a column",
    ),
]
