"""Locally linear classifiers as a user meets them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpexplain import Categorical, Classes, Numeric, PrivacyLedger, Schema
from dpexplain.accounting import SubsampledGaussianEvent, accountant
from dpexplain.models import DPLocallyLinearClassifier, LocallyLinearClassifier
from dpexplain.models.locally_linear import private_classifier as private_module
from dpexplain.models.locally_linear import recipe

GRID = Schema({f"p{i}": Numeric(0, 255) for i in range(16)}, target=Classes(["bar", "column"]))
TABLE = Schema(
    {"age": Numeric(0, 100), "ward": Categorical(["a", "b"])}, target=Classes(["no", "yes"])
)


def pictures(n=600, seed=0):
    """Simulate noisy 4 x 4 pictures of a bar or a column in random places."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 60, (n, 4, 4))
    column, place = rng.random(n) < 0.5, rng.integers(0, 4, n)
    for i in range(n):
        part = X[i, :, place[i]] if column[i] else X[i, place[i]]
        part += 180
    frame = pd.DataFrame(X.reshape(n, 16), columns=GRID.feature_names)
    return frame, np.where(column, "column", "bar")


def patients(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.uniform(0, 100, n), "ward": rng.choice(["a", "b"], n)})
    return X, np.where(X["age"] > 50, "yes", "no")


def private(**settings):
    settings = {"epsilon": 4.0, "delta": 1e-3, "schema": TABLE, "n_steps": 20, **settings}
    return DPLocallyLinearClassifier(**settings)


@pytest.mark.parametrize("projection", ["auto", "none", "shared", "per_filter"])
def test_filters_learn_what_no_single_filter_can(projection):
    """Bars and columns may be anywhere, so classes have equal means, and one filter fails."""
    X, y = pictures()
    model = LocallyLinearClassifier(
        schema=GRID, grid_shape=(4, 4), projection=projection, n_basis=15,
        n_filters=8, inverse_temperature=1.0, max_epochs=60, learning_rate=0.02,
    )  # fmt: skip
    assert model.fit(X, y).score(*pictures(seed=1)) > 0.9


@pytest.mark.full
def test_scores_are_those_of_the_explanation_and_contributions_add_up():
    X, y = patients()
    model = private().fit(X, y)
    local = model.explain_local(X[:20])
    np.testing.assert_allclose(
        model.decision_function(X[:20]), local.scores[:, 1] - local.scores[:, 0], rtol=1e-9
    )
    parts = local.contributions.sum(axis=2) + local.bias_part
    np.testing.assert_allclose(parts, local.scores, atol=1e-9)
    assert model.explain_global().guarantee == model.guarantee_


@pytest.mark.full
def test_a_table_is_learned_privately_and_the_noise_of_weights_is_stated():
    X, y = patients(4000)
    model = private(epsilon=8.0, delta=1e-5, n_public=4000, n_steps=100).fit(X, y)
    assert model.score(X, y) > 0.85
    bank = model.explain_global()
    assert (bank.filter_std > 0).all()
    assert bank.input_names == ("age", "ward=a", "ward=b")


@pytest.mark.full
def test_only_releases_about_everybody_have_a_gaussian_dp_parameter():
    X, y = patients()
    sampled = private(sampling_probability=0.5).fit(X, y)
    assert sampled.guarantee_.mu is None
    assert sampled.guarantee_.epsilon_replace > sampled.guarantee_.epsilon
    whole = private(sampling_probability=1.0).fit(X, y)
    assert whole.guarantee_.mu == pytest.approx(np.sqrt(20) / whole.noise_multiplier_)
    (event,) = sampled.planned_events(X)
    assert event == SubsampledGaussianEvent("gradients", sampled.noise_multiplier_, 0.5, 20)


@pytest.mark.full
def test_the_public_number_of_people_sets_samples_and_steps_and_the_exact_one_does_not():
    known = recipe.recipe_for("accurate", grid=True, n_inputs=784)
    assert recipe.schedule(known, 60_000, None).n_steps == 600
    assert recipe.schedule(known, 2_000, None).sampling_probability == 1.0
    assert recipe.schedule(known, None, None).n_steps == 600
    events = {private(n_steps=None).planned_events(patients(n)[0]) for n in (10, 500)}
    assert len(events) == 1


def test_tables_have_smaller_samples_than_images():
    table = recipe.recipe_for("accurate", grid=False, n_inputs=3)
    assert recipe.schedule(table, 60_000, None).n_steps == 4800


def test_the_paper_preset_reads_pixels_as_was_done_for_digits():
    X, y = pictures(50)
    model = private(schema=GRID, grid_shape=(4, 4), preset="paper", n_basis=5, n_filters=2)
    inputs = model.fit(X, y).explain_global().inputs(X)
    np.testing.assert_allclose(inputs, (X / 255 - 0.1307) / 0.3081, atol=1e-12)


def test_without_dp_accounting_the_fit_says_so_before_it_reads_or_charges(monkeypatch):
    monkeypatch.setattr(accountant, "pld_available", lambda: False)
    recipe.noise_multiplier.cache_clear()
    ledger = PrivacyLedger("patients", cap_epsilon=10.0)
    X, y = patients()
    with pytest.raises(ModuleNotFoundError, match=r"\.\[subsampled\]"):
        private(epsilon=3.9, ledger=ledger).fit(X, y)
    assert ledger.entries == ()


def test_without_dp_accounting_renyi_divergences_carry_a_fit_to_its_end(monkeypatch):
    for module in (accountant, private_module):
        monkeypatch.setattr(module, "pld_available", lambda: False)
    fitted = private(composition="rdp").fit(*patients())
    assert fitted.guarantee_.epsilon <= 4.0
    assert fitted.guarantee_.epsilon_replace > fitted.guarantee_.epsilon


@pytest.mark.full
def test_rows_of_a_person_share_noise_that_is_as_many_times_as_large():
    X, y = patients(300)
    people = np.repeat(np.arange(100), 3)
    single = private().fit(X, y)
    together = private(max_rows_per_person=3).fit(X, y, groups=people)
    assert together.noise_multiplier_ == single.noise_multiplier_
    assert "one person" in together.guarantee_.statement()
    steps = []
    for model in (single, together):
        _, plan = model._plan(model._recipe(3))
        # Of the clip, whose steps may differ: the widest noise has to fit its sampler.
        steps.append(plan.phase(1).sigma_int / 2.0**plan.lattice_bits)
    assert steps[1] == pytest.approx(3 * steps[0])
    assert not hasattr(together, "_person")


def test_progress_is_told_of_steps_alone():
    told = []
    private(progress=lambda *counts: told.append(counts)).fit(*patients())
    assert told == [(t, 20) for t in range(1, 21)]


REFUSED = {
    "a grid of another size": ({"schema": GRID, "grid_shape": (4, 5)}, "20 positions"),
    "a grid of categories": ({"grid_shape": (2, 1)}, "numeric"),
    "a grid that is no shape": ({"schema": GRID, "grid_shape": "4x4"}, "grid_shape"),
    "a grid without a schema": ({"schema": None, "grid_shape": (2, 1)}, "schema"),
    "frequencies without a grid": ({"projection": "frequency"}, "grid_shape"),
    "no filter": ({"n_filters": 0}, "n_filters"),
    "another projection": ({"projection": "wavelet"}, "projection"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_settings_that_do_not_go_together_are_refused_by_name(case):
    settings, named = REFUSED[case]
    with pytest.raises(ValueError, match=named):
        private(**settings).planned_events(patients()[0] if "schema" not in settings else [[0, 1]])
