"""Random forests of public trees with private leaves."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from dpexplain._utils.validation import check_choice, check_count
from dpexplain.accounting import PrivacyLedger
from dpexplain.explain.additive.links import Link
from dpexplain.mechanisms import ChoicePhase, LaplacePhase, Mechanism, Releases
from dpexplain.models.additive.predictors import AdditiveClassifier
from dpexplain.models.additive.targets import classes_of
from dpexplain.models.alarms import LaplaceCount
from dpexplain.models.trees.private_trees import PrivateTrees
from dpexplain.models.trees.structure import FloatArray, Integers, Trees, leaf_of, leaf_sums
from dpexplain.schema import Classes, Schema
from dpexplain.tables.encoding import encode_classes

COUNT_LATTICE = 1 << 10
"""Factor by which counts are multiplied before noise is added, so that the noise scale need not be
rounded."""

_VOTE = 2.0  # log-odds of a vote: near even odds, their mean is the log-odds of all votes


class DPRandomForestClassifier(PrivateTrees, AdditiveClassifier):
    """Random forest with pure differential privacy: random splits, private leaves.

    Splits are drawn from a public grid without using records, so the whole budget is spent on the
    leaves, as in [1]_. Each leaf releases class counts with Laplace noise, or one class chosen by
    the exponential mechanism. The score of a record is the mean, over the trees, of the log-odds in
    its leaves.

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
    n_trees : int, default=21
        Number of trees; they share the budget.
    depth : int, default=5
        Number of levels of splits, from 1 to 10.
    max_bins : int, default=32
        Maximum number of bins per numeric feature; trees may split at bin edges. Half of the edges
        are equally spaced, and the other half are spaced geometrically.
    leaf_mechanism : {"laplace", "exponential"}, default="laplace"
        What each leaf releases: noisy class counts, or one class chosen by the exponential
        mechanism.
    leaf_budget : {"parallel", "paper"}, default="parallel"
        Division of a tree's budget among its leaves. "parallel": every leaf uses the whole budget,
        because a record is in only one leaf of each tree. "paper": the leaves share the budget, as
        in the comparison in [2]_; this wastes most of the budget.
    adjacency : {"add_remove", "replace"}, default="add_remove"
        Definition of neighboring data sets: one record is added or removed, or one record is
        replaced.
    structure_seed : int or None, default=None
        Seed for the public random splits. The noise never depends on it.
    reproducible_seed : int or None, default=None
        Seed that makes repeated fits on the same data identical, for demonstrations. It seeds the
        noise and, if `structure_seed` is None, the splits. The model is then NOT PRIVATE.
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
    .. [1] Fletcher and Islam, "Differentially Private Random Decision Forests Using Smooth
       Sensitivity", Expert Systems with Applications 78, 2017, arXiv:1606.03572.
    .. [2] Nock and Henecka, "Boosted and Differentially Private Ensembles of Decision Trees",
       2020, arXiv:2001.09384.

    Examples
    --------
    >>> import numpy as np
    >>> from dpexplain import Classes, Numeric, Schema
    >>> X = np.linspace(0, 100, 5000).reshape(-1, 1)
    >>> y = np.where(X[:, 0] > 50, "yes", "no")
    >>> schema = Schema({"age": Numeric(0, 100, unit="years")}, target=Classes(["no", "yes"]))
    >>> model = DPRandomForestClassifier(epsilon=1.0, schema=schema, structure_seed=0).fit(X, y)
    >>> model.predict([[5.0], [95.0]])
    array(['no', 'yes'], dtype='<U3')
    >>> model.guarantee_.short
    '1-DP, add/remove'
    """

    _target_kind = Classes

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        schema: Schema | None = None,
        ledger: PrivacyLedger | str | None = None,
        n_trees: int = 21,
        depth: int = 5,
        max_bins: int = 32,
        leaf_mechanism: Literal["laplace", "exponential"] = "laplace",
        leaf_budget: Literal["parallel", "paper"] = "parallel",
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
        self.depth = depth
        self.max_bins = max_bins
        self.leaf_mechanism = leaf_mechanism
        self.leaf_budget = leaf_budget
        self.adjacency = adjacency
        self.structure_seed = structure_seed
        self.reproducible_seed = reproducible_seed
        self.allow_weak = allow_weak
        self.max_rows_per_person = max_rows_per_person

    def _check_settings(self) -> None:
        check_count("n_trees", self.n_trees)
        self._check_tree_settings()
        check_choice("leaf_mechanism", self.leaf_mechanism, ("laplace", "exponential"))
        check_choice("leaf_budget", self.leaf_budget, ("parallel", "paper"))

    def _check_plan(self, n_features: int) -> None:
        self._check_grid()
        self._phase(0)

    @property
    def _leaf_epsilon(self) -> float:
        """Return the epsilon of one leaf for adding or removing one record."""
        shares = self.n_trees * (1 if self.leaf_budget == "parallel" else 2**self.depth)
        return self._epsilon_of_record / shares

    def _phase(self, n_values: int) -> LaplacePhase | ChoicePhase:
        """Return the phase that releases all leaves of all trees.

        In each tree, a record raises one count in one leaf by 1. So the L1 sensitivity of the
        counts is 1, and the changes in any two utilities differ by at most 1, because all utilities
        change in the same direction.
        """
        sensitivity = self._unit * COUNT_LATTICE
        if self.leaf_mechanism == "laplace":
            scale = COUNT_LATTICE / self._leaf_epsilon
            return LaplacePhase("leaves", sensitivity, scale, n_values)
        epsilon = self._leaf_epsilon * self._unit
        return ChoicePhase("leaves", sensitivity, epsilon, self._n_classes(), n_values)

    def _releases(self, n_features: int) -> tuple[Releases, ...]:
        # The leaves of a tree are disjoint, so together they cost as much as one of them.
        return (Releases(self._phase(0), self.n_trees),)

    def _fit_released(self, X: Any, y: Any, schema: Schema, mechanism: Mechanism) -> None:
        candidates, cells, y = self._read(X, y, schema)
        classes = classes_of(schema)
        label = encode_classes(y, classes)
        n_classes, n_leaves = len(classes.labels), 2**self.depth
        rng = self._structure_rng()
        splits = candidates.at_random(self.n_trees * (n_leaves - 1), rng)
        splits = splits.reshape(self.n_trees, n_leaves - 1)
        one_hot = (label[:, None] == np.arange(n_classes)).astype(np.int64)
        counted = self.leaf_mechanism == "laplace"
        phase = self._phase(self.n_trees * n_leaves * (n_classes if counted else 1))
        values, n_records, of_classes = [], [], np.zeros(n_classes)
        with mechanism.phase(phase):
            for tree in splits:
                steps = COUNT_LATTICE * leaf_sums(
                    leaf_of(cells, tree, candidates), one_hot, self.depth
                )
                if counted:
                    counts = mechanism.release(steps.ravel()).reshape(steps.shape) / COUNT_LATTICE
                    n_records.append(counts.sum(axis=1))
                    of_classes += counts.sum(axis=0) / self.n_trees
                    values.append(self._of_counts(counts))
                else:
                    values.append(_of_choices(mechanism.choose(steps), n_classes))
        leaves = np.array(values)
        if n_classes == 2:
            leaves = leaves[:, :, 1:] - leaves[:, :, :1]
        trees = Trees(splits, leaves / self.n_trees)
        link: Link = "logit" if n_classes == 2 else "softmax"
        self._keep(trees, schema, link, np.array(n_records) if counted else None)
        n_draws = self.n_trees * n_leaves
        self._class_counts = tuple(
            LaplaceCount(
                inside=float(held),
                outside=float(of_classes.sum() - held),
                scale=1.0 / (self._leaf_epsilon * self.n_trees),
                n_inside=n_draws,
                n_outside=n_draws * (n_classes - 1),
            )
            for held in of_classes
            if counted
        )

    def _of_counts(self, counts: FloatArray) -> FloatArray:
        """Return log class proportions, smoothed with the noise scale as a pseudocount."""
        n_records = np.maximum(counts, 0.0) + 1.0 / self._leaf_epsilon
        return np.asarray(np.log(n_records / n_records.sum(axis=1, keepdims=True)))


def _of_choices(chosen: Integers, n_classes: int) -> FloatArray:
    """Return the class scores of each leaf, shape (n_leaves, n_classes)."""
    return np.asarray(_VOTE * (2.0 * (chosen[:, None] == np.arange(n_classes)) - 1.0) / 2.0)
