"""Locally linear classifier with differential privacy (DP-SGD on filters)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.blas import one_blas_thread
from dpexplain._utils.guarantee_words import FILTERS_NOTE
from dpexplain._utils.lazy import pd
from dpexplain._utils.validation import check_choice, check_count, check_in_range
from dpexplain.accounting import (
    PrivacyLedger,
    epsilon_from_events,
)
from dpexplain.accounting.pld import pld_available
from dpexplain.binning import NoisyCount
from dpexplain.explain.health import Finding
from dpexplain.mechanisms import Mechanism, NoiseBackend, Releases
from dpexplain.models.alarms import (
    alarms_of,
    note_of_unchecked,
    of_records,
    of_rows,
    tells_of_records,
)
from dpexplain.models.locally_linear.arithmetic import lattice_bits
from dpexplain.models.locally_linear.centering import longest_record, subtract_mean
from dpexplain.models.locally_linear.gradients import FilterShape, GradientSums
from dpexplain.models.locally_linear.inputs import Features, preparation_of
from dpexplain.models.locally_linear.model import LocallyLinearModel
from dpexplain.models.locally_linear.optimizer import linear_rates, stepped_rates
from dpexplain.models.locally_linear.projections import Basis
from dpexplain.models.locally_linear.recipe import (
    COMPOSITIONS,
    Recipe,
    Schedule,
    noise_multiplier,
    schedule,
)
from dpexplain.models.locally_linear.reference import LocallyLinearClassifier
from dpexplain.models.locally_linear.sampling import PoissonSampler
from dpexplain.models.locally_linear.training import (
    NoisePlan,
    Progress,
    train_private,
)
from dpexplain.models.persons import person_of
from dpexplain.models.private import PrivateEstimator
from dpexplain.schema import Classes, Schema
from dpexplain.tables.columns import cells_of, values_of

LARGEST_INPUTS = 1 << 14
"""Maximum number of inputs of a model, counting both numbers and categories."""

_LEAST_NOISE = 0.1


class DPLocallyLinearClassifier(PrivateEstimator, LocallyLinearModel):
    """Locally linear classifier with differential privacy, following [1]_.

    Each class has several linear filters, and the score of a class is a weighted mean of their
    scores, with weights that depend on the record. So the explanation of a prediction is exact.
    Filters are learned by noisy gradient descent on Poisson samples; the sums of gradients are
    exact integers. The guarantee holds for the given adjacency; see `guarantee_`.

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
    preset : {"accurate", "readable", "paper"}, default="accurate"
        Recipe for all settings that are left at None. "accurate" aims at accuracy, "readable" aims
        at filters and local explanations that change little under fresh noise, and "paper" follows
        [1]_.
    composition : {"pld", "rdp", "moments"} or None, default=None
        How the steps are composed: privacy loss distributions (needs dp-accounting), Rényi
        divergences, or the 2016 moments accountant, which [1]_ used. If None, "pld" is used, or
        "moments" with the preset "paper". The ledger always reports the tightest bound.
    adjacency : {"add_remove", "replace"}, default="add_remove"
        Definition of neighboring data sets: one record is added or removed, or one record is
        replaced.
    n_filters : int or None, default=None
        Number of filters per class; 1 gives logistic regression.
    projection : {"auto", "none", "per_filter", "shared", "frequency"}, default="auto"
        Basis of the filters: none; random rows, separate for each filter index or shared by all
        filters; or the lowest frequencies on a grid. "auto" leaves the choice to the preset.
    n_basis : int or None, default=None
        Number of coefficients per filter, if there is a projection.
    grid_shape : tuple of int or None, default=None
        Shape of the grid that the features form (images, signals). All features must then be
        numeric, and each record is centered and divided by its norm. Leave it at None for a table.
    inverse_temperature : float or None, default=None
        Sharpness of the softmax over the filters of a class.
    clip : float or None, default=None
        Bound on the norm of one record's gradient.
    learning_rate : float or None, default=None
        Learning rate of Adam: the maximum size of each weight's first step.
    n_steps : int or None, default=None
        Number of noisy sums. If None, it is 40 (20 with the preset "paper") divided by the sampling
        probability. The first 1% of the sums estimate the mean record, which is subtracted from all
        records; the others are sums of gradients. No mean is subtracted with the preset "paper",
        with separate projections, or if there are fewer than 25 sums.
    sampling_probability : float or None, default=None
        Probability that a person is in the sample of a step, in (0, 1], rounded down to a multiple
        of 2**-32. If None, it is 4,000 (500 for tables and with the preset "paper") divided by
        `n_public`, or 1/15 if `n_public` is not given. The number of records is never used.
    structure_seed : int or None, default=None
        Seed for the public random structure (initial weights and random projection). The noise and
        the samples never depend on it.
    noise_backend : {"exact", "opendp", "rounded"}, default="exact"
        Noise sampler, named in the guarantee.
    reproducible_seed : int or None, default=None
        Seed that makes repeated fits on the same data identical, for demonstrations. It seeds the
        noise, the samples and, if `structure_seed` is None, the structure. The model is then NOT
        PRIVATE.
    allow_weak : bool, default=False
        Whether to allow epsilon above 50.
    n_public : int or None, default=None
        Publicly known number of records (or of people, if `max_rows_per_person` is given), used to
        set the sampling probability and to check `delta`.
    max_rows_per_person : int or None, default=None
        Maximum number of rows used per person. If given, the guarantee protects people instead of
        rows, the noise is proportional to this number, the rows of a person are sampled together,
        and ``fit`` requires ``groups=``, unless the schema names the person column. If None, every
        row counts as a separate person.
    progress : callable or None, default=None
        Called as ``progress(steps_done, n_steps)``; both numbers are public.

    Attributes
    ----------
    schema_ : Schema
        The schema in use.
    classes_ : ndarray of shape (n_classes,)
        Class labels of the schema.
    guarantee_ : Guarantee
        Privacy guarantee of the fit.
    ledger_ : PrivacyLedger
        `ledger`, or a ledger for this fit only.
    n_steps_ : int
        Number of released noisy sums.
    sampling_probability_ : float
        Probability that a person was in the sample of a step.
    noise_multiplier_ : float
        Standard deviation of the noise divided by the bound on one person's contribution.
    clip_ : float
        Bound on the norm of one record's gradient.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features.

    References
    ----------
    .. [1] Harder, Bauer and Park, "Interpretable and Differentially Private Predictions",
       AAAI 2020, arXiv:1906.02004.

    Examples
    --------
    >>> import numpy as np
    >>> from dpexplain import Classes, Numeric, Schema
    >>> X = np.linspace(0, 100, 5000).reshape(-1, 1)
    >>> y = np.where(X[:, 0] > 50, "yes", "no")
    >>> schema = Schema({"age": Numeric(0, 100, unit="years")}, target=Classes(["no", "yes"]))
    >>> model = DPLocallyLinearClassifier(epsilon=1.0, schema=schema, n_public=5000).fit(X, y)
    >>> model.predict([[10.0], [90.0]])
    array(['no', 'yes'], dtype='<U3')
    >>> model.guarantee_.short
    '(1, 1e-06)-DP, add/remove'
    """

    _target_kind = Classes
    _reads_chunks = True
    _hidden_fit: ClassVar[tuple[str, ...]] = ("_parts", "_person", "_n_records")
    _n_records: NoisyCount | None = None
    """Noisy number of records; None if the fit releases none."""

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        schema: Schema | None = None,
        ledger: PrivacyLedger | str | None = None,
        preset: str = "accurate",
        composition: str | None = None,
        adjacency: str = "add_remove",
        n_filters: int | None = None,
        projection: str = "auto",
        n_basis: int | None = None,
        grid_shape: Sequence[int] | None = None,
        inverse_temperature: float | None = None,
        clip: float | None = None,
        learning_rate: float | None = None,
        n_steps: int | None = None,
        sampling_probability: float | None = None,
        structure_seed: int | None = None,
        noise_backend: NoiseBackend = "exact",
        reproducible_seed: int | None = None,
        allow_weak: bool = False,
        n_public: int | None = None,
        max_rows_per_person: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.schema = schema
        self.ledger = ledger
        self.preset = preset
        self.composition = composition
        self.adjacency = adjacency
        self.n_filters = n_filters
        self.projection = projection
        self.n_basis = n_basis
        self.grid_shape = grid_shape
        self.inverse_temperature = inverse_temperature
        self.clip = clip
        self.learning_rate = learning_rate
        self.n_steps = n_steps
        self.sampling_probability = sampling_probability
        self.structure_seed = structure_seed
        self.noise_backend = noise_backend
        self.reproducible_seed = reproducible_seed
        self.allow_weak = allow_weak
        self.n_public = n_public
        self.max_rows_per_person = max_rows_per_person
        self.progress = progress

    def reference_estimator(self) -> LocallyLinearClassifier:
        """Return an unfitted reference model with the same schema and filter settings.

        Returns
        -------
        LocallyLinearClassifier
        """
        names = ("schema", "preset", "n_filters", "projection", "n_basis", "grid_shape")
        shared = {name: getattr(self, name) for name in (*names, "inverse_temperature")}
        return LocallyLinearClassifier(**shared)

    def _further_settings(self) -> dict[str, Any]:
        return {"clip": self.clip, "n_steps": self.n_steps}

    def _check_settings(self) -> None:
        self._check_model_settings()
        if self.composition is not None:
            check_choice("composition", self.composition, COMPOSITIONS)
        if self.clip is not None:
            check_in_range("clip", self.clip, 1e-6, 1e6)
        if self.n_steps is not None:
            check_count("n_steps", self.n_steps)
        if self.sampling_probability is not None:
            check_in_range(
                "sampling_probability", self.sampling_probability, 0.0, 1.0, include_low=False
            )

    def _plan(self, recipe: Recipe) -> tuple[Schedule, NoisePlan]:
        steps = schedule(recipe, self.n_public, self.sampling_probability)
        rows = self.max_rows_per_person or 1
        multiplier = noise_multiplier(
            float(self.epsilon),
            float(self.delta),
            steps.n_steps,
            steps.sampling_probability,
            self.composition or ("moments" if self.preset == "paper" else "pld"),
            self.adjacency,
        )
        plan = NoisePlan(
            clip=recipe.clip,
            noise_multiplier=multiplier,
            rows_per_person=rows,
            sampling_probability=steps.sampling_probability,
            lattice_bits=lattice_bits(multiplier * rows),
            n_changed=1 if self.adjacency == "add_remove" else 2,
        )
        return steps, plan

    def _check_plan(self, n_features: int) -> None:
        n_inputs = n_features
        if self.schema is not None:
            sizes = [len(getattr(f, "categories", "1")) for f in self.schema.features.values()]
            n_inputs = sum(sizes)
        if n_inputs > LARGEST_INPUTS:
            raise ValueError(
                f"{n_inputs} inputs, one per number and per category, are more than "
                f"{LARGEST_INPUTS}: noise exceeds the weights long before that. Merge categories "
                "or drop features."
            )
        if self.schema is not None:
            preparation_of(self.schema, per_image=False, scale=1.0)
        _, plan = self._plan(self._recipe(n_inputs))
        if plan.noise_multiplier < _LEAST_NOISE:
            raise ValueError(
                f"epsilon={self.epsilon:g} leaves noise of {plan.noise_multiplier:.2g} clips, "
                f"below {_LEAST_NOISE:g}, which protects nobody; lower epsilon or raise n_steps."
            )
        self._noise_source().check_sigma(plan.phase(0).sigma_int)

    def _releases(self, n_features: int) -> tuple[Releases, ...]:
        steps, plan = self._plan(self._recipe(n_features))
        return (Releases(plan.phase(0), steps.n_steps),)

    def _mu(self) -> float | None:
        if self.sampling_probability_ < 1.0:
            return None  # a sampled Gaussian release has no such parameter
        change = 1.0 if self.adjacency == "add_remove" else 2.0
        return change * math.sqrt(self.n_steps_) / self.noise_multiplier_

    def _epsilon_replaced(self) -> float:
        # Both accountants give upper bounds; if dp-accounting is missing, RDP gives a larger one.
        return epsilon_from_events(
            self._events(self.n_features_in_),
            self.delta,
            adjacency=self.adjacency,
            accountant="pld" if pld_available() else "rdp",
            replace=True,
        )

    def _notes(self) -> tuple[str, ...]:
        return (FILTERS_NOTE,)

    def _fit_people(
        self, X: Any, y: Any, groups: Any, schema: Schema, mechanism: Mechanism
    ) -> None:
        try:
            if groups is not None:
                people = [person_of(cell) for cell in cells_of(values_of(groups))]
                self._person = pd.factorize(np.array(people, dtype=object))[0].astype(np.int32)
            self._fit_released(X, y, schema, mechanism)
        finally:
            self.__dict__.pop("_person", None)  # the persons of the rows are private

    def _sampler(self, person: NDArray[np.int32], probability: float) -> PoissonSampler:
        """Create the sampler; audits override this method."""
        return PoissonSampler(person, probability, self._coins())

    def _gradient_sums(
        self,
        features: Features,
        labels: NDArray[np.int32],
        shape: FilterShape,
        basis: Basis,
        plan: NoisePlan,
    ) -> GradientSums:
        return GradientSums(
            features, labels, shape, basis, clip=plan.clip, lattice_bits=plan.lattice_bits
        )

    def _counted(self, n_sampled: float, noise_std: float, steps: Schedule) -> NoisyCount:
        """Estimate the number of records from the noisy number of records in all samples.

        The samples are random: a row is in a sample with probability p, together with the other
        rows of the same person. This adds a variance of at most ``p (1 - p)`` per record and step,
        times the number of rows per person.
        """
        p, n = steps.sampling_probability, steps.n_mean_steps
        rows = self.max_rows_per_person or 1
        most = max(n_sampled + 4.0 * noise_std, 0.0)
        of_samples = rows * most * (1.0 - p)
        return NoisyCount(n_sampled / (n * p), float(np.sqrt(noise_std**2 + of_samples)) / (n * p))

    def _found_alarms(self) -> tuple[Finding, ...]:
        counted = self._n_records
        if counted is None:
            return ()
        n, std, n_public = counted.value, counted.noise_std, self._public_rows()
        tests = [] if n_public is None else [of_rows(n, std, n_public)]
        any_records = partial(of_records, n, std) if tells_of_records(counted) else None
        return alarms_of(tests, any_records)

    def _health_notes(self) -> tuple[Finding, ...]:
        if self._n_records is None:
            return super()._health_notes()
        hidden = () if tells_of_records(self._n_records) else ("small numbers of records",)
        return (note_of_unchecked("features", "classes", *hidden),)

    def _fit_released(self, X: Any, y: Any, schema: Schema, mechanism: Mechanism) -> None:
        rng = self._structure_rng()
        preparation, basis, shape, recipe = self._set_up(schema, rng)
        steps, plan = self._plan(recipe)
        start = self._start(shape, basis, recipe, rng)
        n_gradients, per_decay = steps.n_steps - steps.n_mean_steps, None
        if recipe.decay is None:
            rates = linear_rates(recipe.learning_rate, n_gradients)
        else:
            factor, n_epochs = recipe.decay
            per_decay = n_epochs * steps.steps_per_epoch
            rates = stepped_rates(recipe.learning_rate, n_gradients, per_decay, factor)
        with one_blas_thread():
            features, labels = self._read(X, y, schema, preparation, basis)
            person = vars(self).get("_person", np.arange(len(labels), dtype=np.int32))
            sampler = self._sampler(person, steps.sampling_probability)
            samples, mean = sampler.samples(steps.n_steps), None
            if steps.n_mean_steps:
                longest = longest_record(preparation, basis)
                mean, n_sampled, noise_std = subtract_mean(
                    features, samples, steps.n_mean_steps, plan, mechanism, longest
                )
                self._n_records = self._counted(n_sampled, noise_std, steps)
            sums = self._gradient_sums(features, labels, shape, basis, plan)
            trained = train_private(
                sums,
                samples,
                start,
                rates,
                plan,
                mechanism,
                reset_every=per_decay,
                n_before=steps.n_mean_steps,
                progress=self.progress,
            )
        self._keep_filters(trained, shape, basis, preparation, schema, mean)
        self.n_steps_ = steps.n_steps
        self.sampling_probability_ = steps.sampling_probability
        self.noise_multiplier_ = plan.noise_multiplier
        self.clip_ = plan.clip
