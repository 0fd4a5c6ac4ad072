"""Base class for private linear models."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from dpexplain._utils.blas import one_blas_thread
from dpexplain._utils.validation import check_choice, check_in_range
from dpexplain.accounting import PrivacyLedger, compose_mu, mu_from_epsilon
from dpexplain.binning import declared_cells, histogram_phase
from dpexplain.binning.bins import index_dtype
from dpexplain.explain.health import Finding
from dpexplain.mechanisms import Mechanism, NoiseBackend, Phase, Releases
from dpexplain.models.additive.model import AdditiveModel
from dpexplain.models.alarms import (
    CountedCells,
    Excess,
    alarms_of_cells,
    below_noise,
    note_of_terms,
    of_classes,
)
from dpexplain.models.boosting.fit import release_factors
from dpexplain.models.boosting.objectives import Objective, centered_terms
from dpexplain.models.linear.fit import N_CELLS, LinearBudget, LinearFit, clipped_share
from dpexplain.models.noiseless import NoiselessModel
from dpexplain.models.private import PrivateEstimator
from dpexplain.schema import Schema

Scaling = Literal["released", "public"]


class _PrivateLinear(PrivateEstimator, AdditiveModel):
    """Base class for the private linear models."""

    _reads_chunks = True
    _hidden_fit = ("_terms", "_fit", "_noise", "_edited")
    _target_label: str
    _moment_share: float

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
        structure_seed: int | None = None,
        noise_backend: NoiseBackend = "exact",
        reproducible_seed: int | None = None,
        allow_weak: bool = False,
        n_public: int | None = None,
        max_rows_per_person: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.schema = schema
        self.ledger = ledger
        self.scaling = scaling
        self.adjacency = adjacency
        self.bin_budget_frac = bin_budget_frac
        self.structure_seed = structure_seed
        self.noise_backend = noise_backend
        self.reproducible_seed = reproducible_seed
        self.allow_weak = allow_weak
        self.n_public = n_public
        self.max_rows_per_person = max_rows_per_person

    def reference_estimator(self) -> NoiselessModel:
        """Return the unfitted noiseless version of the model.

        Returns
        -------
        NoiselessModel
        """
        return NoiselessModel(self)

    def _check_settings(self) -> None:
        check_choice("scaling", self.scaling, ("released", "public"))
        check_in_range(
            "bin_budget_frac",
            self.bin_budget_frac,
            0.0,
            1.0,
            include_low=False,
            include_high=False,
        )

    def _check_plan(self, n_features: int) -> None:
        if self.schema is not None:
            for name, feature in self.schema.features.items():
                index_dtype(declared_cells(name, feature, N_CELLS).n_bins)
        source = self._noise_source()
        for planned in self._releases(n_features):
            assert isinstance(planned.phase, Phase)
            source.check_sigma(planned.phase.sigma_int)

    def _budget(self, schema: Schema | None) -> LinearBudget:
        mu = mu_from_epsilon(self.epsilon, self.delta)
        rows = self.max_rows_per_person or 1
        histogram, gradient = release_factors(self.adjacency, rows)
        return LinearBudget(
            mu_bins=mu * float(np.sqrt(self.bin_budget_frac)),
            mu_moments=mu * float(np.sqrt((1.0 - self.bin_budget_frac) * self._moment_share)),
            mu_target=mu
            * float(np.sqrt((1.0 - self.bin_budget_frac) * (1.0 - self._moment_share))),
            histogram_factor=histogram,
            moment_factor=histogram,
            gradient_factor=gradient * self._residual_norm(schema),
            n_steps=self._n_steps(),
        )

    def _n_steps(self) -> int:
        return 1

    def _residual_norm(self, schema: Schema | None) -> float:
        """Return the bound on the L2 norm of a record's residuals, in units of the clip."""
        return 1.0

    @abstractmethod
    def _target_phase(self, budget: LinearBudget, n_features: int) -> Phase:
        """Return the phase that releases the gradients or target moments.

        Its `n_values` is 0; the fit creates the phase again once the number of values is known.
        """

    def _releases(self, n_features: int) -> tuple[Releases, ...]:
        budget = self._budget(self.schema)
        histograms = histogram_phase(
            budget.histogram_multiplier(n_features), budget.histogram_factor, 0
        )
        return (
            Releases(histograms, n_features),
            Releases(budget.moment_phase(n_features, 0)),
            Releases(self._target_phase(budget, n_features), budget.n_steps),
        )

    def _mu(self) -> float:
        budget = self._budget(self.schema)
        return compose_mu([budget.mu_bins, budget.mu_moments, budget.mu_target])

    def _fit_released(self, X: Any, y: Any, schema: Schema, mechanism: Mechanism) -> None:
        objective = self._objective(schema)
        with one_blas_thread():
            fit = self._fitted(X, y, schema, objective, mechanism)
        tables = fit.design.tables(fit.weights)
        tables = tables[:, 0] if objective.loss.n_scores == 1 else tables
        parts = [
            np.clip(table, -objective.bound, objective.bound)
            for table in fit.design.by_feature(tables)
        ]
        start = fit.weights[0] if objective.loss.n_scores > 1 else fit.weights[0, 0]
        parts[0] = parts[0] + start  # centering moves it to the intercept
        self._terms = centered_terms(
            fit.bins,
            [parts],
            [c.counts for c in fit.counts],
            objective,
            neutral=[c.perhaps_nobody for c in fit.counts],
            monotone=[None] * len(fit.bins),
        )
        self.intercept_ = self._terms.intercept
        self.ridge_ = fit.ridge
        self._fit = fit

    def _found_alarms(self) -> tuple[Finding, ...]:
        fit, classes = self._fit, self._class_names() or ()
        tests: Iterable[Excess] = ()
        if fit.class_sums is not None and classes:
            above = fit.class_sums
            above = np.array([-above[0], above[0]]) if len(above) == 1 else above
            share = clipped_share(len(fit.class_sums), fit.clip)
            tests = of_classes(
                classes,
                above,
                fit.target_std / share,
                n_samples=fit.n_samples,
                n_samples_std=fit.n_samples_std,
            )
        counted = CountedCells(
            fit.bins,
            [each.counts for each in fit.counts],
            [np.sqrt(each.variance) for each in fit.counts],
            fit.n_samples,
            fit.n_samples_std,
        )
        return alarms_of_cells(counted, tests, self._public_rows())

    def _health_notes(self) -> tuple[Finding, ...]:
        ranking = self.explain_global(effect=False).ranking()
        return (note_of_terms(below_noise(ranking), len(ranking)),)

    @abstractmethod
    def _fitted(
        self, X: Any, y: Any, schema: Schema, objective: Objective, mechanism: Mechanism
    ) -> LinearFit:
        """Fit the model through `mechanism`; return its releases and weights."""

    @abstractmethod
    def _objective(self, schema: Schema) -> Objective:
        """Return the objective of the fit."""
