"""Fits on chunks, files and partitions equal the fit in memory, to the last bit."""

from __future__ import annotations

import os
import re
import tempfile
from decimal import Decimal

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from dask import delayed
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from chunked_tables import (
    ALL,
    NAMES,
    ListTable,
    assert_same_fit,
    assert_same_predictions,
    cut,
    halves,
    make_estimator,
    make_table,
)
from dpexplain import Classes, Numeric, PrivacyLedger, Schema
from dpexplain.audit.replay import same_value
from dpexplain.exceptions import SchemaError
from dpexplain.models.boosting.records import chunked as boosting_chunks
from dpexplain.models.boosting.records import spill as scratch
from dpexplain.models.boosting.records._kernels_sums import _BLOCK
from dpexplain.models.boosting.records.binned import LOGISTIC
from dpexplain.models.boosting.records.source import EncodedRecords
from dpexplain.tables import chunked_dask as dask_table
from effort import examples

pytestmark = pytest.mark.full


@pytest.fixture(params=["memory", "disk"])
def storage(request, monkeypatch, tmp_path):
    """Store every chunk as it came, in memory or in the temporary file."""
    monkeypatch.setattr(boosting_chunks, "CHUNK_ROWS", 1)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    if request.param == "disk":
        monkeypatch.setattr(scratch, "MEMORY_BYTES", 0)
    return request.param


@pytest.mark.parametrize("name", ALL)
@examples(15, HealthCheck.function_scoped_fixture)
@given(n=st.integers(0, 60), seed=st.integers(0, 2**32 - 1), data=st.data())
def test_parts_of_any_size_give_the_model_of_the_whole(name, n, seed, data, storage):
    places = data.draw(st.lists(st.integers(0, n), max_size=6))
    table = make_table(name, n, seed)
    presets = {"preset": data.draw(st.sampled_from(["default", "paper"]))} if name in NAMES else {}
    estimator = make_estimator(name, **presets)
    assert_same_fit(estimator, table, ListTable(cut(table, places)), None)


@pytest.mark.parametrize("name", NAMES)
def test_cells_that_are_split_are_those_of_the_whole(name, storage):
    table = make_table(name, 900)
    table["income"] /= 1e3  # of a range that ends at a million
    parts = ListTable(cut(table, [1, 100, 100, 500]))
    model, _ = assert_same_fit(make_estimator(name, epsilon=8.0), table, parts, None)
    binned = model._fit.binned
    assert len(binned.cell_spread[1]) > 20 + binned.first_cells[1].n_bins


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("size", [1, _BLOCK - 1, _BLOCK, _BLOCK + 1])
def test_parts_longer_than_a_block_of_the_kernel_give_the_model_of_the_whole(name, size, storage):
    table = make_table(name, 5000)
    parts = ListTable(cut(table, [size, size, 4096]))
    assert_same_fit(make_estimator(name), table, parts, None)


@pytest.mark.parametrize("name", NAMES)
def test_small_parts_are_joined(name, monkeypatch):
    monkeypatch.setattr(boosting_chunks, "CHUNK_ROWS", 100)
    table = make_table(name, 1000)
    seen = []
    joined = boosting_chunks.Scratch.add
    monkeypatch.setattr(
        boosting_chunks.Scratch,
        "add",
        lambda self, records: (seen.append(len(records)), joined(self, records))[1],
    )
    assert_same_fit(make_estimator(name), table, ListTable(cut(table, range(0, 1000, 7))), None)
    assert seen == [105] * 9 + [55]


@pytest.mark.parametrize("name", NAMES)
def test_bags_of_parts_are_bags_of_the_whole(name, storage):
    """Coins come from a seed, which only a non-private model may have."""
    table = make_table(name, 500)
    seeded = {"outer_bags": 3, "reproducible_seed": 5}
    whole = make_estimator(name, **seeded).fit(*halves(table))
    parts = make_estimator(name, **seeded).fit(ListTable(cut(table, [1, 1, 300])), None)
    assert same_value(parts._terms, whole._terms)


def files_of(table, folder, sizes=(400, 0, 1, 599)):
    start = 0
    for place, size in enumerate(sizes):
        part = table.iloc[start : start + size]
        pq.write_table(
            pa.Table.from_pandas(part, preserve_index=False),
            folder / f"{place}.parquet",
            row_group_size=150,
        )
        start += size
    return folder


@pytest.mark.parametrize("name", ALL)
def test_parquet_files_give_the_model_of_the_table_in_memory(name, tmp_path, storage):
    table = make_table(name, 1000)
    folder = tmp_path / "table"
    folder.mkdir()
    files_of(table.assign(unused=1), folder)
    estimator = make_estimator(name)
    one = tmp_path / "one.parquet"
    table.to_parquet(one)
    for X in (folder, str(folder), one, ds.dataset(folder), ds.dataset([ds.dataset(one)])):
        assert_same_fit(estimator, table, X, "visits")


def test_feather_files_and_arrow_tables_in_memory_are_read(tmp_path):
    name = "DPExplainableBoostingClassifier"
    table = make_table(name, 300)
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    ds.write_dataset(arrow, tmp_path, format="feather")
    for X in (ds.dataset(tmp_path, format="feather"), ds.dataset(arrow)):
        assert_same_fit(make_estimator(name), table, X, "visits")


def test_folders_named_by_a_column_hold_that_column(tmp_path):
    name = "DPExplainableBoostingClassifier"
    table = make_table(name, 300).sort_values("job", ignore_index=True)
    for column in ("job", "age"):
        folder = tmp_path / column
        kept = table.assign(age=table["age"].fillna(33).astype(int))
        arrow = pa.Table.from_pandas(kept, preserve_index=False)
        ds.write_dataset(
            arrow, folder, format="parquet", partitioning=[column], partitioning_flavor="hive"
        )
        assert_same_fit(make_estimator(name), kept, folder, "visits")


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("n_partitions", [1, 7])
def test_dask_frames_give_the_model_of_the_table_in_memory(name, n_partitions):
    table = make_table(name, 700)
    frame = dd.from_pandas(table, npartitions=n_partitions)
    estimator = make_estimator(name)
    assert_same_fit(estimator, table, frame, "visits")
    X, y = frame.drop(columns="visits"), frame["visits"]
    assert_same_fit(estimator, table, X, y)
    assert_same_fit(estimator, table, X, y.to_dask_array())
    assert_same_fit(estimator, table, X, y.to_dask_array(lengths=True).reshape((-1, 1)))


@pytest.mark.parametrize("name", ALL)
def test_dask_arrays_give_the_model_of_the_table_in_memory(name):
    table = make_table(name, 700)
    table["job"] = np.arange(700) % 2  # no category: the column of others, and numbers alone
    X, y = halves(table)
    cells = da.from_array(X.to_numpy(dtype=float), chunks=(200, 2))
    estimator = make_estimator(name)
    assert_same_fit(estimator, table, cells, da.from_array(y.to_numpy(dtype=object), chunks=300))
    unknown = dd.from_pandas(X.astype(float), npartitions=3).to_dask_array()
    target = dd.from_pandas(y, npartitions=3).to_dask_array()
    assert_same_fit(estimator, table, unknown, target)


# Each a way in which one part may hold the cells of a column; the schema alone says what they are.
DTYPES = {
    "as it is": lambda column: column,
    "objects": lambda column: column.astype(object),
    "texts": lambda column: column.map(str).astype(object),
    "categories": lambda column: column.astype("category"),
    "Arrow": lambda column: column.astype(str).astype("string[pyarrow]"),
    "nullable": lambda column: column.convert_dtypes(),
    "single precision": lambda column: column.astype("float32", errors="ignore"),
}


@examples(60)
@given(
    seed=st.integers(0, 2**32 - 1),
    dtypes=st.lists(st.sampled_from(sorted(DTYPES)), min_size=5, max_size=5),
)
def test_parts_of_other_types_give_the_model_of_the_whole(seed, dtypes):
    name = "DPExplainableBoostingClassifier"
    table = make_table(name, 50, seed)
    table["income"] = table["income"].round()
    parts = []
    for (X, y), dtype in zip(cut(table, [0, 10, 11, 30]), dtypes, strict=True):
        convert = DTYPES[dtype]
        keep = dtype == "single precision"
        X = X.apply(lambda c, f=convert, k=keep: c if k and c.name == "job" else f(c))
        parts.append((X, y if keep else convert(y)))
    assert_same_fit(make_estimator(name), table, ListTable(parts), None)


COLLECTIONS = {
    "a frame": lambda parts, usual: dd.from_pandas(pd.concat(parts), npartitions=2),
    "a part of a frame": lambda parts, usual: dd.from_pandas(
        pd.concat(parts).assign(unused=1), npartitions=2
    ).drop(columns="unused"),
    "frames together": lambda parts, usual: dd.concat(
        [dd.from_pandas(part, npartitions=1) for part in parts]
    ),
    "delayed parts": lambda parts, usual: dd.from_delayed(
        [delayed(part) for part in parts], meta=usual
    ),
    "a function": lambda parts, usual: dd.from_map(lambda place: parts[place], range(2)),
}


@pytest.mark.parametrize("make", COLLECTIONS.values(), ids=COLLECTIONS)
@pytest.mark.parametrize("odd", ["unknown", b"\xff", "\ud800", 2**64, Decimal("sNaN")], ids=repr)
def test_dask_turns_no_column_into_text_because_of_one_cell(make, odd):
    name = "DPExplainableBoostingClassifier"
    table = make_table(name, 40)
    table["age"] = [*(np.arange(39) + 0.5), odd]
    schema = Schema({"age": Numeric(0, 100, decimal=",")}, target=Classes(["no", "yes"]))
    usual = make_table(name, 1).iloc[:0]
    X = make([table.iloc[:20].infer_objects(), table.iloc[20:]], usual)
    estimator = make_estimator(name).set_params(schema=schema)
    assert_same_fit(estimator, table, X, "visits")
    assert_same_fit(estimator, table, X, X["visits"])


PLANS = {
    "sorted": lambda frame: frame.sort_values("job"),
    "indexed": lambda frame: frame.set_index("job").reset_index(),
    "filtered": lambda frame: frame[frame["job"].str.contains("e")],
    "joined": lambda frame: frame.merge(frame[["row"]], on="row", shuffle_method="tasks"),
    "joined by text": lambda frame: frame.merge(
        dd.from_pandas(pd.DataFrame({"job": ["nurse", "smith"]}, dtype=object), npartitions=1),
        on="job",
    ),
}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_features_and_targets_of_a_dask_plan_on_objects_are_of_the_same_rows(plan):
    name = "DPExplainableBoostingClassifier"
    table = make_table(name, 60).astype({"job": object, "visits": object}).assign(row=range(60))
    frame = plan(dd.from_pandas(table, npartitions=3))
    whole = frame.compute().drop(columns="row")
    X = frame.drop(columns=["row", "visits"])
    assert_same_fit(make_estimator(name), whole, frame.drop(columns="row"), "visits")
    assert_same_fit(make_estimator(name), whole, X, frame["visits"])


@pytest.mark.parametrize("plan", [plan for name, plan in PLANS.items() if name != "filtered"])
def test_an_array_of_targets_beside_rows_that_dask_moves_is_refused(plan):
    name = "DPExplainableBoostingClassifier"
    frame = plan(dd.from_pandas(make_table(name, 60).assign(row=range(60)), npartitions=3))
    X, y = frame.drop(columns=["row", "visits"]), frame["visits"].to_dask_array()
    with Untouched() as ledger, pytest.raises(ValueError, match="sorted, joined or grouped"):
        make_estimator(name, ledger=ledger).fit(X, y)


def test_names_of_folders_are_refused_if_dask_guesses_their_type_and_read_otherwise(tmp_path):
    name = "DPExplainableBoostingClassifier"
    table = make_table(name, 60).astype({"job": str}).sort_values("job", ignore_index=True)
    for job, rows in table.groupby("job"):
        (tmp_path / f"job={job}").mkdir()
        rows.drop(columns="job").to_parquet(tmp_path / f"job={job}" / "part.parquet", index=False)
    guessed = dd.read_parquet(tmp_path)
    for X, y in ((guessed, "visits"), (guessed, guessed["visits"])):
        with Untouched() as ledger, pytest.raises(ValueError, match="names of folders"):
            make_estimator(name, ledger=ledger).fit(X, y)
    types = {"flavor": "hive", "schema": pa.schema([("job", pa.string())])}
    X = dd.read_parquet(tmp_path, dataset={"partitioning": types})
    assert_same_fit(make_estimator(name), table, X, "visits")


# What is refused, and when.


class Untouched:
    """A ledger without charges."""

    def __init__(self):
        self.ledger = PrivacyLedger("untouched", cap_epsilon=10)

    def __enter__(self):
        return self.ledger

    def __exit__(self, *_):
        assert self.ledger.entries == ()


def write(table, path):
    pa_table = pa.Table.from_pandas(table, preserve_index=False)
    pq.write_table(pa_table, path)
    return path


def refusals(tmp_path):
    table = make_table("DPExplainableBoostingClassifier", 20)
    good = write(table, tmp_path / "good.parquet")
    frame = dd.from_pandas(table, npartitions=2)
    uneven = tmp_path / "uneven"
    uneven.mkdir()
    write(table, uneven / "a.parquet")
    write(table.drop(columns="age"), uneven / "b.parquet")
    table.to_csv(tmp_path / "table.csv")
    (tmp_path / "broken.parquet").write_text("age,income")
    (tmp_path / "empty").mkdir()
    other = dd.from_pandas(table["visits"], npartitions=3)
    return {
        "a column is missing in one of the files": (uneven, "visits", SchemaError, "'age'"),
        "no such file": (tmp_path / "none", "visits", ValueError, "no file or folder"),
        "a folder without files": (tmp_path / "empty", "visits", ValueError, "no file"),
        "a text file": (tmp_path / "table.csv", "visits", TypeError, r"pass dpexplain.tables.read"),
        "no Parquet": (tmp_path / "broken.parquet", "visits", ValueError, "not Parquet"),
        "types that are guessed": (
            ds.dataset(tmp_path / "table.csv", format="csv"),
            "visits",
            TypeError,
            "guessed",
        ),
        "a filtered dataset": (
            ds.dataset(good).filter(ds.field("age") > 3),
            "visits",
            TypeError,
            "filtered",
        ),
        "a target that is no name": (good, [1, 2], TypeError, "name of"),
        "a target that is no column": (good, "nothing", ValueError, "'nothing'"),
        "a target that is a feature": (good, "age", ValueError, "feature"),
        "a target in memory beside Dask": (frame, table["visits"], TypeError, "Dask Series"),
        "other partitions of the target": (frame, other, ValueError, "partitions"),
        "a target of no Dask column": (frame, "nothing", ValueError, "'nothing'"),
        "a missing Dask column": (frame.drop(columns="job"), "visits", SchemaError, "'job'"),
        "a Dask Series": (other, "visits", TypeError, "DataFrame"),
        "a one-dimensional Dask array": (da.ones(5), da.ones(5), TypeError, "two-dimensional"),
        "a narrow Dask array": (da.ones((5, 2)), da.ones(5), SchemaError, "expecting 3"),
        "a shorter Dask target": (da.ones((5, 3)), da.ones(4), ValueError, "one value per row"),
    }


def test_what_cannot_be_read_in_parts_is_refused_before_anything_is_charged(tmp_path):
    for X, y, error, words in refusals(tmp_path).values():
        with Untouched() as ledger:
            estimator = make_estimator("DPExplainableBoostingClassifier", ledger=ledger)
            with pytest.raises(error, match=words):
                estimator.fit(X, y)


def test_people_with_several_rows_need_a_table_in_memory(tmp_path):
    table = make_table("DPExplainableBoostingClassifier", 20)
    path = write(table, tmp_path / "good.parquet")
    with Untouched() as ledger:
        estimator = make_estimator(
            "DPExplainableBoostingClassifier", ledger=ledger, max_rows_per_person=2
        )
        tables = {
            "pandas.read_parquet(X)": (path, str(path)),
            "X.to_table()": (ds.dataset(path),),
            "X.compute()": (dd.from_pandas(table, npartitions=2),),
            "X.read_all()": (pq.ParquetFile(path).schema_arrow.empty_table().to_reader(),),
        }
        for call, queries in tables.items():
            for X in queries:
                with pytest.raises(ValueError, match=re.escape(f"table in memory ({call})")):
                    estimator.fit(X, "visits", groups=np.arange(20))
        with pytest.raises(ValueError, match="a table in chunks"):
            estimator.fit(ListTable([table]), "visits", groups=np.arange(20))
        estimator.set_params(max_rows_per_person=None)
        with pytest.raises(ValueError, match="must be given together"):
            estimator.fit(path, "visits", groups=np.arange(20))


def test_a_schema_cannot_be_read_from_parts(tmp_path):
    table = make_table("DPExplainableBoostingClassifier", 20)
    estimator = make_estimator("DPExplainableBoostingClassifier").set_params(schema=None)
    with pytest.raises(ValueError, match="pass schema"):
        estimator.fit(write(table, tmp_path / "good.parquet"), "visits")


@pytest.mark.parametrize("name", ALL)
def test_references_take_tables_in_memory(name, tmp_path):
    table = make_table(name, 20)
    path = write(table, tmp_path / "good.parquet")
    estimator = make_estimator(name)
    for X in (path, ds.dataset(path), dd.from_pandas(table, npartitions=2)):
        with pytest.raises(TypeError, match="table in memory"):
            estimator.reference_estimator().fit(X, "visits")


@pytest.mark.parametrize("name", ALL)
def test_predictions_and_explanations_of_parts_are_those_of_the_table(name, tmp_path):
    table = make_table(name, 200)
    rows, y = halves(table)
    folder = tmp_path / "table"
    folder.mkdir()
    files_of(table, folder, sizes=(120, 0, 80))
    model = make_estimator(name).fit(rows, y)
    cells = da.from_array(rows.assign(job=np.nan).to_numpy(dtype=float), chunks=(70, 2))
    for X in (folder, ds.dataset(folder), dd.from_pandas(table, npartitions=3)):
        assert_same_predictions(model, rows, X)
    assert_same_predictions(model, rows.assign(job=np.nan), cells)


# Failures after the charge.


def assert_stopped_once(estimator, X, y, kind):
    """Check that the fit stops, names only the kind of error, and was charged once."""
    ledger = PrivacyLedger("stopped", cap_epsilon=10)
    estimator.set_params(ledger=ledger)
    with pytest.raises(RuntimeError, match=f"stopped with {kind}") as caught:
        estimator.fit(X, y)
    assert len(ledger.entries) == 1
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return str(caught.value)


def test_a_partition_that_lacks_a_column_stops_the_fit_with_a_schema_error():
    name = "DPExplainableBoostingClassifier"
    table = make_table(name, 100)
    meta = table.iloc[:0]
    lacking = dd.from_pandas(table, npartitions=4).map_partitions(
        lambda part, partition_info=None: (
            part.drop(columns="age") if partition_info["number"] == 2 else part
        ),
        meta=meta,
        enforce_metadata=False,
    )
    assert_stopped_once(make_estimator(name), lacking, "visits", "SchemaError")


@pytest.mark.parametrize("memory_bytes", [0, 1 << 30])
def test_an_unreadable_part_stops_the_fit_and_leaves_no_file(monkeypatch, tmp_path, memory_bytes):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(scratch, "MEMORY_BYTES", memory_bytes)
    monkeypatch.setattr(boosting_chunks, "CHUNK_ROWS", 1)
    name = "DPExplainableBoostingClassifier"
    table = make_table(name, 100)

    class Broken(ListTable):
        def chunks(self, y, schema):
            yield from super().chunks(y, schema)
            raise OSError("row 17 holds 4711")

    text = assert_stopped_once(make_estimator(name), Broken(cut(table, [50])), None, "OSError")
    assert "4711" not in text
    assert os.listdir(tmp_path) == []


def test_the_temporary_file_has_no_name_is_closed_to_others_and_vanishes(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(scratch, "MEMORY_BYTES", 0)
    seen = []

    class Watched(scratch.Scratch):
        def records(self):
            found = super().records()
            status = os.fstat(self._file.fileno())
            seen.append((status.st_nlink, status.st_mode & 0o077, os.listdir(tmp_path)))
            return found

    monkeypatch.setattr(boosting_chunks, "Scratch", Watched)
    name = "DPExplainableBoostingClassifier"
    table = make_table(name, 500)
    assert_same_fit(make_estimator(name), table, ListTable(cut(table, [100])), None)
    assert seen == [(0, 0, [])]
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("memory_bytes", [0, 1 << 30])
def test_bins_of_records_in_the_file_take_no_memory(memory_bytes):
    rng, store = np.random.default_rng(0), scratch.Scratch(memory_bytes)
    cells = [[rng.integers(0, 1000, n).astype(np.uint16) for _ in range(2)] for n in (5001, 0, 77)]
    targets = [rng.random(len(own[0])).astype(np.float32) for own in cells]
    for own, target in zip(cells, targets, strict=True):
        store.add(EncodedRecords([column.copy() for column in own], target.copy()))
    bin_of_cell = rng.integers(0, 200, 1000).astype(np.uint16)
    found = [part.binned([bin_of_cell] * 2, [200] * 2, LOGISTIC) for part in store.records()]
    store.close()
    for part, own, target in zip(found, cells, targets, strict=True):
        for bins, column in zip(part._bins, own, strict=True):
            assert bins.dtype == np.uint8
            np.testing.assert_array_equal(bins, bin_of_cell[column])
            assert bins.flags.owndata == (memory_bytes > 0)
        np.testing.assert_array_equal(part._target, target)


# Planted mistakes.


def test_a_part_that_is_counted_twice_is_seen(monkeypatch):
    honest = boosting_chunks.ChunkedRecords.leaf_sums

    def twice(self, *arguments):
        return honest(self, *arguments) + self._chunks[0].leaf_sums(*arguments)

    name = "DPExplainableBoostingRegressor"
    table = make_table(name, 200)
    monkeypatch.setattr(boosting_chunks, "CHUNK_ROWS", 1)
    monkeypatch.setattr(boosting_chunks.ChunkedRecords, "leaf_sums", twice)
    with pytest.raises(AssertionError):
        assert_same_fit(make_estimator(name), table, ListTable(cut(table, [100])), None)


def test_bins_that_follow_the_part_are_seen(monkeypatch):
    """The mistake: every chunk is binned by its own quantiles."""
    honest = boosting_chunks.EncodedRecords.read.__func__

    def by_rank(cls, X, y, encoding, grids):
        X = X.assign(income=X["income"].rank(pct=True) * 1e6)
        return honest(cls, X, y, encoding, grids)

    name = "DPExplainableBoostingRegressor"
    table = make_table(name, 200)
    whole = make_estimator(name)
    monkeypatch.setattr(boosting_chunks.EncodedRecords, "read", classmethod(by_rank))
    with pytest.raises(AssertionError):
        assert_same_fit(whole, table, ListTable(cut(table, [100])), None)


def test_a_frame_of_dask_and_its_parts_have_the_columns_of_the_schema_alone():
    name = "DPExplainableBoostingClassifier"
    table = make_table(name, 100)
    wide = table.assign(other=1.0)[["other", "visits", "job", "income", "age"]]
    frame = dd.from_pandas(wide, npartitions=2)
    assert_same_fit(make_estimator(name), table, frame, "visits")


def test_a_client_that_is_opened_while_a_fit_is_charged_is_not_the_fits(monkeypatch):
    table = make_table(NAMES[0], 300)
    estimator = make_estimator(NAMES[0]).set_params(outer_bags=2)
    honest = type(estimator)._charged_ledger

    def charged(self, *arguments):
        monkeypatch.setattr(dask_table, "_default_client", lambda: object())
        return honest(self, *arguments)

    monkeypatch.setattr(type(estimator), "_charged_ledger", charged)
    model = estimator.fit(dd.from_pandas(table, npartitions=2), "visits")
    assert len(model.ledger_.entries) == 1

    with pytest.raises(ValueError, match="close the client"):
        make_estimator(NAMES[0]).set_params(outer_bags=2).fit(
            dd.from_pandas(table, npartitions=2), "visits"
        )
