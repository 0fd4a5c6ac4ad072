"""Effect estimates of a whole model: terms, ranks and signs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpexplain.explain._record import FloatArray
from dpexplain.explain.noise import STANDS_OUT_LEVEL, NoiseModel

if TYPE_CHECKING:
    from dpexplain.explain.additive.shape_function import ShapeFunction


class EstimatedModel:
    """Mixin of :class:`GlobalExplanation` for its effect estimates."""

    terms: tuple[ShapeFunction, ...]
    effect_scatter: NoiseModel | None

    @property
    def terms_with_effect(self) -> tuple[str, ...] | None:
        """Terms with a significant effect, largest effect first.

        If no term has one, none is named with a chance of 97%: the rule looks at all bins of all
        terms at once, as `terms_above_noise` does for the released curves. None if the effect
        is not available.
        """
        if self.effect_scatter is None:
            return None
        factor = self.effect_scatter.overall_factor(STANDS_OUT_LEVEL)
        found = [t for t in self.terms if _largest_ratio(t) > factor]
        return tuple(t.name for t in sorted(found, key=lambda t: -(t.effect_importance or 0.0)))

    @property
    def shown_share(self) -> float | None:
        """Share of the effects in the released curves; None without estimates.

        Sum of the importances of the curves over that of the estimated effects. Below 1 if a fit
        stopped early, because its curves are shrunk.
        """
        effects = [t.effect_importance for t in self.terms]
        true = sum(e for e in effects if e is not None)
        if None in effects or not true > 0.0:
            return None
        return sum(t.importance for t in self.terms) / true

    @property
    def effect_words(self) -> str:
        """Description of the estimated effects.

        Empty where the effect is not available.
        """
        names, shown = self.terms_with_effect, self.shown_share
        if names is None or shown is None:
            return ""
        n_terms = len(self.terms)
        if not names:
            return "No term has an effect that is certain: the data could be without any."
        which = "All" if len(names) == n_terms else f"{len(names)} of {n_terms}"
        verb = "has" if len(names) == 1 and n_terms > 1 else "have"
        words = f"{which} terms {verb} an effect that is certain."
        return f"{words} The released curves show about {100 * shown:.0f}% of the effects."


def drawn_effects(
    terms: tuple[ShapeFunction, ...], scatter: NoiseModel, n_draws: int
) -> FloatArray:
    """Draw plausible true curves.

    Parameters
    ----------
    terms : sequence of ShapeFunction
        With an estimate of the effect each.
    scatter : NoiseModel
    n_draws : int

    Returns
    -------
    ndarray of shape (n_draws, n_values)
        Bins of all terms, in sequence.
    """
    centre = np.concatenate([np.zeros(t.n_bins) if t.effect is None else t.effect for t in terms])
    return np.asarray(scatter.draws(n_draws)[:, :-1] + centre)


def _largest_ratio(term: ShapeFunction) -> float:
    """Return the largest effect in standard deviations; 0 without scatter."""
    if term.effect is None or term.effect_std is None:
        return 0.0
    std = term.effect_std
    ratio = np.divide(np.abs(term.effect), std, out=np.zeros(len(std)), where=std > 0)
    return float(ratio.max())
