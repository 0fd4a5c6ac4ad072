"""The epsilon at which a metric is likely to reach a target, on stand-in data."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import view_examples
from dpexplain.compare import epsilon_for_metric

pytestmark = pytest.mark.full

EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0)


def measured(values: dict[float, list[float]], name: str = "AUROC"):
    rows = [(e, r, name, v, False) for e, vs in values.items() for r, v in enumerate(vs)]
    columns = ["epsilon", "repeat", "metric", "value", "private"]
    repeats = len(next(iter(values.values())))
    source = view_examples.comparison(epsilons=tuple(values), n_repeats=repeats)
    return dataclasses.replace(source, metrics=pd.DataFrame(rows, columns=columns))


def test_between_two_epsilons_it_is_linear_in_the_logarithm():
    source = measured({1.0: [0.70], 4.0: [0.80]})

    assert epsilon_for_metric(source, 0.75) == pytest.approx(2.0)
    assert epsilon_for_metric(source, 0.80) == pytest.approx(4.0)
    assert epsilon_for_metric(source, 0.70) == 1.0


def test_what_the_largest_epsilon_does_not_reach_needs_more_than_there_is():
    assert epsilon_for_metric(measured({1.0: [0.70], 4.0: [0.80]}), 0.81) == math.inf


def test_an_error_is_to_be_small():
    source = measured({1.0: [4.0], 4.0: [2.0]}, "RMSE")

    assert epsilon_for_metric(source, 3.0) == pytest.approx(2.0)
    assert epsilon_for_metric(source, 1.9) == math.inf


def test_more_certainty_needs_more_epsilon():
    spread = 0.01 * np.array([-1.0, 1.0])
    source = measured({e: list(0.7 + 0.03 * k + spread) for k, e in enumerate(EPSILONS)})
    found = [epsilon_for_metric(source, 0.75, certainty=c) for c in (0.5, 0.8, 0.9)]

    assert found == sorted(found)
    # By hand: the pooled standard deviation of two values at distance 0.02 is 0.02 / sqrt(2).
    needed = 0.75 + norm.ppf(0.9) * 0.02 / math.sqrt(2)
    place = (needed - 0.7) / 0.03
    assert found[2] == pytest.approx(0.25 * 2**place)


def test_a_mean_that_falls_by_chance_is_held():
    source = measured({1.0: [0.70], 2.0: [0.69], 4.0: [0.80]})

    assert epsilon_for_metric(source, 0.70) == 1.0


def test_epsilons_without_a_metric_are_passed_over():
    source = measured({1.0: [0.70], 2.0: [0.9], 4.0: [0.80]})
    rest = source.metrics[source.metrics["epsilon"] != 2.0]

    assert epsilon_for_metric(dataclasses.replace(source, metrics=rest), 0.75) == pytest.approx(2)


def test_without_metrics_or_with_several_there_is_nothing_to_plan_with():
    with pytest.raises(ValueError, match="pass evaluate="):
        epsilon_for_metric(dataclasses.replace(measured({1.0: [0.7]}), metrics=None), 0.7)
    source = measured({1.0: [0.7]})
    two = pd.concat([source.metrics, source.metrics.assign(metric="RMSE")])
    with pytest.raises(ValueError, match="name one"):
        epsilon_for_metric(dataclasses.replace(source, metrics=two), 0.7)
    with pytest.raises(ValueError, match="certainty"):
        epsilon_for_metric(source, 0.7, certainty=1.0)
