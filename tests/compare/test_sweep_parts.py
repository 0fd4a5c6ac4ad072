"""Sweeps over chunked tables run, or are refused before the charge."""

from __future__ import annotations

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from chunked_tables import halves, make_estimator, make_table
from dpexplain import PrivacyLedger, sweep
from dpexplain.compare import releasable
from dpexplain.tables.chunked import sample_of

pytestmark = pytest.mark.full

PIECES = ((0, 1), (1, 13), (13, 13), (13, 28), (28, 30))
NAME = "DPExplainableBoostingClassifier"


@pytest.fixture
def table():
    return make_table(NAME, 300)


@pytest.mark.parametrize("kind", ["Parquet", "Dask"])
def test_a_sweep_over_parts_gives_what_it_gives_in_memory(kind, table, tmp_path):
    path = tmp_path / "table.parquet"
    table.to_parquet(path)
    X = path if kind == "Parquet" else dd.from_pandas(table, npartitions=3)
    estimator = make_estimator(NAME, reproducible_seed=3)
    settings = {"epsilons": (1, 4), "n_repeats": 2, "reference": False, "progress": False}
    found = sweep(estimator, X, "visits", evaluate=halves(table), n_jobs=2, **settings)
    expected = sweep(estimator, *halves(table), **settings)
    for epsilon in (1, 4):
        for one, other in zip(
            found.explanations[epsilon], expected.explanations[epsilon], strict=True
        ):
            for name in one:
                np.testing.assert_array_equal(one[name].contribution, other[name].contribution)
    assert len(found.metrics) == 4


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"reference": True}, "reference=False, or reference_rows"),
        ({"reference": False, "reference_rows": 9}, "reference_rows=9 needs reference=True"),
        ({"reference_rows": 0}, "reference_rows"),
        ({"reference": False, "groups": [1, 2]}, "groups="),
        ({"reference": False, "y": "nothing"}, "'nothing'"),
        ({"reference": False, "evaluate": ("path", "visits")}, "table in memory"),
    ],
)
def test_what_a_sweep_cannot_do_with_parts_is_refused_before_the_charge(
    settings, words, table, tmp_path
):
    path = tmp_path / "table.parquet"
    table.to_parquet(path)
    ledger = PrivacyLedger("parts", cap_epsilon=10)
    y = settings.pop("y", "visits")
    with pytest.raises(ValueError, match=words):
        sweep(make_estimator(NAME), path, y, ledger=ledger, progress=False, **settings)
    assert ledger.entries == ()


@pytest.mark.parametrize("kind", ["Parquet", "Dask"])
def test_the_reference_of_parts_is_fitted_to_a_sample_that_is_named(kind, table, tmp_path):
    path = tmp_path / "table.parquet"
    table.to_parquet(path)
    X = path if kind == "Parquet" else dd.from_pandas(table, npartitions=3)
    settings = {"epsilons": (1,), "progress": False, "structure_seed": 4}
    estimator = make_estimator(NAME)
    found = sweep(estimator, X, "visits", reference_rows=120, **settings)

    words = "a sample of 120 rows"
    assert found.reference.model_name.endswith(f", fitted to {words}")
    assert any(words in note for note in found.reference.guarantee.notes)
    assert found.title.endswith(f"; reference: {words}")
    assert any(words in str(entry) for entry in found.ledger.entries)
    assert not any(words in fit.model_name for fit in found.explanations[1])
    assert all(abs(term.count.sum() - 120) < 1 for term in found.reference.terms)
    everyone = releasable(found)
    assert everyone.reference is None
    assert "sample" not in everyone.title


def test_a_sample_as_large_as_the_table_gives_the_reference_of_the_table(table, tmp_path):
    path = tmp_path / "table.parquet"
    table.to_parquet(path)
    settings = {"epsilons": (1,), "progress": False, "structure_seed": 4}
    found = sweep(make_estimator(NAME), path, "visits", reference_rows=1000, **settings)
    expected = sweep(make_estimator(NAME), *halves(table), **settings)
    for name in expected.reference:
        np.testing.assert_array_equal(
            found.reference[name].contribution, expected.reference[name].contribution
        )


def test_a_sample_takes_each_row_equally_often_wherever_chunks_end():
    drawn = np.zeros(30)
    frame = pd.DataFrame({"row": np.arange(30)})
    for seed in range(2000):
        chunks = [(frame[start:stop], frame["row"][start:stop]) for start, stop in PIECES]
        X, y = sample_of(chunks, 6, seed)
        assert X["row"].tolist() == list(y) == sorted(set(y))
        assert len(y) == 6
        drawn[y] += 1
    # Each row is drawn 400 times on average, with a standard deviation of 18.
    assert 300 < drawn.min() < drawn.max() < 500


def test_a_table_in_memory_needs_no_sample_for_its_reference(table):
    with pytest.raises(ValueError, match="X is in memory, so omit it"):
        sweep(make_estimator(NAME), *halves(table), reference_rows=50, progress=False)


def test_parts_are_read_once(table):
    ledger = PrivacyLedger("parts", cap_epsilon=10)
    n_reads = []
    frame = dd.from_pandas(table, npartitions=1).map_partitions(
        lambda part: (n_reads.append(1), part)[1], meta=table.iloc[:0]
    )
    estimator = make_estimator(NAME, ledger=ledger)
    estimator.fit(frame, "visits")
    assert len(n_reads) == 1
