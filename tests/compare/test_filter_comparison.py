"""Locally linear models across epsilon: matching, repeatability, faithfulness, release."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin

from dpexplain import PrivacyLedger, sweep
from dpexplain._utils.validation import check_epsilon
from dpexplain.accounting.events import GaussianEvent
from dpexplain.compare import FilterComparison, filter_agreement, match_filters, releasable
from dpexplain.compare._filter_effects import filter_effects
from dpexplain.compare.matching import cosines
from dpexplain.explain import FilterBank, FilterNoise, Guarantee, InputFeature, InputPreparation
from example_explanations import private_guarantee
from example_filters import (
    CLASSES,
    filter_bank,
    filter_comparison,
    image_bank,
    reference_bank,
    some_inputs,
)


def shuffled(bank, seed):
    """Put the filters of each class in a bank into a given order."""
    rng = np.random.default_rng(seed)
    order = [rng.permutation(bank.n_filters) for _ in bank.classes]
    filters = np.stack([rows[places] for rows, places in zip(bank.filters, order, strict=True)])
    biases = np.stack([rows[places] for rows, places in zip(bank.biases, order, strict=True)])
    return dataclasses.replace(bank, filters=filters, biases=biases, noise=None)


@pytest.mark.parametrize("seed", range(5))
def test_matching_undoes_any_order_of_filters(seed):
    bank = filter_bank(n_filters=6, noise=None)
    again = match_filters(shuffled(bank, seed), bank)
    assert again == bank


def possible_records(bank):
    """Return inputs with the same mean squared scores as all possible records."""
    age, job = bank.preparation.features
    # Two points of Gauss and Legendre give the mean of a square over an interval exactly.
    ages = (age.low + age.high) / 2 + np.array([-1, 1]) * (age.high - age.low) / math.sqrt(12)
    return bank.inputs([[a, j] for a in ages for j in job.categories])


def differences(bank, other):
    """Return mean squared differences between the filters of two banks, class by class."""
    said, wanted = (each.filter_scores(possible_records(each)) for each in (bank, other))
    return ((said[:, :, :, None] - wanted[:, :, None, :]) ** 2).mean(axis=0)


@pytest.mark.parametrize("seed", range(1, 4))
def test_matching_is_the_best_of_all_orders(seed):
    bank, other = filter_bank(n_filters=4, seed=seed), filter_bank(n_filters=4, seed=9)
    orders, places = list(itertools.permutations(range(4))), np.arange(4)
    found = differences(match_filters(bank, other), other)[:, places, places].sum(axis=1)
    best = [min(of[list(o), places].sum() for o in orders) for of in differences(bank, other)]
    np.testing.assert_allclose(found, best, rtol=1e-12)


@pytest.mark.parametrize("per_record", [False, True])
def test_distance_of_filters_is_that_of_what_they_say(per_record):
    if per_record:
        pixels = tuple(InputFeature(f"pixel {place}") for place in range(20))
        preparation = InputPreparation(pixels, "centred_unit_norm", scale=30.0)
        bank = image_bank(preparation=preparation)
        # The axes of a simplex, each centered: their second moments are those of the sphere.
        records = np.concatenate([np.eye(20), 1.0 - np.eye(20)])
        inputs = bank.inputs(records)
    else:
        bank = filter_bank()
        inputs = possible_records(bank)
    said, effects = bank.filter_scores(inputs), filter_effects(bank)
    np.testing.assert_allclose((effects**2).sum(axis=2), (said**2).mean(axis=0), rtol=1e-12)


@given(
    factor=st.floats(1e-6, 1e6), offset=st.floats(-1e3, 1e3),
    centre=st.floats(-100, 100), spread=st.floats(1e-4, 1e4), seed=st.integers(0, 50),
)  # fmt: skip
def test_matching_does_not_depend_on_the_unit_of_a_column(factor, offset, centre, spread, seed):
    bank, other = filter_bank(seed=seed, noise=None), filter_bank(seed=seed + 100, noise=None)
    age, job = bank.preparation.features
    again = InputFeature(
        "age", low=factor * age.low + offset, high=factor * age.high + offset,
        centre=factor * centre + offset, spread=factor * spread,
    )  # fmt: skip
    # The same functions of records: slope and value at the new zero of the input.
    slopes = bank.filters[:, :, :1] * spread / age.spread
    moved = FilterBank.from_weights(
        np.concatenate([slopes, bank.filters[:, :, 1:]], axis=2),
        bank.biases + bank.filters[:, :, 0] * (centre - age.centre) / age.spread,
        **{
            **{f: getattr(bank, f) for f in ("classes", "input_names", "guarantee")},
            "preparation": InputPreparation((again, job)),
        },
    )
    wanted, found = match_filters(bank, other), match_filters(moved, other)
    np.testing.assert_allclose(
        found.filters[:, :, 0] * age.spread / spread, wanted.filters[:, :, 0], rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize("per_filter", [False, True])
def test_matching_changes_no_score_and_takes_the_noise_along(per_filter):
    bank = filter_bank(n_filters=5)
    if per_filter:
        rng = np.random.default_rng(1)
        noise = FilterNoise(
            bank.noise.variance, bank.noise.bias_variance, rng.standard_normal((5, 3, 4))
        )
        bank = dataclasses.replace(bank, noise=noise)
    matched = match_filters(bank, filter_bank(n_filters=5, seed=9))
    inputs = some_inputs(10)
    np.testing.assert_allclose(matched.scores(inputs), bank.scores(inputs), rtol=1e-12)
    np.testing.assert_allclose(
        matched.explain(inputs).effective, bank.explain(inputs).effective, rtol=1e-9, atol=1e-12
    )
    pairs = {w.tobytes(): s for w, s in zip(bank.filters[1], bank.filter_std[1], strict=True)}
    for w, std in zip(matched.filters[1], matched.filter_std[1], strict=True):
        np.testing.assert_allclose(std, pairs[w.tobytes()], rtol=1e-5)
    assert not np.array_equal(matched.filters, bank.filters)


def test_models_of_other_classes_inputs_or_sizes_are_not_matched():
    bank = filter_bank()
    with pytest.raises(ValueError, match="differ in classes"):
        match_filters(filter_bank(classes=("x", "y", "z")), bank)
    with pytest.raises(ValueError, match="differ in input_names"):
        match_filters(image_bank(), bank)
    with pytest.raises(ValueError, match="5 and 3 filters"):
        match_filters(filter_bank(n_filters=5), bank)


def test_model_agrees_with_itself_in_any_order_and_with_a_mirror_image_not_at_all():
    bank, inputs = filter_bank(n_filters=5, noise=None), some_inputs(20)
    same = filter_agreement(shuffled(bank, 3), bank, inputs)
    assert dataclasses.astuple(same) == pytest.approx((1, 1, 1, 1, 1))
    mirror = dataclasses.replace(bank, filters=-bank.filters, biases=-bank.biases)
    other = filter_agreement(mirror, bank, inputs)
    assert other.class_means == pytest.approx(-1)
    assert other.contrasts == pytest.approx(-1)
    assert other.predictions < 0.5
    assert math.isnan(filter_agreement(bank, bank).local)


def test_cosine_of_nothing_is_zero():
    np.testing.assert_array_equal(cosines(np.zeros((2, 3)), np.ones((2, 3))), [0.0, 0.0])


def test_local_agreement_is_that_of_explanations():
    bank, other, inputs = filter_bank(), filter_bank(seed=4), some_inputs(12)
    first, second = bank.explain(inputs), other.explain(inputs)
    found = [
        cosines(first.effective[n, bank.classes.index(name)],
                second.effective[n, bank.classes.index(name)])
        for n, name in enumerate(first.predicted)
    ]  # fmt: skip
    agreement = filter_agreement(bank, other, inputs)
    assert agreement.local == pytest.approx(np.mean(found))
    same = [a == b for a, b in zip(first.predicted, second.predicted, strict=True)]
    assert agreement.predictions == pytest.approx(np.mean(same))


def test_less_noise_is_more_repeatable_and_more_faithful():
    truth = image_bank(noise=None)
    fits = {}
    for epsilon, std in ((0.5, 2.0), (2.0, 0.2)):
        noise = FilterNoise(np.full((3, 4, 20), std**2), np.full((3, 4), std**2))
        draws = noise.draws(3)
        fits[epsilon] = tuple(
            dataclasses.replace(
                truth,
                filters=truth.filters + w,
                biases=truth.biases + b,
                noise=noise,
                guarantee=private_guarantee(epsilon),
            )
            for w, b in zip(*draws, strict=True)
        )
    comparison = FilterComparison(
        (0.5, 2.0),
        fits,
        dataclasses.replace(truth, guarantee=Guarantee.not_private("no noise")),
        ledger=PrivacyLedger("noise").summary(),
    )
    inputs = some_inputs(30, 20)
    repeated = comparison.repeatability(inputs)
    assert list(repeated["n_pairs"]) == [3, 3]
    for name in ("filters", "class_means", "contrasts", "local"):
        assert repeated[name].iloc[1] > repeated[name].iloc[0] + 0.2
    faithful = comparison.faithfulness(inputs)
    assert not faithful["private"].any()
    mean = faithful.groupby("epsilon")["filters"].mean()
    assert mean[2.0] > 0.95 > mean[0.5] + 0.2
    noise_table = comparison.above_noise().groupby("epsilon").mean()
    assert noise_table["share_of_filters"][2.0] > noise_table["share_of_filters"][0.5]
    assert noise_table["signal_to_noise"][2.0] > 2 > noise_table["signal_to_noise"][0.5]


def test_matched_comparison_has_one_order_and_the_same_scores():
    comparison = filter_comparison(with_reference=True)
    matched = comparison.matched()
    inputs = some_inputs(3)
    for (_, _, before), (_, _, after) in zip(comparison.fits(), matched.fits(), strict=True):
        np.testing.assert_allclose(before.scores(inputs), after.scores(inputs), rtol=1e-12)
        assert match_filters(after, matched.anchor) == after
    assert matched.anchor == comparison.anchor


def test_what_is_safe_to_release_has_no_reference_and_no_diagnostics():
    comparison = filter_comparison()
    assert not comparison.private
    safe = releasable(comparison)
    assert safe.private
    assert safe.reference is None
    assert safe.metrics is None
    assert safe.explanations == comparison.explanations
    table = comparison.metrics.assign(private=[True, False, False, False])
    kept = releasable(dataclasses.replace(comparison, metrics=table))
    assert list(kept.metrics["value"]) == [0.8]


def test_order_of_private_fits_does_not_depend_on_the_reference():
    comparison = filter_comparison()
    safe = releasable(comparison.matched())
    assert safe.explanations == releasable(comparison).matched().explanations


def test_comparison_without_repeats_or_reference_says_what_to_do():
    comparison = filter_comparison(with_reference=False)
    with pytest.raises(ValueError, match="reference=True"):
        comparison.faithfulness()
    alone = dataclasses.replace(
        comparison, epsilons=(2.0,), explanations={2.0: comparison.explanations[2.0]}
    )
    with pytest.raises(ValueError, match="n_repeats=2"):
        alone.repeatability()


def test_models_that_differ_cannot_be_compared():
    with pytest.raises(ValueError, match="differ in n_filters"):
        filter_comparison(
            lambda *args, seed, **rest: filter_bank(*args, n_filters=2 + seed, **rest)
        )
    with pytest.raises(ValueError, match="must be FilterBank"):
        FilterComparison((1.0,), {1.0: ("bank",)}, ledger=PrivacyLedger("x").summary())


def test_frame_has_the_mean_filters_of_every_fit():
    frame = filter_comparison().frame()
    assert len(frame) == 4 * 3 * 4
    assert list(frame.columns[:4]) == ["epsilon", "repeat", "private", "class"]
    chosen = frame[(frame["epsilon"] == math.inf) & (frame["class"] == "high")]
    assert not chosen["private"].any()
    expected = filter_comparison().reference.class_means()[2]
    np.testing.assert_array_equal(chosen["weight"], expected)


def test_words_and_html_name_the_reference():
    comparison = filter_comparison()
    assert "with reference" in repr(comparison)
    page = comparison._repr_html_()
    assert "NOT PRIVATE" in page
    assert "accuracy *" in page
    assert "NOT PRIVATE" not in releasable(comparison)._repr_html_()


class FakeFilters(ClassifierMixin, BaseEstimator):
    """Follows the protocol that `sweep` relies on; its filters are drawn from its seed."""

    def __init__(self, epsilon=1.0, delta=1e-6, *, ledger=None, structure_seed=None):
        self.epsilon = epsilon
        self.delta = delta
        self.ledger = ledger
        self.structure_seed = structure_seed

    def planned_events(self, X):
        check_epsilon(self.epsilon)
        return (GaussianEvent("filters", 3.0),)

    def reference_estimator(self):
        return FakeReference()

    def fit(self, X, y):
        self.classes_ = np.array(CLASSES)
        return self

    def explain_global(self):
        return filter_bank(private_guarantee(self.epsilon), seed=self.structure_seed or 0)

    def predict_proba(self, X):
        bank = filter_bank()
        return bank.probabilities(bank.inputs(X))


class FakeReference(ClassifierMixin, BaseEstimator):
    """The non-private twin."""

    def fit(self, X, y):
        self.classes_ = np.array(CLASSES)
        return self

    def explain_global(self):
        return reference_bank()

    predict_proba = FakeFilters.predict_proba


def test_sweep_of_a_locally_linear_model_gives_its_filters():
    X = pd.DataFrame({"age": [20, 40, 60, 80] * 5, "job": ["nurse", "clerk"] * 10})
    bank = filter_bank()
    y = np.array(CLASSES)[bank.scores(bank.inputs(X)).argmax(axis=1)]
    y[0] = next(name for name in CLASSES if name != y[0])
    comparison = sweep(
        FakeFilters(), X, y, epsilons=(0.5, 1), n_repeats=2, evaluate=(X, y), structure_seed=7,
        progress=False,
    )  # fmt: skip
    assert isinstance(comparison, FilterComparison)
    assert comparison.epsilons == (0.5, 1.0)
    assert comparison.explanations[1.0][1] == filter_bank(private_guarantee(1.0), seed=8)
    assert comparison.reference == reference_bank()
    assert comparison.ledger.total_epsilon == math.inf
    accuracies = comparison.metrics[comparison.metrics["metric"] == "accuracy"]
    assert list(accuracies["value"]) == [0.95] * 5
    assert set(comparison.metrics["metric"]) == {"accuracy", "macro AUROC"}
    assert comparison.repeatability()["n_pairs"].tolist() == [1, 1]
