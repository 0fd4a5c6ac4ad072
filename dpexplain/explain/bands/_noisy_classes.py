"""Noise in a multiclass model across all classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpexplain.explain.bands._cautions import classes_caution
from dpexplain.explain.bands._noisy_model import (
    _DRAWS,
    drawn_importances,
    drawn_sizes,
    rank_intervals,
    words_of_effects,
    words_of_noise,
)
from dpexplain.explain.bands._noisy_part import NOT_AVAILABLE
from dpexplain.explain.noise_model import STANDS_OUT_LEVEL

if TYPE_CHECKING:
    from dpexplain.explain.additive.global_explanation import GlobalExplanation


class NoisyClasses:
    """Mixin for the noise in a :class:`MulticlassExplanation`."""

    by_class: tuple[GlobalExplanation, ...]

    @property
    def terms_above_noise(self) -> tuple[str, ...] | None:
        """Terms that rise above the noise in at least one class, most important first.

        If no term has any effect, the probability that any term is listed is at most 3%, divided
        equally among the classes. The result is None if the joint noise is unknown.
        """
        level = 1.0 - (1.0 - STANDS_OUT_LEVEL) / len(self.by_class)
        names: set[str] = set()
        for part in self.by_class:
            found = part.terms_above(level)
            if found is None:
                return None
            names |= {term.name for term in found}
        return tuple(str(name) for name in self._mean_importances().index if name in names)

    @property
    def noise_share(self) -> float | None:
        """Fraction of the variation in all curves that is explained by noise, from 0 to 1.

        This is the mean square of the noise divided by the mean square of the curves, for all terms
        and classes, weighted by the (noisy) counts and limited to at most 1. The result is None if
        the model has no noise, or if the noise is unknown.
        """
        noise, seen = 0.0, 0.0
        for part in self.by_class:
            for term in part.terms:
                if term.total_std is None:
                    return None
                noise += float(term.weights @ term.total_std**2)
                seen += float(term.weights @ term.contribution**2)
        return min(1.0, noise / seen) if seen > 0 else 1.0

    @property
    def noise_words(self) -> str:
        """Description of the terms that rise above the noise.

        If the explanation is private and its noise is unknown, the description says so. It is empty
        if the explanation is not private and has no known noise.
        """
        if self.noise_share is None and self.by_class[0].guarantee.private:
            return NOT_AVAILABLE
        n_terms = len(self.by_class[0].terms)
        return words_of_noise(self.noise_share, self.terms_above_noise, n_terms)

    @property
    def terms_with_effect(self) -> tuple[str, ...] | None:
        """Terms with a significant effect in at least one class, most important first.

        If no term has an effect, the probability that any term is listed is at most 3%, divided
        equally among the classes. The result is None if there are no effect estimates.
        """
        level = 1.0 - (1.0 - STANDS_OUT_LEVEL) / len(self.by_class)
        names: set[str] = set()
        for part in self.by_class:
            found = part.terms_with_effect_at(level)
            if found is None:
                return None
            names |= {term.name for term in found}
        return tuple(str(name) for name in self._mean_importances().index if name in names)

    @property
    def shown_share(self) -> float | None:
        """Fraction of the estimated effects that the released curves show, over all classes.

        The result is None if there are no estimates.
        """
        terms = [term for part in self.by_class for term in part.terms]
        effects = [term.effect_importance for term in terms]
        true = sum(e for e in effects if e is not None)
        if None in effects or not true > 0.0:
            return None
        return sum(term.importance for term in terms) / true

    @property
    def effect_words(self) -> str:
        """Description of the estimated effects; empty if there are no estimates."""
        n_terms = len(self.by_class[0].terms)
        return words_of_effects(self.terms_with_effect, self.shown_share, n_terms)

    @property
    def effect_caution(self) -> str:
        """Warning if the effect estimates are missing or unreliable; otherwise empty.

        There is a warning if a private model has no estimates, if there are too few records in
        total or in the rarest class, or if the effects of two terms on a class cannot be separated.
        """
        first = self.by_class[0]
        known = [part.effect_intercept for part in self.by_class]
        if first.effect_scatter is None or first.effect_caution:
            return first.effect_caution
        if few := classes_caution(first.terms, [k for k in known if k is not None]):
            return few
        return next((part.effect_caution for part in self.by_class if part.effect_caution), "")

    def _mean_importances(self) -> pd.Series[float]:
        parts = pd.concat([part.importances() for part in self.by_class], axis=1)
        names = [part.name for part in self.by_class[0].parts]
        means = parts.mean(axis=1).reindex(names).rename("importance")
        return means.sort_values(ascending=False, kind="stable")

    def ranking(self) -> pd.DataFrame:
        """Return importances averaged over the classes, with noise floors and ranks.

        Returns
        -------
        DataFrame
            Indexed by term, largest importance first. Columns: importance (mean absolute
            contribution, averaged over the classes); noise_floor, the importance expected from
            noise alone; corrected_importance, the importance corrected for the bias from noise;
            importance_std, an upper bound on the standard deviation of the importance, computed as
            if the errors of all classes were fully correlated; above_noise, whether the term rises
            above the noise in at least one class; rank_low and rank_high, the 95% rank interval of
            the term; class_of_most, the class to which the term contributes the most; basis, what
            the ranks refer to: "effect" (the estimated effects) if there are estimates, and
            otherwise "noise" (the released curves). If there are estimates, there are three more
            columns: effect and effect_std, the estimated true importance, averaged over the
            classes, and an upper bound on its standard deviation; and has_effect, whether the term
            has a significant effect in at least one class. Unknown numbers are NaN.

            For the direction of a term in each class, see ``for_class(label).ranking()``.
        """
        parts, above = self.by_class, self.terms_above_noise
        shown = np.array([[term.importance for term in part.terms] for part in parts])
        floors = np.array(
            [
                [np.nan if t.noise_floor is None else t.noise_floor for t in part.terms]
                for part in parts
            ]
        )
        corrected = np.array([[t.corrected_importance for t in part.terms] for part in parts])
        names = [term.name for term in parts[0].terms]
        table = pd.DataFrame(
            {
                "importance": shown.mean(axis=0),
                "noise_floor": floors.mean(axis=0),
                "corrected_importance": corrected.mean(axis=0),
                "importance_std": np.nan,
                "above_noise": [None if above is None else name in above for name in names],
                "rank_low": np.nan,
                "rank_high": np.nan,
                "class_of_most": [parts[c].of_class for c in shown.argmax(axis=0)],
            },
            index=pd.Index(names, name="term", dtype=object),
        )
        draws = [
            drawn_importances(part.terms, part.noise, part.noise.draws(_DRAWS))
            for part in parts
            if part.noise is not None
        ]
        if len(draws) == len(parts):
            table["importance_std"] = np.mean([d.std(axis=0) for d in draws], axis=0)
            ends = rank_intervals(corrected.mean(axis=0), draws)
            table["rank_low"], table["rank_high"] = ends
        table["basis"] = "noise" if len(draws) == len(parts) else None
        self._fill_effects(table)
        return table.sort_values("importance", ascending=False, kind="stable")

    def _fill_effects(self, table: pd.DataFrame) -> None:
        """Fill in the columns that describe the estimated effects, if there are any."""
        named = self.terms_with_effect
        if named is None:
            return
        sizes = [drawn_sizes(part) for part in self.by_class]
        table["effect"] = np.mean([s.mean(axis=0) for s in sizes], axis=0)
        table["effect_std"] = np.mean([s.std(axis=0) for s in sizes], axis=0)
        table["has_effect"] = [name in named for name in table.index]
        ends = rank_intervals(table["effect"].to_numpy(), sizes)
        table["rank_low"], table["rank_high"] = ends
        table["basis"] = "effect"
