"""Planted mistakes about pair terms, all of which the replay must catch."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from dpexplain.audit import record, replay
from dpexplain.audit.records import without
from dpexplain.mechanisms import Mechanism
from dpexplain.models.boosting import estimator as boosting_estimator
from dpexplain.models.boosting import fit as boosting_fit
from dpexplain.models.boosting.budget import Budget
from dpexplain.models.boosting.pair_terms import choice, fitting, levels, looks
from dpexplain.models.boosting.records.binned import Records
from pair_fits import DECLARED, FEATURES, crowded, extreme, make, make_data

pytestmark = pytest.mark.full


def choice_without_noise(monkeypatch):
    """Draw and charge the noise of the choice, but let the exact sums decide."""
    honest = choice.choose_pairs
    candidates = list(combinations(range(len(FEATURES)), 2))

    class Exact:
        def __init__(self, mechanism):
            self._mechanism = mechanism
            self.seen = 0

        def phase(self, phase):
            return self._mechanism.phase(phase)

        def release(self, query):
            self.seen = int(query @ np.arange(len(query))) >> 10
            return self._mechanism.release(query)

    def choose(*parts, mechanism, **settings_):
        exact = Exact(mechanism)
        found = honest(*parts, mechanism=exact, **settings_)
        return replace(found, pairs=[candidates[exact.seen % len(candidates)]])

    monkeypatch.setattr("dpexplain.models.boosting.pair_terms.stage.choose_pairs", choose)


def choice_that_nobody_pays_for(monkeypatch):
    """State the sensitivity of both looks as a hundred times smaller."""
    honest = looks.look_phase
    monkeypatch.setattr(looks, "look_phase", lambda *parts: honest(*parts).with_sensitivity(0.01))


def second_look_that_nobody_pays_for(monkeypatch):
    """Take a second look, and also make the passes that it replaces."""
    monkeypatch.setattr(Mechanism, "limit_to", lambda self, charged: None)
    honest = boosting_fit.set_aside

    def set_aside(plan, budget, n_features, *, may_add):
        aside = honest(plan, budget, n_features, may_add=may_add)
        return replace(aside, looked=aside.plan, second_look=10 * aside.second_look)

    monkeypatch.setattr(boosting_fit, "set_aside", set_aside)


def test_a_second_look_that_nobody_pays_for_is_refused(monkeypatch):
    """Even if it costs no more than it should: the passes have spent its budget."""
    honest = boosting_fit.set_aside

    def set_aside(plan, budget, n_features, *, may_add):
        aside = honest(plan, budget, n_features, may_add=may_add)
        return replace(aside, looked=aside.plan)

    monkeypatch.setattr(boosting_fit, "set_aside", set_aside)
    with pytest.raises(RuntimeError, match="after its budget was charged"):
        make(pairs=3).fit(*make_data(30, 1))


def second_look_by_the_exact_sums(monkeypatch):
    """Let the exact contrasts of the first look decide whether there is a second one."""
    honest, exact = choice.exact_contrasts, []

    def exact_contrasts(*parts):
        exact[:] = honest(*parts)
        return list(exact)

    def could_gain(self, found):
        seen = int(np.concatenate(exact) @ np.arange(sum(map(len, exact)))) >> 10
        return np.inf if seen % 2 else -np.inf

    monkeypatch.setattr(choice, "exact_contrasts", exact_contrasts)
    monkeypatch.setattr(choice._Tests, "could_gain", could_gain)


def choice_from_what_the_passes_spend(monkeypatch):
    """Make the choice, and also spend its budget on passes and grids."""
    monkeypatch.setattr(Mechanism, "limit_to", lambda self, charged: None)
    monkeypatch.setattr(
        Budget, "leaf_share", property(lambda self: 1.0 - self.pair_share - self.line_share)
    )


def test_a_choice_from_what_the_passes_spend_is_refused(monkeypatch):
    honest = Mechanism.limit_to
    choice_from_what_the_passes_spend(monkeypatch)
    monkeypatch.setattr(Mechanism, "limit_to", honest)
    with pytest.raises(RuntimeError, match="after its budget was charged"):
        make(pairs=3).fit(*make_data(30, 1))


def choice_skipped_by_the_exact_number(monkeypatch):
    """Skip the choice if there are fewer than 30 records, instead of asking their noisy number."""
    honest = boosting_estimator.fit_private

    def fit_private(binned, records, *parts, **settings_):
        n_records = sum(map(len, records.local()))
        monkeypatch.setattr(boosting_fit, "skips_choice", lambda *public: n_records < 30)
        return honest(binned, records, *parts, **settings_)

    monkeypatch.setattr(boosting_estimator, "fit_private", fit_private)


def counts_of_one_grid(monkeypatch):
    """Release the counts of all grids as if a record were in only one of them."""
    honest = fitting.GridBudget.count_phase

    def of_one(self, n_cells):
        return honest(self, n_cells).with_sensitivity(1 / np.sqrt(len(n_cells)))

    monkeypatch.setattr(fitting.GridBudget, "count_phase", of_one)


def cells_with_half_the_noise(monkeypatch):
    monkeypatch.setattr(Mechanism, "limit_to", lambda self, charged: None)
    honest = fitting.GridBudget.sum_phase
    monkeypatch.setattr(
        fitting.GridBudget, "sum_phase", lambda self, n: honest(self, n).with_noise(0.5)
    )


def test_grids_with_less_noise_than_was_charged_are_refused(monkeypatch):
    honest = fitting.GridBudget.sum_phase
    monkeypatch.setattr(
        fitting.GridBudget, "sum_phase", lambda self, n: honest(self, n).with_noise(0.9)
    )
    with pytest.raises(RuntimeError, match="after its budget was charged"):
        make().fit(*make_data(30, 1))


def rounds_that_are_not_counted(monkeypatch):
    """Calibrate the noise of every visit of a pair as if there were no other visit."""
    monkeypatch.setattr(Mechanism, "limit_to", lambda self, charged: None)
    honest = fitting.GridBudget.sum_phase
    monkeypatch.setattr(
        fitting.GridBudget,
        "sum_phase",
        lambda self, n: honest(self, n).with_noise(1 / np.sqrt(fitting.N_ROUNDS * len(n))),
    )


def residuals_of_cells_unclipped(monkeypatch):
    honest = Records.leaf_sums

    def unclipped(self, feature, leaf_of_bin, n_leaves, clip):
        wide = 3 if feature >= len(FEATURES) else 1
        return wide * honest(self, feature, leaf_of_bin, n_leaves, clip)

    monkeypatch.setattr(Records, "leaf_sums", unclipped)


def records_counted_twice_in_cells(monkeypatch):
    honest = Records.cell_counts
    monkeypatch.setattr(Records, "cell_counts", lambda self, *where: 2 * honest(self, *where))


def leaf_sums_of_blocks(monkeypatch, mistake):
    """Release ``mistake(sums)`` instead of the sums of blocks."""
    honest = Records.leaf_sums

    def leaf_sums(self, feature, leaf_of_bin, n_leaves, clip):
        sums = honest(self, feature, leaf_of_bin, n_leaves, clip)
        of_blocks = feature >= len(FEATURES) and n_leaves < len(leaf_of_bin)
        return mistake(sums) if of_blocks else sums

    monkeypatch.setattr(Records, "leaf_sums", leaf_sums)


def records_in_two_blocks(monkeypatch):
    """Count each record in the next block as well."""
    leaf_sums_of_blocks(monkeypatch, lambda sums: sums + np.roll(sums, 1))


def blocks_with_half_the_noise(monkeypatch):
    """Release twice the sums of blocks with the noise of cells, and halve the answers."""
    leaf_sums_of_blocks(monkeypatch, lambda sums: 2 * sums)
    honest = levels.Levels.add

    def add(self, sums, expected, *, of_blocks):
        honest(self, sums / 2 if of_blocks else sums, expected, of_blocks=of_blocks)

    monkeypatch.setattr(levels.Levels, "add", add)


def cells_at_the_exact_median(monkeypatch):
    """Let the ends of groups of bins depend on the records."""
    honest = Records.cross

    def cross(self, crossing):
        honest(self, crossing)
        first = self._bins[crossing.features[0]]
        above = first > np.median(first) if len(first) else first
        self._bins[crossing.column] = np.asarray(above, dtype=np.uint8)

    monkeypatch.setattr(Records, "cross", cross)


MUTANTS = {
    choice_without_noise: 3,
    choice_that_nobody_pays_for: 3,
    second_look_that_nobody_pays_for: 3,
    second_look_by_the_exact_sums: 3,
    choice_from_what_the_passes_spend: 3,
    choice_skipped_by_the_exact_number: "auto",
    counts_of_one_grid: DECLARED,
    cells_with_half_the_noise: DECLARED,
    rounds_that_are_not_counted: DECLARED,
    residuals_of_cells_unclipped: DECLARED,
    records_counted_twice_in_cells: DECLARED,
    cells_at_the_exact_median: DECLARED,
}


@pytest.mark.parametrize(
    ("mutant", "pairs"), MUTANTS.items(), ids=lambda m: getattr(m, "__name__", "")
)
def test_replay_catches_a_planted_mistake_about_pairs(mutant, pairs, monkeypatch):
    X, y = make_data(30, 5)
    X["age"], X["ward"] = [10.0, 90.0] * 15, ["a", "c"] * 15  # the middle moves with any record
    X["dose"] = X["age"] / 100
    y[:] = np.where(np.arange(30) % 4 < 2, "no", "yes")
    estimator = make(pairs=pairs, epsilon=8.0)
    model, transcript = record(estimator, X, y)
    assert replay(estimator, without((X, y), 0), model, transcript).holds
    mutant(monkeypatch)
    model, transcript = record(estimator, X, y)
    found = (replay(estimator, without((X, y), i), model, transcript) for i in range(30))
    assert not all(report.holds for report in found)


@pytest.mark.parametrize(
    "mutant", [records_in_two_blocks, blocks_with_half_the_noise], ids=lambda m: m.__name__
)
def test_replay_catches_a_planted_mistake_about_blocks(mutant, monkeypatch):
    estimator, data = extreme(30)
    model, transcript = record(estimator, *data, answers=crowded)
    assert replay(estimator, without(data, 0), model, transcript).holds
    mutant(monkeypatch)
    model, transcript = record(estimator, *data, answers=crowded)
    assert not replay(estimator, without(data, 0), model, transcript).holds
