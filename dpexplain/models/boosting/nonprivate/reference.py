"""Non-private explainable boosting machines, used as reference models."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dpexplain._utils.validation import check_count, check_in_range
from dpexplain.binning import FeatureBins, quantile_bins
from dpexplain.binning.bins import Encoded
from dpexplain.models.additive.model import AdditiveModel
from dpexplain.models.additive.terms import AdditiveTerms
from dpexplain.models.boosting.monotone import Constraints, checked_constraints, projections
from dpexplain.models.boosting.nonprivate.bagging import fit_bag, held_out_records
from dpexplain.models.boosting.nonprivate.curve_step import CurveStep
from dpexplain.models.boosting.nonprivate.pairs import BinnedTable, boosted_pairs
from dpexplain.models.boosting.objectives import Objective, centered_terms
from dpexplain.models.boosting.pair_terms.plan import (
    PairPlan,
    Pairs,
    check_works_with_pairs,
    checked_pairs,
    refused_targets,
)
from dpexplain.models.inputs import (
    observed_schema,
    some_rows_with_target,
)
from dpexplain.models.interpret_names import answers_interpret_names
from dpexplain.models.not_private import NotPrivateEstimator
from dpexplain.schema import Classes, Range, Schema
from dpexplain.tables.encoding import check_columns, encode_features

_AUTO = 3
"""Maximum number of pairs for ``pairs="auto"``, per feature."""

_RANDOM_LEAF = 0.25
"""Minimum curvature of a leaf with random splits, relative to one with greedy splits. Random splits
do not seek out the leaves that fit noise, so their leaves may be smaller."""


class _Reference(NotPrivateEstimator, AdditiveModel):
    """Base class for the non-private boosting classifier and regressor."""

    _target_kind: type[Range] | type[Classes]

    @answers_interpret_names
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
        monotone_constraints: Constraints | None = None,
        pairs: Pairs = 0,
    ) -> None:
        self.schema = schema
        self.max_bins = max_bins
        self.learning_rate = learning_rate
        self.max_rounds = max_rounds
        self.max_leaves = max_leaves
        self.outer_bags = outer_bags
        self.random_state = random_state
        self.monotone_constraints = monotone_constraints
        self.pairs = pairs

    def _fit_without_noise(self, X: Any, y: Any) -> Schema:
        self._check_parameters(X)
        self._check_values(X, y)
        schema = self.schema or self._observed_schema(X, y)
        X, y = some_rows_with_target(X, y, schema)
        columns = encode_features(X, schema)
        bins = [
            quantile_bins(name, feature, column, self.max_bins)
            for (name, feature), column in zip(schema.features.items(), columns, strict=True)
        ]
        self._terms = self._boosted(bins, columns, y, schema)
        self._edited = None
        self.intercept_ = self._terms.intercept
        return schema

    def _check_parameters(self, X: Any) -> None:
        check_count("max_bins", self.max_bins, 2)
        check_count("max_rounds", self.max_rounds)
        check_count("max_leaves", self.max_leaves, 2)
        check_count("outer_bags", self.outer_bags)
        check_in_range("learning_rate", self.learning_rate, 0.0, 1.0, include_low=False)
        if self.schema is None:
            return
        check_columns(X, self.schema)
        checked_constraints(self.monotone_constraints, self.schema)
        if not isinstance(self.schema.target, self._target_kind):
            raise ValueError(
                f"{type(self).__name__} needs a schema with "
                f"target={self._target_kind.__name__}(...), got {self.schema.target!r}."
            )
        self._pair_plan(self.schema)

    def _observed_schema(self, X: Any, y: Any) -> Schema:
        return observed_schema(X, y, self._target_kind)

    def _boosted(
        self,
        bins: list[FeatureBins],
        columns: list[Encoded],
        y: Any,
        schema: Schema,
    ) -> AdditiveTerms:
        objective, plan = self._objective(schema), self._pair_plan(schema)
        target = objective.encode_target(y, schema)
        index = [b.index(c) for b, c in zip(bins, columns, strict=True)]
        n_bins = [b.n_bins for b in bins]
        counts = [
            np.bincount(i, minlength=n).astype(np.float64)
            for i, n in zip(index, n_bins, strict=True)
        ]
        rng = np.random.default_rng(self.random_state)
        monotone = checked_constraints(self.monotone_constraints, schema)
        project = projections(monotone, counts, [len(b.special) for b in bins])
        held_out = [held_out_records(len(target), rng) for _ in range(self.outer_bags)]
        steps = self._curve_steps(bins, objective.min_curvature, rng)
        bags = [
            fit_bag(
                index,
                n_bins,
                target,
                objective,
                steps,
                held_out=rest,
                max_rounds=self.max_rounds,
                project=project,
            )
            for rest in held_out
        ]
        nobody = [
            (np.arange(b.n_bins) >= b.n_value_bins) & (c == 0)
            for b, c in zip(bins, counts, strict=True)
        ]
        centered = partial(
            centered_terms,
            bins,
            counts=counts,
            objective=objective,
            neutral=nobody,
            monotone=monotone,
        )
        if plan is None:
            return centered(bags)
        pairs, bags = boosted_pairs(
            BinnedTable(index, n_bins, target),
            held_out,
            bags,
            centered(bags),
            objective,
            plan,
            learning_rate=self.learning_rate,
            max_rounds=self.max_rounds,
        )
        return replace(centered(bags), pairs=pairs)

    def _curve_steps(
        self, bins: Sequence[FeatureBins], min_curvature: float, rng: np.random.Generator
    ) -> list[CurveStep]:
        """Return the steps with random splits, and then those with greedy splits."""
        return [
            CurveStep(
                [b.ordered for b in bins],
                [len(b.special) for b in bins],
                max_leaves=self.max_leaves,
                min_curvature=least,
                learning_rate=self.learning_rate,
                rng=splits,
            )
            for splits, least in ((rng, _RANDOM_LEAF * min_curvature), (None, min_curvature))
        ]

    def _pair_plan(self, schema: Schema) -> PairPlan | None:
        """Return the plan of the pairs; None if there are none."""
        directions = checked_constraints(self.monotone_constraints, schema)
        plan = checked_pairs(self.pairs, schema, directions, auto=_AUTO * schema.n_features)
        if plan is not None:
            check_works_with_pairs(*refused_targets(self._objective(schema)))
        return plan

    def _check_values(self, X: Any, y: Any) -> None:
        """Check data values, which only a non-private fit may do."""
        if len(X) == 0:
            raise ValueError(
                f"0 sample(s) (shape={X.shape}) while a minimum of 1 is required; pass records."
            )
        if isinstance(X, np.ndarray) and np.iscomplexobj(X):
            raise ValueError(
                "Complex data not supported; X must contain real numbers or categories."
            )
        if self.schema is None:  # otherwise, rows with a target outside the schema are dropped
            self._check_target(y)

    @abstractmethod
    def _check_target(self, y: Any) -> None:
        """Raise ValueError if the target is not suitable for the model."""

    @abstractmethod
    def _objective(self, schema: Schema) -> Objective:
        """Return the objective of the fit."""
