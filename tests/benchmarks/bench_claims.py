"""How often claims about a term that hold are true, given its true curve."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpexplain.explain import claim
from dpexplain.explain.claims.claimed_bins import claim_basis

FloatArray = NDArray[np.float64]

KINDS = ("difference", "sign", "extreme")
MOST = 40
"""Pairs of bins of one term about which claims are made."""


def claims_of_term(
    explanation: Any, term: Any, curve: FloatArray, share: FloatArray
) -> dict[str, list[int]]:
    """Number of claims that hold, by kind, and how many of them are true.

    Claims of one kind about one term are simultaneous: with 95% confidence, all are true. Bins
    without people have no true value and are left out.
    """
    if claim_basis(term) is None:
        return {}
    there = np.flatnonzero((share > 0) & (term.weights > 0))
    weights = np.where(share > 0, share, 0.0)
    true = curve - weights @ curve / max(float(weights.sum()), 1e-12)
    pairs = list(itertools.combinations(map(int, there), 2))
    chosen = np.random.default_rng(0).permutation(len(pairs))[:MOST]
    found: dict[str, list[tuple[bool, bool]]] = {kind: [] for kind in KINDS}
    for one, other in (pairs[k] for k in chosen):
        said = claim(explanation, term.name, one, other)
        found["difference"].append((said.holds, said.estimate * (true[one] - true[other]) > 0))
    for one in map(int, there):
        said = claim(explanation, term.name, one)
        found["sign"].append((said.holds, said.estimate * true[one] > 0))
    values = there[there < term.n_value_bins]
    if len(values) == term.n_value_bins > 1:  # all bins that can be the extreme have a true value
        found["extreme"] = _extremes(explanation, term, true)
    return {
        kind: [int(sum(holds for holds, _ in each)), int(sum(h and right for h, right in each))]
        for kind, each in found.items()
    }


def _extremes(explanation: Any, term: Any, true: FloatArray) -> list[tuple[bool, bool]]:
    """Claims that the extreme is where it seems to be, and up to two bins around it."""
    found = []
    n = term.n_value_bins
    for extreme, up in (("highest", 1.0), ("lowest", -1.0)):
        seen, real = (up * values[:n] for values in (_values(term), true))
        for wide in range(3):
            first, last = max(0, int(seen.argmax()) - wide), min(n - 1, int(seen.argmax()) + wide)
            if last - first + 1 < n:
                said = claim(explanation, term.name, (first, last), extreme=extreme)
                found.append((said.holds, bool(first <= int(real.argmax()) <= last)))
    return found


def _values(term: Any) -> FloatArray:
    return np.asarray(term.contribution if term.effect is None else term.effect)


def claims_row(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Claims that hold, and in what share of terms all of them are true, by kind."""
    shown = {}
    for kind in KINDS:
        counts = [row["claims"][kind] for row in rows if kind in row.get("claims", {})]
        held = [(n, right) for n, right in counts if n]
        all_true = np.mean([n == right for n, right in held]) if held else float("nan")
        shown[f"{kind}: hold"] = str(sum(n for n, _ in held))
        shown[f"{kind}: terms all true"] = f"{all_true:.3f}" if held else ""
    return shown
