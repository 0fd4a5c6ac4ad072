"""Base class for differentially private explainable boosting machines (DP-EBM)."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import product
from math import comb
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dpexplain._utils.guarantee_words import bags_note
from dpexplain._utils.validation import check_choice, check_count, check_in_range
from dpexplain.accounting import (
    BudgetSplit,
    PrivacyLedger,
    additive_budget,
    compose_mu,
    joint_budget,
)
from dpexplain.binning import count_phase, declared_cells, histogram_phase
from dpexplain.binning.bins import index_dtype
from dpexplain.explain.health import Finding
from dpexplain.mechanisms import Mechanism, NoiseBackend, Phase, Releases
from dpexplain.models.additive.term_noise import NoiseDraws, with_reactions
from dpexplain.models.alarms import below_noise, note_of_bins, note_of_range, note_of_terms
from dpexplain.models.boosting.budget import Budget
from dpexplain.models.boosting.calibration.line import line_phase
from dpexplain.models.boosting.fit import (
    fit_private,
    leaf_phase,
    n_leaf_releases,
    private_bins,
    release_factors,
    set_aside,
)
from dpexplain.models.boosting.health import alarms
from dpexplain.models.boosting.monotone import Constraints, checked_constraints
from dpexplain.models.boosting.nonprivate.reference import _Reference
from dpexplain.models.boosting.objectives import Objective, centered_terms
from dpexplain.models.boosting.pair_tables.joint_counts import table_phase
from dpexplain.models.boosting.pair_terms.fitting import N_GROUPS
from dpexplain.models.boosting.pair_terms.looks import look_phase
from dpexplain.models.boosting.pair_terms.plan import (
    AUTO,
    PairPlan,
    Pairs,
    check_works_with_pairs,
    checked_pairs,
    constraint_words,
    refused_targets,
)
from dpexplain.models.boosting.pairs import pair_phase, pairs_at_once
from dpexplain.models.boosting.recipe import (
    CLASSIFIER_CLIPS,
    CLIP_RANGE,
    EPOCHS,
    Preset,
    Recipe,
    recipe,
    schedule,
)
from dpexplain.models.boosting.records.opening import record_source
from dpexplain.models.boosting.records.source import Encoding
from dpexplain.models.boosting.records.threads import Team, check_n_jobs
from dpexplain.models.boosting.released import PrivateFit
from dpexplain.models.interpret_names import answers_interpret_names
from dpexplain.models.private import PrivateEstimator
from dpexplain.schema import Schema
from dpexplain.tables.chunked import ChunkedTable

if TYPE_CHECKING:
    from dpexplain.models.boosting.uncertainty.effects.estimate import EffectDraws

Composition = Literal["joint", "gdp", "classic"]


class _PrivateBoosting(PrivateEstimator):
    """Base class for the private boosting classifier and regressor."""

    _reads_chunks = True
    _hidden_fit = ("_terms", "_released_terms", "_fit", "_noise", "_effect", "_edited")

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
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.schema = schema
        self.ledger = ledger
        self.preset = preset
        self.composition = composition
        self.adjacency = adjacency
        self.max_bins = max_bins
        self.learning_rate = learning_rate
        self.max_rounds = max_rounds
        self.max_leaves = max_leaves
        self.clip = clip
        self.bin_budget_frac = bin_budget_frac
        self.pair_budget_frac = pair_budget_frac
        self.structure_seed = structure_seed
        self.noise_backend = noise_backend
        self.reproducible_seed = reproducible_seed
        self.allow_weak = allow_weak
        self.n_public = n_public
        self.max_rows_per_person = max_rows_per_person
        self.monotone_constraints = monotone_constraints
        self.pairs = pairs
        self.outer_bags = outer_bags
        self.n_jobs = n_jobs
        self.calibrated = calibrated

    def reference_estimator(self) -> Any:
        """Return an unfitted reference model with the same schema, constraints and pairs.

        Returns
        -------
        ExplainableBoostingClassifier or ExplainableBoostingRegressor
        """
        return self._reference_class(**self._shared_with_reference())

    def _shared_with_reference(self) -> dict[str, Any]:
        return {
            "schema": self.schema,
            "monotone_constraints": self.monotone_constraints,
            # For the reference, "auto" stands for more pairs than a private model has.
            "pairs": AUTO if isinstance(self.pairs, str) else self.pairs,
        }

    _reference_class: type[_Reference]

    @property
    def _clip_adapts(self) -> bool:
        """Whether the clip adapts to the residuals if the recipe does not specify a clip."""
        return False

    def _check_settings(self) -> None:
        check_choice("preset", self.preset, ("default", "paper"))
        if self.composition is not None:
            check_choice("composition", self.composition, ("joint", "gdp", "classic"))
        for name, least in (("max_bins", 2), ("max_rounds", 1), ("max_leaves", 2)):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name), least)
        check_count("outer_bags", self.outer_bags)
        check_n_jobs(self.n_jobs)
        if self.max_leaves is not None and self.max_leaves > 255:
            raise ValueError(f"max_leaves={self.max_leaves} must be at most 255.")
        if self.learning_rate is not None:
            check_in_range("learning_rate", self.learning_rate, 0.0, 1.0, include_low=False)
        if self.clip is not None:
            check_in_range("clip", self.clip, 0.0, 1.0, include_low=False)
        if self.bin_budget_frac is not None:
            check_in_range(
                "bin_budget_frac",
                self.bin_budget_frac,
                0.0,
                1.0,
                include_low=False,
                include_high=False,
            )
        if self.pair_budget_frac is not None:
            check_in_range("pair_budget_frac", self.pair_budget_frac, 0.0, 1.0, include_high=False)
        if self.monotone_constraints is not None:
            if self.schema is None:
                raise ValueError(
                    "monotone_constraints requires schema=, which specifies which features are "
                    "ordered."
                )
            checked_constraints(self.monotone_constraints, self.schema)
        self._check_pairs()
        if self.composition == "classic" and self._recipe().n_epochs is None:
            raise ValueError(
                "composition='classic' requires the number of releases in advance; set max_rounds, "
                "or use preset='paper'."
            )

    def _check_pairs(self) -> None:
        """Raise ValueError if pairs are requested but other parameters rule them out."""
        if isinstance(self.pairs, Integral) and self.pairs == 0:
            return
        if self.schema is None:
            raise ValueError("pairs needs schema=, which says which features there are.")
        plan = self._pair_plan()
        if plan is None:
            return
        least = 2 if plan.declared else 3  # a second look takes the place of at least one pass
        check_works_with_pairs(
            (self.preset == "paper", "preset='paper'", "preset='default'"),
            (self._composition() != "joint", f"composition={self.composition!r}", "'joint'"),
            (self.outer_bags > 1, f"outer_bags={self.outer_bags}", "outer_bags=1"),
            *refused_targets(self._objective(self.schema)),
            (
                (self.max_rounds or least) < least,
                f"max_rounds={self.max_rounds}",
                f"max_rounds of at least {least}",
            ),
        )
        directions = checked_constraints(self.monotone_constraints, self.schema)
        if words := constraint_words(self.pairs, self.schema, directions):
            warnings.warn(words, UserWarning, stacklevel=2)

    def _pair_plan(self) -> PairPlan | None:
        """Return the public plan of the pair terms; None if there are none."""
        if self.schema is None:
            return None
        directions = checked_constraints(self.monotone_constraints, self.schema)
        return checked_pairs(self.pairs, self.schema, directions)

    def _check_parts(self, X: ChunkedTable, y: Any) -> None:
        super()._check_parts(X, y)
        if X.on_cluster and self.outer_bags > 1:
            raise ValueError(
                f"outer_bags={self.outer_bags} needs the records in this process, because the "
                "random draws of a lost worker cannot be reproduced; use outer_bags=1, or close "
                "the client."
            )

    def _recipe(self) -> Recipe:
        settings = recipe(
            self.preset,
            max_bins=self.max_bins,
            learning_rate=self.learning_rate,
            n_epochs=self.max_rounds,
            max_leaves=self.max_leaves,
            clip=self.clip,
            bin_share=self.bin_budget_frac,
            pair_share=self.pair_budget_frac,
        )
        # The other compositions divide the budget of a phase equally.
        if self._composition() == "joint":
            return settings
        return replace(settings, count_share=0.0, bin_rounds=(1.0,), pair_share=0.0, line_share=0.0)

    def _composition(self) -> Composition:
        return self.composition or ("gdp" if self.preset == "paper" else "joint")

    def _n_train_releases(self, n_features: int) -> int:
        """Return the number of trees and clip queries in all bags, or 1 if unknown."""
        settings = self._recipe()
        if settings.n_epochs is None:
            return 1
        plan = schedule(settings, 1.0, clip_adapts=self._clip_adapts)
        return self.outer_bags * n_leaf_releases(plan, n_features)

    def _check_plan(self, n_features: int) -> None:
        settings = self._recipe()
        if self.schema is not None:
            for name, feature in self.schema.features.items():
                grid = declared_cells(name, feature, settings.n_cells, settings.spacing)
                index_dtype(grid.n_bins)
        source = self._noise_source()
        for phase in self._planned_phases(n_features):
            source.check_sigma(phase.sigma_int)

    def _planned_phases(self, n_features: int) -> Iterator[Phase]:
        """Yield the phases that a fit may have.

        If the number of passes is derived during the fit, the boosting phase is yielded twice: for
        the smallest possible number and for the largest. The caller checks the noise scales of all
        phases, so that a scale out of range is found before the budget is charged.
        """
        settings, budget = self._recipe(), self._budget(n_features, self.schema)
        pairs = self._pair_plan()
        if budget.count_share:
            yield count_phase(budget.count_multiplier, budget.histogram_factor)
        for share in settings.rounds:
            multiplier = budget.histogram_multiplier(n_features) / np.sqrt(share)
            yield histogram_phase(multiplier, budget.histogram_factor, 0)
        for n_epochs in (settings.n_epochs,) if settings.n_epochs else EPOCHS:
            plan = schedule(
                replace(settings, n_epochs=n_epochs), 1.0, clip_adapts=self._clip_adapts
            )
            yield leaf_phase(budget, self.outer_bags * n_leaf_releases(plan, n_features), 0)
            if pairs is not None:
                aside = set_aside(plan, budget, n_features, may_add=settings.n_epochs is None)
                yield leaf_phase(budget, n_leaf_releases(aside.plan, n_features), 0)
                for n_cells in ([1], [N_GROUPS**2] * pairs.most):
                    yield aside.grids.count_phase(n_cells)
                    yield aside.grids.sum_phase(n_cells)
                looks = (budget.choice_squared_mu, aside.second_look) if pairs.candidates else ()
                for look, n_pairs in product(looks, (1, comb(len(pairs.candidates), 2))):
                    yield look_phase(budget, look, n_pairs, 0)
        if budget.pair_share:
            yield pair_phase(budget, n_features)
            for n_tables in (1, n_features - 1):
                yield table_phase(budget, n_tables, 0)
        if budget.line_share:
            yield line_phase(budget)

    def _split(self, n_features: int) -> BudgetSplit:
        settings = self._recipe()
        composition = self._composition()
        if composition == "joint":
            return joint_budget(self.epsilon, self.delta, settings.bin_share)
        return additive_budget(
            self.epsilon,
            self.delta,
            settings.bin_share,
            n_bin_releases=n_features,
            n_train_releases=self._n_train_releases(n_features),
            composition=composition,
        )

    def _budget(self, n_features: int, schema: Schema | None) -> Budget:
        settings = self._recipe()
        histogram, of_one = release_factors(self.adjacency, self.max_rows_per_person or 1)
        leaf = of_one
        if schema is not None:
            leaf *= self._objective(schema).sensitivity(settings.clip or CLASSIFIER_CLIPS[0])
        pair_share = settings.pair_share if self._uses_pairs(n_features) else 0.0
        split = self._split(n_features)
        # However much the pair sums take, trees keep at least half of what is left.
        line_share = min(settings.line_share, 0.5 * (1.0 - pair_share))
        line_share = line_share if self._is_calibrated() else 0.0
        budget = Budget(
            split, histogram, leaf, of_one, settings.count_share, pair_share, line_share
        )
        pairs = None if schema is None else self._pair_plan()
        if pairs is None:
            return budget
        left = 1.0 - pair_share - line_share
        return replace(
            budget,
            choice_share=left * pairs.choice_share,
            second_share=left * pairs.second_share,
            grid_share=left * pairs.grid_share,
        )

    def _uses_pairs(self, n_features: int) -> bool:
        """Whether the fit uses pair sums for its effect estimate."""
        return self.schema is not None and n_features > 1

    def _is_calibrated(self) -> bool:
        """Whether the fit spends budget on calibration, if the recipe sets any aside."""
        return self.calibrated and self.schema is not None

    def _releases(self, n_features: int) -> tuple[Releases, ...]:
        budget = self._budget(n_features, self.schema)
        histograms = histogram_phase(
            budget.histogram_multiplier(n_features), budget.histogram_factor, 0
        )
        # All rounds of counting are charged together, as one histogram per feature with their mu.
        # If the number of trees depends on the noisy histograms, boosting is charged as one, too.
        n_releases = self._n_train_releases(n_features)
        planned = [Releases(histograms, n_features)]
        if budget.count_share:
            count = count_phase(budget.count_multiplier, budget.histogram_factor)
            planned.insert(0, Releases(count))
        if budget.pair_share:
            # Tables are charged along with the sums: how many there are depends on the distances.
            planned.append(Releases(pairs_at_once(budget, n_features)))
        if budget.line_share:
            planned.append(Releases(line_phase(budget)))
        # A choice of pairs is charged as trees; without one, trees get its part of the budget.
        trees = leaf_phase(budget.without_pairs, n_releases, 0)
        return (*planned, Releases(trees, n_releases))

    def _notes(self) -> tuple[str, ...]:
        return () if self.outer_bags == 1 else (bags_note(self.outer_bags),)

    def _mu(self) -> float:
        split = self._split(self.n_features_in_)
        return compose_mu([split.mu_bins, split.mu_train])

    n_features_in_: int

    def _fit_released(self, X: Any, y: Any, schema: Schema, mechanism: Mechanism) -> None:
        settings, budget = self._recipe(), self._budget(schema.n_features, schema)
        objective = self._objective(schema)
        encoding = Encoding(schema, objective.encode_target, objective.loss)
        with closing(record_source(X, y, encoding)) as source, closing(Team(self.n_jobs)) as team:
            binned, records = private_bins(
                source, schema, settings=settings, budget=budget, mechanism=mechanism
            )
            records = team.sharing(records, binned.n_samples)
            fit = fit_private(
                binned,
                records,
                objective,
                settings=settings,
                budget=budget,
                clip_adapts=self._clip_adapts,
                mechanism=mechanism,
                rng=self._structure_rng(),
                monotone=checked_constraints(self.monotone_constraints, schema),
                n_bags=self.outer_bags,
                coins=self._coins(),
                pair_plan=self._pair_plan(),
            )
        self._keep(fit, objective)

    def _keep(self, fit: PrivateFit, objective: Objective) -> None:
        counts = [c.counts for c in fit.binned.counts]
        self._released_terms = centered_terms(
            fit.binned.bins,
            fit.bags,
            counts,
            objective,
            neutral=[c.perhaps_nobody for c in fit.binned.counts],
            monotone=fit.monotone,
        )
        self._released_terms = replace(self._released_terms, pairs=fit.pair_tables)
        line = fit.line
        self._terms = self._released_terms
        if line is not None:
            own = line.scale, line.shift, line.log_scale_std
            self._terms = self._released_terms.on_line(*own)
        self.intercept_ = self._terms.intercept
        self.n_rounds_ = fit.schedule.n_epochs
        self.learning_rate_ = fit.schedule.learning_rate
        self.clip_ = float(objective.residual_unit * fit.clips[-1])
        self.leaf_noise_std_ = float(objective.residual_unit * fit.leaf_noise_std[-1])
        self._fit = fit

    def _health_notes(self) -> tuple[Finding, ...]:
        model: Any = self  # with the explanations of an additive model
        explanation = model.explain_global(effect=False)
        below = below_noise(explanation.ranking())
        n_terms = len(self._fit.binned.bins) + len(self._fit.pair_tables)
        if self._fit.pair_tables:  # never with several classes
            above = explanation.pairs_above_noise or ()
            below += [pair.name for pair in explanation.pairs if pair.name not in above]
        terms = note_of_terms(below, n_terms)
        adapts = self._fit.schedule.clip_quantile is not None
        wide = adapts and self._fit.clips[-1] <= CLIP_RANGE[0]
        ranges = [note_of_range(model.schema_.target)] if wide else []
        return (*ranges, terms, note_of_bins(self._fit.binned.bins))

    def _found_alarms(self) -> tuple[Finding, ...]:
        model: Any = self
        return alarms(self._fit, model._class_names() or (), self._public_rows())

    def _noise_draws(self) -> tuple[NoiseDraws, ...]:
        """Simulate errors for all bins, using released numbers only."""
        from dpexplain.models.boosting.uncertainty.simulate import simulate_noise

        draws = simulate_noise(self._fit, self._released_terms, self._objective_of_fit())
        if self._fit.pair_tables:  # never with several classes
            sizes = [bins.n_bins for bins in self._fit.binned.bins]
            draws = (with_reactions(draws[0], sizes, self._fit.pair_tables),)
        line = self._fit.line
        return draws if line is None else line.of_noise(draws, self._released_terms)

    def _effect_draws(self) -> tuple[EffectDraws, ...]:
        """Return estimates of the true curves, computed from released numbers."""
        from dpexplain.models.boosting.uncertainty.effects.effect import estimate_effect

        return estimate_effect(self._fit, self._released_terms, self._objective_of_fit())

    def _objective_of_fit(self) -> Objective:
        """Return the objective of the last fit, whatever the parameters are now."""
        return self._objective(self.schema_)

    @abstractmethod
    def _objective(self, schema: Schema) -> Objective:
        """Return the objective of the fit."""
