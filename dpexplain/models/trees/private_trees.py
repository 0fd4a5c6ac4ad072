"""Predictions, explanations and checks of private tree ensembles."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from dpexplain._utils.guarantee_words import TREES_NOTE, TREES_SAMPLER
from dpexplain._utils.lazy import pd
from dpexplain._utils.validation import check_count
from dpexplain.binning.bins import Encoded, FeatureBins, index_dtype
from dpexplain.explain import Guarantee
from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.additive.links import Link
from dpexplain.explain.additive.multiclass import MulticlassExplanation
from dpexplain.explain.health import Finding
from dpexplain.mechanisms import NoiseSource
from dpexplain.models.additive.model import AdditiveModel
from dpexplain.models.alarms import (
    LaplaceCount,
    alarms_of_counts,
    note_of_unchecked,
    tells_of_records,
)
from dpexplain.models.inputs import chunks_with_target, joined_targets
from dpexplain.models.noiseless import NoiselessModel
from dpexplain.models.private import PrivateEstimator
from dpexplain.models.trees.structure import (
    Candidates,
    FloatArray,
    Trees,
    candidates_of,
    cells_of,
    grid_of,
)
from dpexplain.models.trees.terms import TreeTerms, counted_spread, tree_terms
from dpexplain.schema import Classes, Schema

DEEPEST = 10
"""Maximum depth of a tree, which then has 1024 leaves."""


class PrivateTrees(PrivateEstimator, AdditiveModel):
    """Base class for tree ensembles with pure differential privacy."""

    # Only for the total of the fit's own ledger; the fit itself has delta 0.
    delta = 1e-6
    noise_backend = "exact"
    n_public: int | None = None
    _has_delta = False
    _reads_chunks = True
    depth: int
    max_bins: int
    _hidden_fit = (
        *("_terms", "_trees", "_bins", "_link", "_n_records", "_offset", "_noise"),
        "_class_counts",
    )
    _class_counts: tuple[LaplaceCount, ...] = ()
    """Noisy number of records in each class; empty if the fit releases none."""
    _trees: Trees
    _bins: tuple[FeatureBins, ...]
    _link: Link
    _n_records: FloatArray | None

    def reference_estimator(self) -> NoiselessModel:
        """Return the unfitted noiseless version of the model.

        Returns
        -------
        NoiselessModel
        """
        return NoiselessModel(self)

    def with_curves(self, explanation: GlobalExplanation | MulticlassExplanation) -> Self:
        """Raise TypeError: trees predict from leaves, not from curves.

        Parameters
        ----------
        explanation : GlobalExplanation or MulticlassExplanation
            Any explanation.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError(
            f"a {type(self).__name__} predicts from the leaves of its trees, so editing curves "
            "cannot change it; edit a boosting or linear model, or the explanation alone."
        )

    @property
    def _has_hidden_interactions(self) -> bool:  # type: ignore[override]
        return self._trees.depth > 1

    def structure_summary(self) -> pd.DataFrame:
        """Summarize the depth, leaves and features of each tree.

        Returns
        -------
        DataFrame
            One row per tree: its index, its depth, and its numbers of leaves, distinct leaf
            values, distinct splits and distinct features.
        """
        check_is_fitted(self, "schema_")
        candidates = candidates_of(self._bins)
        return pd.DataFrame(
            {
                "tree": np.arange(len(self._trees.splits)),
                "depth": self._trees.depth,
                "leaves": self._trees.values.shape[1],
                "different_leaves": [len(np.unique(v, axis=0)) for v in self._trees.values],
                "different_splits": [len(np.unique(s)) for s in self._trees.splits],
                "different_features": [
                    len(np.unique(candidates.feature[s])) for s in self._trees.splits
                ],
            }
        )

    def _notes(self) -> tuple[str, ...]:
        return (TREES_NOTE,)

    def _found_alarms(self) -> tuple[Finding, ...]:
        if not self._class_counts:
            return ()
        return alarms_of_counts(self._class_names() or (), self._class_counts, self._public_rows())

    def _health_notes(self) -> tuple[Finding, ...]:
        if not self._class_counts:
            return super()._health_notes()
        hidden = () if tells_of_records(self._class_counts[0]) else ("small numbers of records",)
        return (note_of_unchecked("features", *hidden),)

    @property
    def _unit(self) -> float:
        """Return the maximum number of records that one privacy unit adds or removes."""
        return (2.0 if self.adjacency == "replace" else 1.0) * (self.max_rows_per_person or 1)

    @property
    def _epsilon_of_record(self) -> float:
        """Return the epsilon of a fit for adding or removing one record."""
        return self.epsilon / self._unit

    def _mu(self) -> None:
        return None

    def _epsilon_replaced(self) -> float:
        return self.epsilon if self.adjacency == "replace" else 2.0 * self.epsilon

    def _guarantee(self, source: NoiseSource) -> Guarantee:
        guarantee = super()._guarantee(source)
        if not guarantee.private:
            return dataclasses.replace(guarantee, delta=0.0)
        return dataclasses.replace(guarantee, delta=0.0, sampler=TREES_SAMPLER)

    def _check_tree_settings(self) -> None:
        check_count("max_bins", self.max_bins, 2)
        check_count("depth", self.depth)
        if self.depth > DEEPEST:
            raise ValueError(f"depth={self.depth} must be at most {DEEPEST}.")

    def _check_grid(self) -> None:
        if self.schema is not None:
            for b in grid_of(self.schema, self.max_bins):
                index_dtype(b.n_bins)

    def _n_classes(self) -> int:
        """Return the number of classes in the schema, or 2 if it declares none."""
        target = None if self.schema is None else self.schema.target
        return len(target.labels) if isinstance(target, Classes) else 2

    def _n_scores(self) -> int:
        """Return the number of scores: one for two classes, else one per class."""
        n_classes = self._n_classes()
        return 1 if n_classes == 2 else n_classes

    def _scores(self, X: Any) -> FloatArray:
        """Return the score of each row on the link scale."""
        return self._by_chunks(X, self._scores_of_columns)

    def _scores_of_columns(self, columns: list[Encoded]) -> FloatArray:
        index = [b.index(c) for b, c in zip(self._bins, columns, strict=True)]
        cells = np.ascontiguousarray(np.stack(index, axis=1).astype(np.uint16))
        score = self._offset + self._trees.scores(cells, candidates_of(self._bins))
        return score if self._link == "softmax" else np.asarray(score[:, 0])

    def _keep(
        self,
        trees: Trees,
        schema: Schema,
        link: Link,
        n_records: FloatArray | None = None,
        offset: float = 0.0,
    ) -> None:
        """Store the released trees, noisy leaf counts if available, and the initial score."""
        if link == "softmax":  # adding a number to all scores changes no probability
            values = trees.values - trees.values.mean(axis=2, keepdims=True)
            trees = Trees(trees.splits, values)
        self._trees, self._link, self._n_records, self._offset = trees, link, n_records, offset
        self._bins = grid_of(schema, self.max_bins)
        _ = self._terms  # computed now, so that predictions do not change the model

    @property
    def intercept_(self) -> float | FloatArray:  # type: ignore[override]
        """Mean score of the fitted model."""
        return self._terms.intercept

    @cached_property
    def _terms(self) -> TreeTerms:  # type: ignore[override]
        bins = self._bins
        candidates = candidates_of(bins)
        if self._n_records is None:
            counts = [np.zeros(b.n_bins) for b in bins]
        else:
            counts = counted_spread(self._trees, candidates, bins, self._n_records)
        return tree_terms(
            self._trees, candidates, bins, counts, link=self._link, offset=self._offset
        )

    def _read(self, X: Any, y: Any, schema: Schema) -> tuple[Candidates, NDArray[np.uint16], Any]:
        """Return the public candidate splits, the binned records and their targets."""
        bins = grid_of(schema, self.max_bins)
        cells, targets = [], []
        for rows, target in chunks_with_target(X, y, schema):
            cells.append(cells_of(rows, schema, bins))
            targets.append(target)
        together = cells[0] if len(cells) == 1 else np.concatenate(cells)
        return candidates_of(bins), together, joined_targets(targets)
