"""Sweeps over tables that are read part by part: they run, or are refused before the charge."""

from __future__ import annotations

import dask.dataframe as dd
import numpy as np
import pytest

from chunked_tables import halves, make_estimator, make_table
from dpexplain import PrivacyLedger, sweep

pytestmark = pytest.mark.full

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
        ({"reference": True}, "reference=False"),
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


def test_parts_are_read_once(table):
    ledger = PrivacyLedger("parts", cap_epsilon=10)
    n_reads = []
    frame = dd.from_pandas(table, npartitions=1).map_partitions(
        lambda part: (n_reads.append(1), part)[1], meta=table.iloc[:0]
    )
    estimator = make_estimator(NAME, ledger=ledger)
    estimator.fit(frame, "visits")
    assert len(n_reads) == 1
