"""Files that declare the type of their target: a mismatch is reported before a fit."""

from __future__ import annotations

import warnings

import pytest

from dpexplain import Classes, DPExplainableBoostingClassifier, Numeric, PrivacyLedger, Schema
from dpexplain.tables.chunked_arrow import ArrowTable

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

KINDS = {"int64": [0, 1], "double": [0.0, 1.0], "bool": [False, True], "string": ["0", "1"]}


def table(folder, kind):
    path = folder / "data.parquet"
    cells = pa.array(KINDS[kind] * 50).cast(kind)
    pq.write_table(pa.table({"age": list(range(100)), "died": cells}), path)
    return path


def schema(target):
    return Schema({"age": Numeric(0, 100)}, target)


@pytest.mark.parametrize("kind", ["int64", "double", "bool"])
def test_numbers_that_no_class_can_be_are_named_before_the_ledger_is_charged(kind, tmp_path):
    ledger = PrivacyLedger("data")
    model = DPExplainableBoostingClassifier(schema=schema(Classes(["no", "yes"])), ledger=ledger)
    path = table(tmp_path, kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        with pytest.raises(UserWarning, match=f"declare 'died' as {kind}.*every row would be"):
            model.fit(path, "died")
    assert ledger.entries == ()


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("string", Classes(["no", "yes"])),
        ("int64", Classes([0, 1])),
        ("int64", Classes(["0", "1"])),
        ("bool", Classes([False, True])),
        ("double", Classes(["no", "yes"], aliases={0: "no", 1: "yes"})),
    ],
)
def test_numbers_that_may_be_classes_and_texts_pass_without_a_word(kind, target, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ArrowTable.open(table(tmp_path, kind)).check_target("died", schema(target))
