"""Effect estimate of one curve: band, marks and directions."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from dpexplain.explain._record import FloatArray, finite, frozen, read_only
from dpexplain.explain.bands._cautions import term_caution
from dpexplain.explain.bands._noisy_shape import directions_inside
from dpexplain.explain.noise import mean_absolute

if TYPE_CHECKING:
    from dpexplain.explain.additive.shape_function import ShapeFunction


class EstimatedShape:
    """Mixin of :class:`ShapeFunction` for its effect estimate."""

    effect: FloatArray | None
    effect_std: FloatArray | None
    effect_factor: float | None

    if TYPE_CHECKING:

        @cached_property
        def weights(self) -> FloatArray: ...

        @property
        def n_bins(self) -> int: ...

        @property
        def n_value_bins(self) -> int: ...

        def _set(self, name: str, value: object) -> None: ...

    def _check_effect(self) -> None:
        given = (self.effect, self.effect_std, self.effect_factor)
        if all(part is None for part in given):
            return
        if self.effect is None or self.effect_std is None or self.effect_factor is None:
            raise ValueError("effect, effect_std and effect_factor are given together or not.")
        for name in ("effect", "effect_std"):
            self._set(name, read_only(name, getattr(self, name), (self.n_bins,)))
        factor = finite("effect_factor", self.effect_factor)
        if factor < 0 or (self.effect_std < 0).any():
            raise ValueError("effect_std and effect_factor must not be negative.")
        self._set("effect_factor", factor)

    @property
    def effect_band(self) -> tuple[FloatArray, FloatArray] | None:
        """Lower and upper end of the effect band; None without an estimate.

        With 95 % certainty the whole curve that is true of the population lies inside.
        """
        if self.effect is None or self.effect_std is None or self.effect_factor is None:
            return None
        half = self.effect_factor * self.effect_std
        return self.effect - half, self.effect + half

    @property
    def effect_signal(self) -> npt.NDArray[np.bool_] | None:
        """Bins whose effect band excludes zero."""
        if self.effect_band is None:
            return None
        low, high = self.effect_band
        return (low > 0) | (high < 0)

    @cached_property
    def effect_importance(self) -> float | None:
        """Estimated mean absolute contribution in the population."""
        if self.effect is None or self.effect_std is None:
            return None
        return float(self.weights @ mean_absolute(self.effect, self.effect_std))

    @property
    def effect_directions(self) -> tuple[str, ...] | None:
        """Possible directions of a curve inside the effect band; None without a band.

        As `possible_directions`, which speaks of the released curve.
        """
        if self.effect_band is None:
            return None
        low, high = (frozen(end[: self.n_value_bins]) for end in self.effect_band)
        return directions_inside(low, high)

    @property
    def effect_caution(self) -> str:
        """Warning of what the estimate cannot say of this curve; empty without one.

        What takes all terms to know is in :attr:`GlobalExplanation.effect_cautions`.
        """
        return term_caution(cast("ShapeFunction", self))
