"""Noise bands, effect bands and importances of a curve or pair."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dpexplain.explain._record import FloatArray
from dpexplain.explain.noise_model import mean_absolute, normal_certainty

_STEPS, _CLOSE = 60, 1e-13
MEAN_ABSOLUTE_NORMAL = math.sqrt(2.0 / math.pi)

NOT_AVAILABLE = "How much of this is privacy noise is not available for this kind of model."
"""Description of the noise of a private explanation if the noise is unknown."""


class NoisyPart:
    """Mixin for the bands of a :class:`ShapeFunction` or a :class:`PairCurve`."""

    contribution: FloatArray

    if TYPE_CHECKING:

        @cached_property
        def weights(self) -> FloatArray: ...

        @cached_property
        def importance(self) -> float: ...

        @property
        def total_std(self) -> FloatArray | None: ...

        @property
        def band_factor(self) -> float: ...

        effect_std: FloatArray | None

        @property
        def effect(self) -> FloatArray | None: ...

        @property
        def effect_factor(self) -> float | None: ...

    def _mean(self, values: FloatArray) -> float:
        """Return the mean value over all records, given the value of each bin or cell."""
        return float(np.vdot(self.weights, values))

    @property
    def band(self) -> tuple[FloatArray, FloatArray] | None:
        """Limits of the total-uncertainty band; None if `total_std` is None.

        The band contains the true contributions of all bins or cells simultaneously with 95%
        confidence. If the `simultaneous_factor` of a curve is unknown, the confidence refers to
        each bin separately.
        """
        std = self.total_std
        if std is None:
            return None
        half = self.band_factor * std
        return self.contribution - half, self.contribution + half

    @property
    def signal(self) -> npt.NDArray[np.bool_] | None:
        """Whether each bin or cell rises above the noise; None if `total_std` is None.

        A bin or cell rises above the noise if its total-uncertainty band excludes zero. If the true
        contribution is zero everywhere, the probability that nothing rises above the noise is 95%,
        unless the `simultaneous_factor` of a curve is unknown.
        """
        band = self.band
        if band is None:
            return None
        low, high = band
        return (low > 0) | (high < 0)

    @property
    def noise_floor(self) -> float | None:
        """Importance expected from noise alone; None if `total_std` is None.

        The mean of ``|N(0, s)|`` is ``s * sqrt(2 / pi)``, where s is `total_std`, so even pure
        noise has a positive importance. Importances should therefore be compared with this number.
        """
        std = self.total_std
        if std is None:
            return None
        return MEAN_ABSOLUTE_NORMAL * self._mean(std)

    @property
    def corrected_importance(self) -> float:
        """Importance corrected for noise, in `score_unit`.

        This is the importance after shrinking all contributions by `kept_share`. It is 0 if noise
        alone would be expected to produce at least the observed importance.
        """
        return self.importance * self.kept_share

    @cached_property
    def kept_share(self) -> float:
        """Factor by which contributions are shrunk to correct the importance for noise.

        If noise were added to the shrunk contributions, their expected importance would equal the
        observed importance.
        """
        std, share = self.total_std, 1.0
        if std is None:
            return 1.0
        size = np.abs(self.contribution)
        if self.importance <= self._mean(mean_absolute(np.zeros_like(size), std)):
            return 0.0
        # The expected importance is convex in the share and, at share 1, at least the observed
        # importance, so Newton's method decreases to the solution without overshooting.
        for _ in range(_STEPS):
            curve = share * size
            ratio = np.divide(curve, std, out=np.full(curve.shape, np.inf), where=std > 0)
            excess = self._mean(mean_absolute(curve, std)) - self.importance
            slope = self._mean(size * (2.0 * normal_certainty(ratio) - 1.0))
            if excess <= _CLOSE * self.importance or not slope > 0:
                break
            share -= excess / slope
        return max(0.0, share)

    @property
    def effect_band(self) -> tuple[FloatArray, FloatArray] | None:
        """Limits of the effect band; None if there is no estimate.

        The band contains the true contributions of all bins or cells in the population with 95%
        confidence.
        """
        if self.effect is None or self.effect_std is None or self.effect_factor is None:
            return None
        half = self.effect_factor * self.effect_std
        return self.effect - half, self.effect + half

    @property
    def effect_signal(self) -> npt.NDArray[np.bool_] | None:
        """Whether the effect band excludes zero in each bin or cell; None without a band."""
        if self.effect_band is None:
            return None
        low, high = self.effect_band
        return (low > 0) | (high < 0)

    @cached_property
    def effect_importance(self) -> float | None:
        """Estimated mean absolute contribution in the population; None if not available."""
        if self.effect is None or self.effect_std is None:
            return None
        return self._mean(mean_absolute(self.effect, self.effect_std))
