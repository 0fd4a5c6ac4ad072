"""Problems for `make_additive`: columns, shapes and correlations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpexplain.schema import Categorical, Numeric

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Shape:
    """A known function of one feature.

    Parameters
    ----------
    of : callable, mapping of str to float or None
        Function that maps an array of values to their contributions to the score; for a
        categorical feature, the contribution of each category; None if the feature has no effect.
        Missing values contribute 0.
    factor : float, default=1.0
        Factor by which the contributions are multiplied.
    """

    of: Callable[[FloatArray], FloatArray] | Mapping[str, float] | None
    factor: float = 1.0

    @property
    def is_zero(self) -> bool:
        """Whether the feature has no effect."""
        return self.of is None or self.factor == 0.0

    def scaled(self, factor: float) -> Shape:
        """Return this shape, multiplied by `factor`."""
        return replace(self, factor=self.factor * factor)

    def __call__(self, values: ArrayLike) -> FloatArray:
        """Return the contribution of each value to the score, shape (n,)."""
        cells = np.asarray(values)
        if self.of is None:
            return np.zeros(len(cells))
        if isinstance(self.of, Mapping):
            return self.factor * np.array([self.of.get(cell, 0.0) for cell in cells])
        numbers = cells.astype(np.float64)
        return self.factor * np.where(np.isnan(numbers), 0.0, self.of(numbers))


@dataclass(frozen=True)
class PairShape:
    """Known interaction: the product of two numeric features, each minus 0.5.

    Parameters
    ----------
    size : float
        Factor by which the product is multiplied.
    """

    size: float

    @property
    def reach(self) -> float:
        """Largest absolute contribution, if both features are between 0 and 1."""
        return abs(self.size) / 4.0

    def scaled(self, factor: float) -> PairShape:
        """Return this shape, multiplied by `factor`."""
        return PairShape(self.size * factor)

    def __call__(self, first: ArrayLike, second: ArrayLike) -> FloatArray:
        """Return the contribution of each pair of values, shape (n,)."""
        a, b = (np.asarray(v, dtype=np.float64) for v in (first, second))
        return self.size * (a - 0.5) * (b - 0.5)


@dataclass(frozen=True)
class Column:
    """One feature of a problem.

    Parameters
    ----------
    feature : Numeric or Categorical
        Schema of the feature.
    draw : callable
        Quantile function, which maps probabilities in (0, 1) to values.
    shape : Shape
        Contribution of the feature to the score.
    missing_share : float, default=0.0
        Probability that a value is set to missing.
    """

    feature: Numeric | Categorical
    draw: Callable[[FloatArray], Any]
    shape: Shape
    missing_share: float = 0.0


@dataclass(frozen=True)
class Problem:
    """Columns, interactions and correlations of one simulated table.

    Parameters
    ----------
    columns : mapping of str to Column
        Features, keyed by column name.
    description : str
        Meaning of a row.
    intercept : float, default=0.0
        Score if all contributions are 0.
    pairs : mapping of (str, str) to PairShape
        Interactions, keyed by pair of column names.
    correlation : mapping of (str, str) to float
        Correlation between the latent normal variables of two features; 0 if not given.
    """

    columns: Mapping[str, Column]
    description: str
    intercept: float = 0.0
    pairs: Mapping[tuple[str, str], PairShape] = field(default_factory=dict)
    correlation: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def correlation_matrix(self) -> FloatArray:
        """Return the correlation matrix of the latent normal variables."""
        names = list(self.columns)
        matrix = np.eye(len(names))
        for (a, b), value in self.correlation.items():
            i, j = names.index(a), names.index(b)
            matrix[i, j] = matrix[j, i] = value
        return matrix


_NOTHING: Final = Shape(None)
_UNIT: Final = Numeric(0.0, 1.0)


def _uniform(shape: Shape) -> Column:
    return Column(_UNIT, lambda share: share, shape)


def _skewed(shape: Shape) -> Column:
    """Return a skewed column: 90% of values are in the lowest quarter of the range."""
    return Column(_UNIT, lambda share: np.minimum(-np.log1p(-share) / 9.0, 1.0), shape)


def _choice(shares: Mapping[str, float], shape: Shape, *, ordered: bool = False) -> Column:
    names = np.array(list(shares), dtype=object)
    ends = np.cumsum(list(shares.values()))[:-1]
    return Column(
        Categorical(list(shares), ordered=ordered),
        lambda share: names[np.searchsorted(ends, share)],
        shape,
    )


_SMOOTH: Final = (
    Shape(lambda x: np.sin(2 * np.pi * x)),
    Shape(lambda x: 2.0 * (x**2 - 1 / 3) / 2.0),
    Shape(lambda x: 1.2 * (x - 0.5)),
    Shape(lambda x: 1.5 * np.exp(-((x - 0.3) ** 2) / 0.02) - 0.37),
    Shape(lambda x: 0.4 * np.cos(3 * np.pi * x)),
    Shape(lambda x: np.log(x + 0.05) / 3 + 0.27),
    Shape(lambda x: 0.3 * (x - 0.5)),
)
_LETTERS: Final = dict.fromkeys("abcdef", 1 / 6)


def _smooth_columns(column: Callable[[Shape], Column] = _uniform) -> dict[str, Column]:
    shapes = (*_SMOOTH, _NOTHING, _NOTHING)
    columns = {f"x{i}": column(shape) for i, shape in enumerate(shapes, start=1)}
    return {**columns, "letter": _choice(_LETTERS, _NOTHING)}


def _levels(*levels: float) -> Shape:
    values = np.array(levels)
    return Shape(lambda x: values[np.minimum((x * len(values)).astype(np.intp), len(values) - 1)])


def _step_columns() -> dict[str, Column]:
    colours = {"red": 0.4, "green": 0.3, "blue": 0.2, "black": 0.1}
    effects = {"red": 0.3, "green": -0.2, "blue": -0.6, "black": 0.8}
    grades = {"poor": 0.2, "fair": 0.3, "good": 0.4, "best": 0.1}
    return {
        "x1": _uniform(_levels(-0.7, 0.7)),
        "x2": _uniform(_levels(0.0, 0.0, 0.0, 0.0, 1.2)),
        "x3": _uniform(_levels(-0.8, -0.3, 0.1, 0.4, 0.6)),
        "x4": _uniform(_levels(0.5, -0.5, 0.5, -0.5)),
        "x5": _uniform(_levels(0.15, -0.15)),
        "x6": _uniform(_NOTHING),
        "x7": _uniform(_NOTHING),
        "colour": _choice(colours, Shape(effects)),
        "grade": _choice(
            grades, Shape({"poor": -0.5, "fair": 0.0, "good": 0.2, "best": 0.4}), ordered=True
        ),
        "letter": _choice(_LETTERS, _NOTHING),
    }


def _correlations() -> dict[tuple[str, str], float]:
    blocks = (("x1", "x2", "x8"), ("x3", "x4", "x9"), ("x5", "x6"))
    return {(a, b): 0.7 for block in blocks for i, a in enumerate(block) for b in block[i + 1 :]}


def _rounded(values: FloatArray, step: float, low: float, high: float) -> FloatArray:
    return np.clip(np.round(values / step) * step, low, high)


def _normal(mean: float, std: float) -> Callable[[FloatArray], FloatArray]:
    def quantile(share: FloatArray) -> FloatArray:
        from scipy.special import ndtri

        return np.asarray(mean + std * ndtri(share), dtype=np.float64)

    return quantile


def _measured(
    feature: Numeric, quantile: Callable[[FloatArray], FloatArray], shape: Shape, hidden: float = 0
) -> Column:
    step = feature.step or 1.0

    def draw(share: FloatArray) -> FloatArray:
        return _rounded(quantile(share), step, feature.low, feature.high)

    return Column(feature, draw, shape, hidden)


def _log_normal(middle: float, spread: float) -> Callable[[FloatArray], FloatArray]:
    normal = _normal(np.log(middle), spread)
    return lambda share: np.exp(normal(share))


def _clinical_columns() -> dict[str, Column]:
    wards = {
        "medicine": 0.4,
        "surgery": 0.25,
        "cardiology": 0.2,
        "oncology": 0.1,
        "other ward": 0.05,
    }
    by_ward = {"surgery": -0.4, "cardiology": 0.3, "oncology": 0.7}
    days = dict.fromkeys(("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"), 1 / 7)
    n = Numeric
    return {
        "age": _measured(
            n(18, 95, unit="years", step=1),
            _normal(62, 16),
            Shape(lambda x: 0.9 / (1 + np.exp(-(x - 68) / 6)) - 0.3),
        ),
        "systolic_pressure": _measured(
            n(70, 220, unit="mmHg", step=1),
            _normal(132, 20),
            Shape(lambda x: np.minimum(((x - 130) / 45) ** 2, 1.5) * 0.8 - 0.15),
        ),
        "heart_rate": _measured(
            n(40, 180, unit="1/min", step=1),
            _normal(82, 15),
            Shape(lambda x: np.clip((x - 90) / 40, 0.0, 1.0)),
        ),
        "creatinine": _measured(
            n(0.2, 12, unit="mg/dl", step=0.1),
            _log_normal(1.0, 0.45),
            Shape(lambda x: 0.7 * np.log(np.maximum(x, 0.2))),
            0.05,
        ),
        "haemoglobin": _measured(
            n(5, 18, unit="g/dl", step=0.1),
            _normal(12.8, 1.8),
            Shape(lambda x: np.where(x < 10, 0.6, np.where(x < 12, 0.2, -0.1))),
            0.03,
        ),
        "days_in_hospital": _measured(
            n(1, 60, unit="days", step=1),
            _log_normal(4.0, 0.8),
            Shape(lambda x: 0.35 * np.log(x) - 0.45),
        ),
        "earlier_admissions": _measured(
            n(0, 20, unit="admissions", step=1),
            lambda share: np.floor(-1.3 * np.log1p(-share)),
            Shape(lambda x: 0.9 * np.sqrt(np.clip(x, 0, 6)) - 0.7),
        ),
        "ward": _choice(wards, Shape(by_ward)),
        "diabetes": _choice({"no": 0.78, "yes": 0.22}, Shape({"yes": 0.35})),
        "sex": _choice({"female": 0.52, "male": 0.48}, Shape({"male": 0.1})),
        "admission_weekday": _choice(days, _NOTHING),
        "bed": _measured(n(1, 400, step=1), lambda share: np.ceil(400 * share), _NOTHING),
    }


_CLINICAL_CORRELATION: Final = {
    ("age", "systolic_pressure"): 0.35,
    ("age", "creatinine"): 0.4,
    ("age", "earlier_admissions"): 0.3,
    ("systolic_pressure", "creatinine"): 0.2,
    ("creatinine", "haemoglobin"): -0.35,
    ("days_in_hospital", "earlier_admissions"): 0.25,
}

PROBLEMS: Final[Mapping[str, Problem]] = {
    "smooth": Problem(_smooth_columns(), "One row is a draw of ten independent features."),
    "steps": Problem(_step_columns(), "One row is a draw of ten independent features."),
    "sparse": Problem(
        _smooth_columns(_skewed), "One row is a draw of ten features with long, thin tails."
    ),
    "interactions": Problem(
        _smooth_columns(),
        "One row is a draw of ten independent features, with interactions in three pairs.",
        pairs={
            ("x3", "x7"): PairShape(4.0),
            ("x5", "x9"): PairShape(3.0),
            ("x2", "x4"): PairShape(4.0),
        },
    ),
    "correlated": Problem(
        _smooth_columns(),
        "One row is a draw of ten features, some of which are correlated.",
        correlation=_correlations(),
    ),
    "clinical": Problem(
        _clinical_columns(),
        "One row is a stay in a simulated hospital; the outcome is readmission within 30 days.",
        intercept=-1.2,
        correlation=_CLINICAL_CORRELATION,
    ),
}
