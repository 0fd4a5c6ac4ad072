"""Unfitted copies of estimators."""

from __future__ import annotations

from typing import Any

__all__ = ["unfitted_copy"]


def unfitted_copy(estimator: Any, **parameters: Any) -> Any:
    """Clone an estimator without the warning meant for tools of scikit-learn.

    Classifiers override ``__sklearn_clone__`` to warn that scikit-learn expects sorted classes.
    This package does not, so it clones with the method of the base class.

    Parameters
    ----------
    estimator : estimator
        Estimator to copy; anything that it learned is left behind.
    **parameters
        Parameters that differ in the copy.

    Returns
    -------
    estimator
        The unfitted copy.
    """
    from sklearn.base import BaseEstimator

    return BaseEstimator.__sklearn_clone__(estimator).set_params(**parameters)
