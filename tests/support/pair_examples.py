"""Explanations with pairs: of an InterpretML model, and of private models."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd

import view_examples
from dpexplain.compare import Comparison
from dpexplain.explain import GlobalExplanation, Guarantee, PairAxis, PairCurve, ShapeFunction

OPEN = Guarantee.not_private("fitted elsewhere")
PEOPLE = pd.DataFrame({"age": [25, 70, None], "job": ["nurse", "clerk", "baker"], "town": "B"})


def paired():
    """Make curves of age and job, their pair, and a pair with a feature without a curve."""
    special = ("other", "missing")
    age = ShapeFunction(
        "age", "numeric", [0.1, 0.2, 0.0], [5, 4, 1], guarantee=OPEN, bin_edges=[20, 40, 80],
        special=("missing",),
    )  # fmt: skip
    job = ShapeFunction(
        "job", "categorical", [0.3, -0.3, 0.0, 0.0], [6, 2, 1, 1], guarantee=OPEN,
        categories=("nurse", "clerk"), special=special,
    )  # fmt: skip
    of_age = PairAxis("age", "numeric", bin_edges=[20, 50, 80], special=("missing",), unit="years")
    of_job = PairAxis("job", "categorical", categories=("nurse", "clerk"), special=special)
    of_town = PairAxis("town", "categorical", categories=("A", "B"), special=special)
    cells = np.arange(12.0).reshape(3, 4) - 5
    pairs = (
        PairCurve("age & job", (of_age, of_job), cells, np.ones((3, 4)), guarantee=OPEN),
        PairCurve("age & town", (of_age, of_town), cells / 10, np.ones((3, 4)), guarantee=OPEN),
    )
    return GlobalExplanation(
        (age, job), 0.5, "logit", guarantee=OPEN, classes=("no", "yes"), pairs=pairs
    )


def private_pair(first: str, epsilon: float, n_bins: int) -> PairCurve:
    """Make a pair of a number and "children", with grid and noise depending on epsilon."""
    low, high = {"age": (17, 90), "education": (9, 20)}[first]
    axes = (
        PairAxis(
            first, "numeric", bin_edges=np.linspace(low, high, n_bins + 1), unit="years", step=1.0,
            special=("missing",),
        ),
        PairAxis(
            "children", "categorical", categories=("no", "yes"), special=("other", "missing")
        ),
    )  # fmt: skip
    rows, columns = np.linspace(-1, 1, n_bins + 1)[:, None], np.array([1.0, -1.0, 0.1, 0.0])
    count = np.outer(np.linspace(50, 10, n_bins + 1), [8.0, 5.0, 0.0, 0.2])
    return PairCurve(
        f"{first} & children", axes, 0.8 * rows * columns, count,
        guarantee=view_examples.guarantee(epsilon),
        noise_std=2.0 / epsilon / np.sqrt(count + 4.0),
        sampling_std=0.5 / np.sqrt(count + 4.0),
    )  # fmt: skip


def swept(**options) -> Comparison:
    """Make private models with no, one and two pairs, on different grids."""
    found = view_examples.comparison(epsilons=(0.5, 1.0, 4.0), joint=True, **options)
    pairs = {
        1.0: (private_pair("age", 1.0, 3),),
        4.0: (private_pair("education", 4.0, 2), private_pair("age", 4.0, 5)),
    }
    fits = {
        epsilon: tuple(dataclasses.replace(fit, pairs=pairs.get(epsilon, ())) for fit in repeats)
        for epsilon, repeats in found.explanations.items()
    }
    return dataclasses.replace(found, explanations=fits)
