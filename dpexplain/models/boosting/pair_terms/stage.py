"""Pair terms of a fit whose curves are finished: choice, grids and scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpexplain.mechanisms import Mechanism
from dpexplain.models.additive.pair_tables import PairTable
from dpexplain.models.boosting.objectives import Objective, centered_terms
from dpexplain.models.boosting.pair_terms.choice import choose_pairs
from dpexplain.models.boosting.pair_terms.fitting import N_GROUPS, GridBudget, fit_pairs
from dpexplain.models.boosting.pair_terms.grids import Grid, sides_of
from dpexplain.models.boosting.pair_terms.plan import PairPlan
from dpexplain.models.boosting.pair_terms.worth import fall_of_passes
from dpexplain.models.boosting.recipe import Schedule
from dpexplain.models.boosting.records.binned import BinnedRecords
from dpexplain.models.boosting.released import PrivateFit

_LENIENT = 0.5
"""Share of the fall of the passes that pairs must promise for a second look."""


@dataclass(frozen=True)
class SetAside:
    """Budget of the last passes over the features, which looks and grids can replace.

    Attributes
    ----------
    plan : Schedule
        Schedule without a second look and without pairs.
    looked : Schedule
        Schedule after a second look that found no pairs; that of `plan` if there is no choice.
    curves : Schedule
        Schedule of the passes that precede the choice and the pairs.
    second_look : float
        Gaussian-DP parameter of a second look, squared.
    grids : GridBudget
        Budget of the pair terms.
    """

    plan: Schedule
    looked: Schedule
    curves: Schedule
    second_look: float
    grids: GridBudget


def private_pairs(
    records: BinnedRecords,
    fit: PrivateFit,
    objective: Objective,
    plan: PairPlan,
    aside: SetAside,
    mechanism: Mechanism,
) -> tuple[tuple[PairTable, ...], Schedule]:
    """Fit the scores of the declared pairs, or choose pairs and fit their scores.

    Parameters
    ----------
    records : BinnedRecords
        Records, with scores computed from the curves.
    fit : PrivateFit
        The fitted curves.
    objective : Objective
    plan : PairPlan
    aside : SetAside
    mechanism : Mechanism

    Returns
    -------
    tables : tuple of PairTable
        Empty if no pair was chosen.
    made : Schedule
        Schedule of all passes of the fit, some of which follow if there are no tables.
    """
    counts, clip = fit.binned.counts, float(fit.clips[-1])
    terms = centered_terms(
        fit.binned.bins,
        fit.bags,
        [c.counts for c in counts],
        objective,
        neutral=[c.perhaps_nobody for c in counts],
        monotone=fit.monotone,
    )
    pairs, made = list(plan.declared), aside.curves
    if not pairs:
        choice = choose_pairs(
            records,
            counts,
            terms,
            objective,
            fit.schedule,
            plan,
            n_samples=fit.binned.n_samples,
            clip=clip,
            bars=_bars(fit, aside) if plan.may_skip else (-np.inf, -np.inf),
            squared_mu=aside.second_look,
            budget=aside.grids,
            mechanism=mechanism,
        )
        pairs = choice.pairs
        if not pairs:
            return (), aside.looked if choice.looked_again else aside.plan
    sides = sides_of(counts, terms.scores, N_GROUPS)
    grids = [Grid((sides[i], sides[j]), len(counts) + k) for k, (i, j) in enumerate(pairs)]
    tables = fit_pairs(
        records,
        grids,
        terms,
        objective,
        fit.schedule,
        n_samples=fit.binned.n_samples,
        clip=clip,
        budget=aside.grids,
        mechanism=mechanism,
    )
    return tables, made


def _bars(fit: PrivateFit, aside: SetAside) -> tuple[float, float]:
    """Return what a second look must promise, and what pairs must gain."""
    n_curves = aside.curves.n_epochs
    least = fall_of_passes(fit, aside.looked.n_epochs - n_curves)
    return _LENIENT * least, least
