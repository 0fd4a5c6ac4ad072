"""Weight map: a filter, a class mean or a contrast."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dpexplain._utils.lazy import pd
from dpexplain.explain import _html
from dpexplain.explain._record import FloatArray, Record, bounded, distinct, finite, text, texts
from dpexplain.explain._text import short_number, signed_number
from dpexplain.explain.display import ModelDisplay
from dpexplain.explain.guarantee import Guarantee
from dpexplain.explain.noise_model import normal_certainty

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAND = 2.0
"""Half-width of the noise band of a weight, in standard deviations."""

LARGEST_WEIGHT = 1e100
"""Largest absolute value of a weight or of its standard deviation; squares stay finite."""

_HTML_ROWS = 10


def share_outside(weights: FloatArray, std: FloatArray | None) -> float | None:
    """Return the proportion of weights outside the noise band.

    The proportion expected from noise alone is 4.6%. The result is None if `std` is None.
    """
    if std is None:
        return None
    return float(np.mean(np.abs(weights) > BAND * std))


def ratio_to_noise(weights: FloatArray, std: FloatArray | None) -> float | None:
    """Return the ratio of the RMS weight to the RMS noise; None if `std` is None.

    With noise alone, this ratio is about 1.
    """
    if std is None:
        return None
    noise = float(np.sqrt(np.mean(std**2)))
    signal = float(np.sqrt(np.mean(weights**2)))
    if noise > 0:
        return signal / noise
    return math.inf if signal > 0 else 0.0


def checked_grid(grid_shape: tuple[int, ...] | None, n_inputs: int) -> tuple[int, ...] | None:
    """Check that a grid has one cell for each input, and return its shape as integers."""
    if grid_shape is None:
        return None
    shape = tuple(grid_shape)
    whole = all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in shape)
    if not shape or not whole or not all(n > 0 for n in shape) or math.prod(shape) != n_inputs:
        raise ValueError(
            f"grid_shape={shape!r} must be positive integers whose product is {n_inputs}, the "
            "number of inputs."
        )
    return tuple(int(n) for n in shape)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class WeightMap(Record, ModelDisplay):
    """Weights of a linear map over the inputs, with their privacy noise.

    Parameters
    ----------
    title : str
        Title, such as ``"mean filter of 3"``.
    weights : array-like of shape (n_inputs,)
        Weight of each input, in `unit`.
    input_names : sequence of str
        Names of the inputs.
    guarantee : Guarantee
        Privacy guarantee of the weights.
    bias : float, default=0.0
        Score when all inputs are zero.
    grid_shape : tuple of int or None, default=None
        Shape of the grid of inputs (images, signals); None for a table.
    noise_std : array-like of shape (n_inputs,) or None, default=None
        Standard deviation of each weight due to privacy noise.
    bias_std : float or None, default=None
        Standard deviation of the bias.
    unit : str, default="log-odds per unit of input"
        Unit of the weights.

    Raises
    ------
    ValueError
        If shapes are inconsistent or a number is not finite.

    Examples
    --------
    >>> from dpexplain.explain import Guarantee, WeightMap
    >>> weights = WeightMap(
    ...     "mean filter of yes", [0.8, -0.1], input_names=("age", "income"),
    ...     guarantee=Guarantee(1.0, 1e-6, "add_remove", True), noise_std=[0.1, 0.1],
    ... )
    >>> weights.input_names[weights.weights.argmax()]
    'age'
    """

    title: str
    weights: FloatArray
    _: dataclasses.KW_ONLY
    input_names: tuple[str, ...]
    guarantee: Guarantee
    bias: float = 0.0
    grid_shape: tuple[int, ...] | None = None
    noise_std: FloatArray | None = None
    bias_std: float | None = None
    unit: str = "log-odds per unit of input"

    def __post_init__(self) -> None:
        """Check that the fields are consistent and freeze the arrays."""
        text("title", self.title)
        text("unit", self.unit)
        if not isinstance(self.guarantee, Guarantee):
            raise ValueError("guarantee must be a Guarantee.")
        names = distinct("input_names", texts("input_names", self.input_names))
        self._set("input_names", names)
        self._set("weights", bounded("weights", self.weights, (len(names),), LARGEST_WEIGHT))
        self._set("bias", finite("bias", self.bias))
        self._set("grid_shape", checked_grid(self.grid_shape, len(names)))
        if self.noise_std is not None:
            std = bounded("noise_std", self.noise_std, (len(names),), LARGEST_WEIGHT)
            self._set("noise_std", std)
            if (self.noise_std < 0).any():
                raise ValueError("noise_std must not be negative.")
        if self.bias_std is not None:
            self._set("bias_std", finite("bias_std", self.bias_std))
            if self.bias_std < 0:
                raise ValueError("bias_std must not be negative.")

    @property
    def above_noise(self) -> npt.NDArray[np.bool_] | None:
        """Whether each weight is outside the noise band; None if the noise is unknown."""
        if self.noise_std is None:
            return None
        return np.asarray(np.abs(self.weights) > BAND * self.noise_std)

    @property
    def share_above_noise(self) -> float | None:
        """Proportion of weights outside the noise band; None if the noise is unknown.

        The proportion expected from noise alone is 0.046.
        """
        return share_outside(self.weights, self.noise_std)

    @property
    def signal_to_noise(self) -> float | None:
        """Ratio of the RMS weight to the RMS noise; None if the noise is unknown.

        With noise alone, this ratio is about 1.
        """
        return ratio_to_noise(self.weights, self.noise_std)

    @property
    def sign_certainty(self) -> FloatArray | None:
        """Probability (0.5 to 1) that each sign is correct; None if the noise is unknown."""
        return sign_certainty(self.weights, self.noise_std)

    def frame(self) -> pd.DataFrame:
        """Return a table with one row per input.

        Returns
        -------
        DataFrame
            Columns input, weight, noise_std and sign_certainty; the last two are NaN if unknown.
        """
        unknown = np.full(len(self.input_names), np.nan)
        std, certainty = self.noise_std, self.sign_certainty
        return pd.DataFrame(
            {
                "input": list(self.input_names),
                "weight": self.weights,
                "noise_std": unknown if std is None else std,
                "sign_certainty": unknown if certainty is None else certainty,
            }
        )

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the weights; see :func:`dpexplain.plotting.plot_weights`.

        Parameters
        ----------
        ax : Axes or None, default=None
            Axes to draw into; None creates a figure.
        **options
            Passed on to the plotting function.

        Returns
        -------
        Axes
            The axes with the plot.
        """
        from dpexplain.plotting import plot_weights

        return plot_weights(self, ax=ax, **options)

    def __repr__(self) -> str:
        """Return a one-line summary that suggests what to call next."""
        return (
            f"WeightMap({self.title}, {len(self.input_names)} inputs; {self.guarantee.short}; "
            "see .frame(), .plot())"
        )

    def _repr_html_(self) -> str:
        largest = float(np.abs(self.weights).max(initial=0.0)) or 1.0
        order = np.argsort(-np.abs(self.weights), kind="stable")[:_HTML_ROWS]
        rows = [
            (
                _html.escaped(self.input_names[place]),
                signed_number(self.weights[place]),
                "" if self.noise_std is None else short_number(self.noise_std[place], 2),
                _html.bar(abs(self.weights[place]) / largest, negative=self.weights[place] < 0),
            )
            for place in order
        ]
        head = ("input", "weight", "privacy noise, sd", "")
        return _html.box(
            _html.heading(self.title),
            "" if self.guarantee.private else _html.warning(self.guarantee.short),
            _html.table(head, rows, (False, True, True, False)),
            _html.note(f"{len(self.input_names)} inputs; .frame() and .plot() show all"),
        )


def sign_certainty(values: FloatArray, std: FloatArray | None) -> FloatArray | None:
    """Return the probability that each sign is correct; None if `std` is None.

    Parameters
    ----------
    values, std : ndarray of equal shape
        Estimates and their standard deviations.

    Returns
    -------
    ndarray or None
        Probabilities from 0.5 (a coin flip) to 1.
    """
    if std is None:
        return None
    size = np.abs(values)
    ratio = np.divide(size, std, out=np.where(size > 0, np.inf, 0.0), where=std > 0)
    return normal_certainty(ratio)
