"""Logistic regression with differential privacy."""

from __future__ import annotations

import math
from typing import Any

from dpexplain._utils.validation import check_count, check_in_range
from dpexplain.accounting import PrivacyLedger
from dpexplain.mechanisms import Mechanism, NoiseBackend, Phase
from dpexplain.models.additive.predictors import AdditiveClassifier
from dpexplain.models.additive.term_noise import NoiseDraws
from dpexplain.models.boosting.objectives import Objective, classification
from dpexplain.models.linear._kernels_moments import RESIDUAL_STEPS
from dpexplain.models.linear.estimator import Scaling, _PrivateLinear
from dpexplain.models.linear.fit import LinearBudget, LinearFit, fit_classification
from dpexplain.models.linear.simulate import classification_noise
from dpexplain.schema import Classes, Schema


class DPLogisticRegression(_PrivateLinear, AdditiveClassifier):
    """Logistic regression with differential privacy, fitted by noisy gradient steps.

    The matrix of second moments is released once. One quarter of it (one half for more than two
    classes) bounds the Hessian of the loss [1]_, so a few noisy gradients over all records are
    enough. The ridge penalty grows with the noise, so directions that could be pure noise have
    little effect. Each numeric feature is one coordinate on a scale from -1 to 1, and so is each
    category in the schema; missing values have a coordinate of their own, as do categories not in
    the schema. This model is meant as a strong baseline.

    Numeric features are divided into at most 64 public bins, so a feature's straight line becomes a
    step function with one step per bin. Explanations are therefore exact and have the same form as
    those of `DPExplainableBoostingClassifier`.

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
    scaling : {"released", "public"}, default="released"
        Range to which a numeric feature is clipped: the middle 98% of the released histogram, or
        the public bounds.
    adjacency : {"add_remove", "replace"}, default="add_remove"
        Definition of neighboring data sets: one record is added or removed, or one record is
        replaced.
    bin_budget_frac : float, default=0.2
        Share of the budget spent on the histograms, in (0, 1): a share of mu squared, where mu is
        the Gaussian-DP parameter of the fit.
    max_rounds : int, default=6
        Number of gradient steps.
    learning_rate : float, default=1.0
        Step length, in (0, 1]; a step of length 1 minimizes the quadratic upper bound on the loss.
    clip : float, default=1.0
        Bound on a record's residual (a difference of probabilities), in (0, 1]. If it is 1, nothing
        is clipped.
    structure_seed : int or None, default=None
        Accepted for compatibility with other models; has no effect, because only the noise is
        random.
    noise_backend : {"exact", "opendp", "rounded"}, default="exact"
        Noise sampler, named in the guarantee.
    reproducible_seed : int or None, default=None
        Seed of the noise, for demonstrations. With a seed, repeated fits on the same data are
        identical, and the model is NOT PRIVATE.
    allow_weak : bool, default=False
        Whether to allow epsilon above 50.
    n_public : int or None, default=None
        Publicly known number of records (or of people, if `max_rows_per_person` is given). `delta`
        is checked against it.
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
    ridge_ : float
        Ridge penalty added to the diagonal of the second moments, on a scale where one record adds
        at most 1.
    guarantee_ : Guarantee
        Privacy guarantee of the fit.
    ledger_ : PrivacyLedger
        `ledger`, or a ledger for this fit only.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features.

    References
    ----------
    .. [1] Böhning, "Multinomial Logistic Regression Algorithm", Annals of the Institute of
       Statistical Mathematics 44, 1992.

    Examples
    --------
    >>> import numpy as np
    >>> from dpexplain import Classes, Numeric, Schema
    >>> X = np.linspace(0, 100, 5000).reshape(-1, 1)
    >>> y = np.where(X[:, 0] > 50, "yes", "no")
    >>> schema = Schema({"age": Numeric(0, 100, unit="years")}, target=Classes(["no", "yes"]))
    >>> model = DPLogisticRegression(epsilon=1.0, schema=schema).fit(X, y)
    >>> model.predict([[10.0], [90.0]])
    array(['no', 'yes'], dtype='<U3')
    """

    _target_kind = Classes
    _target_label = "gradients"
    _moment_share = 0.2

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        schema: Schema | None = None,
        ledger: PrivacyLedger | str | None = None,
        scaling: Scaling = "released",
        adjacency: str = "add_remove",
        bin_budget_frac: float = 0.2,
        max_rounds: int = 6,
        learning_rate: float = 1.0,
        clip: float = 1.0,
        structure_seed: int | None = None,
        noise_backend: NoiseBackend = "exact",
        reproducible_seed: int | None = None,
        allow_weak: bool = False,
        n_public: int | None = None,
        max_rows_per_person: int | None = None,
    ) -> None:
        super().__init__(
            epsilon,
            delta,
            schema=schema,
            ledger=ledger,
            scaling=scaling,
            adjacency=adjacency,
            bin_budget_frac=bin_budget_frac,
            structure_seed=structure_seed,
            noise_backend=noise_backend,
            reproducible_seed=reproducible_seed,
            allow_weak=allow_weak,
            n_public=n_public,
            max_rows_per_person=max_rows_per_person,
        )
        self.max_rounds = max_rounds
        self.learning_rate = learning_rate
        self.clip = clip

    def _check_settings(self) -> None:
        super()._check_settings()
        check_count("max_rounds", self.max_rounds)
        check_in_range("learning_rate", self.learning_rate, 0.0, 1.0, include_low=False)
        check_in_range("clip", self.clip, 0.0, 1.0, include_low=False)

    def _n_steps(self) -> int:
        return self.max_rounds

    def _objective(self, schema: Schema) -> Objective:
        return classification(schema)

    def _residual_norm(self, schema: Schema | None) -> float:
        n_scores = 1 if schema is None else self._objective(schema).loss.n_scores
        if schema is None or n_scores == 1:
            return 1.0
        # Residuals of several classes are rounded once more, by at most half a step each.
        rounding = math.sqrt(n_scores) / 2.0 / RESIDUAL_STEPS
        return self._objective(schema).sensitivity(self.clip) + rounding

    def _target_phase(self, budget: LinearBudget, n_features: int) -> Phase:
        return budget.gradient_phase(n_features, 0)

    def _fitted(
        self, X: Any, y: Any, schema: Schema, objective: Objective, mechanism: Mechanism
    ) -> LinearFit:
        return fit_classification(
            X,
            y,
            schema,
            objective,
            self._budget(schema),
            mechanism,
            follow_counts=self.scaling == "released",
            clip=self.clip,
            learning_rate=self.learning_rate,
        )

    def _noise_draws(self) -> tuple[NoiseDraws, ...]:
        if self._terms.link == "softmax":
            return ()
        return (classification_noise(self._fit, self._terms),)
