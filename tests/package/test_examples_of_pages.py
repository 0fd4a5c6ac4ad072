"""Every example of a page runs: doctests by ``make doctest``, and all other Python code here.

Such code names the reader's model, table or files. Here, these belong to a simulated study.
"""

from __future__ import annotations

import doctest
import pickle
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpexplain
from dpexplain import Categorical, Classes, Numeric, PrivacyLedger, Schema

pytestmark = pytest.mark.full

PAGES = Path(__file__).resolve().parents[2] / "docs"
FENCE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
# What a page says and a test cannot have, or need not do as often.
INSTEAD = {
    "postgresql://anna@db.example/budgets": "sqlite:///budgets.sqlite",
    "n_fits=500": "n_fits=5",
    "20_000": "2_000",
}


def examples(page: Path) -> list[str]:
    return FENCE.findall(page.read_text(encoding="utf-8"))


PLAIN = [
    page
    for page in sorted(PAGES.rglob("*.md"))
    if any(">>>" not in example for example in examples(page))
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("study")


@pytest.fixture(scope="module")
def study(folder: Path) -> dict[str, Any]:
    """Make the names and files that pages use: a table, its schema, ledger and models."""
    import dask.dataframe
    import duckdb
    import polars
    import shap
    from interpret.glassbox import ExplainableBoostingClassifier as Theirs
    from sklearn.model_selection import GridSearchCV

    from dpexplain.certificate import release

    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.integers(17, 91, 600),
            "hours": rng.integers(0, 80, 600),
            "income": rng.uniform(0, 100, 600),
            "fnlwgt": rng.uniform(0, 1, 600),
            "job": rng.choice(["clerk", "secretary", "farmer", "fisher"], 600),
        }
    )
    y = pd.Series(np.where(rng.random(600) < X["age"] / 100, "yes", "no"), name="readmitted")
    schema = Schema(
        {
            "age": Numeric(17, 90),
            "hours": Numeric(0, 80),
            "income": Numeric(0, 100),
            "fnlwgt": Numeric(0, 1),
            "job": Categorical(["clerk", "secretary", "farmer", "fisher"]),
        },
        target=Classes(["no", "yes"], name="readmitted"),
    )
    ledger = PrivacyLedger("data", cap_epsilon=50, delta=1e-6, path=folder / "data.ledger.json")
    pairs = [("age", "job"), ("age", "hours")]
    model = dpexplain.DPExplainableBoostingClassifier(
        epsilon=2.0, schema=schema, ledger=ledger, pairs=pairs
    ).fit(X, y)
    explanation = model.explain_global()
    plain = dpexplain.DPExplainableBoostingClassifier(schema=schema)
    comparison = dpexplain.sweep(plain, X, y, epsilons=(1, 4))

    dpexplain.io.save(explanation, folder / "model.json")
    schema.to_toml(folder / "schema.toml")
    certificate = release(folder / "model.json", ledger, schema=schema)
    certificate.save(folder / "README.md")
    (folder / "visits").mkdir()
    X.assign(readmitted=y).to_parquet(folder / "visits" / "part.parquet", index=False)
    X.assign(readmitted=y).to_parquet(folder / "visits.parquet", index=False)
    duckdb.sql(f"CREATE OR REPLACE TABLE visits AS FROM '{folder / 'visits.parquet'}'")
    return {
        **{name: getattr(dpexplain, name) for name in dpexplain.__all__},
        "GridSearchCV": GridSearchCV,
        "X": X,
        "y": y,
        "certificate": certificate,
        "comparison": comparison,
        "dask": dask,
        "dpexplain": dpexplain,
        "duckdb": duckdb,
        "ebm": Theirs(interactions=[("age", "job")], random_state=0).fit(X, y),
        "explanation": explanation,
        "ledger": ledger,
        "model": model,
        "polars": polars,
        "reference": comparison.reference,
        "schema": schema,
        "shap": shap,
        "table": X.assign(readmitted=y),
    }


@pytest.fixture
def mlflow(folder: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Replace what the page uses of MLflow, which is not a dependency."""

    def log_artifact(name: str) -> None:
        assert (folder / name).is_file()

    def set_tag(name: str, text: str) -> None:
        assert name == "mlflow.note.content"
        assert text.startswith("---\n")

    return SimpleNamespace(log_artifact=log_artifact, set_tag=set_tag)


def test_pages_with_code_that_is_no_doctest_are_found():
    assert "interoperability" in {page.stem for page in PLAIN}


# The page of ledgers shows two places for one, which nobody uses in one process.
@pytest.mark.filterwarnings("ignore:another ledger of 'readmissions'")
@pytest.mark.parametrize("page", PLAIN, ids=lambda page: page.stem)
def test_code_of_a_page_runs(page, study, folder, mlflow, monkeypatch):
    monkeypatch.chdir(folder)
    names = {**study, "mlflow": mlflow, "model": pickle.loads(pickle.dumps(study["model"]))}
    for example in examples(page):
        if ">>>" in example:
            parts = doctest.DocTestParser().get_examples(example)
            example = "".join(part.source for part in parts)
        for theirs, ours in INSTEAD.items():
            example = example.replace(theirs, ours)
        exec(compile(example, page.name, "exec"), names)
