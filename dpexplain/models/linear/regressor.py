"""Linear regression with differential privacy."""

from __future__ import annotations

from typing import Any

from dpexplain.mechanisms import Mechanism, Phase
from dpexplain.models.additive.predictors import AdditiveRegressor
from dpexplain.models.additive.term_noise import NoiseDraws
from dpexplain.models.boosting.objectives import Objective, squared
from dpexplain.models.linear.estimator import _PrivateLinear
from dpexplain.models.linear.fit import LinearBudget, LinearFit, fit_regression
from dpexplain.models.linear.simulate import regression_noise
from dpexplain.schema import Range, Schema


class DPLinearRegression(_PrivateLinear, AdditiveRegressor):
    """Linear regression with differential privacy, from noisy sufficient statistics.

    The model is a ridge regression on noisy second moments and noisy products with the target. The
    ridge penalty is approximately the largest eigenvalue of the noise in the second moments, so
    that directions that may be pure noise have little effect; in [1]_, the penalty is this large
    only if features are collinear. Each numeric feature is one coordinate on a scale from -1 to 1,
    and so is each category in the schema; missing values have a coordinate of their own, as do
    categories not in the schema. This model is meant as a strong baseline.

    Numeric features are divided into at most 64 public bins, so a feature's straight line becomes a
    step function with one step per bin. Explanations are therefore exact and have the same form as
    those of `DPExplainableBoostingRegressor`.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy parameter epsilon of the whole fit; must be positive. Values above 10 cause a
        warning, and values above 50 require `allow_weak`.
    delta : float, default=1e-6
        Privacy parameter delta of the whole fit, in (0, 1). It should be well below 1 divided by
        the number of records (or of people, if `max_rows_per_person` is given).
    schema : Schema or None, default=None
        Public bounds, categories and target range. If None, they are read from the data, with a
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
    intercept_ : float
        Mean score, in the same units as the target.
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
    .. [1] Wang, "Revisiting Differentially Private Linear Regression: Optimal and Adaptive
       Prediction and Estimation in Unbounded Domain", UAI 2018, arXiv:1803.02596, Algorithm 2.

    Examples
    --------
    >>> import numpy as np
    >>> from dpexplain import Numeric, Range, Schema
    >>> X = np.linspace(0, 100, 5000).reshape(-1, 1)
    >>> schema = Schema({"age": Numeric(0, 100, unit="years")}, target=Range(0, 10))
    >>> model = DPLinearRegression(epsilon=1.0, schema=schema).fit(X, X[:, 0] / 10)
    >>> bool(abs(model.predict([[50.0]])[0] - 5) < 1)
    True
    """

    _target_kind = Range
    _target_label = "target moments"
    _moment_share = 0.7

    def _objective(self, schema: Schema) -> Objective:
        return squared(schema)

    def _target_phase(self, budget: LinearBudget, n_features: int) -> Phase:
        return budget.target_phase(n_features, 0)

    def _fitted(
        self, X: Any, y: Any, schema: Schema, objective: Objective, mechanism: Mechanism
    ) -> LinearFit:
        return fit_regression(
            X,
            y,
            schema,
            objective,
            self._budget(schema),
            mechanism,
            follow_counts=self.scaling == "released",
        )

    def _noise_draws(self) -> tuple[NoiseDraws, ...]:
        scale = self._objective(self.schema_).scale
        return (regression_noise(self._fit, self._terms, scale),)
