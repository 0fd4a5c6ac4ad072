"""Predictions from scores, and from explanations without their models.

Models use the same functions, so the predictions of a saved explanation are bit-for-bit identical
to those of its model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dpexplain.explain._record import FloatArray
from dpexplain.explain.additive._explaining_rows import scores_of_rows
from dpexplain.explain.additive.local_explanation import inverse_link, rest_scores
from dpexplain.schema import Classes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpexplain.explain.additive._explaining_rows import ExplainsRows
    from dpexplain.schema import Schema


def class_probabilities(scores: FloatArray) -> FloatArray:
    """Convert scores to class probabilities.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Log-odds of the second of two classes, or a score for each class.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
    """
    if scores.ndim == 2:
        return inverse_link(scores - rest_scores(scores), "logit")
    second = inverse_link(scores, "logit")
    return np.column_stack([1.0 - second, second])


def chosen_classes(scores: FloatArray) -> npt.NDArray[np.intp]:
    """Return the index of the most probable class of each row.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,) or (n_samples, n_classes)

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    return (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)


class PredictsRows:
    """Mixin that lets explanations predict without the model.

    A table `X` is a pandas, polars or Arrow table, a mapping of columns, or an array or list of
    rows with columns in the order of the schema. Cells are read according to the rules of the
    schema. If the explanation has no schema, the columns must be named, and rules such as aliases
    are not applied.
    """

    @property
    def _by_score(self) -> Sequence[ExplainsRows]:
        raise NotImplementedError

    @property
    def _first(self) -> ExplainsRows:
        return self._by_score[0]

    def decision_function(self, X: Any) -> FloatArray:
        """Return the log-odds of the second of two classes, or a score for each class.

        Parameters
        ----------
        X : table of shape (n_samples, n_columns)
            As in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Scores of the rows. If there are more than two classes, the score of a class is its
            log-probability relative to the average of all classes.

        Raises
        ------
        TypeError, ValueError
            As in :meth:`predict`, or if the explanation is for a regression.
        """
        self._check_classes("decision_function")
        return scores_of_rows(self._by_score, X)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class.

        Parameters
        ----------
        X : table of shape (n_samples, n_columns)
            As in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes``.

        Raises
        ------
        TypeError, ValueError
            As in :meth:`predict`, or if the explanation is for a regression.
        """
        self._check_classes("predict_proba")
        return class_probabilities(scores_of_rows(self._by_score, X))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the most probable class, or the predicted number, of each row.

        Parameters
        ----------
        X : table of shape (n_samples, n_columns)
            A pandas, polars or Arrow table, or a mapping of columns, with a column for every
            feature. If the explanation has a schema, cells are read according to its rules, and `X`
            can also be an array or a list of rows with columns in the order of the schema.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions, equal to those of the model: labels as in the schema, or the names in
            ``classes`` if there is no schema; for a regression, numbers in units of the target.
            They are as confidential as the rows.

        Raises
        ------
        TypeError
            If `X` is not a supported table.
        ValueError
            If a column is missing, or if this explanation covers only one of several classes or
            only main effects.

        Warns
        -----
        UserWarning
            If a term has no bin for a value; the term then contributes 0. This library's models
            have a bin for every value.
        """
        scores = scores_of_rows(self._by_score, X)
        if self._first.classes is None:
            return inverse_link(scores, self._first.link)
        return self._labels[chosen_classes(scores)]

    @property
    def _labels(self) -> npt.NDArray[Any]:
        schema: Schema | None = self._first.schema
        target = None if schema is None else schema.target
        return np.array(target.labels if isinstance(target, Classes) else self._first.classes)

    def _check_classes(self, method: str) -> None:
        if self._first.classes is None:
            raise ValueError(
                f"{method} needs classes, and {self._first.target_name!r} is a number; call "
                "predict."
            )
