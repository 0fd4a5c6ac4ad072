"""What the planner says after one fit, compared with when terms rise in other fits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

Row = dict[str, Any]
Rises = dict[tuple[str, str], dict[float, bool]]


def planner_rows(fits: list[Row], larger: list[Row]) -> list[Row]:
    """Count the answers of the planner that measurements contradict.

    Each fit is asked about each term. A term rises above the noise at an epsilon if it does so in
    at least half of the fits measured there.

    Parameters
    ----------
    fits : list of dict
        One row per fit and term, with the answer of the planner.
    larger : list of dict
        Fits at larger epsilons, of which only whether terms rise above the noise is known.

    Returns
    -------
    list of dict
        One row per problem, and one for all of them.
    """
    rises = _rises([*fits, *larger])
    asked = [row for row in fits if "needed" in row]
    names = list(dict.fromkeys(row["problem"] for row in asked))
    rows = [_counts(name, [r for r in asked if r["problem"] == name], rises) for name in names]
    return [*rows, _counts("all", asked, rises)]


def _rises(rows: Iterable[Row]) -> Rises:
    seen: dict[tuple[str, str], dict[float, list[bool]]] = {}
    for row in rows:
        if "above" in row:
            of_term = seen.setdefault((row["problem"], row["term"]), {})
            of_term.setdefault(row["epsilon"], []).append(row["above"])
    return {
        key: {epsilon: 2 * sum(above) >= len(above) for epsilon, above in found.items()}
        for key, found in seen.items()
    }


def _counts(name: str, rows: list[Row], rises: Rises) -> Row:
    here, here_wrong, none, none_wrong, below, below_wrong = [0] * 6
    for row in rows:
        measured = rises[row["problem"], row["term"]]
        needed = row["needed"]
        if needed == row["epsilon"]:  # it rises above the noise in this fit
            here += 1
            here_wrong += not all(above for e, above in measured.items() if e >= needed)
        elif math.isinf(needed):
            none += 1
            none_wrong += measured[max(measured)]
        elif not math.isnan(needed):
            below += 1
            below_wrong += any(above for e, above in measured.items() if e < needed)
    return {
        "problem": name,
        "asked": len(rows),
        "rises here (wrong)": _share(here_wrong, here),
        "cannot tell": sum(math.isnan(row["needed"]) for row in rows),
        "none up to 50 (wrong)": _share(none_wrong, none),
        "not below (wrong)": _share(below_wrong, below),
    }


def _share(wrong: int, whole: int) -> str:
    return f"{whole} ({wrong / whole:.2f})" if whole else "0"
