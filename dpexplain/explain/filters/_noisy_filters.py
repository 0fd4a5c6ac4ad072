"""Noise in filters: class means, contrasts and individual filters."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dpexplain.explain._by_class import class_position
from dpexplain.explain._record import FloatArray
from dpexplain.explain.filters.filter_noise import FilterNoise, common_removed_variance
from dpexplain.explain.filters.weight_map import BAND, WeightMap, ratio_to_noise, share_outside
from dpexplain.explain.guarantee import Guarantee


class NoisyFilters:
    """Mixin that provides the weight maps of a :class:`FilterBank` and their noise."""

    filters: FloatArray
    biases: FloatArray
    classes: tuple[str, ...]
    input_names: tuple[str, ...]
    guarantee: Guarantee
    grid_shape: tuple[int, ...] | None
    noise: FilterNoise | None

    @property
    def n_filters(self) -> int:
        """Number of filters per class."""
        return int(self.filters.shape[1])

    @property
    def score_unit(self) -> str:
        """Unit of scores and contributions."""
        return "log-odds"

    @cached_property
    def filter_std(self) -> FloatArray | None:
        """Standard deviation of each weight due to privacy noise; same shape as `filters`.

        The result is None if the model has no noise, or if the noise is unknown.
        """
        if self.noise is None:
            return None
        return np.sqrt(common_removed_variance(self.noise.weight_variance))

    @property
    def bias_std(self) -> FloatArray | None:
        """Standard deviation of each bias due to privacy noise; same shape as `biases`.

        The result is None if the model has no noise, or if the noise is unknown.
        """
        if self.noise is None:
            return None
        return np.sqrt(common_removed_variance(self.noise.total_bias_variance))

    def class_means(self) -> FloatArray:
        """Return the mean filter of each class.

        Mean filters are less noisy than individual filters, so look at them first.

        Returns
        -------
        ndarray of shape (n_classes, n_inputs)
        """
        return np.asarray(self.filters.mean(axis=1))

    @cached_property
    def class_mean_std(self) -> FloatArray | None:
        """Standard deviation of the class means, shape (n_classes, n_inputs).

        The result is None if the model has no noise, or if the noise is unknown.
        """
        if self.noise is None:
            return None
        own = self.noise.weight_variance.sum(axis=1) / self.n_filters**2
        return np.sqrt(common_removed_variance(own[:, None])[:, 0])

    def class_mean(self, label: object) -> WeightMap:
        """Return the mean filter of one class.

        Parameters
        ----------
        label : object
            Name of the class.

        Returns
        -------
        WeightMap

        Raises
        ------
        KeyError
            If the class does not exist.
        """
        place = class_position(self.classes, label)
        bias_std = None
        if self.noise is not None:
            own = self.noise.total_bias_variance.sum(axis=1) / self.n_filters**2
            bias_std = float(np.sqrt(common_removed_variance(own[:, None])[place, 0]))
        return self._map(
            f"mean filter of {self.classes[place]}",
            self.class_means()[place],
            None if self.class_mean_std is None else self.class_mean_std[place],
            float(self.biases[place].mean()),
            bias_std,
        )

    def filter(self, label: object, place: int = 0) -> WeightMap:
        """Return one filter of one class.

        Parameters
        ----------
        label : object
            Name of the class.
        place : int, default=0
            Index of the filter.

        Returns
        -------
        WeightMap

        Raises
        ------
        KeyError
            If the class does not exist.
        ValueError
            If `place` is not the index of a filter.
        """
        k = class_position(self.classes, label)
        whole = isinstance(place, (int, np.integer)) and not isinstance(place, bool)
        if not whole or not 0 <= place < self.n_filters:
            raise ValueError(f"place={place!r} must be an integer in [0, {self.n_filters}).")
        std, bias_std = self.filter_std, self.bias_std
        return self._map(
            f"filter {place} of {self.classes[k]}",
            self.filters[k, place],
            None if std is None else std[k, place],
            float(self.biases[k, place]),
            None if bias_std is None else float(bias_std[k, place]),
        )

    def contrast(
        self,
        label: object,
        against: object,
        *,
        place: int | None = None,
        against_place: int | None = None,
    ) -> WeightMap:
        """Return the difference between two filters, or between two classes' mean filters.

        Parameters
        ----------
        label, against : object
            Names of the classes; if `place` is given, they may be the same.
        place, against_place : int or None, default=None
            Index of one filter of each class; None for the mean filters.

        Returns
        -------
        WeightMap
            Filter of `label` minus filter of `against`. The difference does not depend on the
            common mean that is subtracted from all filters.

        Raises
        ------
        KeyError
            If the class does not exist.
        ValueError
            If both filters are the same, only one index is given, or an index is out of range.
        """
        a, b = (class_position(self.classes, name) for name in (label, against))
        if (place is None) != (against_place is None):
            raise ValueError("a contrast of single filters needs both place= and against_place=.")
        if place is not None and against_place is not None:
            return self._filter_contrast((a, place), (b, against_place))
        if a == b:
            raise ValueError("a contrast of mean filters needs two different classes.")
        std = bias_std = None
        if self.noise is not None:  # the noise of two classes is independent
            own = self.noise.weight_variance.sum(axis=1) / self.n_filters**2
            std = np.sqrt(own[a] + own[b])
            biases = self.noise.total_bias_variance.sum(axis=1) / self.n_filters**2
            bias_std = float(np.sqrt(biases[a] + biases[b]))
        means, offsets = self.class_means(), self.biases.mean(axis=1)
        return self._map(
            f"{self.classes[a]} against {self.classes[b]}",
            means[a] - means[b],
            std,
            float(offsets[a] - offsets[b]),
            bias_std,
        )

    def _filter_contrast(self, one: tuple[int, int], other: tuple[int, int]) -> WeightMap:
        """Return the difference between two filters, given by class and index."""
        left, right = (self.filter(self.classes[k], place) for k, place in (one, other))
        if one == other:
            raise ValueError("a contrast needs two different filters.")
        std = bias_std = None
        if self.noise is not None:  # the noise of two filters is independent
            own, biases = self.noise.weight_variance, self.noise.total_bias_variance
            std = np.sqrt(own[one] + own[other])
            bias_std = float(np.sqrt(biases[one] + biases[other]))
        return self._map(
            f"{left.title} against {right.title}",
            left.weights - right.weights,
            std,
            left.bias - right.bias,
            bias_std,
        )

    def _map(
        self,
        title: str,
        weights: FloatArray,
        std: FloatArray | None,
        bias: float,
        bias_std: float | None,
    ) -> WeightMap:
        return WeightMap(
            title,
            weights,
            input_names=self.input_names,
            guarantee=self.guarantee,
            bias=bias,
            grid_shape=self.grid_shape,
            noise_std=std,
            bias_std=bias_std,
            unit=f"{self.score_unit} per unit of input",
        )

    def signal_to_noise(self) -> FloatArray | None:
        """Return the ratio of the RMS weight to the RMS noise of each filter.

        Returns
        -------
        ndarray of shape (n_classes, n_filters) or None
            Ratio for each filter, about 1 if there is only noise. The result is None if the model
            has no noise, or if the noise is unknown.
        """
        std = self.filter_std
        if std is None:
            return None
        rows = zip(self.filters, std, strict=True)
        return np.array([[ratio_to_noise(w, s) for w, s in zip(*row, strict=True)] for row in rows])

    def share_above_noise(self, of: str = "filters") -> float | None:
        """Return the proportion of weights that rise above the privacy noise.

        These are the weights whose absolute value exceeds two standard deviations of the noise.

        Parameters
        ----------
        of : {"filters", "class_means"}, default="filters"
            Whether to use the weights of the individual filters, or those of the class means, which
            are less noisy.

        Returns
        -------
        float or None
            Proportion from 0 to 1. If there is only noise, the expected proportion is 0.046. The
            result is None if the model has no noise, or if the noise is unknown.

        Raises
        ------
        ValueError
            If `of` has any other value.
        """
        if of == "filters":
            return share_outside(self.filters, self.filter_std)
        if of == "class_means":
            return share_outside(self.class_means(), self.class_mean_std)
        raise ValueError(f"of={of!r} must be 'filters' or 'class_means'.")

    @property
    def noise_words(self) -> str:
        """Description of the weights above the noise, and of what is not estimated.

        The text is empty if the model has no noise, or if the noise is unknown.
        """
        single, mean = self.share_above_noise(), self.share_above_noise("class_means")
        if single is None or mean is None:
            return ""
        return (
            f"{100 * mean:.0f}% of class-mean weights and {100 * single:.0f}% of single-filter "
            f"weights lie outside {BAND:g} standard deviations of the privacy noise (5% expected "
            "from noise alone). Effects in the population are not estimated: this describes noise "
            "only."
        )
