"""Exact local explanations of a locally linear model.

The score of a class is the dot product of its weighted filter and the inputs, plus its weighted
bias. The terms of this sum are the Integrated Gradients [1]_ from the zero baseline, if the bias is
treated as a constant input of 1 that is scaled along the path like the other inputs:

    d/dt [t s_m(t g)] = s_m + t ds_m/dt, and f(t x) = sum_m s_m(t g) t g_m,

so that the gradient of f integrates to sum_m s_m(g) w_m. No sampling is needed, and the
contributions and the bias part add up to the score.

.. [1] Sundararajan, Taly, Yan, "Axiomatic Attribution for Deep Networks", ICML 2017, equation 1.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from dpexplain._utils.lazy import pd
from dpexplain.explain import _html
from dpexplain.explain._by_class import class_position
from dpexplain.explain._record import FloatArray, Record, bounded, distinct, read_only, text, texts
from dpexplain.explain._text import counted, short_number, signed_number
from dpexplain.explain.additive.local_explanation import total_score
from dpexplain.explain.display import LocalDisplay
from dpexplain.explain.filters._filter_math import softmax
from dpexplain.explain.filters.filter_inputs import LARGEST, checked_inputs
from dpexplain.explain.filters.weight_map import (
    LARGEST_WEIGHT,
    WeightMap,
    checked_grid,
    sign_certainty,
)
from dpexplain.explain.guarantee import Guarantee

_HTML_ROWS = 10
_SHARES_TOLERANCE = 1e-6


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class FilterExplanation(Record, LocalDisplay):
    """Contribution of each input to each class score of each sample.

    Parameters
    ----------
    inputs : array-like of shape (n_samples, n_inputs)
        Prepared inputs of the samples.
    effective : array-like of shape (n_samples, n_classes, n_inputs)
        Weighted filters: the effective linear map of each sample, in log-odds per unit of input.
    bias_part : array-like of shape (n_samples, n_classes)
        Weighted biases, in log-odds.
    weightings : array-like of shape (n_samples, n_classes, n_filters)
        Weight of each filter in the score of its class.
    classes : sequence of str
        Names of the classes.
    input_names : sequence of str
        Names of the inputs.
    guarantee : Guarantee
        Privacy guarantee of the model; it does not cover the samples.
    grid_shape : tuple of int or None, default=None
        Shape of the grid of inputs; None for a table.
    samples_public : bool, default=False
        Whether the samples may be shown to anyone, because they are public records or what-if
        inputs.
    target_name : str, default="target"
        Name of the target.
    effective_std : array-like, shape of `effective`, or None, default=None
        Standard deviation of the weighted filters due to privacy noise, to first order.
    own_std : array-like, shape of `effective`, or None, default=None
        Standard deviation of the weighted filters before the common mean of all filters is
        subtracted. Before this subtraction, errors are independent across classes, so they can be
        combined for contrasts between two classes.
    score_std : array-like of shape (n_samples, n_classes) or None, default=None
        Standard deviation of the scores due to privacy noise, to first order.
    own_score_std : array-like of shape (n_samples, n_classes) or None, default=None
        Standard deviation of the scores before the common mean is subtracted.

    Raises
    ------
    ValueError
        If shapes are inconsistent or a number is not finite.

    Examples
    --------
    >>> from dpexplain import DPLocallyLinearClassifier
    >>> from dpexplain.datasets import make_additive
    >>> stays = make_additive("clinical", n_samples=500, random_state=0)
    >>> model = DPLocallyLinearClassifier(epsilon=4, schema=stays.schema, n_public=500)
    >>> bank = model.fit(stays.X, stays.y).explain_global()
    >>> invented = stays.schema.simulate(2, seed=0)[0]
    >>> local = model.explain_local(invented, samples_public=True)
    >>> local.effective.shape[:2], local.classes
    ((2, 2), ('no', 'yes'))
    """

    inputs: FloatArray
    effective: FloatArray
    bias_part: FloatArray
    weightings: FloatArray
    _: dataclasses.KW_ONLY
    classes: tuple[str, ...]
    input_names: tuple[str, ...]
    guarantee: Guarantee
    grid_shape: tuple[int, ...] | None = None
    samples_public: bool = False
    target_name: str = "target"
    effective_std: FloatArray | None = None
    own_std: FloatArray | None = None
    score_std: FloatArray | None = None
    own_score_std: FloatArray | None = None

    def __post_init__(self) -> None:
        """Check that the fields are consistent and freeze the arrays."""
        text("target_name", self.target_name)
        if not isinstance(self.guarantee, Guarantee):
            raise ValueError("guarantee must be a Guarantee.")
        classes = distinct("classes", texts("classes", self.classes))
        names = distinct("input_names", texts("input_names", self.input_names))
        if len(classes) < 2:
            raise ValueError("classes must name at least two classes.")
        self._set("classes", classes)
        self._set("input_names", names)
        self._set("grid_shape", checked_grid(self.grid_shape, len(names)))
        self._set("samples_public", bool(self.samples_public))
        self._set("inputs", checked_inputs(self.inputs, len(names)))
        n = len(self.inputs)
        by_input, by_class = (n, len(classes), len(names)), (n, len(classes))
        self._set("effective", bounded("effective", self.effective, by_input, LARGEST))
        self._set("bias_part", bounded("bias_part", self.bias_part, by_class, LARGEST))
        self._set("weightings", read_only("weightings", self.weightings, (*by_class, None)))
        self._check_shares()
        shapes = {
            "effective_std": by_input,
            "own_std": by_input,
            "score_std": by_class,
            "own_score_std": by_class,
        }
        given = [getattr(self, name) is not None for name in shapes]
        if any(given) and not all(given):
            raise ValueError(f"{', '.join(shapes)} must all be given, or none.")
        for name, shape in shapes.items():
            if getattr(self, name) is not None:
                self._set(name, bounded(name, getattr(self, name), shape, LARGEST_WEIGHT))
                if (getattr(self, name) < 0).any():
                    raise ValueError(f"{name} must not be negative.")

    def _check_shares(self) -> None:
        off = np.abs(self.weightings.sum(axis=2) - 1.0).max(initial=0.0)
        if (self.weightings < 0).any() or off > _SHARES_TOLERANCE:
            raise ValueError("weightings must be positive shares whose sum over filters is 1.")

    def __len__(self) -> int:
        """Return the number of samples."""
        return int(self.inputs.shape[0])

    @property
    def contributions(self) -> FloatArray:
        """Contribution of each input, shape (n_samples, n_classes, n_inputs)."""
        return np.asarray(self.inputs[:, None, :] * self.effective)

    @property
    def contribution_std(self) -> FloatArray | None:
        """Standard deviation of each contribution due to privacy noise; None if unknown."""
        if self.effective_std is None:
            return None
        return np.asarray(np.abs(self.inputs[:, None, :]) * self.effective_std)

    @property
    def scores(self) -> FloatArray:
        """Sums of the bias part and the contributions, shape (n_samples, n_classes)."""
        return total_score(self.contributions.transpose(0, 2, 1), self.bias_part)

    @property
    def predictions(self) -> FloatArray:
        """Probability of each class, shape (n_samples, n_classes)."""
        return softmax(self.scores)

    @property
    def predicted(self) -> tuple[str, ...]:
        """Most probable class of each sample."""
        return tuple(self.classes[place] for place in self.scores.argmax(axis=1))

    @property
    def lead_certainty(self) -> FloatArray | None:
        """Probability that, without noise, the predicted class outscores the runner-up.

        The shape is (n_samples,), and the values range from 0.5 (a coin flip) to 1. The result is
        None if there is no noise, or if it is unknown.
        """
        if self.own_score_std is None:
            return None
        scores = self.scores
        first, second = np.argsort(-scores, axis=1, kind="stable")[:, :2].T
        rows = np.arange(len(self))
        gap = scores[rows, first] - scores[rows, second]
        own = self.own_score_std
        return sign_certainty(gap, np.hypot(own[rows, first], own[rows, second]))

    @property
    def top_filters(self) -> npt.NDArray[np.int64]:
        """Index of the filter with the largest weight, shape (n_samples, n_classes).

        The explanation of a sample uses all filters of a class. The filter with the largest weight
        resembles their weighted mean only if this weight is close to 1.
        """
        return np.asarray(self.weightings.argmax(axis=2), dtype=np.int64)

    @property
    def active_filters(self) -> FloatArray:
        """Effective number of filters, shape (n_samples, n_classes).

        It is 1 if a single filter has all the weight, and equals the number of filters if all
        filters have equal weights.
        """
        return np.asarray(1.0 / (self.weightings**2).sum(axis=2))

    @property
    def sign_certainty(self) -> FloatArray | None:
        """Probability that the sign of each contribution is correct.

        The values account for privacy noise and range from 0.5 (a coin flip) to 1. The result is
        None if the model has no noise, or if the noise is unknown.
        """
        return sign_certainty(self.contributions, self.contribution_std)

    def weighted_filter(self, sample: int, label: object | None = None) -> WeightMap:
        """Return the weighted filter (effective linear map) of a sample.

        Parameters
        ----------
        sample : int
            Index of the sample.
        label : object or None, default=None
            Name of the class; None means the predicted class.

        Returns
        -------
        WeightMap

        Raises
        ------
        KeyError
            If the class does not exist.
        ValueError
            If the sample does not exist.
        """
        n, k = self._position(sample), self._class(sample, label)
        std = self.effective_std
        return self._map(
            f"weighted filter of {self.classes[k]}, sample {n}",
            self.effective[n, k],
            None if std is None else std[n, k],
            float(self.bias_part[n, k]),
            "log-odds per unit of input",
        )

    def contribution_map(self, sample: int, label: object | None = None) -> WeightMap:
        """Return the contributions of a sample's inputs to the score of one class.

        Parameters
        ----------
        sample : int
            Index of the sample.
        label : object or None, default=None
            Name of the class; None means the predicted class.

        Returns
        -------
        WeightMap
            Its weights are the contributions. Together with its bias, they add up to the score.

        Raises
        ------
        KeyError
            If the class does not exist.
        ValueError
            If the sample does not exist.
        """
        n, k = self._position(sample), self._class(sample, label)
        std = self.contribution_std
        return self._map(
            f"contributions to {self.classes[k]}, sample {n}",
            self.contributions[n, k],
            None if std is None else std[n, k],
            float(self.bias_part[n, k]),
        )

    def contrast(self, sample: int, label: object, against: object) -> WeightMap:
        """Return the contributions to the difference between the scores of two classes.

        Parameters
        ----------
        sample : int
            Index of the sample.
        label, against : object
            Names of the classes.

        Returns
        -------
        WeightMap
            Its weights are the contributions to the log-odds between the two classes. They do not
            depend on the common mean that is subtracted from all filters.

        Raises
        ------
        KeyError
            If the class does not exist.
        ValueError
            If the sample does not exist, or both classes are the same.
        """
        n = self._position(sample)
        a, b = (class_position(self.classes, name) for name in (label, against))
        if a == b:
            raise ValueError("a contrast needs two different classes.")
        std = None
        if self.own_std is not None:
            std = np.abs(self.inputs[n]) * np.hypot(self.own_std[n, a], self.own_std[n, b])
        return self._map(
            f"{self.classes[a]} against {self.classes[b]}, sample {n}",
            self.contributions[n, a] - self.contributions[n, b],
            std,
            float(self.bias_part[n, a] - self.bias_part[n, b]),
        )

    def _map(
        self,
        title: str,
        weights: FloatArray,
        std: FloatArray | None,
        bias: float,
        unit: str = "log-odds",
    ) -> WeightMap:
        return WeightMap(
            title,
            weights,
            input_names=self.input_names,
            guarantee=self.shown_guarantee,
            bias=bias,
            grid_shape=self.grid_shape,
            noise_std=std,
            unit=unit,
        )

    def frame(self, sample: int | None = None) -> pd.DataFrame:
        """Return a table with one row per sample, class and input.

        Parameters
        ----------
        sample : int or None, default=None
            Index of one sample; None returns all samples.

        Returns
        -------
        DataFrame
            Columns sample, class, input, value (as prepared) and contribution; noise_std and
            sign_certainty (NaN if unknown). The score of a class is the bias part plus the
            contributions of the sample to this class, added in order.
        """
        chosen = np.arange(len(self)) if sample is None else np.array([self._position(sample)])
        n_classes, n_inputs = self.effective.shape[1:]
        shape = (len(chosen), n_classes, n_inputs)
        contributions, std = self.contributions[chosen], self.contribution_std
        spread = None if std is None else std[chosen]
        unknown = np.full(shape, np.nan)
        certainty = sign_certainty(contributions, spread)
        values = np.broadcast_to(self.inputs[chosen][:, None, :], shape)
        return pd.DataFrame(
            {
                "sample": np.repeat(chosen, n_classes * n_inputs),
                "class": np.tile(
                    np.repeat(np.array(self.classes, dtype=object), n_inputs), len(chosen)
                ),
                "input": list(self.input_names) * (len(chosen) * n_classes),
                "value": values.ravel(),
                "contribution": contributions.ravel(),
                "noise_std": (unknown if spread is None else spread).ravel(),
                "sign_certainty": (unknown if certainty is None else certainty).ravel(),
            }
        )

    def to_shap(self) -> Any:
        """Return a ``shap.Explanation`` with classes on the last axis.

        Nothing is estimated: the values are exact Integrated Gradients from the zero input.
        Together with the base values, they add up to the scores, as Shapley values do, but they are
        not Shapley values.

        Returns
        -------
        shap.Explanation
            The contributions (``values``), the bias parts (``base_values``) and the inputs
            (``data``). SHAP cannot store the guarantee or the noise, so save this object along with
            the plots.

        Raises
        ------
        ImportError
            If SHAP is not installed.
        """
        from dpexplain.interop.shap_values import filters_to_shap

        return filters_to_shap(self)

    def plot(self, sample: int = 0, **options: Any) -> npt.NDArray[np.object_]:
        """Draw one sample; see :func:`dpexplain.plotting.plot_filter_explanation`.

        Parameters
        ----------
        sample : int, default=0
            Index of the sample.
        **options
            Passed on to the plotting function.

        Returns
        -------
        ndarray of Axes, shape (4,)
            Panels with the inputs, the contributions, the contributions relative to the runner-up
            class, and the filter weights.
        """
        from dpexplain.plotting import plot_filter_explanation

        return plot_filter_explanation(self, sample=sample, **options)

    def _class(self, sample: int, label: object | None) -> int:
        if label is None:
            return int(self.scores[sample].argmax())
        return class_position(self.classes, label)

    def __repr__(self) -> str:
        """Return a one-line summary that suggests what to call next."""
        public = "" if self.samples_public else "; samples not public"
        return (
            f"FilterExplanation({counted(len(self), 'sample')}, {len(self.classes)} classes, "
            f"{len(self.input_names)} inputs; {self.guarantee.short}{public}; see .frame(), "
            ".plot(sample), .contrast(sample, a, b))"
        )

    def _repr_html_(self) -> str:
        return self._html_box(f"{len(self.classes)} classes", self._first_sample())

    def _first_sample(self) -> str:
        if not len(self):
            return ""
        k = self._class(0, None)
        values = self.contributions[0, k]
        largest = float(np.abs(values).max(initial=0.0)) or 1.0
        order = np.argsort(-np.abs(values), kind="stable")[:_HTML_ROWS]
        rows = [
            (
                _html.escaped(self.input_names[place]),
                signed_number(values[place]),
                _html.bar(abs(values[place]) / largest, negative=values[place] < 0),
            )
            for place in order
        ]
        head = ("input", f"contribution to {self.classes[k]} [log-odds]", "")
        share = short_number(float(self.weightings[0, k].max()), 2)
        end = (
            f"sample 0: P({self.classes[k]}) {short_number(float(self.predictions[0, k]))}; bias "
            f"part {short_number(float(self.bias_part[0, k]))}; its largest filter has a share of "
            f"{share}"
        )
        return _html.table(head, rows, (False, True, False)) + _html.note(end)
