"""Pair terms of a fit whose curves are finished: choice, grids and scores."""

from __future__ import annotations

import numpy as np

from dpexplain.mechanisms import Mechanism
from dpexplain.models.additive.pair_tables import PairTable
from dpexplain.models.boosting.objectives import Objective, centered_terms
from dpexplain.models.boosting.pair_terms.choice import choose_pairs
from dpexplain.models.boosting.pair_terms.fitting import N_GROUPS, GridBudget, fit_pairs
from dpexplain.models.boosting.pair_terms.grids import Grid, sides_of
from dpexplain.models.boosting.pair_terms.plan import PairPlan
from dpexplain.models.boosting.pair_terms.worth import fall_of_passes
from dpexplain.models.boosting.records.binned import BinnedRecords
from dpexplain.models.boosting.released import PrivateFit


def private_pairs(
    records: BinnedRecords,
    fit: PrivateFit,
    objective: Objective,
    plan: PairPlan,
    budget: GridBudget,
    mechanism: Mechanism,
    n_replaced: int,
) -> tuple[PairTable, ...]:
    """Fit the scores of the declared pairs, or choose pairs and fit their scores.

    Parameters
    ----------
    records : BinnedRecords
        Records, with scores computed from the curves.
    fit : PrivateFit
        The fitted curves.
    objective : Objective
    plan : PairPlan
    budget : GridBudget
    mechanism : Mechanism
    n_replaced : int
        Number of passes that are made instead if no pair is chosen.

    Returns
    -------
    tuple of PairTable
        Empty if no pair was chosen; in that case, none of ``budget.squared_mu`` was spent.
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
    pairs = plan.declared or choose_pairs(
        records,
        counts,
        terms,
        objective,
        fit.schedule,
        plan,
        n_samples=fit.binned.n_samples,
        clip=clip,
        least=fall_of_passes(fit, n_replaced) if plan.may_skip else -np.inf,
        budget=budget,
        mechanism=mechanism,
    )
    if not pairs:
        return ()
    sides = sides_of(counts, terms.scores, N_GROUPS)
    grids = [Grid((sides[i], sides[j]), len(counts) + k) for k, (i, j) in enumerate(pairs)]
    return fit_pairs(
        records,
        grids,
        terms,
        objective,
        fit.schedule,
        n_samples=fit.binned.n_samples,
        clip=clip,
        budget=budget,
        mechanism=mechanism,
    )
