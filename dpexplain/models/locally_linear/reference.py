"""Locally linear classifier without privacy, used as a reference model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from dpexplain._utils.blas import one_blas_thread
from dpexplain._utils.validation import check_count
from dpexplain.models.inputs import (
    observed_schema,
    some_rows_with_target,
)
from dpexplain.models.locally_linear.gradients import GradientSums
from dpexplain.models.locally_linear.model import LocallyLinearModel
from dpexplain.models.locally_linear.training import Progress, train
from dpexplain.models.not_private import NotPrivateEstimator
from dpexplain.schema import Classes, Schema
from dpexplain.tables.encoding import check_columns

_BATCH = 500
_EPOCHS = 20


class LocallyLinearClassifier(NotPrivateEstimator, LocallyLinearModel):
    """Locally linear classifier without privacy.

    This is the non-private reference model for `DPLocallyLinearClassifier` [1]_. Each class has
    several linear filters, and the score of a class is a weighted mean of their scores, with
    weights that depend on the record. The filters are trained with Adam on shuffled batches.

    Parameters
    ----------
    schema : Schema or None, default=None
        Bounds, categories and classes; if None, they are read from the data.
    preset : {"accurate", "readable", "paper"}, default="accurate"
        Recipe for all settings that are left at None.
    n_filters : int or None, default=None
        Number of filters per class; 1 gives logistic regression.
    projection : {"auto", "none", "per_filter", "shared", "frequency"}, default="auto"
        Basis of the filters: none; random rows, separate for each filter index or shared by all
        filters; or the lowest frequencies on a grid. "auto" leaves the choice to the preset.
    n_basis : int or None, default=None
        Number of coefficients per filter, if there is a projection.
    grid_shape : tuple of int or None, default=None
        Shape of the grid that the features form (images, signals). All features must then be
        numeric, and each record is centered and divided by its norm. Leave it at None for a table.
    inverse_temperature : float or None, default=None
        Sharpness of the softmax over the filters of a class.
    learning_rate : float or None, default=None
        Learning rate of Adam: the size of each weight's first step.
    max_epochs : int, default=20
        Number of passes over the records.
    random_state : int or None, default=0
        Seed for the initial weights, projection and batches.
    progress : callable or None, default=None
        Called as ``progress(steps_done, n_steps)``.

    Attributes
    ----------
    schema_ : Schema
        The schema in use.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    guarantee_ : Guarantee
        Statement that there is no privacy guarantee.
    ledger_ : PrivacyLedger
        Ledger with a single, non-private entry.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features.

    References
    ----------
    .. [1] Harder, Bauer and Park, "Interpretable and Differentially Private Predictions",
       AAAI 2020, arXiv:1906.02004, section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from dpexplain import Classes, Numeric, Schema
    >>> X = np.linspace(0, 1, 200).reshape(-1, 1)
    >>> schema = Schema({"x": Numeric(0, 1)}, target=Classes(["no", "yes"]))
    >>> y = np.where(X[:, 0] > 0.5, "yes", "no")
    >>> LocallyLinearClassifier(schema=schema).fit(X, y).predict([[0.1], [0.9]])
    array(['no', 'yes'], dtype='<U3')
    """

    def __init__(
        self,
        *,
        schema: Schema | None = None,
        preset: str = "accurate",
        n_filters: int | None = None,
        projection: str = "auto",
        n_basis: int | None = None,
        grid_shape: Sequence[int] | None = None,
        inverse_temperature: float | None = None,
        learning_rate: float | None = None,
        max_epochs: int = _EPOCHS,
        random_state: int | None = 0,
        progress: Progress | None = None,
    ) -> None:
        self.schema = schema
        self.preset = preset
        self.n_filters = n_filters
        self.projection = projection
        self.n_basis = n_basis
        self.grid_shape = grid_shape
        self.inverse_temperature = inverse_temperature
        self.learning_rate = learning_rate
        self.max_epochs = max_epochs
        self.random_state = random_state
        self.progress = progress

    def _fit_without_noise(self, X: Any, y: Any) -> Schema:
        self._check_model_settings()
        check_count("max_epochs", self.max_epochs)
        if self.schema is not None:
            check_columns(X, self.schema)
            if not isinstance(self.schema.target, Classes):
                raise ValueError(
                    f"{type(self).__name__} needs a schema with target=Classes(...), got "
                    f"{self.schema.target!r}."
                )
        self._check_values(X, y)
        schema = self.schema or observed_schema(X, y, Classes)
        X, y = some_rows_with_target(X, y, schema)
        rng = np.random.default_rng(self.random_state)
        preparation, basis, shape, recipe = self._set_up(schema, rng)
        features, labels = self._read(X, y, schema, preparation, basis)
        with one_blas_thread():
            trained = train(
                GradientSums(features, labels, shape, basis, clip=None),
                len(X),
                self._start(shape, basis, recipe, rng),
                n_epochs=self.max_epochs,
                batch_size=min(_BATCH, max(16, len(X) // 20)),
                peak_rate=recipe.learning_rate,
                rng=rng,
                progress=self.progress,
            )
        self._keep_filters(trained, shape, basis, preparation, schema)
        return schema

    def _check_values(self, X: Any, y: Any) -> None:
        """Raise ValueError if the data are unusable.

        A private fit must not do this, because the error would reveal something about the data.
        """
        if len(X) == 0:
            raise ValueError(
                f"0 sample(s) (shape={X.shape}) while a minimum of 1 is required; pass records."
            )
        if isinstance(X, np.ndarray) and np.iscomplexobj(X):
            raise ValueError(
                "Complex data not supported; X must contain real numbers or categories."
            )
        if self.schema is not None:  # rows with labels outside the schema are dropped
            return
        kind = type_of_target(np.asarray(list(y)), input_name="y")
        if kind.startswith("continuous"):
            raise ValueError(
                f"Unknown label type: {kind}. The target contains fractional numbers; pass class "
                "labels."
            )
        if len(np.unique(np.asarray(y).astype(str))) == 1:
            raise ValueError(
                "y contains only one class, and no schema names another; pass schema=Schema(..., "
                "target=Classes([...]))."
            )
