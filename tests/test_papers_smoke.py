"""The studies of papers can be run, go on after an interruption, and decide their claims."""

from __future__ import annotations

import importlib

import pandas as pd
import pytest


@pytest.fixture
def load(repository, monkeypatch):
    """Import a module of the studies by its name."""
    for folder in ("benchmarks", "papers"):
        monkeypatch.syspath_prepend(str(repository / "tests" / folder))
    return importlib.import_module


def test_claims_are_decided_by_the_tables_that_there_are(load, tmp_path):
    claims, results = load("claims"), load("results")
    results.write_csv(pd.DataFrame({"mean": [0.9, 0.8]}), tmp_path / "one.csv")
    first = lambda tables: tables["one"]["mean"].iloc[0]  # noqa: E731
    stated = [
        claims.Claim("Nori 2021", "high", lambda t: f"{first(t):.1f}", lambda t: first(t) > 0.85),
        claims.Claim("Nori 2021", "low", lambda t: f"{first(t):.1f}", lambda t: first(t) < 0.85),
        claims.Claim("Nori 2021", "other", lambda t: "", lambda t: t["two"].empty),
    ]
    results.write_csv(claims.decided(stated, claims.read_tables(tmp_path)), tmp_path / "claims.csv")

    table = pd.read_csv(tmp_path / "claims.csv")
    assert list(table["holds"]) == ["yes", "no", "not measured"]
    assert list(table["evidence"]) == ["0.9", "0.9", "no table of two"]
    assert list(claims.read_tables(tmp_path)) == ["one"]
