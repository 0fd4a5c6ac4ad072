"""Predictions as SQL, equal to those of the explanation."""

from __future__ import annotations

import dataclasses
import io
import sqlite3
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from dpexplain import Categorical, Classes, Date, DPLogisticRegression, Numeric, Schema
from dpexplain.explain import MulticlassExplanation, PairAxis, PairCurve
from dpexplain.interop import to_sql
from example_explanations import age, classifier, job
from fitted_models import FITTED, dated, table
from postgres_server import frame_of_query, queried, running_server

SERVERS = [pytest.param(name, marks=pytest.mark.full) for name in ("duckdb", "postgresql")]
DIALECTS = ["sqlite", *SERVERS]
HOSTILE = ("it's", '"quoted"', "; DROP TABLE t; --", "Größe ≥ 1", "two\nlines", "1", "2.5", "None")
NAME = 'the "age"; --'


@pytest.fixture(scope="module")
def server():
    """Start PostgreSQL, or skip the test."""
    with running_server() as started:
        yield started.folder


class Database(NamedTuple):
    """A database for one SQL dialect, and the folder of its server, if any."""

    dialect: str
    folder: Path | None = None

    def answers(self, frame, query):
        """Run a query on a table named t with this frame's content."""
        if self.folder is not None:
            return frame_of_query(self.folder, frame, "t", query)
        if self.dialect == "duckdb":
            duckdb = pytest.importorskip("duckdb")
            connection = duckdb.connect()
            connection.register("t", frame)
            return connection.execute(query).df()
        connection = sqlite3.connect(":memory:")
        columns = ", ".join('"' + column.replace('"', '""') + '"' for column in frame)
        connection.execute(f"CREATE TABLE t ({columns})")
        marks = ", ".join("?" * frame.shape[1])
        rows = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
        connection.executemany(f"INSERT INTO t VALUES ({marks})", rows)
        return pd.read_sql(query, connection)

    def scores(self, kind, cells, explanation, setting=""):
        """Return the scores of a column of the given type, filled from strings."""
        query = to_sql(explanation, table="t", dialect=self.dialect)
        values = ", ".join("(" + quoted_text(cell) + ")" for cell in cells)
        filled = f"DROP TABLE IF EXISTS t; CREATE TABLE t (x {kind}); INSERT INTO t VALUES {values}"
        if self.folder is None:
            connection = pytest.importorskip("duckdb").connect()
            connection.execute(filled)
            return connection.execute(query).df()["score"].tolist()
        queried(self.folder, filled)
        answer = queried(self.folder, f"{setting}; {query}")
        return pd.read_csv(io.StringIO(answer))["score"].tolist()


def quoted_text(text):
    return "'" + text.replace("'", "''") + "'"


@pytest.fixture(params=DIALECTS)
def database(request):
    """Open a database of each dialect."""
    served = request.param == "postgresql"
    return Database(request.param, request.getfixturevalue("server") if served else None)


def assert_equal_predictions(explanation, frame, database):
    """Compare a query with the explanation, to 1e-9."""
    query = to_sql(explanation, table="t", dialect=database.dialect)
    found = database.answers(frame, query)
    expected = explanation.predict(frame)
    if explanation.classes is None:
        np.testing.assert_allclose(found["prediction"], expected, rtol=0, atol=1e-9)
        return found
    assert found["prediction"].tolist() == expected.tolist()
    named = [f"probability_{name}" for name in explanation.classes]
    proba = explanation.predict_proba(frame)
    np.testing.assert_allclose(found[named], proba, rtol=0, atol=1e-9)
    scores = found[[name for name in found if name.startswith("score")]].to_numpy()
    wanted = explanation.decision_function(frame)
    np.testing.assert_allclose(scores.squeeze(), wanted, rtol=0, atol=1e-9)
    return found


def of_one(feature):
    """Make the explanation of a model whose only feature x has a different score in each bin."""
    if isinstance(feature, Categorical):
        n = len(feature.categories)
        values = np.linspace(-2, 3, n + 2)
        term = job(
            name="x", categories=feature.categories, contribution=values, count=values + 3,
            noise_std=None,
        )  # fmt: skip
    else:
        edges = [feature.low, *np.linspace(feature.low, feature.high, 4)[1:3], feature.high]
        term = age(name="x", bin_edges=edges, unit=feature.unit, step=None)
    schema = Schema({"x": feature}, target=Classes(["low", "high"]))
    return classifier(terms=(term,), schema=schema)


def column(*cells):
    return pd.DataFrame({"x": pd.Series(cells, dtype=object)})


def hostile_explanation():
    values = np.linspace(-2, 3, len(HOSTILE) + 2)
    schema = Schema(
        {
            NAME: Numeric(17, 90, missing=[-99], decimal=","),
            "job": Categorical(HOSTILE, aliases={"l'alias": "it's", 7: "1"}, missing=["?", "-8"]),
        },
        target=Classes(["no 'way'", "yes"]),
    )
    terms = (
        age(name=NAME),
        job(categories=HOSTILE, contribution=values, count=values + 3, noise_std=None),
    )
    return classifier(terms=terms, schema=schema, classes=schema.target.names)


def test_any_category_and_any_number_is_read_as_in_python(database):
    edges = age().bin_edges
    numbers = [
        *edges,
        *np.nextafter(edges, -np.inf),
        *np.nextafter(edges, np.inf),
        *(np.inf, -np.inf, np.nan, -99.0, 1e300, -0.0),
    ]
    listed = [*HOSTILE, "l'alias", "7", " 7.0 ", "1.0", "01", "true", "?", "-8", "none", "", " "]
    texts = [*listed, None, "NA", "It's", "2,5", "1.5", "unknown", "nan"]
    X = pd.DataFrame({NAME: np.resize(numbers, 60), "job": np.resize(texts, 60)})
    X.loc[len(texts) :, "job"] = "it's"
    found = assert_equal_predictions(hostile_explanation(), X, database)
    assert found["score"].nunique() > 10
    # A column of codes may hold numbers, and a column of numbers text.
    codes = pd.DataFrame({NAME: np.full(5, 30.0), "job": [1.0, 2.5, 7.0, -8.0, np.nan]})
    assert assert_equal_predictions(hostile_explanation(), codes, database)["score"].nunique() == 3
    spelled = ["29,5", "1.5", "x", "", "-99", "-99,0", "1e3", "inf", "-Infinity", " 50 ", "31"]
    text = pd.DataFrame({NAME: spelled, "job": "1"})
    assert assert_equal_predictions(hostile_explanation(), text, database)["score"].nunique() == 4


def test_no_spelling_of_a_number_stops_a_query_or_reads_as_another(database):
    numbers = ["5_0", "1e400", "-1e400", "1e-400", "9" * 400, "\t50\n", "\xa050", "5e0001", ".3e2"]
    jobs = ["nurse", "\tnurse\xa0", "clerk\n", "\xa0", "\tNA", "\tcook"]
    X = pd.DataFrame({"age": [*numbers, *["30"] * 6], "job": ["nurse"] * len(numbers) + jobs})
    found = assert_equal_predictions(classifier(), X, database)
    assert found["score"].nunique() > 3


EXTREME = ("1e99999", "-1e99999", "1e-328", "3e-324", "0e99999", "5e+0000000001", "1e-99999")
LARGE = ("9007199254740993", "-9007199254740993", "12345678901234567", "1" * 18, "1" * 25)


@pytest.mark.parametrize("decimal", [".", ","])
def test_the_largest_the_smallest_and_the_longest_numbers_are_numbers(database, decimal):
    explanation = of_one(Numeric(-1, 3e16, decimal=decimal))
    texts = column(*EXTREME, *LARGE, "1e", "+", ".", ",", "+-5", "0x32", "5\x0b", "\x1c5", "5 0")
    found = assert_equal_predictions(explanation, texts, database)
    assert found["score"].nunique() == 4


@pytest.mark.parametrize("marker", ["inf", "-inf", "1e400", 1.7976931348623157e308, LARGE[0]])
def test_any_number_can_mark_missing_values(database, marker):
    explanation = of_one(Numeric(17, 90, missing=[marker]))
    texts = ["inf", "-Infinity", "1e400", "1.7976931348623157e308", "1e308", *LARGE[:2]]
    found = assert_equal_predictions(explanation, column(*texts), database)
    assert found["score"].nunique() == 3
    numbers = pd.DataFrame({"x": [np.inf, -np.inf, 1.7976931348623157e308, 1e308, 2.0**53]})
    found = assert_equal_predictions(explanation, numbers, database)
    assert found["score"].nunique() > 1


def test_a_category_has_every_spelling_of_its_date_or_number(database):
    names = ("2020-01-01", "2020-01-02T08:30", "b", "1", "inf", LARGE[2])
    days = ["2020-01-01", "2020-01-01 00:00:00", "2020-01-01T00:00:00", "2020-01-01 00:00"]
    days += ["2020-01-02T08:30", "2020-01-02 08:30", "b 00:00:00"]
    numbers = ["Infinity", "+INF", "1e400", "-inf", "true", "1e0", "-nan", "+NaN", "nan"]
    large = [LARGE[2], f" {LARGE[2]}\n", "12345678901234567.0", "12345678901234560"]
    X = column(*days, *numbers, *large, "b\x0b", "\x1fb")
    found = assert_equal_predictions(of_one(Categorical(names)), X, database)
    assert found["score"].nunique() == len(names) + 2


def test_a_marker_of_a_date_may_have_a_format_of_the_schema(database):
    feature = Date("2000-01-01", "2020-01-01", format="%d.%m.%Y", missing=["01.01.1900"])
    X = column("1900-01-01", "1900-01-02", "2001-01-01", "2019-12-31 10:00")
    with pytest.warns(UserWarning, match="reads 'x' as dates"):
        found = assert_equal_predictions(of_one(feature), X, database)
    assert found["score"].nunique() == 3


def test_bytes_are_no_number_and_no_category():
    X = column(b"50", b"true", b"u", b"1", b"", b"\xff", "u", None)
    for feature in (Numeric(17, 90), Numeric(17, 90, decimal=","), Categorical(["u", "1"])):
        assert_equal_predictions(of_one(feature), X, Database("sqlite"))


@pytest.mark.parametrize("name", ["sqlite", pytest.param("duckdb", marks=pytest.mark.full)])
def test_boolean_labels_are_booleans(name):
    schema = Schema({"age": Numeric(17, 90)}, target=Classes([False, True]))
    explanation = classifier(
        terms=(age(),), schema=schema, classes=schema.target.names, intercept=0.0
    )
    X = pd.DataFrame({"age": [20.0, 50.0]})
    assert explanation.predict(X).tolist() == [False, True]
    assert_equal_predictions(explanation, X, Database(name))


DAYS = Date("2000-01-01", "2020-01-01")
COMMA = Numeric(17, 90, decimal=",")
NAMES = Categorical(["2020-01-01", "T-cell", "1"])
MIDNIGHT, EVENING = datetime(2020, 1, 1), datetime(2011, 5, 6, 19, 8)
EVERYWHERE = [
    ("date", ["2011-05-06", "1900-01-01"], [date(2011, 5, 6), date(1900, 1, 1)], DAYS),
    ("timestamp", ["2011-05-06 19:08", "2020-01-01"], [EVENING, MIDNIGHT], DAYS),
    ("date", ["2020-01-01", "2011-05-06"], [date(2020, 1, 1), date(2011, 5, 6)], NAMES),
    ("timestamp", ["2020-01-01", "2011-05-06 19:08"], [MIDNIGHT, EVENING], NAMES),
    ("char(6)", ["50,5", "50.5", "inf"], ["50,5  ", "50.5  ", "inf   "], COMMA),
    ("char(6)", ["T-cell", "x"], ["T-cell", "x     "], NAMES),
    ("a_name", ["50,5", "50.5", "20"], ["50,5", "50.5", "20"], COMMA),
    ("decimal(9, 2)", ["50.5", "20"], [Decimal("50.50"), Decimal("20.00")], COMMA),
    ("real", ["50.5", "20"], [50.5, 20.0], COMMA),
    ("bigint", ["50", "20"], [50, 20], COMMA),
    ("boolean", ["true", "false"], [True, False], NAMES),
]
POSTGRESQL = [
    ("a_number", ["50.5", "20"], [50.5, 20.0], COMMA),
    ("a_day", ["2011-05-06", "1900-01-01"], [date(2011, 5, 6), date(1900, 1, 1)], DAYS),
    ("numeric", ["1e4000", "-1e4000", "1e-4000", "50"], [np.inf, -np.inf, 0.0, 50.0], COMMA),
]
BYTES, READ = [b"50", b"true", b"1"], (COMMA, NAMES)


@pytest.mark.full
@pytest.mark.parametrize(("kind", "cells", "objects", "feature"), EVERYWHERE)
def test_a_duckdb_column_of_any_type_is_read_as_in_python(kind, cells, objects, feature):
    kind = "ENUM ('50,5', '50.5', '20')" if kind == "a_name" else kind
    explanation = of_one(feature)
    found = Database("duckdb").scores(kind, cells, explanation)
    np.testing.assert_allclose(found, explanation.decision_function(column(*objects)), atol=1e-9)
    for other in READ:  # no bytes are a number or a category
        found = Database("duckdb").scores("BLOB", ["50", "true", "1"], of_one(other))
        wanted = of_one(other).decision_function(column(*BYTES))
        np.testing.assert_allclose(found, wanted, atol=1e-9)


@pytest.mark.full
@pytest.mark.parametrize("style", ["ISO", "German", "SQL, DMY", "Postgres"])
def test_no_setting_and_no_type_of_postgresql_changes_a_cell(server, style):
    queried(server, "CREATE DOMAIN a_name AS text; CREATE DOMAIN a_number AS numeric")
    queried(server, "CREATE DOMAIN a_day AS date")
    setting = f"SET datestyle = '{style}'; SET bytea_output = 'escape'"
    database = Database("postgresql", server)
    given = [*EVERYWHERE, *POSTGRESQL, *(("bytea", ["50", "true", "1"], BYTES, x) for x in READ)]
    if style != "ISO":  # other types have no style
        given = [case for case in given if case[0] in ("date", "timestamp", "a_day")]
    try:
        for kind, cells, objects, feature in given:
            explanation = of_one(feature)
            found = database.scores(kind, cells, explanation, setting)
            wanted = explanation.decision_function(column(*objects))
            np.testing.assert_allclose(found, wanted, atol=1e-9, err_msg=kind)
    finally:
        queried(server, "DROP TABLE t; DROP DOMAIN a_name, a_number, a_day")


@pytest.mark.full
def test_a_number_of_any_length_does_not_stop_postgresql(server):
    explanation = of_one(Numeric(17, 90))
    short = column("9" * 5000, f"{'1' * 4990}e9999", "50")
    assert_equal_predictions(explanation, short, Database("postgresql", server))
    long = column("9" * 140_000, f"0.{'0' * 20_000}1")
    query = to_sql(explanation, table="t", dialect="postgresql")
    found = Database("postgresql", server).answers(long, query)["score"].tolist()
    assert found == explanation.decision_function(column(None, None)).tolist()


@pytest.mark.parametrize("link", ["logit", "identity", "log", "softmax"])
def test_a_query_has_the_predictions_of_every_link(database, link):
    X = pd.DataFrame({"age": [20.0, None, 40.0, 80.0], "job": ["nurse", "cook", None, "clerk"]})
    if link == "softmax":
        names = ("a", "b", "c")
        parts = [
            classifier(
                link=link, classes=names, of_class=c, intercept=i, terms=(age(), other_job(i))
            )
            for i, c in enumerate(names)
        ]
        assert_equal_predictions(MulticlassExplanation(parts), X, database)
    else:
        assert_equal_predictions(
            classifier(link=link, classes=("low", "high") if link == "logit" else None), X, database
        )


def other_job(shift):
    return job(contribution=[1.0 - shift, -1.0, 0.1 * shift, -0.1])


@pytest.mark.parametrize("score", [-5000.0, 5000.0])
def test_no_score_overflows(database, score):
    X = pd.DataFrame({"age": [20.0], "job": ["nurse"]})
    assert_equal_predictions(classifier(intercept=score), X, database)


def test_pairs_are_in_the_query(database):
    axes = (
        PairAxis("job", "categorical", categories=("clerk", "nurse"), special=("other",)),
        PairAxis("age", "numeric", bin_edges=[20.0, 40.0, 60.0], special=("missing",)),
    )
    cell = np.arange(9.0).reshape(3, 3)
    pair = PairCurve("job & age", axes, cell, np.ones((3, 3)), guarantee=age().guarantee)
    rows = [(a, j) for a in (None, 10.0, 40.0, 90.0) for j in ("nurse", "clerk", "cook", None)]
    X = pd.DataFrame(rows, columns=["age", "job"])
    with pytest.warns(UserWarning, match="no bin in 'job & age'"):
        found = assert_equal_predictions(classifier(pairs=(pair,)), X, database)
    assert found["score"].nunique() > 9


def test_dates_are_days_as_written(database):
    days = ["2020-01-31", "2020-01-31 23:59:59", "2020-02-30", "x", None, "1900-01-01", "5"]
    unit = "days since 1970-01-01"
    schema = Schema(
        {
            "day": Date("2015-01-01", "2024-12-31", missing=["2020-03-01"]),
            "job": Categorical(["nurse", "clerk"]),
        }
    )
    day = age(name="day", bin_edges=[16436.0, 18292.0, 18293.0, 20088.0], unit=unit, step=1.0)
    explanation = classifier(terms=(day, job()), schema=schema)
    cells = [*days, "2020-02-01", "2020-03-01", "2020-01-30", "2020-01-31x"]
    cells += ["2020-06-31", "2020-1-1", "2020-02-03T10:0", "0000-01-01", "\t2020-01-31\xa0"]
    frame = pd.DataFrame({"day": cells, "job": "nurse"})
    found = assert_equal_predictions(explanation, frame, database)
    assert found["score"].nunique() == 4


@pytest.mark.full
@pytest.mark.parametrize("setting", ["on", "off"])
def test_no_setting_of_postgresql_lets_a_text_end_early(server, setting):
    evil = r"\' THEN 1 END) FROM t) SELECT 1; CREATE TABLE pwned AS SELECT 1 AS a; --"
    terms = (age(), job(categories=("nurse", evil)))
    explanation = classifier(terms=terms, classes=("low", "a\\b"))
    X = pd.DataFrame({"age": [20.0, 30.0, 80.0], "job": ["nurse", evil, "cook"]})
    queried(server, f"ALTER ROLE owner SET standard_conforming_strings = {setting}")
    try:
        assert_equal_predictions(explanation, X, Database("postgresql", server))
        made = queried(server, "SELECT tablename FROM pg_tables WHERE tablename = 'pwned'")
    finally:
        queried(server, "ALTER ROLE owner RESET standard_conforming_strings")
    assert "pwned" not in made


def test_names_of_table_and_columns_are_quoted_and_repeated():
    X = pd.DataFrame({"age": [20.0, 50.0], "job": ["nurse", "clerk"], 'the "id"': [7, 8]})
    query = to_sql(classifier(), table='it\'s "t"', dialect="sqlite", keep=['the "id"'])
    connection = sqlite3.connect(":memory:")
    X.to_sql('it\'s "t"', connection, index=False)
    found = pd.read_sql(query, connection)
    assert list(found) == [
        *('the "id"', "prediction", "probability_low", "probability_high", "score")
    ]
    assert found['the "id"'].tolist() == [7, 8]
    assert query.startswith("-- ")
    assert 'FROM "main"."t"' in to_sql(classifier(), table=("main", "t"), dialect="duckdb")


def test_a_missing_column_is_an_error_and_no_text():
    connection = sqlite3.connect(":memory:")
    pd.DataFrame({"id": [1], "job": ["nurse"]}).to_sql("t", connection, index=False)
    with pytest.raises(sqlite3.OperationalError, match=r"no such column: .*age"):
        connection.execute(to_sql(classifier(), table="t", dialect="sqlite"))
    pd.DataFrame({"age": [1.0], "job": ["nurse"]}).to_sql("u", connection, index=False)
    with pytest.raises(sqlite3.OperationalError, match=r"no such column: .*key"):
        connection.execute(to_sql(classifier(), table="u", dialect="sqlite", keep=["key"]))


def test_a_postgresql_query_has_one_column_for_each_feature():
    query = to_sql(hostile_explanation(), table="t", dialect="postgresql")
    step = query.partition("_dpexplain_texts AS")[2].partition("_dpexplain_cells AS")[0]
    assert step.count(" AS _dpexplain_") == 1 + 2  # one is the table


def test_a_hostile_guarantee_stays_a_comment():
    guarantee = dataclasses.replace(age().guarantee, unit="one\nrow; DROP TABLE t\r\n\u2028; --")
    query = to_sql(classifier(guarantee), table="t", dialect="sqlite")
    comment, _, rest = query.partition("WITH ")
    assert all(line.startswith("-- ") for line in comment.splitlines())
    assert "DROP" not in rest


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"dialect": "oracle"}, ValueError, "'oracle' must be one of 'duckdb', 'sqlite'"),
        ({"keep": "id"}, TypeError, "must be names"),
        ({"keep": ["Score"]}, ValueError, "has the name of a result"),
        ({"keep": ["id", "ID"]}, ValueError, "keep repeats a column"),
        ({"keep": ["_dpexplain_cell_0"]}, ValueError, "keep has '_dpexplain_cell_0'"),
        ({"table": 3}, TypeError, "must be names"),
    ],
)
def test_what_cannot_be_a_query_is_refused(changes, error, words):
    with pytest.raises(error, match=words):
        to_sql(classifier(), **{"table": "t", "dialect": "sqlite", **changes})


def test_parts_of_a_model_have_no_query():
    with pytest.raises(ValueError, match="interactions"):
        to_sql(classifier(main_effects_only=True), table="t", dialect="sqlite")
    with pytest.raises(TypeError, match="explanation is a ShapeFunction"):
        to_sql(age(), table="t", dialect="sqlite")


@pytest.mark.full
@pytest.mark.parametrize("fitted", FITTED)
def test_a_query_predicts_what_the_model_predicts(fitted):
    X, _ = table(seed=3)
    X.loc[:2, "age"] = [np.inf, -np.inf, 1e9]
    explanation = fitted().explain_global(effect=False)
    for dialect in ("sqlite", "duckdb"):
        assert_equal_predictions(explanation, X, Database(dialect))


@pytest.mark.full
def test_formats_of_dates_are_left_to_the_database_with_a_warning():
    model, X = dated(DPLogisticRegression)
    explanation = model.explain_global()
    as_text = X.assign(visit=X["visit"].dt.strftime("%Y-%m-%d"))
    assert_equal_predictions(explanation, as_text, Database("sqlite"))
    for frame in (as_text, X):
        assert_equal_predictions(explanation, frame, Database("duckdb"))
    features = {
        "visit": Date("2015-01-01", "2024-12-31", format="%d.%m.%Y"),
        "job": Categorical(["a", "b"]),
    }
    schema = Schema(features, target=explanation.schema.target)
    with pytest.warns(UserWarning, match="reads 'visit' as dates, times and ISO text only"):
        to_sql(dataclasses.replace(explanation, schema=schema), table="t", dialect="duckdb")
