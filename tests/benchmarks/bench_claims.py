"""How often claims stated as holding are true, given the true curves."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpexplain.explain import claim, decisions
from dpexplain.explain.additive.local_explanation import inverse_link
from dpexplain.explain.claims.claimed_bins import Place, claim_basis

FloatArray = NDArray[np.float64]

TITLES = {
    "difference": "two bins", "sign": "sign", "range": "range", "extreme": "peak",
    "rank": "rank", "decision": "decision",
}  # fmt: skip
"""Kinds of claims, and what a table calls them."""
MOST = 40
"""Pairs of bins, and ranges, of one term about which claims are made."""


def claims_of_term(
    explanation: Any, term: Any, curve: FloatArray, share: FloatArray
) -> dict[str, list[int]]:
    """Count the claims stated as holding, by kind, and the true ones among them.

    Claims of one kind about one term are simultaneous: with 95% confidence, all are true. Bins
    without records have no true value and are left out.
    """
    if claim_basis(term) is None:
        return {}
    there = np.flatnonzero((share > 0) & (term.weights > 0))
    weights = np.where(share > 0, share, 0.0)
    true = curve - weights @ curve / max(float(weights.sum()), 1e-12)
    rng = np.random.default_rng(0)
    pairs = list(itertools.combinations(map(Place, there), 2))
    chosen = rng.permutation(len(pairs))[:MOST]
    found: dict[str, list[tuple[bool, bool]]] = {kind: [] for kind in TITLES}
    for one, other in (pairs[k] for k in chosen):
        said = claim(explanation, term.name, one, other)
        found["difference"].append((said.holds, said.estimate * (true[one] - true[other]) > 0))
    for one in map(Place, there):
        said = claim(explanation, term.name, one)
        found["sign"].append((said.holds, said.estimate * true[one] > 0))
    values = there[there < term.n_value_bins]
    if len(values) == term.n_value_bins > 1:  # all bins that can be the extreme have a true value
        found["extreme"] = _extremes(explanation, term, true)
        found["range"] = _ranges(explanation, term, true, weights, rng)
    return {kind: counted(each) for kind, each in found.items()}


def counted(found: list[tuple[bool, bool]]) -> list[int]:
    """Count the claims stated as holding, and the true ones among them."""
    return [int(sum(holds for holds, _ in found)), int(sum(h and right for h, right in found))]


def _ranges(
    explanation: Any, term: Any, true: FloatArray, weights: FloatArray, rng: np.random.Generator
) -> list[tuple[bool, bool]]:
    """Yield claims that ranges of value bins lie above or below all other bins."""
    places, found = np.arange(term.n_bins), []
    for first, last in np.sort(rng.integers(0, term.n_value_bins, (MOST, 2)), axis=1):
        inside = (places >= first) & (places <= last)
        parts = [np.where(part, weights, 0.0) for part in (inside, ~inside)]
        if all(part.any() for part in parts):
            means = [part @ true / part.sum() for part in parts]
            said = claim(explanation, term.name, (Place(first), Place(last)))
            found.append((said.holds, said.estimate * (means[0] - means[1]) > 0))
    return found


def claims_of_rank(explanation: Any, name: str, true_rank: int) -> list[int]:
    """Count the claim about the rank of a term."""
    said = claim(explanation, name)
    return counted([(said.holds, said.estimate == true_rank)])


def claims_of_decisions(explanation: Any, X: pd.DataFrame, score: FloatArray) -> list[int]:
    """Count claims that predictions for records lie above or below the median."""
    middle = float(np.median(score))
    at = float(inverse_link(middle, explanation.link))
    said = decisions(explanation, X, threshold=at)
    right = (said["decision"] == "above").to_numpy() == (score > middle)
    return counted(list(zip(said["holds"].to_numpy(), right, strict=True)))


def claims_of_classes(explanation: Any, X: pd.DataFrame, scores: FloatArray) -> list[int]:
    """Count claims that the predicted class of a record leads, given true scores by class."""
    said = decisions(explanation, X)
    true = np.array(explanation.classes)[scores.argmax(axis=1)]
    right = said["decision"].to_numpy() == true
    return counted(list(zip(said["holds"].to_numpy(), right, strict=True)))


def _extremes(explanation: Any, term: Any, true: FloatArray) -> list[tuple[bool, bool]]:
    """Yield claims that the extreme is where it appears, or within two bins of it."""
    found = []
    n = term.n_value_bins
    for extreme, up in (("highest", 1.0), ("lowest", -1.0)):
        seen, real = (up * values[:n] for values in (_values(term), true))
        for wide in range(3):
            first, last = max(0, int(seen.argmax()) - wide), min(n - 1, int(seen.argmax()) + wide)
            if last - first + 1 < n:
                said = claim(explanation, term.name, (Place(first), Place(last)), extreme=extreme)
                found.append((said.holds, bool(first <= int(real.argmax()) <= last)))
    return found


def _values(term: Any) -> FloatArray:
    return np.asarray(term.contribution if term.effect is None else term.effect)


def claims_row(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Make a row: claims of each kind that hold, and the proportion of true ones."""
    shown = {}
    for kind, title in TITLES.items():
        counts = [row["claims"][kind] for row in rows if kind in row.get("claims", {})]
        total, true = (sum(each) for each in zip(*counts, strict=True)) if counts else (0, 0)
        shown[title] = f"{total:,} ({true / total:.3f})" if total else "0"
    return shown
