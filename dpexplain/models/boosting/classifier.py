"""Explainable boosting classifiers, private (DP-EBM) and not."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from dpexplain.models.additive.model import AdditiveClassifier
from dpexplain.models.boosting.estimator import _PrivateBoosting
from dpexplain.models.boosting.nonprivate.reference import _Reference
from dpexplain.models.boosting.objectives import Objective, classification
from dpexplain.schema import Classes, Schema


class ExplainableBoostingClassifier(AdditiveClassifier, _Reference):
    """Explainable boosting machine for classification, without privacy.

    The non-private reference for `DPExplainableBoostingClassifier`: cyclic gradient boosting of
    shallow trees on one feature each, as in Algorithm 1 of [1]_. With more than two classes, the
    classes share the trees, and each has its own score (softmax).

    Parameters
    ----------
    schema : Schema or None, default=None
        Bounds, categories and classes; if None, they are read from the data.
    max_bins : int, default=256
        Maximum number of bins per numeric feature.
    learning_rate : float, default=0.1
        Fraction of a leaf's value that is added at each step.
    max_rounds : int, default=1000
        Maximum number of passes over the features; each bag stops earlier if the held-out loss no
        longer improves.
    max_leaves : int, default=3
        Number of leaves per tree.
    outer_bags : int, default=8
        Number of fits on random parts of the records (bags), whose curves are averaged.
    random_state : int or None, default=0
        Seed of the bags.
    monotone_constraints : mapping of str to {"increasing", "decreasing", 1, -1, 0} or None
        Direction of the curves of ordered features, by name: each update is projected onto the
        nearest monotone curve.

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
                f"Unknown label type: {kind}. The target holds numbers with fractions; use "
                "ExplainableBoostingRegressor, or labels of classes."
            )
        if len(np.unique(np.asarray(y).astype(str))) == 1:
            raise ValueError(
                "y holds 1 class, and no schema names the other; pass schema=Schema(..., "
                "target=Classes([...]))."
            )

    def _objective(self, schema: Schema) -> Objective:
        return classification(schema)


class DPExplainableBoostingClassifier(_PrivateBoosting, AdditiveClassifier):
    """Explainable boosting classifier with differential privacy (DP-EBM).

    An additive model with one shape function per feature, boosted from noisy sums over random
    trees, following [1]_. The guarantee holds under the stated adjacency; see `guarantee_`. With
    more than two classes, the classes share the trees, and each has its own score (softmax); the
    sums of all classes are released together, with noise sqrt(2) times as large.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy parameter of the whole fit, positive. Values above 10 give a warning, and those
        above 50 need `allow_weak`.
    delta : float, default=1e-6
        Privacy parameter of the whole fit, in (0, 1); well below 1 divided by the number of
        people.
    schema : Schema or None, default=None
        Public bounds, categories and classes. If None, they are read from the data, with a
        `PrivacyWarning`, and the model is not private.
    ledger : PrivacyLedger, str or None, default=None
        Ledger of the data set, or the name of the data set, which stands for its ledger in this
        process; see `dpexplain.accounting.process_ledger`. If None, this fit gets its own ledger.
    preset : {"default", "paper"}, default="default"
        Source of the settings that are None: the recipe of this library, or [1]_.
    composition : {"joint", "gdp", "classic"} or None, default=None
        "joint": one Gaussian-DP budget for bins and boosting. "gdp", "classic": epsilon and delta
        are split between the two as in [1]_, with the tighter or the looser accountant of that
        paper. None: "joint", or "gdp" with the paper preset.
    adjacency : {"add_remove", "replace"}, default="add_remove"
        Which data sets count as neighbors.
    max_bins : int or None, default=None
        Maximum number of bins per numeric feature. None: 32 to 256 cells, depending on the noisy
        number of records, merged where there are few records; 32 bins with the paper preset.
    learning_rate : float or None, default=None
        Fraction of a leaf's mean residual that is added at each step, in (0, 1]. None: up to 1;
        larger with fewer passes.
    max_rounds : int or None, default=None
        Number of passes over the features. None: 5 to 200; with less noise, more passes are
        possible.
    max_leaves : int or None, default=None
        Number of leaves per tree, 2 to 255. None: 3.
    clip : float or None, default=None
        Bound on a record's residual (with several classes, on the residual of its own class), in
        units of probability, in (0, 1]; with 1, nothing is clipped. None: 0.5 to 1, larger with
        less noise; 1 with the paper preset.
    bin_budget_frac : float or None, default=None
        Share of the budget for the histograms, in (0, 1): of mu squared with joint composition, of
        epsilon otherwise. None: 0.22, of which a tenth is spent on counting the records first; 0.1
        with the paper preset.
    pair_budget_frac : float or None, default=None
        Share of the training's mu squared, in [0, 1), that is spent on one sum per pair of
        features. The effect estimate uses these sums to separate correlated features. None: 0.05
        with joint composition and two classes, 0 otherwise.
    structure_seed : int or None, default=None
        Seed of the public random structure (order of features, splits), but never of the noise.
    noise_backend : {"exact", "opendp", "rounded"}, default="exact"
        Noise sampler, named in the guarantee: an exact discrete Gaussian, OpenDP's discrete
        Gaussian (a few hundred times slower), or a rounded Gaussian.
    reproducible_seed : int or None, default=None
        Seed that makes repeated fits on the same data identical, for demonstrations. It seeds the
        noise and, if `structure_seed` is None, the structure. The model is then NOT PRIVATE.
    allow_weak : bool, default=False
        Permits epsilon above 50.
    n_public : int or None, default=None
        Publicly known number of people, to check `delta` against.
    max_rows_per_person : int or None, default=None
        Maximum number of rows used per person; ``fit`` then needs ``groups=`` and protects
        persons, and noise scales with this number. None: every row counts as a separate person.
    monotone_constraints : mapping of str to {"increasing", "decreasing", 1, -1, 0} or None
        Direction of the curves of ordered features, by name. Each update is projected onto the
        nearest monotone curve, weighted by noisy counts, which costs no privacy.
    outer_bags : int, default=1
        Number of fits on random parts of the records (bags), whose curves are averaged;
        explanations then show how much the bags differ. Each record may be in every bag, so the
        noise of a bag is ``sqrt(outer_bags)`` times as large at the same guarantee. The mean over
        the bags again has the noise of a single fit, but the budget allows fewer passes over the
        features: a few bags cost almost no accuracy, while many bags cost some on large tables.
    n_jobs : int or None, default=None
        Number of threads; -1 for the number of processors. None decides by the number of records
        in this process: one for small tables, and for fits that run in parallel. It affects only
        the duration of a fit.
    calibrated : bool, default=False
        Whether the scores of two classes are scaled and shifted so that probabilities are
        calibrated: a short fit leaves the probabilities too close to the average. Scale and shift
        are computed from the effect estimate, so they cost no privacy. This takes about as long as
        the fit, and does not change the order of predictions.

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
    n_rounds_ : int
        Number of passes over the features, set by the recipe.
    learning_rate_ : float
        Learning rate, set by the recipe.
    clip_ : float
        Bound on a record's residual at the last visit, in the unit of the gradient.
    leaf_noise_std_ : float
        Standard deviation of the noise on one leaf sum, in units of probability.
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
