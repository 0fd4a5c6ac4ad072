"""Diagnostics agree with scikit-learn and accept any input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from dpexplain import Classes, Numeric, Range, Schema
from dpexplain.compare._metrics import auroc, checked_metrics, measure, read_targets


@given(st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=40))
def test_auroc_equals_scikit_learn_ties_included(rows):
    positive = np.array([row[0] for row in rows])
    score = np.array([row[1] for row in rows], dtype=float)
    if positive.all() or not positive.any():
        assert np.isnan(auroc(positive, score))
    else:
        assert auroc(positive, score) == pytest.approx(roc_auc_score(positive, score))


class Constant:
    def predict(self, X):
        return np.full(len(X), 2.0)


def test_error_of_a_regression_is_the_root_mean_square():
    X = pd.DataFrame({"x": [0, 0]})
    assert measure(Constant(), X, [5.0, "-2"]) == ("RMSE", pytest.approx(np.sqrt((9 + 16) / 2)))


def test_records_without_a_readable_target_are_left_out():
    X = pd.DataFrame({"x": [0, 0]})
    assert measure(Constant(), X, [1.0, "n/a"]) == ("RMSE", 1.0)
    name, value = measure(Constant(), X, [None, "n/a"])
    assert name == "RMSE"
    assert np.isnan(value)


def test_held_out_labels_are_read_as_a_fit_reads_them():
    target = Classes(["no", "yes"], aliases={"j": "yes"}, missing=["?"])
    labels = read_targets(["j", "?", None, "no", "else"], Schema({"x": Numeric(0, 3)}, target))
    assert list(labels) == ["yes", None, None, "no", None]


def test_held_out_numbers_are_read_as_a_fit_reads_them_but_are_not_clipped():
    target = Range(0.0, 2.0, decimal=",", missing=["-99"])
    numbers = read_targets(["1,5", "-99", "", "7"], Schema({"x": Numeric(0, 3)}, target))
    np.testing.assert_array_equal(numbers, [1.5, np.nan, np.nan, 7.0])


def test_metrics_table_has_fixed_columns():
    with pytest.raises(ValueError, match="columns epsilon, repeat"):
        checked_metrics(pd.DataFrame({"epsilon": [1.0]}))
