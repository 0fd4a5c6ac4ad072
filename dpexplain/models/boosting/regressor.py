"""Explainable boosting regressors, private (DP-EBM) and non-private."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite

from dpexplain._utils.lazy import pd
from dpexplain._utils.validation import check_choice
from dpexplain.accounting import PrivacyLedger
from dpexplain.mechanisms import NoiseBackend
from dpexplain.models.additive.predictors import AdditiveRegressor
from dpexplain.models.additive.targets import largest_count
from dpexplain.models.boosting.estimator import Composition, _PrivateBoosting
from dpexplain.models.boosting.monotone import Constraints
from dpexplain.models.boosting.nonprivate.reference import _Reference
from dpexplain.models.boosting.objectives import Objective, RegressionObjective, regression
from dpexplain.models.boosting.pair_terms.plan import Pairs
from dpexplain.models.boosting.recipe import Preset
from dpexplain.models.interpret_names import answers_interpret_names
from dpexplain.schema import Range, Schema


class ExplainableBoostingRegressor(AdditiveRegressor, _Reference):
    """Explainable boosting machine for a numeric target, without privacy.

    This is the non-private reference for `DPExplainableBoostingRegressor`. It uses cyclic gradient
    boosting of shallow trees, each of which splits a single feature (Algorithm 1 of [1]_).

    Parameters
    ----------
    schema : Schema or None, default=None
        Bounds, categories and target range; if None, they are read from the data.
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
        the curves, need squared error, and cannot contain a feature with a monotone constraint.
    objective : {"squared", "poisson"}, default="squared"
        Loss of the fit: squared error for the mean of the target, or Poisson deviance for the
        expected value of a count. For counts, contributions add up to the logarithm of the
        expected count (link "log"), so each contribution multiplies the expected count by a
        factor. Counts are clipped to the public range, whose lower end must be at least 0.

    Attributes
    ----------
    schema_ : Schema
        The schema in use.
    intercept_ : float
        Mean score, in the same units as the target. For counts, scores are logarithms of expected
        counts.
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
    >>> from dpexplain import Numeric, Range, Schema
    >>> X = np.linspace(0, 1, 200).reshape(-1, 1)
    >>> schema = Schema({"x": Numeric(0, 1)}, target=Range(0, 10))
    >>> ExplainableBoostingRegressor(schema=schema).fit(X, 10 * X[:, 0]).predict([[0.5]]).round(0)
    array([5.])
    """

    _target_kind = Range

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
        objective: RegressionObjective = "squared",
    ) -> None:
        super().__init__(
            schema=schema,
            max_bins=max_bins,
            learning_rate=learning_rate,
            max_rounds=max_rounds,
            max_leaves=max_leaves,
            outer_bags=outer_bags,
            random_state=random_state,
            monotone_constraints=monotone_constraints,
            pairs=pairs,
        )
        self.objective = objective

    def _check_parameters(self, X: Any) -> None:
        super()._check_parameters(X)
        _check_objective(self.objective, self.schema)

    def _objective(self, schema: Schema) -> Objective:
        return regression(self.objective, schema)

    def _check_target(self, y: Any) -> None:
        assert_all_finite(np.asarray(pd.to_numeric(y), dtype=np.float64), input_name="y")


class DPExplainableBoostingRegressor(_PrivateBoosting, AdditiveRegressor):
    """Explainable boosting regressor with differential privacy (DP-EBM).

    This is an additive model with one shape function per feature, boosted from noisy sums over the
    leaves of random trees, as in [1]_. Targets are centered in their public range and residuals
    are clipped, which bounds the effect of a record on every sum.

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
        Bound on a record's residual, in units of half the target range, in (0, 1]. If None, the
        bound follows a quantile of the residuals, which is queried every second pass with as much
        noise as in the sums of a tree; with the paper preset, the bound is 1.
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
        squared error, and cannot contain a feature with a monotone constraint.
    outer_bags : int, default=1
        Number of fits on random subsets of the records (bags), whose curves are averaged;
        explanations then show how much the bags differ. A record can be in every bag, so for the
        same guarantee, the noise in a bag is ``sqrt(outer_bags)`` times as large. The mean over the
        bags has as much noise as a single fit, but the budget allows fewer passes over the
        features. Bags therefore reduce accuracy, most of all if noise dominates.
    n_jobs : int or None, default=None
        Number of threads; -1 means one thread per processor. If None, the fit chooses the number
        according to the number of records in this process, and uses a single thread for a small
        table, or if other fits may run in parallel. The number of threads affects only how long a
        fit takes.
    calibrated : bool, default=True
        Whether the scores are scaled and shifted so that predictions are right on average; without
        this, those for a skewed target are too low or too high, because residuals are clipped. The
        scores of counts are the logarithms of their expected values. The scale and the shift are
        computed from sums over the records, which take 5% of the boosting phase's mu squared, or
        half of what `pair_budget_frac` leaves if that is less. They are corrected for how closely
        the curves follow the noise of these records, at no cost. If the sums are mostly noise, the
        scores hardly change. The order of the predictions stays the same. This has no effect and
        costs nothing without a schema, with the paper preset, or if composition is not joint.
    objective : {"squared", "poisson"}, default="squared"
        Loss of the fit: squared error for the mean of the target, or Poisson deviance for the
        expected value of a count. For counts, contributions add up to the logarithm of the expected
        count (link "log"), so each contribution multiplies the expected count by a factor. Counts
        are clipped to the public range, whose lower end must be at least 0. If `clip` is None, the
        bound on residuals follows the released mean rate of the counts.

    Attributes
    ----------
    schema_ : Schema
        The schema in use.
    intercept_ : float
        Mean score, in the same units as the target. For counts, scores are logarithms of expected
        counts.
    guarantee_ : Guarantee
        Privacy guarantee of the fit.
    ledger_ : PrivacyLedger
        Ledger to which the fit was charged: `ledger`, or a new ledger for this fit only.
    n_rounds_ : int
        Number of passes over the features.
    learning_rate_ : float
        Learning rate of the fit, either given or derived by the recipe.
    clip_ : float
        Bound on a record's residual for the last tree, in the same units as the target.
    leaf_noise_std_ : float
        Standard deviation of the noise in one leaf sum of the last tree, in the same units as the
        target.
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
    >>> from dpexplain import Numeric, Range, Schema
    >>> X = np.linspace(0, 100, 5000).reshape(-1, 1)
    >>> schema = Schema({"age": Numeric(0, 100, unit="years")}, target=Range(0, 10))
    >>> model = DPExplainableBoostingRegressor(epsilon=1.0, schema=schema).fit(X, X[:, 0] / 10)
    >>> bool(abs(model.predict([[50.0]])[0] - 5) < 1)
    True
    """

    _target_kind = Range

    _reference_class = ExplainableBoostingRegressor

    @answers_interpret_names
    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        schema: Schema | None = None,
        ledger: PrivacyLedger | str | None = None,
        preset: Preset = "default",
        composition: Composition | None = None,
        adjacency: str = "add_remove",
        max_bins: int | None = None,
        learning_rate: float | None = None,
        max_rounds: int | None = None,
        max_leaves: int | None = None,
        clip: float | None = None,
        bin_budget_frac: float | None = None,
        pair_budget_frac: float | None = None,
        structure_seed: int | None = None,
        noise_backend: NoiseBackend = "exact",
        reproducible_seed: int | None = None,
        allow_weak: bool = False,
        n_public: int | None = None,
        max_rows_per_person: int | None = None,
        monotone_constraints: Constraints | None = None,
        pairs: Pairs = 0,
        outer_bags: int = 1,
        n_jobs: int | None = None,
        calibrated: bool = True,
        objective: RegressionObjective = "squared",
    ) -> None:
        super().__init__(
            epsilon,
            delta,
            schema=schema,
            ledger=ledger,
            preset=preset,
            composition=composition,
            adjacency=adjacency,
            max_bins=max_bins,
            learning_rate=learning_rate,
            max_rounds=max_rounds,
            max_leaves=max_leaves,
            clip=clip,
            bin_budget_frac=bin_budget_frac,
            pair_budget_frac=pair_budget_frac,
            structure_seed=structure_seed,
            noise_backend=noise_backend,
            reproducible_seed=reproducible_seed,
            allow_weak=allow_weak,
            n_public=n_public,
            max_rows_per_person=max_rows_per_person,
            monotone_constraints=monotone_constraints,
            pairs=pairs,
            outer_bags=outer_bags,
            n_jobs=n_jobs,
            calibrated=calibrated,
        )
        self.objective = objective

    @property
    def _clip_adapts(self) -> bool:
        return self.objective == "squared"

    def _check_settings(self) -> None:
        super()._check_settings()
        _check_objective(self.objective, self.schema)

    def _shared_with_reference(self) -> dict[str, Any]:
        return {**super()._shared_with_reference(), "objective": self.objective}

    def _objective_of_fit(self) -> Objective:
        counts = self._released_terms.link == "log"
        return regression("poisson" if counts else "squared", self.schema_)

    def _objective(self, schema: Schema) -> Objective:
        return regression(self.objective, schema)


def _check_objective(objective: object, schema: Schema | None) -> None:
    check_choice("objective", objective, ("squared", "poisson"))
    if objective == "poisson" and schema is not None and isinstance(schema.target, Range):
        largest_count(schema)
