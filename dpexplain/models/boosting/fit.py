"""A private fit: histograms, random trees, noisy leaf sums (Algorithms 2 and 3).

Source: Nori et al., "Accuracy, Interpretability, and Differential Privacy via Explainable
Boosting", ICML 2021, arXiv:2106.09680. Sensitivities are for add/remove or replace-one adjacency
with clipped residuals; see `release_factors`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning import (
    FeatureBins,
    NoisyCount,
    cells_from,
    coarse_cells,
    counts_per_bin,
    declared_cells,
    fine_cells,
    first_cells,
    merge_sparse_cells,
    release_count,
    release_refined,
)
from dpexplain.binning.bins import Index
from dpexplain.binning.counts import BinCounts
from dpexplain.mechanisms import Coins, Mechanism, Phase
from dpexplain.models.additive.pair_tables import PairTable
from dpexplain.models.additive.terms import Direction
from dpexplain.models.boosting.budget import Budget
from dpexplain.models.boosting.calibration.classes import ClassLine, release_class_line
from dpexplain.models.boosting.calibration.line import Line, release_line
from dpexplain.models.boosting.calibration.overfitting import fitted_parameters, share_of_parameters
from dpexplain.models.boosting.loop import boost, started
from dpexplain.models.boosting.monotone import projections
from dpexplain.models.boosting.objectives import Objective
from dpexplain.models.boosting.pair_terms.choice import skips_choice
from dpexplain.models.boosting.pair_terms.fitting import GridBudget
from dpexplain.models.boosting.pair_terms.plan import PairPlan, main_part
from dpexplain.models.boosting.pair_terms.stage import SetAside, private_pairs
from dpexplain.models.boosting.pairs import release_pairs, sorting_curve
from dpexplain.models.boosting.recipe import (
    Recipe,
    Schedule,
    cells_for,
    neutral_records,
    schedule,
    signal_ratio,
)
from dpexplain.models.boosting.records._kernels_sums import LATTICE
from dpexplain.models.boosting.records.binned import POISSON, SQUARED, BinnedRecords
from dpexplain.models.boosting.records.source import RecordSource
from dpexplain.models.boosting.released import LeafSteps, PrivateBins, PrivateFit
from dpexplain.models.boosting.structure import random_visits
from dpexplain.schema import Categorical, Schema

BAG_SHARE = 0.85
"""Probability that a record is in a bag, if there are several bags."""


def release_factors(adjacency: str, max_rows_per_person: int) -> tuple[float, float]:
    """Return the L2 sensitivities of a histogram and of a tree's leaf sums.

    Adding or removing a record changes one count by 1 and one leaf sum by at most the clip.
    Replacing a record changes two counts by 1 (an L2 distance of sqrt 2) and, in the worst case,
    one leaf sum by twice the clip. All rows of a person can fall in the same bin and leaf, so both
    sensitivities grow linearly with the number of rows per person.

    Parameters
    ----------
    adjacency : {"add_remove", "replace"}
    max_rows_per_person : int

    Returns
    -------
    histogram_factor, leaf_factor : float
    """
    histogram, leaf = (1.0, 1.0) if adjacency == "add_remove" else (float(np.sqrt(2.0)), 2.0)
    return histogram * max_rows_per_person, leaf * max_rows_per_person


def private_bins(
    source: RecordSource,
    schema: Schema,
    *,
    settings: Recipe,
    budget: Budget,
    mechanism: Mechanism,
) -> tuple[PrivateBins, BinnedRecords]:
    """Release the number of records and the histograms, and merge cells (Algorithm 3).

    Records are read once and assigned to fine cells. The noisy number of records determines how
    many neighboring fine cells are counted together at first. Groups that turn out to hold far too
    many records are split and counted again.

    Parameters
    ----------
    source : RecordSource
        Source of the records, which this function reads.
    schema : Schema
    settings : Recipe
    budget : Budget
    mechanism : Mechanism

    Returns
    -------
    binned : PrivateBins
        Released bins and counts.
    records : BinnedRecords
        Records in these bins, with scores of zero. They are not released.
    """
    declared = [
        declared_cells(name, feature, settings.n_cells, settings.spacing)
        for name, feature in schema.features.items()
    ]
    refines = len(settings.rounds) > 1
    finest = [fine_cells(d, len(declared)) for d in declared] if refines else declared
    exact = source.cell_counts(finest)
    n_records, n_cells = _n_records_and_cells(exact, settings, budget, mechanism)
    grids = [coarse_cells(grid, n_cells)[0] for grid in declared]
    refined = release_refined(
        exact,
        [first_cells(fine, grid) for fine, grid in zip(finest, grids, strict=True)],
        mechanism,
        noise_multiplier=budget.histogram_multiplier(schema.n_features),
        sensitivity=budget.histogram_factor,
        shares=settings.rounds,
        n_records=0.0 if n_records is None else max(1.0, n_records.value),
        n_cells=n_cells,
    )
    histograms, first = refined.histograms, refined.first
    if n_records is not None:
        histograms = replace(histograms, n_records=n_records).agreeing()
        first = replace(first, n_records=n_records).agreeing()
    min_count = histograms.n_samples / (settings.max_bins or n_cells)
    bins, counts, merges, of_finest = [], [], [], []
    for fine, starts, released, spread in zip(
        finest, refined.starts, histograms.counts, histograms.spread, strict=True
    ):
        grid = cells_from(fine, starts)
        cell_counts = np.maximum(released, 0.0) if settings.merge_rare else released
        merged, bin_of_cell = merge_sparse_cells(
            grid,
            cell_counts,
            min_count=min_count,
            noise_std=histograms.noise_std,
            noise_ratio=settings.bin_noise_ratio,
            spread=spread,
        )
        bins.append(merged)
        of_bin = histograms.noise_std**2 * counts_per_bin(spread, bin_of_cell, merged.n_bins)
        found = _bin_counts(merged, cell_counts, bin_of_cell, of_bin, settings)
        if settings.merge_rare and merged.edges is None:
            found = replace(found, unit_of_bin=_rare_together(merged, found.counts, min_count))
        counts.append(found)
        merges.append(bin_of_cell)
        of_finest.append(np.repeat(bin_of_cell, np.diff(starts, append=fine.n_bins)))
    records = source.binned(of_finest, [b.n_bins for b in bins])
    binned = PrivateBins(
        tuple(bins),
        tuple(counts),
        histograms.n_samples,
        tuple(merges),
        histograms.noise_std,
        min_count,
        histograms.spread,
        tuple(grids),
        first.counts,
        first.spread,
        histograms.n_samples_std,
    )
    return binned, records


def _n_records_and_cells(
    exact: Sequence[NDArray[np.int64]],
    settings: Recipe,
    budget: Budget,
    mechanism: Mechanism,
) -> tuple[NoisyCount | None, int]:
    """Return the noisy number of records, if one is released, and the number of cells."""
    if not budget.count_share:
        return None, cells_for(settings, 1.0)
    n_records = release_count(
        int(exact[0].sum()),
        mechanism,
        noise_multiplier=budget.count_multiplier,
        sensitivity=budget.histogram_factor,
    )
    return n_records, cells_for(
        settings, signal_ratio(n_records.value, len(exact), budget.split.mu_train)
    )


def fit_private(
    binned: PrivateBins,
    records: BinnedRecords,
    objective: Objective,
    *,
    settings: Recipe,
    budget: Budget,
    clip_adapts: bool,
    mechanism: Mechanism,
    rng: np.random.Generator,
    monotone: Sequence[Direction | None],
    n_bags: int,
    coins: Coins,
    pair_plan: PairPlan | None = None,
) -> PrivateFit:
    """Boost random trees with noisy leaf sums (Algorithm 2).

    Parameters
    ----------
    binned : PrivateBins
        Bins from `private_bins`.
    records : BinnedRecords
        Records from `private_bins`.
    objective : Objective
    settings : Recipe
    budget : Budget
    clip_adapts : bool
        Whether the clip follows a quantile of the residuals if the recipe does not specify a clip.
    mechanism : Mechanism
    rng : numpy.random.Generator
        Generator for the public structure. It is never used for noise.
    monotone : sequence of {"increasing", "decreasing", None}
        Required direction of each feature's curve; None if unconstrained.
    n_bags : int
        Number of fits that share the budget, each on a random subset of the records; 1 for one fit
        on all records.
    coins : Coins
        Secret random bits that determine which records are in which bag. They are not stored.
    pair_plan : PairPlan or None, default=None
        Public plan of the pair terms of a fit with one bag; None if the fit has no pair terms. With
        a plan, pair terms replace the last passes over the features. If no pair is chosen, these
        passes are made after the choice. If there are too few records for a choice, the fit
        ignores the plan.

    Returns
    -------
    PrivateFit
    """
    n_features, n_bins = len(binned.bins), [b.n_bins for b in binned.bins]
    share = 1.0 if n_bags == 1 else BAG_SHARE
    counts = [c.thinned(share) for c in binned.counts]
    n_samples = share * binned.n_samples
    ratio = signal_ratio(n_samples, n_features, budget.split.mu_train / np.sqrt(n_bags))
    plan = schedule(settings, ratio, clip_adapts=clip_adapts)
    if skips_choice(pair_plan, n_samples, budget):
        pair_plan, budget = None, budget.without_pairs
    aside = None
    if pair_plan is not None:
        aside = set_aside(plan, budget, n_features, may_add=settings.n_epochs is None)
    plan = aside.plan if aside else plan
    curves_plan = aside.curves if aside else plan
    # A record may be in every bag, so the releases of all bags add up.
    n_releases = n_bags * n_leaf_releases(plan, n_features)
    noise_per_clip = budget.leaf_multiplier(n_releases) * budget.leaf_factor
    # If there are too few records for leaves of this size, smaller leaves are better than none.
    enough = n_samples / (plan.max_leaves + 1)
    least_weight = settings.leaf_noise_ratio * noise_per_clip
    min_leaf_count = min(least_weight, enough)
    trees = [
        random_visits(
            counts,
            n_epochs=plan.n_epochs,
            max_leaves=plan.max_leaves,
            min_leaf_count=min_leaf_count,
            n_neutral=neutral_records(settings, plan.max_leaves, n_samples, noise_per_clip),
            rng=rng,
        )
        for _ in range(n_bags)
    ]
    parts = [records] if n_bags == 1 else (records.bag(share, c) for c in coins.spawn(n_bags))
    n_scores = objective.loss.n_scores
    now = [visits[: curves_plan.n_epochs * n_features] for visits in trees]
    n_values = n_scores * sum(int(visits.n_leaves.sum()) for visits in now)
    n_values += n_bags * curves_plan.n_clip_queries
    project = projections(monotone, [c.counts for c in counts], [c.n_special for c in counts])
    steps = [
        objective.private_step(
            mechanism,
            counts,
            plan,
            n_samples,
            given_clip=settings.clip,
            least_weight=least_weight,
        )
        for _ in trees
    ]
    with mechanism.phase(leaf_phase(budget, n_releases, n_values)):
        bags = [
            boost(
                part,
                visits,
                step,
                n_bins,
                bound=objective.bound,
                start=started(part, n_bins, objective.start, n_scores),
                project=project,
            )
            for part, visits, step in zip(parts, now, steps, strict=True)
        ]
    fit = PrivateFit(
        binned,
        bags,
        curves_plan,
        noise_per_clip,
        objective.start,
        now[0],
        LeafSteps.joined(steps[0].taken),
        min_leaf_count,
        settings,
        share,
        tuple(monotone),
    )
    if pair_plan is not None and aside is not None:
        tables, made = private_pairs(records, fit, objective, pair_plan, aside, mechanism)
        fit = replace(fit, pair_tables=tables)
        if not tables:
            visits = trees[0][: made.n_epochs * n_features]
            more = visits[len(now[0]) :]
            n_values = int(more.n_leaves.sum()) + made.n_clip_queries - curves_plan.n_clip_queries
            with mechanism.phase(leaf_phase(budget, n_releases, n_values)):
                bags = [
                    boost(
                        records,
                        more,
                        steps[0],
                        n_bins,
                        bound=objective.bound,
                        start=bags[0],
                        project=project,
                    )
                ]
            taken = LeafSteps.joined(steps[0].taken)
            fit = replace(fit, bags=bags, schedule=made, visits=visits, steps=taken)
    curves = [np.mean(parts, axis=0) for parts in zip(*fit.bags, strict=True)]
    sorting = [sorting_curve(curve) for curve in curves]
    pairs = release_pairs(records, binned.counts, sorting, binned.n_samples, budget, mechanism)
    if n_bags > 1 and budget.line_share:  # the bags' records do not have these scores yet
        for feature, curve in enumerate(curves):
            records.apply(feature, curve)
    share_left = share_of_parameters(pairs, binned.counts, binned.n_samples)

    def parameters(curvature: float) -> float:
        own = fit.visits, fit.steps, counts, curves, fit.monotone
        return share_left * fitted_parameters(*own, curvature)

    if n_scores > 1:
        line: Line | ClassLine | None = release_class_line(
            records,
            binned.counts,
            curves,
            binned.n_samples,
            budget,
            mechanism,
            parameters=parameters,
        )
        return replace(fit, pairs=pairs, line=line)
    flat = [_as_one_feature(table, objective.scale) for table in fit.pair_tables]
    line = release_line(
        records,
        [*binned.counts, *(cells for cells, _ in flat)],
        [*curves, *(scores for _, scores in flat)],
        binned.n_samples,
        budget,
        mechanism,
        parameters=parameters,
        clip=float(fit.clips[-1]) if objective.loss in (POISSON, SQUARED) else None,
        inside=fit.schedule.clip_quantile,
        high=objective.residual_unit if objective.loss is POISSON else None,
    )
    if line is not None:
        line = line.converted(objective.scale, objective.offset)
    return replace(fit, pairs=pairs, line=line)


def n_leaf_releases(plan: Schedule, n_features: int) -> int:
    """Return the number of trees and clip queries in one boosting run.

    Parameters
    ----------
    plan : Schedule
    n_features : int

    Returns
    -------
    int
    """
    return plan.n_epochs * n_features + plan.n_clip_queries


def set_aside(plan: Schedule, budget: Budget, n_features: int, *, may_add: bool) -> SetAside:
    """Divide the boosting phase between the curves, a second look and the pair grids.

    Each release has as much noise as if all passes were made. A second look and the grids get
    exactly what the passes that they replace would have cost.

    Parameters
    ----------
    plan : Schedule
        Schedule of a fit without pairs.
    budget : Budget
    n_features : int
    may_add : bool
        Whether passes are added if there is no second look. Otherwise, `plan` contains them.

    Returns
    -------
    SetAside
    """
    looked, rest = plan, budget.leaf_share - budget.second_share
    if budget.second_share and may_add:
        n_more = max(1, round(plan.n_epochs * budget.second_share / rest))
        plan = replace(plan, n_epochs=plan.n_epochs + n_more)
    elif budget.second_share:
        looked = main_part(plan, budget.second_share / budget.leaf_share)
    curves = main_part(looked, budget.grid_share / rest)
    n_all, n_looked, n_curves = (n_leaf_releases(p, n_features) for p in (plan, looked, curves))
    of_one = 1.0 / budget.leaf_multiplier(n_all) ** 2
    grids = GridBudget(budget, (n_looked - n_curves) * of_one)
    return SetAside(plan, looked, curves, (n_all - n_looked) * of_one, grids)


def leaf_phase(budget: Budget, n_visits: int, n_values: int) -> Phase:
    """Return the phase of releases that contains the leaf sums and clip queries.

    Its sensitivity and its noise are in lattice steps.

    Parameters
    ----------
    budget : Budget
    n_visits : int
        Number of trees plus number of clip queries.
    n_values : int
        Number of leaf sums plus number of clip queries.

    Returns
    -------
    Phase
    """
    sensitivity = budget.leaf_factor * LATTICE
    return Phase("boosting", sensitivity, budget.leaf_multiplier(n_visits) * sensitivity, n_values)


def _as_one_feature(table: PairTable, scale: float) -> tuple[BinCounts, NDArray[np.float64]]:
    """Return the counts and scores of a pair as if its cells were bins of a feature.

    The scores are in units of the boosting loop, of which one is `scale` on the link scale.
    """
    counts = table.counts.ravel()
    return BinCounts(counts, np.zeros(len(counts)), 0, False), table.scores.ravel() / scale


def _bin_counts(
    bins: FeatureBins,
    counts: NDArray[np.float64],
    bin_of_cell: Index,
    variance: NDArray[np.float64],
    settings: Recipe,
) -> BinCounts:
    return BinCounts(
        counts=counts_per_bin(counts, bin_of_cell, bins.n_bins),
        variance=variance,
        n_special=len(bins.special),
        ordered=bins.ordered or not settings.shuffle_categories,
    )


def _rare_together(
    bins: FeatureBins, counts: NDArray[np.float64], min_count: float
) -> NDArray[np.intp]:
    """Return the group of each bin, with all sparse categories in one group.

    Trees never split a group. Each of the other categories is a separate group. These groups come
    first, in declared order or, if unordered, sorted by name. The group of the sparse categories
    comes next, and then a separate group for each special bin.
    """
    assert isinstance(bins.feature, Categorical)
    rare = counts[: bins.n_value_bins] < min_count
    names = np.array(bins.feature.categories, dtype=str)
    rank = np.arange(len(names)) if bins.ordered else np.argsort(np.argsort(names))
    common = np.sort(rank[~rare])
    unit = np.where(rare, len(common), np.searchsorted(common, rank))
    n_units = len(common) + int(rare.any())
    return np.concatenate([unit, n_units + np.arange(len(bins.special))]).astype(np.intp)
