"""Locally linear model: the filters of every class, with their noise.

The score of class k for inputs x is a weighted mean of the responses of its filters,

    f_k(x) = sum_m s_mk(x) g_mk(x),  g_mk(x) = w_mk . x + b_mk,
    s_mk(x) = softmax over m of beta g_mk(x),

and probabilities are the softmax of the scores [1]_. Adding the same vector to all filters of all
classes does not change any probability, so the common mean is subtracted: only contrasts are
meaningful.

.. [1] Harder, Bauer, Park, "Interpretable and Differentially Private Predictions", AAAI 2020,
   section 3.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from dpexplain._utils.lazy import pd
from dpexplain.explain import _html
from dpexplain.explain._record import FloatArray, Record, bounded, distinct, finite, text, texts
from dpexplain.explain._text import listing, short_number, shorten
from dpexplain.explain.display import ModelDisplay
from dpexplain.explain.filters._filter_math import Linearized, filter_shares, softmax
from dpexplain.explain.filters._noisy_filters import NoisyFilters
from dpexplain.explain.filters.filter_inputs import LARGEST, InputPreparation, checked_inputs
from dpexplain.explain.filters.filter_local import FilterExplanation
from dpexplain.explain.filters.filter_noise import FilterNoise, without_common
from dpexplain.explain.filters.weight_map import (
    checked_grid,
    sign_certainty,
)
from dpexplain.explain.guarantee import Guarantee

_GAUGE_TOLERANCE = 1e-6
_SMALLEST = 1e-300  # smaller numbers have lost most of their precision
_BLOCK = 4096


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class FilterBank(NoisyFilters, Record, ModelDisplay):
    """Linear filters of every class, their biases, and their joint privacy noise.

    Parameters
    ----------
    filters : array-like of shape (n_classes, n_filters, n_inputs)
        Weights of each filter, in log-odds per unit of input. Their mean over classes and filters
        must be zero; for filters as trained, use :meth:`from_weights`.
    biases : array-like of shape (n_classes, n_filters)
        Bias of each filter. Their mean must also be zero.
    classes : sequence of str
        Names of the classes.
    input_names : sequence of str
        Names of the inputs.
    guarantee : Guarantee
        Privacy guarantee of the whole object.
    inverse_temperature : float, default=1.0
        Beta, which determines how sharply the softmax chooses between the filters of a class.
    grid_shape : tuple of int or None, default=None
        Shape of the grid of inputs (images, signals); None for a table.
    noise : FilterNoise or None, default=None
        Joint privacy noise; None if there is no noise, or if it is unknown.
    preparation : InputPreparation or None, default=None
        Conversion of a record to inputs; None if unknown.
    target_name : str, default="target"
        Name of the target.
    model_name : str, default=""
        Name of the estimator.

    Raises
    ------
    ValueError
        If shapes are inconsistent, a number is not finite, or the common mean is not zero.

    Examples
    --------
    >>> guarantee = Guarantee(1.0, 1e-6, "add_remove", True)
    >>> bank = FilterBank.from_weights(
    ...     [[[1.0, 0.0]], [[0.0, 2.0]]],
    ...     [[0.0], [0.0]],
    ...     classes=("no", "yes"),
    ...     input_names=("age", "income"),
    ...     guarantee=guarantee,
    ... )
    >>> bank.contrast("yes", "no").weights
    array([-1.,  2.])
    >>> bank.probabilities([[0.0, 0.5]])
    array([[0.27, 0.73]])
    """

    filters: FloatArray
    biases: FloatArray
    _: dataclasses.KW_ONLY
    classes: tuple[str, ...]
    input_names: tuple[str, ...]
    guarantee: Guarantee
    inverse_temperature: float = 1.0
    grid_shape: tuple[int, ...] | None = None
    noise: FilterNoise | None = None
    preparation: InputPreparation | None = None
    target_name: str = "target"
    model_name: str = ""

    def __post_init__(self) -> None:
        """Check that the fields are consistent and freeze the arrays."""
        text("target_name", self.target_name)
        text("model_name", self.model_name)
        if not isinstance(self.guarantee, Guarantee):
            raise ValueError("guarantee must be a Guarantee.")
        classes = distinct("classes", texts("classes", self.classes))
        if len(classes) < 2:
            raise ValueError("classes must name at least two classes.")
        names = distinct("input_names", texts("input_names", self.input_names))
        self._set("classes", classes)
        self._set("input_names", names)
        shape = (len(classes), None, len(names))
        self._set("filters", bounded("filters", self.filters, shape, LARGEST))
        if not self.filters.shape[1] or not names:
            raise ValueError(
                "filters must contain at least one filter per class, over some inputs."
            )
        self._set("biases", bounded("biases", self.biases, self._shape[:2], LARGEST))
        self._set("inverse_temperature", finite("inverse_temperature", self.inverse_temperature))
        if not 0 < self.inverse_temperature <= LARGEST:
            raise ValueError(f"inverse_temperature must be positive and at most {LARGEST:g}.")
        self._set("grid_shape", checked_grid(self.grid_shape, len(names)))
        self._check_common()
        self._check_parts()

    def _check_common(self) -> None:
        for name in ("filters", "biases"):
            values = getattr(self, name)
            size = float(np.abs(values).max(initial=0.0))
            limit = max(_GAUGE_TOLERANCE * size, _SMALLEST)
            if np.abs(values.mean(axis=(0, 1))).max(initial=0.0) > limit:
                raise ValueError(
                    f"{name} have a common mean, which carries no meaning; use "
                    "FilterBank.from_weights, which subtracts it."
                )

    def _check_parts(self) -> None:
        noise, preparation = self.noise, self.preparation
        if noise is not None:
            if not isinstance(noise, FilterNoise):
                raise ValueError("noise must be a FilterNoise.")
            shape = (*noise.bias_variance.shape, noise.n_inputs)
            if shape != self.filters.shape:
                raise ValueError(f"noise is for filters of shape {shape}, not {self._shape}.")
        if preparation is not None:
            if not isinstance(preparation, InputPreparation):
                raise ValueError("preparation must be an InputPreparation.")
            if preparation.input_names != self.input_names:
                raise ValueError("preparation gives other inputs than input_names.")

    @classmethod
    def from_weights(
        cls, filters: npt.ArrayLike, biases: npt.ArrayLike, **fields: Any
    ) -> FilterBank:
        """Create a filter bank from trained filters by subtracting their common mean.

        Parameters
        ----------
        filters : array-like of shape (n_classes, n_filters, n_inputs)
            Filters as trained, with one weight for each input.
        biases : array-like of shape (n_classes, n_filters)
            Biases as trained.
        **fields
            Values of the other fields of the class.

        Returns
        -------
        FilterBank
        """
        weights, offsets = without_common(
            np.asarray(filters, dtype=np.float64), np.asarray(biases, dtype=np.float64)
        )
        return cls(weights, offsets, **fields)

    @property
    def _shape(self) -> tuple[int, ...]:
        return self.filters.shape

    def inputs(self, X: Any) -> FloatArray:
        """Convert records to inputs; see :meth:`InputPreparation.inputs`.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_inputs)

        Raises
        ------
        ValueError
            If the conversion is unknown, or the columns do not match it.
        """
        if self.preparation is None:
            raise ValueError("this explanation has no preparation; pass inputs, not records.")
        return self.preparation.inputs(X)

    def filter_scores(self, inputs: npt.ArrayLike) -> FloatArray:
        """Return the response of each filter.

        Parameters
        ----------
        inputs : array-like of shape (n_samples, n_inputs)
            Prepared inputs; see :meth:`inputs`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes, n_filters)
            Responses in log-odds.
        """
        values = checked_inputs(inputs, len(self.input_names))
        flat = self.filters.reshape(-1, len(self.input_names))
        return (values @ flat.T).reshape(len(values), *self.biases.shape) + self.biases

    def weightings(self, inputs: npt.ArrayLike) -> FloatArray:
        """Return the weight of each filter in the score of its class.

        Parameters
        ----------
        inputs : array-like of shape (n_samples, n_inputs)
            Prepared inputs; see :meth:`inputs`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes, n_filters)
            Positive weights that sum to 1 over the filters of each class.
        """
        return filter_shares(self.filter_scores(inputs), self.inverse_temperature)

    def scores(self, inputs: npt.ArrayLike) -> FloatArray:
        """Return the score of each class.

        Parameters
        ----------
        inputs : array-like of shape (n_samples, n_inputs)
            Prepared inputs; see :meth:`inputs`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Scores in log-odds; equal to ``explain(inputs).scores`` up to rounding.
        """
        values = checked_inputs(inputs, len(self.input_names))
        found = np.empty((len(values), len(self.classes)))
        for start in range(0, len(values), _BLOCK):
            responses = self.filter_scores(values[start : start + _BLOCK])
            shares = filter_shares(responses, self.inverse_temperature)
            found[start : start + _BLOCK] = (shares * responses).sum(axis=2)
        return found

    def probabilities(self, inputs: npt.ArrayLike) -> FloatArray:
        """Return the probability of each class.

        Parameters
        ----------
        inputs : array-like of shape (n_samples, n_inputs)
            Prepared inputs; see :meth:`inputs`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return softmax(self.scores(inputs))

    def explain(self, inputs: npt.ArrayLike, *, samples_public: bool = False) -> FilterExplanation:
        """Return the exact contribution of each input to the class scores of each sample.

        Parameters
        ----------
        inputs : array-like of shape (n_samples, n_inputs)
            Prepared inputs; see :meth:`inputs`.
        samples_public : bool, default=False
            Whether the samples may be shown to anyone, because they are public records or what-if
            inputs.

        Returns
        -------
        FilterExplanation
        """
        return _explained(self, checked_inputs(inputs, len(self.input_names)), samples_public)

    def frame(self) -> pd.DataFrame:
        """Return a table with one row per class, filter and input.

        Returns
        -------
        DataFrame
            Columns class, filter, input and weight; noise_std and sign_certainty (NaN if unknown).
        """
        n_classes, n_filters, n_inputs = self._shape
        std = self.filter_std
        unknown = np.full(self._shape, np.nan)
        certainty = sign_certainty(self.filters, std)
        return pd.DataFrame(
            {
                "class": np.repeat(np.array(self.classes, dtype=object), n_filters * n_inputs),
                "filter": np.tile(np.repeat(np.arange(n_filters), n_inputs), n_classes),
                "input": np.tile(np.array(self.input_names, dtype=object), n_classes * n_filters),
                "weight": self.filters.ravel(),
                "noise_std": (unknown if std is None else std).ravel(),
                "sign_certainty": (unknown if certainty is None else certainty).ravel(),
            }
        )

    def describe(self) -> Iterator[str | pd.DataFrame]:
        """Yield guarantee and noise; for a table, also the mean filter of each class.

        Yields
        ------
        str or DataFrame
            The inputs in the table are sorted by the largest ratio of weight to noise.
        """
        yield from super().describe()
        if self.grid_shape is not None:
            return
        means = np.asarray(self.class_means())
        std = self.class_mean_std
        columns = {}
        for k, label in enumerate(self.classes):
            columns[label, "weight"] = means[k]
            if std is not None:
                columns[label, "noise_std"] = std[k]
        clear = np.abs(means) / (1.0 if std is None else np.maximum(std, _SMALLEST))
        order = np.argsort(-clear.max(axis=0), kind="stable")
        yield "Mean filter of each class, in log-odds per unit of input as the model reads it:"
        yield pd.DataFrame(columns, index=list(self.input_names)).iloc[order]

    def plot(self, what: str = "class_means", **options: Any) -> npt.NDArray[np.object_]:
        """Draw the filters; see :func:`dpexplain.plotting.plot_filters`.

        Parameters
        ----------
        what : {"class_means", "filters"}, default="class_means"
            Whether to draw the mean filter of each class, or every filter.
        **options
            Passed on to the plotting function.

        Returns
        -------
        ndarray of Axes
            The panels.
        """
        from dpexplain.plotting import plot_filters

        return plot_filters(self, what=what, **options)

    def __repr__(self) -> str:
        """Return a one-line summary that suggests what to call next."""
        model = f"{self.model_name}, " if self.model_name else ""
        return (
            f"FilterBank({model}{len(self.classes)} classes of {shorten(self.target_name, 90)}, "
            f"{self.n_filters} filters each over {len(self.input_names)} inputs; "
            f"{self.guarantee.short}; see .frame(), .class_means(), .contrast(a, b), .plot())"
        )

    def _repr_html_(self) -> str:
        ratios = self.signal_to_noise()
        rows = []
        for k, name in enumerate(self.classes[:12]):
            mean = self.class_mean(name)
            strongest = np.argsort(-np.abs(mean.weights), kind="stable")[:3]
            cells = [_html.escaped(self.input_names[place], 24) for place in strongest]
            ratio = "" if ratios is None else short_number(float(ratios[k].max()), 2)
            share = mean.share_above_noise
            rows.append(
                (
                    _html.escaped(name, 30),
                    ", ".join(cells),
                    "" if share is None else f"{100 * share:.0f}%",
                    ratio,
                )
            )
        head = (
            "class",
            "largest weights of the mean filter",
            "of them above noise",
            "best signal to noise of a filter",
        )
        return _html.box(
            _html.heading(self.model_name or "Filters"),
            _html.note(shorten(f"{self.target_name}: {listing(self.classes)}", 200)),
            "" if self.guarantee.private else _html.warning(self.guarantee.short),
            _html.table(head, rows, (False, False, True, True)),
            _html.note(self.noise_words) if ratios is not None else "",
            _html.note(
                f"{self.guarantee.short if self.guarantee.private else ''}; .frame(), .plot(), "
                ".contrast(a, b) show more".removeprefix("; ")
            ),
        )


def _explained(bank: FilterBank, inputs: FloatArray, public: bool) -> FilterExplanation:
    """Explain prepared inputs; see :meth:`FilterBank.explain`.

    Parameters
    ----------
    bank : FilterBank
    inputs : ndarray of shape (n_samples, n_inputs)
    public : bool
        Whether the samples may be shown to anyone.

    Returns
    -------
    FilterExplanation
    """
    responses = bank.filter_scores(inputs)
    shares = filter_shares(responses, bank.inverse_temperature)
    effective = np.einsum("nkm,kmd->nkd", shares, bank.filters, optimize=True)
    return FilterExplanation(
        inputs,
        effective,
        (shares * bank.biases).sum(axis=2),
        shares,
        classes=bank.classes,
        input_names=bank.input_names,
        guarantee=bank.guarantee,
        grid_shape=bank.grid_shape,
        samples_public=public,
        target_name=bank.target_name,
        **_spread(bank, inputs, responses, shares, effective),
    )


def _spread(
    bank: FilterBank,
    inputs: FloatArray,
    responses: FloatArray,
    shares: FloatArray,
    effective: FloatArray,
) -> dict[str, FloatArray]:
    if bank.noise is None:
        return {}
    noise = Linearized(bank.filters, bank.noise, bank.inverse_temperature)
    found = [noise.at(*row) for row in zip(inputs, responses, shares, effective, strict=True)]
    by_input, by_class = effective.shape, effective.shape[:2]
    fields = {"effective_std": "effective", "own_std": "own", "score_std": "score"}
    fields["own_score_std"] = "own_score"
    return {
        name: np.reshape(
            [getattr(each, part) for each in found],
            by_class if name.endswith("score_std") else by_input,
        )
        for name, part in fields.items()
    }
