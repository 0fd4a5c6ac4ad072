"""Bagging of non-private fits; records outside a bag are used for early stopping."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpexplain.binning.bins import Index
from dpexplain.models.boosting.loop import boost, started
from dpexplain.models.boosting.monotone import Projection
from dpexplain.models.boosting.nonprivate.curve_step import CurveStep
from dpexplain.models.boosting.nonprivate.pair_trees import PairStep
from dpexplain.models.boosting.objectives import Objective
from dpexplain.models.boosting.records.binned import Records
from dpexplain.models.boosting.released import Tables
from dpexplain.models.boosting.structure import Visit

_HELD_OUT = 0.15
_PATIENCE = 30
"""Number of passes without a decrease in the held-out loss after which a bag stops."""


def held_out_records(n_samples: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Choose the records that a bag holds out for early stopping. NOT PRIVATE."""
    held_out = np.zeros(n_samples, dtype=bool)
    held_out[rng.permutation(n_samples)[: int(_HELD_OUT * n_samples)]] = True
    return held_out


def fit_bag(
    index: Sequence[Index],
    n_bins: Sequence[int],
    target: NDArray[np.float32],
    objective: Objective,
    steps: Sequence[CurveStep | PairStep],
    *,
    held_out: NDArray[np.bool_],
    max_rounds: int,
    project: Sequence[Projection | None] | None = None,
    curves: Tables | None = None,
) -> Tables:
    """Fit on a random subset of the records, with early stopping. NOT PRIVATE.

    Parameters
    ----------
    index : sequence of ndarray of shape (n_samples,)
        Bin of each record for each feature, followed by its cell for each pair, if any.
    n_bins : sequence of int
        Number of bins of each feature, followed by the number of cells of each pair.
    target : ndarray of shape (n_samples,), dtype float32
        Target encoded by the objective.
    objective : Objective
    steps : sequence of CurveStep or PairStep
        Steps used one after another. Each step starts from the scores with the smallest held-out
        loss so far, and continues until that loss no longer decreases.
    held_out : ndarray of shape (n_samples,), dtype bool
        True for records on which the loss is measured; the model is fitted to the others. See
        `held_out_records`.
    max_rounds : int
        Maximum number of passes with each step.
    project : sequence of callable or None, default=None
        Projection of each feature's curve, as in `boost`.
    curves : list of ndarray or None, default=None
        Curves of the features, if only the pairs are fitted.

    Returns
    -------
    list of ndarray of shape (n_bins,) or (n_bins, n_scores)
        One array per feature and pair: the score of each bin after the pass with the smallest
        held-out loss, not centered.
    """
    train = [i[~held_out] for i in index]
    rest, rest_target = [i[held_out].astype(np.intp) for i in index], target[held_out]

    def held_out_loss(tables: Tables) -> float:
        if not len(rest_target):
            return np.inf
        scores = tables[0][rest[0]]
        for table, places in zip(tables[1:], rest[1:], strict=True):
            scores += table.take(places, axis=0)
        return objective.loss.mean(scores, rest_target)

    # The tree of a visit is grown from the sums, so a visit specifies only its feature.
    turn = [Visit(k, np.zeros(0, np.uint8), np.zeros(0)) for k in range(len(n_bins))]
    free = project is None or not any(project)
    best: Tables | None = None
    if curves is not None:
        best = [*curves, *(np.zeros(n) for n in n_bins[len(curves) :])]
    for step in steps:
        records = Records(train, n_bins, target[~held_out], objective.loss)
        if best is None:
            constant = objective.best_constant(target[~held_out])
            best = started(records, n_bins, constant, objective.loss.n_scores)
        else:
            for k, curve in enumerate(best):
                records.apply(k, curve)
        tables, smallest, waited = best, held_out_loss(best), 0
        for n_passes in range(max_rounds):
            made = None
            if free and isinstance(step, CurveStep):
                made = step.in_turn(records, tables, objective.bound)
            tables = made or boost(
                records,
                step.visits(n_passes) if isinstance(step, PairStep) else turn,
                step,
                n_bins,
                bound=objective.bound,
                start=tables,
                project=project,
            )
            found = held_out_loss(tables)
            waited += 1
            if found < smallest or not len(rest_target):
                best, smallest, waited = tables, found, 0
            if waited >= _PATIENCE:
                break
    assert best is not None
    return best
