"""Noise in a multiclass model across all classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpexplain.explain.bands._noisy_model import (
    _DRAWS,
    drawn_importances,
    rank_intervals,
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
            the term; class_of_most, the class to which the term contributes the most. Unknown
            numbers are NaN.

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
        return table.sort_values("importance", ascending=False, kind="stable")
