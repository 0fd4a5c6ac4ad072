"""Noise in a curve, and its effect estimate."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from dpexplain.explain._record import FloatArray, finite, frozen, read_only
from dpexplain.explain.bands._cautions import Estimated, term_caution
from dpexplain.explain.bands._noisy_part import NoisyPart
from dpexplain.explain.noise_model import mean_absolute

# Half-width of the band if the joint errors are unknown; it holds for each bin separately.
_POINTWISE = 2.0


class NoisyShape(NoisyPart):
    """Mixin for the noise and the effect estimate of a :class:`ShapeFunction`."""

    noise_std: FloatArray | None
    structure_std: FloatArray | None
    sampling_std: FloatArray | None
    simultaneous_factor: float | None
    effect: FloatArray | None
    effect_std: FloatArray | None
    effect_factor: float | None

    if TYPE_CHECKING:

        @property
        def n_bins(self) -> int: ...

        @property
        def n_value_bins(self) -> int: ...

        def _set(self, name: str, value: object) -> None: ...

    @cached_property
    def total_std(self) -> FloatArray | None:
        """Standard deviation of each contribution (total uncertainty), in `score_unit`.

        It combines privacy noise with random structure and sampling, if these are known. The result
        is None if there is no privacy noise, or if it is unknown.
        """
        if self.noise_std is None:
            return None
        parts = (self.noise_std, self.structure_std, self.sampling_std)
        squares = [np.square(part) for part in parts if part is not None]
        return frozen(np.asarray(np.sqrt(np.sum(squares, axis=0))))

    @property
    def band_factor(self) -> float:
        """Half-width of the band in standard deviations."""
        return _POINTWISE if self.simultaneous_factor is None else self.simultaneous_factor

    @property
    def possible_directions(self) -> tuple[str, ...]:
        """Directions that a curve inside the band can have over the ordered value bins.

        ``("rising",)`` means that a rising curve fits inside the band and a falling curve does not.
        If "constant" is included, a constant curve fits inside the band. The result is empty if
        every curve inside the band changes direction. If `band` is None, only the curve itself is
        considered.
        """
        band = self.band
        ends = (self.contribution, self.contribution) if band is None else band
        low, high = (end[: self.n_value_bins] for end in ends)
        return directions_inside(low, high)

    def _check_effect(self) -> None:
        given = (self.effect, self.effect_std, self.effect_factor)
        if all(part is None for part in given):
            return
        if self.effect is None or self.effect_std is None or self.effect_factor is None:
            raise ValueError(
                "effect, effect_std and effect_factor must be given together or all omitted."
            )
        for name in ("effect", "effect_std"):
            self._set(name, read_only(name, getattr(self, name), (self.n_bins,)))
        factor = finite("effect_factor", self.effect_factor)
        if factor < 0 or (self.effect_std < 0).any():
            raise ValueError("effect_std and effect_factor must not be negative.")
        self._set("effect_factor", factor)

    @property
    def effect_band(self) -> tuple[FloatArray, FloatArray] | None:
        """Limits of the effect band; None if there is no estimate.

        The band contains the entire true population curve with 95% confidence.
        """
        if self.effect is None or self.effect_std is None or self.effect_factor is None:
            return None
        half = self.effect_factor * self.effect_std
        return self.effect - half, self.effect + half

    @property
    def effect_signal(self) -> npt.NDArray[np.bool_] | None:
        """For each bin, whether the effect band excludes zero; None if there is no band."""
        if self.effect_band is None:
            return None
        low, high = self.effect_band
        return (low > 0) | (high < 0)

    @cached_property
    def effect_importance(self) -> float | None:
        """Estimated mean absolute contribution in the population; None if not available."""
        if self.effect is None or self.effect_std is None:
            return None
        return float(self.weights @ mean_absolute(self.effect, self.effect_std))

    @property
    def effect_caution(self) -> str:
        """Warning about a missing or weak effect estimate of this curve; empty otherwise.

        For warnings that depend on the whole model, see :attr:`GlobalExplanation.effect_cautions`.
        """
        return term_caution(cast(Estimated, self))

    @property
    def effect_directions(self) -> tuple[str, ...] | None:
        """Directions that a curve inside the effect band can have.

        The directions mean the same as in `possible_directions`, which describes the released
        curve. The result is None if there is no effect band.
        """
        if self.effect_band is None:
            return None
        low, high = (frozen(end[: self.n_value_bins]) for end in self.effect_band)
        return directions_inside(low, high)


def directions_inside(low: FloatArray, high: FloatArray) -> tuple[str, ...]:
    """Return the directions that a curve inside a band can have.

    Parameters
    ----------
    low, high : ndarray of shape (n_value_bins,)
        Lower and upper limits of the band.

    Returns
    -------
    tuple of str
        The possible directions among "constant", "rising" and "falling"; empty if every curve
        inside the band changes direction.
    """
    # A rising curve fits if no lower end is above the upper end of a later bin.
    rising = bool((np.maximum.accumulate(low) <= high).all())
    falling = bool((np.minimum.accumulate(high) >= low).all())
    if low.max(initial=-np.inf) <= high.min(initial=np.inf):
        return ("constant", "rising", "falling")
    fits = (("rising", rising), ("falling", falling))
    return tuple(name for name, fit in fits if fit)
