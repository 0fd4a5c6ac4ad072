"""Effect estimates of a whole model: terms, ranks and signs."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dpexplain.explain._record import FloatArray
from dpexplain.explain.bands._cautions import (
    entangled_terms,
    entangled_words,
    missing_words,
    people_caution,
)
from dpexplain.explain.noise import STANDS_OUT_LEVEL, NoiseModel

if TYPE_CHECKING:
    from dpexplain.explain.additive.links import Link
    from dpexplain.explain.additive.shape_function import ShapeFunction
    from dpexplain.explain.guarantee import Guarantee


class EstimatedModel:
    """Mixin of :class:`GlobalExplanation` for its effect estimates."""

    terms: tuple[ShapeFunction, ...]
    effect_scatter: NoiseModel | None
    effect_intercept: float | None
    guarantee: Guarantee
    link: Link

    @property
    def terms_with_effect(self) -> tuple[str, ...] | None:
        """Terms with a significant effect, largest effect first.

        If no term has one, none is named with a chance of 97 %: the rule looks at all bins of all
        terms at once, as `terms_above_noise` does for the released curves. None where the effect
        is not worked out.
        """
        if self.effect_scatter is None:
            return None
        factor = self.effect_scatter.overall_factor(STANDS_OUT_LEVEL)
        found = [t for t in self.terms if _largest_ratio(t) > factor]
        return tuple(t.name for t in sorted(found, key=lambda t: -(t.effect_importance or 0.0)))

    @property
    def shown_share(self) -> float | None:
        """Share of the effects in the released curves; None without estimates.

        Sum of the importances of the curves over that of the estimated effects. Below 1 where a
        fit stopped early: curves fall short of what is true.
        """
        effects = [t.effect_importance for t in self.terms]
        true = sum(e for e in effects if e is not None)
        if None in effects or not true > 0.0:
            return None
        return sum(t.importance for t in self.terms) / true

    @property
    def effect_words(self) -> str:
        """Description of the estimated effects.

        Empty where the effect is not worked out.
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

    @property
    def effect_caution(self) -> str:
        """Warning where the estimates are known not to hold for this model; empty otherwise.

        Where a private model has none at all, where people are too few, or where terms go
        together so closely that their effects are not told apart.
        """
        if self.effect_scatter is None:
            return missing_words(self.link) if self.guarantee.private else ""
        few = people_caution(self.terms, self.link, self.effect_intercept)
        tied = self._entangled
        if few or not tied:
            return few
        name = max(tied, key=lambda each: tied[each][1])
        return entangled_words((name, tied[name][0]))

    @property
    def effect_cautions(self) -> dict[str, str]:
        """Warnings by term, of terms that have one.

        That of the model where it concerns all terms; then that two terms are not told apart;
        then :attr:`ShapeFunction.effect_caution`.
        """
        if self.effect_scatter is None:
            missing = self.effect_caution
            return dict.fromkeys((t.name for t in self.terms), missing) if missing else {}
        few = people_caution(self.terms, self.link, self.effect_intercept)
        tied = self._entangled
        found = {
            t.name: few
            or (entangled_words((t.name, tied[t.name][0])) if t.name in tied else "")
            or t.effect_caution
            for t in self.terms
        }
        return {name: words for name, words in found.items() if words}

    @cached_property
    def _entangled(self) -> dict[str, tuple[str, float]]:
        scatter = self.effect_scatter
        return {} if scatter is None else entangled_terms(self.terms, scatter)


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
        Bins of all terms, one after the other.
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
