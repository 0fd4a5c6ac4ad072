"""Private boosted trees with exponential-mechanism splits and noisy leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.validation import check_choice, check_count, check_in_range
from dpexplain.accounting import PrivacyLedger
from dpexplain.explain.additive.links import Link
from dpexplain.mechanisms import ChoicePhase, LaplacePhase, Mechanism, Releases
from dpexplain.models.additive.predictors import AdditiveClassifier
from dpexplain.models.additive.targets import classes_of
from dpexplain.models.alarms import LaplaceCount
from dpexplain.models.boosted_trees.losses import (
    CRITERIA,
    WITHOUT_BOUND,
    Criterion,
    criterion_sensitivity,
    criterion_value,
    largest_sum,
    link,
    weight,
)
from dpexplain.models.trees.private_trees import PrivateTrees
from dpexplain.models.trees.structure import (
    Candidates,
    FloatArray,
    Integers,
    Trees,
    candidates_of,
    descend,
    grid_of,
    leaf_sums,
    node_sums,
)
from dpexplain.schema import Classes, Schema
from dpexplain.tables.encoding import encode_classes

WEIGHT_STEPS = 1 << 12
"""Number of lattice steps in a weight of 1, which is the largest weight."""

LATTICE = 1 << 20
"""Criteria are multiples of ``2**-20``."""

LARGEST_CRITERION = 1 << 29
"""Cap on criteria, so that floating-point errors stay below a lattice step. Capping does not
increase the effect of a record."""

_WEIGHTS_FRAC = 0.1
"""Share of the budget for splits that pays for the weights of nodes, if they are released."""

# Rounding errors of the difference of two criteria, in lattice steps. The second value includes
# floating-point errors, which matter if the sensitivity is not an integer number of steps; see
# `DPBoostedTreesClassifier._utilities`.
_ROUNDING, _ROUNDING_OF_BOUNDED = 2.0, 3.0
_CERTAIN = 1e-4  # minimum distance of proportions of positives from 0 and 1


class DPBoostedTreesClassifier(PrivateTrees, AdditiveClassifier):
    """Boosted decision tree classifier with pure differential privacy.

    Trees are grown from the root down and boosted as in [1]_: the exponential mechanism chooses
    splits by the criterion of a proper loss, and the leaf values and the coefficients of the linear
    combination of trees are computed from noisy weights. The M-alpha loss lies between the
    Matsushita loss (alpha 1) and the 0/1 loss (alpha 0). With more than two classes, each class has
    a one-vs-rest score, and the scores share the budget.

    The method differs from the paper where the guarantee or tight accounting requires it. The nodes
    at one level have no records in common, so the budget need not be divided among them. Adding a
    record never decreases a criterion, so the exponential mechanism does not need the usual factor
    of two. Objective calibration depends on the depth of a node or on its noisy weight, which is
    released; the paper uses the exact weight. Noise is added to the weights of a leaf, not to its
    prediction: the sensitivity of a prediction is the entire range of predictions.
    ``variant="paper"`` divides the budget and adds noise to predictions as in the paper, and uses
    equal coefficients.

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
    n_trees : int, default=20
        Number of trees per score; all trees share the budget.
    depth : int, default=4
        Number of levels of splits, from 1 to 10.
    max_bins : int, default=32
        Maximum number of bins per numeric feature; trees split only at bin edges. Half of the edges
        are equally spaced, and the other half are spaced geometrically.
    criterion : {"gini", "zero_one", "matsushita", "log", "m_alpha"}, default="gini"
        Split criterion. All criteria except "gini" and "zero_one" need `n_public`.
    calibration : float, "depth" or "weight", default="depth"
        Alpha of the criterion "m_alpha", in [0, 1]. "depth" and "weight" are objective calibration:
        trees learn fast near the root and need less noise further down. With "depth", alpha is
        ``2**-k`` at level k. With "weight", alpha is the node's share of the weight of all records,
        from noisy weights, on which a tenth of the budget for splits is spent; the more noise they
        have, the closer alpha is to ``2**-k``.
    alpha : float, default=1.0
        Alpha of the loss that determines record weights and leaf values, in [0.05, 1].
    tree_budget_frac : float, default=0.5
        Share of epsilon spent on splits, in (0, 1).
    variant : {"corrected", "paper"}, default="corrected"
        Corrected method, or the budget and noise of the paper; see above.
    adjacency : {"add_remove", "replace"}, default="add_remove"
        Definition of neighboring data sets: one record is added or removed, or one record is
        replaced.
    structure_seed : int or None, default=None
        Accepted for compatibility with other models; has no effect, because splits are chosen
        privately.
    reproducible_seed : int or None, default=None
        Seed of the noise, for demonstrations. With a seed, repeated fits on the same data are
        identical, and the model is NOT PRIVATE.
    allow_weak : bool, default=False
        Whether to allow epsilon above 50.
    n_public : int or None, default=None
        Public estimate of the maximum number of records. Criteria that need it cap sums of weights
        at about this number. The guarantee holds for tables of any size, but if a table has more
        records, the splits of its large nodes are less accurate.
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
    .. [1] Nock and Henecka, "Boosted and Differentially Private Ensembles of Decision Trees", 2020,
       arXiv:2001.09384.

    Examples
    --------
    >>> import numpy as np
    >>> from dpexplain import Classes, Numeric, Schema
    >>> X = np.linspace(0, 100, 5000).reshape(-1, 1)
    >>> y = np.where(X[:, 0] > 50, "yes", "no")
    >>> schema = Schema({"age": Numeric(0, 100, unit="years")}, target=Classes(["no", "yes"]))
    >>> model = DPBoostedTreesClassifier(epsilon=8.0, schema=schema, n_trees=3, depth=2).fit(X, y)
    >>> model.predict([[10.0], [90.0]])
    array(['no', 'yes'], dtype='<U3')
    """

    _target_kind = Classes

    _largest_leaf = 1.0  # a bound on leaf values; the studies of the paper vary it

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        schema: Schema | None = None,
        ledger: PrivacyLedger | str | None = None,
        n_trees: int = 20,
        depth: int = 4,
        max_bins: int = 32,
        criterion: Criterion = "gini",
        calibration: float | Literal["depth", "weight"] = "depth",
        alpha: float = 1.0,
        tree_budget_frac: float = 0.5,
        variant: Literal["corrected", "paper"] = "corrected",
        adjacency: str = "add_remove",
        structure_seed: int | None = None,
        reproducible_seed: int | None = None,
        allow_weak: bool = False,
        n_public: int | None = None,
        max_rows_per_person: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.ledger = ledger
        self.n_trees = n_trees
        self.depth = depth
        self.max_bins = max_bins
        self.criterion = criterion
        self.calibration = calibration
        self.alpha = alpha
        self.tree_budget_frac = tree_budget_frac
        self.variant = variant
        self.adjacency = adjacency
        self.structure_seed = structure_seed
        self.reproducible_seed = reproducible_seed
        self.allow_weak = allow_weak
        self.n_public = n_public
        self.max_rows_per_person = max_rows_per_person

    def _check_settings(self) -> None:
        check_count("n_trees", self.n_trees)
        self._check_tree_settings()
        check_choice("criterion", self.criterion, CRITERIA)
        check_choice("variant", self.variant, ("corrected", "paper"))
        check_in_range("alpha", self.alpha, 0.05, 1.0)
        check_in_range(
            "tree_budget_frac",
            self.tree_budget_frac,
            0.0,
            1.0,
            include_low=False,
            include_high=False,
        )
        if self.calibration not in ("depth", "weight"):
            check_in_range("calibration", self.calibration, 0.0, 1.0)
        if self.criterion not in WITHOUT_BOUND and self.n_public is None:
            raise ValueError(
                f"criterion={self.criterion!r} needs n_public=, a public estimate of the "
                "maximum number of records; pass one, or use criterion='gini'."
            )

    def _check_plan(self, n_features: int) -> None:
        self._check_grid()
        n_candidates = 1
        if self.schema is not None:
            n_candidates = len(candidates_of(grid_of(self.schema, self.max_bins)))
        self._leaf_phase(0)
        if self._n_weighed:
            self._weights_phase(0)
        for level in range(self.depth):
            self._split_phase(level, n_candidates, self._level_alpha(level))

    @property
    def _tree_epsilon(self) -> float:
        """Return the epsilon of one tree under add/remove adjacency."""
        return self._epsilon_of_record / (self._n_scores() * self.n_trees)

    @property
    def _leaf_epsilon(self) -> float:
        return (1.0 - self.tree_budget_frac) * self._tree_epsilon

    def _split_epsilon(self, level: int) -> float:
        """Return the epsilon of each split at a level.

        The nodes at a level have no records in common, so the budget is not divided among their
        splits, unless `variant` is "paper".
        """
        share = self.tree_budget_frac * self._tree_epsilon / self.depth
        share *= 1.0 - _WEIGHTS_FRAC if self._n_weighed else 1.0
        return share if self.variant == "corrected" else share / 2**level

    @property
    def _n_weighed(self) -> int:
        """Return the number of levels per tree at which node weights are released."""
        weighs = self.criterion == "m_alpha" and self.calibration == "weight"
        return self.depth - 1 if weighs else 0  # the root has all the weight

    def _weights_epsilon(self) -> float:
        """Return the epsilon of the weights of the nodes at one level, if released."""
        return _WEIGHTS_FRAC * self.tree_budget_frac * self._tree_epsilon / self._n_weighed

    def _level_alpha(self, level: int) -> float:
        """Return the alpha of "m_alpha" at a level, on average over its nodes."""
        by_depth = isinstance(self.calibration, str)
        return 2.0**-level if by_depth else float(self.calibration)

    def _split_phase(
        self, level: int, n_candidates: int, alpha: float, n_disjoint: int = 1
    ) -> ChoicePhase:
        """Return the phase that chooses the splits of a level, or of a part of it."""
        sensitivity = criterion_sensitivity(self.criterion, self.n_public, alpha)
        factor = 1.0 if self.variant == "corrected" else 2.0
        rounding = _ROUNDING if self.criterion in WITHOUT_BOUND else _ROUNDING_OF_BOUNDED
        return ChoicePhase(
            "splits",
            (factor * sensitivity * LATTICE + rounding) * self._unit,
            self._split_epsilon(level) * self._unit,
            n_candidates,
            2**level // n_disjoint,
            n_disjoint,
        )

    def _weights_phase(self, n_nodes: int) -> LaplacePhase:
        """Return the phase that releases the weights of the nodes at one level."""
        scale = WEIGHT_STEPS / self._weights_epsilon()
        return LaplacePhase("node weights", WEIGHT_STEPS * self._unit, scale, n_nodes)

    def _leaf_phase(self, n_values: int) -> LaplacePhase:
        """Return the phase that releases the leaves of a tree."""
        largest = 1.0 if self.variant == "corrected" else 2.0 * self._largest_leaf
        sensitivity = largest * WEIGHT_STEPS
        scale = sensitivity / self._leaf_epsilon
        return LaplacePhase("leaves", sensitivity * self._unit, scale, n_values)

    def _releases(self, n_features: int) -> tuple[Releases, ...]:
        count = self._n_scores() * self.n_trees
        splits = [self._split_phase(k, 1, self._level_alpha(k)) for k in range(self.depth)]
        found = (Releases(self._leaf_phase(0), count), *(Releases(s, count) for s in splits))
        if not self._n_weighed:
            return found
        return (*found, Releases(self._weights_phase(0), self._n_weighed * count))

    def _fit_released(self, X: Any, y: Any, schema: Schema, mechanism: Mechanism) -> None:
        candidates, cells, y = self._read(X, y, schema)
        classes = classes_of(schema)
        label, n_classes = encode_classes(y, classes), len(classes.labels)
        positives = [1] if n_classes == 2 else range(n_classes)
        parts = [
            self._boosted(cells, np.where(label == c, 1.0, -1.0), candidates, mechanism)
            for c in positives
        ]
        values = []
        for c, (part, *_) in enumerate(parts):
            wide = np.zeros((*part.values.shape[:2], len(parts)))
            wide[:, :, c] = part.values[:, :, 0]
            values.append(wide)
        splits = np.concatenate([part.splits for part, *_ in parts])
        trees = Trees(splits, np.concatenate(values))
        n_records = np.concatenate([counted for _, counted, _ in parts])
        score_link: Link = "logit" if n_classes == 2 else "softmax"
        self._keep(trees, schema, score_link, n_records if self.variant == "corrected" else None)
        if self.variant == "corrected":
            self._class_counts = self._counts_of_classes([first for *_, first in parts])

    def _counts_of_classes(self, firsts: Sequence[FloatArray]) -> tuple[LaplaceCount, ...]:
        """Return the noisy number of records in each class.

        In the first tree, all weights are one half, so the weights of the records of a given sign,
        summed over all leaves, equal half the number of these records.
        """
        n_leaves = 2**self.depth
        both = [first.sum(axis=0) for first in firsts]
        if len(both) == 1:  # of the second class
            both = [both[0][::-1], both[0]]
        scale = 2.0 / self._leaf_epsilon
        return tuple(
            LaplaceCount(2.0 * float(held), 2.0 * float(rest), scale, n_leaves, n_leaves)
            for held, rest in both
        )

    def _boosted(
        self,
        cells: NDArray[np.uint16],
        sign: FloatArray,
        candidates: Candidates,
        mechanism: Mechanism,
    ) -> tuple[Trees, FloatArray, FloatArray]:
        """Grow the boosted trees of one score.

        Returns the trees, the noisy leaf counts, and the noisy weights in the leaves of the first
        tree. The array of weights has shape (n_leaves, 2), or is empty if the weights are not
        released.
        """
        score = np.zeros(len(sign))
        splits, values, total = [], [], 1.0
        n_records, first = np.zeros((self.n_trees, 2**self.depth)), np.zeros((0, 2))
        for t in range(self.n_trees):
            steps = np.rint(weight(sign * score, self.alpha) * WEIGHT_STEPS).astype(np.int64)
            both = np.stack([np.where(sign > 0, steps, 0), np.where(sign > 0, 0, steps)], axis=1)
            tree, place = self._grown(cells, both, candidates, mechanism)
            leaf, released = self._leaves(leaf_sums(place, both, self.depth), mechanism)
            coefficient = 1.0
            if released is not None:
                weights = np.maximum(released, 0.0)
                if t == 0:
                    first = released
                    # All weights are one half in the first tree, so it counts records. The factor
                    # n_trees compensates for the later mean over the trees of a score.
                    n_records[0] = 2.0 * self.n_trees * weights.sum(axis=1)
                    total = max(2.0 * float(weights.sum()), 1.0)
                edge = float((weights[:, 0] - weights[:, 1]) @ leaf) / total
                coefficient = 4.0 * self.alpha / self._largest_leaf**2 * edge
            splits.append(tree)
            values.append(np.clip(coefficient, -4.0, 4.0) * leaf)
            score += values[-1][place]
        return Trees(np.array(splits), np.array(values)[:, :, None]), n_records, first

    def _grown(
        self,
        cells: NDArray[np.uint16],
        both: Integers,
        candidates: Candidates,
        mechanism: Mechanism,
    ) -> tuple[Integers, Integers]:
        """Grow one tree; return its splits and the leaf of each record."""
        tree = np.zeros(2**self.depth - 1, dtype=np.int64)
        place = np.zeros(len(cells), dtype=np.int64)
        for level in range(self.depth):
            sums = node_sums(cells, place, both, candidates, level)
            alphas = self._alphas(sums, candidates, level, mechanism)
            first, n_nodes = (1 << level) - 1, (1 << level) // len(alphas)
            for alpha, part in zip(alphas, np.split(sums, len(alphas)), strict=True):
                utilities = self._utilities(part, candidates, alpha)
                phase = self._split_phase(level, len(candidates), alpha, len(alphas))
                with mechanism.phase(phase):
                    tree[first : first + n_nodes] = mechanism.choose(utilities)
                first += n_nodes
            descend(cells, place, tree, candidates, level)
        return tree, place

    def _alphas(
        self, sums: Integers, candidates: Candidates, level: int, mechanism: Mechanism
    ) -> Sequence[float]:
        """Return one alpha for all nodes of a level, or one for each node.

        The latter follow from the released weights, given which they are public, so the
        sensitivity of each criterion holds for any true weight.
        """
        if level == 0 or not self._n_weighed:
            return (self._level_alpha(level),)
        exact = sums[:, : _bins_of_first(candidates)].sum(axis=(1, 2))
        with mechanism.phase(self._weights_phase(len(exact))):
            released = mechanism.release(exact) / WEIGHT_STEPS
        weights = np.maximum(released, 0.0) + 1.0 / self._weights_epsilon()
        return (weights / weights.sum()).tolist()

    def _utilities(self, sums: Integers, candidates: Candidates, alpha: float) -> Integers:
        """Return the utility of each split, in lattice steps.

        As long as a criterion is below 2**29 (its sums are capped if necessary), its floating-point
        value is within a quarter of a step of the exact value. So if a record raises the exact
        value by between 0 and S, the rounded value falls by at most one step and rises by less than
        ``S 2**20 + 1.5`` steps, which means at most ``S 2**20 + 1`` steps if ``S 2**20`` is an
        integer. Capped values change by less.
        """
        right = candidates.right_sums(sums)
        left = sums[:, : _bins_of_first(candidates)].sum(axis=1)[:, None] - right
        total, most = np.zeros(right.shape[:2]), largest_sum(self.criterion, self.n_public)
        for side in (left, right):
            p, q = np.moveaxis(np.minimum(side / WEIGHT_STEPS, most), -1, 0)
            total += criterion_value(self.criterion, p, q, alpha)
        bounded = np.minimum(total, LARGEST_CRITERION)
        return np.asarray(-np.rint(bounded * LATTICE), dtype=np.int64)

    def _leaves(self, sums: Integers, mechanism: Mechanism) -> tuple[FloatArray, FloatArray | None]:
        """Release a tree's leaf values and, unless `variant` is "paper", leaf weights."""
        if self.variant == "paper":
            p, q = (sums / WEIGHT_STEPS).T
            value = self._value((p + _CERTAIN) / (p + q + 2.0 * _CERTAIN))
            query = np.rint(value * WEIGHT_STEPS).astype(np.int64)
            with mechanism.phase(self._leaf_phase(len(query))):
                released = mechanism.release(query) / WEIGHT_STEPS
            # Coefficients of the combination would cost privacy budget, so they are all equal.
            return np.clip(released, -self._largest_leaf, self._largest_leaf), None
        with mechanism.phase(self._leaf_phase(sums.size)):
            released = mechanism.release(sums.ravel()).reshape(sums.shape) / WEIGHT_STEPS
        weights = np.maximum(released, 0.0)
        floor = 1.0 / self._leaf_epsilon
        p, q = weights.T
        return self._value((p + floor) / (p + q + 2.0 * floor)), released

    def _value(self, share: FloatArray) -> FloatArray:
        """Return the value of each leaf, given its proportion of positive weight."""
        inside = np.clip(share, _CERTAIN, 1.0 - _CERTAIN)
        return np.clip(link(inside, self.alpha), -self._largest_leaf, self._largest_leaf)


def _bins_of_first(candidates: Candidates) -> int:
    """Return the number of bins of the first feature; every record is in one of them."""
    return int(candidates.start[1]) if len(candidates.start) > 1 else candidates.n_bins
