"""What tests of calibration share: records held in several ways, cells of scores, checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from dpexplain.models.boosting.calibration.scores import ScoreCells
from dpexplain.models.boosting.records.binned import BinnedRecords, Loss, Records
from dpexplain.models.boosting.records.chunked import ChunkedRecords
from dpexplain.models.boosting.records.threads import Team
from dpexplain.schema import Categorical, Numeric

FEATURES = {"x": Numeric(0, 1), "z": Numeric(0, 1), "job": Categorical(["a", "b", "c"])}

Maker = Callable[..., Any]


@contextmanager
def held_in_several_ways(
    bins: Sequence[NDArray[np.uint8]],
    target: NDArray[np.float32],
    loss: Loss,
    curves: Sequence[NDArray[np.float64]],
) -> Iterator[list[BinnedRecords]]:
    """Hold the same records as a whole, in two chunks and in two threads, with their scores."""
    n, n_bins = len(target), [len(curve) for curve in curves]
    whole = Records(bins, n_bins, target, loss)
    halves = ChunkedRecords([whole.rows(0, n // 3), whole.rows(n // 3, n)])
    team = Team(2)
    try:
        held = [whole, halves, team.sharing(Records(bins, n_bins, target, loss), n)]
        for records in held:
            for feature, curve in enumerate(curves):
                records.apply(feature, curve)
        yield held
    finally:
        team.close()


def normal_cells(std: float = 1.2, mean: float = -0.5) -> ScoreCells:
    """Return cells of normal scores."""
    cells = ScoreCells(mean - 8 * std, std / 32, np.ones(512))
    weights = stats.norm.pdf(cells.middles, mean, std)
    return ScoreCells(cells.low, cells.width, weights / weights.sum())


def check_that_log_loss_falls(draw: Maker, make: Maker, log_loss: Maker, n: int) -> None:
    """Fit n of 2 n records with and without calibration, and compare the loss of the others."""
    gains = []
    for seed in range(12):
        X, y = draw(2 * n, 100 + seed)
        losses = [
            log_loss(
                make(epsilon=0.5, reproducible_seed=seed, calibrated=c).fit(X[:n], y[:n]),
                X[n:],
                y[n:],
            )
            for c in (False, True)
        ]
        gains.append(losses[0] - losses[1])
    assert np.mean(gains) > 3 * np.std(gains) / np.sqrt(len(gains))


def check_that_trees_pay(draw: Maker, make: Maker, ledger: str) -> None:
    """Compare what is planned and charged with and without calibration."""
    X, _ = draw(2, 0)
    paid = {e.label: e for e in make(pair_budget_frac=0.0).planned_events(X)}
    free = {e.label: e for e in make(pair_budget_frac=0.0, calibrated=False).planned_events(X)}
    assert "calibration" not in free
    total = paid["boosting"].mu ** 2 + paid["calibration"].mu ** 2
    assert total == pytest.approx(free["boosting"].mu ** 2)
    assert paid["calibration"].mu ** 2 == pytest.approx(0.05 * total)
    model = make(ledger=ledger).fit(*draw(50, 0))
    assert "calibration" in {e.label for entry in model.ledger_.entries for e in entry.events}
