"""Every loader gives data that fit a schema with units and descriptions for axes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpexplain._utils.extras import needed
from dpexplain.datasets import (
    Dataset,
    adult,
    load_adult,
    load_california_housing,
    load_fair,
    load_fashion_mnist,
    load_mnist,
    load_randhie,
    load_telco_churn,
    load_wine_quality,
    telco_churn,
)
from dpexplain.datasets._dataset import bundled_schema
from dpexplain.schema import Categorical, Classes, Numeric, Range
from dpexplain.tables.encoding import encode_classes, encode_features, encode_range

BUNDLED = ["adult", "california_housing", "fair", "randhie", "telco_churn", "wine_quality"]

needs_data = pytest.mark.skipif(
    not os.environ.get("DPEXPLAIN_DATA"),
    reason="DPEXPLAIN_DATA names no folder of datasets, and tests download nothing",
)
# Loader, rows, and how many values are missing by column.
LOADERS = [
    pytest.param(load_fair, 6_366, {}, id="fair"),
    pytest.param(load_randhie, 20_190, {}, id="randhie"),
    pytest.param(
        load_adult,
        32_561,
        {"workclass": 1_836, "occupation": 1_843, "native-country": 583},
        id="adult",
        marks=needs_data,
    ),
    pytest.param(
        lambda: load_adult("test"),
        16_281,
        {"workclass": 963, "occupation": 966, "native-country": 274},
        id="adult test",
        marks=needs_data,
    ),
    pytest.param(load_telco_churn, 7_043, {"TotalCharges": 11}, id="telco", marks=needs_data),
    pytest.param(load_california_housing, 20_640, {}, id="california", marks=needs_data),
    pytest.param(load_wine_quality, 6_497, {}, id="wine", marks=needs_data),
    pytest.param(
        lambda: load_mnist("test"),
        10_000,
        {},
        id="mnist test",
        marks=[needs_data, pytest.mark.full],
    ),
    pytest.param(
        lambda: load_fashion_mnist("test"),
        10_000,
        {},
        id="fashion test",
        marks=[needs_data, pytest.mark.full],
    ),
]


@pytest.mark.parametrize(("load", "n_rows", "n_missing"), LOADERS)
def test_data_fit_their_schema(
    load: Callable[[], Dataset], n_rows: int, n_missing: dict[str, int]
) -> None:
    data = load()
    assert data.X.shape == (n_rows, data.schema.n_features)
    assert tuple(data.X.columns) == data.schema.feature_names
    for (name, feature), codes in zip(
        data.schema.features.items(), encode_features(data.X, data.schema), strict=True
    ):
        if isinstance(feature, Numeric):
            missing = np.isnan(codes)
            np.testing.assert_array_equal(codes, data.X[name].to_numpy(dtype=float), err_msg=name)
        else:
            missing = codes == len(feature.categories) + 1
            assert not (codes == len(feature.categories)).any(), f"{name} has other values"
        assert missing.sum() == n_missing.get(name, 0), name


@pytest.mark.parametrize(("load", "n_rows", "n_missing"), LOADERS)
def test_target_fits_its_schema(
    load: Callable[[], Dataset], n_rows: int, n_missing: dict[str, int]
) -> None:
    data = load()
    target = data.schema.target
    assert len(data.y) == n_rows
    assert target is not None
    assert data.y.name == target.name
    if isinstance(target, Range):
        np.testing.assert_array_equal(encode_range(data.y, target), data.y)
    else:
        decoded = np.array(target.labels)[encode_classes(data.y, target)]
        np.testing.assert_array_equal(decoded, data.y)
        assert set(data.y) == set(target.labels)


@pytest.mark.parametrize(("load", "n_rows", "n_missing"), LOADERS)
def test_values_lie_on_the_step_of_their_feature(
    load: Callable[[], Dataset], n_rows: int, n_missing: dict[str, int]
) -> None:
    data = load()
    for name, feature in data.schema.features.items():
        if isinstance(feature, Numeric) and feature.step is not None:
            steps = (data.X[name] - feature.low) / feature.step
            np.testing.assert_array_equal(steps, np.rint(steps), err_msg=name)


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_schemas_describe_every_feature(name: str) -> None:
    schema = bundled_schema(name)
    assert schema.target is not None
    for part in (*schema.features.values(), schema.target):
        assert part.description
        assert len(part.description) < 130  # a line under an axis
        if isinstance(part, Numeric | Range) and name not in ("adult", "randhie"):
            assert part.unit
    assert schema.target.name


def test_every_bundled_schema_is_tested_and_says_where_it_comes_from() -> None:
    folder = Path(sys.modules[Dataset.__module__].__file__ or "").parent / "schemas"
    assert sorted(path.stem for path in folder.glob("*.toml")) == BUNDLED
    for path in folder.glob("*.toml"):
        assert path.read_text(encoding="utf-8").startswith("# ")


def test_codes_of_the_survey_are_words() -> None:
    data = load_fair()
    marriage = data.schema.features["rate_marriage"]
    assert isinstance(marriage, Categorical)
    assert marriage.ordered
    assert marriage.categories == ("very poor", "poor", "fair", "good", "very good")
    assert data.X["rate_marriage"].value_counts()["very good"] == 2_684
    assert data.schema.target == Classes(
        ["no", "yes"], description="Any time spent in extramarital affairs", name="affair"
    )
    assert (data.y == "yes").sum() == 2_053


def test_the_survey_agrees_with_statsmodels_row_by_row() -> None:
    raw = pytest.importorskip("statsmodels.datasets.fair").load_pandas().data
    data = load_fair()
    np.testing.assert_array_equal(data.y == "yes", raw["affairs"] > 0)
    for name, feature in data.schema.features.items():
        if isinstance(feature, Categorical):
            ranks = data.X[name].map(feature.categories.index)
            codes = np.unique(raw[name], return_inverse=True)[1]
            np.testing.assert_array_equal(ranks, codes, err_msg=name)
        else:
            np.testing.assert_array_equal(data.X[name], raw[name], err_msg=name)
    assert data.X["age"].dtype == np.float64


def test_the_insurance_data_agree_with_statsmodels_row_by_row() -> None:
    raw = pytest.importorskip("statsmodels.datasets.randhie").load_pandas().data
    data = load_randhie()
    np.testing.assert_array_equal(data.y, raw["mdvis"])
    for name, feature in data.schema.features.items():
        ours = data.X[name] == "yes" if isinstance(feature, Categorical) else data.X[name]
        # Before pandas 3.1, statsmodels asks for another parser: the last digit may differ.
        np.testing.assert_allclose(ours, raw[name], rtol=1e-15, err_msg=name)


def test_tables_of_statsmodels_are_read_without_its_code() -> None:
    program = (
        "import sys; from dpexplain.datasets import load_fair, load_randhie; "
        "load_fair(), load_randhie(); print('statsmodels' in sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )

    assert result.stdout == "False\n"


@pytest.mark.parametrize(("load", "name"), [(load_fair, "fair"), (load_randhie, "randhie")])
def test_missing_statsmodels_is_named_with_the_command_that_installs_it(
    load: Callable[[], Dataset], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in [module for module in sys.modules if module.split(".")[0] == "statsmodels"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "statsmodels", None)
    with pytest.raises(ImportError) as caught:
        load()
    assert str(caught.value) == needed(f"load_{name}", "statsmodels", "examples")


ADULT_LINES = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, "
    "Male, 2174, 0, 40, United-States, <=50K.\n"
    "52, ?, 209642, HS-grad, 9, Divorced, ?, Unmarried, Black, Female, 0, 0, 45, ?, >50K.\n\n"
)


def test_adult_reads_question_marks_as_missing_and_drops_the_dot_of_its_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "adult-test.csv").write_text(ADULT_LINES)
    monkeypatch.setattr(adult, "local_path", lambda file: tmp_path / file.name)
    data = load_adult("test")
    assert list(data.y) == ["<=50K", ">50K"]
    missing = data.X.columns[data.X.iloc[1].isna()]
    assert list(missing) == ["workclass", "occupation", "native-country"]
    assert not data.X.iloc[0].isna().any()
    assert data.X["workclass"][0] == "State-gov"


TELCO_LINES = (
    "customerID,gender,SeniorCitizen,Partner,Dependents,tenure,PhoneService,MultipleLines,"
    "InternetService,OnlineSecurity,OnlineBackup,DeviceProtection,TechSupport,StreamingTV,"
    "StreamingMovies,Contract,PaperlessBilling,PaymentMethod,MonthlyCharges,TotalCharges,Churn\n"
    "1-A,Female,0,Yes,No,0,No,No phone service,DSL,No,Yes,No,No,No,No,Two year,Yes,"
    "Mailed check,29.85, ,No\n"
    "2-B,Male,1,No,No,34,Yes,No,DSL,Yes,No,Yes,No,No,No,One year,No,Mailed check,56.95,1889.5,Yes\n"
)


def test_telco_reads_a_blank_total_as_missing_and_leaves_the_customer_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Telco-Customer-Churn.csv").write_text(TELCO_LINES)
    monkeypatch.setattr(telco_churn, "local_path", lambda file: tmp_path / file.name)
    data = load_telco_churn()
    assert "customerID" not in data.X
    assert list(data.X["SeniorCitizen"]) == ["No", "Yes"]
    np.testing.assert_array_equal(data.X["TotalCharges"], [np.nan, 1889.5])
    assert list(data.y) == ["No", "Yes"]


@needs_data
def test_all_of_adult_is_train_then_test() -> None:
    everything, train, test = (load_adult(subset) for subset in ("all", "train", "test"))
    assert everything.X.shape == (48_842, 14)
    pd.testing.assert_frame_equal(everything.X.head(len(train.X)), train.X)
    np.testing.assert_array_equal(everything.y[len(train.y) :], test.y)


@needs_data
def test_wine_can_be_loaded_by_colour_and_without_copies() -> None:
    assert len(load_wine_quality("red").X) == 1_599
    assert len(load_wine_quality("white").X) == 4_898
    distinct = load_wine_quality(drop_duplicates=True)
    assert len(distinct.X) == len(distinct.y) == 5_318


def test_unknown_parts_of_a_dataset_are_refused() -> None:
    with pytest.raises(ValueError, match="colour='rosé' must be"):
        load_wine_quality("rosé")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="subset='valid' must be"):
        load_adult("valid")  # type: ignore[arg-type]


def test_dataset_shows_itself_without_its_rows() -> None:
    data = load_fair()
    assert repr(data) == "Dataset('fair', 6366 rows, 8 features, target 'affair')"
    html = data._repr_html_()
    assert "Journal of Political Economy" in html
    assert "rate_marriage" in html


def test_hostile_dataset_names_are_escaped_in_html() -> None:
    data = load_fair()
    hostile = "<script>alert(1)</script>"
    texts = dict.fromkeys(["name", "source", "licence", "description", "citation"], hostile)
    html = Dataset(data.X, data.y, schema=data.schema, **texts)._repr_html_()
    assert "<script" not in html
    assert html.count("&lt;script&gt;") == 5
