"""Split criteria with bounded sensitivity, and the M-alpha loss.

Notation: p and q are the summed weights of the positive and negative records in a node, u is the
proportion p / (p + q), L is a concave Bayes risk with ``L(0) = L(1) = 0`` and ``L(1/2) = 1``, and
``H(p, q) = (p + q) L(u)``. The criterion of a tree is the sum of H over its leaves. H is concave
and homogeneous, so it increases in p and in q, and its slope in p decreases with p and increases
with q. Adding a record of weight at most 1 therefore raises the criterion by between 0 and
``H(1, m - 1)``, provided that no sum exceeds m - 1. The criteria of all splits change in the same
direction, so the changes in any two utilities differ by at most this amount [1]_. If H(1, m - 1)
grows with m, sums are capped at m - 1 (`largest_sum`), so that the bound holds for any number of
records; m is then only an estimate of the maximum number.

References
----------
.. [1] Nock and Henecka, "Boosted and Differentially Private Ensembles of Decision Trees", 2020,
   arXiv:2001.09384: Theorem 3, without its factor of two, which is not needed under add/remove
   adjacency.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

Criterion = Literal["gini", "zero_one", "matsushita", "log", "m_alpha"]

CRITERIA: tuple[str, ...] = ("gini", "zero_one", "matsushita", "log", "m_alpha")
WITHOUT_BOUND: tuple[str, ...] = ("gini", "zero_one")
"""Criteria whose sensitivity needs no bound on the number of records."""


def criterion_value(name: str, p: FloatArray, q: FloatArray, alpha: float = 1.0) -> FloatArray:
    """Return the criterion ``H(p, q)``.

    Parameters
    ----------
    name : {"gini", "zero_one", "matsushita", "log", "m_alpha"}
    p, q : ndarray
        Summed weights, nonnegative.
    alpha : float, default=1.0
        Parameter of "m_alpha": 1 gives Matsushita's criterion, and 0 gives the 0/1 criterion.

    Returns
    -------
    ndarray
    """
    total = np.maximum(p + q, 1e-300)
    if name == "gini":
        return np.asarray(4.0 * p * (q / total))
    if name == "zero_one":
        return np.asarray(2.0 * np.minimum(p, q))
    if name == "matsushita":
        return np.asarray(2.0 * np.sqrt(p * q))
    if name == "log":
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = [np.where(x > 0, -x * np.log2(x / total), 0.0) for x in (p, q)]
        return np.asarray(parts[0] + parts[1])
    return np.asarray(alpha * 2.0 * np.sqrt(p * q) + (1.0 - alpha) * 2.0 * np.minimum(p, q))


def largest_sum(name: str, m: int | None) -> float:
    """Return the cap on summed weights in a criterion.

    Parameters
    ----------
    name : {"gini", "zero_one", "matsushita", "log", "m_alpha"}
    m : int or None
        Estimated maximum number of records; None if the criterion needs no bound.

    Returns
    -------
    float
        ``m - 1``, but at most ``2**26``, beyond which the floating-point logarithm would be
        coarser than the lattice of utilities; infinite if no bound is needed.
    """
    if name in WITHOUT_BOUND:
        return math.inf
    assert m is not None
    return float(min(max(m - 1, 1), 1 << 26))


def criterion_sensitivity(name: str, m: int | None, alpha: float = 1.0) -> float:
    """Return the sensitivity of the criterion to a record of weight 1.

    Parameters
    ----------
    name : {"gini", "zero_one", "matsushita", "log", "m_alpha"}
    m : int or None
        Estimated maximum number of records; None if the criterion needs no bound.
    alpha : float, default=1.0
        See `criterion_value`.

    Returns
    -------
    float
        ``H(1, m - 1)``; slightly more for "log".
    """
    if name == "gini":
        return 4.0
    if name == "zero_one":
        return 2.0
    assert m is not None
    root = 2.0 * math.sqrt(max(m - 1, 1))
    if name == "matsushita":
        return root
    if name == "log":
        return math.log2(m + 1.0) + 1.0 / math.log(2.0)
    return alpha * root + 2.0 * (1.0 - alpha)


def link(u: FloatArray, alpha: float) -> FloatArray:
    """Return the canonical link of the M-alpha loss.

    Parameters
    ----------
    u : ndarray
        Proportion of positive weight.
    alpha : float
        In (0, 1].

    Returns
    -------
    ndarray
        ``alpha (2u - 1) / sqrt(u (1 - u)) + 2 (1 - alpha) sign(2u - 1)``.
    """
    apart = 2.0 * u - 1.0
    return np.asarray(alpha * apart / np.sqrt(u * (1.0 - u)) + 2.0 * (1.0 - alpha) * np.sign(apart))


def weight(margin: FloatArray, alpha: float) -> FloatArray:
    """Return record weights: the inverse link of the negative margin.

    Only ``+ - * /``, comparisons and the correctly rounded square root are used, so that each
    weight depends, down to the last bit, only on the record's own margin.

    Parameters
    ----------
    margin : ndarray
        Class (-1 or 1) times score.
    alpha : float
        In (0, 1].

    Returns
    -------
    ndarray
        Weights in [0, 1]; a weight is 1/2 if the margin is within ``2 (1 - alpha)`` of zero.
    """
    b = np.maximum(0.0, np.abs(margin) - 2.0 * (1.0 - alpha))
    return np.asarray(0.5 - np.sign(margin) * b / (2.0 * np.sqrt(b * b + 4.0 * alpha * alpha)))


def surrogate(margin: FloatArray, alpha: float) -> FloatArray:
    """Return the convex surrogate of the M-alpha loss.

    Parameters
    ----------
    margin : ndarray
        Class (-1 or 1) times score.
    alpha : float
        In (0, 1].

    Returns
    -------
    ndarray
    """
    b = np.maximum(0.0, np.abs(margin) - 2.0 * (1.0 - alpha))
    root = 0.5 * np.sqrt(b * b + 4.0 * alpha * alpha) - alpha
    return np.asarray(1.0 - 0.5 * margin + root)
