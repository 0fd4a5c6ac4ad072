"""A private estimator that is cheap to fit, and data that must not be looked at."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin

from dpexplain._utils.validation import check_epsilon
from dpexplain.accounting.calibrate import joint_budget
from dpexplain.accounting.events import GaussianEvent
from dpexplain.explain import GlobalExplanation, Guarantee
from example_explanations import age, job

_CALLS = itertools.count()
COLUMNS = ["age", "job"]


class FakePrivateClassifier(ClassifierMixin, BaseEstimator):
    """Follows the protocol that `sweep` relies on; its explanation shows its parameters.

    `broken` makes the fit fail with a message that contains a value of the data.
    """

    def __init__(
        self,
        epsilon=1.0,
        delta=1e-6,
        *,
        ledger=None,
        adjacency="add_remove",
        structure_seed=None,
        reproducible_seed=None,
        max_rows_per_person=None,
        broken=False,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.ledger = ledger
        self.adjacency = adjacency
        self.structure_seed = structure_seed
        self.reproducible_seed = reproducible_seed
        self.max_rows_per_person = max_rows_per_person
        self.broken = broken

    @property
    def mu(self):
        split = joint_budget(self.epsilon, self.delta, 0.2)
        return float(np.hypot(split.mu_bins, split.mu_train))

    def planned_events(self, X):
        check_epsilon(self.epsilon)
        if list(X.columns) != COLUMNS:
            raise ValueError("X must have the columns 'age', 'job'.")
        return (GaussianEvent("boosting", 1.0 / self.mu),)

    def reference_estimator(self):
        return FakeReference()

    def fit(self, X, y, groups=None):
        if self.broken:
            raise ValueError(f"cannot fit the record {np.asarray(X)[0]!r}")
        self.classes_ = np.array(["low", "high"])
        self.groups_ = groups
        return self

    def explain_global(self):
        guarantee = Guarantee(self.epsilon, self.delta, self.adjacency, True, mu=self.mu)
        return explanation(guarantee, seed=self.structure_seed)

    def predict_proba(self, X):
        positive = np.asarray(X["age"], dtype=float) / 100
        return np.column_stack([1 - positive, positive])


class FakeReference(BaseEstimator):
    """The non-private reference."""

    def __init__(self, structure_seed=None):
        self.structure_seed = structure_seed

    def fit(self, X, y):
        self.classes_ = np.array(["low", "high"])
        return self

    def explain_global(self):
        return explanation(Guarantee.not_private("fitted without noise"), seed=self.structure_seed)

    predict_proba = FakePrivateClassifier.predict_proba


def explanation(guarantee, seed):
    """Make an explanation whose intercept shows the structure seed used."""
    return GlobalExplanation(
        (age(guarantee), job(guarantee)),
        -1.0 if seed is None else float(seed),
        "logit",
        guarantee=guarantee,
        target_name="income",
        classes=("low", "high"),
        model_name="FakePrivateClassifier",
    )


def table(n=20):
    """Make records and labels; the older half earns more.

    Each call makes a different table, so that no two ledgers share one.
    """
    ages = np.linspace(20, 80, n) + 1e-6 * next(_CALLS)
    X = pd.DataFrame({"age": ages, "job": ["nurse", "clerk"] * (n // 2)})
    return X, pd.Series(np.where(ages > 50, "high", "low"))


class Untouchable:
    """Table with column names and a shape that fails any test that reads a value."""

    columns = COLUMNS
    shape = (20, 2)

    def __len__(self):
        return 20

    def _refuse(self, *args, **kwargs):
        raise AssertionError("data were touched")

    __array__ = __getitem__ = __iter__ = __eq__ = __hash__ = __bool__ = _refuse

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise AssertionError(f"data were touched: {name}")


class UntouchableColumn(Untouchable):
    """Labels with only a shape."""

    shape = (20,)
