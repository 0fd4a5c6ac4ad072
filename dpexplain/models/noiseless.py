"""Noiseless version of a private model."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from dpexplain._utils.cloning import unfitted_copy
from dpexplain.explain import Guarantee, MulticlassExplanation
from dpexplain.mechanisms import Mechanism, NoiseSource
from dpexplain.models.inputs import (
    observed_schema,
    rows_with_target,
)
from dpexplain.models.not_private import NotPrivateEstimator
from dpexplain.schema import Schema
from dpexplain.tables.encoding import check_columns

_LARGE_EPSILON = 50.0  # for settings that depend on the noise, such as penalties


class _Silence(NoiseSource):
    """Noise source that draws only zeros."""

    def draw_int(self, sigma_int: float, size: int) -> NDArray[np.int64]:
        """Return zeros for any scale."""
        return np.zeros(size, dtype=np.int64)

    def draw_laplace(self, scale_int: float, size: int) -> NDArray[np.int64]:
        """Return zeros for any scale."""
        return np.zeros(size, dtype=np.int64)

    def choose(
        self, utilities: NDArray[np.int64], epsilon: float, spread: float
    ) -> NDArray[np.int64]:
        """Return the best candidate of each group."""
        return np.asarray(utilities.argmax(axis=1), dtype=np.int64)


def _has(name: str) -> Any:
    return available_if(lambda self: hasattr(self.estimator, name))


class NoiselessModel(NotPrivateEstimator):
    """Noiseless version of a private model, to measure the cost of noise. NOT PRIVATE.

    Parameters
    ----------
    estimator : private estimator
        Unfitted estimator; it is not modified. Settings that depend on the noise, such as
        penalties, have the values that they would have at epsilon 50, or at the estimator's own
        epsilon if that is larger.

    Attributes
    ----------
    model_ : private estimator
        The fitted clone, marked as not private.
    guarantee_ : Guarantee
        Statement that there is no privacy guarantee.
    ledger_ : PrivacyLedger
        Ledger with a single, non-private entry.

    Examples
    --------
    >>> import numpy as np
    >>> from dpexplain import DPLinearRegression, Numeric, Range, Schema
    >>> X = np.linspace(0, 1, 100).reshape(-1, 1)
    >>> schema = Schema({"x": Numeric(0, 1)}, target=Range(0, 10))
    >>> reference = DPLinearRegression(schema=schema).reference_estimator().fit(X, 5 * X[:, 0])
    >>> reference.guarantee_.private
    False
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    @property
    def _declared_schema(self) -> Schema | None:
        schema: Schema | None = self.estimator.schema
        return schema

    def _fit_without_noise(self, X: Any, y: Any) -> Schema:
        model = unfitted_copy(
            self.estimator,
            ledger=None,
            reproducible_seed=None,
            epsilon=max(_LARGE_EPSILON, self.estimator.epsilon),
            allow_weak=True,
        )
        if model.schema is not None:
            check_columns(X, model.schema)
        schema = model.schema or observed_schema(X, y, model._target_kind)
        X, y, _ = rows_with_target(X, y, schema)
        mechanism = Mechanism(_Silence())
        model._fit_noiseless(X, y, schema, mechanism)
        model.schema_ = schema
        model.n_features_in_ = schema.n_features
        model.feature_names_in_ = np.array(schema.feature_names, dtype=object)
        model.guarantee_ = Guarantee.not_private(self.REASON)
        model._noise = model._effect = ()  # additive models: there is no noise to simulate
        self.model_ = model
        return schema

    @property
    def classes_(self) -> NDArray[Any]:
        """Class labels of the fitted model."""
        classes: NDArray[Any] = self.model_.classes_
        return classes

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predictions of the model fitted without noise.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "model_")
        predicted: NDArray[Any] = self.model_.predict(X)
        return predicted

    @_has("predict_proba")
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class probabilities of the model fitted without noise.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self, "model_")
        chances: NDArray[np.float64] = self.model_.predict_proba(X)
        return chances

    @_has("decision_function")
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the class scores of the model fitted without noise.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self, "model_")
        scores: NDArray[np.float64] = self.model_.decision_function(X)
        return scores

    def explain_global(self) -> Any:
        """Return the global explanation, marked as not private.

        Returns
        -------
        object
            Explanation of the same type as the private model's.
        """
        check_is_fitted(self, "model_")
        return _renamed(self.model_.explain_global(), f"{type(self.estimator).__name__} (no noise)")

    def explain_local(self, X: Any, *, samples_public: bool = False) -> Any:
        """Return the local explanation, marked as not private.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        samples_public : bool, default=False
            Whether the rows may be shown to anyone.

        Returns
        -------
        object
            Explanation of the same type as the private model's.
        """
        check_is_fitted(self, "model_")
        return self.model_.explain_local(X, samples_public=samples_public)

    def __sklearn_tags__(self) -> Any:
        """Return the scikit-learn tags of the private model."""
        tags = self.estimator.__sklearn_tags__()
        tags.non_deterministic = False
        return tags


def _renamed(explanation: Any, name: str) -> Any:
    if isinstance(explanation, MulticlassExplanation):
        parts = tuple(_renamed(part, name) for part in explanation.by_class)
        return dataclasses.replace(explanation, by_class=parts)
    return dataclasses.replace(explanation, model_name=name)
