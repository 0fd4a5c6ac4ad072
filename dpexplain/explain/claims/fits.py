"""Select the private fits to which claims about a comparison refer."""

from __future__ import annotations

import math
from typing import Any

from dpexplain.explain.additive.global_explanation import GlobalExplanation
from dpexplain.explain.additive.multiclass import MulticlassExplanation
from dpexplain.explain.display import Display

Additive = GlobalExplanation | MulticlassExplanation


def fits_of(comparison: Display) -> dict[float, list[Additive]]:
    """Return the private fits of a comparison by epsilon, in ascending order.

    Parameters
    ----------
    comparison : Comparison or MulticlassComparison

    Returns
    -------
    dict of float to list of GlobalExplanation or MulticlassExplanation

    Raises
    ------
    ValueError
        If there are no private fits, or a fit is not an explanation of an additive model.
    """
    found = {e: rows for e, rows in comparison.fits_by_epsilon().items() if math.isfinite(e)}
    if not found:
        raise ValueError("claims over ε need a comparison; pass one explanation to claim().")
    return {epsilon: [additive(fit) for fit in found[epsilon]] for epsilon in sorted(found)}


def private_fits(
    source: Display, epsilon: float | None, repeat: int
) -> tuple[list[Additive], Additive]:
    """Return all private fits, and the chosen one.

    Parameters
    ----------
    source : GlobalExplanation, MulticlassExplanation, Comparison or MulticlassComparison
    epsilon : float or None
        Epsilon of the chosen fit; None for the largest.
    repeat : int
        Index of the chosen fit among those at this epsilon; an index that is too large selects the
        last one.

    Returns
    -------
    fits : list of GlobalExplanation or MulticlassExplanation
    chosen : GlobalExplanation or MulticlassExplanation

    Raises
    ------
    KeyError
        If there is no fit with this epsilon.
    ValueError
        As in :func:`fits_of`.
    """
    if isinstance(source, Additive):
        return [source], source
    fits = fits_of(source)
    rows = fits[known_epsilon(list(fits), epsilon)]
    return [fit for each in fits.values() for fit in each], rows[min(repeat, len(rows) - 1)]


def known_epsilon(epsilons: list[float], epsilon: float | None) -> float:
    """Return the chosen epsilon of a comparison; None chooses the largest.

    Parameters
    ----------
    epsilons : list of float
        Ascending.
    epsilon : float or None

    Returns
    -------
    float

    Raises
    ------
    KeyError
        If the comparison does not have this epsilon.
    """
    if epsilon is None:
        return epsilons[-1]
    if epsilon not in epsilons:
        known = ", ".join(f"{each:g}" for each in epsilons)
        raise KeyError(f"no fit with epsilon={epsilon!r}; the epsilons are {known}.")
    return epsilon


def additive(fit: Any) -> Additive:
    """Return a fit unchanged; raise ValueError unless it explains an additive model.

    Parameters
    ----------
    fit : GlobalExplanation or MulticlassExplanation

    Returns
    -------
    GlobalExplanation or MulticlassExplanation

    Raises
    ------
    ValueError
        If the fit is of any other kind.
    """
    if isinstance(fit, Additive):
        return fit
    raise ValueError(
        f"pass a comparison of additive models, not of {type(fit).__name__}; for filters, see "
        "filter_claim()."
    )
