"""Accuracy of classifiers whose labels are read by a schema."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin

from dpexplain.models.additive.targets import classes_of
from dpexplain.schema import Schema
from dpexplain.tables.encoding import encode_classes
from dpexplain.tables.targets import split_target


class ScoresClasses(ClassifierMixin):
    """Mixin for classifiers that read labels in all spellings that the schema knows."""

    schema_: Schema

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on labeled rows. It is not private.

        Parameters
        ----------
        X : array-like, DataFrame or chunked table of shape (n_samples, n_features)
        y : str or array-like of shape (n_samples,)
            Labels, in any spelling that the schema knows, or the name of their column in `X`. As in
            a fit, rows whose label is empty or not in the schema are left out.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows.

        Returns
        -------
        float
            Share of the rows whose predicted class is right; NaN if no row has a usable label.
        """
        X, y = split_target(X, y, None)
        predicted = self.predict(X)  # first: checks that the model is fitted
        target = classes_of(self.schema_)
        codes = encode_classes(y, target)
        known = codes >= 0
        if not known.any():
            return float("nan")
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        right = encode_classes(predicted, target) == codes
        return float(np.average(right[known], weights=weights))
