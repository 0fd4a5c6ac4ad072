"""Stand-in records drawn from a schema alone, to plan a fit on a private table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpexplain._utils.lazy import pd
from dpexplain._utils.names import closest_name
from dpexplain._utils.validation import check_count, check_in_range, shown
from dpexplain.exceptions import SchemaError
from dpexplain.schema._html import Described
from dpexplain.schema.features import Categorical, Classes, Date, Feature, Numeric, Range, Target
from dpexplain.tables.cells import day_text

Effect: TypeAlias = float | Mapping[str, float] | Callable[[NDArray[Any]], Any]
"""Difference between the ends of the range, effects by category, or a function of the values."""

_NOISE_SHARE: Final = 0.1  # standard deviation of a numeric target, relative to its range


def simulated(
    schema: Described,
    n: int,
    *,
    effects: Mapping[str, Effect] | None,
    seed: int | None,
    missing: float,
    positive_share: float,
    expected_count: float | None,
    rows_per_person: int,
) -> tuple[pd.DataFrame, pd.Series]:
    """Draw records from a schema alone; see :meth:`dpexplain.Schema.simulate`.

    Parameters
    ----------
    schema : Schema
        Public ranges and lists from which the values are drawn.
    n : int
        Number of rows.
    effects : mapping of str to effect, or None
        Effects of features on the target.
    seed : int or None
        Seed of the random number generator; None for different records each time.
    missing : float
        Probability that a cell is empty.
    positive_share : float
        Probability of the second of two classes if all effects are 0.
    expected_count : float or None
        Expected value of a count if all effects are 0; None if the target is not a count.
    rows_per_person : int
        Number of rows for each person, if the schema names a person column.

    Returns
    -------
    X : DataFrame of n rows
        The features and, if the schema names a person column, that column.
    y : Series of shape (n,)
        The target.
    """
    features, target, person = schema.features, schema.target, schema.person
    if target is None:
        raise SchemaError("simulate needs a schema with a target; add target=Classes(...).")
    check_count("n", n)
    check_count("rows_per_person", rows_per_person)
    check_in_range("missing", missing, 0.0, 1.0)
    check_in_range(
        "positive_share", positive_share, 0.0, 1.0, include_low=False, include_high=False
    )
    if seed is not None:
        check_count("seed", seed, 0)
    if expected_count is not None:
        _check_expected(target, expected_count)
    effects = {} if effects is None else effects
    _check_names(effects, features)
    rng = np.random.default_rng(seed)
    score, columns = np.zeros(n), {}
    for name, feature in features.items():
        values = _values(feature, n, rng)
        if name in effects:
            score += _contribution(name, feature, effects[name], values)
        hidden = rng.random(n) < missing
        columns[name] = pd.Series(_cells(feature, values, hidden), name=name)
    if person is not None:
        columns[person] = pd.Series(np.arange(n) // rows_per_person, name=person)
    if expected_count is None:
        y = _outcome(target, score, positive_share, rng)
    else:
        y = _counts(target, np.log(expected_count) + score, rng)
    return pd.DataFrame(columns), pd.Series(y, name=target.name or "target", dtype=y.dtype)


def _check_expected(target: Target, expected_count: Any) -> None:
    if not isinstance(target, Range):
        raise SchemaError("expected_count is for a count, and the schema lists classes; omit it.")
    check_in_range(
        "expected_count", expected_count, max(target.low, 0.0), target.high, include_low=False
    )


def _check_names(effects: Any, features: Mapping[str, Feature]) -> None:
    if not isinstance(effects, Mapping):
        raise TypeError(
            f"effects is a {type(effects).__name__}; expected a mapping such as {{'age': 1.0}}."
        )
    for name in effects:
        if name not in features:
            meant = closest_name(str(name), features)
            hint = f"; did you mean {meant!r}?" if meant else "."
            raise SchemaError(f"effects: {name!r} is not a feature of the schema{hint}")


def _values(feature: Feature, n: int, rng: np.random.Generator) -> NDArray[Any]:
    """Uniformly draw numbers from the public range, or indices of categories."""
    if isinstance(feature, Categorical):
        return rng.integers(len(feature.categories), size=n)
    if feature.step is None:
        return rng.uniform(feature.low, feature.high, n)
    n_steps = int((feature.high - feature.low) / feature.step * (1 + 1e-12))
    steps = rng.integers(n_steps + 1, size=n)
    return np.asarray(np.minimum(feature.low + feature.step * steps, feature.high))


def _contribution(
    name: str, feature: Feature, effect: Effect, values: NDArray[Any]
) -> NDArray[np.float64]:
    """Return the amount that a feature adds to the score of each row."""
    by_name = isinstance(feature, Categorical)
    names = feature.categories if isinstance(feature, Categorical) else ()
    if isinstance(effect, Mapping):
        if unknown := [key for key in effect if key not in names]:
            raise SchemaError(
                f"effects[{name!r}]: {unknown[0]!r} is not a category; "
                f"give a number or a function for numbers, and one of {list(names)[:8]} here."
            )
        found = np.array([effect.get(category, 0.0) for category in names])[values]
    elif callable(effect):
        given = np.array(names, dtype=object)[values] if by_name else values
        found = np.asarray(effect(given))
    elif isinstance(effect, bool) or not isinstance(effect, Real):
        raise SchemaError(
            f"effects[{name!r}]={shown(effect)} must be a number, a mapping of categories to "
            "numbers, or a function."
        )
    elif isinstance(feature, Numeric):
        found = float(effect) * ((values - feature.low) / (feature.high - feature.low) - 0.5)
    else:
        found = float(effect) * np.linspace(-0.5, 0.5, max(len(names), 2))[values]
    if found.shape != values.shape or not np.all(np.isfinite(found.astype(np.float64))):
        raise SchemaError(f"effects[{name!r}] must give one finite number per value.")
    return np.asarray(found, dtype=np.float64)


def _cells(feature: Feature, values: NDArray[Any], hidden: NDArray[np.bool_]) -> NDArray[Any]:
    if isinstance(feature, Numeric) and not isinstance(feature, Date):
        return np.where(hidden, np.nan, values)
    if isinstance(feature, Date):
        cells = np.array([day_text(day) for day in values], dtype=object)
    else:
        cells = np.array(feature.categories, dtype=object)[values]
    cells[hidden] = None
    return cells


def _outcome(
    target: Target, score: NDArray[np.float64], positive_share: float, rng: np.random.Generator
) -> NDArray[Any]:
    """Draw the target of each row at random, given its score."""
    if isinstance(target, Range):
        spread = _NOISE_SHARE * (target.high - target.low)
        noisy = target.midpoint + score + spread * rng.standard_normal(len(score))
        return np.clip(noisy, target.low, target.high)
    chances = class_chances(target, score, positive_share)
    place = (rng.random(len(score))[:, None] > np.cumsum(chances, axis=1)[:, :-1]).sum(axis=1)
    labels = np.empty(len(target.labels), dtype=object)
    labels[:] = target.labels
    return np.asarray(labels[place])


def _counts(
    target: Target, log_expected: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw Poisson counts, clipped to the range of the target."""
    assert isinstance(target, Range)
    most = min(2.0 * target.high + 100.0, 1e15)  # counts above the range are clipped anyway
    drawn = rng.poisson(np.exp(np.minimum(log_expected, np.log(most))))
    return np.clip(drawn, target.low, target.high).astype(np.float64)


def class_chances(
    target: Classes, score: NDArray[np.float64], positive_share: float
) -> NDArray[np.float64]:
    """Return class probabilities; higher scores favor later classes.

    Parameters
    ----------
    target : Classes
        Classes of the target.
    score : ndarray of shape (n,)
        Score of each row. At score 0, three or more classes are equally likely; if there are two
        classes, the second has the probability `positive_share`.
    positive_share : float
        Probability of the second of two classes at score 0; must be 0.5 for three or more classes.

    Returns
    -------
    ndarray of shape (n, n_classes)
        Probability of each class for each row.
    """
    k = len(target.labels)
    if k == 2:
        score = score + np.log(positive_share) - np.log1p(-positive_share)
    elif positive_share != 0.5:
        raise SchemaError(f"positive_share is for two classes, and the schema has {k}; omit it.")
    logits = score[:, None] * np.linspace(0.0, 1.0, k)
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
