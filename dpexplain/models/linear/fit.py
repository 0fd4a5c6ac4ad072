"""Private fits of linear models, from noisy histograms, moments and gradients.

All queries on the records are integer sums with Gaussian noise. Weights are computed only from the
answers: by a ridge regression on noisy moments (sufficient statistics, AdaSSP [1]_), or by noisy
gradient steps, preconditioned by the noisy second moments ``X'X``. ``X'X / 4`` bounds the Hessian
of the logistic loss everywhere, and ``X'X / 2`` bounds the Hessian of the softmax loss [2]_, so a
step of length one never overshoots, and a few steps are enough.

References
----------
.. [1] Wang, "Revisiting Differentially Private Linear Regression: Optimal and Adaptive Prediction
   and Estimation in Unbounded Domain", UAI 2018, arXiv:1803.02596, Algorithm 2.
.. [2] Böhning, "Multinomial Logistic Regression Algorithm", Annals of the Institute of
   Statistical Mathematics 44, 1992.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning import FeatureBins, declared_cells, release_histograms
from dpexplain.binning.counts import BinCounts
from dpexplain.mechanisms import Mechanism, Phase
from dpexplain.models.boosting.objectives import Objective
from dpexplain.models.boosting.records.source import EncodedRecords, Encoding
from dpexplain.models.boosting.records.spill import Scratch
from dpexplain.models.linear import _kernels_moments as _kernels
from dpexplain.models.linear.design import Design, cells_of, design
from dpexplain.schema import Schema
from dpexplain.tables.chunked import ChunkedTable

FloatArray = NDArray[np.float64]

N_CELLS = 64
"""Maximum number of bins of a numeric feature, whose line becomes a step function with one step per
bin."""

_RIDGE = 2.0
_VALUE, _RESIDUAL = _kernels.VALUE_STEPS, _kernels.RESIDUAL_STEPS


@dataclass(frozen=True)
class LinearBudget:
    """Noise levels and sensitivities of the three phases of a fit.

    Attributes
    ----------
    mu_bins, mu_moments, mu_target : float
        Gaussian-DP parameters of the histograms, the second moments, and the gradients or target
        moments.
    histogram_factor, moment_factor, gradient_factor : float
        Sensitivities, relative to those for adding or removing one record.
    n_steps : int
        Number of gradients; 1 if target moments are released instead of gradients.
    """

    mu_bins: float
    mu_moments: float
    mu_target: float
    histogram_factor: float
    moment_factor: float
    gradient_factor: float
    n_steps: int = 1

    def histogram_multiplier(self, n_features: int) -> float:
        """Noise standard deviation divided by sensitivity, for one histogram."""
        return float(np.sqrt(n_features)) / self.mu_bins

    @property
    def moment_multiplier(self) -> float:
        """Noise standard deviation divided by sensitivity, for the second moments."""
        return 1.0 / self.mu_moments

    @property
    def target_multiplier(self) -> float:
        """Noise standard deviation over sensitivity, for gradients or target moments."""
        return float(np.sqrt(self.n_steps)) / self.mu_target

    def moment_phase(self, n_features: int, n_values: int) -> Phase:
        """Return the phase that releases the second moments.

        With K features, a record has at most ``K + 1`` nonzero coordinates of absolute value at
        most 1, so its products ``x_i x_j`` with ``i <= j`` have a norm of at most
        ``sqrt((K + 1) (K + 2) / 2)``. The product vectors of any two records x and z never form
        an obtuse angle: twice their inner product is ``(x'z)^2 + sum x_i^2 z_i^2``. So replacing a
        record changes the sum of the products by at most ``sqrt(2)`` times this norm. The
        sensitivity and noise of the phase are in squared lattice steps.
        """
        norm = np.sqrt((n_features + 1) * (n_features + 2) / 2.0) * _VALUE**2
        return _phase("second moments", norm * self.moment_factor, self.moment_multiplier, n_values)

    def gradient_phase(self, n_features: int, n_values: int) -> Phase:
        """Return the phase that releases the gradients.

        Its sensitivity and noise are in lattice steps.
        """
        norm = np.sqrt(n_features + 1) * _VALUE * _RESIDUAL
        return _phase("gradients", norm * self.gradient_factor, self.target_multiplier, n_values)

    def target_phase(self, n_features: int, n_values: int) -> Phase:
        """Return the phase that releases the target moments.

        Its sensitivity and noise are in lattice steps.
        """
        norm = np.sqrt(n_features + 2) * _VALUE * _RESIDUAL
        return _phase(
            "target moments", norm * self.gradient_factor, self.target_multiplier, n_values
        )


def _phase(label: str, sensitivity: float, multiplier: float, n_values: int) -> Phase:
    return Phase(label, float(sensitivity), float(multiplier * sensitivity), n_values)


@dataclass(frozen=True, eq=False)
class LinearFit:
    """Releases of a linear fit, with weights and other quantities derived from them.

    Attributes
    ----------
    bins : tuple of FeatureBins
    counts : tuple of BinCounts
        Noisy number of records in each bin.
    n_samples : float
        Noisy number of records.
    design : Design
    moments : ndarray of shape (n_coordinates, n_coordinates)
        Released second moments, with negative eigenvalues removed.
    moment_std : float
        Noise standard deviation of one released second moment.
    ridge : float
        Ridge penalty added to the diagonal of the second moments.
    weights : ndarray of shape (n_coordinates, n_scores)
        Weight of each coordinate: in units of half the target range for a regression, in log-odds
        for a classifier.
    target_std : float
        Noise standard deviation of one value of a gradient, or of one target moment.
    residual_variance : float or None
        Residual variance of a regression, estimated from released moments, in units of the square
        of half the target range; None for a classifier.
    n_samples_std : float
        Standard deviation of the noise in `n_samples`.
    class_sums : ndarray of shape (n_scores,) or None
        Noisy sum of the residuals for each score at the start, when all classes have the same
        probability, divided by the factor by which clipping reduces the residuals; None for a
        regression.
    clip, learning_rate, n_steps : float, float, int
        Bound on a residual, step length and number of gradient steps of a classifier.
    """

    bins: tuple[FeatureBins, ...]
    counts: tuple[BinCounts, ...]
    n_samples: float
    design: Design
    moments: FloatArray
    moment_std: float
    ridge: float
    weights: FloatArray
    target_std: float
    residual_variance: float | None = None
    n_samples_std: float = 0.0
    class_sums: FloatArray | None = None
    clip: float = 1.0
    learning_rate: float = 1.0
    n_steps: int = 1

    @property
    def inverse(self) -> FloatArray:
        """Inverse of the second moments after the ridge penalty is added."""
        return _inverse(self.moments, self.ridge)


def _inverse(moments: FloatArray, ridge: float) -> FloatArray:
    values, vectors = np.linalg.eigh(moments)
    return np.asarray((vectors / (np.maximum(values, 0.0) + ridge)) @ vectors.T)


class _Records:
    """Binned records with their targets, in chunks; close them after the fit.

    A table in memory is one chunk. Other tables are read once and kept as small integers, which are
    stored in a temporary file if they exceed the limit of `Scratch`. Queries are answered with
    exact sums over the chunks.
    """

    def __init__(self, X: Any, y: Any, schema: Schema, objective: Objective) -> None:
        self.bins = tuple(declared_cells(n, f, N_CELLS) for n, f in schema.features.items())
        n_bins = [b.n_bins for b in self.bins]
        self.histograms = [np.zeros(n, dtype=np.int64) for n in n_bins]
        self._scratch = Scratch()
        self._chunks: list[tuple[NDArray[Any], NDArray[np.float32]]] = []
        encoding = Encoding(schema, objective.encode_target, objective.loss)
        chunks = X.chunks(y, schema) if isinstance(X, ChunkedTable) else [(X, y)]
        try:
            for rows, target in chunks:
                found = EncodedRecords.read(rows, target, encoding, self.bins)
                for total, new in zip(self.histograms, found.counts(n_bins), strict=True):
                    total += new
                self._scratch.add(EncodedRecords([cells_of(found.cells).ravel()], found.target))
        except BaseException:
            self.close()
            raise
        self._chunks = [
            (kept.cells[0].reshape(-1, len(self.bins)), kept.target)
            for kept in self._scratch.records()
        ]

    def __repr__(self) -> str:
        return f"<_Records of {len(self.bins)} features>"

    def close(self) -> None:
        """Free the records and the temporary file."""
        self._chunks = []
        self._scratch.close()

    def second_moments(self, plan: Design) -> NDArray[np.int64]:
        kernel: Callable[..., Any] = _kernels.second_moments
        sums = np.zeros(plan.together.shape, dtype=np.int64)
        for cells, _ in self._chunks:
            sums += kernel(cells, *_layout(plan), plan.n_coordinates)
        return np.ascontiguousarray(sums[plan.together])

    def target_moments(self, plan: Design) -> NDArray[np.int64]:
        kernel: Callable[..., Any] = _kernels.target_moments
        sums = np.zeros(plan.n_coordinates + 1, dtype=np.int64)
        for cells, target in self._chunks:
            sums += kernel(cells, *_layout(plan), target, plan.n_coordinates)
        return sums

    def gradient(self, plan: Design, weights: FloatArray, clip: float) -> NDArray[np.int64]:
        kernel: Callable[..., Any] = (
            _kernels.logistic_gradient if weights.shape[1] == 1 else _kernels.softmax_gradient
        )
        sums = np.zeros(weights.shape, dtype=np.int64)
        for cells, target in self._chunks:
            sums += kernel(
                cells,
                *_layout(plan),
                target,
                np.ascontiguousarray(weights[0], dtype=np.float32),
                np.ascontiguousarray(plan.tables(weights), dtype=np.float32),
                np.float32(1.0 / clip),
                plan.n_coordinates,
            )
        return sums.ravel()


def _layout(plan: Design) -> tuple[NDArray[np.int64], ...]:
    return plan.start, plan.coordinate, plan.value


def fit_regression(
    X: Any,
    y: Any,
    schema: Schema,
    objective: Objective,
    budget: LinearBudget,
    mechanism: Mechanism,
    *,
    follow_counts: bool,
) -> LinearFit:
    """Fit a ridge regression on released moments.

    Parameters
    ----------
    X, y : array-like, or ChunkedTable and its target
        Private records.
    schema : Schema
    objective : Objective
        Objective with squared error.
    budget : LinearBudget
    mechanism : Mechanism
        Every release passes through it.
    follow_counts : bool
        Whether to clip numbers to the range of the middle 98% of the records; see `design`.

    Returns
    -------
    LinearFit
    """
    with closing(_Records(X, y, schema, objective)) as records:
        fit = _with_moments(records, budget, mechanism, follow_counts=follow_counts)
        plan = fit.design
        phase = budget.target_phase(plan.n_features, plan.n_coordinates + 1)
        with mechanism.phase(phase):
            released = mechanism.release(records.target_moments(plan)) / (_VALUE * _RESIDUAL)
    products, squares = released[:-1], float(released[-1])
    weights = np.clip(fit.inverse @ products, -objective.bound, objective.bound)
    left = squares - 2.0 * weights @ products + weights @ fit.moments @ weights
    n = fit.n_samples
    return _with(
        fit,
        weights=weights[:, None],
        target_std=phase.sigma_int / (_VALUE * _RESIDUAL),
        residual_variance=float(np.clip(left, 0.0, n) / n),
    )


def fit_classification(
    X: Any,
    y: Any,
    schema: Schema,
    objective: Objective,
    budget: LinearBudget,
    mechanism: Mechanism,
    *,
    follow_counts: bool,
    clip: float,
    learning_rate: float,
) -> LinearFit:
    """Fit a classifier by noisy gradient steps, preconditioned by released moments.

    Parameters
    ----------
    X, y : array-like, or ChunkedTable and its target
        Private records.
    schema : Schema
    objective : Objective
        Objective with the logistic or softmax loss.
    budget : LinearBudget
    mechanism : Mechanism
        Every release passes through it.
    follow_counts : bool
        Whether to clip numbers to the range of the middle 98% of the records; see `design`.
    clip : float
        Bound on a residual.
    learning_rate : float
        Step length; a step of length 1 minimizes the quadratic upper bound on the loss.

    Returns
    -------
    LinearFit
    """
    gradients = []
    with closing(_Records(X, y, schema, objective)) as records:
        fit = _with_moments(records, budget, mechanism, follow_counts=follow_counts)
        plan, n_scores = fit.design, objective.loss.n_scores
        step = learning_rate * fit.inverse / hessian_bound(n_scores)
        weights = np.zeros((plan.n_coordinates, n_scores))
        unit = clip / (_VALUE * _RESIDUAL)
        phase = budget.gradient_phase(plan.n_features, budget.n_steps * weights.size)
        with mechanism.phase(phase):
            for _ in range(budget.n_steps):
                released = mechanism.release(records.gradient(plan, weights, clip))
                gradients.append(unit * released.reshape(weights.shape))
                update = step @ gradients[-1]
                weights = np.clip(weights + update, -objective.bound, objective.bound)
    return _with(
        fit,
        weights=weights,
        target_std=phase.sigma_int * unit,
        class_sums=gradients[0][0] / clipped_share(n_scores, clip),
        clip=clip,
        learning_rate=learning_rate,
        n_steps=budget.n_steps,
    )


def clipped_share(n_scores: int, clip: float) -> float:
    """Return the factor by which clipping reduces the residuals at the start.

    At the start, all classes have the same probability, so the factor is the same for all records.
    """
    own = 1.0 - 1.0 / max(n_scores, 2)
    return min(1.0, clip / own)


def hessian_bound(n_scores: int) -> float:
    """Return the upper bound on the curvature of one record's loss."""
    return 0.25 if n_scores == 1 else 0.5


def _with(fit: LinearFit, **changes: Any) -> LinearFit:
    return LinearFit(**{**vars(fit), **changes})


def _with_moments(
    records: _Records,
    budget: LinearBudget,
    mechanism: Mechanism,
    *,
    follow_counts: bool,
) -> LinearFit:
    """Release histograms and second moments; return a fit with weights of zero."""
    histograms = release_histograms(
        records.histograms,
        mechanism,
        noise_multiplier=budget.histogram_multiplier(len(records.bins)),
        sensitivity=budget.histogram_factor,
    )
    counts = tuple(
        BinCounts(c, np.full(len(c), histograms.noise_std**2), len(b.special), b.ordered)
        for b, c in zip(records.bins, histograms.counts, strict=True)
    )
    plan = design(records.bins, counts, follow_counts=follow_counts)
    phase = budget.moment_phase(plan.n_features, int(plan.together.sum()))
    with mechanism.phase(phase):
        released = mechanism.release(records.second_moments(plan)) / _VALUE**2
    upper = np.zeros(plan.together.shape)
    upper[plan.together] = released
    values, vectors = np.linalg.eigh(upper + np.triu(upper, 1).T)
    moments = (vectors * np.maximum(values, 0.0)) @ vectors.T
    moment_std = phase.sigma_int / _VALUE**2
    return LinearFit(
        bins=records.bins,
        counts=counts,
        n_samples=histograms.n_samples,
        n_samples_std=histograms.n_samples_std,
        design=plan,
        moments=0.5 * (moments + moments.T),
        moment_std=moment_std,
        # Approximately the largest eigenvalue of noise alone, so that a direction that may be pure
        # noise has little effect.
        ridge=_RIDGE * moment_std * float(np.sqrt(plan.n_coordinates)),
        weights=np.zeros((plan.n_coordinates, 1)),
        target_std=0.0,
    )
