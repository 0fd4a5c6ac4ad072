"""Arithmetic of locally linear maps: softmax over classes and filters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpexplain.explain._record import FloatArray
from dpexplain.explain.filters.filter_noise import FilterNoise


def softmax(values: FloatArray) -> FloatArray:
    """Compute the softmax over the last axis.

    Parameters
    ----------
    values : ndarray of shape (..., n)

    Returns
    -------
    ndarray of shape (..., n)

    Examples
    --------
    >>> softmax(np.array([0.0, 2000.0]))
    array([0., 1.])
    """
    powers = np.exp(values - values.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def filter_shares(filter_scores: FloatArray, inverse_temperature: float) -> FloatArray:
    """Return the weight of each filter in the score of its class.

    Parameters
    ----------
    filter_scores : ndarray of shape (..., n_filters)
    inverse_temperature : float

    Returns
    -------
    ndarray of shape (..., n_filters)
    """
    return softmax(inverse_temperature * filter_scores)


class SampleNoise(NamedTuple):
    """Standard deviations for the explanation of one sample."""

    effective: FloatArray  # (n_classes, n_inputs), after subtracting the common mean
    own: FloatArray  # (n_classes, n_inputs), before subtracting it; independent between classes
    score: FloatArray  # (n_classes,)
    own_score: FloatArray  # (n_classes,)


class Linearized:
    """First-order noise in the weighted filters and scores of a model.

    A weighted filter W = sum_m s_m w_m depends on its filters w_m directly, and also through the
    weights s_m, which depend on the responses g_m. To first order, dW = sum_m s_m dw_m + beta sum_m
    s_m (w_m - W) dg_m, where dg_m = dw_m . x + db_m. The noise in different filters is independent,
    so the variances are summed over m.

    Parameters
    ----------
    filters : ndarray of shape (n_classes, n_filters, n_inputs)
    noise : FilterNoise
    inverse_temperature : float
    """

    def __init__(self, filters: FloatArray, noise: FilterNoise, inverse_temperature: float) -> None:
        self._filters, self._noise, self._beta = filters, noise, inverse_temperature
        self._squares = filters**2
        self._variance = noise.weight_variance
        self._class_variance = self._variance.sum(axis=1)

    def at(
        self, inputs: FloatArray, responses: FloatArray, shares: FloatArray, effective: FloatArray
    ) -> SampleNoise:
        """Return the standard deviations for the explanation of one sample.

        Parameters
        ----------
        inputs : ndarray of shape (n_inputs,)
        responses, shares : ndarray of shape (n_classes, n_filters)
            Responses of the filters, and their weights s_m.
        effective : ndarray of shape (n_classes, n_inputs)
            Weighted filters.

        Returns
        -------
        SampleNoise
        """
        linear = self._noise.linear_variance(inputs[None])[0]
        score = (shares * responses).sum(axis=1, keepdims=True)
        slope = shares * (1.0 + self._beta * (responses - score))
        n = shares.size
        own = self._effective_variance(inputs, shares, shares, linear, effective)
        less = self._effective_variance(inputs, shares, shares - 1.0 / n, linear, effective)
        others = (self._class_variance.sum(axis=0) - self._class_variance) / n**2
        class_linear = linear.sum(axis=1)
        other_scores = (class_linear.sum() - class_linear) / n**2
        return SampleNoise(
            _root(less + others),
            _root(own),
            _root(((slope - 1.0 / n) ** 2 * linear).sum(axis=1) + other_scores),
            _root((slope**2 * linear).sum(axis=1)),
        )

    def _effective_variance(
        self,
        inputs: FloatArray,
        shares: FloatArray,
        direct: FloatArray,
        linear: FloatArray,
        effective: FloatArray,
    ) -> FloatArray:
        """Return the variance of each class's weighted filter, for each input."""
        pull = self._beta * shares
        by_input = _weighted(direct**2, self._variance)
        crossed = self._crossed(inputs, direct * pull)
        by_input += 2.0 * ((self._filters * crossed).sum(axis=1) - effective * crossed.sum(axis=1))
        reach = pull**2 * linear
        by_input += _weighted(reach, self._squares)
        by_input -= 2.0 * effective * _weighted(reach, self._filters)
        by_input += effective**2 * reach.sum(axis=1, keepdims=True)
        return by_input

    def _crossed(self, inputs: FloatArray, factor: FloatArray) -> FloatArray:
        """Return the covariance of each weight with its filter's response, times `factor`."""
        noise = self._noise
        features = noise.features(inputs[None])[0]  # (n_filters or 1, n_coefficients)
        return noise.weights(factor[:, :, None] * noise.variance * features)


def _weighted(shares: FloatArray, values: FloatArray) -> FloatArray:
    """Compute the weighted sum over filters."""
    return np.asarray((shares[:, None, :] @ values)[:, 0])


def _root(variance: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))
