"""Jumps of the true curves, chosen by their marginal likelihood.

The prior of `posterior` expects many small changes between neighboring bins, and rounds off large
ones. Here, a term can also have a few large changes: a step between two bins, or a single bin that
differs from its neighbors. Each possible jump adds one direction to the prior. So its marginal
likelihood, its height and its influence on all estimates follow from the posterior without it. The
most likely jumps are added one by one. The result is averaged over their positions, and over the
possibility of one more jump per term.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain.models.boosting.uncertainty.effects.basis import Basis, projected
from dpexplain.models.boosting.uncertainty.effects.posterior import (
    Information,
    Posterior,
    posterior,
)

FloatArray = NDArray[np.float64]

_ODDS = 0.5
"""Prior odds that a term has one more jump than those already found."""

_MOST = 4
"""Maximum number of jumps chosen per term."""

_SMOOTHER = np.array([1.0, 0.7, 0.5, 0.35, 0.25, 0.18])
"""Prior standard deviations of the smooth part of a curve with jumps, relative to one without."""

_LEAST_SHARE = 1e-4
"""Smallest share of records in a bin that may differ from its neighbors."""

_LEAST_WEIGHT = 1e-3
"""Jumps with a smaller probability are ignored when errors are computed."""


@dataclass(frozen=True, eq=False)
class Jumps:
    """Possible jumps of one term, one per column.

    Attributes
    ----------
    block : slice
        Coefficients of the term among all parameters.
    coefficients : ndarray of shape (n_functions, n_jumps)
        Coefficients of the curve of each jump with height 1.
    left : ndarray of shape (n_bins, n_jumps)
        Parts of these curves that the basis functions do not cover.
    std : float
        Prior standard deviation of the height.
    """

    block: slice
    coefficients: FloatArray
    left: FloatArray
    std: float

    @property
    def number(self) -> int:
        """Number of possible jumps."""
        return self.left.shape[1]


def possible_jumps(
    basis: Basis, n_values: int, *, ordered: bool, block: slice, std: float
) -> Jumps:
    """Return the possible jumps of a term.

    Parameters
    ----------
    basis : Basis
    n_values : int
        Number of value bins; special bins come after them.
    ordered : bool
        Whether the value bins are ordered. If they are not, or if there are fewer than three bins,
        there are no jumps.
    block : slice
        Coefficients of the term among all parameters.
    std : float
        Prior standard deviation of the height.

    Returns
    -------
    Jumps
        Steps between neighboring value bins, and single bins.
    """
    share = basis.shares
    seen = np.flatnonzero(share[:n_values] > 0.0)
    if not ordered or len(seen) < 3:
        seen = seen[:0]
    inner = seen[1:-1]
    place = np.arange(len(share))[:, None]
    steps = (place >= seen[1:]) & (place < n_values)
    alone = place == inner[share[inner] > _LEAST_SHARE]
    curves = np.concatenate([steps, alone], axis=1).astype(np.float64)
    curves -= share @ curves
    coefficients = projected(basis, curves)
    there = (share[:, None] > 0.0) | (place < n_values)
    left = np.where(there, curves - basis.functions @ coefficients, 0.0)
    return Jumps(block, coefficients, left, std)


@dataclass(frozen=True, eq=False)
class JumpingPosterior:
    """Posterior that allows for jumps.

    Attributes
    ----------
    after : Posterior
        Posterior of all parameters. Coefficients include the parts of jumps that basis functions
        cover.
    left : list of ndarray of shape (n_bins,)
        For each term, the part of the jumps that the basis functions do not cover.
    moves : ndarray of shape (n_rows, n_parameters)
        Errors of the parameters due to uncertain jumps. The sum of the outer products of the
        rows is a covariance that adds to that of `after`.
    left_moves : list of ndarray of shape (n_rows, n_bins)
        For each term, the same errors of the part that the basis functions do not cover.
    """

    after: Posterior
    left: list[FloatArray]
    moves: FloatArray
    left_moves: list[FloatArray]


class JumpSearch:
    """Search for the jumps of all terms.

    Parameters
    ----------
    known : Information
    possible : sequence of Jumps
        Possible jumps of each term.
    sizes, mean, std, *rest
        Parameters of `posterior`, in its order.
    """

    def __init__(
        self,
        known: Information,
        possible: Sequence[Jumps],
        sizes: Sequence[int],
        mean: FloatArray,
        std: FloatArray,
        *rest: Any,
    ) -> None:
        self._known, self._possible = known, possible
        self._prior = sizes, mean, std, rest
        self._chosen: list[tuple[int, int]] = []
        self._odds = [np.zeros(0)] * len(possible)
        self._update()

    def result(self) -> JumpingPosterior:
        """Choose likely jumps; average over their positions and one more per term."""
        self._choose()
        self._update()
        shift, left, moves, left_moves = self._averaged()
        own, turn = self.after, self.turn
        after = Posterior(
            turn @ own.mean + shift,
            turn @ own.covariance @ turn.T,
            own.scales,
            turn @ own.shrinkage,
        )
        return JumpingPosterior(after, left, moves, left_moves)

    def _update(self) -> None:
        """Compute the posterior; heights of chosen jumps are its last parameters."""
        heights = np.zeros((len(self._known.pull), len(self._chosen)))
        for j, (k, c) in enumerate(self._chosen):
            heights[self._possible[k].block, j] = self._possible[k].coefficients[:, c]
        self.turn = np.column_stack([np.eye(len(heights)), heights])
        known = Information(
            self.turn.T @ self._known.precision @ self.turn, self.turn.T @ self._known.pull
        )
        sizes, mean, std, rest = self._prior
        stds = [self._possible[k].std for k, _ in self._chosen]
        self.after = posterior(
            known, sizes, np.append(mean, np.zeros(len(stds))), np.append(std, stds), *rest
        )

    def _choose(self) -> None:
        """Choose the jumps of every term, given the posterior of the other terms."""
        sizes, _, _, rest = self._prior
        widths = rest[2] * self.after.scales  # the prior standard deviations of the posterior
        for k, (jumps, width) in enumerate(zip(self._possible, widths, strict=True)):
            if not jumps.number:
                continue
            inverse = np.linalg.inv(self.after.covariance[jumps.block, jumps.block])
            own = Information(
                inverse - np.eye(sizes[k]) / width**2, inverse @ self.after.mean[jumps.block]
            )
            found, self._odds[k] = likely_jumps(own, jumps, width)
            self._chosen += [(k, c) for c in found]

    def _weights(
        self, k: int, after: Posterior
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Describe one more jump of a term.

        Returns
        -------
        weight : ndarray of shape (n_jumps,)
            Probability of each jump; at most one of them exists.
        height, variance : ndarray of shape (n_jumps,)
            Mean and variance of its height, if it exists.
        move : ndarray of shape (n_parameters, n_jumps)
            Change of all estimates per unit of height.
        """
        jumps = self._possible[k]
        reach = self._known.precision[:, jumps.block] @ jumps.coefficients
        seen = self.turn.T @ reach
        response = after.covariance @ seen
        residual = self._known.pull - self._known.precision @ (self.turn @ after.mean)
        known = (jumps.coefficients * reach[jumps.block]).sum(axis=0)
        known = np.maximum(known - (seen * response).sum(axis=0), 0.0)
        variance = 1.0 / (1.0 / jumps.std**2 + known)
        height = variance * (residual[jumps.block] @ jumps.coefficients)
        odds = 0.5 * height**2 / variance - 0.5 * np.log1p(jumps.std**2 * known)
        odds += np.log(_ODDS / max(jumps.number, 1))
        weight = probabilities(odds)
        move = -self.turn @ response
        move[jumps.block] += jumps.coefficients
        return weight, height, variance, move

    def _averaged(self) -> tuple[FloatArray, list[FloatArray], FloatArray, list[FloatArray]]:
        """Average over the positions of chosen jumps, and one more jump per term."""
        n = len(self._known.pull)
        shift, left = np.zeros(n), [np.zeros(len(jumps.left)) for jumps in self._possible]
        moves, left_moves = [np.zeros((0, n))], [[np.zeros((0, len(own)))] for own in left]
        wanted = [(k, -1, self.after) for k in range(len(left))]
        for j, (k, c) in enumerate(self._chosen):
            wanted.append((k, c, given_no_height(self.after, n + j)))
        for k, chosen, after in wanted:
            weight, height, variance, move = self._weights(k, after)
            if chosen < 0 and len(weight):
                weight = probabilities(self._odds[k])
            each, beyond = move * height, self._possible[k].left * height
            mean, mean_beyond = each @ weight, beyond @ weight
            shift += mean - (each[:, chosen] if chosen >= 0 else 0.0)
            left[k] += mean_beyond
            used = weight > _LEAST_WEIGHT
            rest = np.sqrt(max(1.0 - weight[used].sum(), 0.0))
            root, scatter = np.sqrt(weight[used]), np.sqrt((weight * variance)[used])
            # The height of a chosen jump is already uncertain in the posterior.
            rows = [root * (each[:, used] - mean[:, None]), -rest * mean[:, None]]
            rows.append(scatter * move[:, used] * float(chosen < 0))
            more = [root * (beyond[:, used] - mean_beyond[:, None]), -rest * mean_beyond[:, None]]
            more.append(scatter * self._possible[k].left[:, used])
            moves.append(np.concatenate(rows, axis=1).T)
            for i, own in enumerate(left_moves):
                added = np.concatenate(more, axis=1).T
                own.append(added if i == k else np.zeros((len(added), len(left[i]))))
        return shift, left, np.concatenate(moves), [np.concatenate(own) for own in left_moves]


def likely_jumps(known: Information, jumps: Jumps, width: float) -> tuple[list[int], FloatArray]:
    """Choose the likely jumps of one term, one by one.

    A curve with jumps may be smoother elsewhere, so marginal likelihoods are averaged over several
    prior standard deviations of its smooth part.

    Parameters
    ----------
    known : Information
        Information about the coefficients of the term.
    jumps : Jumps
    width : float
        Prior standard deviation of the coefficients without jumps.

    Returns
    -------
    found : list of int
        Columns of `jumps`, at most four.
    odds : ndarray of shape (n_jumps,)
        Log odds of one more jump.
    """
    u, found = jumps.coefficients, list[int]()
    while True:
        evidence, gains = [], []
        for s in width * _SMOOTHER:
            prior = s**2 * np.eye(len(u)) + jumps.std**2 * u[:, found] @ u[:, found].T
            covariance = np.linalg.inv(known.precision + np.linalg.inv(prior))
            mean = covariance @ known.pull
            room = np.linalg.slogdet(np.eye(len(u)) + prior @ known.precision)[1]
            evidence.append(0.5 * known.pull @ mean - 0.5 * room)
            seen = known.precision @ u
            more = np.maximum((u * seen).sum(axis=0) - (seen * (covariance @ seen)).sum(axis=0), 0)
            score = (known.pull - known.precision @ mean) @ u
            gains.append(
                0.5 * score**2 / (1.0 / jumps.std**2 + more) - 0.5 * np.log1p(jumps.std**2 * more)
            )
        with_jump = np.logaddexp.reduce(np.array(evidence)[:, None] + np.array(gains), axis=0)
        odds = with_jump - np.logaddexp.reduce(evidence) + np.log(_ODDS / jumps.number)
        if len(found) == _MOST or not np.logaddexp.reduce(odds) > 0.0:
            return found, odds
        found.append(int(odds.argmax()))


def probabilities(odds: FloatArray) -> FloatArray:
    """Convert logarithmic odds to probabilities of mutually exclusive events.

    Odds are relative to the possibility that none of the events happens.

    Parameters
    ----------
    odds : ndarray of shape (n_events,)

    Returns
    -------
    ndarray of shape (n_events,)
    """
    return np.asarray(np.exp(odds - np.logaddexp.reduce(np.append(odds, 0.0))))


def given_no_height(after: Posterior, place: int) -> Posterior:
    """Return a posterior given that one parameter is zero.

    Parameters
    ----------
    after : Posterior
    place : int
        Index of the parameter.

    Returns
    -------
    Posterior
    """
    own = after.covariance[:, place]
    mean = after.mean - own * (after.mean[place] / own[place])
    covariance = after.covariance - np.outer(own, own) / own[place]
    return Posterior(mean, covariance, after.scales, after.shrinkage)
