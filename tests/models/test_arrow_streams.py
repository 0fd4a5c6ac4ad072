"""Fits and predictions on Arrow streams and lazy queries equal those on the table in memory."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from chunked_tables import (
    ALL,
    TREES,
    assert_same_fit,
    assert_same_predictions,
    halves,
    make_estimator,
    make_table,
)
from dpexplain import Categorical, Classes, Numeric, PrivacyLedger, Schema, models
from dpexplain.audit import record, replay
from dpexplain.compare.sweep import sweep
from dpexplain.exceptions import SchemaError
from dpexplain.models.boosting.records import spill
from dpexplain.models.linear import fit as linear_fit
from dpexplain.models.locally_linear import model as locally_linear
from dpexplain.models.trees import private_trees
from dpexplain.tables import chunked_stream, columns
from dpexplain.tables.encoding import encode_features
from dpexplain.tables.opening import chunked_table

CLASSIFIER = "DPExplainableBoostingClassifier"
SECRET = "4711-secret"


def arrow(table):
    return pa.Table.from_pandas(table, preserve_index=False)


def reader(table, size=70):
    return pa.RecordBatchReader.from_batches(
        arrow(table).schema, arrow(table).to_batches(max_chunksize=size)
    )


class Stream:
    """What libraries return: an Arrow stream that can be read once, and column names."""

    def __init__(self, table):
        self._reader = reader(table)
        self.columns = list(table.columns)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._reader.__arrow_c_stream__(requested_schema)


def relation(table):
    duckdb = pytest.importorskip("duckdb")
    whole = arrow(table)  # the connection finds the table by the name of this variable
    connection = duckdb.connect()
    connection.register("whole", whole)
    return connection.sql("SELECT * FROM whole")


def lazy(table):
    polars = pytest.importorskip("polars")
    return polars.from_arrow(arrow(table)).lazy()


STREAMS = {
    "reader": reader,
    "one batch": lambda table: reader(table, 10**6),
    "batches of a row": lambda table: reader(table, 1),
    "an object with names": Stream,
    "DuckDB": relation,
    "lazy polars": lazy,
    "lazy polars, categories": lambda table: lazy(table.astype({"job": "category"})),
}


@pytest.mark.parametrize("make", STREAMS.values(), ids=STREAMS)
def test_a_stream_gives_the_model_of_the_table_in_memory(make, monkeypatch):
    monkeypatch.setattr(chunked_stream, "BATCH_ROWS", 50)
    table = make_table(CLASSIFIER, 300)
    assert_same_fit(make_estimator(CLASSIFIER), table, make(table.assign(unused=1)), "visits")


def test_a_lazy_column_that_one_cell_makes_one_of_objects_is_read_cell_by_cell(monkeypatch):
    polars = pytest.importorskip("polars")
    monkeypatch.setattr(chunked_stream, "BATCH_ROWS", 50)
    table = make_table(CLASSIFIER, 300)
    table["age"] = [*table["age"][:-1], 1 + 2j]
    objects = polars.Series("age", list(table["age"]), dtype=polars.Object)
    frame = polars.from_pandas(table.drop(columns="age")).with_columns(objects)
    assert_same_fit(make_estimator(CLASSIFIER), table, frame.lazy(), "visits")


@pytest.mark.full
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("make", STREAMS.values(), ids=STREAMS)
def test_a_stream_gives_the_model_of_the_table_for_every_model(name, make):
    table = make_table(name, 500)
    assert_same_fit(make_estimator(name), table, make(table), "visits")


@pytest.mark.parametrize("name", ["DPLinearRegression", "DPLogisticRegression"])
@pytest.mark.parametrize("memory_bytes", [0, 1 << 30])
def test_a_linear_model_of_a_stream_is_that_of_the_table(name, memory_bytes, monkeypatch):
    monkeypatch.setattr(spill, "MEMORY_BYTES", memory_bytes)
    table = make_table(name, 300)
    assert_same_fit(make_estimator(name), table, reader(table), "visits")


@pytest.mark.parametrize("make", STREAMS.values(), ids=STREAMS)
def test_predictions_and_explanations_of_a_stream_are_those_of_the_table(make):
    table = make_table("DPLogisticRegression", 200)
    rows, y = halves(table)
    model = make_estimator("DPLogisticRegression").fit(rows, y)
    for ask in (model.predict, model.predict_proba, model.decision_function, model.eval_terms):
        assert np.array_equal(ask(make(table)), ask(rows))
    if columns.reads_once(make(table)):
        return  # three calls need three streams
    assert_same_predictions(model, rows, make(table))


@pytest.mark.parametrize(
    "name", ["DPRandomForestClassifier", "DPBoostRegressor", "DPLocallyLinearClassifier"]
)
def test_models_fitted_in_memory_predict_streams(name):
    table = make_table(name, 120)
    rows, y = halves(table)
    settings = {"n_steps": 2} if name == "DPLocallyLinearClassifier" else {}
    model = getattr(models, name)(schema=schema_of(name), structure_seed=0, **settings).fit(rows, y)
    assert np.array_equal(model.predict(reader(table)), model.predict(rows))


def schema_of(name):
    return make_estimator("DPLinearRegression" if "Regress" in name else CLASSIFIER).schema


@pytest.mark.parametrize(
    "kind",
    ["large_string", "string_view", "dictionary", "float32", "decimal", "null", "date", "binary"],
)
def test_columns_of_any_arrow_type_are_read_as_in_memory(kind):
    table = make_table(CLASSIFIER, 200)
    whole = arrow(table)
    types = {
        "large_string": ("job", pa.large_string()),
        "string_view": ("job", pa.string_view()),
        "dictionary": ("job", pa.dictionary(pa.int8(), pa.string())),
        "binary": ("job", pa.binary()),
        "float32": ("income", pa.float32()),
        "decimal": ("income", pa.decimal128(30, 4)),
        "null": ("income", pa.null()),
        "date": ("income", pa.date32()),
    }
    name, target = types[kind]
    if kind in ("null", "date"):
        new = pa.nulls(200, target) if kind == "null" else pa.array(range(200), pa.int32())
        column = new.cast(target)
    elif kind == "decimal":
        column = pa.array(np.round(table["income"].to_numpy(), 2)).cast(target)
    elif kind == "dictionary":
        column = whole["job"].dictionary_encode().cast(target)
    else:
        column = whole[name].cast(target)
    whole = whole.set_column(whole.column_names.index(name), name, column)
    estimator = make_estimator(CLASSIFIER)
    X, y = whole.drop_columns("visits"), table["visits"]
    model, transcript = record(estimator, X, y)
    report = replay(estimator, (whole.to_reader(30), "visits"), model, transcript)
    assert report.differences == ()


@pytest.mark.parametrize(("name", "kind"), [("csv", "CSV"), ("json", "JSON")])
def test_a_stream_that_guesses_types_from_text_is_refused(tmp_path, name, kind):
    module = pytest.importorskip(f"pyarrow.{name}")
    if not hasattr(module, f"open_{name}"):
        pytest.skip("this version of pyarrow reads no such stream")
    table = make_table(CLASSIFIER, 30)
    path = tmp_path / "table"
    text = (
        table.to_csv(index=False) if name == "csv" else table.to_json(orient="records", lines=True)
    )
    path.write_text(text)
    ledger = PrivacyLedger("untouched", cap_epsilon=10)
    model = make_estimator(CLASSIFIER, ledger=ledger)
    stream = getattr(module, f"open_{name}")(path)
    with stream, pytest.raises(TypeError, match=f"{kind}StreamingReader, which reads text"):
        model.fit(stream, "visits")
    assert not ledger.entries


# A stream that can be read once.


def untouched(**settings):
    ledger = PrivacyLedger("untouched", cap_epsilon=10)
    return ledger, make_estimator(CLASSIFIER, ledger=ledger, **settings)


@pytest.mark.parametrize("place", ["age", "job"])
@pytest.mark.parametrize("nested", [False, True], ids=["plain", "nested"])
def test_integers_of_128_bits_in_a_query_are_read_as_in_memory(place, nested):
    polars = pytest.importorskip("polars")
    kind = polars.List(polars.Int128) if nested else polars.Int128
    numbers = [None, 1, -(2**70), 2**60 + 1, 10**30]
    cells = polars.Series([n if n is None or not nested else [n] for n in numbers], dtype=kind)
    features = {"age": Numeric(-1e30, 1e30), "job": Categorical(["1", str(2**60)])}
    schema = Schema(features, target=Classes(["no", "yes"]))
    frame = polars.DataFrame(
        {"age": [1.0] * 5, "job": ["1"] * 5, "died": ["no", "yes"] * 2 + ["no"]}
    )
    frame = frame.with_columns(cells.alias(place))
    chunks = chunked_table(frame.lazy()).chunks("died", schema)
    read = [encode_features(rows, schema) for rows, _ in chunks]
    for parts, expected in zip(
        zip(*read, strict=True), encode_features(frame, schema), strict=True
    ):
        np.testing.assert_array_equal(np.concatenate(parts), expected)


def test_a_reader_is_read_once_and_refused_before_a_second_charge():
    table = make_table(CLASSIFIER, 100)
    X = reader(table)
    ledger, estimator = untouched()
    estimator.planned_events(X, "visits")  # reads nothing
    estimator.fit(X, "visits")
    assert len(ledger.entries) == 1
    for call in (estimator.fit, estimator.planned_events):
        with pytest.raises(ValueError, match="no rows left; create it again"):
            call(X, "visits")
    with pytest.raises(ValueError, match="no rows left"):
        estimator.predict(X)
    assert len(ledger.entries) == 1


def test_a_query_is_executed_again_by_every_fit():
    table = make_table(CLASSIFIER, 200)
    for X in (relation(table), lazy(table)):
        estimator = make_estimator(CLASSIFIER)
        assert_same_fit(estimator, table, X, "visits")
        assert_same_fit(estimator, table, X, "visits")


def test_a_reader_that_takes_the_address_of_an_earlier_one_is_not_taken_for_it():
    table = make_table(CLASSIFIER, 60)
    for _ in range(20):
        X = reader(table)
        make_estimator(CLASSIFIER).planned_events(X, "visits")
        chunked_stream._READ[id(X)] = X
        del X


def test_a_sweep_needs_rows_that_can_be_read_again():
    table = make_table(CLASSIFIER, 100)
    ledger, estimator = untouched()
    with pytest.raises(ValueError, match=r"read only once.*X.read_all\(\)"):
        sweep(estimator, reader(table), "visits", epsilons=(0.5, 1.0), reference=False)
    assert ledger.entries == ()
    with pytest.raises(ValueError, match="n_jobs=1 instead of 2"):
        sweep(estimator, relation(table), "visits", reference=False, n_jobs=2)
    assert ledger.entries == ()
    swept = sweep(estimator, relation(table), "visits", epsilons=(0.5, 1.0), reference=False)
    assert len(swept.epsilons) == 2


# What is refused, and when.


def refusals(table):
    class Nameless:
        def __arrow_c_stream__(self, requested_schema=None):
            raise AssertionError("this would execute a query")

    return {
        "a missing column": (reader(table.drop(columns="age")), "visits", SchemaError, "'age'"),
        "a target in memory": (reader(table), table["visits"], TypeError, "name of the target"),
        "a target that is a feature": (reader(table), "age", ValueError, "feature"),
        "a target that is no column": (reader(table), "nothing", ValueError, "'nothing'"),
        "no names": (Nameless(), "visits", TypeError, "known only once it is read"),
    }


def test_what_cannot_be_read_as_a_stream_is_refused_before_anything_is_charged():
    for X, y, error, words in refusals(make_table(CLASSIFIER, 20)).values():
        ledger, estimator = untouched()
        with pytest.raises(error, match=words):
            estimator.fit(X, y)
        assert ledger.entries == ()


@pytest.mark.parametrize("name", ["DPRandomForestClassifier", "DPLocallyLinearClassifier"])
def test_a_model_that_cannot_read_chunks_refuses_a_stream_with_the_reason(name, monkeypatch):
    """This includes models of other packages unless they state that they can read chunks."""
    monkeypatch.setattr(getattr(models, name), "_reads_chunks", False)
    ledger = PrivacyLedger("untouched", cap_epsilon=10)
    model = getattr(models, name)(schema=schema_of(name), ledger=ledger)
    X = reader(make_table(name, 20))
    with pytest.raises(TypeError, match=r"because .*X\.read_all\(\)"):
        model.fit(X, "visits")
    assert ledger.entries == ()
    assert X.read_all().num_rows == 20  # nothing was read


@pytest.mark.parametrize("name", [n for n in models.__all__ if not n.startswith("DP")])
def test_models_without_privacy_need_a_table_in_memory(name):
    X = reader(make_table(name, 20))
    with pytest.raises(TypeError, match=r"pass X\.read_all\(\)"):
        getattr(models, name)(schema=schema_of(name)).fit(X, "visits")


# Failures after the charge.


class Broken(Stream):
    """A stream that fails at its second batch, with a record in its message."""

    def __init__(self, table):
        def batches():
            yield from arrow(table).to_batches()
            raise ValueError(SECRET)

        self._reader = pa.RecordBatchReader.from_batches(arrow(table).schema, batches())
        self.columns = list(table.columns)


def failing_relation(table):
    """Make a DuckDB query that fails on one record, whose message would show it."""
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("whole", arrow(table.assign(code=SECRET)))
    return connection.sql("SELECT * EXCLUDE (age), CAST(code AS INTEGER) AS age FROM whole")


def failing_lazy(table):
    polars = pytest.importorskip("polars")
    frame = lazy(table.assign(code=SECRET))
    return frame.with_columns(age=polars.col("code").cast(polars.Int64))


BROKEN = {"batch": Broken, "DuckDB": failing_relation, "lazy polars": failing_lazy}


@pytest.mark.parametrize("make", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("name", [CLASSIFIER, "DPLogisticRegression"])
def test_a_stream_that_fails_on_a_record_stops_the_charged_fit_and_shows_nothing(make, name, capfd):
    table = make_table(name, 50)
    ledger = PrivacyLedger("stopped", cap_epsilon=10)
    estimator = make_estimator(name, ledger=ledger)
    X = make(table)
    estimator.planned_events(X, "visits")
    assert ledger.entries == ()
    with pytest.raises(RuntimeError, match="stopped with") as caught:
        estimator.fit(X, "visits")
    assert len(ledger.entries) == 1
    assert_shows_nothing(caught.value, capfd)


@pytest.mark.parametrize("make", BROKEN.values(), ids=BROKEN)
def test_a_prediction_of_a_stream_that_fails_on_a_record_shows_nothing(make, capfd):
    name = "DPLogisticRegression"
    table = make_table(name, 50)
    model = make_estimator(name).fit(*halves(table))
    for ask in (model.predict, model.explain_local):
        with pytest.raises(RuntimeError, match="could not be read") as caught:
            ask(make(table))
        assert_shows_nothing(caught.value, capfd)


def assert_shows_nothing(error, capfd):
    assert SECRET not in str(error)
    assert error.__cause__ is None
    assert error.__context__ is None
    output = capfd.readouterr()
    assert SECRET not in output.out + output.err


def test_a_panic_of_a_library_stops_the_fit_like_any_error(monkeypatch):
    class PanicException(BaseException):
        pass

    def panicking(X, names):
        yield from ()
        raise PanicException(SECRET)

    monkeypatch.setattr(chunked_stream, "_batches", panicking)
    ledger, estimator = untouched()
    with pytest.raises(RuntimeError, match="stopped with PanicException") as caught:
        estimator.fit(reader(make_table(CLASSIFIER, 20)), "visits")
    assert SECRET not in str(caught.value)
    assert len(ledger.entries) == 1


def test_an_interrupt_still_interrupts(monkeypatch):
    def interrupted(X, names):
        yield from ()
        raise KeyboardInterrupt

    monkeypatch.setattr(chunked_stream, "_batches", interrupted)
    with pytest.raises(KeyboardInterrupt):
        make_estimator(CLASSIFIER).fit(reader(make_table(CLASSIFIER, 20)), "visits")


@pytest.mark.parametrize(
    "name",
    [CLASSIFIER, "DPLinearRegression", "DPLogisticRegression", "DPLocallyLinearClassifier", *TREES],
)
def test_streams_of_neighbors_stay_within_the_guarantee(name):
    table = make_table(name, 60, seed=2)  # the last target is inside the range
    estimator = make_estimator(name)
    model, transcript = record(estimator, reader(table, 7), "visits")
    neighbor = reader(table.iloc[:-1], 11)  # the random draws of the other records stay the same
    report = replay(estimator, (neighbor, "visits"), model, transcript)
    assert report.holds, report
    assert max(report.spent_mu, report.spent_epsilon) > 0.0


# Planted mistakes.


def test_a_batch_that_is_read_twice_is_seen(monkeypatch):
    honest = chunked_stream._batches

    def twice(X, names):
        for batch in honest(X, names):
            yield batch
            yield batch

    monkeypatch.setattr(chunked_stream, "_batches", twice)
    table = make_table(CLASSIFIER, 200)
    with pytest.raises(AssertionError):
        assert_same_fit(make_estimator(CLASSIFIER), table, reader(table), "visits")


@pytest.mark.parametrize("name", ["DPLinearRegression", "DPLogisticRegression"])
@pytest.mark.parametrize("sums", ["second_moments", "target"])
def test_a_chunk_of_a_linear_model_that_is_left_out_is_seen(name, sums, monkeypatch):
    if sums == "target":
        sums = "target_moments" if name == "DPLinearRegression" else "gradient"
    honest = getattr(linear_fit._Records, sums)

    def without_the_last(self, *arguments):
        if len(self._chunks) > 1:
            del self._chunks[-1]
        return honest(self, *arguments)

    monkeypatch.setattr(linear_fit._Records, sums, without_the_last)
    table = make_table(name, 200)
    with pytest.raises(AssertionError):
        assert_same_fit(make_estimator(name), table, reader(table), "visits")


@pytest.mark.parametrize(
    ("name", "reader_of_chunks"),
    [("DPBoostedTreesClassifier", private_trees), ("DPLocallyLinearClassifier", locally_linear)],
)
def test_a_chunk_of_a_model_in_memory_that_is_left_out_is_seen(name, reader_of_chunks, monkeypatch):
    honest = reader_of_chunks.chunks_with_target

    def without_the_last(*arguments):
        found = list(honest(*arguments))
        return found[:-1] if len(found) > 1 else found

    monkeypatch.setattr(reader_of_chunks, "chunks_with_target", without_the_last)
    table = make_table(name, 200)
    with pytest.raises(AssertionError):
        assert_same_fit(make_estimator(name), table, reader(table), "visits")


def test_reading_a_stream_imports_neither_duckdb_nor_polars():
    program = (
        "import sys, pyarrow as pa; from dpexplain.tables.opening import chunked_table\n"
        "chunked_table(pa.table({'a': [1]}).to_reader())\n"
        "print({'duckdb', 'polars', 'ibis'} & set(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False
    )
    assert result.stdout.strip() == "set()", result.stderr
