"""What users of InterpretML declare becomes a schema."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier

from dpexplain import (
    Categorical,
    Classes,
    DPLogisticRegression,
    Numeric,
    PrivacyWarning,
    Range,
    Schema,
)
from dpexplain.exceptions import SchemaError

NAMES = ["age", "job", "grade"]
TYPES = ["continuous", "nominal", ["low", "high"]]
FEATURES = {
    "age": Numeric(17, 90),
    "job": Categorical(["a", "b"]),
    "grade": Categorical(["low", "high"], ordered=True),
}


@pytest.mark.parametrize(
    "bounds", [{"age": (17, 90)}, {0: (17, 90)}, np.array([[17, 90], [np.nan] * 2, [np.nan] * 2])]
)
def test_bounds_types_and_names_become_features(bounds):
    schema = Schema.from_interpret(
        feature_names=NAMES,
        feature_types=TYPES,
        privacy_bounds=bounds,
        categories={"job": ["a", "b"]},
        target=Classes(["no", "yes"]),
    )
    assert schema == Schema(FEATURES, target=Classes(["no", "yes"]))


def test_types_follow_from_bounds_and_categories():
    schema = Schema.from_interpret(
        feature_names=["age", "job"],
        privacy_bounds={"age": (17, 90)},
        categories={"job": ["a", "b"]},
    )
    assert schema == Schema({name: FEATURES[name] for name in ("age", "job")})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"feature_names": None}, "pass feature_names"),
        ({"feature_names": ["age", "job", "age"]}, "feature_names repeats 'age'"),
        ({"feature_types": ["continuous"]}, "1 entries for 3 features"),
        ({"privacy_bounds": None}, r"privacy_bounds=\{'age': \(low, high\)\}"),
        ({"privacy_bounds": {"wage": (0, 1)}}, r"privacy_bounds\['wage'\] must be"),
        ({"privacy_bounds": {"age": 3}}, r"privacy_bounds\['age'\] must be"),
        ({"categories": None}, r"'job' is nominal; pass categories=\{'job'"),
        ({"categories": {"jobs": ["a"]}}, "categories names 'jobs'"),
    ],
)
def test_what_is_not_public_is_asked_for(changes, words):
    given = {
        "feature_names": NAMES,
        "feature_types": TYPES,
        "privacy_bounds": {"age": (17, 90)},
        "categories": {"job": ["a", "b"]},
    }
    with pytest.raises(SchemaError, match=words):
        Schema.from_interpret(**{**given, **changes})


def test_names_and_types_may_be_arrays():
    schema = Schema.from_interpret(
        feature_names=pd.Index(["age", "job"]),
        feature_types=np.array(["continuous", "nominal"]),
        privacy_bounds={"age": (17, 90)},
        categories={"job": ["a", "b"]},
    )
    assert schema == Schema({name: FEATURES[name] for name in ("age", "job")})


def test_classes_of_any_fitted_model_come_with_a_warning():
    model = DummyClassifier().fit([[1.0], [2.0]], ["no", "yes"])
    with pytest.warns(PrivacyWarning, match="the model read the classes from its data"):
        schema = Schema.from_interpret(
            model, feature_names=["age"], privacy_bounds={"age": (17, 90)}
        )
    assert schema.target == Classes(["no", "yes"])
    assert schema.read_from_records
    with pytest.warns(PrivacyWarning, match="read from the data"):
        fitted = DPLogisticRegression(schema=schema).fit([[20.0], [30.0]], ["no", "yes"])
    assert not fitted.guarantee_.private


@pytest.mark.full
def test_a_model_that_is_not_fitted_gives_its_parameters():
    privacy = pytest.importorskip("interpret.privacy")
    model = privacy.DPExplainableBoostingRegressor(
        feature_names=["age"], privacy_bounds={"age": (17, 90)}, privacy_target_min=0.0,
        privacy_target_max=9.0,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schema = Schema.from_interpret(model)
    assert schema == Schema({"age": Numeric(17, 90)}, target=Range(0, 9))


@pytest.mark.full
def test_what_a_fitted_model_read_from_its_data_is_named():
    glassbox = pytest.importorskip("interpret.glassbox")
    X = np.array([[float(i), "ab"[i % 2]] for i in range(60)], dtype=object)
    model = glassbox.ExplainableBoostingClassifier(
        feature_names=["age", "job"], interactions=0, outer_bags=1, max_rounds=2, n_jobs=1
    ).fit(X, np.arange(60) > 30)
    read = "the bounds of 'age', the categories of 'job', the classes"
    with pytest.warns(PrivacyWarning, match=f"the model read {read} from its data"):
        schema = Schema.from_interpret(model)
    assert schema.features == {"age": Numeric(0, 59), "job": Categorical(["a", "b"])}
    assert schema.target == Classes([False, True])
    assert schema.read_from_records
