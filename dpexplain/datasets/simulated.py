"""Simulated tables with known shape functions, for testing explanations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from dpexplain.datasets._dataset import Dataset
from dpexplain.datasets.simulated_problems import PROBLEMS, PairShape, Problem, Shape
from dpexplain.schema import Classes, Numeric, Range, Schema

_TARGET_SPREAD: Final = 5.0
"""The public range of a simulated target ends this many noise standard deviations beyond the most
extreme score that the shapes allow."""


@dataclass(frozen=True, eq=False, repr=False)
class AdditiveTruth:
    """Additive model from which records were drawn.

    Parameters
    ----------
    shapes : mapping of str to callable
        For each feature, a function that maps its values, shape (n,), to its contributions to the
        score, shape (n,). The function is zero for a feature that has no effect.
    pairs : mapping of (str, str) to callable
        For each interaction, a function of two columns. If the two features are independent, the
        mean of the function over either feature is zero.
    intercept : float
        Score if all contributions are zero.
    link : {"logit", "identity"}
        Meaning of the score: log-odds of the second class, or the mean of the target.
    residual_std : float
        Standard deviation of the target around the score; 0 for the logit link.

    Examples
    --------
    >>> from dpexplain.datasets import make_additive
    >>> truth = make_additive("smooth", n_samples=100, random_state=0).truth
    >>> round(float(truth.shapes["x2"]([0.0, 1.0])[1]), 3)
    0.667
    """

    shapes: Mapping[str, Shape]
    pairs: Mapping[tuple[str, str], PairShape]
    intercept: float
    link: Literal["logit", "identity"]
    residual_std: float

    @property
    def features_without_effect(self) -> tuple[str, ...]:
        """Features with a zero shape and no interactions."""
        in_pairs = {n for names, pair in self.pairs.items() if pair.reach for n in names}
        return tuple(n for n, s in self.shapes.items() if s.is_zero and n not in in_pairs)

    def contributions(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the contribution of each feature to the score of each row.

        Parameters
        ----------
        X : DataFrame of shape (n_samples, n_features)

        Returns
        -------
        DataFrame of shape (n_samples, n_features)
            Contributions on the link scale, not centered. Interactions are not included.
        """
        return pd.DataFrame({n: s(X[n].to_numpy()) for n, s in self.shapes.items()}, index=X.index)

    def score(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Return the score of each row: log-odds of the second class, or the mean target.

        Parameters
        ----------
        X : DataFrame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        score = self.intercept + self.contributions(X).to_numpy().sum(axis=1)
        for (a, b), shape in self.pairs.items():
            score += shape(X[a].to_numpy(), X[b].to_numpy())
        return np.asarray(score, dtype=np.float64)

    def __repr__(self) -> str:
        return (
            f"AdditiveTruth({len(self.shapes)} features, {len(self.pairs)} interactions, "
            f"{self.link}; without effect: {', '.join(self.features_without_effect) or 'none'})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class SimulatedDataset(Dataset):
    """Simulated table, and the model from which it was drawn.

    Parameters
    ----------
    X : DataFrame of shape (n_samples, n_features)
        The features.
    y : Series of shape (n_samples,)
        The target.
    schema : Schema
        Bounds, categories and units.
    name : str
        Name of the problem.
    source : str
        Statement that the data are simulated.
    licence : str
        Terms of use.
    description : str
        Meaning of a row.
    citation : str
        Reference to cite.
    truth : AdditiveTruth
        Model from which the target was drawn.

    Examples
    --------
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> stays.X.shape, len(stays.truth.shapes) == stays.X.shape[1]
    ((500, 12), True)
    """

    truth: AdditiveTruth = field(kw_only=True)


def make_additive(
    problem: Literal["smooth", "steps", "sparse", "interactions", "correlated", "clinical"] = (
        "smooth"
    ),
    n_samples: int = 10_000,
    *,
    task: Literal["classification", "regression"] = "classification",
    strength: float = 1.0,
    residual_std: float = 1.0,
    random_state: int | None = None,
) -> SimulatedDataset:
    """Draw a table from a known additive model.

    Parameters
    ----------
    problem : str, default="smooth"
        "smooth": curves without jumps. "steps": thresholds, plateaus and categories. "sparse":
        smooth curves of features that have few records in most of their range. "interactions":
        smooth curves and three products of features. "correlated": smooth curves of features with
        correlation 0.7; some of these features have no effect of their own. "clinical": hospital
        readmission, with skewed laboratory values, missing values and uninformative features.
    n_samples : int, default=10_000
        Number of rows.
    task : {"classification", "regression"}, default="classification"
        Whether the score is the log-odds of the second class, or the mean of the target.
    strength : float, default=1.0
        Factor by which all shapes are multiplied; if it is 0, the target is independent of all
        features.
    residual_std : float, default=1.0
        Standard deviation of the target around its mean, for regression.
    random_state : int or None, default=None
        Seed of the records.

    Returns
    -------
    SimulatedDataset
        The table, its schema and, as ``truth``, the model from which it was drawn.

    Raises
    ------
    ValueError
        If the value of a parameter is not allowed.

    Examples
    --------
    >>> data = make_additive("clinical", n_samples=500, random_state=1)
    >>> data
    Dataset('clinical', 500 rows, 12 features, target 'outcome')
    >>> data.truth.features_without_effect
    ('admission_weekday', 'bed')
    """
    chosen = _checked_problem(problem, n_samples, task, strength, residual_std)
    rng = np.random.default_rng(random_state)
    X = _columns(chosen, n_samples, rng)
    truth = _truth(chosen, task, strength, residual_std)
    score = truth.score(X)
    X = _with_missing(chosen, X, rng)
    if task == "classification":
        positive = rng.random(n_samples) < 1.0 / (1.0 + np.exp(-score))
        y = pd.Series(np.where(positive, "yes", "no"), name="outcome", dtype=object)
    else:
        y = pd.Series(score + residual_std * rng.standard_normal(n_samples), name="outcome")
    return SimulatedDataset(
        X,
        y,
        schema=_schema(chosen, task, strength, residual_std),
        name=problem,
        source="simulated by dpexplain.datasets.make_additive",
        licence="public domain",
        description=chosen.description,
        citation="none needed",
        truth=truth,
    )


def _checked_problem(
    problem: str, n_samples: int, task: str, strength: float, residual_std: float
) -> Problem:
    if problem not in PROBLEMS:
        raise ValueError(f"problem={problem!r} must be one of {', '.join(map(repr, PROBLEMS))}.")
    if isinstance(n_samples, bool) or not isinstance(n_samples, int) or n_samples < 1:
        raise ValueError(f"n_samples={n_samples!r} must be a positive integer.")
    if task not in ("classification", "regression"):
        raise ValueError(f"task={task!r} must be 'classification' or 'regression'.")
    if not np.isfinite(strength):
        raise ValueError(
            f"strength={strength!r} must be a finite number; 0 switches all shapes off."
        )
    if not 0 < residual_std < np.inf:
        raise ValueError(f"residual_std={residual_std!r} must be positive and finite.")
    return PROBLEMS[problem]


def _columns(problem: Problem, n_samples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw features from a Gaussian copula."""
    from scipy.special import ndtr

    names = list(problem.columns)
    normal = rng.standard_normal((n_samples, len(names)))
    normal = normal @ np.linalg.cholesky(problem.correlation_matrix()).T
    shares = ndtr(normal)
    return pd.DataFrame({n: problem.columns[n].draw(shares[:, i]) for i, n in enumerate(names)})


def _with_missing(problem: Problem, X: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Set random values to missing; the target depends on the original values."""
    for name, column in problem.columns.items():
        if column.missing_share:
            X[name] = X[name].mask(rng.random(len(X)) < column.missing_share)
    return X


def _truth(problem: Problem, task: str, strength: float, residual_std: float) -> AdditiveTruth:
    shapes = {n: c.shape.scaled(strength) for n, c in problem.columns.items()}
    pairs = {names: shape.scaled(strength) for names, shape in problem.pairs.items()}
    regression = task == "regression"
    return AdditiveTruth(
        MappingProxyType(shapes),
        MappingProxyType(pairs),
        problem.intercept,
        "identity" if regression else "logit",
        residual_std if regression else 0.0,
    )


def _schema(problem: Problem, task: str, strength: float, residual_std: float) -> Schema:
    features = {n: c.feature for n, c in problem.columns.items()}
    if task == "classification":
        return Schema(features, target=Classes(["no", "yes"], name="outcome"))
    parts = [_extremes(c.shape, c.feature) for c in problem.columns.values()]
    low, high = (sum(part[i] for part in parts) for i in (0, 1))
    reach = sum(pair.reach for pair in problem.pairs.values())
    ends = sorted((strength * (low - reach), strength * (high + reach)))
    spread = _TARGET_SPREAD * residual_std
    low = float(np.floor(problem.intercept + ends[0] - spread))
    high = float(np.ceil(problem.intercept + ends[1] + spread))
    return Schema(features, target=Range(low, high, name="outcome"))


def _extremes(shape: Shape, feature: Any) -> tuple[float, float]:
    if isinstance(feature, Numeric):
        values: ArrayLike = np.linspace(feature.low, feature.high, 1001)
    else:
        values = np.array(feature.categories, dtype=object)
    found = shape(values)
    return float(found.min()), float(found.max())
