"""Explainable boosting classifiers, private (DP-EBM) and non-private."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from dpexplain.models.additive.predictors import AdditiveClassifier
from dpexplain.models.boosting.estimator import _PrivateBoosting
from dpexplain.models.boosting.nonprivate.reference import _Reference
from dpexplain.models.boosting.objectives import Objective, classification
from dpexplain.schema import Classes, Schema


class ExplainableBoostingClassifier(AdditiveClassifier, _Reference):
    """Explainable boosting machine for classification, without privacy.

    This is the non-private reference for `DPExplainableBoostingClassifier`. It uses cyclic gradient
    boosting of shallow trees, each of which splits a single feature (Algorithm 1 of [1]_). If there
    are more than two classes, they share the trees, and each class has its own score (softmax).

    Parameters
    ----------
    schema : Schema or None, default=None
        Bounds, categories and classes; if None, they are read from the data.
    max_bins : int, default=256
        Maximum number of bins per numeric feature.
    learning_rate : float, default=0.1
        Fraction of a leaf's value added at each step.
    max_rounds : int, default=1000
        Maximum number of passes over the features; each bag stops earlier if the held-out loss no
        longer improves.
    max_leaves : int, default=3
        Number of leaves per tree.
    outer_bags : int, default=8
        Number of fits on random subsets of the records (bags), whose curves are averaged.
    random_state : int or None, default=0
        Seed for drawing the bags.
    monotone_constraints : mapping of str to {"increasing", "decreasing", 1, -1, 0} or None
        Direction of the curves of ordered features, keyed by name. After each update, the curve is
        replaced by the nearest monotone curve.
    pairs : int, "auto" or sequence of (str, str), default=0
        Terms of two features each: a list such as ``[("age", "income")]``, or the maximum number of
        pairs that the fit chooses; "auto" stands for three per feature. A pair is chosen only if
        residuals differ between its cells by more than chance would explain. Pairs are fitted after
        the curves, need two classes, and cannot contain a feature with a monotone constraint.

    Attributes
    ----------
    schema_ : Schema
        The schema in use.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    intercept_ : float or ndarray of shape (n_classes,)
        Mean score, in log-odds.
    guarantee_ : Guarantee
        States that there is no privacy guarantee.
    ledger_ : PrivacyLedger
        Contains one non-private event.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features.

    References
    ----------
    .. [1] Nori et al., "Accuracy, Interpretability, and Differential Privacy via
       Explainable Boosting", ICML 2021, arXiv:2106.09680.

    Examples
    --------
    >>> import numpy as np
    >>> from dpexplain import Classes, Numeric, Schema
    >>> X = np.linspace(0, 1, 200).reshape(-1, 1)
    >>> schema = Schema({"x": Numeric(0, 1)}, target=Classes(["no", "yes"]))
    >>> y = np.where(X[:, 0] > 0.5, "yes", "no")
    >>> ExplainableBoostingClassifier(schema=schema).fit(X, y).predict([[0.1], [0.9]])
    array(['no', 'yes'], dtype='<U3')
    """

    _target_kind = Classes

    def _check_target(self, y: Any) -> None:
        kind = type_of_target(np.asarray(list(y)), input_name="y")
        if kind.startswith("continuous"):
            raise ValueError(
                f"Unknown label type: {kind}. The target contains fractional numbers; use "
                "ExplainableBoostingRegressor, or pass class labels."
            )
        if len(np.unique(np.asarray(y).astype(str))) == 1:
            raise ValueError(
                "y contains only one class, and no schema names another; pass schema=Schema(..., "
                "target=Classes([...]))."
            )

    def _objective(self, schema: Schema) -> Objective:
        return classification(schema)


class DPExplainableBoostingClassifier(_PrivateBoosting, AdditiveClassifier):
    """Explainable boosting classifier with differential privacy (DP-EBM).

    This is an additive model with one shape function per feature, boosted from noisy sums over the
    leaves of random trees, as in [1]_. The guarantee holds for the given adjacency; see
    `guarantee_`. If there are more than two classes, they share the trees, and each class has its
    own score (softmax); the sums of all classes are released together, with noise that is sqrt(2)
    times as large.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy parameter epsilon of the whole fit; must be positive. Values above 10 cause a
        warning, and values above 50 require `allow_weak`.
    delta : float, default=1e-6
        Privacy parameter delta of the whole fit, in (0, 1). It should be well below 1 divided by
        the number of records (or of people, if `max_rows_per_person` is given).
    schema : Schema or None, default=None
        Public bounds, categories and classes. If None, they are read from the data, with a
        `PrivacyWarning`, and the model is not private.
    ledger : PrivacyLedger, str or None, default=None
        Ledger of the data set, or the name of the data set if the ledger is kept in this process;
        see `dpexplain.accounting.process_ledger`. If None, this fit gets its own ledger.
    preset : {"default", "paper"}, default="default"
        Recipe that determines the settings left as None: "default" is the recipe of this library,
        and "paper" is the recipe of [1]_.
    composition : {"joint", "gdp", "classic"} or None, default=None
        "joint" uses one Gaussian-DP budget for the histograms and boosting. "gdp" and "classic"
        split epsilon and delta between these two phases as in [1]_, with the tighter and the
        looser accountant of that paper, respectively. If None, "joint" is used, or "gdp" with the
        paper preset.
    adjacency : {"add_remove", "replace"}, default="add_remove"
        Definition of neighboring data sets: one record is added or removed, or one record is
        replaced.
    max_bins : int or None, default=None
        Maximum number of bins per numeric feature. If None, there are 4 to 256 cells, depending
        on the noisy number of records, and cells with few records are merged; with the paper
        preset, there are at most 32 bins.
    learning_rate : float or None, default=None
        Fraction of a leaf's mean residual added at each step, in (0, 1]. If None, it is larger when
        there are fewer passes; with the paper preset, it is 0.01.
    max_rounds : int or None, default=None
        Number of passes over the features. If None, it is between 5 and 200, and larger when there
        is less noise; with the paper preset, it is 300.
    max_leaves : int or None, default=None
        Number of leaves per tree, from 2 to 255. If None, it is between 3 and 5, and larger when
        there is less noise; with the paper preset, it is 3.
    clip : float or None, default=None
        Bound on a record's residual, in units of probability, in (0, 1]; a bound of 1 clips
        nothing. For more than two classes, it applies to the residual of the record's own class. If
        None, the bound is between 0.5 and 1, and larger when there is less noise; with the paper
        preset, it is 1.
    bin_budget_frac : float or None, default=None
        Share of the budget spent on the histograms, in (0, 1): a share of mu squared with joint
        composition, and a share of epsilon otherwise. If None, the share is 0.22, and with joint
        composition, a tenth of it is spent on counting the records first; with the paper preset,
        the share is 0.1.
    pair_budget_frac : float or None, default=None
        Share of the boosting phase's mu squared, in [0, 1), that is spent on how pairs of
        features depend on each other: one sum and one distance per pair, and tables of joint counts
        of those that depend most. The effect estimate uses them. If None, the
        share is 0.05 with the default preset and joint composition; otherwise, it is 0.
    structure_seed : int or None, default=None
        Seed for the public random structure (order of features and splits). The noise never depends
        on it.
    noise_backend : {"exact", "opendp", "rounded"}, default="exact"
        Noise sampler, named in the guarantee: an exact discrete Gaussian, OpenDP's discrete
        Gaussian (a few hundred times slower), or a rounded Gaussian.
    reproducible_seed : int or None, default=None
        Seed that makes repeated fits on the same data identical, for demonstrations. It seeds the
        noise and, if `structure_seed` is None, the structure. The model is then NOT PRIVATE.
    allow_weak : bool, default=False
        Whether to allow epsilon above 50.
    n_public : int or None, default=None
        Publicly known number of records (or of people, if `max_rows_per_person` is given). `delta`
        is checked against it.
    max_rows_per_person : int or None, default=None
        Maximum number of rows used per person. If given, the guarantee protects people instead of
        rows, the noise is proportional to this number, and ``fit`` requires ``groups=``, unless the
        schema names the person column. If None, every row counts as a separate person.
    monotone_constraints : mapping of str to {"increasing", "decreasing", 1, -1, 0} or None
        Direction of the curves of ordered features, keyed by name. After each update, the curve is
        replaced by the nearest monotone curve, with bins weighted by noisy counts. This costs no
        privacy.
    pairs : int, "auto" or sequence of (str, str), default=0
        Terms of two features each. A list such as ``[("age", "income")]`` or ``["age & income"]``
        declares pairs, which must be public knowledge. A number is the maximum number of pairs that
        the fit chooses privately; pairs that do not rise above the noise are not chosen. "auto"
        stands for 3, and makes no choice if there are too few records for one. Pairs take 30% of
        the boosting budget. Their choice takes 5% for a first look at the candidates, and 10% for a
        second one, which "auto" takes only if the first one is promising. What is not spent goes to
        further passes for the curves. The curves are fitted before the pairs, so their bands and
        effect estimates do not include the pairs. Pairs need joint composition, a single bag and
        two classes, and cannot contain a feature with a monotone constraint.
    outer_bags : int, default=1
        Number of fits on random subsets of the records (bags), whose curves are averaged;
        explanations then show how much the bags differ. Each record may be in every bag, so for the
        same guarantee, the noise in a bag is ``sqrt(outer_bags)`` times as large. The mean over the
        bags has as much noise as a single fit, but the budget allows fewer passes over the
        features. Bags therefore reduce accuracy, most of all if noise dominates.
    n_jobs : int or None, default=None
        Number of threads; -1 means one thread per processor. If None, the fit chooses the number
        according to the number of records in this process, and uses a single thread for a small
        table, or if other fits may run in parallel. The number of threads affects only how long a
        fit takes.
    calibrated : bool, default=True
        Whether the scores are scaled and shifted so that predicted probabilities are calibrated;
        without this, probabilities from a short fit are too close to their average. With more than
        two classes, all scores have the same scale, and each class has a shift. These numbers are
        computed from sums over the records, which take 5% of the boosting phase's mu squared, or
        half of what `pair_budget_frac` leaves if that is less. They are corrected for how closely
        the curves follow the noise of these records, at no cost. If the sums are mostly noise, the
        scores hardly change. For two classes, the order of the predictions stays the same. This has
        no effect and costs nothing without a schema, with the paper preset, or if composition is
        not joint.

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
        Ledger to which the fit was charged: `ledger`, or a new ledger for this fit only.
    n_rounds_ : int
        Number of passes over the features.
    learning_rate_ : float
        Learning rate of the fit, either given or derived by the recipe.
    clip_ : float
        Bound on a record's residual, in units of probability.
    leaf_noise_std_ : float
        Standard deviation of the noise in one leaf sum, in units of probability.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features.

    References
    ----------
    .. [1] Nori et al., "Accuracy, Interpretability, and Differential Privacy via
       Explainable Boosting", ICML 2021, arXiv:2106.09680, Algorithms 2 and 3.

    Examples
    --------
    >>> import numpy as np
    >>> from dpexplain import Classes, Numeric, Schema
    >>> X = np.linspace(0, 100, 5000).reshape(-1, 1)
    >>> y = np.where(X[:, 0] > 50, "yes", "no")
    >>> schema = Schema({"age": Numeric(0, 100, unit="years")}, target=Classes(["no", "yes"]))
    >>> model = DPExplainableBoostingClassifier(epsilon=1.0, schema=schema).fit(X, y)
    >>> model.predict([[10.0], [90.0]])
    array(['no', 'yes'], dtype='<U3')
    >>> model.guarantee_.short
    '(1, 1e-06)-DP, add/remove'
    """

    _target_kind = Classes
    _reference_class = ExplainableBoostingClassifier

    def _objective(self, schema: Schema) -> Objective:
        return classification(schema)
