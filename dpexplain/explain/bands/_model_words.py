"""Noise and effects of a model in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dpexplain.explain.bands._cautions import (
    NOT_ESTIMATED,
    entangled_words,
    model_caution,
    people_note,
)
from dpexplain.explain.bands._noisy_part import NOT_AVAILABLE
from dpexplain.explain.noise_model import STANDS_OUT_LEVEL

if TYPE_CHECKING:
    from dpexplain.explain.additive.shape_function import ShapeFunction

_COLUMN_WORDS = (
    "What is noise? importance, noise_floor and above_noise describe the {}. An importance above "
    "its noise_floor is not enough for above_noise: the curve must leave a band around all bins of "
    "all terms. What holds in the population? effect, effect_std and has_effect estimate it; an "
    "effect is certain_by bins, by the slope, or by both. The column basis states what ranks and "
    "directions refer to. Ranks compare all terms: if one has a warning or note, the ranks of "
    "others may be wrong, too."
)
_CLASS_WORDS = (
    " Numbers are means over the classes; above_noise, has_effect and certain_by are about at "
    "least one class, and class_of_most is the class to which the term contributes most."
)


class ModelWords:
    """Mixin that describes the noise and effects of one or several scores."""

    if TYPE_CHECKING:

        @property
        def _by_score(self) -> Sequence[Any]: ...

        @property
        def terms_above_noise(self) -> tuple[str, ...] | None: ...

        @property
        def terms_with_effect(self) -> tuple[str, ...] | None: ...

    @property
    def noise_share(self) -> float | None:
        """Fraction of the variation in all curves that is explained by noise, from 0 to 1.

        This is the mean square of the noise divided by the mean square of the curves, for all terms
        (and classes), weighted by the (noisy) counts and limited to at most 1. The result is None
        if the model has no noise, or if the noise is unknown.
        """
        noise, seen = 0.0, 0.0
        for term in self._terms_of_scores:
            if term.total_std is None:
                return None
            noise += float(term.weights @ term.total_std**2)
            seen += float(term.weights @ term.contribution**2)
        return min(1.0, noise / seen) if seen > 0 else 1.0

    @property
    def shown_share(self) -> float | None:
        """Fraction of the estimated effects that is visible in the released curves.

        This is the sum of the importances of all curves divided by the sum of the importances of
        the estimated effects. It is usually below 1 if the fit stopped early, because its curves
        then understate the effects. The result is None if there are no estimates.
        """
        effects = [term.effect_importance for term in self._terms_of_scores]
        true = sum(e for e in effects if e is not None)
        if None in effects or not true > 0.0:
            return None
        return sum(term.importance for term in self._terms_of_scores) / true

    @property
    def noise_words(self) -> str:
        """Description of the terms that rise above the noise.

        If the explanation is private and its noise is unknown, the description says so. It is empty
        if the explanation is not private and has no known noise.
        """
        share, names = self.noise_share, self.terms_above_noise
        if share is None:
            return NOT_AVAILABLE if self._by_score[0].guarantee.private else ""
        amount = f"about {100 * share:.0f}% of the variation of the curves is explained by noise"
        if names is None:
            return f"{amount[0].upper()}{amount[1:]}."
        if not names:
            nothing = "No curve" if self._has_pairs else "Nothing"
            return f"{nothing} rises above the noise: {amount}."
        rise = "rises" if len(names) == 1 < self._n_terms else "rise"
        return f"{self._counted(names)} {rise} above the noise; {amount}."

    @property
    def effect_words(self) -> str:
        """Description of the estimated effects; empty if there are no estimates."""
        names, shown = self.terms_with_effect, self.shown_share
        if names is None or shown is None:
            return ""
        if not names and self._has_pairs:  # a pair may have an effect, which is not estimated
            return "No curve has an effect that is certain."
        if not names:
            return "No term has an effect that is certain: there may be none."
        verb = "has" if len(names) == 1 < self._n_terms else "have"
        words = f"{self._counted(names)} {verb} an effect that is certain."
        percent = round(100 * shown)
        larger = ": noise makes them larger" if percent > 100 and not self._edited else ""
        return f"{words} The {self._curves_words} show about {percent}% of the effects{larger}."

    @property
    def effect_caution(self) -> str:
        """Warning if true curves may be outside their bands; otherwise empty.

        There is a warning if a private model has no estimates, or if a term has one; see
        :attr:`GlobalExplanation.effect_cautions`. If there are too few records, :attr:`effect_note`
        says so instead.
        """
        first = self._by_score[0]
        if first.effect_scatter is None:
            return NOT_ESTIMATED if first.guarantee.private else ""
        found: dict[str, str] = {}
        for part in self._by_score:
            found |= part.effect_cautions
        return "" if self._few else model_caution(found, self._n_terms)

    @property
    def effect_note(self) -> str:
        """Sentence on why effects are hardly known, although bands hold; or empty.

        There are too few records, in total or in the rarest class, or the effects of two terms
        cannot be separated because the terms are strongly correlated.
        """
        if self._few:
            return self._few
        for tied in (part._entangled for part in self._by_score):
            if tied:
                name = max(tied, key=lambda each: tied[each][1])
                return entangled_words((name, tied[name][0]))
        return ""

    @property
    def effect_remark(self) -> str:
        """The warning, or otherwise the note; empty if there is neither."""
        return self.effect_caution or self.effect_note

    @cached_property
    def _certain(self) -> dict[str, str] | None:
        """By what each significant effect is certain for at least one score."""
        level = 1.0 - (1.0 - STANDS_OUT_LEVEL) / len(self._by_score)
        found: dict[str, str] = {}
        for part in self._by_score:
            certain = part.certain_effects(level)
            if certain is None:
                return None
            for name, words in certain.items():
                found[name] = words if found.get(name, words) == words else "both"
        return found

    @cached_property
    def _few(self) -> str:
        first = self._by_score[0]
        if first.effect_scatter is None:
            return ""
        found = [part.effect_intercept for part in self._by_score]
        return people_note(first.terms, first.link, [k for k in found if k is not None])

    @property
    def _column_words(self) -> str:
        """Meaning of the columns of a ranking with effects."""
        means = _CLASS_WORDS if len(self._by_score) > 1 else ""
        return _COLUMN_WORDS.format(self._curves_words) + means

    @property
    def _curves_words(self) -> str:
        return "edited curves" if self._edited else "released curves"

    @property
    def _edited(self) -> bool:
        return bool(self._by_score[0].edits)

    def _effect_lines(self) -> Iterator[str]:
        """Yield what text and tables say of the effects."""
        yield from filter(None, (self.effect_words, self.effect_remark))

    @property
    def _terms_of_scores(self) -> list[ShapeFunction]:
        return [term for part in self._by_score for term in part.terms]

    @property
    def _n_terms(self) -> int:
        return len(self._by_score[0].terms)

    @property
    def _has_pairs(self) -> bool:
        return bool(self._by_score[0].pairs)

    def _counted(self, names: tuple[str, ...]) -> str:
        """Say how many terms these are; with pairs, terms with one feature are "curves"."""
        which = "All" if len(names) == self._n_terms else f"{len(names)} of {self._n_terms}"
        return f"{which} {'curves' if self._has_pairs else 'terms'}"
