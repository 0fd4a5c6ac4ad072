"""What a sweep fits and returns."""

from __future__ import annotations

import math
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from dpexplain import sweep
from dpexplain._utils.blas import one_blas_thread
from dpexplain._utils.caching import kept_property
from fake_estimator import FakePrivateClassifier, FakeReference, table

QUIET = {"progress": False}


def test_epsilons_come_back_ascending_with_their_repeats():
    X, y = table()
    comparison = sweep(FakePrivateClassifier(), X, y, epsilons=(2, 0.5), n_repeats=2, **QUIET)
    assert comparison.epsilons == (0.5, 2.0)
    for epsilon, repeats in comparison.explanations.items():
        assert [fit.guarantee.epsilon for fit in repeats] == [epsilon] * 2
    assert comparison.explanations[2] == comparison.explanations[2.0]


def test_estimator_is_left_as_it_was():
    X, y = table()
    estimator = FakePrivateClassifier(epsilon=3.0, structure_seed=5)
    sweep(estimator, X, y, epsilons=(0.5,), structure_seed=1, **QUIET)
    assert (estimator.epsilon, estimator.structure_seed) == (3.0, 5)
    assert not hasattr(estimator, "classes_")


def test_structure_seed_is_shared_over_epsilons_and_differs_between_repeats():
    X, y = table()
    comparison = sweep(
        FakePrivateClassifier(), X, y, epsilons=(0.5, 1), n_repeats=3, structure_seed=10, **QUIET
    )
    for repeats in comparison.explanations.values():
        assert [fit.intercept for fit in repeats] == [10, 11, 12]
    assert comparison.reference.intercept == 10


def test_structure_seed_of_the_estimator_stays_where_the_sweep_gives_none():
    X, y = table()
    estimator = FakePrivateClassifier(structure_seed=7)
    comparison = sweep(estimator, X, y, epsilons=(0.5,), n_repeats=2, reference=False, **QUIET)
    assert [fit.intercept for fit in comparison.explanations[0.5]] == [7, 7]
    assert comparison.reference is None


def test_number_of_threads_does_not_change_the_result():
    X, y = table()
    arguments = {"epsilons": (0.5, 1, 2), "n_repeats": 2, "structure_seed": 3, "evaluate": (X, y)}
    one = sweep(FakePrivateClassifier(), X, y, **arguments, **QUIET)
    two = sweep(FakePrivateClassifier(), X, y, n_jobs=2, **arguments, **QUIET)
    assert dict(one.explanations) == dict(two.explanations)
    assert one.metrics.equals(two.metrics)


def test_the_reference_which_takes_longest_starts_first(monkeypatch):
    started = []
    for kind in (FakePrivateClassifier, FakeReference):
        fit = kind.fit

        def recorded(self, *args, fit=fit, **kwargs):
            started.append(type(self))
            return fit(self, *args, **kwargs)

        monkeypatch.setattr(kind, "fit", recorded)
    X, y = table()
    sweep(FakePrivateClassifier(), X, y, epsilons=(0.5, 1), **QUIET)
    assert started == [FakeReference, FakePrivateClassifier, FakePrivateClassifier]


def test_every_fit_of_a_sweep_has_one_blas_thread(monkeypatch):
    """A fit that ended would otherwise give its threads back while other fits still compute."""
    seen, fit, both = [], FakePrivateClassifier.fit, threading.Barrier(2)

    def recorded(self, *args, **kwargs):
        both.wait(timeout=60)
        with one_blas_thread():
            both.wait(timeout=60)
        both.wait(timeout=60)
        found = ThreadpoolController().select(user_api="blas").info()
        seen.append({library["num_threads"] for library in found})
        return fit(self, *args, **kwargs)

    monkeypatch.setattr(FakePrivateClassifier, "fit", recorded)
    X, y = table()
    with threadpool_limits(limits=2, user_api="blas"):
        sweep(FakePrivateClassifier(), X, y, epsilons=(0.5, 1), n_jobs=2, reference=False, **QUIET)
    assert seen == [{1}, {1}]


def test_two_threads_compute_what_is_kept_of_two_objects_at_the_same_time():
    both = threading.Barrier(2)

    class Slow:
        @kept_property
        def value(self):
            """Return a new object once the other thread computes one, too."""
            both.wait(timeout=60)
            return object()

    objects = Slow(), Slow()
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda each: each.value, objects)
    assert first is objects[0].value
    assert second is objects[1].value
    assert first is not second


def test_metrics_are_marked_as_not_private():
    X, y = table()
    comparison = sweep(FakePrivateClassifier(), X, y, epsilons=(0.5,), evaluate=(X, y), **QUIET)
    table_of_metrics = comparison.metrics
    assert table_of_metrics["epsilon"].tolist() == [0.5, math.inf]
    assert table_of_metrics["metric"].unique().tolist() == ["AUROC"]
    assert table_of_metrics["value"].tolist() == [1.0, 1.0]
    assert not table_of_metrics["private"].any()


@pytest.mark.parametrize("labels", ["all one class", "missing", "column"])
def test_labels_that_cannot_be_ranked_do_not_cost_the_sweep(labels):
    X, y = table()
    held_out = {
        "all one class": ["high"] * len(y),
        "missing": [None] * len(y),
        "column": y.to_frame(),
    }[labels]
    comparison = sweep(
        FakePrivateClassifier(), X, y, epsilons=(0.5,), evaluate=(X, held_out), **QUIET
    )
    assert np.isnan(comparison.metrics["value"]).all() == (labels != "column")


def test_groups_reach_the_private_fits():
    X, y = table()
    seen = []

    class Recording(FakePrivateClassifier):
        def fit(self, X, y, groups=None):
            seen.append(groups)
            return super().fit(X, y, groups)

    estimator = Recording(max_rows_per_person=2)
    persons = np.arange(len(X)) // 2
    sweep(estimator, X, y, epsilons=(0.5, 1), groups=persons, **QUIET)
    assert len(seen) == 2
    assert all(groups is persons for groups in seen)


def test_reference_that_refuses_the_data_does_not_cost_the_private_fits(monkeypatch):
    def fail(self, X, y):
        raise ValueError(f"cannot use {X.iloc[0, 0]}")

    monkeypatch.setattr(FakeReference, "fit", fail)
    X, y = table()
    with pytest.warns(UserWarning, match=r"reference could not be fitted \(ValueError\)"):
        comparison = sweep(FakePrivateClassifier(), X, y, epsilons=(0.5,), **QUIET)
    assert comparison.reference is None
    assert len(comparison.explanations[0.5]) == 1


def test_repeats_of_seeded_fits_differ_in_their_seed():
    X, y = table()
    seeds = []

    class Recording(FakePrivateClassifier):
        def fit(self, X, y, groups=None):
            seeds.append(self.reproducible_seed)
            return super().fit(X, y)

    sweep(Recording(reproducible_seed=4), X, y, epsilons=(0.5,), n_repeats=3, **QUIET)
    assert seeds == [4, 5, 6]


def test_progress_counts_fits_and_says_nothing_else(capsys):
    X, y = table()
    sweep(FakePrivateClassifier(), X, y, epsilons=(0.5, 1), evaluate=(X, y))
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "3/3" in shown.err
    assert "[" not in shown.err  # tqdm writes times in brackets
    assert not {"loss", "AUROC", "high", "age"} & set(shown.err.replace("/", " ").split())


def test_progress_does_not_tell_whether_the_reference_failed(capsys, monkeypatch):
    X, y = table()
    monkeypatch.setattr(FakeReference, "fit", lambda self, X, y: 1 / 0)
    with pytest.warns(UserWarning, match="could not be fitted"):
        sweep(FakePrivateClassifier(), X, y, epsilons=(0.5, 1))
    assert "3/3" in capsys.readouterr().err
