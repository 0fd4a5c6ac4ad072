"""Which terms have an effect: bins and slopes of all terms, jointly."""

from __future__ import annotations

import numpy as np
import pytest

from dpexplain.explain import GlobalExplanation, NoiseModel, ShapeFunction
from dpexplain.explain.bands._certain import bins_and_slopes, overall_direction
from dpexplain.explain.bands._drawn import DRAWS
from example_explanations import job, private_guarantee

N = 20


def dose(effect, **changes):
    """Make a term of 20 bins with equal counts."""
    fields = {
        "name": "dose",
        "kind": "numeric",
        "contribution": np.zeros(N),
        "count": np.full(N, 500.0),
        "guarantee": private_guarantee(),
        "bin_edges": np.arange(N + 1.0),
        "noise_std": np.full(N, 1.0),
        "effect": effect,
        "effect_std": np.ones(N),
        "effect_factor": 3.0,
    }
    return ShapeFunction(**{**fields, **changes})


def explained(effect, of_job=(0.0, 0.0, 0.0, 0.0)):
    """Make explanations with independent errors of standard deviation 1."""
    terms = (
        dose(effect),
        job(count=[5e3] * 4, effect=list(of_job), effect_std=[1.0] * 4, effect_factor=3.0),
    )
    errors = NoiseModel((N, 4), np.zeros((N + 5, 1)), np.ones(N + 5))
    return GlobalExplanation(
        terms,
        0.1,
        "logit",
        guarantee=private_guarantee(),
        classes=("no", "yes"),
        effect_scatter=errors,
        effect_intercept=0.0,
    )


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_term_that_rises_overall_has_an_effect_though_no_bin_is_certain(sign):
    found = explained(sign * np.linspace(-1.8, 1.8, N))
    assert not found["dose"].effect_signal.any()
    assert found.terms_with_effect == ("dose",)
    assert found.ranking()["has_effect"].to_dict() == {"dose": True, "job": False}
    overall = "rises" if sign > 0 else "falls"
    assert found.effect_notes["dose"].endswith(
        f"no bin has an effect that is certain, but it is certain that the curve {overall} overall."
    )
    assert found.ranking()["certain_by"].to_dict() == {"dose": "slope", "job": ""}


def test_a_bin_that_is_certain_is_an_effect_without_a_slope():
    peak = np.zeros(N)
    peak[N // 2 - 1 : N // 2 + 1] = 5.0
    assert explained(peak).terms_with_effect == ("dose",)
    assert explained(peak).ranking()["certain_by"]["dose"] == "bins"
    steep = explained(np.linspace(-9.0, 9.0, N))
    assert steep.ranking()["certain_by"]["dose"] == "both"
    assert explained(np.zeros(N), of_job=(5.0, -5.0, 0.0, 0.0)).terms_with_effect == ("job",)


def test_curves_as_large_as_their_errors_have_no_effect():
    assert explained(np.tile([1.5, -1.5], N // 2)).terms_with_effect == ()
    assert explained(np.linspace(-0.3, 0.3, N)).terms_with_effect == ()


@pytest.mark.parametrize("level", [0.9, 0.97])
@pytest.mark.parametrize("correlated", [False, True])
def test_without_any_effect_the_stated_share_of_models_lists_no_term(level, correlated):
    """The proportion has a standard error of 0.0067 for 2,000 draws, and 0.0021 for 20,000."""
    assert DRAWS == 2_000
    rng = np.random.default_rng(0)
    factor = rng.standard_normal((N + 5, 3)) if correlated else np.zeros((N + 5, 1))
    scatter = NoiseModel((N, 4), factor, np.full(N + 5, 0.5))
    slopes = [overall_direction(term)[2] for term in explained(np.zeros(N)).terms]
    assert slopes[0].any()
    assert not slopes[1].any()
    of_bins, of_slopes, stds = bins_and_slopes(scatter, slopes, level)
    errors = scatter.draws(20_000, seed=9)
    bins = (np.abs(errors / scatter.std)[:, :-1] > of_bins).any(axis=1)
    slope = np.abs(errors[:, :N] @ slopes[0]) > of_slopes * stds[0]
    assert 1.0 - (bins | slope).mean() == pytest.approx(level, abs=5 * 0.0071)
    # Neither of the two takes all of the error.
    assert bins.mean() > 0.2 * (1.0 - level)
    assert slope.mean() > 0.2 * (1.0 - level)


def test_where_no_term_has_a_slope_all_of_the_error_is_for_bins():
    scatter = NoiseModel((N, 4), np.zeros((N + 5, 1)), np.ones(N + 5))
    of_bins, of_slopes, stds = bins_and_slopes(scatter, [np.zeros(N), np.zeros(4)], 0.97)
    largest = np.abs(scatter.draws(DRAWS)[:, :-1]).max(axis=1)
    assert of_bins == pytest.approx(np.quantile(largest, 0.97), rel=1e-3)
    assert (of_slopes, *stds) == (0.0, 0.0, 0.0)
