"""DPBoost for classification and regression."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.validation import check_choice, check_count, check_in_range
from dpexplain.accounting import PrivacyLedger
from dpexplain.explain.additive.links import Link
from dpexplain.mechanisms import Mechanism, Releases
from dpexplain.models.additive.predictors import AdditiveClassifier, AdditiveRegressor
from dpexplain.models.additive.targets import classes_of, encoded_range, range_unit
from dpexplain.models.dpboost.boosting import (
    LeafClipping,
    Loss,
    Plan,
    Scale,
    Variant,
    grow,
)
from dpexplain.models.trees.private_trees import PrivateTrees
from dpexplain.models.trees.structure import FloatArray, Trees, candidates_of, grid_of
from dpexplain.schema import Classes, Range, Schema
from dpexplain.tables.encoding import encode_classes


class _DPBoost(PrivateTrees):
    """Base class for the DPBoost models."""

    n_trees: int
    trees_per_ensemble: int
    learning_rate: float
    regularisation: float
    variant: Variant
    loss: Loss
    filtering: Literal["drop", "clip"]
    leaf_clipping: LeafClipping
    exponential_scale: Scale

    def _check_settings(self) -> None:
        check_count("n_trees", self.n_trees)
        check_count("trees_per_ensemble", self.trees_per_ensemble)
        self._check_tree_settings()
        check_in_range(
            "learning_rate", self.learning_rate, 0.0, 1.0, include_low=False, include_high=False
        )
        check_in_range("regularisation", self.regularisation, 0.0, 1e6)
        check_choice("variant", self.variant, ("ensemble", "seq", "para"))
        check_choice("loss", self.loss, ("logistic", "square"))
        check_choice("filtering", self.filtering, ("drop", "clip"))
        check_choice("leaf_clipping", self.leaf_clipping, ("geometric", "none"))
        check_choice("exponential_scale", self.exponential_scale, ("paper", "range"))

    def _check_plan(self, n_features: int) -> None:
        self._check_grid()
        plan = self._plan(self._n_scores())
        n_candidates = 1
        if self.schema is not None:
            n_candidates = len(candidates_of(grid_of(self.schema, self.max_bins)))
        plan.split_phase(0, n_candidates)
        for t in (0, min(plan.n_disjoint, plan.n_trees) - 1):
            plan.leaf_phase(t, 0)

    def _plan(self, n_scores: int) -> Plan:
        return Plan(
            epsilon=self._epsilon_of_record / n_scores,
            unit=self._unit,
            n_trees=self.n_trees,
            trees_per_ensemble=self.trees_per_ensemble,
            depth=self.depth,
            learning_rate=self.learning_rate,
            regularisation=self.regularisation,
            variant=self.variant,
            loss=self.loss,
            filtering=self.filtering,
            leaf_clipping=self.leaf_clipping,
            exponential_scale=self.exponential_scale,
        )

    def _releases(self, n_features: int) -> tuple[Releases, ...]:
        n_scores = self._n_scores()
        plan = self._plan(n_scores)
        count = n_scores * plan.n_ensembles
        # The trees of an ensemble use disjoint records: an ensemble costs as much as one tree.
        first, *others = (plan.leaf_phase(t, 0) for t in range(plan.size(0)))
        return (
            Releases(first, count, tuple(others)),
            Releases(plan.split_phase(0, 1), count * self.depth),
        )

    def _fit_released(self, X: Any, y: Any, schema: Schema, mechanism: Mechanism) -> None:
        self._fit_planned(X, y, schema, mechanism, self._plan)

    def _fit_noiseless(self, X: Any, y: Any, schema: Schema, mechanism: Mechanism) -> None:
        """Fit the noiseless version: every tree uses all records, without filtering."""
        self._fit_planned(X, y, schema, mechanism, lambda n: self._plan(n).noiseless())

    def _fit_planned(
        self,
        X: Any,
        y: Any,
        schema: Schema,
        mechanism: Mechanism,
        plan_of: Callable[[int], Plan],
    ) -> None:
        """Grow the trees of all scores as planned, and store them."""
        candidates, cells, y = self._read(X, y, schema)
        targets = self._targets(y, schema)
        coins, plan = self._coins(), plan_of(len(targets))
        parts = [grow(cells, target, candidates, plan, mechanism, coins) for target in targets]
        self._keep_parts(parts, schema)

    @abstractmethod
    def _targets(self, y: Any, schema: Schema) -> list[NDArray[np.float32]]:
        """Return the targets for each score, in [-1, 1]."""

    @abstractmethod
    def _keep_parts(self, parts: list[Trees], schema: Schema) -> None:
        """Store the released trees of each score."""


class DPBoostClassifier(_DPBoost, AdditiveClassifier):
    """Gradient-boosted tree classifier with pure differential privacy.

    The model is fitted by DPBoost [1]_: large gradients are filtered, leaf values are clipped with
    decreasing bounds, the trees of an ensemble use disjoint records, and ensembles are boosted in
    sequence. Splits are chosen by the exponential mechanism, and leaf values have Laplace noise.
    With more than two classes, each class has a one-vs-rest score, and the scores share the budget.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy parameter epsilon of the whole fit (delta is 0); must be positive. Values above 10
        cause a warning, and values above 50 require `allow_weak`.
    schema : Schema or None, default=None
        Public bounds, categories and classes. If None, they are read from the data, with a
        `PrivacyWarning`, and the model is not private.
    ledger : PrivacyLedger, str or None, default=None
        Ledger of the data set, or the name of the data set if the ledger is kept in this process;
        see `dpexplain.accounting.process_ledger`. If None, this fit gets its own ledger.
    n_trees : int, default=50
        Number of trees per score.
    trees_per_ensemble : int, default=50
        Number of trees in an ensemble. The trees of an ensemble use disjoint records, so each tree
        has the full budget of the ensemble. Ensembles share the budget of the fit, and each can use
        all records. Ignored by the variant "seq".
    depth : int, default=6
        Number of levels of splits, from 1 to 10.
    max_bins : int, default=32
        Maximum number of bins per numeric feature; trees may split at bin edges. Half of the edges
        are equally spaced, and the other half are spaced geometrically.
    learning_rate : float, default=0.1
        Fraction of a leaf's value added to the score, in (0, 1).
    regularisation : float, default=0.1
        Nonnegative number, called lambda in the paper, that is added to the count of a leaf.
    variant : {"ensemble", "seq", "para"}, default="ensemble"
        "ensemble" is the paper's two-level boosting; the others are baselines. "seq": every tree
        uses all records with a share of the budget. "para": each tree of an ensemble uses, on
        average, half of the records that earlier trees of the ensemble have not used, with the full
        budget of the ensemble.
    loss : {"logistic", "square"}, default="logistic"
        Loss for classes coded as -1 and 1; the paper's experiments use "square".
    filtering : {"drop", "clip"}, default="drop"
        Treatment of a record whose gradient exceeds 1 in absolute value. "drop": the record is
        omitted from the tree, as in the paper. "clip": the gradient is clipped to [-1, 1].
    leaf_clipping : {"geometric", "none"}, default="geometric"
        Bound on leaf values. "geometric": the bound is ``(1 - learning_rate)^k`` for tree k of an
        ensemble, counting from 0. "none": the bound is 1. For the variants "seq" and "para", the
        bound is always 1.
    exponential_scale : {"paper", "range"}, default="paper"
        Scale of the exponential mechanism for splits: the paper's scale, or two thirds of this
        scale ("range"), which gives the same privacy.
    adjacency : {"add_remove", "replace"}, default="add_remove"
        Definition of neighboring data sets: one record is added or removed, or one record is
        replaced.
    structure_seed : int or None, default=None
        Accepted for compatibility with other models; has no effect, because splits are chosen
        privately.
    reproducible_seed : int or None, default=None
        Seed that makes repeated fits on the same data identical, for demonstrations. It seeds the
        noise and the assignment of records to trees. The model is then NOT PRIVATE.
    allow_weak : bool, default=False
        Whether to allow epsilon above 50.
    max_rows_per_person : int or None, default=None
        Maximum number of rows used per person. If given, the guarantee protects people instead of
        rows, the noise is proportional to this number, and ``fit`` requires ``groups=``, unless the
        schema names the person column. If None, every row counts as a separate person.

    Attributes
    ----------
    schema_ : Schema
        The schema in use.
    classes_ : ndarray of shape (n_classes,)
        Class labels of the schema.
    intercept_ : float or ndarray of shape (n_classes,)
        Mean score, in log-odds.
    guarantee_ : Guarantee
        Privacy guarantee of the fit.
    ledger_ : PrivacyLedger
        `ledger`, or a ledger for this fit only.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features.

    References
    ----------
    .. [1] Li, Wu, Wen and He, "Privacy-Preserving Gradient Boosting Decision Trees", AAAI 2020,
       arXiv:1911.04209.

    Examples
    --------
    >>> import numpy as np
    >>> from dpexplain import Classes, Numeric, Schema
    >>> X = np.linspace(0, 100, 5000).reshape(-1, 1)
    >>> y = np.where(X[:, 0] > 50, "yes", "no")
    >>> schema = Schema({"age": Numeric(0, 100, unit="years")}, target=Classes(["no", "yes"]))
    >>> model = DPBoostClassifier(epsilon=8.0, schema=schema, n_trees=5, depth=2).fit(X, y)
    >>> model.predict([[10.0], [90.0]])
    array(['no', 'yes'], dtype='<U3')
    """

    _target_kind = Classes

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        schema: Schema | None = None,
        ledger: PrivacyLedger | str | None = None,
        n_trees: int = 50,
        trees_per_ensemble: int = 50,
        depth: int = 6,
        max_bins: int = 32,
        learning_rate: float = 0.1,
        regularisation: float = 0.1,
        variant: Variant = "ensemble",
        loss: Loss = "logistic",
        filtering: Literal["drop", "clip"] = "drop",
        leaf_clipping: LeafClipping = "geometric",
        exponential_scale: Scale = "paper",
        adjacency: str = "add_remove",
        structure_seed: int | None = None,
        reproducible_seed: int | None = None,
        allow_weak: bool = False,
        max_rows_per_person: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.ledger = ledger
        self.n_trees = n_trees
        self.trees_per_ensemble = trees_per_ensemble
        self.depth = depth
        self.max_bins = max_bins
        self.learning_rate = learning_rate
        self.regularisation = regularisation
        self.variant = variant
        self.filtering = filtering
        self.leaf_clipping = leaf_clipping
        self.exponential_scale = exponential_scale
        self.adjacency = adjacency
        self.structure_seed = structure_seed
        self.reproducible_seed = reproducible_seed
        self.allow_weak = allow_weak
        self.max_rows_per_person = max_rows_per_person
        self.loss = loss

    def _targets(self, y: Any, schema: Schema) -> list[NDArray[np.float32]]:
        classes = classes_of(schema)
        label, n_classes = encode_classes(y, classes), len(classes.labels)
        positives = [1] if n_classes == 2 else range(n_classes)
        return [np.where(label == c, 1.0, -1.0).astype(np.float32) for c in positives]

    def _keep_parts(self, parts: list[Trees], schema: Schema) -> None:
        # Near even odds, the log-odds are twice the mean of targets of 1 and -1.
        factor = 2.0 if self.loss == "square" else 1.0
        link: Link = "logit" if len(parts) == 1 else "softmax"
        self._keep(_side_by_side(parts, factor), schema, link)


class DPBoostRegressor(_DPBoost, AdditiveRegressor):
    """Gradient-boosted tree regressor with pure differential privacy.

    The model is fitted by DPBoost [1]_ with the squared error: large gradients are filtered, leaf
    values are clipped with decreasing bounds, the trees of an ensemble use disjoint records, and
    ensembles are boosted in sequence. Splits are chosen by the exponential mechanism, and leaf
    values have Laplace noise. The target is scaled from its public range to [-1, 1].

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy parameter epsilon of the whole fit (delta is 0); must be positive. Values above 10
        cause a warning, and values above 50 require `allow_weak`.
    schema : Schema or None, default=None
        Public bounds, categories and target range. If None, they are read from the data, with a
        `PrivacyWarning`, and the model is not private.
    ledger : PrivacyLedger, str or None, default=None
        Ledger of the data set, or the name of the data set if the ledger is kept in this process;
        see `dpexplain.accounting.process_ledger`. If None, this fit gets its own ledger.
    n_trees : int, default=50
        Number of trees.
    trees_per_ensemble : int, default=50
        Number of trees in an ensemble. The trees of an ensemble use disjoint records, so each tree
        has the full budget of the ensemble. Ensembles share the budget of the fit, and each can use
        all records. Ignored by the variant "seq".
    depth : int, default=6
        Number of levels of splits, from 1 to 10.
    max_bins : int, default=32
        Maximum number of bins per numeric feature; trees may split at bin edges. Half of the edges
        are equally spaced, and the other half are spaced geometrically.
    learning_rate : float, default=0.1
        Fraction of a leaf's value added to the score, in (0, 1).
    regularisation : float, default=0.1
        Nonnegative number, called lambda in the paper, that is added to the count of a leaf.
    variant : {"ensemble", "seq", "para"}, default="ensemble"
        "ensemble" is the paper's two-level boosting; the others are baselines. "seq": every tree
        uses all records with a share of the budget. "para": each tree of an ensemble uses, on
        average, half of the records that earlier trees of the ensemble have not used, with the full
        budget of the ensemble.
    filtering : {"drop", "clip"}, default="drop"
        Treatment of a record whose gradient exceeds 1 in absolute value. "drop": the record is
        omitted from the tree, as in the paper. "clip": the gradient is clipped to [-1, 1].
    leaf_clipping : {"geometric", "none"}, default="geometric"
        Bound on leaf values. "geometric": the bound is ``(1 - learning_rate)^k`` for tree k of an
        ensemble, counting from 0. "none": the bound is 1. For the variants "seq" and "para", the
        bound is always 1.
    exponential_scale : {"paper", "range"}, default="paper"
        Scale of the exponential mechanism for splits: the paper's scale, or two thirds of this
        scale ("range"), which gives the same privacy.
    adjacency : {"add_remove", "replace"}, default="add_remove"
        Definition of neighboring data sets: one record is added or removed, or one record is
        replaced.
    structure_seed : int or None, default=None
        Accepted for compatibility with other models; has no effect, because splits are chosen
        privately.
    reproducible_seed : int or None, default=None
        Seed that makes repeated fits on the same data identical, for demonstrations. It seeds the
        noise and the assignment of records to trees. The model is then NOT PRIVATE.
    allow_weak : bool, default=False
        Whether to allow epsilon above 50.
    max_rows_per_person : int or None, default=None
        Maximum number of rows used per person. If given, the guarantee protects people instead of
        rows, the noise is proportional to this number, and ``fit`` requires ``groups=``, unless the
        schema names the person column. If None, every row counts as a separate person.

    Attributes
    ----------
    schema_ : Schema
        The schema in use.
    intercept_ : float
        Mean score, in the same units as the target.
    guarantee_ : Guarantee
        Privacy guarantee of the fit.
    ledger_ : PrivacyLedger
        `ledger`, or a ledger for this fit only.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features.

    References
    ----------
    .. [1] Li, Wu, Wen and He, "Privacy-Preserving Gradient Boosting Decision Trees", AAAI 2020,
       arXiv:1911.04209.

    Examples
    --------
    >>> import numpy as np
    >>> from dpexplain import Numeric, Range, Schema
    >>> X = np.linspace(0, 100, 5000).reshape(-1, 1)
    >>> schema = Schema({"age": Numeric(0, 100, unit="years")}, target=Range(0, 10))
    >>> model = DPBoostRegressor(epsilon=8.0, schema=schema, n_trees=5, depth=2)
    >>> model.fit(X, X[:, 0] / 10).predict([[50.0]]).shape
    (1,)
    """

    _target_kind = Range
    loss: Loss = "square"

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        schema: Schema | None = None,
        ledger: PrivacyLedger | str | None = None,
        n_trees: int = 50,
        trees_per_ensemble: int = 50,
        depth: int = 6,
        max_bins: int = 32,
        learning_rate: float = 0.1,
        regularisation: float = 0.1,
        variant: Variant = "ensemble",
        filtering: Literal["drop", "clip"] = "drop",
        leaf_clipping: LeafClipping = "geometric",
        exponential_scale: Scale = "paper",
        adjacency: str = "add_remove",
        structure_seed: int | None = None,
        reproducible_seed: int | None = None,
        allow_weak: bool = False,
        max_rows_per_person: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.ledger = ledger
        self.n_trees = n_trees
        self.trees_per_ensemble = trees_per_ensemble
        self.depth = depth
        self.max_bins = max_bins
        self.learning_rate = learning_rate
        self.regularisation = regularisation
        self.variant = variant
        self.filtering = filtering
        self.leaf_clipping = leaf_clipping
        self.exponential_scale = exponential_scale
        self.adjacency = adjacency
        self.structure_seed = structure_seed
        self.reproducible_seed = reproducible_seed
        self.allow_weak = allow_weak
        self.max_rows_per_person = max_rows_per_person

    def _targets(self, y: Any, schema: Schema) -> list[NDArray[np.float32]]:
        return [encoded_range(y, schema)]

    def _keep_parts(self, parts: list[Trees], schema: Schema) -> None:
        factor, offset = range_unit(schema)
        self._keep(_side_by_side(parts, factor), schema, "identity", offset=offset)


def _side_by_side(parts: list[Trees], factor: float) -> Trees:
    """Combine the trees of all scores; the trees of one score add 0 to the others."""
    values: list[FloatArray] = []
    for c, part in enumerate(parts):
        wide = np.zeros((*part.values.shape[:2], len(parts)))
        wide[:, :, c] = factor * part.values[:, :, 0]
        values.append(wide)
    return Trees(np.concatenate([part.splits for part in parts]), np.concatenate(values))
