"""What may be released: private fits and private metrics, and nothing else."""

from __future__ import annotations

import dataclasses

import pytest

import view_examples
from dpexplain.compare import Comparison, releasable
from dpexplain.explain import LocalExplanation


@pytest.fixture(scope="module")
def comparison():
    return view_examples.comparison(n_repeats=2)


def test_reference_and_metrics_on_records_are_absent(comparison):
    smaller = releasable(comparison)

    assert not comparison.private
    assert smaller.private
    assert smaller.reference is None
    assert smaller.metrics is None
    assert smaller.explanations == comparison.explanations
    assert smaller.ledger == comparison.ledger


def test_metrics_that_were_released_privately_stay(comparison):
    metrics = comparison.metrics.copy()
    metrics.loc[metrics["epsilon"] == 0.5, "private"] = True
    smaller = releasable(dataclasses.replace(comparison, metrics=metrics))

    assert smaller.metrics["epsilon"].tolist() == [0.5, 0.5]


def mixed(comparison, *, private_metrics: bool) -> Comparison:
    """Make a comparison in which one of two fits at epsilon 0.5 has seeded noise."""
    seeded = view_examples.comparison(private=False).explanations[0.5]
    fits = {e: f if e != 0.5 else (seeded[0], f[1]) for e, f in comparison.explanations.items()}
    metrics = comparison.metrics.assign(private=private_metrics)
    return dataclasses.replace(comparison, explanations=fits, metrics=metrics)


def test_fits_with_seeded_noise_are_absent(comparison):
    smaller = releasable(mixed(comparison, private_metrics=False))

    assert [len(fits) for fits in smaller.explanations.values()] == [2, 1, 2, 2, 2, 2]
    assert smaller.private


def test_metrics_of_an_epsilon_that_lost_a_fit_are_absent(comparison):
    smaller = releasable(mixed(comparison, private_metrics=True))

    assert 0.5 not in set(smaller.metrics["epsilon"])
    assert 1.0 in set(smaller.metrics["epsilon"])


def test_all_shown_together_is_counted_anew(comparison):
    smaller = releasable(mixed(comparison, private_metrics=False))

    assert smaller.epsilon_together < comparison.epsilon_together


def test_a_comparison_without_a_private_model_is_refused():
    with pytest.raises(ValueError, match="none of its models is private"):
        releasable(view_examples.comparison(private=False))


def test_an_explanation_leaves_whole_or_not_at_all(comparison):
    private = comparison.explanations[0.5][0]

    assert releasable(private) is private
    with pytest.raises(ValueError, match="nothing in this GlobalExplanation may be released"):
        releasable(comparison.reference)


@pytest.mark.parametrize("public", [True, False])
def test_samples_leave_if_they_are_public(public):
    local = LocalExplanation(
        ("age",), [[0.5]], 0.1, "logit", bin_labels=(("30",),), classes=("no", "yes"),
        guarantee=view_examples.guarantee(0.5), samples_public=public, target_name="y",
    )  # fmt: skip
    if public:
        assert releasable(local) is local
    else:
        with pytest.raises(ValueError, match="samples not marked public"):
            releasable(local)


@pytest.mark.parametrize("source", [object(), {"private": True}, [1, 2], None])
def test_what_does_not_say_whether_it_is_private_is_refused(source):
    with pytest.raises(TypeError, match="does not state whether it is private"):
        releasable(source)


def test_a_ledger_and_a_guarantee_are_public(comparison):
    assert releasable(comparison.ledger) is comparison.ledger
    guarantee = view_examples.guarantee(0.5)
    assert releasable(guarantee) is guarantee
