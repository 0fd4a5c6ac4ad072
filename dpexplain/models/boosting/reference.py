"""Explainable boosting machines without privacy: the reference beside the private ones."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import type_of_target

from dpexplain._validation import check_count, check_in_range
from dpexplain.accounting import NonPrivateEvent, PrivacyLedger
from dpexplain.binning import FeatureBins, quantile_bins
from dpexplain.binning.bins import Encoded
from dpexplain.encoding import check_columns, encode_features
from dpexplain.explain import Guarantee
from dpexplain.models.boosting.additive import (
    HALF_RANGE_BOUND,
    LOGIT_BOUND,
    AdditiveClassifier,
    AdditiveModel,
    AdditiveRegressor,
)
from dpexplain.models.boosting.bagging import fit_bag
from dpexplain.models.boosting.greedy import GreedyStep
from dpexplain.models.boosting.records import LOGISTIC, SQUARED, Loss
from dpexplain.models.boosting.targets import encoded_classes, encoded_range
from dpexplain.models.boosting.terms import AdditiveTerms, centred_terms
from dpexplain.models.inputs import as_column, as_table, observed_schema
from dpexplain.schema import Classes, Range, Schema

_MIN_CURVATURE_LOGISTIC = 2.0
_MIN_CURVATURE_SQUARED = 10.0


class _Reference(AdditiveModel):
    """Fit of both non-private estimators."""

    _target_kind: type[Range] | type[Classes]
    _loss: Loss
    _min_curvature: float
    _bound: float

    def __init__(
        self,
        *,
        schema: Schema | None = None,
        max_bins: int = 256,
        learning_rate: float = 0.1,
        max_rounds: int = 1000,
        max_leaves: int = 3,
        outer_bags: int = 8,
        random_state: int | None = 0,
    ) -> None:
        self.schema = schema
        self.max_bins = max_bins
        self.learning_rate = learning_rate
        self.max_rounds = max_rounds
        self.max_leaves = max_leaves
        self.outer_bags = outer_bags
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Any:
        """Fit without noise. NOT PRIVATE: the model and its explanation must stay inside.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter or the shape of the data is wrong.
        """
        X = as_table(X)
        y = as_column("y", y, X)
        self._check_parameters(X)
        self._check_values(X, y)
        schema = self.schema or self._observed_schema(X, y)
        columns = encode_features(X, schema)
        bins = [
            quantile_bins(name, feature, column, self.max_bins)
            for (name, feature), column in zip(schema.features.items(), columns, strict=True)
        ]
        self._terms = self._boosted(bins, columns, y, schema)
        self.schema_ = schema
        self.intercept_ = self._terms.intercept
        self.n_features_in_ = schema.n_features
        self.feature_names_in_ = np.array(schema.feature_names, dtype=object)
        self.guarantee_ = Guarantee.not_private("fitted without noise")
        self.ledger_ = PrivacyLedger("this fit alone")
        self.ledger_.charge(
            [NonPrivateEvent("fit", "fitted without noise")], label=type(self).__name__
        )
        return self

    def _check_parameters(self, X: Any) -> None:
        check_count("max_bins", self.max_bins, 2)
        check_count("max_rounds", self.max_rounds)
        check_count("max_leaves", self.max_leaves, 2)
        check_count("outer_bags", self.outer_bags)
        check_in_range("learning_rate", self.learning_rate, 0.0, 1.0, include_low=False)
        if self.schema is None:
            return
        check_columns(X, self.schema)
        if not isinstance(self.schema.target, self._target_kind):
            raise ValueError(
                f"{type(self).__name__} needs a schema with "
                f"target={self._target_kind.__name__}(...), got {self.schema.target!r}."
            )

    def _observed_schema(self, X: Any, y: Any) -> Schema:
        return observed_schema(X, y, self._target_kind)

    def _boosted(
        self,
        bins: list[FeatureBins],
        columns: list[Encoded],
        y: Any,
        schema: Schema,
    ) -> AdditiveTerms:
        target, scale, offset = self._encoded_target(y, schema)
        index = [b.index(c) for b, c in zip(bins, columns, strict=True)]
        n_bins = [b.n_bins for b in bins]
        counts = [
            np.bincount(i, minlength=n).astype(np.float64)
            for i, n in zip(index, n_bins, strict=True)
        ]
        step = GreedyStep(
            [b.ordered for b in bins],
            [len(b.special) for b in bins],
            learning_rate=self.learning_rate,
            max_leaves=self.max_leaves,
            min_curvature=self._min_curvature,
        )
        rng = np.random.default_rng(self.random_state)
        bags = [
            fit_bag(
                index,
                n_bins,
                target,
                self._loss,
                step,
                max_rounds=self.max_rounds,
                bound=self._bound,
                rng=rng,
            )
            for _ in range(self.outer_bags)
        ]
        tables = [np.mean(parts, axis=0) for parts in zip(*bags, strict=True)]
        nobody = [
            (np.arange(b.n_bins) >= b.n_value_bins) & (c == 0)
            for b, c in zip(bins, counts, strict=True)
        ]
        return centred_terms(bins, tables, counts, scale=scale, offset=offset, neutral=nobody)

    def _check_values(self, X: Any, y: Any) -> None:
        """Look at the data, which only a fit without a guarantee may do."""
        if len(X) == 0:
            raise ValueError(
                f"0 sample(s) (shape={X.shape}) while a minimum of 1 is required; pass records."
            )
        if isinstance(X, np.ndarray) and np.iscomplexobj(X):
            raise ValueError("Complex data not supported; X must hold real numbers or categories.")
        self._check_target(y)

    @abstractmethod
    def _check_target(self, y: Any) -> None:
        """Raise ValueError where the target does not suit the model."""

    @abstractmethod
    def _encoded_target(self, y: Any, schema: Schema) -> tuple[NDArray[np.float32], float, float]:
        """Target for the loss, its unit, and its zero."""


class ExplainableBoostingClassifier(AdditiveClassifier, _Reference):
    """Explainable boosting machine for two classes, without privacy.

    The reference beside `DPExplainableBoostingClassifier`: cyclic gradient boosting of
    shallow trees on one feature each, Algorithm 1 of [1]_.

    Parameters
    ----------
    schema : Schema or None, default=None
        Bounds, categories and classes; None reads them from the data.
    max_bins : int, default=256
        At most so many bins per numeric feature.
    learning_rate : float, default=0.1
        Share of a leaf's value that is added.
    max_rounds : int, default=1000
        Passes over the features at most; each bag stops earlier where held-out records say so.
    max_leaves : int, default=3
        Leaves of a tree.
    outer_bags : int, default=8
        Fits on different random parts of the records, whose curves are averaged.
    random_state : int or None, default=0
        Seed of the parts.

    Attributes
    ----------
    schema_ : Schema
        The schema in use.
    classes_ : ndarray of shape (2,)
        Class labels.
    intercept_ : float
        Mean score, in log-odds.
    guarantee_ : Guarantee
        Says that nothing is promised.
    ledger_ : PrivacyLedger
        Holds one non-private event.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features.

    References
    ----------
    .. [1] Nori et al., "Accuracy, Interpretability, and Differential Privacy via
       Explainable Boosting", ICML 2021, arXiv:2106.09680.

    Examples
    --------
    >>> import numpy as np
    >>> from dpexplain import Classes, Numeric, Schema
    >>> X = np.linspace(0, 1, 200).reshape(-1, 1)
    >>> schema = Schema({"x": Numeric(0, 1)}, target=Classes(["no", "yes"]))
    >>> y = np.where(X[:, 0] > 0.5, "yes", "no")
    >>> ExplainableBoostingClassifier(schema=schema).fit(X, y).predict([[0.1], [0.9]])
    array(['no', 'yes'], dtype='<U3')
    """

    _target_kind = Classes
    _loss = LOGISTIC
    _min_curvature = _MIN_CURVATURE_LOGISTIC
    _bound = LOGIT_BOUND

    def _check_target(self, y: Any) -> None:
        kind = type_of_target(np.asarray(list(y)), input_name="y")
        if kind.startswith("continuous"):
            raise ValueError(
                f"Unknown label type: {kind}. The target holds numbers with fractions; use "
                "ExplainableBoostingRegressor, or labels of two classes."
            )
        if self.schema is None and len(np.unique(np.asarray(y).astype(str))) == 1:
            raise ValueError(
                "y holds 1 class, and there is no schema that names the other; "
                "pass schema=Schema(..., target=Classes([...]))."
            )

    def _encoded_target(self, y: Any, schema: Schema) -> tuple[NDArray[np.float32], float, float]:
        return encoded_classes(y, schema), 1.0, 0.0


class ExplainableBoostingRegressor(AdditiveRegressor, _Reference):
    """Explainable boosting machine for a numeric target, without privacy.

    The reference beside `DPExplainableBoostingRegressor`: cyclic gradient boosting of
    shallow trees on one feature each, Algorithm 1 of [1]_, squared loss.

    Parameters
    ----------
    schema : Schema or None, default=None
        Bounds, categories and target range; None reads them from the data.
    max_bins : int, default=256
        At most so many bins per numeric feature.
    learning_rate : float, default=0.1
        Share of a leaf's value that is added.
    max_rounds : int, default=1000
        Passes over the features at most; each bag stops earlier where held-out records say so.
    max_leaves : int, default=3
        Leaves of a tree.
    outer_bags : int, default=8
        Fits on different random parts of the records, whose curves are averaged.
    random_state : int or None, default=0
        Seed of the parts.

    Attributes
    ----------
    schema_ : Schema
        The schema in use.
    intercept_ : float
        Mean score, in the unit of the target.
    guarantee_ : Guarantee
        Says that nothing is promised.
    ledger_ : PrivacyLedger
        Holds one non-private event.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features.

    References
    ----------
    .. [1] Nori et al., "Accuracy, Interpretability, and Differential Privacy via
       Explainable Boosting", ICML 2021, arXiv:2106.09680.

    Examples
    --------
    >>> import numpy as np
    >>> from dpexplain import Numeric, Range, Schema
    >>> X = np.linspace(0, 1, 200).reshape(-1, 1)
    >>> schema = Schema({"x": Numeric(0, 1)}, target=Range(0, 10))
    >>> ExplainableBoostingRegressor(schema=schema).fit(X, 10 * X[:, 0]).predict([[0.5]]).round(0)
    array([5.])
    """

    _target_kind = Range
    _loss = SQUARED
    _min_curvature = _MIN_CURVATURE_SQUARED
    _bound = HALF_RANGE_BOUND

    def _check_target(self, y: Any) -> None:
        assert_all_finite(np.asarray(pd.to_numeric(y), dtype=np.float64), input_name="y")

    def _encoded_target(self, y: Any, schema: Schema) -> tuple[NDArray[np.float32], float, float]:
        return encoded_range(y, schema)
