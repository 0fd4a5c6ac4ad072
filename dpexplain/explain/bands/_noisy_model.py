"""Noise and effects across a model: terms above the noise, ranks and directions."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dpexplain._utils.lazy import pd
from dpexplain.explain.bands._cautions import (
    entangled_terms,
    entangled_words,
    term_note,
)
from dpexplain.explain.bands._certain import certain_effects, effect_slope, overall_direction
from dpexplain.explain.bands._drawn import (
    DRAWS,
    drawn_effects,
    drawn_importances,
    rank_intervals,
    sizes_of,
)
from dpexplain.explain.bands._model_words import ModelWords
from dpexplain.explain.bands._noisy_part import NOT_AVAILABLE
from dpexplain.explain.noise_model import (
    STANDS_OUT_LEVEL,
    NoiseModel,
    half_width,
    normal_certainty,
)

if TYPE_CHECKING:
    from dpexplain.explain.additive.links import Link
    from dpexplain.explain.additive.pair_curve import PairCurve
    from dpexplain.explain.additive.shape_function import ShapeFunction
    from dpexplain.explain.guarantee import Guarantee


class NoisyModel(ModelWords):
    """Mixin for the joint noise and the effects of a :class:`GlobalExplanation`."""

    terms: tuple[ShapeFunction, ...]
    pairs: tuple[PairCurve, ...]
    noise: NoiseModel | None
    effect_scatter: NoiseModel | None
    effect_intercept: float | None
    guarantee: Guarantee
    link: Link

    @property
    def terms_above_noise(self) -> tuple[str, ...] | None:
        """Terms that rise above the noise, most important first.

        If no term has any effect, the probability that any term is listed is 3%, jointly over all
        bins of all terms. The result is None if the joint noise is unknown.
        """
        found = self.terms_above(STANDS_OUT_LEVEL)
        if found is None:
            return None
        return tuple(t.name for t in sorted(found, key=lambda t: -t.importance))

    def terms_above(self, level: float) -> list[ShapeFunction] | None:
        """Return the terms that rise above the noise, at a joint confidence level.

        Parameters
        ----------
        level : float
            Probability that no term is listed if no term has any effect.

        Returns
        -------
        list of ShapeFunction or None
            In model order; None if the joint noise is unknown.
        """
        if self.noise is None:
            return None
        factor = self.noise.overall_factor(level)
        return [t for t in self.terms if _largest_ratio(t) > factor]

    @property
    def pairs_above_noise(self) -> tuple[str, ...] | None:
        """Pairs that rise above the noise, most important first.

        If no pair has any contribution, the probability that any pair is listed is at most 3%,
        jointly over all cells of all pairs. The result is None if there are no pairs, or if the
        noise of a pair is unknown.
        """
        stds = [pair.total_std for pair in self.pairs if pair.total_std is not None]
        if not stds or len(stds) < len(self.pairs):
            return None
        n_cells = sum(int(np.count_nonzero(std)) for std in stds)
        factor = half_width(max(1, n_cells), STANDS_OUT_LEVEL)
        found = [pair for pair in self.pairs if _largest_ratio(pair) > factor]
        return tuple(pair.name for pair in sorted(found, key=lambda pair: -pair.importance))

    def pair_ranking(self) -> pd.DataFrame:
        """Return the importance, noise floor, effect and rank of each pair.

        Returns
        -------
        DataFrame
            Indexed by pair, largest importance first. The first column is importance (mean absolute
            contribution). If the noise is known, there are two more columns: noise_floor, the
            importance expected from noise alone; and above_noise, whether the pair rises above the
            noise. If effects are estimated, there are four more columns: effect, the estimated true
            importance; effect_std, an upper bound on the standard deviation of this estimate, for
            any correlations between cells; and rank_low and rank_high, the 95% rank interval of the
            pair among all pairs. If the true importances of two pairs cannot be told apart, neither
            pair ranks above the other.

        Examples
        --------
        >>> import numpy as np
        >>> from dpexplain import DPExplainableBoostingClassifier
        >>> from dpexplain.datasets import make_additive
        >>> table = make_additive("interactions", n_samples=2_000, random_state=0)
        >>> model = DPExplainableBoostingClassifier(4, schema=table.schema, pairs=[("x2", "x4")])
        >>> ranking = model.fit(table.X, table.y).explain_global().pair_ranking()
        >>> ranking[["rank_low", "rank_high"]].to_numpy().tolist()  # there is one pair
        [[1, 1]]
        """
        above = self.pairs_above_noise
        names = pd.Index([pair.name for pair in self.pairs], name="pair of features", dtype=object)
        table = pd.DataFrame({"importance": [pair.importance for pair in self.pairs]}, index=names)
        if above is not None:
            table["noise_floor"] = [pair.noise_floor for pair in self.pairs]
            table["above_noise"] = [pair.name in above for pair in self.pairs]
        stds = [p.effect_std for p in self.pairs if p.effect_std is not None]
        if stds and len(stds) == len(self.pairs):
            effect = np.array([pair.effect_importance for pair in self.pairs], dtype=np.float64)
            std = np.array(
                [float((p.weights * s).sum()) for p, s in zip(self.pairs, stds, strict=True)]
            )
            table["effect"], table["effect_std"] = effect, std
            n = len(stds)
            apart = half_width(max(1, n * (n - 1) // 2)) * np.add.outer(std, std)
            ahead = np.subtract.outer(effect, effect) > apart
            table["rank_low"], table["rank_high"] = 1 + ahead.sum(axis=0), n - ahead.sum(axis=1)
        return table.sort_values("importance", ascending=False, kind="stable")

    @property
    def noise_words(self) -> str:
        """Description of the terms and pairs that rise above the noise.

        If the explanation is private and its noise is unknown, the description says so. It is empty
        if the explanation is not private and has no known noise.
        """
        words, above, n_pairs = super().noise_words, self.pairs_above_noise, len(self.pairs)
        if above is None or words == NOT_AVAILABLE:
            return words
        if n_pairs == 1:
            pairs = f"The pair of features {'rises' if above else 'does not rise'} above the noise."
        else:
            verb = "rises" if len(above) <= 1 else "rise"
            pairs = f"{len(above) or 'None'} of {n_pairs} pairs of features {verb} above the noise."
        return f"{words} {pairs}".strip()

    @property
    def terms_with_effect(self) -> tuple[str, ...] | None:
        """Terms with a significant effect, largest effect first.

        A term is listed if its effect differs significantly from zero in some bin, or if it
        significantly rises or falls overall (like `direction` in :meth:`ranking`), even if no
        single bin differs significantly from zero. If no term has an effect, the probability that
        any term is listed is 3%, jointly over all bins and slopes of all terms. By contrast,
        `terms_above_noise` refers to the released curves and considers only bins. The result is
        None if there are no effect estimates.
        """
        found = self._certain
        if found is None:
            return None
        listed = [term for term in self.terms if term.name in found]
        return tuple(t.name for t in sorted(listed, key=lambda t: -(t.effect_importance or 0.0)))

    def certain_effects(self, level: float) -> dict[str, str] | None:
        """Say by what each significant effect is certain, at a joint confidence level.

        Parameters
        ----------
        level : float
            Probability that no term is listed if no term has an effect.

        Returns
        -------
        dict of str to str, or None
            "bins", "slope" or "both", keyed by term, in model order; None if there are no effect
            estimates.
        """
        if self.effect_scatter is None:
            return None
        return certain_effects(self.terms, self.effect_scatter, level)

    @property
    def effect_cautions(self) -> dict[str, str]:
        """Warnings about terms whose true curve may be outside its band, by term.

        Each term has at most one warning: the model has no estimates, or the term has an
        :attr:`ShapeFunction.effect_caution`.
        """
        if self.effect_scatter is None:
            missing = self.effect_caution
            return dict.fromkeys((t.name for t in self.terms), missing) if missing else {}
        found = {term.name: term.effect_caution for term in self.terms}
        return {name: words for name, words in found.items() if words}

    @property
    def effect_notes(self) -> dict[str, str]:
        """Sentences on terms whose effect is hardly known, keyed by term.

        Each term has at most one. The first of these cases that applies is reported: the model was
        fitted on too few records; the effect of the term cannot be separated from that of another
        term; the term has an :attr:`ShapeFunction.effect_note`.
        """
        if self.effect_scatter is None:
            return {}
        tied, certain = self._entangled, self._certain or {}
        by_slope = [t for t in self.terms if certain.get(t.name) == "slope"]
        overall = {t.name: "rises" if effect_slope(t) > 0 else "falls" for t in by_slope}
        found = {
            t.name: self._few
            or (entangled_words((t.name, tied[t.name][0])) if t.name in tied else "")
            or term_note(t, overall=overall.get(t.name, ""))
            for t in self.terms
        }
        return {name: words for name, words in found.items() if words}

    @property
    def effect_remarks(self) -> dict[str, str]:
        """Remark on each term: its warning, or otherwise its note."""
        return {**self.effect_notes, **self.effect_cautions}

    @cached_property
    def _entangled(self) -> dict[str, tuple[str, float]]:
        scatter = self.effect_scatter
        return {} if scatter is None else entangled_terms(self.terms, scatter)

    def ranking(self) -> pd.DataFrame:
        """Return the importance, noise floor, rank and direction of each term.

        Returns
        -------
        DataFrame
            Indexed by term, largest importance first. Columns: importance (mean absolute
            contribution); noise_floor, the importance expected from noise alone;
            corrected_importance, the importance corrected for the bias from noise; importance_std,
            the standard deviation of the importance; above_noise, whether the term rises above the
            noise; rank_low and rank_high, the 95% rank interval of the term [1]_; direction,
            whether the curve rises or falls overall (ordered value bins only); direction_certainty,
            the probability that this direction is correct; basis, what ranks and directions refer
            to: "effect" (the estimated effects) if there are estimates, and otherwise "noise" (the
            released curves). If there are estimates, there are four more columns: effect, the
            estimated true importance; effect_std, the standard deviation of this estimate;
            has_effect, whether the term has a significant effect; and certain_by, what makes the
            effect significant: "bins", "slope" (the term rises or falls overall), "both", or "" if
            nothing does. Unknown numbers are NaN.

        References
        ----------
        .. [1] Mogstad, Romano, Shaikh, Wilhelm, "Inference for Ranks with Applications to
           Mobility across Neighborhoods and Academic Achievement across Countries", Review of
           Economic Studies 91 (2024), section 3.2, with simulated differences.
        """
        return self._ranking.copy()

    @cached_property
    def _ranking(self) -> pd.DataFrame:
        terms = self.terms
        above = self.terms_above_noise
        floors = [np.nan if t.noise_floor is None else t.noise_floor for t in terms]
        table = pd.DataFrame(
            {
                "importance": [t.importance for t in terms],
                "noise_floor": floors,
                "corrected_importance": [t.corrected_importance for t in terms],
                "importance_std": np.nan,
                "above_noise": [None if above is None else t.name in above for t in terms],
                "rank_low": np.nan,
                "rank_high": np.nan,
                "direction": [overall_direction(t)[0] for t in terms],
                "direction_certainty": np.nan,
            },
            index=pd.Index([t.name for t in terms], name="term", dtype=object),
        )
        table["basis"] = None
        if self.noise is not None:
            self._fill(table, self.noise)
            table["basis"] = "noise"
        if self.effect_scatter is not None:
            self._fill_effects(table, self.effect_scatter)
            table["basis"] = "effect"
        return table.sort_values("importance", ascending=False, kind="stable")

    def _fill(self, table: pd.DataFrame, noise: NoiseModel) -> None:
        errors = noise.draws(DRAWS)
        shown = drawn_importances(self.terms, noise, errors)
        table["importance_std"] = shown.std(axis=0)
        corrected = table["corrected_importance"].to_numpy()
        table["rank_low"], table["rank_high"] = rank_intervals(corrected, [shown])
        certainty = np.full(len(self.terms), np.nan)
        for k, term in enumerate(self.terms):
            _, slope, loads = overall_direction(term)
            if np.any(loads):
                std = float((errors[:, noise.term(k)] @ loads).std())
                certainty[k] = float(normal_certainty(slope / std))
        table["direction_certainty"] = certainty

    def _fill_effects(self, table: pd.DataFrame, scatter: NoiseModel) -> None:
        """Fill in the columns that describe the estimated effects."""
        drawn = drawn_effects(self.terms, scatter)
        sizes = sizes_of(self.terms, scatter, drawn)
        table["effect"], table["effect_std"] = sizes.mean(axis=0), sizes.std(axis=0)
        certain = self._certain or {}
        table["has_effect"] = [t.name in certain for t in self.terms]
        table["certain_by"] = [certain.get(t.name, "") for t in self.terms]
        table["rank_low"], table["rank_high"] = rank_intervals(sizes.mean(axis=0), [sizes])
        for k, term in enumerate(self.terms):
            loads = overall_direction(term)[2]
            if not np.any(loads):
                continue
            slopes = drawn[:, scatter.term(k)] @ loads
            slope, std = float(slopes.mean()), float(slopes.std())
            table.loc[term.name, "direction"] = "rising" if slope > 0 else "falling"
            ratio = slope / std if std > 0 else np.copysign(np.inf, slope)
            table.loc[term.name, "direction_certainty"] = float(normal_certainty(ratio))


def _largest_ratio(part: ShapeFunction | PairCurve) -> float:
    """Return the largest ratio of a contribution to its error; 0 without noise."""
    std = part.total_std
    if std is None:
        return 0.0
    ratio = np.zeros(std.shape)
    with np.errstate(over="ignore"):  # a standard deviation next to 0 gives an infinite ratio
        np.divide(np.abs(part.contribution), std, out=ratio, where=std > 0)
    return float(ratio.max())
