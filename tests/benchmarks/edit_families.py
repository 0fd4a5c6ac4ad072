"""Families of simulated clinical truths: the curves on which repairs are tried.

Each family is a risk (log-odds) as a function of one measurement. They were written
down before any repair was tried on them. In monotone families, a monotone repair is right; in the
others, it is wrong in either direction.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpexplain import Categorical, Classes, Numeric, Schema

N_PATIENTS = 10_000

SIZES = (2_000, N_PATIENTS)
"""A small hospital and a large one."""


@dataclass(frozen=True)
class Family:
    """A measurement of patients, and how the risk depends on it.

    Parameters
    ----------
    name : str
    feature : Numeric
        Public bounds, unit and step.
    draw : callable
        From a generator and a number of patients to values.
    risk : callable
        From values to log-odds.
    direction : {"increasing", "decreasing"}
        Of the truth; of the nearest monotone curve for a truth that is none.
    monotone : bool
        Whether the truth is.
    """

    name: str
    feature: Numeric
    draw: Callable[[np.random.Generator, int], np.ndarray]
    risk: Callable[[np.ndarray], np.ndarray]
    direction: str
    monotone: bool


def _bounded(values: np.ndarray, feature: Numeric) -> np.ndarray:
    rounded = values if feature.step is None else np.round(values / feature.step) * feature.step
    return np.clip(rounded, feature.low, feature.high)


def _ages(rng: np.random.Generator, n: int) -> np.ndarray:
    return _bounded(rng.normal(62.0, 17.0, n), AGE)


AGE = Numeric(18, 100, unit="years", step=1)
CREATININE = Numeric(0.2, 12, unit="mg/dl", step=0.1)
FILTRATION = Numeric(5, 140, unit="ml/min", step=1)
LACTATE = Numeric(0.3, 20, unit="mmol/l", step=0.1)
ALBUMIN = Numeric(1, 6, unit="g/dl", step=0.1)
TEMPERATURE = Numeric(33, 42, unit="degrees", step=0.1)
PRESSURE = Numeric(60, 240, unit="mmHg", step=1)
SODIUM = Numeric(110, 165, unit="mmol/l", step=1)

MONOTONE = (
    Family(
        "age, exponential rise",
        AGE,
        _ages,
        lambda x: 3.0 * np.exp((x - 100.0) / 28.0),
        "increasing",
        True,
    ),
    Family(
        "age, straight",
        AGE,
        _ages,
        lambda x: 0.035 * (x - 60.0),
        "increasing",
        True,
    ),
    Family(
        "creatinine, saturating",
        CREATININE,
        lambda rng, n: _bounded(rng.lognormal(0.15, 0.55, n), CREATININE),
        lambda x: 2.2 * np.tanh((x - 0.8) / 2.0),
        "increasing",
        True,
    ),
    Family(
        "filtration rate, falling risk",
        FILTRATION,
        lambda rng, n: _bounded(rng.normal(75.0, 26.0, n), FILTRATION),
        lambda x: 2.0 / (1.0 + np.exp((x - 45.0) / 12.0)),
        "decreasing",
        True,
    ),
    Family(
        "lactate, treated above a threshold",
        LACTATE,
        lambda rng, n: _bounded(rng.lognormal(0.5, 0.6, n), LACTATE),
        lambda x: np.where(x < 2.0, 0.0, np.where(x < 4.0, 0.8, 2.0)),
        "increasing",
        True,
    ),
    Family(
        "albumin, falling risk",
        ALBUMIN,
        lambda rng, n: _bounded(rng.normal(3.6, 0.7, n), ALBUMIN),
        lambda x: -0.9 * (x - 3.6),
        "decreasing",
        True,
    ),
)

NOT_MONOTONE = (
    Family(
        "temperature, fever and hypothermia",
        TEMPERATURE,
        lambda rng, n: _bounded(rng.normal(37.3, 1.1, n), TEMPERATURE),
        lambda x: 0.8 * np.minimum(np.abs(x - 37.0), 3.0),
        "increasing",
        False,
    ),
    Family(
        "blood pressure, low and high",
        PRESSURE,
        lambda rng, n: _bounded(rng.normal(132.0, 24.0, n), PRESSURE),
        lambda x: 1.6 * ((x - 132.0) / 40.0) ** 2,
        "increasing",
        False,
    ),
    Family(
        "sodium, low and high",
        SODIUM,
        lambda rng, n: _bounded(rng.normal(138.0, 5.5, n), SODIUM),
        lambda x: 1.5 * (1.0 - np.exp(-(((x - 139.0) / 7.0) ** 2))),
        "increasing",
        False,
    ),
    Family(
        "age, risk of the young and the old",
        AGE,
        _ages,
        lambda x: 1.4 * ((x - 62.0) / 25.0) ** 2,
        "increasing",
        False,
    ),
)

FAMILIES = MONOTONE + NOT_MONOTONE


def patients(family: Family, seed: int, n: int = N_PATIENTS) -> tuple[pd.DataFrame, pd.Series]:
    """Draw patients of a family: its measurement, four others, and whether they died.

    Parameters
    ----------
    family : Family
    seed : int
    n : int, default=10000

    Returns
    -------
    X : DataFrame of shape (n, 5)
    y : Series of shape (n,)
    """
    rng = np.random.default_rng([20210718, FAMILIES.index(family), seed])
    X = pd.DataFrame(
        {
            "measurement": family.draw(rng, n),
            "heart rate": np.clip(np.round(rng.normal(88.0, 19.0, n)), 30, 200),
            "days before admission": np.clip(np.round(rng.exponential(4.0, n)), 0, 60),
            "ward": rng.choice(["surgery", "medicine", "intensive care"], n, p=[0.4, 0.45, 0.15]),
            "bed": np.round(rng.uniform(1, 400, n)),
        }
    )
    others = (
        0.012 * (X["heart rate"] - 88.0)
        - 0.3 * np.log1p(X["days before admission"])
        + X["ward"].map({"surgery": -0.4, "medicine": 0.0, "intensive care": 1.1})
    )
    score = family.risk(X["measurement"].to_numpy()) + others.to_numpy() - 1.2
    died = rng.random(n) < 1.0 / (1.0 + np.exp(-score))
    return X, pd.Series(np.where(died, "yes", "no"), name="died")


def schema(family: Family) -> Schema:
    """Return the public schema of the patients of a family."""
    return Schema(
        {
            "measurement": family.feature,
            "heart rate": Numeric(30, 200, unit="1/min", step=1),
            "days before admission": Numeric(0, 60, unit="days", step=1),
            "ward": Categorical(["surgery", "medicine", "intensive care"]),
            "bed": Numeric(1, 400, step=1),
        },
        target=Classes(["no", "yes"], name="died"),
    )


@functools.cache
def _population(family: Family, n: int) -> tuple[np.ndarray, np.ndarray]:
    values = np.sort(family.draw(np.random.default_rng(0), n))
    return values, family.risk(values)


def truth_of_bins(family: Family, edges: np.ndarray, n: int = 200_000) -> tuple[np.ndarray, ...]:
    """Return the centered risk of each bin, and its proportion of the population.

    Parameters
    ----------
    family : Family
    edges : ndarray of shape (n_bins + 1,)
    n : int, default=200000
        People that the population is made of.

    Returns
    -------
    risk, share : ndarray of shape (n_bins,)
    """
    values, risk = _population(family, n)
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    share = np.bincount(place, minlength=len(edges) - 1)
    middle = family.risk((edges[1:] + edges[:-1]) / 2.0)
    mean = np.bincount(place, risk, minlength=len(edges) - 1) / np.maximum(share, 1)
    mean = np.where(share > 0, mean, middle)
    return mean - risk.mean(), share / n
