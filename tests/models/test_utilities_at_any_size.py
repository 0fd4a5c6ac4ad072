"""Utilities and leaf values of trees change within stated bounds at any sample size."""

from __future__ import annotations

import numpy as np
import pytest

from dpexplain import DPBoostedTreesClassifier, DPBoostRegressor
from dpexplain.binning import FeatureBins
from dpexplain.models.boosted_trees import boosted_trees as boosted
from dpexplain.models.boosted_trees.losses import CRITERIA, WITHOUT_BOUND
from dpexplain.models.dpboost import boosting
from dpexplain.models.trees.structure import candidates_of
from dpexplain.schema import Numeric, Range, Schema

pytestmark = pytest.mark.full

CANDIDATES = candidates_of([FeatureBins("x", Numeric(0, 1), np.array([0, 0.5, 1.0]))])
SIZES = [1, 3, 100, 10**6, 2**28, 2**29, 2**31, 10**10, 10**12]
"""Records of a node: few, as many as fit a machine, and far beyond."""


def spread(change):
    """Return the range of changes in the utilities of one node."""
    return int((change.max(axis=1) - change.min(axis=1)).max())


def node_sums(rng, size, n_values, scale, shares):
    """Simulate sums of nodes, of shape (n_nodes, n_bins, 2), and their record counts."""
    people = rng.integers(0, size, (n_values, CANDIDATES.n_bins), endpoint=True)
    people[: n_values // 4] = rng.choice([0, 1, size], (n_values // 4, CANDIDATES.n_bins))
    share = rng.choice(shares, people.shape)
    return np.rint(share * people).astype(np.int64) * scale, people


def largest_gain_spread(size, regularisation):
    rng = np.random.default_rng(size)
    steps = boosting.GRADIENT_STEPS
    g, n = node_sums(rng, size, 4000, steps, [-1.0, 1.0, 0.0, 0.5])
    sums, worst = np.stack([g, n], axis=2), 0
    before = boosting._gains(sums, CANDIDATES, regularisation)
    for place in range(CANDIDATES.n_bins):
        for gradient in (-steps, -1, 0, steps):
            more = sums + 0
            more[:, place] += (gradient, 1)
            change = boosting._gains(more, CANDIDATES, regularisation) - before
            worst = max(worst, spread(change))
    return worst


def plan_of(**settings):
    schema = Schema({"x": Numeric(0, 1)}, target=Range(0, 1))
    return DPBoostRegressor(schema=schema, exponential_scale="range", **settings)._plan(1)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("regularisation", [0.0, 0.1, 50.0])
def test_gains_change_within_the_spread_of_their_phase(size, regularisation):
    phase = plan_of(regularisation=regularisation).split_phase(0, 2)
    assert largest_gain_spread(size, regularisation) <= phase.spread_int


def test_gains_that_are_not_cut_off_change_by_more(monkeypatch):
    monkeypatch.setattr(boosting, "LARGEST_GAIN", np.inf)
    phase = plan_of().split_phase(0, 2)
    assert largest_gain_spread(10**12, 0.1) > phase.spread_int


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("regularisation", [0.0, 1e-6, 0.1, 50.0])
def test_leaf_values_change_within_the_sensitivity_of_their_phase(size, regularisation):
    phase = plan_of(regularisation=regularisation, variant="seq").leaf_phase(0, 1)
    rng = np.random.default_rng(size)
    steps = boosting.GRADIENT_STEPS
    g, n = node_sums(rng, size, 4000, steps, [-1.0, 1.0, 0.0])

    def queries(g, n):
        leaf = -(g / steps) / np.maximum(n + regularisation, boosting._LEAST)
        return np.rint(np.clip(leaf, -1, 1) * boosting.LATTICE).astype(np.int64)

    for gradient in (-steps, 0, steps):
        change = np.abs(queries(g + gradient, n + 1) - queries(g, n))
        assert change.max() <= phase.drawn_sensitivity


def largest_criterion_spread(criterion, size, alpha, n_public):
    model = DPBoostedTreesClassifier(criterion=criterion, n_public=n_public)
    rng = np.random.default_rng(size)
    steps = boosted.WEIGHT_STEPS
    p, n = node_sums(rng, size, 3000, steps, [0.0, 1.0, 0.5])
    sums, worst = np.stack([p, n * steps - p], axis=2), 0
    sums[:500, :, 0] = 0  # one class alone: where the other's first record counts most
    before = model._utilities(sums, CANDIDATES, alpha)
    for place in range(CANDIDATES.n_bins):
        for column in (0, 1):
            for weight in (1, steps // 2, steps):
                more = sums + 0
                more[:, place, column] += weight
                change = model._utilities(more, CANDIDATES, alpha) - before
                worst = max(worst, spread(change), int(np.abs(change).max()))
    return worst


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("level", [0, 1, 3])
def test_criteria_change_within_the_spread_of_their_phase_beyond_the_public_number(
    criterion, level
):
    for n_public in (1, 2, 200, 10**6):
        model = DPBoostedTreesClassifier(criterion=criterion, n_public=n_public)
        phase = model._split_phase(level, 2, model._level_alpha(level))
        for size in SIZES:
            found = largest_criterion_spread(criterion, size, model._level_alpha(level), n_public)
            assert found <= phase.spread_int, (n_public, size)


@pytest.mark.parametrize("alpha", [0.0, 1e-9, 0.0173, 1 / 3, 0.9])
def test_the_spread_of_a_node_holds_for_any_alpha_whatever_its_weight(alpha):
    for n_public in (1, 200):
        model = DPBoostedTreesClassifier(criterion="m_alpha", n_public=n_public)
        phase = model._split_phase(1, 2, alpha, 2)
        for size in SIZES:
            found = largest_criterion_spread("m_alpha", size, alpha, n_public)
            assert found <= phase.spread_int, (n_public, size)


@pytest.mark.parametrize("criterion", [c for c in CRITERIA if c not in WITHOUT_BOUND])
def test_criteria_of_sums_that_are_not_cut_off_change_by_more(criterion, monkeypatch):
    monkeypatch.setattr(boosted, "largest_sum", lambda name, m: np.inf)
    phase = DPBoostedTreesClassifier(criterion=criterion, n_public=200)._split_phase(0, 2, 1.0)
    assert largest_criterion_spread(criterion, 10**6, 1.0, 200) > phase.spread_int


def test_every_table_of_a_few_records_keeps_the_bound_of_fewer():
    """Covers all nodes with up to 12 records of both classes and a public number of 1 to 5."""
    steps = boosted.WEIGHT_STEPS
    p, q = (x.ravel() for x in np.meshgrid(np.arange(13), np.arange(13)))
    sums = np.zeros((len(p), CANDIDATES.n_bins, 2), dtype=np.int64)
    sums[:, 0] = np.stack([p, q], axis=1) * steps
    for criterion in ("matsushita", "log", "m_alpha"):
        for n_public in range(1, 6):
            model = DPBoostedTreesClassifier(criterion=criterion, n_public=n_public)
            bound = model._split_phase(0, 2, 1.0).spread_int
            before = model._utilities(sums, CANDIDATES, 1.0)
            for column in (0, 1):
                more = sums + 0
                more[:, 0, column] += steps
                change = model._utilities(more, CANDIDATES, 1.0) - before
                assert max(spread(change), np.abs(change).max()) <= bound
