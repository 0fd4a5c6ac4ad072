"""Coordinates of filters, independent of the units of the columns."""

from __future__ import annotations

import math

import numpy as np

from dpexplain.explain import FilterBank, InputFeature, InputPreparation
from dpexplain.explain._record import FloatArray


def filter_effects(bank: FilterBank) -> FloatArray:
    """Express filters in terms of their scores on records within the public bounds.

    The squared distance between two filters is the mean squared difference of their scores over
    hypothetical records. In these records, numbers are uniform between their bounds, categories are
    equally likely, and columns are independent. Changing the unit of a column, or subtracting a
    constant from it, does not change this distance.

    In two cases, the hypothetical records are chosen differently. If the preparation centers each
    record and scales it to the same norm, all directions are equally likely. If the preparation is
    unknown, inputs are independent and have mean 0 and variance 1.

    Parameters
    ----------
    bank : FilterBank
        Filters and their biases.

    Returns
    -------
    ndarray of shape (n_classes, n_filters, n_inputs + 1)
        One coordinate for each input, which measures how much the score varies with this input,
        followed by the mean score.
    """
    preparation = bank.preparation
    if preparation is None:
        deviations, means = bank.filters, bank.biases
    elif preparation.per_record == "centred_unit_norm":
        deviations, means = _on_sphere(bank.filters, preparation.scale), bank.biases
    else:
        deviations, means = _within_bounds(bank.filters, preparation)
        means = means + bank.biases
    return np.concatenate([deviations, means[:, :, None]], axis=2)


def _on_sphere(filters: FloatArray, scale: float) -> FloatArray:
    """Multiply centered weights by the standard deviation of an input.

    The standard deviation is taken over all centered records of norm `scale`.
    """
    centered = filters - filters.mean(axis=2, keepdims=True)
    return np.asarray(centered * (scale / math.sqrt(max(filters.shape[2] - 1, 1))))


def _within_bounds(
    filters: FloatArray, preparation: InputPreparation
) -> tuple[FloatArray, FloatArray]:
    """Return the coordinates of the inputs, and the mean score without the bias."""
    ends = np.cumsum([len(feature.input_names) for feature in preparation.features])
    columns = np.split(preparation.scale * filters, ends[:-1], axis=2)
    parts = [_of_feature(f, w) for f, w in zip(preparation.features, columns, strict=True)]
    deviations, means = zip(*parts, strict=True)
    return np.concatenate(deviations, axis=2), np.sum(means, axis=0)


def _of_feature(feature: InputFeature, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    if feature.categories is not None:
        means = weights.mean(axis=2)
        return (weights - means[:, :, None]) / math.sqrt(weights.shape[2]), means
    ends = (np.array([feature.low, feature.high]) - feature.centre) / feature.spread
    return weights * ((ends[1] - ends[0]) / math.sqrt(12.0)), weights[:, :, 0] * ends.mean()
