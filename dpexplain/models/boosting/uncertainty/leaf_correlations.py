"""Feature correlations estimated from released leaf sums.

If features were independent, an error d in the visited curve would lower a leaf sum by the
curvature mass times d, and errors in other curves would change the sum only through their means. If
two features are correlated, an error in one curve can be masked by the opposite error in the other:
the fit does not correct these errors, and a band that assumes independent features is too narrow.
The curves at the time of each leaf sum are known. Therefore, correlations can be estimated by a
linear regression with known noise. Simulations draw correlations from the posterior of this
regression. If the sums contain little information, the draws remain widely spread. Pair sums are
not used here.

Notation: each feature has a set of functions of its bins, which are orthonormal with respect to the
curvature mass and orthogonal to constant functions. The correlation of two features is the matrix
of the inner products between the functions of one and the functions of the other. The block matrix
of all correlations, with identity matrices on the diagonal, is positive semidefinite.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.released import PrivateFit, released_path
from dpexplain.models.boosting.uncertainty.leaf_equations import Equations, LeafSums
from dpexplain.models.boosting.uncertainty.normal import mean_and_variances

FloatArray = NDArray[np.float64]

N_DRAWS = 20
"""Number of posterior draws of the correlations; simulations are divided among these draws."""

_PRIOR_STD = 0.25
"""Prior standard deviation of a correlation, on average over all pairs."""

_PAIR_WEIGHT = 1.0
"""Weight of the prior when the spread of a pair's correlations is estimated, as a number of
additional correlations."""

_OWN_SHARE = (0.85, 0.25)
"""Prior mean and standard deviation of the fraction of its own roughness that a term repairs. It is
below 1 because features are also correlated in details that are finer than the functions."""

_OWN_LIMITS = (0.3, 1.0)
_FUNCTIONS = (3, 2, 1)
_MOST_FUNCTIONS = 36
"""Maximum total number of functions of all features. A correlation is estimated for each pair of
functions of different features."""

_ROUNDS = 4
_LEAST_EIGENVALUE = 0.01


@dataclass(frozen=True, eq=False)
class Correlation:
    """Basis functions of each feature, and posterior draws of their correlations.

    Attributes
    ----------
    functions : tuple of ndarray of shape (n_bins, n_functions), one per feature
        Functions of the bins that are orthonormal with respect to the curvature mass, multiplied by
        this mass.
    draws : ndarray of shape (n_draws, n_functions_total, n_functions_total)
        Correlations between the functions of different features; zero within a feature.
    own_share : ndarray of shape (n_features,)
        Fraction of each term's own rough errors that the fit corrects. Rough errors are those that
        are not combinations of the functions.
    """

    functions: tuple[FloatArray, ...]
    draws: FloatArray
    own_share: FloatArray

    @property
    def start(self) -> NDArray[np.int64]:
        """Index of the first function of each feature, shape (n_features + 1,)."""
        return starts_of(f.shape[1] for f in self.functions)

    def reactions(self) -> FloatArray:
        """Return how errors along one function affect the sum over another function.

        For functions of different features, the effect is the drawn correlation. For a function and
        itself, it is 1 minus the feature's `own_share`; the rest of this effect is computed bin by
        bin (see `replay_trees`).
        """
        found = self.draws.copy()
        start = self.start
        for k, share in enumerate(self.own_share):
            own = np.arange(start[k], start[k + 1])
            found[:, own, own] += 1.0 - share
        return found


def starts_of(sizes: Iterable[int]) -> NDArray[np.int64]:
    """Return the first index of each block, and the end of the last block."""
    return np.cumsum([0, *sizes], dtype=np.int64)


def estimate_correlation(
    fit: PrivateFit,
    mass: Sequence[FloatArray],
    rng: np.random.Generator,
    *,
    bound: float,
    scale: float,
) -> Correlation:
    """Draw correlations from their posterior given the releases.

    Parameters
    ----------
    fit : PrivateFit
    mass : sequence of ndarray of shape (n_bins, n_scores, n_scores)
        Curvature of each feature, assuming independent features.
    rng : numpy.random.Generator
        Generator for the draws.
    bound : float
        Bound on scores per bin, in internal units of the boosting loop.
    scale : float
        Factor that converts the internal units of the boosting loop to score units.

    Returns
    -------
    Correlation
        Draws from the posterior of a linear regression of the leaf sums on the curves, with a
        normal prior whose spread is adapted pair by pair (empirical Bayes) [1]_.

    References
    ----------
    .. [1] Tipping, "Sparse Bayesian Learning and the Relevance Vector Machine", Journal of
       Machine Learning Research 1 (2001), equations 12, 13 and 16, applied to groups.
    """
    mean_mass = [np.trace(m, axis1=1, axis2=2) / m.shape[1] for m in mass]
    functions = _functions(fit, mean_mass)
    sums = LeafSums(fit, released_path(fit, bound), mass, mean_mass, functions, scale)
    problem = _Problem(functions)
    for k in range(len(mass)):
        for c in range(mass[0].shape[1]):
            problem.add(k, sums.equations(k, c))
    correlations, own = problem.posterior(rng)
    return Correlation(
        functions, _positive(correlations, starts_of(f.shape[1] for f in functions)), own
    )


def _functions(fit: PrivateFit, mass: Sequence[FloatArray]) -> tuple[FloatArray, ...]:
    """Return smooth functions of ordered features, and indicators of other features."""
    found: tuple[FloatArray, ...] = ()
    for n_functions in _FUNCTIONS:
        found = tuple(
            _of_feature(m, counts.n_special, counts.ordered, n_functions)
            for m, counts in zip(mass, fit.binned.counts, strict=True)
        )
        if sum(f.shape[1] for f in found) <= _MOST_FUNCTIONS:
            return found
    # If there are more features than functions, only the largest curves keep a function.
    sizes = [
        float(m @ (t - t.mean()) ** 2)
        for m, t in zip(mass, map(_mean_over_classes, fit.bags[0]), strict=True)
    ]
    kept = set(np.argsort(sizes)[::-1][:_MOST_FUNCTIONS].tolist())
    return tuple(f if k in kept else f[:, :0] for k, f in enumerate(found))


def _mean_over_classes(table: FloatArray) -> FloatArray:
    return table if table.ndim == 1 else np.abs(table - table.mean(axis=1, keepdims=True)).sum(1)


def _of_feature(mass: FloatArray, n_special: int, ordered: bool, n_functions: int) -> FloatArray:
    """Return functions that are orthonormal with respect to the mass, times the mass."""
    n_bins, root = len(mass), np.sqrt(np.maximum(mass, 0.0))
    weights = mass / max(float(mass.sum()), 1e-12)
    if ordered:
        place = np.cumsum(weights) - weights / 2.0
        raw = np.cos(np.pi * place[:, None] * np.arange(1, n_functions + 1))
        raw[n_bins - n_special :] = 0.0
    else:
        largest = np.argsort(-weights, kind="stable")[: min(n_functions, n_bins - 1)]
        raw = np.eye(n_bins)[:, largest]
    orthonormal, triangle = np.linalg.qr(root[:, None] * np.column_stack([np.ones(n_bins), raw]))
    real = np.abs(np.diag(triangle)) > 1e-4 * max(float(root.max(initial=0.0)), 1e-12)
    return np.asarray((orthonormal * root[:, None])[:, 1:][:, real[1:]])


class _Problem:
    """Normal equations for all correlations and for all values of `own_share`."""

    def __init__(self, functions: Sequence[FloatArray]) -> None:
        self._start = starts_of(f.shape[1] for f in functions)
        n_total, n_features = int(self._start[-1]), len(functions)
        feature = np.repeat(np.arange(n_features), np.diff(self._start))
        first, second = np.nonzero(feature[:, None] < feature[None, :])
        self._first, self._second = first, second
        self._place = np.full((n_total, n_total), -1)
        self._place[first, second] = self._place[second, first] = np.arange(len(first))
        pair = feature[first] * n_features + feature[second]
        self._pair = np.unique(pair, return_inverse=True)[1]
        self._n = len(first)
        n = self._n + n_features
        self._products, self._target = np.zeros((n, n)), np.zeros(n)

    def add(self, k: int, found: Equations) -> None:
        """Add the equations of one feature.

        The equations also contain the remaining residual of each bin, which is unknown and
        integrated out.
        """
        place = self._place[self._start[k] : self._start[k + 1]]
        known, members = place >= 0, found.members
        columns = np.column_stack([found.own, found.loads[:, known]])
        at = np.concatenate([[self._n + k], place[known]])
        inner = np.linalg.inv(np.eye(members.shape[1]) + members.T @ members)
        # Woodbury identity: remaining residuals add a low-rank part to the covariance of the sums.
        crossed = columns.T @ members
        self._products[np.ix_(at, at)] += columns.T @ columns - crossed @ inner @ crossed.T
        self._target[at] += columns.T @ found.sums - crossed @ (inner @ (members.T @ found.sums))

    def posterior(self, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draw correlations from the posterior, and estimate each `own_share`.

        The draws have shape (n_draws, n_functions_total, n_functions_total).
        """
        n, n_all = self._n, len(self._target)
        center, spread = _OWN_SHARE
        mean = np.concatenate([np.zeros(n), np.full(n_all - n, center)])
        precision = np.full(n_all, 1.0 / spread**2)
        precision[:n] = 1.0 / _PRIOR_STD**2
        members = np.bincount(self._pair, minlength=1)
        for _ in range(_ROUNDS - 1):
            found, variances = mean_and_variances(
                self._products + np.diag(precision), self._target + precision * mean
            )
            size = np.bincount(self._pair, found[:n] ** 2 + variances[:n], minlength=len(members))
            spread2 = (size + _PAIR_WEIGHT * _PRIOR_STD**2) / (members + _PAIR_WEIGHT)
            precision[:n] = (1.0 / spread2)[self._pair]
        root = np.linalg.cholesky(self._products + np.diag(precision))
        whitened = np.linalg.solve(root, self._target + precision * mean)
        found = np.linalg.solve(root.T, whitened)
        drawn = found[:, None] + np.linalg.solve(root.T, rng.standard_normal((n_all, N_DRAWS)))
        matrix = np.zeros((N_DRAWS, int(self._start[-1]), int(self._start[-1])))
        matrix[:, self._first, self._second] = drawn[:n].T
        matrix[:, self._second, self._first] = drawn[:n].T
        return matrix, np.clip(found[n:], *_OWN_LIMITS)


def _positive(correlations: FloatArray, start: NDArray[np.int64]) -> FloatArray:
    """Modify each draw so that its correlation matrix is positive definite."""
    n = correlations.shape[-1]
    if not n:
        return correlations
    values, vectors = np.linalg.eigh(correlations + np.eye(n))
    floored = np.maximum(values, _LEAST_EIGENVALUE)
    matrix = (vectors * floored[:, None, :]) @ vectors.transpose(0, 2, 1)
    whitening = np.zeros_like(matrix)
    for a, z in pairwise(start.tolist()):
        if a < z:
            own, turn = np.linalg.eigh(matrix[:, a:z, a:z])
            whitening[:, a:z, a:z] = (turn / np.sqrt(own)[:, None, :]) @ turn.transpose(0, 2, 1)
    return np.asarray(whitening @ matrix @ whitening - np.eye(n))
