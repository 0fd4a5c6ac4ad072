"""Attacks that succeed on InterpretML's private models, but fail on ours.

Runs are few, so the bounds are far weaker than those that ``make attack`` proves.
"""

from __future__ import annotations

import numpy as np
import pytest

from dpexplain import Categorical, Schema
from dpexplain.mechanisms import Mechanism
from dpexplain.models.additive.predictors import AdditiveClassifier
from dpexplain.models.boosting import fit as boosting_private
from dpexplain.models.boosting import structure
from dpexplain.models.boosting.records import binned as boosting_records
from dpexplain.models.private import PrivateEstimator
from known_failures import FAILURES, Failure, interpretml, ours
from lower_bounds import is_broken, stands

pytestmark = pytest.mark.full

OURS_RUNS, MUTANT_RUNS, TREES = 40, 80, 5
OURS = [
    pytest.param(f, t, id=f"{f.letter}-{t.title}") for f in FAILURES for t in ours(f, n_trees=TREES)
]
THEIRS = [pytest.param(f, id=f.letter) for f in FAILURES if not f.only_ours]
CONTROLS = [pytest.param(f, t, id=t.title) for f in FAILURES if f.only_ours for t in ours(f)]


@pytest.mark.parametrize("failure", THEIRS)
def test_attack_breaks_interpretml_where_it_is_known_to_fail(failure: Failure) -> None:
    target = interpretml()
    if target is None:
        pytest.skip("InterpretML is not installed")
    if failure.violates:
        assert is_broken(failure, target, failure.quick_runs)
    else:  # its mu is below 0.06
        assert stands(failure, target, failure.quick_runs)


@pytest.mark.parametrize(("failure", "target"), OURS)
def test_attack_that_breaks_interpretml_proves_nothing_against_us(failure, target) -> None:
    assert stands(failure, target, OURS_RUNS)


# --- the same mistakes planted into ours -------------------------------------------------------


def unclipped_and_not_centered(patch, failure):
    """Leave targets and residuals unbounded: the noise covers only a change of label."""
    half, middle = (failure.target.high - failure.target.low) / 2, failure.target.midpoint

    def unclipped(self, feature, leaf_of_bin, n_leaves, clip):
        honest(self, feature, leaf_of_bin, n_leaves, clip)  # applies the pending update
        residual = (self._target.astype(np.float64) + middle / half - self._score) / clip
        steps = np.nan_to_num(np.clip(np.rint(residual * 2**20), -(2.0**60), 2.0**60))
        sums = np.zeros(n_leaves, np.int64)
        np.add.at(sums, leaf_of_bin[self._bins[feature]], steps.astype(np.int64))
        return sums

    honest, boost = boosting_records.Records.leaf_sums, boosting_private.boost
    patch.setattr(boosting_records.Records, "leaf_sums", unclipped)
    patch.setattr(boosting_records.Records, "stacked", lambda *_, **__: None)  # visit by visit
    patch.setattr(boosting_private, "boost", lambda *a, **k: boost(*a, **{**k, "bound": 1e300}))


def denominators_near_zero(patch, failure):
    """Divide sums by counts that are far too small: steps multiply errors by 1 - n / W."""

    def without_floor(feature, leaf_of_bin, min_leaf_count):
        return np.full((len(leaf_of_bin), int(leaf_of_bin.max()) + 1), 2.0)

    unclipped_and_not_centered(patch, failure)
    patch.setattr(structure, "_leaf_weights", without_floor)


def categories_from_data(patch, failure):
    honest = PrivateEstimator._failure_of_fit

    def observed(self, X, y, groups):
        seen = Categorical(sorted(set(X["group"])))
        self.schema = Schema({"group": seen}, target=self.schema.target)
        return honest(self, X, y, groups)

    patch.setattr(PrivateEstimator, "_failure_of_fit", observed)


def classes_from_data(patch, failure):
    honest = PrivateEstimator._failure_of_fit

    def observed(self, X, y, groups):
        self.seen_ = sorted(set(y))
        return honest(self, X, y, groups)

    patch.setattr(PrivateEstimator, "_failure_of_fit", observed)
    patch.setattr(AdditiveClassifier, "classes_", property(lambda self: np.array(self.seen_)))


def size_kept(patch, failure):
    honest = PrivateEstimator._failure_of_fit

    def counted(self, X, y, groups):
        self.n_samples_ = len(X)
        return honest(self, X, y, groups)

    patch.setattr(PrivateEstimator, "_failure_of_fit", counted)


MUTANTS = {
    "A": unclipped_and_not_centered,
    "B": unclipped_and_not_centered,
    "C": unclipped_and_not_centered,
    "D": denominators_near_zero,
    "E": categories_from_data,
    "F": categories_from_data,
    "G": classes_from_data,
    "H": size_kept,
}


@pytest.mark.parametrize("failure", [f for f in FAILURES if f.violates], ids=lambda f: f.letter)
def test_attack_breaks_ours_with_the_same_mistake(failure, monkeypatch) -> None:
    # The mistakes are planted in the code of boosting.
    target = [t for t in ours(failure) if t.title.startswith("DPExplainableBoosting")][-1]
    MUTANTS[failure.letter](monkeypatch, failure)
    assert is_broken(failure, target, MUTANT_RUNS)


@pytest.mark.parametrize(("failure", "target"), CONTROLS)
def test_attack_breaks_every_model_that_draws_a_twentieth_of_its_noise(
    failure, target, monkeypatch
) -> None:
    # Where a mechanism refuses noise that was not charged, the mistake is in that as well.
    monkeypatch.setattr(Mechanism, "limit_to", lambda self, charged: None)
    begin = Mechanism.begin
    monkeypatch.setattr(Mechanism, "begin", lambda self, phase: begin(self, phase.with_noise(0.05)))
    assert is_broken(failure, target, MUTANT_RUNS)


@pytest.mark.parametrize("letter", ["G", "H"])
def test_what_many_fits_confirm_does_not_stand(letter, monkeypatch) -> None:
    (failure,) = (f for f in FAILURES if f.letter == letter)
    MUTANTS[letter](monkeypatch, failure)
    assert not stands(failure, ours(failure, n_trees=TREES)[-1], MUTANT_RUNS)
