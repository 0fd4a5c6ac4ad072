"""Predictions as SQL, equal to those of the explanation."""

from __future__ import annotations

import dataclasses
import sqlite3
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
    """A database of a dialect, and the folder of its server, if it has one."""

    dialect: str
    folder: Path | None = None

    def answers(self, frame, query):
        """Run a query on the table t of this frame."""
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
