"""Attacks on pricing: draws reveal more than what was charged for them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import dpexplain.models as models
from attack_kit import Attack, Finding, estimator, first_find, nothing_is_refused, table
from dpexplain import Classes, DPRandomForestClassifier, Numeric, PrivacyLedger, Schema
from dpexplain.accounting import accountant, cap, ladder, pld, rdp
from dpexplain.mechanisms import LaplacePhase
from exact_loss import laplace_loss

DELTA = 1e-6
LATTICES = [(1, 1, 20), (2, 1, 50), (4, 4, 20), (16, 16, 20), (256, 1024, 10), (128, 1024, 5)]
"""Scale, change and number of releases."""

_FINE = 2**40  # steps of a ladder that is as good as continuous


def _forget_prices() -> None:
    for remembered in (
        accountant.epsilon_of,
        pld.loss_distribution,
        rdp.rdp_cumulants,
        cap.approximate_mu,
    ):
        remembered.cache_clear()


def _worth(ledger: PrivacyLedger, scale: int, change: int, count: int, what: str) -> Finding:
    """Compare the exact and the stated delta of the draws, at the stated epsilon."""
    stated = ledger.total_epsilon()
    delta = laplace_loss(scale, change).times(count).delta(stated)
    return Finding(
        delta > DELTA * (1 + 1e-9),
        f"{what}: epsilon {stated:.5f} stated at {DELTA:g}, true delta {delta:.4g}",
    )


def true_delta_of_discrete_laplace(_: str) -> Finding:
    """Compute the exact loss of discrete Laplace noise, and compare stated totals with it."""

    def attempts() -> Iterator[Finding]:
        for scale, change, count in LATTICES:
            phase = LaplacePhase("counts", float(change), float(scale), 3)
            ledger = PrivacyLedger(f"lattice {scale} {change} {count}", delta=DELTA)
            ledger.charge([phase.event(count)], label="counts")
            yield _worth(ledger, scale, change, count, f"scale {scale}, change {change}")
        ledger = PrivacyLedger("two forests", delta=DELTA)
        schema = Schema({"x": Numeric(0, 1)}, target=Classes(["a", "b"]))
        for _ in range(2):
            forest = DPRandomForestClassifier(epsilon=10.0, n_trees=5, schema=schema, ledger=ledger)
            forest.set_params(depth=1).fit(np.zeros((20, 1)), ["a", "b"] * 10)
        yield _worth(ledger, 512, 1024, 10, "two forests")

    _forget_prices()
    try:
        return first_find(attempts())
    finally:
        _forget_prices()


def priced_as_continuous(patch: pytest.MonkeyPatch) -> None:
    """Use the formulas of the continuous distribution, as for an infinitely fine lattice."""
    divergences = rdp._ladder
    patch.setattr(pld, "masses_on_grid", lambda e, n, step: ladder.masses_on_grid(e, _FINE, step))
    patch.setattr(rdp, "_ladder", lambda e, n, alphas: divergences(e, _FINE, alphas))


# --- one object for the noise and its price -----------------------------------------------------


def draws_less_than_planned(name: str) -> Finding:
    """Write a model whose phases have 1% less noise than the model is charged for."""
    kind = getattr(models, name)

    def fit_released(self: Any, X: Any, y: Any, schema: Schema, mechanism: Any) -> None:
        begin: Callable[[Any], None] = mechanism.begin
        mechanism.begin = lambda phase: begin(phase.with_noise(0.99))
        kind._fit_released(self, X, y, schema, mechanism)

    careless = type(name, (kind,), {"_fit_released": fit_released})
    fitted = careless(**estimator(name, structure_seed=None).get_params(deep=False))
    try:
        fitted.fit(*table(name, 60))
    except RuntimeError as error:
        return Finding(False, str(error))
    mu = math.inf if fitted.guarantee_.mu is None else fitted.guarantee_.mu
    return Finding(True, f"fitted with less noise, guarantee of mu {mu:.4g}")


ATTACKS = [
    Attack(
        "the true delta of discrete Laplace noise is above the stated one",
        true_delta_of_discrete_laplace,
        priced_as_continuous,
        "discrete Laplace noise is priced as continuous noise",
        every_model=False,
    ),
    Attack(
        "a model draws less noise than its phases were charged for",
        draws_less_than_planned,
        nothing_is_refused,
        "the mechanism does not compare what it draws with what was charged",
    ),
]
