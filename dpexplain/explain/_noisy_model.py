"""What the noise of a whole model means: which terms stand out, their ranks and directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpexplain.explain._record import FloatArray
from dpexplain.explain.noise import LEVEL, NoiseModel, normal_certainty

if TYPE_CHECKING:
    from dpexplain.explain.shape_function import ShapeFunction

_DRAWS = 2_000


class NoisyModel:
    """Mixin of :class:`GlobalExplanation`: what follows from its joint noise."""

    terms: tuple[ShapeFunction, ...]
    noise: NoiseModel | None

    @property
    def terms_above_noise(self) -> tuple[str, ...] | None:
        """Terms of which some bin stands out of all noise, most important first.

        A model that learned from nothing names a term here with a chance of 3 %: the rule looks
        at all bins of all terms at once. None where the noise is not known jointly.
        """
        noise = self.noise
        if noise is None:
            return None
        factor = noise.overall_factor()
        found = [t for t in self.terms if _largest_ratio(t) > factor]
        return tuple(t.name for t in sorted(found, key=lambda t: -t.importance))

    @property
    def noise_share(self) -> float | None:
        """How much of this explanation is noise: share of its variation, 0 to 1.

        Mean square of the noise of all curves over the mean square of the curves themselves,
        weighted by (noisy) counts; at most 1. None for a model without noise.
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
        """What stands out of the noise, in a sentence or two; empty for a model without noise."""
        share = self.noise_share
        if share is None:
            return ""
        amount = f"about {100 * share:.0f} % of the variation of the curves is what noise shows"
        names = self.terms_above_noise
        if names is None:
            return f"{amount[0].upper()}{amount[1:]}."
        if not names:
            return f"Nothing stands out of the noise: {amount}."
        which = "all" if len(names) == len(self.terms) else f"{len(names)} of {len(self.terms)}"
        return f"{which[0].upper()}{which[1:]} terms stand out of the noise; {amount}."

    def ranking(self) -> pd.DataFrame:
        """Return importances with what noise does to them, largest first.

        Returns
        -------
        DataFrame
            Indexed by term. Columns: importance (mean absolute contribution); noise_floor, what
            noise alone would show; corrected_importance, without that bias; importance_std, how
            it scatters; above_noise, whether the term stands out of all noise; rank_low and
            rank_high, places that the term can have with 95 % certainty [1]_; direction and
            direction_certainty, whether the curve rises or falls on the whole (ordered value
            bins only) and how sure that sign is. Unknown numbers are NaN.

        References
        ----------
        .. [1] Mogstad, Romano, Shaikh, Wilhelm, "Inference for Ranks with Applications to
           Mobility across Neighbourhoods and Academic Achievement across Countries", Review of
           Economic Studies 91 (2024), section 3.2, with simulated differences.
        """
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
        if self.noise is not None:
            self._fill(table, self.noise)
        return table.sort_values("importance", ascending=False, kind="stable")

    def _fill(self, table: pd.DataFrame, noise: NoiseModel) -> None:
        errors = noise.draws(_DRAWS)
        shown = np.stack(
            [
                np.abs(t.kept_share * t.contribution + errors[:, noise.term(k)]) @ t.weights
                for k, t in enumerate(self.terms)
            ],
            axis=1,
        )
        table["importance_std"] = shown.std(axis=0)
        corrected = table["corrected_importance"].to_numpy()
        table["rank_low"], table["rank_high"] = rank_intervals(corrected, shown)
        for k, term in enumerate(self.terms):
            _, slope, loads = _direction(term)
            std = float((errors[:, noise.term(k)] @ loads).std())
            if np.any(loads):
                table.loc[term.name, "direction_certainty"] = float(normal_certainty(slope / std))


def rank_intervals(
    importance: FloatArray, draws: FloatArray, level: float = LEVEL
) -> tuple[FloatArray, FloatArray]:
    """Places that each term can have, by comparing it with all others at once.

    Parameters
    ----------
    importance : ndarray of shape (n_terms,)
        Without the bias of noise.
    draws : ndarray of shape (n_draws, n_terms)
        Importances under simulated noise.
    level : float, default=0.95
        Certainty of the interval of one term.

    Returns
    -------
    low, high : ndarray of shape (n_terms,)
        1 is the most important place.
    """
    n_terms = len(importance)
    low, high = np.ones(n_terms), np.full(n_terms, float(n_terms))
    centred = draws - draws.mean(axis=0)
    for k in range(n_terms):
        others = np.arange(n_terms) != k
        gaps = centred[:, others] - centred[:, [k]]
        std = np.maximum(gaps.std(axis=0), 1e-300)
        if not others.any():
            continue
        factor = np.quantile(np.abs(gaps / std).max(axis=1), level)
        ahead = importance[others] - importance[k]
        low[k] += np.sum(ahead > factor * std)
        high[k] -= np.sum(-ahead > factor * std)
    return low, high


def _largest_ratio(term: ShapeFunction) -> float:
    """Largest contribution in standard deviations; 0 where nothing scatters."""
    std = term.total_std
    if std is None:
        return 0.0
    ratio = np.divide(np.abs(term.contribution), std, out=np.zeros(len(std)), where=std > 0)
    return float(ratio.max())


def _direction(term: ShapeFunction) -> tuple[str | None, float, FloatArray]:
    """Sign of the weighted slope over the place of the bins; the slope; its coefficients."""
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
