"""Diagnostics agree with scikit-learn and survive what they are given."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from dpexplain.compare._metrics import auroc, checked_metrics, measure


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


def test_unreadable_target_gives_no_number_and_no_error():
    name, value = measure(Constant(), pd.DataFrame({"x": [0, 0]}), [1.0, "n/a"])
    assert name == "RMSE"
    assert np.isnan(value)


def test_metrics_table_has_fixed_columns():
    with pytest.raises(ValueError, match="columns epsilon, repeat"):
        checked_metrics(pd.DataFrame({"epsilon": [1.0]}))
