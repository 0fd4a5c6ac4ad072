"""Joint privacy noise in all filters, in compact form.

Independent noise is added to the coefficients of a filter; a public matrix, the basis, converts
coefficients to one weight for each input. The basis and the variances of the coefficients therefore
determine the standard deviation of every weight and score, and the joint distribution of the
errors. All of these are computed from released and public numbers, so they cost no privacy.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from dpexplain.explain._record import FloatArray, Record, read_only

_SEED = 20191007  # the same explanation always gives the same results


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class FilterNoise(Record):
    """Joint noise in the coefficients and biases of all filters.

    All arrays are rounded to single precision, as in saved files.

    Parameters
    ----------
    variance : array-like of shape (n_classes, n_filters, n_coefficients)
        Variance of each coefficient.
    bias_variance : array-like of shape (n_classes, n_filters)
        Variance of each bias, in squared units of the score.
    basis : array-like or None, default=None
        Matrix of shape (n_coefficients, n_inputs) by which the coefficients are multiplied to give
        the weights; or an array of shape (n_filters, n_coefficients, n_inputs), with a separate
        matrix for the m-th filter of every class. Pass None if the coefficients are the weights.
    origin : array-like of shape (n_inputs,) or None, default=None
        Inputs at which the noise in a score has the variance `bias_variance`: the vector that was
        subtracted from all records during training. At other inputs, the noise in the filters
        contributes additional variance. None means zero.

    Raises
    ------
    ValueError
        If shapes are inconsistent, or a variance is negative or not finite.
    """

    variance: FloatArray
    bias_variance: FloatArray
    basis: FloatArray | None = None
    origin: FloatArray | None = None

    def __post_init__(self) -> None:
        """Check the shapes and freeze the arrays."""
        self._set("variance", _singles("variance", self.variance, (None, None, None)))
        n_classes, n_filters, n_coefficients = self.variance.shape
        self._set(
            "bias_variance", _singles("bias_variance", self.bias_variance, (n_classes, n_filters))
        )
        if self.basis is not None:
            each = (n_filters,) if np.ndim(self.basis) == 3 else ()
            shape = (*each, n_coefficients, None)
            self._set("basis", _singles("basis", self.basis, shape))
        if self.origin is not None:
            self._set("origin", _singles("origin", self.origin, (self.n_inputs,)))
        if (self.variance < 0).any() or (self.bias_variance < 0).any():
            raise ValueError("variances must not be negative.")

    @property
    def n_inputs(self) -> int:
        """Number of inputs, which is also the number of weights in each filter."""
        return int((self.variance if self.basis is None else self.basis).shape[-1])

    def weights(self, coefficients: FloatArray) -> FloatArray:
        """Convert coefficients to weights.

        Parameters
        ----------
        coefficients : ndarray of shape (..., n_classes, n_filters, n_coefficients)
            Coefficients of each filter.

        Returns
        -------
        ndarray of shape (..., n_classes, n_filters, n_inputs)
        """
        return _times(coefficients, self.basis)

    def features(self, inputs: FloatArray) -> FloatArray:
        """Return the inputs minus the origin, multiplied by the transposed basis.

        Parameters
        ----------
        inputs : ndarray of shape (n_samples, n_inputs)
            Prepared inputs.

        Returns
        -------
        ndarray of shape (n_samples, n_filters or 1, n_coefficients)
        """
        if self.origin is not None:
            inputs = inputs - self.origin
        if self.basis is None:
            return inputs[:, None, :]
        if self.basis.ndim == 2:
            return (inputs @ self.basis.T)[:, None, :]
        return np.einsum("nd,mjd->nmj", inputs, self.basis, optimize=True)

    @property
    def weight_variance(self) -> FloatArray:
        """Variance of each weight before the common mean is subtracted."""
        return _times(self.variance, None if self.basis is None else self.basis**2)

    @property
    def total_bias_variance(self) -> FloatArray:
        """Noise variance of each filter's response at zero inputs."""
        return self.linear_variance(np.zeros((1, self.n_inputs)))[0]

    def linear_variance(self, inputs: FloatArray) -> FloatArray:
        """Return the noise variance of each filter's response, including its bias.

        Parameters
        ----------
        inputs : ndarray of shape (n_samples, n_inputs)
            Prepared inputs.

        Returns
        -------
        ndarray of shape (n_samples, n_classes, n_filters)
        """
        squared = self.features(inputs) ** 2
        if squared.shape[1] == 1:
            seen = np.einsum("kmj,nj->nkm", self.variance, squared[:, 0], optimize=True)
        else:
            seen = np.einsum("kmj,nmj->nkm", self.variance, squared, optimize=True)
        return np.asarray(seen + self.bias_variance)

    def draws(self, n_draws: int, seed: int = _SEED) -> tuple[FloatArray, FloatArray]:
        """Draw joint errors of all filters and biases, and subtract their common mean.

        Parameters
        ----------
        n_draws : int
            Number of draws.
        seed : int, default=20191007
            The same seed gives the same draws.

        Returns
        -------
        filters : ndarray of shape (n_draws, n_classes, n_filters, n_inputs)
            Errors of the filters. Their mean over classes and filters is zero, like the mean of the
            filters in a :class:`FilterBank`.
        biases : ndarray of shape (n_draws, n_classes, n_filters)
        """
        rng = np.random.default_rng(seed)
        coefficients = rng.standard_normal((n_draws, *self.variance.shape))
        filters = self.weights(coefficients * np.sqrt(self.variance))
        biases = rng.standard_normal((n_draws, *self.bias_variance.shape))
        biases *= np.sqrt(self.bias_variance)
        if self.origin is not None:
            biases -= filters @ self.origin
        return without_common(filters, biases)

    def __repr__(self) -> str:
        """Return a one-line summary."""
        n_classes, n_filters, n_coefficients = self.variance.shape
        return (
            f"FilterNoise({n_classes} classes, {n_filters} filters, {n_coefficients} "
            "coefficients each; see .draws(n))"
        )


def without_common(filters: FloatArray, biases: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Subtract the mean filter from all filters, and the mean bias from all biases.

    This shifts all scores of a record by the same amount, so it does not affect predictions.

    Parameters
    ----------
    filters : ndarray of shape (..., n_classes, n_filters, n_inputs)
    biases : ndarray of shape (..., n_classes, n_filters)

    Returns
    -------
    filters, biases : ndarray
        Copies whose mean over classes and filters is zero.

    Examples
    --------
    >>> without_common(np.array([[[3.0]], [[1.0]]]), np.array([[0.0], [1.0]]))[0].ravel()
    array([ 1., -1.])
    """
    for _ in range(2):  # the second pass removes the mean that rounding errors leave
        filters = filters - filters.mean(axis=(-3, -2), keepdims=True)
        biases = biases - biases.mean(axis=(-2, -1), keepdims=True)
    return filters, biases


def common_removed_variance(variance: FloatArray) -> FloatArray:
    """Return the variances of independent values after subtracting their common mean.

    Parameters
    ----------
    variance : ndarray of shape (n_classes, n_filters, ...)
        Variance of the original values.

    Returns
    -------
    ndarray
        Variances, with the same shape.
    """
    n = variance.shape[0] * variance.shape[1]
    total = variance.sum(axis=(0, 1), keepdims=True)
    return np.asarray(variance * (1.0 - 2.0 / n) + total / n**2)


def _times(coefficients: FloatArray, basis: FloatArray | None) -> FloatArray:
    if basis is None:
        return coefficients
    if basis.ndim == 2:
        return np.asarray(coefficients @ basis)
    return np.einsum("...kmj,mjd->...kmd", coefficients, basis, optimize=True)


def _singles(name: str, values: FloatArray, shape: tuple[int | None, ...]) -> FloatArray:
    with np.errstate(over="ignore"):
        single = np.asarray(read_only(name, values, shape), dtype=np.float32)
    return read_only(name, single, shape)
