"""Curves are recovered from all sums of a fit together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpexplain import Categorical, Classes, DPExplainableBoostingClassifier, Numeric, Schema
from dpexplain.models.boosting.uncertainty.recovery import (
    _axes,
    _information,
    _posterior_mean,
    _priors,
)

pytestmark = pytest.mark.full


def evidence(rng, n_bins=9, n_sums=40):
    bins = (rng.random((n_sums, n_bins)) < 0.4).astype(float)
    mass = rng.uniform(5, 50, n_bins)
    return (
        bins,
        rng.normal(size=n_sums),
        mass,
        mass * rng.uniform(0.5, 2, n_bins),
        rng.normal(size=n_bins),
    )


def test_posterior_mean_is_that_of_sums_and_curve_taken_as_jointly_normal():
    rng = np.random.default_rng(4)
    bins, left, mass, variance, final = evidence(rng)
    (root, *_) = _priors(_axes(np.arange(10.0) ** 2, np.full(9, 1 / 9)), 9, 0.7)

    found = _posterior_mean([root], *_information(bins, left, mass, variance, final))

    # Naively: sums = bins @ (mass * (curve - final) + scatter) + noise, conditioned in their space.
    prior, design = root @ root.T, bins * mass
    of_sums = design @ prior @ design.T + (bins * variance) @ bins.T + np.eye(len(left))
    expected = prior @ design.T @ np.linalg.solve(of_sums, left + design @ final)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_priors_are_averaged_by_the_likelihood_of_the_sums():
    rng = np.random.default_rng(5)
    bins, left, mass, variance, final = evidence(rng)
    roots = _priors(_axes(np.arange(10.0), np.full(9, 1 / 9)), 9, 0.02)
    known = _information(bins, left, mass, variance, final)

    def log_density(root):
        design = bins * mass
        of_sums = design @ root @ root.T @ design.T + (bins * variance) @ bins.T + np.eye(len(left))
        seen = left + design @ final
        return -0.5 * (seen @ np.linalg.solve(of_sums, seen) + np.linalg.slogdet(of_sums)[1])

    logs = np.array([log_density(root) for root in roots])
    chance = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    expected = chance @ [_posterior_mean([root], *known) for root in roots]
    np.testing.assert_allclose(_posterior_mean(roots, *known), expected, rtol=1e-5, atol=1e-8)


def test_bins_that_no_sum_tells_apart_do_no_harm():
    bins, mass = np.zeros((3, 5)), np.zeros(5)
    roots = _priors(_axes(None, np.full(5, 0.2)), 5, 1.0)

    found = _posterior_mean(roots, *_information(bins, np.zeros(3), mass, mass, np.ones(5)))

    np.testing.assert_array_equal(found, np.zeros(5))


def test_ends_lie_where_people_thin_out():
    values, between = _axes(
        np.array([0.0, 90.0, 91.0, 92.0, 200.0]), np.array([0.2, 0.3, 0.3, 0.2])
    )

    gap = values[2] - values[1]
    np.testing.assert_allclose(np.diff(values) / gap, [0.5 + 2 / 3, 1.0, 0.5 + 2 / 3])
    assert (np.diff(between) > 0).all()


def test_numeric_and_ordered_terms_are_recovered_and_others_are_not():
    rng = np.random.default_rng(6)
    schema = Schema(
        {
            "x": Numeric(0, 1),
            "grade": Categorical(["a", "b", "c", "d"], ordered=True),
            "colour": Categorical(["red", "blue"]),
        },
        target=Classes(["no", "yes", "perhaps"]),
    )
    X = pd.DataFrame(
        {
            "x": rng.uniform(size=600),
            "grade": rng.choice(list("abcd"), 600),
            "colour": rng.choice(["red", "blue"], 600),
        }
    )
    y = rng.choice(["no", "yes", "perhaps"], 600)
    model = DPExplainableBoostingClassifier(epsilon=2.0, schema=schema, max_rounds=5)

    explanation = model.fit(X, y).explain_global()

    for part in map(explanation.for_class, ("no", "yes", "perhaps")):
        assert part["colour"].recovered is None
        for name in ("x", "grade"):
            term = part[name]
            assert np.isfinite(term.recovered).all()
            n = term.n_value_bins
            np.testing.assert_array_equal(term.recovered[n:], term.contribution[n:])
