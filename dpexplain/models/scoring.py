"""Scores of models whose targets are read by a schema."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from dpexplain.explain._text import listing
from dpexplain.models.additive.targets import classes_of
from dpexplain.models.inputs import as_column
from dpexplain.schema import Classes, Range, Schema
from dpexplain.tables.encoding import encode_classes, read_numbers
from dpexplain.tables.targets import split_target

_UNSORTED = (
    "the classes {classes} are in the order of the schema, but scikit-learn expects them to be "
    "sorted: its scorers of probabilities ('roc_auc', 'neg_log_loss', 'neg_brier_score') exchange "
    "the classes without an error, and CalibratedClassifierCV fails. List the classes in sorted "
    "order, or pass a function, such as scoring=lambda model, X, y: "
    "roc_auc_score(y == model.classes_[1], model.predict_proba(X)[:, 1])."
)


class ScoresClasses(ClassifierMixin):
    """Mixin for classifiers that read labels in all spellings that the schema knows."""

    schema_: Schema
    _told_order: list[Any] | None = None

    def __sklearn_clone__(self) -> Any:
        """Clone for a meta-estimator of scikit-learn, which expects sorted classes.

        It is told once, not at every clone that a grid search makes of this model or of its copies.
        Our own code, which does not expect sorted classes, clones with `unfitted_copy`.
        """
        target = getattr(getattr(self, "schema", None), "target", None)
        labels = np.array(target.labels) if isinstance(target, Classes) else np.array([])
        if not np.array_equal(labels, np.unique(labels)) and self._told_order != labels.tolist():
            warnings.warn(_UNSORTED.format(classes=listing(map(str, labels))), UserWarning, 2)
            self._told_order = labels.tolist()
        copy = super().__sklearn_clone__()
        copy._told_order = self._told_order
        return copy

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on labeled rows. It is not private.

        Parameters
        ----------
        X : array-like, DataFrame or chunked table of shape (n_samples, n_features)
        y : str or array-like of shape (n_samples,)
            Labels, in any spelling that the schema knows, or the name of their column in `X`. As in
            a fit, rows whose label is empty or not in the schema are left out. For a table read in
            chunks, pass the labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows.

        Returns
        -------
        float
            Share of the rows whose predicted class is right; NaN if no row has a usable label.

        Raises
        ------
        TypeError
            If `y` is a name, but `X` has no column names or is read in chunks.
        ValueError
            If there is not one label per row, or the table has no column named `y`.
        """
        predicted, labels = _predicted(self, X, y)
        target = classes_of(self.schema_)
        codes = encode_classes(labels, target)
        weights = _weights(sample_weight, predicted)
        known = codes >= 0
        if not known.any():
            return float("nan")
        right = encode_classes(predicted, target) == codes
        return float(np.average(right[known], weights=None if weights is None else weights[known]))


class ScoresNumbers(RegressorMixin):
    """Mixin for regressors that read numbers by the rules of the schema."""

    schema_: Schema

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the coefficient of determination (R²) on labeled rows. It is not private.

        Parameters
        ----------
        X : array-like, DataFrame or chunked table of shape (n_samples, n_features)
        y : str or array-like of shape (n_samples,)
            Targets, or the name of their column in `X`. They are read by the rules of the schema,
            but not clipped. Rows whose target is missing, unreadable or infinite are left out. For
            a table read in chunks, pass the targets.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows.

        Returns
        -------
        float
            R², which is 1 for a perfect prediction and 0 for one as good as the mean; NaN if fewer
            than two rows have a usable target.

        Raises
        ------
        TypeError
            If `y` is a name, but `X` has no column names or is read in chunks.
        ValueError
            If there is not one target per row, or the table has no column named `y`.
        """
        from sklearn.metrics import r2_score  # slow to import

        predicted, targets = _predicted(self, X, y)
        target = self.schema_.target
        assert isinstance(target, Range)
        numbers = read_numbers(targets, target)
        weights = _weights(sample_weight, predicted)
        known = np.isfinite(numbers)
        if known.sum() < 2:
            return float("nan")
        return float(
            r2_score(
                numbers[known],
                predicted[known],
                sample_weight=None if weights is None else weights[known],
            )
        )


def _predicted(model: Any, X: Any, y: Any) -> tuple[NDArray[Any], Any]:
    """Return the predictions and the target, one per row."""
    X, y = split_target(X, y, None)
    if isinstance(y, str):
        raise TypeError(
            f"y={y!r} names a column, and X is read in chunks; pass one target per row, or load "
            "the table."
        )
    predicted = model.predict(X)  # first: checks that the model is fitted
    return predicted, as_column("y", y, predicted)


def _weights(sample_weight: ArrayLike | None, predicted: NDArray[Any]) -> NDArray[Any] | None:
    if sample_weight is None:
        return None
    return np.asarray(as_column("sample_weight", sample_weight, predicted))
