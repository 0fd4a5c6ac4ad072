"""Noise and effects across a model: terms above the noise, ranks and directions."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dpexplain._utils.lazy import pd
from dpexplain.explain._record import FloatArray
from dpexplain.explain.bands._cautions import (
    NOT_ESTIMATED,
    entangled_terms,
    entangled_words,
    model_caution,
    people_note,
    term_note,
)
from dpexplain.explain.bands._drawn import (
    DRAWS,
    bins_and_slopes,
    drawn_effects,
    drawn_importances,
    rank_intervals,
    sizes_of,
)
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


class NoisyModel:
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
    def noise_share(self) -> float | None:
        """Fraction of the variation in the curves that is explained by noise, from 0 to 1.

        This is the mean square of the noise divided by the mean square of the curves, for all
        terms, weighted by the (noisy) counts and limited to at most 1. The result is None if the
        model has no noise, or if the noise is unknown.
        """
        noise, seen = 0.0, 0.0
        for term in self.terms:
            if term.total_std is None:
                return None
            noise += float(term.weights @ term.total_std**2)
            seen += float(term.weights @ term.contribution**2)
        return min(1.0, noise / seen) if seen > 0 else 1.0

    @property
    def noise_words(self) -> str:
        """Description of the terms and pairs that rise above the noise.

        If the explanation is private and its noise is unknown, the description says so. It is empty
        if the explanation is not private and has no known noise.
        """
        if self.noise_share is None and self.guarantee.private:
            return NOT_AVAILABLE
        words = words_of_noise(
            self.noise_share,
            self.terms_above_noise,
            len(self.terms),
            has_pairs=self.pairs_above_noise is not None,
        )
        above, n_pairs = self.pairs_above_noise, len(self.pairs)
        if above is None:
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

    @cached_property
    def _certain(self) -> dict[str, str] | None:
        return self.certain_effects(STANDS_OUT_LEVEL)

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
        slopes = [_direction(term)[2] for term in self.terms]
        of_bins, of_slopes, stds = bins_and_slopes(self.effect_scatter, slopes, level)
        found = {}
        for term, loads, std in zip(self.terms, slopes, stds, strict=True):
            by_bins = _largest_effect(term) > of_bins
            by_slope = _slope_of_effect(term, loads) > of_slopes * std
            if by_bins or by_slope:
                found[term.name] = (
                    "both" if by_bins and by_slope else "bins" if by_bins else "slope"
                )
        return found

    @property
    def shown_share(self) -> float | None:
        """Fraction of the estimated effects that is visible in the released curves.

        This is the sum of the importances of the curves divided by the sum of the importances of
        the estimated effects. It is usually below 1 if the fit stopped early, because its curves
        then understate the effects. The result is None if there are no estimates.
        """
        effects = [t.effect_importance for t in self.terms]
        true = sum(e for e in effects if e is not None)
        if None in effects or not true > 0.0:
            return None
        return sum(t.importance for t in self.terms) / true

    @property
    def effect_words(self) -> str:
        """Description of the estimated effects.

        The description is empty if there are no estimates.
        """
        return words_of_effects(
            self.terms_with_effect, self.shown_share, len(self.terms), has_pairs=bool(self.pairs)
        )

    @property
    def effect_caution(self) -> str:
        """Warning if true curves may be outside their bands; otherwise empty.

        There is a warning if a private model has no estimates, or if there are
        :attr:`effect_cautions`. If there are too few records, :attr:`effect_note` says so instead.
        """
        if self.effect_scatter is None:
            return NOT_ESTIMATED if self.guarantee.private else ""
        return "" if self._few else model_caution(self.effect_cautions, len(self.terms))

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
    def effect_note(self) -> str:
        """Sentence on why effects are hardly known, although bands hold; or empty.

        There are too few records, or the effects of two terms cannot be separated because the terms
        are strongly correlated.
        """
        tied = self._entangled
        if self._few or not tied:
            return self._few
        name = max(tied, key=lambda each: tied[each][1])
        return entangled_words((name, tied[name][0]))

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
        found = {
            t.name: self._few
            or (entangled_words((t.name, tied[t.name][0])) if t.name in tied else "")
            or term_note(t, overall=_overall(t) if certain.get(t.name) == "slope" else "")
            for t in self.terms
        }
        return {name: words for name, words in found.items() if words}

    @cached_property
    def _few(self) -> str:
        if self.effect_scatter is None:
            return ""
        return people_note(self.terms, self.link, self.effect_intercept)

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
                "direction": [_direction(t)[0] for t in terms],
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
            _, slope, loads = _direction(term)
            if np.any(loads):
                std = float((errors[:, noise.term(k)] @ loads).std())
                certainty[k] = float(normal_certainty(slope / std))
        table["direction_certainty"] = certainty

    def _fill_effects(self, table: pd.DataFrame, scatter: NoiseModel) -> None:
        """Fill in the columns that describe the estimated effects."""
        drawn = drawn_effects(self.terms, scatter, DRAWS)
        sizes = sizes_of(self.terms, scatter, drawn)
        table["effect"], table["effect_std"] = sizes.mean(axis=0), sizes.std(axis=0)
        certain = self._certain or {}
        table["has_effect"] = [t.name in certain for t in self.terms]
        table["certain_by"] = [certain.get(t.name, "") for t in self.terms]
        table["rank_low"], table["rank_high"] = rank_intervals(sizes.mean(axis=0), [sizes])
        for k, term in enumerate(self.terms):
            loads = _direction(term)[2]
            if not np.any(loads):
                continue
            slopes = drawn[:, scatter.term(k)] @ loads
            slope, std = float(slopes.mean()), float(slopes.std())
            table.loc[term.name, "direction"] = "rising" if slope > 0 else "falling"
            ratio = slope / std if std > 0 else np.copysign(np.inf, slope)
            table.loc[term.name, "direction_certainty"] = float(normal_certainty(ratio))


def words_of_noise(
    share: float | None, names: tuple[str, ...] | None, n_terms: int, *, has_pairs: bool = False
) -> str:
    """Return a description of the terms that rise above the noise.

    Parameters
    ----------
    share : float or None
        Fraction of the variation in the curves that is explained by noise; None if the model has no
        noise, or if the noise is unknown.
    names : tuple of str or None
        Terms above the noise; None if unknown.
    n_terms : int
        Number of terms in the model, without pairs.
    has_pairs : bool, default=False
        Whether the model has pair terms, which are described separately.

    Returns
    -------
    str
        A sentence; empty if `share` is None.
    """
    if share is None:
        return ""
    amount = f"about {100 * share:.0f}% of the variation of the curves is explained by noise"
    if names is None:
        return f"{amount[0].upper()}{amount[1:]}."
    if not names:
        return f"{'No curve' if has_pairs else 'Nothing'} rises above the noise: {amount}."
    which = "All" if len(names) == n_terms else f"{len(names)} of {n_terms}"
    rise = "rises" if len(names) == 1 < n_terms else "rise"
    return f"{which} {_nouns(has_pairs)} {rise} above the noise; {amount}."


def _nouns(has_pairs: bool) -> str:
    """Return the noun for terms that are not pairs; "curves" if the model has pairs."""
    return "curves" if has_pairs else "terms"


def words_of_effects(
    names: tuple[str, ...] | None, shown: float | None, n_terms: int, *, has_pairs: bool = False
) -> str:
    """Return a description of the estimated effects.

    Parameters
    ----------
    names : tuple of str or None
        Terms with a significant effect; None if there are no estimates.
    shown : float or None
        Fraction of the effects that is visible in the released curves.
    n_terms : int
        Number of terms in the model, without pairs.
    has_pairs : bool, default=False
        Whether the model has pair terms, whose effects are not estimated.

    Returns
    -------
    str
        One or two sentences; empty if there are no estimates.
    """
    if names is None or shown is None:
        return ""
    if not names and has_pairs:  # a pair may have an effect, which is not estimated
        return "No curve has an effect that is certain."
    if not names:
        return "No term has an effect that is certain: there may be none."
    which = "All" if len(names) == n_terms else f"{len(names)} of {n_terms}"
    verb = "has" if len(names) == 1 and n_terms > 1 else "have"
    words = f"{which} {_nouns(has_pairs)} {verb} an effect that is certain."
    return f"{words} The released curves show about {100 * shown:.0f}% of the effects."


def _largest_ratio(part: ShapeFunction | PairCurve) -> float:
    """Return the largest ratio of a contribution to its error; 0 without noise."""
    std = part.total_std
    if std is None:
        return 0.0
    ratio = np.zeros(std.shape)
    with np.errstate(over="ignore"):  # a standard deviation next to 0 gives an infinite ratio
        np.divide(np.abs(part.contribution), std, out=ratio, where=std > 0)
    return float(ratio.max())


def _direction(term: ShapeFunction) -> tuple[str | None, float, FloatArray]:
    """Return the direction of a curve, its slope, and the coefficients of the slope.

    The slope is the sum of the contributions of all bins, each multiplied by the coefficient of its
    bin. The direction is None if the slope is zero, for example because the bins are unordered.
    """
    loads = np.zeros(term.n_bins)
    if term.kind == "categorical" and not term.ordered:
        return None, 0.0, loads
    n = term.n_value_bins
    weights, place = term.weights[:n], np.arange(n, dtype=np.float64)
    if not weights.sum() > 0:
        return None, 0.0, loads
    loads[:n] = weights * (place - weights @ place / weights.sum())
    slope = float(loads @ term.contribution)
    return ("rising" if slope > 0 else "falling") if slope else None, slope, loads


def _slope_of_effect(term: ShapeFunction, loads: FloatArray) -> float:
    """Return the absolute slope of an effect; 0 if there is no estimate or no slope."""
    return 0.0 if term.effect is None else abs(float(loads @ term.effect))


def _overall(term: ShapeFunction) -> str:
    """Say whether the estimated effect rises or falls overall."""
    slope = 0.0 if term.effect is None else float(_direction(term)[2] @ term.effect)
    return "rises" if slope > 0 else "falls"


def _largest_effect(term: ShapeFunction) -> float:
    """Return the largest absolute ratio of an effect to its standard deviation.

    Bins with a standard deviation of 0 are ignored. The result is 0 if there is no estimate.
    """
    if term.effect is None or term.effect_std is None:
        return 0.0
    std = term.effect_std
    ratio = np.divide(np.abs(term.effect), std, out=np.zeros(len(std)), where=std > 0)
    return float(ratio.max())
