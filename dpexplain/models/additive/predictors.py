"""Additive classifiers and regressors, which predict from the scores of a model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain.explain import inverse_link
from dpexplain.explain.additive.predicting import chosen_classes, class_probabilities
from dpexplain.models.additive.model import AdditiveModel
from dpexplain.models.additive.targets import class_labels
from dpexplain.models.scoring import ScoresClasses, ScoresNumbers


class AdditiveClassifier(ScoresClasses, AdditiveModel):
    """Base class for additive classifiers."""

    @property
    def classes_(self) -> NDArray[Any]:
        """Class labels of the fitted model."""
        return class_labels(self.schema_)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the log-odds of the second class, or one score per class.

        Parameters
        ----------
        X : array-like, DataFrame or chunked table of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            With more than two classes, a score is the log-probability of the class minus the mean
            of the log-probabilities of all classes.
        """
        return self._scores(X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like, DataFrame or chunked table of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return class_probabilities(self._scores(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class.

        Parameters
        ----------
        X : array-like, DataFrame or chunked table of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels from ``classes_``.
        """
        chosen = chosen_classes(self._scores(X))  # first: checks that the model is fitted
        return self.classes_[chosen]

    def __sklearn_tags__(self) -> Any:
        """Declare support for missing values and categories."""
        return _input_tags(super().__sklearn_tags__())


class AdditiveRegressor(ScoresNumbers, AdditiveModel):
    """Base class for additive regressors."""

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the predicted target.

        Parameters
        ----------
        X : array-like, DataFrame or chunked table of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            In the same units as the target.
        """
        return inverse_link(self._scores(X), self._terms.link)

    def __sklearn_tags__(self) -> Any:
        """Declare support for missing values and categories."""
        return _input_tags(super().__sklearn_tags__())


def _input_tags(tags: Any) -> Any:
    tags.input_tags.allow_nan = True
    tags.input_tags.categorical = True
    tags.input_tags.string = True
    return tags
