"""Base class for private and non-private locally linear classifiers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from dpexplain._utils.blas import one_blas_thread
from dpexplain._utils.validation import check_choice, check_count, check_in_range
from dpexplain.explain import FilterBank, FilterExplanation, FilterNoise, Guarantee
from dpexplain.models.inputs import chunks_with_target, rows_in_chunks, rows_of
from dpexplain.models.locally_linear.gradients import FilterShape
from dpexplain.models.locally_linear.inputs import (
    Features,
    constant_steps,
    feature_bits,
    feature_bound,
    features_of,
    preparation_of,
)
from dpexplain.models.locally_linear.optimizer import start_reach, start_weights
from dpexplain.models.locally_linear.projections import PROJECTIONS, Basis, make_basis
from dpexplain.models.locally_linear.recipe import PRESETS, Recipe, recipe_for
from dpexplain.models.locally_linear.training import Progress, Trained
from dpexplain.models.pickles import VersionedEstimator
from dpexplain.models.scoring import ScoresClasses
from dpexplain.schema import Classes, Numeric, Schema
from dpexplain.tables.encoding import encode_classes, encoded_columns

if TYPE_CHECKING:
    from dpexplain.explain import InputPreparation

Floats = NDArray[np.float64]

_ROWS = 1 << 12
"""Number of records whose scores are computed at a time."""


class LocallyLinearModel(ScoresClasses, VersionedEstimator):
    """Base class for locally linear classifiers.

    The score of a class is a weighted mean of the scores of its linear filters, with weights that
    depend on the record.
    """

    schema: Schema | None
    preset: Any
    n_filters: int | None
    projection: str
    n_basis: int | None
    grid_shape: Sequence[int] | None
    inverse_temperature: float | None
    learning_rate: float | None
    progress: Progress | None

    schema_: Schema
    guarantee_: Guarantee
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    _target_kind = Classes

    # Settings.

    def _check_model_settings(self) -> None:
        check_choice("preset", self.preset, PRESETS)
        check_choice("projection", self.projection, ("auto", *PROJECTIONS))
        for name in ("n_filters", "n_basis"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name))
        for name, most in (("inverse_temperature", 1e6), ("learning_rate", 1.0)):
            if getattr(self, name) is not None:
                check_in_range(name, getattr(self, name), 0.0, most, include_low=False)
        if self.progress is not None and not callable(self.progress):
            raise TypeError("progress must be called as progress(steps_done, n_steps), or be None.")
        grid = self._grid()
        if grid is None:
            if self.projection == "frequency":
                raise ValueError("projection='frequency' needs grid_shape=, such as (28, 28).")
            return
        if self.schema is None:
            raise ValueError("grid_shape needs schema=, which names the inputs of the grid.")
        features = self.schema.features
        if not all(isinstance(feature, Numeric) for feature in features.values()):
            raise ValueError("grid_shape needs a schema with only numeric features.")
        if math.prod(grid) != len(features) or len(features) < 2:
            raise ValueError(
                f"grid_shape={grid} has {math.prod(grid)} positions, but the schema has "
                f"{len(features)} features; they must match, with at least two."
            )

    def _grid(self) -> tuple[int, ...] | None:
        if self.grid_shape is None:
            return None
        if isinstance(self.grid_shape, str | bytes) or not isinstance(self.grid_shape, Sequence):
            raise ValueError("grid_shape must be a tuple of integers, such as (28, 28).")
        return tuple(check_count("grid_shape", n) for n in self.grid_shape)

    def _recipe(self, n_inputs: int) -> Recipe:
        return recipe_for(
            self.preset,
            grid=self._grid() is not None,
            n_inputs=n_inputs,
            projection=None if self.projection == "auto" else self.projection,
            n_basis=self.n_basis,
            n_filters=self.n_filters,
            inverse_temperature=self.inverse_temperature,
            learning_rate=self.learning_rate,
            **self._further_settings(),
        )

    def _further_settings(self) -> dict[str, Any]:
        """Return the recipe settings that are specific to this kind of estimator."""
        return {}

    # Training.

    def _set_up(
        self, schema: Schema, rng: np.random.Generator
    ) -> tuple[InputPreparation, Basis, FilterShape, Recipe]:
        """Return the input preparation, basis, filter shape and training recipe."""
        assert isinstance(schema.target, Classes)
        plain = preparation_of(schema, per_image=False, scale=1.0)
        n_inputs = len(plain.input_names)
        recipe = self._recipe(n_inputs)
        preparation = preparation_of(
            schema, per_image=recipe.per_image, scale=recipe.scale, centre=recipe.centre
        )
        basis = make_basis(
            recipe.projection,
            n_inputs,
            n_basis=recipe.n_basis,
            n_filters=recipe.n_filters,
            grid_shape=self._grid(),
            rng=rng,
        )
        shape = FilterShape(len(schema.target.labels), recipe.n_filters, recipe.inverse_temperature)
        return preparation, basis, shape, recipe

    def _start(
        self, shape: FilterShape, basis: Basis, recipe: Recipe, rng: np.random.Generator
    ) -> Floats:
        reach = start_reach(basis.n_basis, shape.n_classes, recipe.start_share)
        return start_weights((shape.n_rows, basis.n_basis + 1), reach, rng)

    def _read(
        self, X: Any, y: Any, schema: Schema, preparation: InputPreparation, basis: Basis
    ) -> tuple[Features, NDArray[np.int32]]:
        assert isinstance(schema.target, Classes)
        found, labels = [], []
        for rows, target in chunks_with_target(X, y, schema):
            found.append(features_of(rows, schema, preparation, basis))
            labels.append(encode_classes(target, schema.target, np.int32))
        if len(found) == 1:
            return found[0], labels[0]
        together = np.concatenate([features.integers for features in found])
        return Features(together, found[0].unit), np.concatenate(labels)

    def _keep_filters(
        self,
        trained: Trained,
        shape: FilterShape,
        basis: Basis,
        preparation: InputPreparation,
        schema: Schema,
        mean: Floats | None = None,
    ) -> None:
        """Express the filters as weights on the inputs, and store them with their noise.

        If a mean record was subtracted, the biases absorb it: ``w (x - mean) + b``.
        """
        sizes = (shape.n_classes, shape.n_filters)
        weights = trained.weights.reshape(*sizes, -1)
        variance = trained.variance.reshape(*sizes, -1)
        constant = constant_steps(preparation, basis) * (
            feature_bound(preparation, basis) / 2.0 ** feature_bits(basis)
        )
        rows = basis.rows
        if rows is not None and not basis.per_filter:
            rows = rows[0]
        origin = mean if mean is None or rows is None else _before(rows, mean)
        noise = None
        if variance.any():
            noise = FilterNoise(variance[..., :-1], variance[..., -1] * constant**2, rows, origin)
        coefficients = weights[..., :-1]
        if rows is None:
            filters = coefficients
        elif basis.per_filter:
            filters = np.einsum("kmj,mjd->kmd", coefficients, rows, optimize=True)
        else:
            filters = coefficients @ rows
        biases = weights[..., -1] * constant
        if origin is not None:
            biases = biases - filters @ origin
        assert isinstance(schema.target, Classes)
        self._parts: dict[str, Any] = {
            "filters": filters,
            "biases": biases,
            "classes": schema.target.names,
            "input_names": preparation.input_names,
            "inverse_temperature": shape.inverse_temperature,
            "grid_shape": self._grid(),
            "noise": noise,
            "preparation": preparation,
            "target_name": schema.target.name or "target",
            "model_name": type(self).__name__,
        }

    # Prediction and explanation.

    @property
    def classes_(self) -> NDArray[Any]:
        """Class labels of the fitted model."""
        target = self.schema_.target
        assert isinstance(target, Classes)
        return np.array(target.labels)

    def _inputs(self, X: Any) -> Floats:
        preparation: InputPreparation = self._parts["preparation"]
        return np.asarray(preparation.of_columns(list(encoded_columns(X, self.schema_))))

    def _bank_of(self) -> FilterBank:
        return FilterBank.from_weights(guarantee=self.guarantee_, **self._parts)

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self, "schema_")
        bank = self._bank_of()
        found = [self._scores_of(rows, bank) for rows in rows_in_chunks(X, self.schema_)]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _scores_of(self, X: Any, bank: FilterBank) -> Floats:
        found = np.empty((len(X), len(bank.classes)))
        with one_blas_thread():
            for start in range(0, len(X), _ROWS):
                rows = slice(start, min(start + _ROWS, len(X)))
                found[rows] = bank.scores(self._inputs(rows_of(X, rows)))
        return found

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each class, or the log-odds for two classes.

        Parameters
        ----------
        X : array-like, DataFrame or chunked table of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Scores in the order of ``classes_``; for two classes, the log-odds of the second class.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like, DataFrame or chunked table of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, with columns in the order of ``classes_``.
        """
        scores = self._scores(X)
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

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
        chosen = self._scores(X).argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    def explain_global(self) -> FilterBank:
        """Return the filters of every class, with the model's guarantee.

        Returns
        -------
        FilterBank
            The filters as plain data, without the model or any records.
        """
        check_is_fitted(self, "schema_")
        return self._bank_of()

    def explain_local(self, X: Any, *, samples_public: bool = False) -> FilterExplanation:
        """Return the exact contribution of each input to the scores of each row.

        Parameters
        ----------
        X : array-like, DataFrame or chunked table of shape (n_samples, n_features)
            Rows to explain. They are not protected by the model's guarantee.
        samples_public : bool, default=False
            Whether the rows may be shown to anyone (public records, what-if inputs).

        Returns
        -------
        FilterExplanation
        """
        check_is_fitted(self, "schema_")
        inputs = [self._inputs(rows) for rows in rows_in_chunks(X, self.schema_)]
        return self._bank_of().explain(np.concatenate(inputs), samples_public=samples_public)

    def __sklearn_tags__(self) -> Any:
        """Declare support for missing values and categories."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _before(rows: Floats, features: Floats) -> Floats:
    """Return the inputs of smallest norm whose projections are the given features."""
    return np.asarray(np.linalg.lstsq(rows, features, rcond=None)[0])
