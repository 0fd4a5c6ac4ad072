"""The joint privacy cost of models shown side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpexplain._utils.guarantee_words import upper_number, without_rows
from dpexplain.accounting.composition import compose_mu
from dpexplain.accounting.gdp import epsilon_from_mu
from dpexplain.explain.guarantee import NOT_PRIVATE

_WHAT = "all models side by side, if fitted on the same data and published together"
_NO_TOTAL = "no total, because not all of them state the same unit of privacy and adjacency"
# Persons without a name for their kind can be others in each model.
_UNNAMED = {("one person", "add_remove"), ("one person", "replace")}


def together_words(payloads: Sequence[Mapping[str, Any]]) -> str:
    """Describe the joint guarantee of several models.

    Parameters
    ----------
    payloads : sequence of mapping
        Payloads of the models; the reference models in them are not counted.

    Returns
    -------
    str
        The joint guarantee. It is computed by Gaussian composition if the Gaussian parameter of
        every fit is known, and otherwise by adding the epsilons and deltas. If there are no fits,
        or if any fit is not private, the text says that there is no guarantee. If the fits do not
        all have the same adjacency and the same named unit, it says that there is no total.
    """
    guarantees = [fit["guarantee"] for each in payloads for row in each["fits"] for fit in row]
    if not guarantees or not all(guarantee["private"] for guarantee in guarantees):
        return f"{_WHAT}: {NOT_PRIVATE}"
    protected = {(without_rows(each["unit"]), each["adjacency"]) for each in guarantees}
    if len(protected) > 1 or protected & _UNNAMED:
        return f"{_WHAT}: {_NO_TOTAL}"
    mus = [guarantee["mu"] for guarantee in guarantees]
    if any(mu is None for mu in mus):
        epsilon = sum(guarantee["epsilon"] for guarantee in guarantees)
        delta = sum(guarantee["delta"] for guarantee in guarantees)
    else:
        delta = max(guarantee["delta"] for guarantee in guarantees)
        epsilon = epsilon_from_mu(compose_mu(mus), delta)
    return f"{_WHAT}: ε = {upper_number(epsilon)} (δ = {upper_number(delta)})"
