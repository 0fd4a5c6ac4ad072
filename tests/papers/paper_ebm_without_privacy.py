"""Non-private models, as in InterpretML's table: how good can additive models be?"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from bench_models import REFERENCE, Budget, _declared, filled
from published import WITHOUT_PRIVACY
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from dpexplain import Classes, Numeric, Schema
from file_data import is_here
from paper_ebm import FROM_FILES, loaded
from sources import SLIDES
from study import Cell, Row, Study

SEED = 1337
N_SPLITS = 5
PEER = "EBM, InterpretML"
PEER_DATA = ("breast cancer", "telco")  # the peer's minutes of adult are saved
APLR = "APLR"


def measure(data: str, model: str, n_splits: int) -> list[Row]:
    """Measure the AUROC of a model on a quarter of the rows."""
    X, y, schema = _table(data)
    X = filled(X, schema) if model != "EBM" else X
    halves = StratifiedShuffleSplit(n_splits, test_size=0.25, random_state=SEED).split(X, y)
    rows: list[Row] = []
    for repeat, (train, test) in enumerate(halves):
        fitted = MODELS[model](schema)
        start = time.process_time()
        fitted.fit(X.iloc[train], y[train])
        seconds = time.process_time() - start
        value = roc_auc_score(y[test], fitted.predict_proba(X.iloc[test])[:, 1])
        setting = {"data": data, "model": model, "metric": "AUROC", "epsilon": None}
        rows.append(setting | {"repeat": repeat, "value": float(value), "cpu_s": seconds})
    return rows


def _table(data: str) -> tuple[pd.DataFrame, np.ndarray, Schema]:
    """Return features, whether a row is in the second class, and a schema."""
    if data == "breast cancer":
        from sklearn.datasets import load_breast_cancer

        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        return X, y.to_numpy(), _observed(X)
    dataset = loaded(data)
    assert isinstance(dataset.schema.target, Classes)
    y = (dataset.y == dataset.schema.target.labels[1]).to_numpy(int)
    return dataset.X, y, Schema(dict(dataset.schema.features), target=Classes([0, 1]))


def _observed(X: pd.DataFrame) -> Schema:
    """Return bounds read from the data: nothing here is private."""
    bounds = {name: Numeric(float(X[name].min()), float(X[name].max())) for name in X}
    return Schema(bounds, target=Classes([0, 1]))


def _columns(*, standard: bool) -> Any:
    words = make_column_selector(dtype_exclude="number")
    one_hot = (OneHotEncoder(handle_unknown="ignore", sparse_output=False), words)
    encoder = make_column_transformer(one_hot, remainder="passthrough")
    return make_pipeline(encoder, StandardScaler()) if standard else encoder


def _peer(schema: Schema) -> Any:
    kind = importlib.import_module("interpret.glassbox").ExplainableBoostingClassifier
    return kind(interactions=0, n_jobs=1, random_state=SEED, **_declared(schema))


def _aplr(_: Schema) -> Any:
    return make_pipeline(_columns(standard=False), _Aplr())


class _Aplr(ClassifierMixin, BaseEstimator):
    """Automatic piecewise linear regression in its default settings, on one core."""

    def fit(self, X: Any, y: np.ndarray) -> _Aplr:
        kind = importlib.import_module("aplr").APLRClassifier
        self.classes_ = np.unique(y)
        self._model = kind(n_jobs=1).fit(np.asarray(X, dtype=float), y.astype(str))
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        found = self._model.predict_class_probabilities(np.asarray(X, dtype=float))
        return np.asarray(found, dtype=float)


MODELS: dict[str, Callable[[Schema], Any]] = {
    "logistic regression": lambda schema: make_pipeline(
        _columns(standard=True), LogisticRegression(random_state=SEED)
    ),
    "random forest": lambda schema: make_pipeline(
        _columns(standard=False), RandomForestClassifier(100, random_state=SEED)
    ),
    "gradient boosting": lambda schema: make_pipeline(
        _columns(standard=False), HistGradientBoostingClassifier(random_state=SEED)
    ),
    "EBM": lambda schema: REFERENCE.make(schema, Budget(1.0, 1e-6)),
    PEER: _peer,
    APLR: _aplr,
}
PEERS = {PEER: ("interpret", PEER_DATA), APLR: ("aplr", tuple(WITHOUT_PRIVACY))}
"""Models of other packages, measured where these are installed: the package, and on which data."""


def cells(fast: bool) -> list[Cell]:
    """Return a cell per data set and model; those of other packages only if installed."""
    return [
        {"data": data, "model": model, "n_splits": 1 if fast else N_SPLITS}
        for data in (*WITHOUT_PRIVACY, *filter(is_here, () if fast else FROM_FILES))
        for model in MODELS
        if model not in PEERS or (not fast and _is_measured(*PEERS[model], data))
    ]


def _is_measured(package: str, names: tuple[str, ...], data: str) -> bool:
    return data in names and importlib.util.find_spec(package) is not None


PROTOCOL = f"""AUROC, as InterpretML's README and the notebook behind it have it: {N_SPLITS}
stratified random splits, a quarter for testing, seed {SEED}, of which the first three are theirs;
the published sd is that of theirs.
Logistic regression on standardized columns, one per category; forests of 100 trees; histogram
gradient boosting where they had XGBoost; EBM without pairs of features, ours and, but for adult,
InterpretML's, where theirs had its default pairs; APLR in the default settings of the package
aplr, where that is installed. The published figures here are those of the README; the slides print
others for some models, and the claims compare ours with the slides. Bounds of breast cancer are
read from the data. Nothing is private. Not here: heart disease, which the README has and the slides
lack; and credit-fraud, which is not in any package that we found: it is measured if its file is
present."""

STUDIES = (
    Study(
        name="ebm_without_privacy",
        paper=SLIDES,
        shows="table without privacy: linear, forest, boosted trees, EBM, APLR",
        protocol=PROTOCOL.replace("\n", " "),
        cells=cells,
        measure=measure,
        published=tuple(
            {"data": data, "model": name, "published": mean, "published_sd": sd}
            for data, figures in WITHOUT_PRIVACY.items()
            for model, (mean, sd) in figures.items()
            for name in ((model, PEER) if model == "EBM" and data in PEER_DATA else (model,))
        ),
        causes=(
            {
                "model": "gradient boosting",
                "cause": "the figures are of XGBoost with one column per category, ours of "
                "histogram gradient boosting",
            },
        ),
    ),
)
