"""Convert simulated errors to fields of an explanation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.bins import Index
from dpexplain.explain import NoiseModel
from dpexplain.models.additive.pair_tables import PairTable

FloatArray = NDArray[np.float64]

_PARTS = {"noise_std": "privacy", "structure_std": "structure", "sampling_std": "sampling"}


@dataclass(frozen=True, eq=False)
class TermNoise:
    """Errors in all terms: standard deviations by source, and a joint distribution.

    Attributes
    ----------
    stds : dict of str to ndarray of shape (n_values,)
        The keys are field names of :class:`ShapeFunction`, such as ``noise_std``. Each array
        contains one value for every bin of every term, followed by one for the intercept.
    joint : NoiseModel
        Joint errors from all sources.
    factors : ndarray of shape (n_terms,)
        Half-width of each term's simultaneous band, in standard deviations.
    stretch : ndarray of shape (n_terms,) or None
        Factor that undoes the shrinkage of each curve; None if unknown.
    recovered : tuple of (ndarray of shape (n_bins,) or None), or None
        Posterior mean of each curve, given all released sums; None if it was not computed.
    reactions : tuple of ndarray of shape (n_rows, n_columns), one per pair
        Standard deviation of each cell's reaction to privacy noise in the curves.
    """

    stds: dict[str, FloatArray]
    joint: NoiseModel
    factors: FloatArray
    stretch: FloatArray | None
    recovered: tuple[FloatArray | None, ...] | None
    reactions: tuple[FloatArray, ...]

    def pairs(self, tables: Sequence[PairTable]) -> tuple[PairTable, ...]:
        """Return the tables of the pairs, with the noise that comes from the curves."""
        return tuple(
            table.with_reaction(std) for table, std in zip(tables, self.reactions, strict=True)
        )

    def of_term(self, place: int) -> dict[str, Any]:
        """Return the noise fields of a `ShapeFunction` for the term at index `place`."""
        bins = self.joint.term(place)
        fields: dict[str, Any] = {name: std[bins] for name, std in self.stds.items()}
        if self.stretch is not None:
            fields["stretch"] = float(self.stretch[place])
        if self.recovered is not None:
            fields["recovered"] = self.recovered[place]
        return {**fields, "simultaneous_factor": float(self.factors[place])}

    def of_samples(self, bins: Sequence[Index]) -> dict[str, FloatArray]:
        """Return the noise fields of a local explanation, given the bins of its rows."""
        total = np.sqrt(np.sum(np.square(list(self.stds.values())), axis=0))

        def chosen(std: FloatArray) -> FloatArray:
            return np.stack([std[self.joint.term(k)][b] for k, b in enumerate(bins)], axis=1)

        return {
            "noise_std": chosen(self.stds["noise_std"]),
            "total_std": chosen(total),
            "score_std": self.joint.score_std(np.stack(bins, axis=1).astype(np.int64)),
        }


def term_noise(draws: NoiseDraws, sizes: Sequence[int]) -> TermNoise:
    """Summarize simulated errors as standard deviations and joint noise.

    Parameters
    ----------
    draws : NoiseDraws
    sizes : sequence of int
        Number of bins of each term.

    Returns
    -------
    TermNoise
    """
    stds = {name: np.sqrt((getattr(draws, part) ** 2).mean(0)) for name, part in _PARTS.items()}
    joint = NoiseModel.from_draws(sizes, [draws.privacy, draws.structure, draws.sampling])
    reactions = tuple(np.sqrt((each**2).mean(axis=0)) for each in draws.reactions)
    return TermNoise(
        stds, joint, joint.simultaneous_factors(), draws.stretch, draws.recovered, reactions
    )


def with_pairs(
    fields: dict[str, FloatArray], pairs: Sequence[PairTable], cells: Sequence[NDArray[np.intp]]
) -> dict[str, FloatArray]:
    """Add the noise of pairs to the noise fields of a local explanation.

    For the error of a score, the noise of a pair is treated as independent of the noise of the
    curves. In fact, a pair partly corrects errors of its two curves, so the error of the score is
    overstated.

    Parameters
    ----------
    fields : dict of str to ndarray
        Fields from :meth:`TermNoise.of_samples`.
    pairs : sequence of PairTable
        Tables from :meth:`TermNoise.pairs`.
    cells : sequence of ndarray of shape (n_samples,)
        Cell of each row in each pair.

    Returns
    -------
    dict of str to ndarray
    """
    found = dict(fields)
    for pair, at in zip(pairs, cells, strict=True):
        for name in ("noise_std", "total_std"):
            found[name] = np.column_stack([found[name], getattr(pair, name).ravel()[at]])
        found["score_std"] = np.hypot(found["score_std"], pair.total_std.ravel()[at])
    return found


def stds_against_rest(scores: FloatArray, stds: FloatArray) -> FloatArray:
    """Bound the standard deviations of one-against-rest scores.

    To first order, the error in a one-against-rest score is the error in the class's own score
    minus a mean of the errors in the other scores, weighted by the probabilities of their classes.
    Correlations between the errors of different classes are not stored, so the standard deviations
    are added, which gives an upper bound.

    Parameters
    ----------
    scores, stds : ndarray of shape (n_samples, n_classes)

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
    """
    found = np.empty(stds.shape)
    for c in range(stds.shape[1]):
        others = np.delete(scores, c, axis=1)
        weights = np.exp(others - others.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        found[:, c] = stds[:, c] + (weights * np.delete(stds, c, axis=1)).sum(axis=1)
    return found


@dataclass(frozen=True, eq=False)
class NoiseDraws:
    """Simulated errors in one score, for the bins of all terms and for the intercept.

    Attributes
    ----------
    privacy, structure, sampling : ndarray of shape (n_draws, n_values)
        Errors from each source, in score units, with mean zero. The columns are the bins of the
        first term, then the bins of the second, and so on; the last column is the intercept.
    stretch : ndarray of shape (n_terms,) or None, default=None
        Factor for each curve that undoes the shrinkage of the fit; None if unknown.
    recovered : tuple of (ndarray of shape (n_bins,) or None), or None, default=None
        Posterior mean of each curve, given all released sums. The entry for a term is None if its
        bins are not ordered.
    reactions : tuple of ndarray of shape (n_draws, n_rows, n_columns), default=()
        Reaction of each pair's scores to the errors in `privacy`.
    """

    privacy: FloatArray
    structure: FloatArray
    sampling: FloatArray
    stretch: FloatArray | None = None
    recovered: tuple[FloatArray | None, ...] | None = None
    reactions: tuple[FloatArray, ...] = ()

    def scaled(self, scale: float) -> NoiseDraws:
        """Return the errors that result if the score is multiplied by `scale`."""
        recovered = self.recovered
        if recovered is not None:
            recovered = tuple(None if c is None else scale * c for c in recovered)
        return replace(
            self,
            privacy=scale * self.privacy,
            structure=scale * self.structure,
            sampling=scale * self.sampling,
            stretch=None if self.stretch is None else self.stretch / scale,
            recovered=recovered,
            reactions=tuple(scale * each for each in self.reactions),
        )


def with_reactions(
    draws: NoiseDraws, sizes: Sequence[int], pairs: Sequence[PairTable]
) -> NoiseDraws:
    """Add the reactions of the pairs to the errors in the curves.

    Parameters
    ----------
    draws : NoiseDraws
        Errors in the scores of the fit, before they are calibrated.
    sizes : sequence of int
        Number of bins of each feature.
    pairs : sequence of PairTable
        Pairs of the fit, before they are calibrated.

    Returns
    -------
    NoiseDraws
    """
    *curves, intercept = np.split(draws.privacy, np.cumsum(sizes), axis=1)
    reactions = []
    for pair in pairs:
        first, second = (curves[k] for k in pair.features)
        assert pair.reaction is not None
        reactions.append(pair.reaction.to(first + intercept, second))
    return replace(draws, reactions=tuple(reactions))
