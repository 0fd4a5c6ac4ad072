"""Noisy Newton steps for counts: leaf sums divided by expected numbers of events.

The curvature of the Poisson loss is the rate, which differs between bins. A private fit derives the
rates from its releases as if features were independent: the rate of a bin is the exponential of its
score, multiplied by one factor for each other feature: the mean of the exponential of that
feature's score. If features are dependent, the steps are slightly too short or too long, but the
fit converges to the same curve.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.counts import BinCounts
from dpexplain.mechanisms import Mechanism
from dpexplain.models.boosting.records._kernels_exp import EXPONENT_SPAN
from dpexplain.models.boosting.records._kernels_sums import LATTICE
from dpexplain.models.boosting.records.binned import BinnedRecords
from dpexplain.models.boosting.released import LeafStep, Tables
from dpexplain.models.boosting.structure import Visit

_CLIP_STDS = 2.5
"""Residuals are clipped at this number of standard deviations of a Poisson count, plus one."""

_LARGEST_STEP = 1.0
"""A full step multiplies or divides a rate by at most e, because the loss is far from quadratic."""


class CountStep:
    """Boosting step of Algorithm 2 for the Poisson loss.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism that adds the noise of the phase to every release.
    counts : sequence of BinCounts
        Noisy number of records in each bin of each feature.
    learning_rate : float
        Fraction of the Newton step that is added.
    high : float
        Upper end of the public range of counts, used as the unit of residuals and rates.
    clip : float or None
        Bound on one record's residual, in units of `high`. If None, the clip follows the mean rate
        implied by the releases so far. This costs no privacy, because the noise scales with the
        clip.
    least_weight : float
        Minimum expected number of events in a leaf, divided by the clip. If any leaf of a tree has
        fewer, all leaves get the same update. With the default recipe, this is twice the noise
        standard deviation of a leaf sum in units of the clip.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        counts: Sequence[BinCounts],
        *,
        learning_rate: float,
        high: float,
        clip: float | None,
        least_weight: float,
    ) -> None:
        self._mechanism = mechanism
        n_records = [np.maximum(c.counts, 0.0) for c in counts]
        self._shares = [
            p / p.sum() if p.sum() > 0 else np.full(len(p), 1 / len(p)) for p in n_records
        ]
        self._learning_rate = learning_rate
        self._high = high
        self._given_clip = clip
        self._least_weight = least_weight
        self._means = np.zeros(0)
        self._last = -1
        self.taken: list[LeafStep] = []
        self._clip = 1.0 if clip is None else clip

    def __call__(self, visit: Visit, records: BinnedRecords, tables: Tables) -> NDArray[np.float64]:
        """Return the noisy Newton step times the learning rate, per bin."""
        rates = self._rates(visit.feature, tables)
        clip = self._clip
        sums = records.leaf_sums(visit.feature, visit.leaf_of_bin, len(visit.leaf_weight), clip)
        noisy: NDArray[np.float64] = self._mechanism.release(sums) * np.float64(clip / LATTICE)
        shares = self._shares[visit.feature]
        held = np.bincount(visit.leaf_of_bin, weights=shares)
        events = np.bincount(visit.leaf_of_bin, weights=shares * rates)
        mean_rate = np.where(held > 0, events / np.maximum(held, 1e-12), rates.mean())
        expected, least = visit.leaf_weight * mean_rate, self._least_weight * clip
        released, together = noisy, bool((expected < least).any())
        if together:
            # There are too few events to estimate each leaf, so all leaves share one step.
            noisy = np.full(len(noisy), noisy.sum())
            expected = np.full(len(noisy), max(float(expected.sum()), least))
        step = np.clip(noisy / expected, -_LARGEST_STEP, _LARGEST_STEP)
        gain = self._learning_rate / expected * (np.abs(step) < _LARGEST_STEP)
        update = self._learning_rate * step
        self.taken.append(LeafStep(clip, released, gain, together, update))
        return update[visit.leaf_of_bin]

    def _rates(self, feature: int, tables: Tables) -> NDArray[np.float64]:
        """Return mean rates per bin, in units of `high`, and update the clip."""
        if self._last < 0:
            self._means = np.array(
                [s @ np.exp(t) for s, t in zip(self._shares, tables, strict=True)]
            )
        else:
            self._means[self._last] = self._shares[self._last] @ np.exp(tables[self._last])
        self._last = feature
        others = np.prod(np.delete(self._means, feature))
        if self._given_clip is None:
            mean = min(self._means.prod(), 1.0) * self._high
            self._clip = min(1.0, (1.0 + _CLIP_STDS * np.sqrt(mean)) / self._high)
        return np.clip(np.exp(tables[feature]) * others, np.exp(-EXPONENT_SPAN), 1.0)
