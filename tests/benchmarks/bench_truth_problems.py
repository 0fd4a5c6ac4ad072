"""Problems with a known truth: records, curves behind them, and labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpexplain import Categorical, Classes, Numeric, Range, Schema

FloatArray = NDArray[np.float64]
Curve = Callable[[Any], FloatArray]
Draw = Callable[[np.random.Generator, int], dict[str, Any]]

_MOST_COUNTED = 60


@dataclass(frozen=True)
class Problem:
    """Distribution of records, and the curves behind them."""

    n: int
    draw: Draw
    curves: dict[str, Curve]
    features: dict[str, Any]
    intercept: float
    beyond: Callable[[pd.DataFrame], FloatArray] | None = None
    deviation: Callable[[pd.DataFrame], FloatArray] | None = None
    dispersion: float | None = None
    """Variance of a count beyond its rate, divided by the square of the rate."""
    more: tuple[dict[str, Curve], ...] = ()
    """Curves of the second class, the third, and so on, if there are more than two."""
    correlation: float | None = None
    """Correlation of every second feature with the one before it, if all are normal."""

    @property
    def classifies(self) -> bool:
        """Whether the target is categorical."""
        return self.deviation is None and self.dispersion is None

    @property
    def labels(self) -> list[str]:
        """Names of the classes."""
        return list("abcdefgh"[: 1 + len(self.more)]) if self.more else ["no", "yes"]

    @property
    def schema(self) -> Schema:
        """Public bounds and categories."""
        numbers = Range(0, _MOST_COUNTED) if self.deviation is None else Range(-25.0, 25.0)
        target = Classes(self.labels) if self.classifies else numbers
        return Schema(self.features, target=target)

    def scores_of_classes(self, X: pd.DataFrame) -> FloatArray:
        """Return the score of each class relative to the mean of all classes."""
        parts = [
            sum((curve(X[name].to_numpy()) for name, curve in own.items()), np.zeros(len(X)))
            for own in (self.curves, *self.more)
        ]
        parts[0] = parts[0] + self.intercept
        scores = np.stack(parts, axis=1)
        return np.asarray(scores - scores.mean(axis=1, keepdims=True))

    def score(self, X: pd.DataFrame) -> FloatArray:
        """Return the log-odds, the expected value, or the logarithm of the expected count."""
        parts = [curve(X[name].to_numpy()) for name, curve in self.curves.items()]
        beyond = 0.0 if self.beyond is None else self.beyond(X)
        return np.asarray(self.intercept + sum(parts) + beyond, dtype=np.float64)

    def sample(self, seed: int) -> tuple[pd.DataFrame, NDArray[Any]]:
        """Draw a table of records."""
        rng = np.random.default_rng(seed)
        X = pd.DataFrame(self.draw(rng, self.n))
        if self.more:
            odds = np.exp(self.scores_of_classes(X)).cumsum(axis=1)
            below = rng.random((self.n, 1)) * odds[:, -1:] > odds
            return X, np.array(self.labels)[below.sum(axis=1)]
        score = self.score(X)
        if self.dispersion is not None:
            rate = np.exp(score) * rng.gamma(1 / self.dispersion, self.dispersion, self.n)
            return X, np.minimum(rng.poisson(rate), _MOST_COUNTED)
        if self.deviation is None:
            return X, np.where(rng.random(self.n) < chance(score), "yes", "no")
        noise = self.deviation(X) * rng.standard_t(3, self.n)
        return X, np.clip(score + noise, -25.0, 25.0)


def chance(score: FloatArray) -> FloatArray:
    return np.asarray(1.0 / (1.0 + np.exp(-score)))


def nothing(x: Any) -> FloatArray:
    return np.zeros(len(x))


def _normals(n_features: int, correlation: float = 0.0, reach: float = 4.0) -> Draw:
    """Draw normal features; every second one is correlated with the one before it."""

    def draw(rng: np.random.Generator, n: int) -> dict[str, Any]:
        z = rng.standard_normal((n, n_features))
        own = np.sqrt(1.0 - correlation**2)
        z[:, 1::2] = correlation * z[:, : 2 * (n_features // 2) : 2] + own * z[:, 1::2]
        return {f"x{j}": np.clip(z[:, j], -reach, reach) for j in range(n_features)}

    return draw


def _numeric(n_features: int, low: float, high: float) -> dict[str, Any]:
    return {f"x{j}": Numeric(low, high) for j in range(n_features)}


def _correlated() -> Problem:
    curves: dict[str, Curve] = {
        "x0": lambda x: 1.2 * np.sin(1.2 * x), "x1": nothing, "x2": lambda x: 0.8 * x,
        "x3": lambda x: -0.6 * x, "x4": lambda x: 0.7 * (np.abs(x) - 0.8), "x5": lambda x: 0.5 * x,
        "x6": lambda x: 0.8 * (x > 0.3), "x7": nothing, "x8": nothing, "x9": lambda x: 0.4 * x,
    }  # fmt: skip
    draw, features = _normals(10, 0.9), _numeric(10, -4, 4)
    return Problem(10_000, draw, curves, features, -0.5, correlation=0.9)


def _heavy_tails() -> Problem:
    def draw(rng: np.random.Generator, n: int) -> dict[str, Any]:
        columns = {}
        for j in range(0, 8, 2):
            columns[f"x{j}"] = np.clip(np.exp(1.2 * rng.standard_normal(n)), 0.0, 60.0)
            columns[f"x{j + 1}"] = np.clip(rng.standard_t(2, n), -50.0, 50.0)
        return columns

    curves: dict[str, Curve] = {
        "x0": lambda x: 0.8 * np.log1p(x), "x1": np.arctan, "x2": lambda x: -1.0 * (x > 2),
        "x3": lambda x: 0.9 * np.tanh(x / 2), "x4": nothing, "x5": nothing,
        "x6": lambda x: 0.5 * np.sqrt(x), "x7": lambda x: 0.8 * np.exp(-(x**2)),
    }  # fmt: skip
    features = {f"x{j}": Numeric(-50, 50) if j % 2 else Numeric(0, 60) for j in range(8)}
    return Problem(10_000, draw, curves, features, -1.5)


def _many_categories() -> Problem:
    names = np.array([f"c{i}" for i in range(200)])
    effects = np.random.default_rng(5).normal(0.0, 0.8, 200)
    shares = 1.0 / np.arange(1, 201)
    shares /= shares.sum()
    kinds, of_kind = np.array(list("abcde")), np.array([-0.8, 0.0, 0.5, 1.0, -0.3])
    places = {name: i for i, name in enumerate(names)}

    def draw(rng: np.random.Generator, n: int) -> dict[str, Any]:
        return {
            "city": names[rng.choice(200, n, p=shares)],
            "kind": kinds[rng.choice(5, n, p=[0.5, 0.2, 0.15, 0.1, 0.05])],
            **{f"x{j}": rng.uniform(0.0, 1.0, n) for j in range(4)},
        }

    curves: dict[str, Curve] = {
        "city": lambda c: effects[[places[name] for name in c]],
        "kind": lambda c: of_kind[np.searchsorted(kinds, c.astype(str))],
        "x0": lambda x: 2.0 * (x - 0.5), "x1": lambda x: np.sin(6 * x),
        "x2": nothing, "x3": nothing,
    }  # fmt: skip
    features = {
        "city": Categorical(names.tolist()), "kind": Categorical(list("abcde")),
        **_numeric(4, 0, 1),
    }  # fmt: skip
    return Problem(15_000, draw, curves, features, -0.3)


def _rare() -> Problem:
    curves: dict[str, Curve] = {
        "x0": lambda x: 1.0 * x, "x1": lambda x: 0.8 * np.sin(1.5 * x),
        "x2": lambda x: 0.6 * (x > 1), "x3": lambda x: -0.7 * x, "x4": nothing, "x5": nothing,
        "x6": lambda x: 0.5 * np.abs(x), "x7": lambda x: 0.3 * x,
    }  # fmt: skip
    return Problem(20_000, _normals(8), curves, _numeric(8, -4, 4), -6.3)


def _interactions() -> Problem:
    curves: dict[str, Curve] = {
        "x0": lambda x: 2.0 * (x - 0.5), "x1": lambda x: 1.5 * np.sin(6 * x),
        "x2": lambda x: 1.0 * (x > 0.6), "x3": lambda x: -1.5 * x, "x4": nothing,
        "x5": lambda x: 0.6 * x, "x6": nothing, "x7": lambda x: 4.0 * (x - 0.5) ** 2,
    }  # fmt: skip

    def beyond(X: pd.DataFrame) -> FloatArray:
        product = 6.0 * (X["x0"].to_numpy() - 0.5) * (X["x3"].to_numpy() - 0.5)
        return product + 1.5 * ((X["x1"].to_numpy() > 0.5) & (X["x2"].to_numpy() > 0.6))

    def draw(rng: np.random.Generator, n: int) -> dict[str, Any]:
        return {f"x{j}": rng.uniform(0.0, 1.0, n) for j in range(8)}

    return Problem(15_000, draw, curves, _numeric(8, 0, 1), 0.0, beyond)


def _few() -> Problem:
    curves: dict[str, Curve] = {
        "x0": lambda x: 1.2 * x, "x1": lambda x: np.sin(1.5 * x), "x2": nothing,
        "x3": lambda x: -0.6 * x, "x4": nothing, "x5": lambda x: 0.8 * (x > 0),
    }  # fmt: skip
    return Problem(400, _normals(6, reach=3.0), curves, _numeric(6, -3, 3), 0.2)


def _real_table() -> Problem:
    from bench_data import found

    ((_, data),) = found(["california"], ["california"])
    table = data.X.astype(float).reset_index(drop=True)
    shapes: list[Curve] = [
        lambda t: 4 * (t - 0.5), lambda t: 1.5 * (t > 0.5), lambda t: 2 * np.sin(4 * t),
        lambda t: -2.5 * t, lambda t: 3 * (t - 0.5) * (t > 0.5), lambda t: -3.5 * t,
        lambda t: -12 * (t - 0.6) ** 2, lambda t: 3 * np.cos(3 * t),
    ]  # fmt: skip

    def of_rank(name: str, shape: Curve) -> Curve:
        values = np.sort(table[name].to_numpy())
        return lambda x: shape(np.searchsorted(values, x) / len(values))

    def draw(rng: np.random.Generator, n: int) -> dict[str, Any]:
        rows = rng.choice(len(table), n, replace=n > len(table))
        return {name: table[name].to_numpy()[rows] for name in table.columns}

    curves = {n: of_rank(n, s) for n, s in zip(table.columns, shapes, strict=True)}
    return Problem(19_000, draw, curves, dict(data.schema.features), -0.5)


def _known(table_name: str) -> Problem:
    """Draw records of a real table, with dependent features and simulated labels."""
    from bench_data import found

    ((_, data),) = found([table_name], [table_name])
    table, rng = data.X.reset_index(drop=True), np.random.default_rng(7)

    def of_category(names: list[Any]) -> Curve:
        effects = dict(zip(map(str, names), rng.normal(0.0, 0.6, len(names)), strict=True))
        return lambda x: np.array([effects.get(str(v), 0.0) for v in x])

    def of_rank(name: str, slope: float, wave: float) -> Curve:
        values = np.sort(table[name].to_numpy(dtype=np.float64))

        def curve(x: Any) -> FloatArray:
            t = np.searchsorted(values, np.asarray(x, dtype=np.float64)) / len(values)
            return np.asarray(slope * (t - 0.5) + 0.5 * np.sin(wave * t))

        return curve

    curves: dict[str, Curve] = {}
    for name, feature in data.schema.features.items():
        if isinstance(feature, Categorical):
            curves[name] = of_category(list(feature.categories))
        else:
            curves[name] = of_rank(name, *rng.normal(0.0, (1.2, 4.0)))

    def draw(rng: np.random.Generator, n: int) -> dict[str, Any]:
        rows = rng.integers(0, len(table), n)
        return {name: table[name].to_numpy()[rows] for name in table.columns}

    return Problem(len(table), draw, curves, dict(data.schema.features), -1.0)


def _curved() -> Problem:
    """Return features that depend on each other along curves, unlike normal variables."""

    def draw(rng: np.random.Generator, n: int) -> dict[str, Any]:
        x0, x1, x2, x3, x4 = rng.standard_normal((5, n))
        third = rng.integers(0, 3, n)
        columns = [
            x0, 0.9 * (x0**2 - 1.0) / np.sqrt(2.0) + 0.44 * x1,
            np.array([-2.0, 0.0, 2.0])[third] + 0.4 * x2,
            np.array([1.0, -2.0, 1.0])[third] + 0.5 * x3, x4,
        ]  # fmt: skip
        return {f"x{j}": np.clip(column, -4.0, 4.0) for j, column in enumerate(columns)}

    curves: dict[str, Curve] = {
        "x0": lambda x: 0.7 * (np.abs(x) - 0.8), "x1": lambda x: -0.6 * x,
        "x2": lambda x: 0.6 * np.abs(x), "x3": nothing, "x4": lambda x: 0.5 * x,
    }  # fmt: skip
    return Problem(10_000, draw, curves, _numeric(5, -4, 4), -0.3)


def _waves() -> Problem:
    """Return curves that rise and fall many times."""
    curves: dict[str, Curve] = {
        "x0": lambda x: 1.2 * np.sin(8 * np.pi * x), "x1": lambda x: 0.8 * np.cos(16 * np.pi * x),
        "x2": lambda x: 1.5 * (x - 0.5), "x3": nothing,
        "x4": lambda x: 0.6 * np.sign(np.sin(6 * np.pi * x)), "x5": nothing,
    }  # fmt: skip

    def draw(rng: np.random.Generator, n: int) -> dict[str, Any]:
        return {f"x{j}": rng.uniform(0.0, 1.0, n) for j in range(6)}

    return Problem(10_000, draw, curves, _numeric(6, 0, 1), -0.4)


def _steps() -> Problem:
    """Return curves with thresholds, plateaus and a single deviating range."""
    curves: dict[str, Curve] = {
        "x0": lambda x: 1.2 * (x > 0.4), "x1": lambda x: 0.8 * (x > 0.25) - 1.4 * (x > 0.7),
        "x2": lambda x: 1.5 * (x - 0.5) + 0.8 * (x > 0.5), "x3": nothing,
        "x4": lambda x: 1.0 * (np.abs(x - 0.6) < 0.05), "x5": lambda x: np.floor(4.0 * x) / 3.0,
        "x6": nothing, "x7": lambda x: 1.5 * (x - 0.5),
    }  # fmt: skip

    def draw(rng: np.random.Generator, n: int) -> dict[str, Any]:
        return {f"x{j}": rng.uniform(0.0, 1.0, n) for j in range(8)}

    return Problem(10_000, draw, curves, _numeric(8, 0, 1), -1.0)


def _number() -> Problem:
    curves: dict[str, Curve] = {
        "x0": lambda x: 3.0 * x, "x1": lambda x: 2.0 * np.sin(1.5 * x),
        "x2": lambda x: 2.0 * (x > 1), "x3": lambda x: -1.5 * x, "x4": nothing, "x5": nothing,
        "x6": lambda x: 1.0 * np.abs(x), "x7": lambda x: 0.5 * x,
    }  # fmt: skip

    def deviation(X: pd.DataFrame) -> FloatArray:
        return np.asarray(1.0 + 0.6 * np.abs(X["x0"].to_numpy()))

    return Problem(10_000, _normals(8), curves, _numeric(8, -4, 4), 0.0, deviation=deviation)


def _counts(correlation: float = 0.0, intercept: float = 0.3, dispersion: float = 0.5) -> Problem:
    curves: dict[str, Curve] = {
        "x0": lambda x: 0.6 * x, "x1": lambda x: 0.5 * np.sin(1.5 * x),
        "x2": lambda x: 0.5 * (x > 1), "x3": lambda x: -0.4 * x, "x4": nothing, "x5": nothing,
        "x6": lambda x: 0.3 * np.abs(x), "x7": lambda x: 0.2 * x,
    }  # fmt: skip
    draw = _normals(8, correlation)
    return Problem(
        10_000, draw, curves, _numeric(8, -4, 4), intercept, dispersion=dispersion,
        correlation=correlation,
    )  # fmt: skip


def _classes(correlation: float = 0.0) -> Problem:
    first: dict[str, Curve] = {
        "x0": lambda x: 1.0 * x, "x1": lambda x: 0.8 * np.sin(1.5 * x),
        "x2": lambda x: 0.8 * (x > 1), "x3": nothing, "x4": nothing, "x5": nothing,
        "x6": lambda x: 0.5 * np.abs(x), "x7": lambda x: 0.3 * x,
    }  # fmt: skip
    second: dict[str, Curve] = {"x0": lambda x: -0.5 * x, "x3": lambda x: -0.7 * x}
    third: dict[str, Curve] = {"x1": np.cos}
    draw, features = _normals(8, correlation), _numeric(8, -4, 4)
    return Problem(10_000, draw, first, features, 0.0, more=(second, third))


_MAKERS: dict[str, Callable[[], Problem]] = {
    "correlated": _correlated,
    "heavy tails": _heavy_tails,
    "200 categories": _many_categories,
    "rare class": _rare,
    "interactions": _interactions,
    "400 people": _few,
    "real table": _real_table,
    "adult": lambda: _known("adult"),
    "telco": lambda: _known("telco"),
    "curved": _curved,
    "waves": _waves,
    "steps": _steps,
    "regression": _number,
    "counts": _counts,
    "correlated counts": lambda: _counts(0.9),
    "three classes": _classes,
    "correlated classes": lambda: _classes(0.9),
}
PROBLEMS = tuple(_MAKERS)
_MAKERS |= {
    "rare counts": lambda: _counts(intercept=-3.0),
    "dispersed counts": lambda: _counts(dispersion=3.0),
}
COUNTS = tuple(name for name in _MAKERS if name.endswith("counts"))
"""Problems whose target is a count."""
OTHERS = tuple(
    f"known {table}"
    for table in (
        "survey", "wine", "california", "cardiotocography", "elevators", "pol", "insurance",
        "yeast", "banknote",
    )
)  # fmt: skip
"""Problems with the records of more tables, not used to choose the rules for warnings."""


@cache
def problem(name: str) -> Problem:
    """Make a problem, cached by its name."""
    return _known(name.removeprefix("known ")) if name in OTHERS else _MAKERS[name]()
